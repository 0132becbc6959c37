// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
#include "support/plot_source.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { NAME = 24 };

typedef struct made_run {  // what a source needs, in one piece
    pp_plot_source source;
    plot_source_wish wish;
    perp_recording_info info;
    perp_recorded_body *body;
    perp_recorded_shape *shape;
    perp_recorded_joint *joint;
    char (*name)[NAME];
    perp_vec3 *position, *velocity;
    double *angle, *spin;
    perp_contact *contact;
    perp_joint_state *state;
} made_run;

static const perp_vec3 plane[2] = {{0, 0, 0}, {0, 1, 0}};
static const perp_vec3 square[4] = {{-1, -1, 0}, {1, -1, 0}, {1, 1, 0}, {-1, 1, 0}};
static const perp_vec3 rod[2] = {{-1, 0, 0}, {1, 0, 0}};

static void *zeros(int count, size_t size)
{
    return calloc((size_t)count + 1, size);
}

static void place(made_run *s, int k, double t, double odd)
{
    double phase = t + 0.7 * k, size = s->wish.size;
    s->position[k] = (perp_vec3){size * (3.0 * k + cos(phase)), size * (2.0 + sin(phase)) + odd, 0};
    s->velocity[k] = (perp_vec3){-size * sin(phase), size * cos(phase) + odd, 0};
    s->angle[k] = phase + odd;
    s->spin[k] = 1.0;
}

static int touch(made_run *s, int frame, double t, double odd)
{
    static const perp_contact_mode modes[] = {PERP_CONTACT_OPEN, PERP_CONTACT_STICK,
                                              PERP_CONTACT_SLIP};
    int count = 0;
    for (int k = 0; k < s->wish.contacts; k++) {
        if (s->wish.holes && (frame / 10 + k) % 3 == 0) {
            continue;
        }
        perp_contact_mode mode = modes[(frame / 20 + k) % 3];
        double pn = mode == PERP_CONTACT_OPEN ? 0.0 : s->wish.size * (1.5 + sin(5.0 * t + k));
        double share = mode == PERP_CONTACT_SLIP ? 1.0 : 0.6 * sin(3.0 * t);
        s->contact[count++] =
            (perp_contact){.a = {0},
                           .b = {s->info.shapes > 1 ? 1 + k % (s->info.shapes - 1) : 0},
                           .feature = (uint32_t)k,
                           .normal_W = {0, 1, 0},
                           .gap = mode == PERP_CONTACT_OPEN ? 0.01 * s->wish.size : odd,
                           .mu = 0.5,
                           .pn = pn + odd,
                           .pf_W = {0.5 * share * pn, 0, 0},
                           .mode = mode};
    }
    return count;
}

static perp_status read_frame(void *context, int frame, perp_snapshot *out, perp_error *error)
{
    (void)error;
    made_run *s = context;
    double t = frame * s->info.h;
    double odd = s->wish.holes && frame % 7 == 3 ? (double)NAN : 0.0;
    for (int k = 1; k < s->info.bodies; k++) {
        place(s, k, t, odd);
    }
    for (int j = 0; j < s->info.joints; j++) {
        s->state[j] =
            (perp_joint_state){.error = 1e-9 * (1.0 + cos(t)) + odd, .impulse_b.f_W.x = s->info.h};
    }
    *out =
        (perp_snapshot){.t = t,
                        .step = frame,
                        .position_W = s->position,
                        .angle = s->angle,
                        .velocity_W = s->velocity,
                        .spin = s->spin,
                        .contacts = frame > 0 ? touch(s, frame, t, odd) : 0,
                        .contact = s->contact,
                        .joint = s->state,
                        .certificate = {.residual = 1e-12 * (2.0 + sin(40.0 * t)) + odd,
                                        .momentum = 1e-14,
                                        .passed = true},
                        .energy = {.kinetic = cos(t) * cos(t), .potential = sin(t) * sin(t) + odd}};
    return PERP_OK;
}

static void fill_shape(made_run *s, int k)
{
    perp_recorded_shape *shape = &s->shape[k];
    *shape = (perp_recorded_shape){.name = "shape", .body = {k}};
    switch (k == 0 ? 0 : 1 + k % 4) {
    case 0:
        shape->kind = PERP_SHAPE_HALFPLANE;
        shape->outline = plane;
        shape->outline_count = 2;
        break;
    case 1:
        shape->kind = PERP_SHAPE_BOX;
        shape->outline = square;
        shape->outline_count = 4;
        break;
    case 2:
        shape->kind = PERP_SHAPE_CAPSULE;
        shape->outline = rod;
        shape->outline_count = 2;
        shape->radius = 0.3;
        break;
    default:
        shape->kind = k % 4 == 2 ? PERP_SHAPE_DISC : PERP_SHAPE_POINT;
        shape->outline = plane;
        shape->outline_count = 1;
        shape->radius = shape->kind == PERP_SHAPE_DISC ? 1.0 : 0.0;
    }
}

static void fill(made_run *s)
{
    for (int k = 0; k < s->info.bodies; k++) {
        snprintf(s->name[k], NAME, k == 0 ? "ground" : "body %d", k);
        s->body[k] =
            (perp_recorded_body){.name = k > 0 && s->wish.name ? s->wish.name : s->name[k],
                                 .motion = k == 0 ? PERP_MOTION_STATIC : PERP_MOTION_DYNAMIC};
        fill_shape(s, k);
    }
    for (int k = 0; k < s->info.joints; k++) {
        s->joint[k] =
            (perp_recorded_joint){.name = "hinge", .a = {0}, .b = {s->info.bodies > 1 ? 1 : 0}};
    }
}

pp_plot_source *plot_source_create(const plot_source_wish *wish)
{
    made_run *s = zeros(1, sizeof *s);
    s->wish = *wish;
    s->wish.size = wish->size > 0.0 ? wish->size : 1.0;
    int bodies = wish->bodies + 1;
    s->info = (perp_recording_info){.name = wish->name ? wish->name : "a film",
                                    .scene = "",
                                    .solver = "auto",
                                    .h = 0.01,
                                    .margin = 0.01,
                                    .limits = perp_sim_default().limits,
                                    .every = 1,
                                    .complete = true,
                                    .frames = wish->frames,
                                    .bodies = bodies,
                                    .shapes = bodies,
                                    .joints = wish->joints,
                                    .events = wish->events ? wish->events : ""};
    s->body = zeros(bodies, sizeof *s->body);
    s->shape = zeros(bodies, sizeof *s->shape);
    s->joint = zeros(wish->joints, sizeof *s->joint);
    s->name = zeros(bodies, sizeof *s->name);
    s->position = zeros(bodies, sizeof *s->position);
    s->velocity = zeros(bodies, sizeof *s->velocity);
    s->angle = zeros(bodies, sizeof *s->angle);
    s->spin = zeros(bodies, sizeof *s->spin);
    s->contact = zeros(wish->contacts, sizeof *s->contact);
    s->state = zeros(wish->joints, sizeof *s->state);
    fill(s);
    s->source = (pp_plot_source){.info = &s->info,
                                 .body = s->body,
                                 .shape = s->shape,
                                 .joint = s->joint,
                                 .read = read_frame,
                                 .context = s};
    return &s->source;
}

void plot_source_destroy(pp_plot_source *source)
{
    made_run *s = source->context;
    void *const parts[] = {s->body,     s->shape,    s->joint, s->name,
                           s->position, s->velocity, s->angle, s->spin,
                           s->contact,  s->state,    s};
    for (size_t k = 0; k < sizeof parts / sizeof parts[0]; k++) {
        free(parts[k]);
    }
}

// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Machines with more joints than they need, against the same machines with just enough: the motion is the
// same in the coordinates of bodies, in joint coordinates and between located events, and is certified.
#include "support/cmocka.h"
#include "support/random.h"
#include "support/space.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { BODIES = 3 };

static const perp_vec3 O = {0.0, 0.0, 0.0}, X = {1.0, 0.0, 0.0}, Z = {0.0, 0.0, 1.0};

typedef struct layout {
    perp_quat turn;    // of the whole machine in the world
    perp_vec3 origin;  // where it stands [m]
    double size;       // [m]
    double mass;       // of a body [kg]
    int kind;          // what else the machine varies
} layout;

// Returns the number of bodies, 1..n. The joints that make the tree come first, so that it is the same.
typedef int build(plane *p, const layout *l, bool redundant);

static perp_vec3 at(const layout *l, double x, double y, double z)
{
    perp_vec3 r = {l->size * x, l->size * y, l->size * z};
    return space_add(l->origin, space_rotate(l->turn, r));
}

static perp_vec3 along(const layout *l, perp_vec3 d)
{
    return space_rotate(l->turn, d);
}

// A body of the machine that starts at the place, turned as the machine is and by `own` besides.
static perp_body add_body(plane *p, const layout *l, perp_vec3 place, perp_quat own, perp_vec3 k)
{
    double s = l->mass * l->size * l->size;
    perp_vec3 inertia = {s * k.x, s * k.y, s * k.z};
    perp_body_def def = space_body(l->mass, inertia, place);
    def.rotation_WB = space_mul(l->turn, own);
    return perp_builder_add_body(p->builder, &def);
}

// A joint at a point of the world with an axis of the world; anchors follow from where the bodies start.
static void add_joint(plane *p, const layout *l, perp_joint_kind kind, perp_body a, perp_vec3 pa,
                      perp_quat qa, perp_body b, perp_vec3 pb, perp_quat qb, perp_vec3 point,
                      perp_vec3 axis)
{
    perp_quat Qa = a.i == 0 ? (perp_quat){1.0, 0.0, 0.0, 0.0} : space_mul(l->turn, qa);
    perp_quat Qb = space_mul(l->turn, qb);
    perp_vec3 arm_a = space_unrotate(Qa, space_sub(point, pa));
    perp_vec3 arm_b = space_unrotate(Qb, space_sub(point, pb));
    perp_joint_def def = space_joint(kind, a, arm_a, b, arm_b, space_unrotate(Qa, axis));
    perp_builder_add_joint(p->builder, &def);
}

// ── Machines ─────────────────────────────────────────────────────────────────────────────────────

static const perp_quat NONE = {1.0, 0.0, 0.0, 0.0};

// Two or three hinges along z.
static int build_door(plane *p, const layout *l, bool redundant)
{
    static const double high[3][3] = {{-0.8, 0.9, 0.1}, {0.0, 1e-2, 0.3}, {2.0, 3.0, 7.0}};
    static const perp_vec3 centre[3] = {{0.4, 0.0, 0.0}, {0.15, 0.37, -0.04}, {-0.2, 0.1, 1.3}};
    const double *z = high[l->kind % 3];
    perp_vec3 c = centre[l->kind / 3 % 3], place = at(l, c.x, c.y, c.z);
    perp_quat own = l->kind / 9 % 2 ? space_turn((perp_vec3){0.3, -0.5, 0.8}, 1.1) : NONE;
    perp_body door = add_body(p, l, place, own, (perp_vec3){0.0625, 0.0875, 0.1125});
    for (int k = 0; k < (redundant ? 2 + l->kind / 18 % 2 : 1); k++) {
        add_joint(p, l, PERP_JOINT_REVOLUTE, PLANE_GROUND, O, NONE, door, place, own,
                  at(l, 0.0, 0.0, z[k]), along(l, Z));
    }
    return 1;
}

// Two rails along x, that slope as the machine is turned.
static int build_drawer(plane *p, const layout *l, bool redundant)
{
    perp_vec3 place = at(l, 0.2, 0.1, 0.3);
    perp_quat own = space_turn((perp_vec3){0.1, 0.7, -0.2}, 0.4);
    perp_body drawer = add_body(p, l, place, own, (perp_vec3){0.05, 0.08, 0.11});
    for (int k = 0; k < (redundant ? 2 : 1); k++) {
        add_joint(p, l, PERP_JOINT_PRISMATIC, PLANE_GROUND, O, NONE, drawer, place, own,
                  at(l, 0.1, k == 0 ? -0.4 : 0.5, 0.2 * k), along(l, X));
    }
    return 1;
}

// A plate on six pads that slide on the same plane.
static int build_pads(plane *p, const layout *l, bool redundant)
{
    perp_vec3 place = at(l, 0.0, 0.0, 0.7);
    perp_body plate = add_body(p, l, place, NONE, (perp_vec3){0.2, 0.3, 0.45});
    for (int k = 0; k < (redundant ? 6 : 1); k++) {
        double angle = 1.0471975511965976 * k + 0.2;
        add_joint(p, l, PERP_JOINT_PLANAR, PLANE_GROUND, O, NONE, plate, place, NONE,
                  at(l, cos(angle), 0.6 * sin(angle), 0.0), along(l, Z));
    }
    return 1;
}

// Crank, coupler and rocker in the plane of x and y: joined by axes along z, which is three times too much, or
// closed by a point that stays on the last axis.
static int build_four_bar(plane *p, const layout *l, bool redundant)
{
    static const double pin[4][2] = {{0.0, 0.0}, {0.2, 0.5}, {1.1, 0.9}, {1.3, 0.0}};
    perp_body body[5] = {PLANE_GROUND};
    perp_vec3 place[5] = {O};
    perp_quat own[5] = {NONE};
    for (int k = 0; k < 3; k++) {
        own[k + 1] = space_turn(Z, 0.3 * k);
        place[k + 1] = at(l, 0.5 * (pin[k][0] + pin[k + 1][0]), 0.5 * (pin[k][1] + pin[k + 1][1]),
                          0.1 * k * (l->kind % 2));
        body[k + 1] = add_body(p, l, place[k + 1], own[k + 1], (perp_vec3){0.02, 0.05, 0.06});
    }
    for (int k = 0; k < 4; k++) {
        perp_joint_kind kind = k < 3 || redundant ? PERP_JOINT_REVOLUTE : PERP_JOINT_POINT_ON_LINE;
        int a = k < 3 ? k : 0, b = k < 3 ? k + 1 : 3;
        add_joint(p, l, kind, body[a], place[a], own[a], body[b], place[b], own[b],
                  at(l, pin[k][0], pin[k][1], 0.0), along(l, Z));
    }
    return 3;
}

// Crank, coupler, and a slider along x; the pin of coupler and slider is one joint too much, three times.
static int build_slider_crank(plane *p, const layout *l, bool redundant)
{
    static const double pin[3][2] = {{0.0, 0.0}, {0.25, 0.35}, {1.1, 0.1}};
    perp_body body[4] = {PLANE_GROUND};
    perp_vec3 place[4] = {O};
    for (int k = 0; k < 3; k++) {
        int to = k < 2 ? k + 1 : k;
        place[k + 1] =
            at(l, 0.5 * (pin[k][0] + pin[to][0]), 0.5 * (pin[k][1] + pin[to][1]), 0.05 * k);
        body[k + 1] = add_body(p, l, place[k + 1], NONE, (perp_vec3){0.02, 0.05, 0.06});
    }
    add_joint(p, l, PERP_JOINT_PRISMATIC, PLANE_GROUND, O, NONE, body[3], place[3], NONE,
              at(l, 1.1, 0.1, 0.0), along(l, X));
    for (int k = 0; k < 3; k++) {
        perp_joint_kind kind = k < 2 || redundant ? PERP_JOINT_REVOLUTE : PERP_JOINT_POINT_ON_LINE;
        int a = k < 2 ? k : 3, b = k < 2 ? k + 1 : 2;  // the line is fixed to the slider
        add_joint(p, l, kind, body[a], place[a], NONE, body[b], place[b], NONE,
                  at(l, pin[k][0], pin[k][1], 0.0), along(l, Z));
    }
    return 3;
}

// A table that glides over a floor without friction, on six feet or on three of them.
static int build_table(plane *p, const layout *l, bool redundant)
{
    perp_vec3 place = at(l, 0.0, 0.0, 0.7);
    double s = l->mass * l->size * l->size;
    perp_body_def def = space_body(l->mass, (perp_vec3){0.2 * s, 0.3 * s, 0.45 * s}, place);
    def.rotation_WB = l->turn;
    def.velocity_W = (perp_vec3){0.3 * l->size, -0.2 * l->size, 0.0};
    def.omega_W = (perp_vec3){0.0, 0.0, 0.9};
    perp_body table = perp_builder_add_body(p->builder, &def);
    perp_shape floor = space_halfspace(p, PLANE_GROUND, Z, l->origin.z, 0.0);
    perp_builder_set_listed_only(p->builder, true);
    for (int k = 0; k < 6; k += redundant ? 1 : 2) {
        double angle = 1.0471975511965976 * k + 0.2;
        perp_vec3 foot = {l->size * cos(angle), l->size * sin(angle), -0.7 * l->size};
        space_contact(p, floor, space_point(p, table, foot), 0.0, 0, X);
    }
    return 1;
}

// ── Ways to step ─────────────────────────────────────────────────────────────────────────────────

typedef struct way {
    const char *name;
    perp_stepper stepper;
    perp_coordinates coordinates;
    perp_positions positions;
    double tolerance;  // between both machines, of the size
} way;

// Exact positions are closed to 1e-11 m in each step.
static const way ways[] = {
    {"body", PERP_STEPPER_STEWART_TRINKLE, PERP_COORDINATES_BODY, PERP_POSITIONS_LINEAR, 1e-9},
    {"body, exact", PERP_STEPPER_STEWART_TRINKLE, PERP_COORDINATES_BODY, PERP_POSITIONS_EXACT,
     1e-7},
    {"joint", PERP_STEPPER_STEWART_TRINKLE, PERP_COORDINATES_JOINT, PERP_POSITIONS_LINEAR, 1e-9},
    {"joint, exact", PERP_STEPPER_STEWART_TRINKLE, PERP_COORDINATES_JOINT, PERP_POSITIONS_EXACT,
     1e-7},
    {"anitescu-potra", PERP_STEPPER_ANITESCU_POTRA, PERP_COORDINATES_JOINT, PERP_POSITIONS_LINEAR,
     1e-9},
    {"moreau-jean", PERP_STEPPER_MOREAU_JEAN, PERP_COORDINATES_BODY, PERP_POSITIONS_LINEAR, 1e-9},
    {"event", PERP_STEPPER_EVENT, PERP_COORDINATES_BODY, PERP_POSITIONS_LINEAR, 1e-9},
};
enum { WAYS = sizeof ways / sizeof ways[0] };

// The worst of all steps, item by item, each over its limit.
typedef struct verdict {
    double worst[PERP_JUDGED_COUNT];
} verdict;

static void judge(const plane *p, verdict *v)
{
    for (int k = 0; k < PERP_JUDGED_COUNT; k++) {
        v->worst[k] = fmax(v->worst[k], perp_sim_info(p->sim)->certificate.relative[k]);
    }
}

// Where three points of each body end.
static int end_of(build *machine, const layout *l, const way *w, bool redundant,
                  perp_vec3 point[3 * BODIES], verdict *v)
{
    *v = (verdict){{0.0}};
    static const perp_joint first[BODIES] = {{0}, {1}, {2}};
    plane p = {0};
    plane_open(&p);
    perp_builder_set_gravity(p.builder, (perp_vec3){0.0, 0.0, -9.81 * l->size});
    int count = machine(&p, l, redundant);
    p.def.stepper = w->stepper;
    p.def.coordinates = w->coordinates;
    p.def.positions = w->positions;
    if (w->stepper == PERP_STEPPER_ANITESCU_POTRA) {
        p.def.limits.joint = 0.1 * l->size;  // velocities only: loops drift
    }
    p.def.tree = first;
    p.def.tree_count = machine == build_table ? 0 : count;
    plane_start(&p);
    int steps = w->stepper == PERP_STEPPER_EVENT ? 10 : 100;
    for (int k = 0; k < steps; k++) {
        plane_step(&p, 0.5 / steps);
        judge(&p, v);
    }
    for (int k = 0; k < 3 * count; k++) {
        perp_vec3 r = {k % 3 == 0 ? l->size : 0.0, k % 3 == 1 ? l->size : 0.0,
                       k % 3 == 2 ? l->size : 0.0};
        point[k] = space_point_at(&p, (perp_body){1 + k / 3}, r);
    }
    plane_close(&p);
    return 3 * count;
}

static double apart(const perp_vec3 *a, const perp_vec3 *b, int count, double size)
{
    double worst = 0.0;
    for (int k = 0; k < count; k++) {
        worst = fmax(worst, space_length(space_sub(a[k], b[k])) / size);
    }
    return worst;
}

// All is within its limit, but for energy where the scheme itself comes near to that with fewer joints.
static void certified(const verdict *is, const verdict *would, const way *w)
{
    for (int k = 0; k < PERP_JUDGED_COUNT; k++) {
        bool swings = k == PERP_JUDGED_ENERGY && would->worst[k] > 0.3;
        double most = swings ? HUGE_VAL : 1.0;
        if (!(is->worst[k] <= most)) {
            fail_msg("%s: judged %d: %.3g of its limit, %.3g with fewer joints", w->name, k,
                     is->worst[k], would->worst[k]);
        }
    }
}

// alike: how far the other ways may end from `event`, by the order of their schemes.
static void compare(build *machine, const layout *l, double alike, const char *what)
{
    perp_vec3 both[2][3 * BODIES], event[3 * BODIES];
    verdict is, would, first;
    int count = end_of(machine, l, &ways[WAYS - 1], true, event, &first);
    for (int k = 0; k < WAYS; k++) {
        end_of(machine, l, &ways[k], true, both[0], &is);
        end_of(machine, l, &ways[k], false, both[1], &would);
        certified(&is, &would, &ways[k]);
        double off = apart(both[0], both[1], count, l->size),
               from = apart(both[0], event, count, l->size);
        if (!(off <= ways[k].tolerance) || !(from <= alike)) {
            fail_msg("%s, kind %d, mass %g, size %g, %s: %.3g from the machine with fewer joints, "
                     "%.3g from event",
                     what, l->kind, l->mass, l->size, ways[k].name, off, from);
        }
    }
}

static const perp_quat turns[3] = {{1.0, 0.0, 0.0, 0.0},
                                   {0.99144486137381038, 0.0, 0.13052619222005157, 0.0},
                                   {0.5, 0.5, 0.5, 0.5}};

// ── Tests ────────────────────────────────────────────────────────────────────────────────────────

// 36 kinds (hinges near and far, centre of mass, own rotation, two or three hinges) in 6 places: 216 doors.
static void doors_turn_on_two_hinges(void **state)
{
    (void)state;
    for (int place = 0; place < 6; place++) {
        layout l = {.turn = turns[place % 3],
                    .origin = {0.0, 0.0, 0.0},
                    .size = place < 3 ? 1.0 : 0.02,
                    .mass = place < 3 ? 8.0 : 3e-4};
        if (place >= 3) {
            l.turn = space_mul(space_turn((perp_vec3){0.2, 1.0, -0.4}, 1.7), l.turn);
            l.origin = (perp_vec3){1.0, -2.0, 0.5};
        }
        for (l.kind = 0; l.kind < 36; l.kind++) {
            compare(build_door, &l, 0.1, "door");
        }
    }
}

static layout random_layout(rng *r)
{
    layout l = {.size = pow(10.0, rng_uniform(r, -2.0, 1.0))};
    l.turn = space_turn((perp_vec3){rng_normal(r), rng_normal(r), rng_normal(r)},
                        rng_uniform(r, -3.0, 3.0));
    l.origin = space_scale(l.size, (perp_vec3){rng_normal(r), rng_normal(r), rng_normal(r)});
    l.mass = pow(10.0, rng_uniform(r, -3.0, 0.5));
    l.kind = rng_below(r, 36);
    return l;
}

static void machines_move_as_with_fewer_joints(void **state)
{
    static const struct {
        build *machine;
        const char *name;
        double alike;
    } list[] = {{build_drawer, "drawer", 0.05},
                {build_pads, "pads", 0.05},
                {build_four_bar, "four-bar", 0.2},
                {build_slider_crank, "slider-crank", 0.2}};
    (void)state;
    FOR_SEEDS(seed, 12)
    {
        rng r = rng_seed(seed);
        layout l = random_layout(&r);
        for (int k = 0; k < 4; k++) {
            compare(list[k].machine, &l, list[k].alike, list[k].name);
        }
    }
}

static void tables_glide_on_six_legs(void **state)
{
    (void)state;
    FOR_SEEDS(seed, 12)
    {
        rng r = rng_seed(seed);
        layout l = random_layout(&r);
        l.turn = space_turn(Z, rng_uniform(&r, -3.0, 3.0));
        compare(build_table, &l, 1e-6, "table");
    }
}

// ── Singular positions ───────────────────────────────────────────────────────────────────────────

static double kinetic_of(const plane *p, int bodies)
{
    double sum = 0.0;
    for (int k = 1; k <= bodies; k++) {
        sum += space_kinetic(p, (perp_body){k});
    }
    return sum;
}

// Crank and coupler of the same length, and a slider through the crank's axis: upright, both fold together and the
// machine may go on in two ways. Or a parallelogram that goes through the line in which all its bars lie.
static void add_change_point(plane *p, const layout *l, bool slider)
{
    double lean = slider ? 1.2 : 0.4;
    perp_vec3 pin[4] = {at(l, 0.0, 0.0, 0.0), at(l, cos(lean), sin(lean), 0.0), O, O};
    pin[2] = slider ? at(l, 2.0 * cos(lean), 0.0, 0.0) : at(l, cos(lean) + 2.0, sin(lean), 0.0);
    pin[3] = slider ? pin[2] : at(l, 2.0, 0.0, 0.0);
    perp_body body[4] = {PLANE_GROUND};
    perp_vec3 place[4] = {O};
    // Rates of a turning crank: the pin moves at (-sin, cos), the slider at -2 sin, the parallelogram all alike.
    perp_vec3 turn = along(l, Z), tip = space_cross(turn, space_sub(pin[1], pin[0]));
    perp_vec3 slide = space_scale(-2.0 * l->size * sin(lean), along(l, X)), none = O;
    const perp_vec3 v[4] = {none, tip, slider ? slide : tip, slider ? slide : none};
    for (int k = 0; k < 3; k++) {
        place[k + 1] = space_scale(0.5, space_add(pin[k], pin[k + 1]));
        double s = l->mass * l->size * l->size;
        perp_body_def def =
            space_body(l->mass, (perp_vec3){0.1 * s, 0.1 * s, 0.1 * s}, place[k + 1]);
        def.rotation_WB = l->turn;
        def.velocity_W = space_scale(0.5, space_add(v[k], v[k + 1]));
        double rate = k == 0 ? 1.0 : slider ? (k == 1 ? -1.0 : 0.0) : (k == 2 ? 1.0 : 0.0);
        def.omega_W = space_scale(rate, turn);
        body[k + 1] = perp_builder_add_body(p->builder, &def);
        add_joint(p, l, PERP_JOINT_REVOLUTE, body[k], place[k], NONE, body[k + 1], place[k + 1],
                  NONE, pin[k], along(l, Z));
    }
    add_joint(p, l, slider ? PERP_JOINT_PRISMATIC : PERP_JOINT_REVOLUTE, PLANE_GROUND, O, NONE,
              body[3], place[3], NONE, pin[3], slider ? along(l, X) : along(l, Z));
}

// Nothing blows up there: the energy stays, or the step says that it could not be done.
static void dead_centres_are_passed_or_refused(void **state)
{
    (void)state;
    for (int k = 0; k < 2 * WAYS; k++) {
        const way *w = &ways[k / 2];
        layout l = {.turn = turns[1], .size = 0.5, .mass = 2.0};
        plane p = {0};
        plane_open(&p);
        perp_builder_set_gravity(p.builder, O);
        add_change_point(&p, &l, k % 2 == 0);
        p.def.stepper = w->stepper;
        p.def.coordinates = w->coordinates;
        p.def.positions = w->positions;
        plane_start(&p);
        double first = kinetic_of(&p, 3), most = first;
        int step = 0;
        perp_status status = PERP_OK;
        for (; step < 1000 && status >= 0; step++) {
            status = perp_sim_step(p.sim, 0.004);
            most = status == PERP_OK ? fmax(most, kinetic_of(&p, 3)) : most;
            if (status == PERP_INEXACT) {
                break;  // said so
            }
        }
        if (!(most <= 1.02 * first)) {
            fail_msg("%s, %s: energy grew from %g to %g", w->name,
                     k % 2 == 0 ? "slider-crank" : "parallelogram", first, most);
        }
        plane_close(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(doors_turn_on_two_hinges),
        cmocka_unit_test(machines_move_as_with_fewer_joints),
        cmocka_unit_test(tables_glide_on_six_legs),
        cmocka_unit_test(dead_centres_are_passed_or_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

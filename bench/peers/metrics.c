// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Penetration: spheres and half-spaces exactly; two convex polytopes by separating axes (the normals of
// both, and the cross products of their edges), where the smallest overlap over the axes is the depth.
#include "metrics.h"
#include "vector.h"

#include <stdlib.h>
#include <string.h>

static const double degree = 0.017453292519943295, g = 9.81;

static bool is_scene(const peer_scene *s, const char *stem)
{
    return strncmp(s->name, stem, strlen(stem)) == 0;
}

// ── Penetration ──────────────────────────────────────────────────────────────────────────────────

typedef struct solid {
    peer_vec corner[PEER_CORNERS];
    peer_vec normal[PEER_DIRECTIONS], edge[PEER_DIRECTIONS];
} solid;

static solid turned(const peer_body *b, const peer_state *s)
{
    solid r;
    peer_quat q = quat_unit(s->q);
    for (int k = 0; k < PEER_CORNERS; k++) {
        r.corner[k] = vec_add(s->p, quat_turn(q, b->corner[k]));
    }
    for (int k = 0; k < PEER_DIRECTIONS; k++) {
        r.normal[k] = quat_turn(q, b->normal[k]);
        r.edge[k] = quat_turn(q, b->edge[k]);
    }
    return r;
}

// How far the shadows of the two on an axis overlap; negative: a gap.
static double overlap_along(const solid *a, const solid *b, peer_vec axis)
{
    double a0 = INFINITY, a1 = -INFINITY, b0 = INFINITY, b1 = -INFINITY;
    for (int k = 0; k < PEER_CORNERS; k++) {
        double x = vec_dot(a->corner[k], axis), y = vec_dot(b->corner[k], axis);
        a0 = fmin(a0, x);
        a1 = fmax(a1, x);
        b0 = fmin(b0, y);
        b1 = fmax(b1, y);
    }
    return fmin(a1 - b0, b1 - a0);
}

static double solid_overlap(const peer_body *ba, const solid *a, const peer_body *bb,
                            const solid *b)
{
    double least = INFINITY;
    for (int k = 0; k < ba->normals && least > 0.0; k++) {
        least = fmin(least, overlap_along(a, b, a->normal[k]));
    }
    for (int k = 0; k < bb->normals && least > 0.0; k++) {
        least = fmin(least, overlap_along(a, b, b->normal[k]));
    }
    for (int i = 0; i < ba->edges && least > 0.0; i++) {
        for (int j = 0; j < bb->edges && least > 0.0; j++) {
            peer_vec axis = vec_cross(a->edge[i], b->edge[j]);
            double length = vec_norm(axis);
            if (length > 1e-4) {  // else parallel: a face normal has decided
                least = fmin(least, overlap_along(a, b, vec_scale(1.0 / length, axis)));
            }
        }
    }
    return least;
}

static double plane_overlap(const peer_plane *plane, const peer_body *b, const peer_state *s)
{
    if (b->shape == PEER_SPHERE) {
        return plane->offset - (vec_dot(plane->normal, s->p) - b->half.x);
    }
    solid a = turned(b, s);
    double worst = -INFINITY;
    for (int k = 0; k < PEER_CORNERS; k++) {
        worst = fmax(worst, plane->offset - vec_dot(plane->normal, a.corner[k]));
    }
    return worst;
}

static double pair_overlap(const peer_body *a, const peer_state *sa, const peer_body *b,
                           const peer_state *sb)
{
    double distance = vec_norm(vec_sub(sb->p, sa->p));
    if (distance > a->reach + b->reach) {
        return 0.0;
    }
    if (a->shape == PEER_SPHERE && b->shape == PEER_SPHERE) {
        return a->half.x + b->half.x - distance;
    }
    solid x = turned(a, sa), y = turned(b, sb);
    return solid_overlap(a, &x, b, &y);
}

double peer_penetration(const peer_scene *scene, const peer_state *state)
{
    double worst = 0.0;
    for (int i = 0; i < scene->bodies; i++) {
        const peer_body *b = &scene->body[i];
        for (int k = 0; k < scene->planes; k++) {
            worst = fmax(worst, plane_overlap(&scene->plane[k], b, &state[i]));
        }
        for (int j = i + 1; j < scene->bodies && b->shape != PEER_ROD; j++) {
            worst = fmax(worst, pair_overlap(b, &state[i], &scene->body[j], &state[j]));
        }
    }
    return worst;
}

// ── Energy and joints ────────────────────────────────────────────────────────────────────────────

static double kinetic(const peer_scene *scene, const peer_state *state)
{
    double e = 0.0;
    for (int i = 0; i < scene->bodies; i++) {
        const peer_body *b = &scene->body[i];
        peer_vec w = quat_turn_back(quat_unit(state[i].q), state[i].w);
        peer_vec L = vec(b->inertia.x * w.x, b->inertia.y * w.y, b->inertia.z * w.z);
        e += 0.5 * (b->mass * vec_dot(state[i].v, state[i].v) + vec_dot(L, w));
    }
    return e;
}

static double energy(const peer_scene *scene, const peer_state *state)
{
    double e = kinetic(scene, state);
    for (int i = 0; i < scene->bodies; i++) {
        e -= scene->body[i].mass * vec_dot(scene->gravity, state[i].p);
    }
    return e;
}

// The joint's point, as body k carries it.
static peer_vec carried(const peer_scene *scene, const peer_state *state, int k, peer_vec point)
{
    if (k < 0) {
        return point;
    }
    const peer_state *start = &scene->body[k].start;
    peer_vec local = quat_turn_back(start->q, vec_sub(point, start->p));
    return vec_add(state[k].p, quat_turn(quat_unit(state[k].q), local));
}

static double joint_gap(const peer_scene *scene, const peer_state *state)
{
    double worst = 0.0;
    for (int k = 0; k < scene->joints; k++) {
        const peer_joint *j = &scene->joint[k];
        peer_vec a = carried(scene, state, k, j->point);
        peer_vec b = carried(scene, state, j->parent, j->point);
        worst = fmax(worst, vec_norm(vec_sub(a, b)));
    }
    return worst;
}

// ── The double pendulum in its two angles ────────────────────────────────────────────────────────

// Two uniform rods of unit length and mass, a and b measured from the downward vertical:
//   [4/3      c/2] [a'']   [-s b'^2/2 - 3/2 g sin a]
//   [c/2      1/3] [b''] = [ s a'^2/2 - 1/2 g sin b],   c = cos(a - b), s = sin(a - b).
static void pendulum_rate(const double y[4], double rate[4])
{
    double c = 0.5 * cos(y[0] - y[1]), s = 0.5 * sin(y[0] - y[1]);
    double f1 = -s * y[3] * y[3] - 1.5 * g * sin(y[0]);
    double f2 = s * y[2] * y[2] - 0.5 * g * sin(y[1]);
    double det = 4.0 / 9.0 - c * c;
    rate[0] = y[2];
    rate[1] = y[3];
    rate[2] = (f1 / 3.0 - c * f2) / det;
    rate[3] = (4.0 / 3.0 * f2 - c * f1) / det;
}

// Where the end of the second rod is at time t: classical Runge-Kutta with 20 us, error about 1e-12 m.
static peer_vec pendulum_tip(double t)
{
    const double quarter = 1.5707963267948966;
    double y[4] = {quarter, quarter, 0.0, 0.0};
    int steps = (int)ceil(t / 2e-5);
    double h = t / steps;
    for (int n = 0; n < steps; n++) {
        static const double part[4] = {0.0, 0.5, 0.5, 1.0}, weight[4] = {1.0, 2.0, 2.0, 1.0};
        double k[4] = {0.0}, at[4], sum[4] = {0.0};
        for (int stage = 0; stage < 4; stage++) {
            for (int i = 0; i < 4; i++) {
                at[i] = y[i] + part[stage] * h * k[i];
            }
            pendulum_rate(at, k);
            for (int i = 0; i < 4; i++) {
                sum[i] += weight[stage] / 6.0 * k[i];
            }
        }
        for (int i = 0; i < 4; i++) {
            y[i] += h * sum[i];
        }
    }
    return vec(sin(y[0]) + sin(y[1]), 0.0, -cos(y[0]) - cos(y[1]));
}

// ── Watching a run ───────────────────────────────────────────────────────────────────────────────

// Penetration of a pile costs more than many a step: look at it ten times a second.
static int interval(const peer_scene *scene, double h)
{
    double seconds = is_scene(scene, "pile") ? 0.1 : scene->bodies > 2 ? 0.02 : 0.0;
    int every = (int)lround(seconds / h);
    return every > 1 ? every : 1;
}

bool peer_watch_begin(peer_watch *w, const peer_scene *scene, const peer_state *state, double h)
{
    size_t n = (size_t)scene->bodies;
    *w = (peer_watch){.scene = scene, .every = interval(scene, h), .rest_time = 1.0};
    if (is_scene(scene, "slide")) {
        w->rest_time = scene->duration - 10.0;
    }
    w->start = malloc(2 * n * sizeof *w->start);
    if (!w->start) {
        return false;
    }
    w->rest = w->start + n;
    memcpy(w->start, state, n * sizeof *state);
    memcpy(w->rest, state, n * sizeof *state);
    w->energy = energy(scene, state);
    return true;
}

void peer_watch_free(peer_watch *w)
{
    free(w->start);
    w->start = w->rest = NULL;
}

// A compliant contact turns the ball over many steps.
static void see_bounce(peer_watch *w, const peer_state *ball)
{
    if (ball->v.z < -0.1) {
        w->falls = true;
    } else if (w->falls && ball->v.z > 0.1) {
        w->bounces++;
        w->falls = false;
    }
    if (w->bounces == 1) {
        w->apex = fmax(w->apex, ball->p.z - 0.5);
    }
}

void peer_watch_see(peer_watch *w, double t, const peer_state *state)
{
    const peer_scene *scene = w->scene;
    for (int i = 0; i < scene->bodies; i++) {
        double far = vec_norm(vec_sub(state[i].p, w->start[i].p));
        w->jump = fmax(w->jump, far);
        if (!(far < 1e6)) {
            w->diverged = true;
            return;
        }
    }
    if (scene->joints > 0) {
        w->gap = fmax(w->gap, joint_gap(scene, state));
        w->energy_worst = fmax(w->energy_worst, fabs(energy(scene, state) - w->energy));
    } else {
        w->penetration = fmax(w->penetration, peer_penetration(scene, state));
    }
    if (!w->have_rest && t >= w->rest_time - 1e-9) {
        memcpy(w->rest, state, (size_t)scene->bodies * sizeof *state);
        w->have_rest = true;
    }
    if (is_scene(scene, "bounce")) {
        see_bounce(w, state);
    }
}

static double across(peer_vec a)
{
    return hypot(a.x, a.y);
}

// Slide: up to the time the box has stopped, and what it creeps after. Incline: the whole run.
static void end_box(const peer_watch *w, double t, const peer_state *state, double *value)
{
    const peer_scene *scene = w->scene;
    bool thrown = is_scene(scene, "slide");
    peer_vec after = vec_sub(state->p, w->rest->p);
    if (w->have_rest && (thrown || is_scene(scene, "incline_stick"))) {
        value[PEER_CREEP] = across(after);
    }
    if (is_scene(scene, "incline_stick")) {
        return;
    }
    peer_vec way = vec_sub(thrown ? w->rest->p : state->p, w->start->p);
    peer_vec along = thrown ? w->start->v : scene->gravity;
    double pull = across(scene->gravity) + scene->mu * scene->gravity.z;  // down the slope
    double exact = thrown ? 16.0 / (2.0 * scene->mu * g) : 0.5 * pull * t * t;
    value[PEER_STOP_ERROR] = across(way) / exact - 1.0;
    double turn = atan2(way.y, way.x) - atan2(along.y, along.x);
    value[PEER_HEADING_ERROR] = turn / degree;
}

static void end_structure(const peer_watch *w, const peer_state *state, bool complete,
                          double *value)
{
    double creep = 0.0;
    bool stands = complete;
    for (int i = 0; i < w->scene->bodies; i++) {
        peer_vec moved = vec_sub(state[i].p, w->start[i].p);
        stands = stands && across(moved) < 0.25 && fabs(moved.z) < 0.25;
        creep = fmax(creep, vec_norm(vec_sub(state[i].p, w->rest[i].p)));
    }
    value[PEER_STANDS] = stands;
    if (w->have_rest) {
        value[PEER_CREEP] = creep;
    }
    value[PEER_JUMP] = w->jump;
}

static void end_pile(const peer_watch *w, const peer_state *state, double *value)
{
    int lost = 0;
    for (int i = 0; i < w->scene->bodies; i++) {
        lost += !(state[i].p.z >= 0.0);
    }
    value[PEER_LOST] = lost;
    value[PEER_KINETIC] = kinetic(w->scene, state);
}

static void end_joints(const peer_watch *w, double t, const peer_state *state, bool complete,
                       double *value)
{
    const peer_scene *scene = w->scene;
    double length = 2.0 * scene->body[0].half.x * scene->bodies;
    double scale = scene->bodies * g * 0.5 * length;  // rods of 1 kg
    value[PEER_ENERGY_DRIFT] = (energy(scene, state) - w->energy) / scale;
    value[PEER_ENERGY_WORST] = w->energy_worst / scale;
    value[PEER_JOINT_GAP] = w->gap;
    if (is_scene(scene, "pendulum2") && complete) {
        peer_vec end = quat_turn(quat_unit(state[1].q), vec(0.5, 0.0, 0.0));
        peer_vec tip = vec_add(state[1].p, end);
        value[PEER_TIP_ERROR] = vec_norm(vec_sub(tip, pendulum_tip(t)));
    }
}

void peer_watch_end(const peer_watch *w, double t, const peer_state *state, bool complete,
                    double value[PEER_COLUMNS])
{
    const peer_scene *scene = w->scene;
    if (scene->joints > 0) {
        end_joints(w, t, state, complete, value);
        return;
    }
    value[PEER_PENETRATION] = w->penetration;
    value[PEER_PENETRATION_END] = peer_penetration(scene, state);
    if (is_scene(scene, "slide") || is_scene(scene, "incline")) {
        end_box(w, t, state, value);
    } else if (is_scene(scene, "pile")) {
        end_pile(w, state, value);
    } else if (is_scene(scene, "bounce")) {
        value[PEER_APEX_ERROR] = w->apex / 0.64 - 1.0;
    } else {
        end_structure(w, state, complete, value);
    }
}

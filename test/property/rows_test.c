// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Properties of the wrench matrices, in the plane and in space: a common rigid motion changes no gap, no slip
// and no joint; W^T nu is the rate of gaps, joint errors and limits, by finite differences along the motion.
#include "support/cmocka.h"
#include "support/random_space.h"

#include "constraint/constraint.h"

#include <math.h>
#include <string.h>

static const pp_scheme SCHEME = {.stepper = PERP_STEPPER_STEWART_TRINKLE,
                                 .friction = PERP_FRICTION_COULOMB,
                                 .impact = PERP_IMPACT_NEWTON,
                                 .facets = 8,
                                 .theta = 0.5};

// What differs between the plane and space.
typedef struct world {
    void (*fill)(plane *p, rng *r, const random_scene_options *options);
    int scenes;
    double margin[2];  // of detection, for the two tests: bodies far apart have rows as well [m]
    double ties;  // a contact that another of its pair comes this near to is not its closest [m]
    int slips, rates;  // at least as many rows are to be looked at
} world;

static world planar = {random_scene, 200, {0.3, 0.2}, 0.0, 500, 1000};
static world spatial = {random_space, 400, {0.4, 0.3}, 1e-4, 1000, 500};

// A scene of its own for each seed, started anywhere.
static void open_scene(plane *p, const world *w, uint64_t seed, const random_scene_options *options,
                       rng *r)
{
    *r = rng_seed(seed);
    plane_open(p);
    w->fill(p, r, options);
    p->def.start = PERP_START_AS_GIVEN;
    plane_start(p);
}

typedef struct look {
    pp_kinematics kin;
    pp_gaps gaps;
    pp_rows rows;
} look;

static void look_at(look *l, const perp_model *m, const pp_state *state, double margin,
                    pp_arena *arena)
{
    assert_int_equal(
        pp_kinematics_run(&l->kin, m, state, 0.01, PERP_GYROSCOPIC_IMPLICIT, NULL, arena), PERP_OK);
    assert_int_equal(
        pp_gaps_run(&l->gaps, m, &l->kin.poses, (pp_gap_search){.margin = margin}, arena), PERP_OK);
    assert_int_equal(
        pp_rows_run(&l->rows, m, &l->kin, &l->kin.poses, &l->gaps, SCHEME, NULL, arena), PERP_OK);
}

static void allocate(pp_state *s, const perp_model *m, pp_arena *arena)
{
    *s = (pp_state){.q = PP_ARRAY(arena, double, m->nq), .nu = PP_ARRAY(arena, double, m->nv)};
    s->turn = PP_ARRAY(arena, double, m->joints + 1);
    assert_true(s->q && s->nu && s->turn);
    pp_state_start(m, s);
}

// to = from + dt nu, rotations of space by the exponential map.
static void move(pp_state *to, const pp_state *from, const perp_model *m, double dt)
{
    to->t = from->t + dt;
    memcpy(to->nu, from->nu, (size_t)m->nv * sizeof *to->nu);
    memcpy(to->turn, from->turn, (size_t)m->joints * sizeof *to->turn);
    for (int i = 0; i < m->bodies; i++) {
        const pp_body *b = &m->body[i];
        double *q = to->q + b->at_q;
        const double *q0 = from->q + b->at_q, *nu = from->nu + b->at;
        for (int k = 0; k < b->nv && k < 3; k++) {  // planar bodies: x, y and the angle
            q[k] = q0[k] + dt * nu[k];
        }
        if (b->nv < 6) {
            continue;
        }
        perp_vec3 w = {nu[3], nu[4], nu[5]};
        perp_quat turned =
            space_mul(space_turn(w, dt * space_length(w)), (perp_quat){q0[3], q0[4], q0[5], q0[6]});
        q[3] = turned.w;
        q[4] = turned.x;
        q[5] = turned.y;
        q[6] = turned.z;
    }
}

static void random_state(pp_state *s, const perp_model *m, rng *r, pp_arena *arena)
{
    pp_state start;
    allocate(&start, m, arena);
    allocate(s, m, arena);
    for (int i = 0; i < m->nv; i++) {
        start.nu[i] = rng_uniform(r, -0.15, 0.15);
    }
    move(s, &start, m, 1.0);
    s->t = rng_uniform(r, 0.0, 2.0);
    for (int i = 0; i < m->nv; i++) {
        s->nu[i] = rng_uniform(r, -1.0, 1.0);
    }
}

// ── Common motion ────────────────────────────────────────────────────────────────────────────────

// Rate of a row when all bodies, including the ground, move as one: with v at the origin, turning with w.
static double rigid_rate(const perp_model *m, const pp_row *row, const pp_frame *f, perp_vec3 v,
                         perp_vec3 w)
{
    double sum = 0.0;
    for (int k = 0; k < row->count; k++) {
        perp_vec3 at = space_add(v, space_cross(w, f[row->body[k]].p));
        const double in_plane[6] = {at.x, at.y, w.z},
                     in_space[6] = {at.x, at.y, at.z, w.x, w.y, w.z};
        const double *nu = m->spatial ? in_space : in_plane;
        for (int c = 0; c < m->body[row->body[k]].nv; c++) {
            sum += row->J[k][c] * nu[c];
        }
    }
    return sum;
}

static void common_motion_changes_nothing(void **state)
{
    const world *w = *state;
    int seen = 0;
    FOR_SEEDS(seed, (uint64_t)w->scenes)
    {
        rng r;
        plane p = {0};
        pp_state now;
        look l;
        pp_arena *arena = pp_arena_create(NULL);
        random_scene_options options = {
            .bodies = 12, .joints = seed % 2 == 0, .moments = seed % 3 == 0, .mu_most = 1.0};
        open_scene(&p, w, seed, &options, &r);
        random_state(&now, p.model, &r, arena);
        look_at(&l, p.model, &now, w->margin[0], arena);
        perp_vec3 v = random_space_vector(&r, 1.0), turn = random_space_vector(&r, 1.0);
        if (!p.model->spatial) {
            v.z = turn.x = turn.y = 0.0;
        }
        perp_vec3 none = {0.0, 0.0, 0.0};
        for (int i = 0; i < l.rows.nn; i++) {
            CHECK(fabs(rigid_rate(p.model, &l.rows.n[i], l.kin.poses.body, v, turn)) < 1e-12, seed);
        }
        for (int i = 0; i < l.rows.nt; i++) {
            CHECK(fabs(rigid_rate(p.model, &l.rows.t[i], l.kin.poses.body, v, turn)) < 1e-12, seed);
        }
        // in the plane translations only: an open joint has a lever
        perp_vec3 turns = p.model->spatial ? turn : none;
        for (int i = 0; i < l.rows.nb; i++) {
            CHECK(fabs(rigid_rate(p.model, &l.rows.b[i], l.kin.poses.body, v, turns)) < 1e-12,
                  seed);
        }
        seen += l.rows.nt;
        plane_close(&p);
        pp_arena_destroy(arena);
    }
    print_message("%d slips looked at\n", seen);
    assert_true(seen > w->slips);
}

// ── Rates ────────────────────────────────────────────────────────────────────────────────────────

static const pp_contact *same_contact(const pp_gaps *gaps, const pp_contact *c)
{
    for (int i = 0; i < gaps->count; i++) {
        const pp_contact *other = &gaps->contact[i];
        if (other->a == c->a && other->b == c->b && other->feature == c->feature) {
            return other;
        }
    }
    return NULL;
}

// The closest point of its pair, and closest by enough: of the others the rate is exact to first order only.
static bool is_closest(const pp_gaps *gaps, int i, double ties)
{
    const pp_contact *c = &gaps->contact[i];
    for (int k = 0; k < gaps->count; k++) {
        const pp_contact *other = &gaps->contact[k];
        if (k != i && other->a == c->a && other->b == c->b && other->gap < c->gap + ties) {
            return false;
        }
    }
    return true;
}

static int check_contacts(const look *now, const look *minus, const look *plus, const perp_model *m,
                          const double *nu, const world *w, double eps, uint64_t seed)
{
    int checked = 0;
    for (int i = 0; i < now->rows.nc; i++) {
        int at = now->rows.contact[i];
        const pp_contact *c = &now->gaps.contact[at], *a = same_contact(&minus->gaps, c),
                         *b = same_contact(&plus->gaps, c);
        if (!a || !b || !is_closest(&now->gaps, at, w->ties) ||
            space_length(space_sub(a->n, b->n)) > 1e-3 ||
            space_length(space_sub(a->point, b->point)) > 1e-3) {
            continue;  // the closest features changed in between
        }
        double rate = pp_row_rate(m, &now->rows.n[i], nu), found = (b->gap - a->gap) / (2.0 * eps);
        if (!(fabs(rate - found) < 1e-5 * (1.0 + fabs(rate)))) {
            print_error(
                "shapes %d (kind %d), %d (kind %d): rate %.9g, by differences %.9g, gap %g\n", c->a,
                m->shape[c->a].kind, c->b, m->shape[c->b].kind, rate, found, c->gap);
        }
        CHECK(fabs(rate - found) < 1e-5 * (1.0 + fabs(rate)), seed);
        checked++;
    }
    return checked;
}

// In space "no relative rotation" is the logarithm of a rotation, whose rate is the relative angular velocity
// up to the error itself.
static double slack_of(const look *l, const perp_model *m, int i)
{
    int joint = l->rows.b[i].joint;
    if (!m->spatial ||
        (m->joint[joint].kind != PERP_JOINT_WELD && m->joint[joint].kind != PERP_JOINT_PRISMATIC)) {
        return 0.0;
    }
    double open = 0.0;
    for (int k = 0; k < l->rows.nb; k++) {
        open += l->rows.b[k].joint == joint ? fabs(l->rows.b[k].value) : 0.0;
    }
    return 2.0 * open;
}

// How the values of points that coincide change because the axes of the world do not turn with a: w_a x (p_b - p_a).
static double turned_by_a(const look *l, const perp_model *m, const double *nu, int i)
{
    const pp_row *row = &l->rows.b[i];
    const pp_joint *j = &m->joint[row->joint];
    const pp_body *a = &m->body[j->a];
    bool point = j->kind == PERP_JOINT_SPHERICAL || j->kind == PERP_JOINT_REVOLUTE ||
                 j->kind == PERP_JOINT_UNIVERSAL || j->kind == PERP_JOINT_WELD;
    int first = i;
    while (first > 0 && l->rows.b[first - 1].joint == row->joint) {
        first--;
    }
    if (!m->spatial || !point || i - first > 2 || a->nv != 6) {
        return 0.0;
    }
    const double *w = &nu[a->at + 3];
    perp_vec3 apart = {l->rows.b[first].value, l->rows.b[first + 1].value,
                       l->rows.b[first + 2].value};
    perp_vec3 by = pp_cross(pp_vec(w[0], w[1], w[2]), apart);
    const double along[3] = {by.x, by.y, by.z};
    return along[i - first];
}

static void check_values(const look *now, const look *minus, const look *plus, const perp_model *m,
                         const double *nu, double eps, uint64_t seed)
{
    for (int i = 0; i < now->rows.nb; i++) {
        double found = (plus->rows.b[i].value - minus->rows.b[i].value) / (2.0 * eps);
        double off = fabs(pp_row_rate(m, &now->rows.b[i], nu) + turned_by_a(now, m, nu, i) - found);
        CHECK(off < 1e-7 + slack_of(now, m, i), seed);
    }
    int limits = now->rows.nn - now->rows.nc;
    for (int i = 0; i < limits; i++) {
        const pp_row *row = &now->rows.n[now->rows.nc + i];
        double found =
            (plus->rows.n[plus->rows.nc + i].value - minus->rows.n[minus->rows.nc + i].value) /
            (2.0 * eps);
        CHECK(fabs(pp_row_rate(m, row, nu) - found) < 1e-7, seed);
    }
}

static void rates_are_derivatives(void **state)
{
    const world *w = *state;
    double eps = 1e-6;
    int checked = 0;
    FOR_SEEDS(seed, (uint64_t)w->scenes)
    {
        rng r;
        plane p = {0};
        pp_state now, before, after;
        look l, minus, plus;
        pp_arena *arena = pp_arena_create(NULL);
        random_scene_options options = {.bodies = 12,
                                        .ground = true,
                                        .joints = seed % 2 == 0,
                                        .drives = seed % 3 == 0,
                                        .mu_most = 1.0};
        open_scene(&p, w, seed, &options, &r);
        random_state(&now, p.model, &r, arena);
        allocate(&before, p.model, arena);
        allocate(&after, p.model, arena);
        move(&before, &now, p.model, -eps);
        move(&after, &now, p.model, eps);
        look_at(&l, p.model, &now, w->margin[1], arena);
        look_at(&minus, p.model, &before, w->margin[1], arena);
        look_at(&plus, p.model, &after, w->margin[1], arena);
        checked += check_contacts(&l, &minus, &plus, p.model, now.nu, w, eps, seed);
        check_values(&l, &minus, &plus, p.model, now.nu, eps, seed);
        plane_close(&p);
        pp_arena_destroy(arena);
    }
    print_message("%d contacts compared\n", checked);
    assert_true(checked > w->rates);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        {"common_motion_changes_nothing, plane", common_motion_changes_nothing, NULL, NULL,
         &planar},
        {"common_motion_changes_nothing, space", common_motion_changes_nothing, NULL, NULL,
         &spatial},
        {"rates_are_derivatives, plane", rates_are_derivatives, NULL, NULL, &planar},
        {"rates_are_derivatives, space", rates_are_derivatives, NULL, NULL, &spatial},
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

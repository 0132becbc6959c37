// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// What a recording says besides states and impulses, compared with what the states say: where contacts
// are and how they move, coordinates of joints, driven bodies, energies, the count of steps.
#include "record/check.h"

#include <math.h>

static const double STILL = 1e-9;  // faster than this a contact that carries load slips [m/s]

static double worse(double a, double b)
{
    return !(b <= a) ? b : a;
}

// |x - y|, relative where they are large.
static double apart(double x, double y)
{
    return fabs(x - y) / fmax(1.0, fabs(y));
}

// ── Contacts ─────────────────────────────────────────────────────────────────────────────────────

static const pp_listed *listed_as(const perp_model *m, int a, int b)
{
    for (int i = 0; i < m->listed; i++) {
        if (m->contact[i].a == a && m->contact[i].b == b) {
            return &m->contact[i];
        }
    }
    return NULL;
}

static double place_error(const perp_contact *recorded, const pp_contact *c)
{
    double error = apart(recorded->gap, c->gap);
    error = worse(error, apart(recorded->point_W.x, c->point.x));
    error = worse(error, apart(recorded->point_W.y, c->point.y));
    error = worse(error, apart(recorded->normal_W.x, c->n.x));
    error = worse(error, apart(recorded->normal_W.y, c->n.y));
    error = worse(error, worse(fabs(recorded->point_W.z), fabs(recorded->normal_W.z)));
    return worse(error, fabs(recorded->pf_W.z));  // all of it is in the plane
}

// The nearest of the points that the pair has; a pair that never meets is infinitely far off.
static double geometry_error(const pp_recheck *c, const perp_contact *recorded,
                             const pp_listed *listed)
{
    pp_contact point[PP_POINTS_MAX];
    double least = PP_INF;
    int count = pp_gap_pair(c->model, c->before, recorded->a.i, recorded->b.i, HUGE_VAL, point);
    for (int k = 0; k < count; k++) {
        double error = place_error(recorded, &point[k]);
        if ((listed || point[k].feature == recorded->feature) && error < least) {
            least = error;
        }
    }
    return least;
}

static double coefficient_error(const pp_recheck *c, const perp_contact *recorded,
                                const pp_listed *listed)
{
    pp_pair pair;
    pp_model_pair(c->model, recorded->a.i, recorded->b.i, &pair);
    double mu = listed && listed->mu >= 0.0 ? listed->mu : pair.mu;
    double e = listed && listed->restitution >= 0.0 ? listed->restitution : pair.restitution;
    if (pair.ignore && !listed) {
        return PP_INF;
    }
    return worse(apart(recorded->mu, mu), apart(recorded->restitution, e));
}

static double surface_of(const pp_recheck *c, int shape)
{
    const pp_expr *speed = c->model->shape[shape].surface_speed;
    return speed ? pp_expr_value(speed, &c->t0) : 0.0;
}

// Velocity of the point of a body, after the step; *size: of the numbers it is made of.
static pp_vec2 point_velocity(const pp_recheck *c, int body, pp_vec2 at, double *size)
{
    const pp_frame *f = &c->before[body];
    pp_wrench2 v = pp_check_velocity(c, body);
    double rx = at.x - f->p.x, ry = at.y - f->p.y;
    *size += fabs(v.x) + fabs(v.y) + fabs(v.turn) * (fabs(rx) + fabs(ry));
    return (pp_vec2){v.x - v.turn * ry, v.y + v.turn * rx};
}

static double rate_error(const pp_recheck *c, const perp_contact *recorded)
{
    const perp_model *m = c->model;
    pp_vec2 at = {recorded->point_W.x, recorded->point_W.y};
    pp_vec2 n = {recorded->normal_W.x, recorded->normal_W.y};
    double size = 1.0;
    pp_vec2 a = point_velocity(c, m->shape[recorded->a.i].body, at, &size);
    pp_vec2 b = point_velocity(c, m->shape[recorded->b.i].body, at, &size);
    double rate = (b.x - a.x) * n.x + (b.y - a.y) * n.y;
    double slip = (b.x - a.x) * n.y - (b.y - a.y) * n.x;
    slip -= surface_of(c, recorded->a.i) + surface_of(c, recorded->b.i);
    bool rubs = recorded->mu > 0.0 && c->info->friction != PERP_FRICTION_NONE;
    double error = fabs(recorded->rate_n - rate) / size;
    return worse(error, fabs(recorded->slip - (rubs ? slip : 0.0)) / size);
}

static double mode_error(const pp_recheck *c, const perp_contact *recorded)
{
    bool rubs = recorded->mu > 0.0 && c->info->friction != PERP_FRICTION_NONE;
    bool slips = !rubs || fabs(recorded->slip) > STILL;
    perp_contact_mode mode = !(recorded->pn > 0.0) ? PERP_OPEN : slips ? PERP_SLIP : PERP_STICK;
    return recorded->mode == mode ? 0.0 : 1.0;
}

static void see_contacts(pp_recheck *c)
{
    for (int i = 0; i < c->now->contacts; i++) {
        const perp_contact *contact = &c->now->contact[i];
        const pp_listed *listed = listed_as(c->model, contact->a.i, contact->b.i);
        const char *a = c->model->shape[contact->a.i].name;
        const char *b = c->model->shape[contact->b.i].name;
        double error = geometry_error(c, contact, listed);
        error = worse(error, coefficient_error(c, contact, listed));
        error = worse(error, rate_error(c, contact));
        pp_check_see(c, PERP_CHECK_CONTACT, worse(error, mode_error(c, contact)), a, b);
    }
}

// ── Joints, driven bodies, energies, steps ───────────────────────────────────────────────────────

static void see_joints(pp_recheck *c)
{
    pp_kinematics now = {.t = c->now->t, .body = c->after};
    for (int i = 0; i < c->model->joints; i++) {
        const perp_joint_state *state = &c->now->joint[i];
        pp_row row;
        pp_joint_coordinate(c->model, &now, i, &row);
        double error = apart(state->coordinate, row.value);
        error = worse(error, apart(state->rate, row.before));
        error = worse(error, apart(state->error, pp_joint_error(c->model, &now, i)));
        const perp_wrench *w = &state->impulse_b;
        error = worse(error, worse(fabs(w->f.z), worse(fabs(w->tau.x), fabs(w->tau.y))));
        pp_check_see(c, PERP_CHECK_RECORD, error, c->model->joint[i].name, "");
    }
}

static void see_bodies(pp_recheck *c)
{
    for (int i = 0; i < c->model->bodies; i++) {
        const pp_frame *f = &c->after[i];
        double error = apart(c->now->position[i].x, f->p.x);
        error = worse(error, apart(c->now->position[i].y, f->p.y));
        error = worse(error, apart(c->now->velocity[i].x, f->v.x));
        error = worse(error, apart(c->now->velocity[i].y, f->v.y));
        if (c->model->body[i].kind != PERP_PLANAR_PARTICLE) {
            error = worse(error, apart(c->now->angle[i], f->angle));
            error = worse(error, apart(c->now->spin[i], f->w.z));
        }
        pp_check_see(c, PERP_CHECK_RECORD, error, c->model->body[i].name, "");
    }
}

static double kinetic(const pp_recheck *c)
{
    double sum = 0.0;
    for (int i = 0; i < c->model->bodies; i++) {
        const pp_body *body = &c->model->body[i];
        for (int k = 0; k < body->nv; k++) {
            double v = c->now->nu[body->at + k];
            sum += 0.5 * (k < 2 ? body->mass : body->I_B.m[8]) * v * v;
        }
    }
    return sum;
}

// Without inertia there is no kinetic energy, and the ledger has what the scheme puts in its place.
static void see_energy(pp_recheck *c)
{
    const perp_energy *e = &c->now->energy, *old = &c->energy0;
    double error = apart(e->potential, pp_potential(c->model, c->after));
    if (c->info->stepper != PERP_QUASISTATIC) {
        double in = old->kinetic + old->potential + e->work, out = e->kinetic + e->potential;
        double size = fmax(1.0, fabs(old->kinetic) + fabs(old->potential) + fabs(e->work));
        error = worse(error, apart(e->kinetic, kinetic(c)));
        error = worse(error, fabs(in - out - e->dissipated) / size);
    }
    pp_check_see(c, PERP_CHECK_RECORD, error, "energies", "");
}

static void see_time(pp_recheck *c)
{
    int64_t steps = c->now->step - c->step0;
    bool good = steps >= 1 && steps <= c->info->every;
    double h = c->info->h > 0.0 ? (double)steps * c->info->h : c->h;
    double error = apart(c->now->t, c->t0 + h);
    pp_check_see(c, PERP_CHECK_RECORD, good ? error : PP_INF, "the time", "");
}

void pp_check_recorded(pp_recheck *c)
{
    if (c->check->item[PERP_CHECK_CONTACT].done) {
        see_contacts(c);
    }
    see_joints(c);
    see_bodies(c);
    see_energy(c);
    see_time(c);
}

// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// What a recording says besides states and impulses, compared with what the states say: where
// contacts are and how they move, coordinates of joints, driven bodies, energies, the count of
// steps.
#include "record/check/check.h"

#include <math.h>

static const double SAME = 1e-9;  // the same number computed twice, relative to its size
static const double MIDDLE =
    1e-8;  // rates where the theta method's middle enters, to which it is found
static const double LEVEL = 5e-9;  // heights of points along an axis that was chosen [m]

enum { REACHES = 24 };  // tried, each twice the one before
enum { BEYONDS = 40 };  // the same, beyond the gap of a contact

static const double STILL = 1e-9;  // faster than this a contact that carries load slips [m/s]

// x - y|, relative where they are large; equal infinities do not differ.
static double relative_difference(double x, double y)
{
    return x == y ? 0.0 : fabs(x - y) / fmax(1.0, fabs(y));
}

// ── Contacts ─────────────────────────────────────────────────────────────────────────────────────

// The worst of three components.
static double apart3(perp_vec3 x, perp_vec3 y)
{
    return pp_check_worse(
        relative_difference(x.x, y.x),
        pp_check_worse(relative_difference(x.y, y.y), relative_difference(x.z, y.z)));
}

// Of a recorded contact against a point that the shapes have: gap [m], point [m] and normal.
static double place_error(const perp_contact *recorded, const pp_contact *c)
{
    double error = relative_difference(recorded->gap, c->gap);
    error = pp_check_worse(error, apart3(recorded->point_W, c->point));
    return pp_check_worse(error, apart3(recorded->normal_W, c->n));
}

static const double FITS = 1e-9;  // a point and a normal, relative

static double rates_at_end(const pp_recheck *c, const perp_contact *recorded);

// With the theta method contacts of space act in the middle of the step and their rates are those
// at its end, unless they bounce, or had to be taken where they were found.            theory (S12)
const pp_frame *pp_check_acting(const pp_recheck *c, const perp_contact *contact)
{
    pp_contact point[PP_POINTS_MAX];
    bool theta = c->info->stepper == PERP_STEPPER_MOREAU_JEAN && c->model->spatial;
    if (!theta || !pp_check_each_step(c) || contact->restitution != 0.0) {
        return c->found;
    }
    // Which points a pair has depends on how far the step looked: margins are tried from small to
    // any.
    double reach = fmax(contact->gap, 0.0) + 1e-3 * c->model->length_scale;
    for (int k = 0; k <= REACHES; k++, reach *= 2.0) {
        double margin = k < REACHES ? reach : HUGE_VAL;
        int count = pp_gap_pair(c->model, c->acting, contact->a.i, contact->b.i, margin, point);
        for (int i = 0; i < count; i++) {
            // points relative to the scene, which may be small
            double off = pp_length(pp_sub(contact->point_W, point[i].point));
            off /= fmax(c->model->length_scale, pp_length(point[i].point));
            double error = pp_check_worse(off, apart3(contact->normal_W, point[i].n));
            if (error <= FITS) {
                // one that is gone where the step ends acted where it was found
                return rates_at_end(c, contact) <= MIDDLE ? c->acting : c->found;
            }
        }
    }
    return c->found;
}

// Friction lies in the plane of the scene; in space the tangent t is a unit vector across n.
static double frame_error(const pp_recheck *c, const perp_contact *recorded,
                          const pp_pair_rule *law)
{
    perp_vec3 t = recorded->tangent_W, n = recorded->normal_W;
    if (!c->model->spatial) {
        return fabs(recorded->pf_W.z);
    }
    double error = pp_check_worse(fabs(pp_dot3(t, n)), fabs(pp_dot3(t, t) - 1.0));
    // Where a rule gives the direction, it is the one nearest to that.
    int owner = c->model->shape[law->turned ? law->b : law->a].body;
    perp_vec3 given = pp_rotate(&c->found[owner], law->tangent_A);
    perp_vec3 flat = pp_along(given, -pp_dot3(given, n), n);
    bool known = pp_dot3(flat, flat) > 1e-6 * pp_dot3(given, given);
    return known ? pp_check_worse(error, apart3(t, pp_unit(flat, t))) : error;
}

// A polygon has as many directions as the rule of its pair gives, or else the scene.
static double facets_error(const pp_recheck *c, const perp_contact *recorded,
                           const pp_pair_rule *law)
{
    bool round = c->info->friction == PERP_FRICTION_COULOMB && recorded->facets == 0;
    bool none = c->info->friction == PERP_FRICTION_NONE || !(recorded->mu > 0.0);
    int due = law->facets > 0 ? law->facets : c->info->facets;
    bool good =
        !c->model->spatial || none || recorded->facets == due || (round && law->facets == 0);
    return good ? 0.0 : 1.0;
}

// The nearest of the points that the pair has within a margin; a pair that never meets is
// infinitely far off. Points are compared by feature, which listed contacts do not have.
static double error_within(const pp_recheck *c, const perp_contact *recorded, bool listed,
                           double margin)
{
    pp_contact point[PP_POINTS_MAX];
    double least = PP_INF;
    int count = pp_gap_pair(c->model, c->found, recorded->a.i, recorded->b.i, margin, point);
    bool found = pp_check_acting(c, recorded) == c->found;  // else the point is known by now
    for (int k = 0; k < count; k++) {
        double error = found ? place_error(recorded, &point[k])
                             : relative_difference(recorded->gap, point[k].gap);
        if ((listed || point[k].feature == recorded->feature) && error < least) {
            least = error;
        }
    }
    return least;
}

// The least gap of the points that a pair has along the same axis: a contact whose axis was chosen
// has that one as its separation.
static double least_gap(const pp_recheck *c, const perp_contact *recorded)
{
    double least = recorded->gap;
    for (int i = 0; i < c->now->contacts; i++) {
        const perp_contact *k = &c->now->contact[i];
        bool same = k->a.i == recorded->a.i && k->b.i == recorded->b.i;
        if (same && apart3(k->normal_W, recorded->normal_W) <= FITS) {
            least = fmin(least, k->gap);
        }
    }
    return least;
}

// Whether the point is one that the pair has, or a point of one of the shapes moved by half the
// gap.
static double point_error(const pp_recheck *c, const perp_contact *recorded)
{
    const perp_model *m = c->model;
    pp_contact point[PP_POINTS_MAX];
    perp_vec3 n = recorded->normal_W, x = recorded->point_W;
    int count = pp_gap_pair(m, c->found, recorded->a.i, recorded->b.i, HUGE_VAL, point);
    perp_vec3 on_a = pp_along(x, -0.5 * recorded->gap, n),
              on_b = pp_along(x, 0.5 * recorded->gap, n);
    double size = fmax(1.0, pp_length(x)), skin = pp_skin(m, recorded->a.i, recorded->b.i);
    double to_a = pp_shape_distance(m, c->found, recorded->a.i, on_a) - 0.5 * skin;
    double to_b = pp_shape_distance(m, c->found, recorded->b.i, on_b) - 0.5 * skin;
    double least = fmin(fabs(to_a), fabs(to_b)) / size;
    for (int k = 0; k < count; k++) {
        least = fmin(least, apart3(x, point[k].point));
    }
    return pp_check_worse(least, m->spatial ? 0.0 : fabs(x.z));
}

// A contact whose axis n was chosen for the motion of its step has the separation along n in place
// of the distance: the supports of both shapes along n are that far apart, a's is not beyond the
// point less half the gap and b's not before the point plus half the gap.
static double axis_error(const pp_recheck *c, const perp_contact *recorded)
{
    const perp_model *m = c->model;
    perp_vec3 n = recorded->normal_W, x = recorded->point_W;
    double half = 0.5 * recorded->gap, a[2], b[2], size = fmax(1.0, pp_length(x));
    if (!pp_shape_extent(m, c->found, recorded->a.i, x, n, a) ||
        !pp_shape_extent(m, c->found, recorded->b.i, x, n, b)) {
        return PP_INF;
    }
    // Each of two shapes without an inside has half of the skin between them.
    double skin = pp_skin(m, recorded->a.i, recorded->b.i);
    a[1] += 0.5 * skin;
    b[0] -= 0.5 * skin;
    // a[1] and b[0]: the farthest extent of a and the nearest of b along n, relative to x.
    // Points beside a face count as level with those above it to LEVEL (gap/aim.c).
    double off = fmax(fabs(least_gap(c, recorded) - (b[0] - a[1])) - LEVEL, 0.0);
    off = pp_check_worse(off, pp_check_worse(-half - a[1], b[0] - half)) / size;
    off = pp_check_worse(off, fabs(pp_dot3(n, n) - 1.0));
    return off <= SAME ? pp_check_worse(off, point_error(c, recorded)) : off;
}

// Of more points than a pair may have some are left out, and which depends on how far the step
// looked: what is not among all of them may be among the near ones.
static double geometry_error(const pp_recheck *c, const perp_contact *recorded, bool listed)
{
    double all = error_within(c, recorded, listed, HUGE_VAL);
    double beyond = 1e-9 * c->model->length_scale;
    for (int k = 0; k < BEYONDS && !(all < PP_INF); k++) {
        all = error_within(c, recorded, listed, fmax(recorded->gap, 0.0) + beyond);
        beyond *= 2.0;
    }
    return listed || all <= SAME ? all : fmin(all, axis_error(c, recorded));
}

// Friction and restitution against the rule of the pair. A pair that the scene ignores has no
// contact.
static double coefficient_error(const perp_contact *recorded, const pp_pair_rule *law, bool listed)
{
    if (law->ignore && !listed) {
        return PP_INF;
    }
    // Less restitution than given may have acted, where all of it would have created energy.
    bool less = recorded->restitution >= 0.0 && recorded->restitution < law->restitution;
    double restitution = less ? 0.0 : relative_difference(recorded->restitution, law->restitution);
    return pp_check_worse(relative_difference(recorded->mu, law->mu), restitution);
}

// Velocity of the point `at` of a body after the step [m/s]; *size grows by the sizes of the
// numbers that it is made of.
static perp_vec3 point_velocity(const pp_recheck *c, int body, perp_vec3 at, double *size)
{
    perp_twist v = pp_check_contact_velocity(c, body);
    perp_vec3 arm = pp_sub(at, c->found[body].p);
    *size += pp_length(v.v_W) + pp_length(v.w_W) * pp_length(arm);
    return pp_add(v.v_W, pp_cross(v.w_W, arm));
}

// Whether sliding friction acts at all: some coefficient is positive, and the run has friction.
static bool rubs_at(const pp_recheck *c, const perp_contact *recorded)
{
    bool listed;
    pp_pair_rule law = pp_check_law(c->model, recorded->a.i, recorded->b.i, &listed);
    bool any = recorded->mu > 0.0 || (c->info->spatial && law.mu_2 > 0.0);
    return any && c->info->friction != PERP_FRICTION_NONE;
}

// Error of the rates of a contact that acts in the middle of the step: rates are those at a point
// of the pair at its end, along the recorded tangent as it is projected to the plane across the
// normal there.                                                                        theory (S12)
static double end_rate_error(const pp_recheck *c, const perp_contact *recorded,
                             const pp_contact *point)
{
    const int body[2] = {c->model->shape[recorded->a.i].body, c->model->shape[recorded->b.i].body};
    perp_vec3 tm = recorded->tangent_W, om = pp_cross(recorded->normal_W, tm), v[2];
    double size = 1.0;
    for (int k = 0; k < 2; k++) {
        perp_twist V = pp_check_contact_velocity(c, body[k]);
        perp_vec3 arm = pp_sub(point->point, c->after[body[k]].p);
        v[k] = pp_add(V.v_W, pp_cross(V.w_W, arm));
        size += pp_length(V.v_W) + pp_length(V.w_W) * pp_length(arm);
    }
    perp_vec3 u = pp_sub(v[1], v[0]), n = point->n;
    perp_vec3 t = pp_unit(pp_along(tm, -pp_dot3(tm, n), n), tm), o = pp_cross(n, t);
    bool listed, rubs = rubs_at(c, recorded);
    pp_pair_rule law = pp_check_law(c->model, recorded->a.i, recorded->b.i, &listed);
    double along = rubs && recorded->mu != 0.0 ? pp_dot3(u, t) : 0.0;
    double across = rubs && law.mu_2 != 0.0 ? pp_dot3(u, o) : 0.0;
    double error = fabs(recorded->rate_n - pp_dot3(u, n));
    error = pp_check_worse(error, fabs(pp_dot3(recorded->slip_W, tm) - along));
    error = pp_check_worse(error, fabs(pp_dot3(recorded->slip_W, om) - across));
    error = pp_check_worse(error, fabs(recorded->slip - pp_length(recorded->slip_W)));
    return error / size;
}

// The point of the pair at the end of the step is the one with the recorded feature; where there is none, the nearest.
// Which points a pair has, and of a rim where, depends on how far the step looked.      theory (S12)
static double rates_at_end(const pp_recheck *c, const perp_contact *recorded)
{
    pp_contact point[PP_POINTS_MAX];
    double same = PP_INF, least = PP_INF;
    double reach = fmax(recorded->gap, 0.0) + 1e-3 * c->model->length_scale;
    bool known = false;
    for (int k = 0; k <= REACHES && !(same <= FITS); k++, reach *= 2.0) {
        int count = pp_gap_pair(c->model, c->after, recorded->a.i, recorded->b.i,
                                k < REACHES ? reach : HUGE_VAL, point);
        const pp_contact *best = NULL;
        double nearest = PP_INF;
        for (int i = 0; i < count; i++) {
            if (point[i].feature == recorded->feature) {
                known = true;
                same = fmin(same, end_rate_error(c, recorded, &point[i]));
            }
            double off = pp_length(pp_sub(point[i].point, recorded->point_W));
            best = off < nearest ? &point[i] : best;
            nearest = fmin(nearest, off);
        }
        least = best ? fmin(least, end_rate_error(c, recorded, best)) : least;
    }
    return known ? same : least;
}

// Normal velocity and slip after the step, relative to the velocities that they are differences of.
static double rate_error(const pp_recheck *c, const perp_contact *recorded)
{
    const perp_model *m = c->model;
    if (pp_check_acting(c, recorded) != c->found) {
        return rates_at_end(c, recorded) * (SAME / MIDDLE);  // held against SAME
    }
    // t = (n_y, -n_x) in the plane.                                                     theory (P6)
    perp_vec3 n = recorded->normal_W, flat = {n.y, -n.x, 0.0};
    double size = 1.0;
    perp_vec3 a = point_velocity(c, m->shape[recorded->a.i].body, recorded->point_W, &size);
    perp_vec3 b = point_velocity(c, m->shape[recorded->b.i].body, recorded->point_W, &size);
    perp_vec3 v = pp_sub(b, a), u = pp_add(v, pp_check_surface(c, recorded));
    bool listed;
    pp_pair_rule law = pp_check_law(m, recorded->a.i, recorded->b.i, &listed);
    bool rubs = rubs_at(c, recorded);
    double error = fabs(recorded->rate_n - pp_dot3(v, n)) / size;
    if (!m->spatial) {
        double slip = rubs ? pp_dot3(u, flat) : 0.0;
        return pp_check_worse(error, fabs(recorded->slip - slip) / size);
    }
    perp_vec3 t = recorded->tangent_W, o = pp_cross(n, t);
    double across = law.mu_2 == 0.0 ? 0.0 : pp_dot3(u, o);  // where nothing holds it
    double along = recorded->mu == 0.0 ? 0.0 : pp_dot3(u, t);
    u = pp_along(pp_scale(along, t), across, o);
    perp_vec3 off = pp_sub(recorded->slip_W, rubs ? u : pp_vec(0.0, 0.0, 0.0));
    error = pp_check_worse(error, pp_length(off) / size);
    return pp_check_worse(error, fabs(recorded->slip - pp_length(recorded->slip_W)) / size);
}

// Open without a normal impulse; slip where friction acts not at all, or where slip and hold
// together are not zero; else stick.
static double mode_error(const pp_recheck *c, const perp_contact *recorded)
{
    bool rubs = rubs_at(c, recorded);
    perp_vec3 n = recorded->normal_W, hold = recorded->hold_W;
    double held = c->info->spatial ? pp_length(pp_add(recorded->slip_W, hold))
                                   : fabs(recorded->slip + hold.x * n.y - hold.y * n.x);
    perp_contact_mode mode = PERP_CONTACT_STICK;
    if (!(recorded->pn > 0.0)) {
        mode = PERP_CONTACT_OPEN;
    } else if (!rubs || held > STILL) {
        mode = PERP_CONTACT_SLIP;
    }
    return recorded->mode == mode ? 0.0 : 1.0;
}

// Each contact against the geometry, the coefficients and the velocities of its step.
static void judge_contacts(pp_recheck *c)
{
    for (int i = 0; i < c->now->contacts; i++) {
        const perp_contact *contact = &c->now->contact[i];
        bool listed;
        pp_pair_rule law = pp_check_law(c->model, contact->a.i, contact->b.i, &listed);
        const char *a = c->model->shape[contact->a.i].name;
        const char *b = c->model->shape[contact->b.i].name;
        double error = geometry_error(c, contact, listed);
        error = pp_check_worse(error, frame_error(c, contact, &law));
        error = pp_check_worse(error, facets_error(c, contact, &law));
        error = pp_check_worse(error, coefficient_error(contact, &law, listed));
        error = pp_check_worse(error, rate_error(c, contact));
        pp_check_record_worst(c, PERP_CHECK_CONTACT, pp_check_worse(error, mode_error(c, contact)),
                              SAME, a, b);
    }
}

// ── Joints, driven bodies, energies, steps ───────────────────────────────────────────────────────

// Coordinates, rates and errors against the states; in the plane no wrench may leave it.
static void judge_joints(pp_recheck *c)
{
    pp_poses now = {.t = c->now->t, .body = c->after, .turn = c->turn, .drive = &c->drive};
    for (int i = 0; i < c->model->joints; i++) {
        const perp_joint_state *state = &c->now->joint[i];
        pp_row row;
        pp_joint_coordinate(c->model, &now, i, &row);
        double error = relative_difference(state->coordinate, row.value);
        error = pp_check_worse(error, relative_difference(state->rate, row.v_pre));
        error = pp_check_worse(
            error, relative_difference(state->error, pp_joint_error(c->model, &now, i)));
        const perp_wrench *w = &state->impulse_b;
        if (!c->model->spatial) {
            error = pp_check_worse(
                error,
                pp_check_worse(fabs(w->f_W.z), pp_check_worse(fabs(w->tau_W.x), fabs(w->tau_W.y))));
        }
        pp_check_record_worst(c, PERP_CHECK_RECORD, error, SAME, c->model->joint[i].name, "");
    }
}

// The angle between two rotations [rad], for small ones, and how far the first is from a unit
// quaternion. A quaternion and its negative are the same rotation.
static double rotation_error(perp_quat a, perp_quat b)
{
    perp_quat d = pp_quat_mul(pp_quat_conjugate(a), b);
    return pp_check_worse(2.0 * sqrt(d.x * d.x + d.y * d.y + d.z * d.z),
                          fabs(pp_quat_norm(a) - 1.0));
}

// Driven bodies against their given motions, free ones against q and nu.
static void judge_bodies(pp_recheck *c)
{
    for (int i = 0; i < c->model->bodies; i++) {
        const pp_frame *f = &c->after[i];
        double error = apart3(c->now->position_W[i], f->p);
        error = pp_check_worse(error, apart3(c->now->velocity_W[i], f->v));
        if (c->model->spatial) {
            error = pp_check_worse(error, rotation_error(c->now->rotation_WB[i], f->rot));
            error = pp_check_worse(error, apart3(c->now->omega_W[i], f->w));
        } else if (c->model->body[i].kind != PERP_BODY_PLANAR_PARTICLE) {
            error = pp_check_worse(error, relative_difference(c->now->angle[i], f->angle));
            error = pp_check_worse(error, relative_difference(c->now->spin[i], f->w.z));
        }
        pp_check_record_worst(c, PERP_CHECK_RECORD, error, SAME, c->model->body[i].name, "");
    }
}

// Kinetic energy of velocities nu, which are those of the frames `at` [J].
static double recorded_kinetic_energy(const pp_recheck *c, const pp_frame *at, const double *nu)
{
    double sum = 0.0;
    for (int i = 0; i < c->model->bodies; i++) {
        const pp_body *body = &c->model->body[i];
        perp_twist twist = pp_check_twist(body, nu + body->at);
        perp_vec3 v = twist.v_W, w = pp_mul_t(&at[i].R, twist.w_W);
        sum += 0.5 * (body->mass * pp_dot3(v, v) + pp_dot3(w, pp_mul(&body->I_B, w)));
    }
    const pp_poses poses = {.body = at};  // rates of coordinates do not depend on their turns
    return sum + pp_rotor_energy(c->model, &poses);
}

// Energies against the states, and their ledger: before + work = after + dissipated. Quasistatic
// steps have no kinetic energy, and the ledger has what the scheme puts in its place.
static void judge_energy(pp_recheck *c)
{
    const perp_energy *e = &c->now->energy, *old = &c->energy0;
    pp_poses now = {.t = c->now->t, .body = c->after, .turn = c->turn};
    double potential = pp_potential(c->model, c->after) + pp_joint_energy(c->model, &now);
    double error = relative_difference(e->potential, potential);
    bool known = !c->model->spatial || c->info->every == 1;
    if (c->info->stepper != PERP_STEPPER_QUASISTATIC && known) {
        // In space masses turn with the bodies; the velocities at the start are those of the frame
        // before.
        double before =
            c->model->spatial ? recorded_kinetic_energy(c, c->before, c->nu0) : old->kinetic;
        // Where gravity was changed, the step starts from another potential than the last one ended with.
        double lay = old->potential;
        if (c->changed && c->part <= 0) {
            pp_poses then = {.t = c->t0, .body = c->before, .turn = c->turn0};
            lay = pp_potential(c->model, c->before) + pp_joint_energy(c->model, &then);
        }
        double in = before + lay + e->work, out = e->kinetic + e->potential;
        double size =
            fabs(before) + fabs(lay) + fabs(e->work) + fabs(e->kinetic) + fabs(e->potential);
        error = pp_check_worse(
            error,
            relative_difference(e->kinetic, recorded_kinetic_energy(c, c->after, c->now->nu)));
        // several steps with unknown changes between them have no ledger
        bool ledger = !c->changed || c->info->every == 1;
        if (isfinite(size) && ledger) {
            error = pp_check_worse(error, fabs(in - out - e->dissipated) / fmax(1.0, size));
        }
    }
    pp_check_record_worst(c, PERP_CHECK_RECORD, error, SAME, "energies", "");
}

// Parts follow each other without a gap. Frames are `every` steps apart, the last one at most.
static void judge_time(pp_recheck *c)
{
    if (c->part >= 0) {
        double error = relative_difference(c->now->t, c->t0 + c->h);
        bool smooth = c->now->part == PERP_PART_SMOOTH;  // which may be nothing but a correction
        bool instant = c->now->part == PERP_PART_IMPACT || c->now->part == PERP_PART_OTHER;
        bool good = c->h > 0.0 || (c->h == 0.0 && (smooth || instant));
        good = good && !(instant && c->h > 0.0);
        pp_check_record_worst(c, PERP_CHECK_RECORD, good ? error : PP_INF, SAME, "the time", "");
        return;
    }
    double between = (double)c->now->step - (double)c->step0;  // of any numbers, in a broken file
    int64_t steps = fabs(between) < 1e15 ? (int64_t)between : 0;
    bool good = steps >= 1 && steps <= c->info->every && c->last > 0.0;
    double h = c->info->h > 0.0 ? (double)steps * c->info->h : c->h;
    if (c->at_end && c->info->h > 0.0) {  // to the end asked for, which need not be a multiple of h
        h = fmin(fmax(c->h, h - c->info->h), h + 1e-6 * c->info->h);
    }
    double error = relative_difference(c->now->t, c->t0 + h);
    pp_check_record_worst(c, PERP_CHECK_RECORD, good ? error : PP_INF, SAME, "the time", "");
}

// Controls and filters of a step against its inputs, efforts and their flags against its impulses. Frames that are
// several steps apart do not show where the last of these began.                           theory (A2)
void pp_check_recorded_actuators(pp_recheck *c)
{
    int count = c->info->every == 1 && c->h > 0.0 ? c->model->actuators : 0;
    for (int i = 0; i < count; i++) {
        const pp_actuator *a = &c->model->actuator[i];
        const perp_actuator_state *state = &c->now->actuator[i];
        double end, mean = pp_actuator_mean_control(c->model, &c->drive, i, c->h, &end);
        double effort = state->impulse / c->h, f = effort / a->gear;
        double size = fmax(fabs(a->lower), fabs(a->upper));
        double error = relative_difference(state->control, mean);
        error = pp_check_worse(error, relative_difference(c->now->filter[i], end));
        error = pp_check_worse(error, relative_difference(state->effort, effort));
        // The flag is judged where rounding does not decide it: 1e-9 of the limits is its rule.
        double left = isfinite(size) ? fmin(f - a->lower, a->upper - f) / size : 1.0;
        bool wrong = state->limited ? left > 1e-8 : left < 1e-10;
        pp_check_record_worst(c, PERP_CHECK_RECORD, wrong ? PP_INF : error, SAME, a->name, "");
    }
}

// Everything in a frame that follows from its state, and is recorded for the convenience of
// readers.
void pp_check_recorded(pp_recheck *c)
{
    if (c->check->item[PERP_CHECK_CONTACT].done) {
        judge_contacts(c);
    }
    judge_joints(c);
    judge_bodies(c);
    judge_energy(c);
    judge_time(c);
    pp_check_recorded_sensors(c);
}

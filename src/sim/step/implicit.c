// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The implicit step: gaps, joints, normals, lever arms and directions of friction are those where the step ends.
//
//   M (nu - nu_l) = p_ext + W(q) p,   phi(q) = 0,   0 <= p_n _|_ psi(q) >= 0,   q = q_l + h nu         theory (I1)
//
// Newton's method for it. The first iterate is the linear step. A round goes where the last answer leads, finds contacts
// and rows there, and solves the problem that is linear about that place; its equations hold for q where the answer leads
// there again. The derivative of W(q) p, the geometric stiffness, is added to the inertia of bodies that links pull:
// without it light links under a heavy load turn back and forth and the rounds diverge.               theory (I2), (I3)
#include "sim/step/parts.h"

#include <math.h>
#include <string.h>

enum { ROUNDS = 24 };                // after the linear step
enum { PATIENCE = 6 };               // rounds that may pass without a better place
static const double MATTERS = 1e-2;  // stiffness over inertia from which the first iterate has it
static const double PLACE =
    1e-11;  // errors of gaps and joints that are left, of the model's length
static const double BALANCE = 1e-10;  // of impulses on a body, of their sizes
static const double LEAST_TURN =
    1e-9;  // of a body's inertia, which the stiffness may not take away

// ── Geometric stiffness ──────────────────────────────────────────────────────────────────────────

// Eigenvalues of a symmetric matrix below 0 become 0, by Jacobi's rotations.
static void drop_negative(pp_mat3 *A)
{
    double V[9] = {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0}, *a = A->m;
    for (int sweep = 0; sweep < 12; sweep++) {
        for (int p = 0; p < 2; p++) {
            for (int q = p + 1; q < 3; q++) {
                if (a[3 * p + q] == 0.0) {
                    continue;
                }
                // the rotation by which entry (p, q) vanishes: t = tan of its angle, the smaller of two
                double by = (a[4 * q] - a[4 * p]) / (2.0 * a[3 * p + q]);
                double t = (by < 0.0 ? -1.0 : 1.0) / (fabs(by) + sqrt(by * by + 1.0));
                double c = 1.0 / sqrt(t * t + 1.0), s = t * c;
                for (int k = 0; k < 3; k++) {
                    double x = a[3 * k + p], y = a[3 * k + q];
                    a[3 * k + p] = c * x - s * y;
                    a[3 * k + q] = s * x + c * y;
                }
                for (int k = 0; k < 3; k++) {
                    double x = a[3 * p + k], y = a[3 * q + k];
                    a[3 * p + k] = c * x - s * y;
                    a[3 * q + k] = s * x + c * y;
                }
                for (int k = 0; k < 3; k++) {
                    double x = V[3 * k + p], y = V[3 * k + q];
                    V[3 * k + p] = c * x - s * y;
                    V[3 * k + q] = s * x + c * y;
                }
            }
        }
    }
    double value[3] = {fmax(a[0], 0.0), fmax(a[4], 0.0), fmax(a[8], 0.0)};
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            double sum = 0.0;
            for (int k = 0; k < 3; k++) {
                sum += value[k] * V[3 * i + k] * V[3 * j + k];
            }
            a[3 * i + j] = sum;
        }
    }
}

// Joints that hold a point fixed in a to one fixed in b: their impulse keeps its direction while its arms turn with the bodies.
static bool joins_points(const pp_joint *j)
{
    return j->kind == PERP_JOINT_REVOLUTE || j->kind == PERP_JOINT_SPHERICAL ||
           j->kind == PERP_JOINT_UNIVERSAL || j->kind == PERP_JOINT_WELD;
}

// The force part of J' p of a row on one of its bodies.
static perp_vec3 row_force(const perp_model *m, const pp_row *row, double p, int body)
{
    double all[PP_BODY_NV] = {0.0};
    for (int k = 0; k < row->count; k++) {
        const pp_body *b = &m->body[row->body[k]];
        if (row->body[k] != body) {
            continue;
        }
        for (int c = 0; c < b->nv; c++) {
            all[b->axis[c]] += p * row->J[k][c];
        }
    }
    return pp_vec(all[0], all[1], all[2]);
}

// G += h ((r . f) 1 - (r f' + f r')/2): how the moment r x f of an impulse f at the arm r, which turns with its body, resists
// a turn. In the plane h r . f.                                                                        theory (I3)
static void add_stiffness(double h, perp_vec3 r, perp_vec3 f, bool planar, pp_mat3 *G)
{
    double along = h * pp_dot3(r, f);
    if (planar) {
        G->m[8] += along;
        return;
    }
    const double a[3] = {r.x, r.y, r.z}, b[3] = {f.x, f.y, f.z};
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            G->m[3 * i + k] += (i == k ? along : 0.0) - 0.5 * h * (a[i] * b[k] + a[k] * b[i]);
        }
    }
}

// Stiffness of all bodies from the impulses of the answer, with arms at the poses where its rows were taken. What would
// take inertia away is left out: the linear problem has to stay one of a positive mass matrix.
static void find_stiffness(const perp_sim *sim, const pp_poses *at, double h, pp_mat3 *G)
{
    const perp_model *m = sim->model;
    const pp_step *s = &sim->step;
    memset(G, 0, (size_t)m->bodies * sizeof *G);
    for (int i = 0; i < s->row.nb; i++) {
        const pp_row *row = &s->row.b[i];
        if (row->joint < 0 || row->drives || row->spring || !joins_points(&m->joint[row->joint])) {
            continue;
        }
        // the row's force on either body, at that body's anchor
        const pp_joint *j = &m->joint[row->joint];
        const int body[2] = {j->a, j->b};
        const perp_vec3 arm[2] = {j->r_A, j->r_B};
        for (int k = 0; k < 2; k++) {
            if (m->body[body[k]].nv > 0) {
                perp_vec3 f = row_force(m, row, s->answer.pb[i], body[k]);
                add_stiffness(h, pp_rotate(&at->body[body[k]], arm[k]), f, !m->spatial,
                              &G[body[k]]);
            }
        }
    }
    for (int i = 0; i < m->bodies; i++) {
        if (m->body[i].nv == 0 || !pp_body_turns(&m->body[i]) || m->body[i].massless) {
            memset(&G[i], 0, sizeof G[i]);
        } else if (m->spatial) {
            drop_negative(&G[i]);
        } else {
            G[i].m[8] = fmax(G[i].m[8], 0.0);
        }
    }
}

// The largest stiffness over the inertia that it adds to, by their traces.
static double largest_stiffness(const perp_sim *sim, const pp_mat3 *G)
{
    double most = 0.0;
    for (int i = 0; i < sim->model->bodies; i++) {
        const double *I = sim->step.mass_l[i].I.m, *g = G[i].m;
        double inertia = I[0] + I[4] + I[8];
        if (inertia > 0.0) {
            most = fmax(most, (g[0] + g[4] + g[8]) / inertia);
        }
    }
    return most;
}

// Inverse of a symmetric positive definite matrix by its cofactors.
static pp_mat3 invert(const pp_mat3 *A)
{
    const double *a = A->m;
    double x = a[4] * a[8] - a[5] * a[7], y = a[5] * a[6] - a[3] * a[8];
    double z = a[3] * a[7] - a[4] * a[6], det = a[0] * x + a[1] * y + a[2] * z;
    return (pp_mat3){{x / det, (a[2] * a[7] - a[1] * a[8]) / det, (a[1] * a[5] - a[2] * a[4]) / det,
                      y / det, (a[0] * a[8] - a[2] * a[6]) / det, (a[2] * a[3] - a[0] * a[5]) / det,
                      z / det, (a[1] * a[6] - a[0] * a[7]) / det,
                      (a[0] * a[4] - a[1] * a[3]) / det}};
}

// Masses and impulses of forces of the linear problem: M + G, and p_ext + G (nu_k - nu_l), so that G has no effect where
// nu = nu_k. at_k: velocities of the place that the rows are taken at; NULL: the start, where they are zero.
static void stiffen(perp_sim *sim, const pp_mat3 *G, const double *nu_l, const double *at_k)
{
    const perp_model *m = sim->model;
    pp_step *s = &sim->step;
    memcpy(s->kin.mass, s->mass_l, (size_t)m->bodies * sizeof *s->mass_l);
    memcpy(s->kin.loads.p_ext, s->push_l, (size_t)m->nv * sizeof *s->push_l);
    for (int i = 0; i < m->bodies; i++) {
        const pp_body *body = &m->body[i];
        const double *g = G[i].m;
        pp_inertia *mass = &s->kin.mass[i];
        if (!(g[0] + g[4] + g[8] > LEAST_TURN * (mass->I.m[0] + mass->I.m[4] + mass->I.m[8]))) {
            continue;
        }
        // turn = omega_k - omega_l
        double turn[3] = {0.0, 0.0, 0.0}, *push = s->kin.loads.p_ext + body->at;
        for (int k = 0; k < body->nv; k++) {
            int axis = body->axis[k], at = body->at + k;
            if (axis >= 3) {
                turn[axis - 3] = (at_k ? at_k[at] : 0.0) - nu_l[at];
            }
        }
        for (int k = 0; k < body->nv; k++) {
            int row = body->axis[k] - 3;
            if (row >= 0) {
                push[k] +=
                    g[3 * row] * turn[0] + g[3 * row + 1] * turn[1] + g[3 * row + 2] * turn[2];
            }
        }
        for (int k = 0; k < 9; k++) {
            mass->I.m[k] += g[k];
        }
        if (m->spatial) {
            mass->inverse_I = invert(&mass->I);
        } else {
            mass->divisor_Izz += g[8];
        }
    }
}

// ── Rows where the step ends ─────────────────────────────────────────────────────────────────────

// The turn of a body in the step as a rotation vector in world axes [rad].
static perp_vec3 turn_of(const perp_sim *sim, int body)
{
    const pp_frame *from = &sim->step.kin.poses.body[body], *to = &sim->step.end.body[body];
    if (!sim->model->spatial) {
        return pp_vec(0.0, 0.0, to->angle - from->angle);
    }
    return pp_quat_log(pp_quat_mul(to->rot, pp_quat_conjugate(from->rot)));
}

// Slip of two bodies that turn together, beyond what rows of the end have of it: with the common turn theta, R, and
// D = c_b - c_a it is D' - R D, of which rows have D' - D - theta x D'.                                theory (I4)
static perp_vec3 common_drift(const perp_sim *sim, const pp_contact *c)
{
    const pp_step *s = &sim->step;
    int a = sim->model->shape[c->a].body, b = sim->model->shape[c->b].body;
    perp_vec3 ta = turn_of(sim, a), tb = turn_of(sim, b), none = {0.0, 0.0, 0.0};
    double square = pp_dot3(ta, ta) + pp_dot3(tb, tb), product = pp_dot3(ta, tb);
    if (!(product > 0.0)) {
        return none;
    }
    perp_vec3 theta = pp_scale(product / square, pp_add(ta, tb));
    pp_mat3 R = pp_quat_matrix(pp_quat_exp(theta));
    perp_vec3 D = pp_sub(s->kin.poses.body[b].p, s->kin.poses.body[a].p);
    perp_vec3 then = pp_sub(s->end.body[b].p, s->end.body[a].p);
    return pp_add(pp_sub(D, pp_mul(&R, D)), pp_cross(theta, then));
}

static bool same_contact(const pp_contact *a, const pp_contact *b)
{
    return a->a == b->a && a->b == b->b && a->feature == b->feature && a->listed == b->listed;
}

// The rows of a contact of sheets, as they were at the start.
static void restore_row(perp_sim *sim, int n)
{
    const pp_round *first = sim->step.first;
    pp_rows *rows = &sim->step.row;
    const pp_contact *c = &sim->step.gap.contact[rows->contact[n]];
    for (int k = 0; k < first->row.nc; k++) {
        if (!same_contact(c, &first->gap.contact[first->row.contact[k]])) {
            continue;
        }
        rows->n[n] = first->row.n[k];
        for (int g = 0; g < rows->grouped[n] && g < first->row.grouped[k]; g++) {
            const pp_friction *to = &rows->group[rows->friction[n] + g];
            const pp_friction *from = &first->row.group[first->row.friction[k] + g];
            memcpy(&rows->t[to->t], &first->row.t[from->t], (size_t)to->size * sizeof *rows->t);
        }
        return;
    }
}

// Biases of friction rows: slip is measured by what moved.
static void bias_friction(perp_sim *sim, double h)
{
    pp_rows *rows = &sim->step.row;
    for (int n = 0; n < rows->nc; n++) {
        const pp_contact *c = &sim->step.gap.contact[rows->contact[n]];
        if (c->sheet) {
            restore_row(sim, n);
            continue;
        }
        rows->n[n].middle = true;  // acts, and holds, where the step ends
        for (int g = 0; g < rows->grouped[n]; g++) {
            const pp_friction *group = &rows->group[rows->friction[n] + g];
            if (group->kind != PP_SLIDE) {
                continue;
            }
            double scale[2] = {1.0, 1.0};
            perp_vec3 drift = common_drift(sim, c), d[2] = {c->t, pp_cross(c->n, c->t)};
            if (group->size == 2) {
                pp_friction_scales(c, scale);
            }
            for (int k = 0; k < group->size; k++) {
                rows->t[group->t + k].bias = scale[k] * pp_dot3(d[k], drift) / h;
            }
        }
    }
}

// Mean velocities of the ways to where the bodies are now placed: in joint coordinates, which follow arcs, the velocities of
// the step.
static void follow_places(perp_sim *sim, double h)
{
    const perp_model *m = sim->model;
    pp_step *s = &sim->step;
    for (int i = 0; i < m->bodies; i++) {
        const pp_body *b = &m->body[i];
        if (b->nv > 0) {
            pp_sim_chord(b, sim->now.q + b->at_q, sim->next.q + b->at_q, h, s->answer.nu + b->at);
        }
    }
    memcpy(sim->next.nu, s->answer.nu, (size_t)m->nv * sizeof *s->answer.nu);
    pp_frames(m, &sim->next, s->end_body);
}

// Frames of the end with the velocities of the start, for the approach at contacts. NULL: out of memory.
static pp_frame *carried_frames(const perp_sim *sim)
{
    const pp_step *s = &sim->step;
    pp_frame *body = PP_ARRAY(sim->arena, pp_frame, sim->model->bodies);
    if (!body) {
        return NULL;
    }
    for (int i = 0; i < sim->model->bodies; i++) {
        body[i] = s->end.body[i];
        body[i].v = s->kin.poses.body[i].v;
        body[i].w = s->kin.poses.body[i].w;
    }
    return body;
}

// Of two shapes without an inside, neither of which has a side where they touch, contacts stay as found at the start.
static bool is_sheet_pair(const perp_model *m, const pp_contact *c)
{
    perp_shape_kind a = m->shape[c->a].kind, b = m->shape[c->b].kind;
    return !m->spatial && c->listed < 0 && (a == PERP_SHAPE_SEGMENT || a == PERP_SHAPE_POINT) &&
           (b == PERP_SHAPE_SEGMENT || b == PERP_SHAPE_POINT);
}

// The order of contacts: listed ones, then by shapes and features.
static bool comes_before(const pp_contact *x, const pp_contact *y)
{
    if (x->listed >= 0 || y->listed >= 0) {
        return x->listed >= 0 && (y->listed < 0 || x->listed < y->listed);
    }
    if (x->a != y->a || x->b != y->b) {
        return x->a < y->a || (x->a == y->a && x->b < y->b);
    }
    return x->feature < y->feature;
}

// Puts the contacts of sheets as the start has them among those of the end.
static void add_sheets(const pp_gaps *start, pp_gaps *gaps)
{
    for (int i = 0; i < start->count; i++) {
        if (!start->contact[i].sheet) {
            continue;
        }
        int at = gaps->count++;
        while (at > 0 && comes_before(&start->contact[i], &gaps->contact[at - 1])) {
            gaps->contact[at] = gaps->contact[at - 1];
            at--;
        }
        gaps->contact[at] = start->contact[i];
    }
}

// Contacts of the end as far as the next step looks, so that the certificate and that step find them done; those that
// cannot matter are left out of the rows.
static perp_status contacts_of_end(perp_sim *sim)
{
    pp_step *s = &sim->step;
    perp_status status = pp_sim_find_end(sim);
    if (status < 0) {
        return status;
    }
    const pp_gaps *found = &sim->contact_cache.gaps;
    size_t most = (size_t)found->count + (size_t)s->gap_l.count;
    s->gap = (pp_gaps){0, PP_ARRAY(sim->arena, pp_contact, most)};
    if (!s->gap.contact) {
        return PERP_ERR_MEMORY;
    }
    for (int i = 0; i < found->count; i++) {
        pp_contact *c = &s->gap.contact[s->gap.count];
        *c = found->contact[i];
        if (is_sheet_pair(sim->model, c)) {
            continue;
        }
        c->restitution *= s->restitution_share;
        double margin = pp_gap_pair_margin(sim->model, sim->def.margin, c->a, c->b);
        bool near = c->gap <= margin || c->restitution > 0.0;
        s->gap.count += near || c->listed >= 0;
    }
    add_sheets(&s->gap_l, &s->gap);
    return PERP_OK;
}

// Goes where the velocities of the answer lead, and takes contacts and rows there.
static perp_status rows_of_end(perp_sim *sim, double h)
{
    pp_step *s = &sim->step;
    perp_status status = pp_sim_place(sim, h);
    if (status < 0) {
        return status;
    }
    if (sim->tree) {
        follow_places(sim, h);
    }
    if (!pp_all_finite((size_t)sim->model->nq, sim->next.q)) {
        return PERP_ERR_NUMERIC;
    }
    status = contacts_of_end(sim);
    if (status < 0) {
        return status;
    }
    // rows as at the start of a step, with the end in its place and masses and forces of the start
    pp_kinematics kin = s->kin;
    pp_poses carried = s->end;
    kin.poses = s->end;
    kin.mass = s->mass_l;
    kin.loads.p_ext = s->push_l;
    carried.body = carried_frames(sim);
    if (!carried.body) {
        return PERP_ERR_MEMORY;
    }
    pp_scheme scheme = pp_sim_scheme(sim);
    scheme.start = &s->kin.poses;
    scheme.carried = &carried;
    scheme.limits = s->limits;
    status =
        pp_rows_run(&s->row, sim->model, &kin, &kin.poses, &s->gap, scheme, &sim->team, sim->arena);
    if (status >= 0) {
        bias_friction(sim, h);
    }
    return status;
}

// ── Impulses from round to round ─────────────────────────────────────────────────────────────────

// Of two rows of the limits of one joint: whether they are the same limit.
static bool same_limit(const pp_row *a, const pp_row *b)
{
    double along = 0.0;
    for (int c = 0; c < PP_BODY_NV; c++) {
        along += a->count > 0 && b->count > 0 ? a->J[0][c] * b->J[0][c] : 0.0;
    }
    return a->joint == b->joint && along > 0.0;
}

static void take_contact_impulses(const pp_round *last, int from, const pp_rows *rows, int n,
                                  double *pn, double *pt)
{
    pn[n] = last->answer.pn[from];
    if (rows->grouped[n] == 0 || rows->grouped[n] != last->row.grouped[from]) {
        return;
    }
    for (int g = 0; g < rows->grouped[n]; g++) {
        const pp_friction *to = &rows->group[rows->friction[n] + g];
        const pp_friction *of = &last->row.group[last->row.friction[from] + g];
        for (int k = 0; k < to->size && to->size == of->size; k++) {
            pt[to->t + k] = last->answer.pt[of->t + k];
        }
    }
}

// Impulses p_n, p_t and p_m of the last round for the rows of this one; contacts are in the same order in both. NULL: no
// memory.
double *pp_sim_guess_round(const perp_sim *sim)
{
    const pp_step *s = &sim->step;
    const pp_round *last = s->last;
    const pp_rows *rows = &s->row;
    double *guess =
        PP_ZEROS(sim->arena, double, (size_t)rows->nn + (size_t)rows->nt + (size_t)rows->nm);
    if (!guess) {
        return NULL;
    }
    double *pt = guess + rows->nn, *pm = pt + rows->nt;
    // each search goes on where the last one ended
    for (int n = 0, from = 0; n < rows->nc; n++) {
        const pp_contact *c = &s->gap.contact[rows->contact[n]];
        for (int k = 0; k < last->row.nc; k++) {
            int at = from + k < last->row.nc ? from + k : from + k - last->row.nc;
            if (same_contact(c, &last->gap.contact[last->row.contact[at]])) {
                take_contact_impulses(last, at, rows, n, guess, pt);
                from = at + 1 < last->row.nc ? at + 1 : 0;
                break;
            }
        }
    }
    for (int n = rows->nc; n < rows->nn; n++) {
        for (int k = last->row.nc; k < last->row.nn; k++) {
            if (same_limit(&rows->n[n], &last->row.n[k])) {
                guess[n] = last->answer.pn[k];
            }
        }
    }
    if (rows->nm == last->row.nm && rows->nm > 0) {
        memcpy(pm, last->answer.pm, (size_t)rows->nm * sizeof *pm);
    }
    return guess;
}

// ── How well the answer holds where it leads ─────────────────────────────────────────────────────

// Largest speed of a point of a body at either end, with a fall by its size [m/s]: what errors of rates are measured by.
static double speed_scale(const perp_sim *sim)
{
    const perp_model *m = sim->model;
    const pp_step *s = &sim->step;
    double most = 0.0;
    for (int i = 0; i < m->bodies; i++) {
        const pp_frame *a = &s->kin.poses.body[i], *b = &s->end.body[i];
        double reach = m->body[i].nv > 0 ? m->body[i].reach : 0.0;
        double fall = m->body[i].nv > 0 ? sqrt(m->gravity_most * reach) : 0.0;
        double v = fmax(pp_length(a->v) + pp_length(a->w) * reach,
                        pp_length(b->v) + pp_length(b->w) * reach);
        most = fmax(most, v + fall);
    }
    return most;
}

// The imbalance of impulses that is worst for its size: M (nu - nu_l) - p_ext - W p, over BALANCE of the terms.
static double imbalance(perp_sim *sim, const double *nu_l, const double *p)
{
    const perp_model *m = sim->model;
    const pp_step *s = &sim->step;
    const pp_rows *rows = &s->row;
    size_t nv = (size_t)m->nv;
    double *left = PP_ZEROS(sim->arena, double, 3 * nv), worst = 0.0;
    if (!left) {
        return HUGE_VAL;
    }
    double *size = left + nv, *dv = size + nv;
    for (size_t i = 0; i < nv; i++) {
        dv[i] = s->answer.nu[i] - nu_l[i];
    }
    pp_masses_mul(m, s->mass_l, dv, left);
    for (size_t i = 0; i < nv; i++) {
        size[i] = fabs(left[i]) + fabs(s->push_l[i]);
        left[i] -= s->push_l[i];
    }
    const pp_row *all[4] = {rows->b, rows->m, rows->n, rows->t};
    const double *by[4] = {s->answer.pb, p + rows->nn + rows->nt, p, p + rows->nn};
    const int count[4] = {rows->nb, rows->nm, rows->nn, rows->nt};
    for (int k = 0; k < 4; k++) {
        for (int i = 0; i < count[k]; i++) {
            const pp_row *row = &all[k][i];
            for (int e = 0; e < row->count; e++) {
                const pp_body *body = &m->body[row->body[e]];
                for (int c = 0; c < body->nv; c++) {
                    left[body->at + c] -= by[k][i] * row->J[e][c];
                    size[body->at + c] += fabs(by[k][i] * row->J[e][c]);
                }
            }
        }
    }
    double speed = speed_scale(sim);
    for (int i = 0; i < m->bodies; i++) {
        const pp_body *body = &m->body[i];
        double most[2] = {0.0, 0.0}, off[2] = {0.0, 0.0};  // forces; moments
        for (int c = 0; c < body->nv; c++) {
            int kind = body->axis[c] < 3 ? 0 : 1;
            most[kind] = fmax(most[kind], size[body->at + c]);
            off[kind] = fmax(off[kind], fabs(left[body->at + c]));
        }
        double carried = body->nv > 0 ? body->divisor_mass * speed : 0.0;
        double allowed[2] = {BALANCE * (most[0] + carried),
                             BALANCE * (most[1] + carried * body->reach)};
        for (int k = 0; k < 2; k++) {
            worst = allowed[k] > 0.0 ? fmax(worst, off[k] / allowed[k]) : worst;
        }
    }
    return worst;
}

// Errors of bilateral and boxed rows, over what is allowed: positions PLACE of the model's length, rates `slow`.
static double row_errors(const perp_sim *sim, const double *pm, double h, double place, double slow)
{
    const pp_step *s = &sim->step;
    double worst = 0.0;
    for (int i = 0; i < s->row.nb; i++) {
        const pp_row *row = &s->row.b[i];
        double w = pp_row_rate(sim->model, row, s->answer.nu) + row->bias;
        bool condition = row->joint >= 0 && !row->spring && !row->stabilised && row->gamma == 0.0;
        w += row->gamma * s->answer.pb[i];
        worst = fmax(worst, fabs(w) / (condition ? place / h : slow));
    }
    for (int i = 0; i < s->row.nm; i++) {
        const pp_row *row = &s->row.m[i];
        double w = pp_row_rate(sim->model, row, s->answer.nu) + row->bias + row->gamma * pm[i];
        double m = pp_row_mobility(sim->model, s->mass_l, row) + row->gamma;
        double to = m > 0.0 ? pp_clamp(pm[i] - w / m, row->lower, row->upper) : pm[i];
        worst = fmax(worst, m * fabs(pm[i] - to) / slow);
    }
    return worst;
}

// The natural map of a group of friction rows [m/s]. Rows of anisotropic friction are scaled, by 1e7 and more, such that one
// disc holds for both: the map is taken on the ellipse of the impulses themselves, since the small limit of one direction
// would bound any error of the other.
static double friction_error(const perp_sim *sim, int n, const pp_friction *group, const double *p)
{
    const pp_rows *rows = &sim->step.row;
    const double *pt = p + rows->nn + group->t;
    bool polygons = sim->step.answer.form != PERP_FORM_CONE;
    double to[2] = {0.0, 0.0}, slip[2], scale[2] = {1.0, 1.0}, m = 0.0, off = 0.0;
    double limit = group->mu * p[n];
    if (group->kind == PP_SLIDE && group->size == 2 && !polygons && group->facets == 0) {
        pp_friction_scales(&sim->step.gap.contact[rows->contact[n]], scale);
    }
    bool ellipse = scale[0] > 0.0 && scale[1] > 0.0 && scale[1] != 1.0;
    // mobility of unscaled rows, along the direction that moves most
    for (int k = 0; k < group->size; k++) {
        double by = ellipse ? scale[k] * scale[k] : 1.0;
        m = fmax(m, pp_row_mobility(sim->model, sim->step.mass_l, &rows->t[group->t + k]) / by);
    }
    if (!(m > 0.0)) {
        return 0.0;
    }
    pp_friction_slip(sim->model, rows, group, sim->step.answer.nu, slip);
    for (int k = 0; k < group->size; k++) {
        to[k] = ellipse ? scale[k] * pt[k] - slip[k] / (scale[k] * m) : pt[k] - slip[k] / m;
    }
    if (ellipse) {
        const double axes[2] = {scale[0] * limit, scale[1] * limit};
        pp_friction_project_ellipse(axes, to);
    } else {
        pp_friction_project(group, polygons, limit, to);
    }
    for (int k = 0; k < group->size; k++) {
        off = fmax(off, m * fabs((ellipse ? scale[k] : 1.0) * pt[k] - to[k]));
    }
    return off;
}

// The same of contacts and limits: natural maps, and gaps that are closed by more than `place`.
static double contact_errors(const perp_sim *sim, const double *p, double h, double place,
                             double slow)
{
    const pp_step *s = &sim->step;
    const pp_rows *rows = &s->row;
    double worst = 0.0;
    for (int n = 0; n < rows->nn; n++) {
        const pp_row *row = &rows->n[n];
        double w = pp_row_rate(sim->model, row, s->answer.nu) + row->bias;
        double m = p[n] > 0.0 || w < 0.0 ? pp_row_mobility(sim->model, s->mass_l, row) : 0.0;
        if (m > 0.0) {
            double open = fabs(p[n] - fmax(p[n] - w / m, 0.0)) * m;
            worst = fmax(worst, open / slow);
            worst = fmax(worst, row->bounces ? 0.0 : -w * h / place);
        }
        for (int g = 0; g < rows->grouped[n] && p[n] != 0.0; g++) {
            const pp_friction *group = &rows->group[rows->friction[n] + g];
            worst = fmax(worst, friction_error(sim, n, group, p) / slow);
        }
    }
    return worst;
}

// Whether rows and impulses of the last answer are those of the rows found now, one by one.
static bool same_rows(const perp_sim *sim)
{
    const pp_step *s = &sim->step;
    const pp_round *last = s->last;
    if (s->row.nb != last->row.nb || s->row.nm != last->row.nm || s->row.nn != last->row.nn ||
        s->row.nc != last->row.nc || s->row.nt != last->row.nt || s->row.ng != last->row.ng) {
        return false;
    }
    for (int n = 0; n < s->row.nc; n++) {
        if (!same_contact(&s->gap.contact[s->row.contact[n]],
                          &last->gap.contact[last->row.contact[n]])) {
            return false;
        }
    }
    return true;
}

// The answer with its impulses in the places of the rows found now. False: no memory.
static bool move_answer(perp_sim *sim, double *p)
{
    pp_step *s = &sim->step;
    const pp_rows *rows = &s->row;
    double *sigma = PP_ZEROS(sim->arena, double, rows->ng);
    if (!sigma) {
        return false;
    }
    for (int g = 0; g < rows->ng; g++) {
        double slip[2] = {0.0, 0.0};
        pp_friction_slip(sim->model, rows, &rows->group[g], s->answer.nu, slip);
        bool polygons = s->answer.form != PERP_FORM_CONE;
        sigma[g] = pp_friction_support(&rows->group[g], polygons, slip);
    }
    s->answer.pn = p;
    s->answer.pt = p + rows->nn;
    s->answer.pm = p + rows->nn + rows->nt;
    s->answer.sigma = sigma;
    return true;
}

// The error of the answer with the rows of where it leads, over what is allowed: at most 1, it is the answer.
static double error_there(perp_sim *sim, const double *nu_l, const double *p, double h)
{
    const pp_step *s = &sim->step;
    double place = PLACE * fmax(sim->model->length_scale, 1e-3);
    double slow = 10.0 * sim->def.tolerance * fmax(speed_scale(sim), 1e-6);
    if (s->row.nb != s->last->row.nb || (s->answer.impact && !same_rows(sim))) {
        return HUGE_VAL;
    }
    double worst = imbalance(sim, nu_l, p);
    worst = fmax(worst, row_errors(sim, p + s->row.nn + s->row.nt, h, place, slow));
    worst = fmax(worst, contact_errors(sim, p, h, 10.0 * place, slow));
    return isnan(worst) ? HUGE_VAL : worst;
}

// ── The rounds ───────────────────────────────────────────────────────────────────────────────────

// Keeps contacts, rows and answer of a round for the next one.
static perp_status keep_round(perp_sim *sim)
{
    pp_step *s = &sim->step;
    for (int n = 0; n < s->row.nc; n++) {
        s->bounces = s->bounces || s->row.n[n].bounces;
    }
    pp_round *last = PP_ARRAY(sim->arena, pp_round, 1);
    if (!last) {
        return PERP_ERR_MEMORY;
    }
    *last = (pp_round){s->gap, s->row, s->answer};
    s->last = last;
    return PERP_OK;
}

// Solves the rows of the end that were just taken, with the stiffness of the last impulses.
static perp_status solve_round(perp_sim *sim, const double *nu_l, double h, pp_mat3 *G)
{
    pp_step *s = &sim->step;
    pp_answer before = s->answer;
    double *at_k = PP_ARRAY(sim->arena, double, sim->model->nv);
    if (!at_k) {
        return PERP_ERR_MEMORY;
    }
    memcpy(at_k, before.nu, (size_t)sim->model->nv * sizeof *at_k);
    find_stiffness(sim, &s->end, h, G);
    stiffen(sim, G, nu_l, at_k);
    if (sim->tree) {
        perp_status status = pp_sim_coordinates_at_end(sim, at_k);
        if (status < 0) {
            return status;
        }
    }
    return pp_sim_solve(sim, nu_l);
}

// The first iterate beyond the linear step, where links pull hard: Newton's step from where the step starts, with the
// impulses of the linear step for its stiffness.
static perp_status tame_start(perp_sim *sim, const double *nu_l, double h, pp_mat3 *G)
{
    pp_step *s = &sim->step;
    find_stiffness(sim, &s->kin.poses, h, G);
    if (!(largest_stiffness(sim, G) > MATTERS)) {
        return PERP_OK;
    }
    stiffen(sim, G, nu_l, NULL);
    perp_status status = sim->tree ? pp_sim_coordinates(sim) : PERP_OK;
    return status < 0 ? status : pp_sim_solve(sim, nu_l);
}

// Masses and forces as they are, and where the step acted, for the certificate and the report.
static void settle(perp_sim *sim)
{
    pp_step *s = &sim->step;
    memcpy(s->kin.mass, s->mass_l, (size_t)sim->model->bodies * sizeof *s->mass_l);
    memcpy(s->kin.loads.p_ext, s->push_l, (size_t)sim->model->nv * sizeof *s->push_l);
    s->push_l = NULL;
    s->last = s->first = NULL;
    s->middle = s->end;
    s->acted = s->gap.contact;
    s->at_end = true;
}

static perp_status go_round(perp_sim *sim, const double *nu_l, double h, double *error)
{
    double best = HUGE_VAL;
    int since = 0;
    pp_mat3 *G = PP_ZEROS(sim->arena, pp_mat3, sim->model->bodies);
    *error = HUGE_VAL;
    if (!G) {
        return PERP_ERR_MEMORY;
    }
    perp_status status = tame_start(sim, nu_l, h, G);
    for (int round = 0; round < ROUNDS; round++) {
        if (status < 0) {
            return status;
        }
        // where the answer leads, and whether it holds there
        status = keep_round(sim);
        if (status < 0) {
            return status;
        }
        status = rows_of_end(sim, h);
        if (status < 0) {
            return status;
        }
        double *p = pp_sim_guess_round(sim);
        if (!p || !move_answer(sim, p)) {
            return PERP_ERR_MEMORY;
        }
        *error = error_there(sim, nu_l, p, h);
        sim->info.rounds = round;
        if (*error <= 1.0) {
            return PERP_OK;
        }
        since = *error < best ? 0 : since + 1;
        best = fmin(best, *error);
        if (since >= PATIENCE || round + 1 == ROUNDS) {
            break;
        }
        status = solve_round(sim, nu_l, h, G);
    }
    return status;
}

perp_status pp_sim_solve_implicit(perp_sim *sim, const double *nu, double h)
{
    const perp_model *m = sim->model;
    pp_step *s = &sim->step;
    double error = 0.0;
    // a start as given is worked off by rows of its own, as in the linear step
    if (sim->unfit) {
        return PERP_OK;
    }
    s->mass_l = PP_ARRAY(sim->arena, pp_inertia, m->bodies);
    s->push_l = PP_ARRAY(sim->arena, double, m->nv);
    if (!s->mass_l || !s->push_l) {
        return PERP_ERR_MEMORY;
    }
    memcpy(s->mass_l, s->kin.mass, (size_t)m->bodies * sizeof *s->mass_l);
    memcpy(s->push_l, s->kin.loads.p_ext, (size_t)m->nv * sizeof *s->push_l);
    // rounds find contacts in the memory that those of the start are in
    pp_contact *contact = PP_ARRAY(sim->arena, pp_contact, s->gap.count);
    if (!contact) {
        return PERP_ERR_MEMORY;
    }
    if (s->gap.count > 0) {
        memcpy(contact, s->gap.contact, (size_t)s->gap.count * sizeof *contact);
    }
    s->gap.contact = contact;
    s->gap_l = s->gap;
    perp_status kept = keep_round(sim);
    if (kept < 0) {
        return kept;
    }
    s->first = s->last;
    perp_status status = go_round(sim, nu, h, &error);
    s->unsettled = !(error <= 1.0);
    settle(sim);
    return status;
}

// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// One configuration: frames, columns of S, sigma; and S applied from both sides.       theory (J2)
//
// Velocities are taken at the centre of mass of each link, so that a chain far from the origin
// loses no digits:  V_c = V_p moved to c + sum_k S_k qd_k. Their rates at a fixed point of space
// add up in the same way,
//   A_c = A_p moved to c + sum_k S_k qdd_k + sum_k qd_k V_ride x S_k,
// where a column rides on the body it is fixed to. The acceleration of the centre of mass is
// A.v + w x v.
#include "tree/hinge.h"

#include "math/math.h"

#include <math.h>
#include <string.h>

// sigma of a link: that of its carrier moved to the child, plus qd times the rates of the columns.
// In between A is the spatial acceleration (sigma.v - w x v), which moves from point to point as a
// twist does.
static void accelerate(const pp_tree_pass *pass, int link)
{
    const pp_tree *tree = pass->tree;
    const pp_link *l = &tree->link[link];
    const pp_frame *parent = &pass->body[l->carrier], *child = &pass->body[l->body];
    perp_twist A = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}}, V = A;
    if (l->joint >= 0) {
        perp_vec3 r = pp_sub(child->p, parent->p);
        const perp_twist *sigma = &pass->sigma[l->carrier];
        V = pp_twist_at(pp_frame_twist(parent), r);
        A.v_W = pp_sub(sigma->v_W, pp_cross(parent->w, parent->v));
        A.w_W = sigma->w_W;
        A = pp_twist_at(A, r);
    }
    int moving = pass->qd ? l->nv : 0;
    for (int k = 0; k < moving; k++) {
        pp_axis_owner ride = tree->hinge[link].ride[k];
        const perp_twist *S = &pass->column[l->at_v + k];
        if (ride != PP_AXIS_OWNER_NONE) {
            perp_twist carried =
                pp_twist_carried(ride == PP_AXIS_OWNER_PARENT ? V : pp_frame_twist(child), S);
            A = pp_twist_add(A, pass->qd[l->at_v + k], &carried);
        }
    }
    A.v_W = pp_add(A.v_W, pp_cross(child->w, child->v));
    pass->sigma[l->body] = A;
}

// R A R^T of a symmetric tensor: six entries are computed, the others follow by symmetry.
static void turn_symmetric(const pp_mat3 *R, const pp_mat3 *A, pp_mat3 *out)
{
    const double *r = R->m;
    double *m = out->m;
    perp_vec3 x = {r[0], r[1], r[2]}, y = {r[3], r[4], r[5]}, z = {r[6], r[7], r[8]};
    perp_vec3 Ax = pp_mul(A, x), Ay = pp_mul(A, y), Az = pp_mul(A, z);
    m[0] = pp_dot3(x, Ax);
    m[1] = m[3] = pp_dot3(x, Ay);
    m[2] = m[6] = pp_dot3(x, Az);
    m[4] = pp_dot3(y, Ay);
    m[5] = m[7] = pp_dot3(y, Az);
    m[8] = pp_dot3(z, Az);
}

// Inertia in world axes. Planar bodies turn about z alone.
static void set_inertia_of_body(const pp_body *body, const pp_frame *f, pp_inertia *mass)
{
    if (body->kind == PERP_BODY_SPATIAL) {
        mass->m = body->mass;
        mass->divisor_m = body->divisor_mass;
        mass->divisor_Izz = body->divisor_Izz;
        turn_symmetric(&f->R, &body->I_B, &mass->I);
        turn_symmetric(&f->R, &body->inverse_IB, &mass->inverse_I);
        return;
    }
    *mass = (pp_inertia){
        .m = body->mass, .divisor_m = body->divisor_mass, .divisor_Izz = body->divisor_Izz};
    mass->I.m[8] = body->kind == PERP_BODY_PLANAR ? body->I_B.m[8] : 0.0;
}

// Velocity of a link from that of its carrier, and its place, which is given where it is known: NULL: it is not.
static void propagate_link(const pp_tree_pass *pass, int link, const pp_frame *given)
{
    const pp_tree *tree = pass->tree;
    const pp_link *l = &tree->link[link];
    const pp_frame *parent = &pass->body[l->carrier];
    pp_frame *child = &pass->body[l->body];
    perp_twist *column = pass->column + l->at_v, V = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
    if (given) {
        *child = given[l->body];
    } else {
        pp_hinge_place(tree, link, pass->q + l->at_q, parent, child);
    }
    pp_hinge_columns(tree, link, parent, child, column);
    if (l->joint >= 0) {
        V = pp_twist_at(pp_frame_twist(parent), pp_sub(child->p, parent->p));
    }
    int moving = pass->qd ? l->nv : 0;
    for (int k = 0; k < moving; k++) {
        V = pp_twist_add(V, pass->qd[l->at_v + k], &column[k]);
    }
    child->v = V.v_W;
    child->w = V.w_W;
}

// Room for all that is made here, and frames of bodies that are not free, and of the links. False: out of memory.
static bool run_frames(pp_tree_pass *out, const pp_tree *tree, double t, const double *q,
                       const double *qd, const pp_frame *given, pp_arena *arena)
{
    const perp_model *m = tree->model;
    *out = (pp_tree_pass){.tree = tree, .t = t, .q = q, .qd = qd};
    out->body = PP_ARRAY(arena, pp_frame, m->bodies);
    out->column = PP_ARRAY(arena, perp_twist, tree->nv);
    out->load = PP_ARRAY(arena, perp_wrench, tree->links);
    out->size = PP_ARRAY(arena, double, tree->nv);
    out->compound = PP_ARRAY(arena, pp_composite_inertia, tree->links);
    if (!out->compound || !out->body || !out->column || !out->load || !out->size) {
        return false;
    }
    for (int i = 0; i < m->bodies; i++) {
        if (m->body[i].nv == 0) {
            out->body[i] = pp_driven_frame(&m->body[i], t);
        }
    }
    // parents before children
    for (int i = 0; i < tree->links; i++) {
        propagate_link(out, i, given);
    }
    return true;
}

perp_status pp_tree_run_step(pp_tree_pass *out, const pp_tree *tree, double t, const double *q,
                             const double *qd, const pp_frame *body, pp_inertia *mass,
                             pp_arena *arena)
{
    if (!run_frames(out, tree, t, q, qd, body, arena)) {
        return PERP_ERR_MEMORY;
    }
    out->mass = mass;
    return PERP_OK;
}

// Bodies that are not free first, then links, parents before children.
perp_status pp_tree_run(pp_tree_pass *out, const pp_tree *tree, double t, const double *q,
                        const double *qd, pp_arena *arena)
{
    const perp_model *m = tree->model;
    if (!run_frames(out, tree, t, q, qd, NULL, arena)) {
        return PERP_ERR_MEMORY;
    }
    out->mass = PP_ARRAY(arena, pp_inertia, m->bodies);
    out->sigma = PP_ARRAY(arena, perp_twist, m->bodies);
    if (!out->mass || !out->sigma) {
        return PERP_ERR_MEMORY;
    }
    for (int i = 0; i < m->bodies; i++) {
        if (m->body[i].nv == 0) {
            out->sigma[i] = pp_driven_acceleration(&m->body[i], t);
            out->mass[i] = (pp_inertia){0};
        }
    }
    for (int i = 0; i < tree->links; i++) {
        int body = tree->link[i].body;
        accelerate(out, i);
        set_inertia_of_body(&m->body[body], &out->body[body], &out->mass[body]);
    }
    return PERP_OK;
}

// ── S and its transpose ──────────────────────────────────────────────────────────────────────────

// The numbers of a body's velocities as a twist. By kind and not by body->axis: reading a struct
// whose parts were stored by index stalls until the stores are done.
static perp_twist unpack_twist(const pp_body *body, const double *nu)
{
    switch (body->kind) {
    case PERP_BODY_SPATIAL:
        return (perp_twist){{nu[0], nu[1], nu[2]}, {nu[3], nu[4], nu[5]}};
    case PERP_BODY_SPATIAL_PARTICLE:
        return (perp_twist){{nu[0], nu[1], nu[2]}, {0.0, 0.0, 0.0}};
    case PERP_BODY_PLANAR:
        return (perp_twist){{nu[0], nu[1], 0.0}, {0.0, 0.0, nu[2]}};
    default:
        return (perp_twist){{nu[0], nu[1], 0.0}, {0.0, 0.0, 0.0}};
    }
}

// The reverse: (v, omega), (x, y, spin), or the velocity of a particle.
static void pack(const pp_body *body, perp_twist V, double *nu)
{
    bool spatial = pp_body_is_spatial(body), turns = pp_body_turns(body);
    nu[0] = V.v_W.x;
    nu[1] = V.v_W.y;
    if (spatial) {
        nu[2] = V.v_W.z;
    }
    if (spatial && turns) {
        nu[3] = V.w_W.x;
        nu[4] = V.w_W.y;
        nu[5] = V.w_W.z;
    } else if (turns) {
        nu[2] = V.w_W.z;
    }
}

// From the roots to the leaves: the twist of the parent moved to the link's centre of mass, plus
// the link's columns.
void pp_tree_velocities(const pp_tree_pass *pass, const double *qd, bool relative, double *nu)
{
    const pp_tree *tree = pass->tree;
    for (int i = 0; i < tree->links; i++) {
        const pp_link *l = &tree->link[i];
        const pp_body *body = &tree->model->body[l->body],
                      *carrier = &tree->model->body[l->carrier];
        const pp_frame *parent = &pass->body[l->carrier], *child = &pass->body[l->body];
        perp_twist V = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
        if (l->parent >= 0) {
            V = unpack_twist(carrier, nu + carrier->at);
        } else if (l->joint >= 0 && !relative) {
            V = pp_frame_twist(parent);
        }
        V = pp_twist_at(V, pp_sub(child->p, parent->p));
        for (int k = 0; k < l->nv; k++) {
            V = pp_twist_add(V, qd[l->at_v + k], &pass->column[l->at_v + k]);
        }
        pack(body, V, nu + body->at);
    }
}

static perp_vec3 part_of(const perp_twist *V, bool turning)
{
    return turning ? V->w_W : V->v_W;
}

// Whether a column turns its link; the others shift it.
static bool column_turns(const perp_twist *column)
{
    return column->w_W.x != 0.0 || column->w_W.y != 0.0 || column->w_W.z != 0.0;
}

// Least squares over the columns of one sort (at most three, independent): normal equations, in the angular or linear part.
static void fit_columns(const perp_twist *column, int count, bool turning, perp_twist V, double *qd)
{
    double A[9], x[3];
    int own[3], n = 0;
    for (int k = 0; k < count; k++) {
        if (column_turns(&column[k]) == turning && n < 3) {
            own[n++] = k;
        }
    }
    for (int i = 0; i < n; i++) {
        perp_vec3 a = part_of(&column[own[i]], turning);
        for (int j = 0; j < n; j++) {
            A[3 * j + i] = pp_dot3(a, part_of(&column[own[j]], turning));
        }
        x[i] = pp_dot3(a, part_of(&V, turning));
    }
    bool one = n == 1, regular = n > 1 && pp_chol_factor(n, A, 3, 0.0) == 0;
    if (regular) {
        pp_chol_solve(n, A, 3, x);
    }
    for (int i = 0; i < n; i++) {
        qd[own[i]] = one ? x[0] / A[0] : x[i];
    }
}

void pp_tree_rates(const pp_tree_pass *pass, const double *nu, double *qd)
{
    const pp_tree *tree = pass->tree;
    for (int i = 0; i < tree->links; i++) {
        const pp_link *l = &tree->link[i];
        const pp_body *body = &tree->model->body[l->body],
                      *carrier = &tree->model->body[l->carrier];
        perp_twist V = unpack_twist(body, nu + body->at);
        if (l->parent >= 0) {
            perp_vec3 r = pp_sub(pass->body[l->body].p, pass->body[l->carrier].p);
            perp_twist carried = pp_twist_at(unpack_twist(carrier, nu + carrier->at), r);
            V = pp_twist_add(V, -1.0, &carried);
        }
        const perp_twist *column = pass->column + l->at_v;
        fit_columns(column, l->nv, true, V, qd + l->at_v);
        // what turning leaves of the velocity is shifts
        for (int k = 0; k < l->nv; k++) {
            if (column_turns(&column[k])) {
                V = pp_twist_add(V, -qd[l->at_v + k], &column[k]);
            }
        }
        fit_columns(column, l->nv, false, V, qd + l->at_v);
    }
}

// From the leaves to the roots: the power of each load along the columns of its link, then the load
// is added to the parent's.
void pp_tree_gather_loads(const pp_tree_pass *pass, double *tau)
{
    const pp_tree *tree = pass->tree;
    for (int i = tree->links - 1; i >= 0; i--) {
        const pp_link *l = &tree->link[i];
        const perp_wrench *load = &pass->load[i];
        for (int k = 0; k < l->nv; k++) {
            tau[l->at_v + k] = pp_twist_power(&pass->column[l->at_v + k], load);
        }
        if (l->parent >= 0) {
            perp_vec3 r = pp_sub(pass->body[l->body].p, pass->body[l->carrier].p);
            pp_wrench_gather(&pass->load[l->parent], load, r);
        }
    }
}

// Forces on bodies as loads of links.
void pp_tree_gather(const pp_tree_pass *pass, const double *f, double *tau)
{
    const pp_tree *tree = pass->tree;
    for (int i = 0; i < tree->links; i++) {
        const pp_body *body = &tree->model->body[tree->link[i].body];
        perp_twist F = unpack_twist(body, f + body->at);
        pass->load[i] = (perp_wrench){F.v_W, F.w_W};
    }
    pp_tree_gather_loads(pass, tau);
}

static const double ROUNDING = 32.0 * 2.220446049250313e-16;  // of a sum, relative to its terms

// Norm of the sum of absolute values: cheap, and enough for a size.
static double sum_abs(perp_vec3 a)
{
    return fabs(a.x) + fabs(a.y) + fabs(a.z);
}

// Sizes of the products in the power of a column. Arms are differences of positions at the distance
// `far` from the origin, which sets their rounding.
static double power_size(const perp_twist *column, const perp_wrench *F, double far)
{
    double w = sum_abs(column->w_W);
    return sum_abs(F->f_W) * (sum_abs(column->v_W) + w * far) + w * sum_abs(F->tau_W);
}

// The wrench of a row on one of its bodies.
static perp_wrench wrench_on(const pp_tree_pass *pass, const pp_row *row, int i)
{
    perp_twist given = unpack_twist(&pass->tree->model->body[row->body[i]], row->J[i]);
    return (perp_wrench){given.v_W, given.w_W};
}

// Whether what moves a link's carrier leaves a row alone that is F on the link: it is opposite on the carrier, or the carrier
// stands still. i: the link among the row's bodies.
static bool ends_at_carrier(const pp_tree_pass *pass, const pp_row *row, int i, const pp_link *l,
                            const perp_wrench *F)
{
    const pp_frame *link = &pass->body[l->body], *carrier = &pass->body[l->carrier];
    if (row->count == 1) {
        double moves = pp_dot3(carrier->v, carrier->v) + pp_dot3(carrier->w, carrier->w);
        return pass->tree->model->body[l->carrier].nv == 0 && moves == 0.0;
    }
    if (row->count != 2 || row->body[1 - i] != l->carrier) {
        return false;
    }
    perp_wrench back = wrench_on(pass, row, 1 - i);
    perp_vec3 r = pp_sub(link->p, carrier->p), moment = pp_cross(r, F->f_W);
    double far = sum_abs(link->p) + sum_abs(carrier->p);
    double size = sum_abs(F->tau_W) + sum_abs(back.tau_W) + far * sum_abs(F->f_W);
    return sum_abs(pp_add(F->f_W, back.f_W)) <= ROUNDING * sum_abs(F->f_W) &&
           sum_abs(pp_add(pp_add(F->tau_W, moment), back.tau_W)) <= ROUNDING * size;
}

// A row along the coordinate of a link with one velocity has the entry of that alone. False: another row.
static bool set_own_rate(const pp_tree_pass *pass, const pp_row *row, double *J)
{
    const pp_tree *tree = pass->tree;
    for (int i = 0; i < row->count && row->joint >= 0; i++) {
        int at = tree->of_body[row->body[i]];
        const pp_link *l = at >= 0 ? &tree->link[at] : NULL;
        if (!l || l->joint != row->joint || l->nv != 1) {
            continue;
        }
        perp_wrench F = wrench_on(pass, row, i);
        double size = power_size(&pass->column[l->at_v], &F, sum_abs(pass->body[l->body].p));
        double rate = pp_twist_power(&pass->column[l->at_v], &F);
        J[l->at_v] = fabs(rate) <= ROUNDING * size ? 0.0 : rate;
        return ends_at_carrier(pass, row, i, l, &F);
    }
    return false;
}

// J_row S without S: the row's J on a body is a wrench, which is moved link by link to the root;
// its power along each column is an entry. Driven roots add to the rate.
double pp_tree_row(const pp_tree_pass *pass, const pp_row *row, double *J)
{
    const pp_tree *tree = pass->tree;
    double rate = row->rate;
    memset(J, 0, (size_t)tree->nv * sizeof *J);
    if (set_own_rate(pass, row, J)) {
        return rate;
    }
    memset(J, 0, (size_t)tree->nv * sizeof *J);
    memset(pass->size, 0, (size_t)tree->nv * sizeof *J);
    for (int i = 0; i < row->count; i++) {
        const pp_body *body = &tree->model->body[row->body[i]];
        perp_twist given = unpack_twist(body, row->J[i]);
        perp_wrench F = {given.v_W, given.w_W};  // at the centre of mass of each link on the path
        int at = tree->of_body[row->body[i]];
        while (at >= 0) {
            const pp_link *l = &tree->link[at];
            double far = l->joint >= 0 ? sum_abs(pass->body[l->body].p) : 0.0;
            for (int k = l->at_v; k < l->at_v + l->nv; k++) {
                J[k] += pp_twist_power(&pass->column[k], &F);
                pass->size[k] += power_size(&pass->column[k], &F, far);
            }
            perp_vec3 r = pp_sub(pass->body[l->body].p, pass->body[l->carrier].p);
            F.tau_W = pp_add(F.tau_W, pp_cross(r, F.f_W));
            if (l->parent < 0 && l->joint >= 0) {
                perp_twist V = pp_frame_twist(&pass->body[l->carrier]);
                rate += pp_twist_power(&V, &F);
            }
            at = l->parent;
        }
    }
    // An entry that the joints below imply cancels to 0, and not to a rest of rounding, which would
    // count as a row of its own.                                                      theory (J10)
    for (int k = 0; k < tree->nv; k++) {
        if (fabs(J[k]) <= ROUNDING * pass->size[k]) {
            J[k] = 0.0;
        }
    }
    return rate;
}

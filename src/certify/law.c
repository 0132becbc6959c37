// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The laws of contacts, joints and drives, held against impulses and velocities. Rates, mobilities
// and projections are computed here from contact points, frames and masses: none comes from the
// stages that made the step.
//
//   normal    0 <= p_n  _|_  n . (v_b - v_a) + bias >= 0
//   friction  p_t is the point of mu p_n D nearest to p_t - slip / m                       theory (K2)
#include "certify/geometry/witness.h"
#include "certify/own.h"
#include "certify/scale.h"

#include "math/math.h"

#include <math.h>

// Impulses and velocities of one phase of the step. base: normal impulses that add to the friction
// limit without being unknowns of the phase; NULL: none.
typedef struct phase {
    const perp_twist *body;  // velocities after the phase
    const double *pn, *pt, *base;
} phase;

// A zero impulse may come out as this share of the largest one, from the elimination.
static const double PULL = 1e-9;

typedef struct law_judge {
    const pp_step_evidence *e;
    const pp_scales *s;
    const perp_limits *limits;
    const phase *at;
    double most;            // normal impulse of all [N s]
    bool sorted;            // contacts of the end by pairs of shapes, behind the listed ones
    const perp_vec3 *turn;  // bodies: rotation in the implicit step [rad]
} law_judge;

// d . (I^-1 d) for a direction of rotation d in world axes. The inverse inertia is constant in body
// axes.
static double turned_mobility(const pp_body *body, const pp_frame *f, perp_vec3 d)
{
    perp_vec3 d_B = pp_mul_t(&f->R, d);
    return pp_dot3(d_B, pp_mul(&body->inverse_IB, d_B));
}

// Sum over both bodies of d . d / m + (r x d) . I^-1 (r x d), or of d . I^-1 d for a moment. A
// quasistatic step has the share e->inertia of the masses, and mobilities that are larger
// accordingly.
double pp_own_mobility(const pp_step_evidence *e, const pp_contact *c, perp_vec3 d, bool moment)
{
    const perp_model *m = e->model;
    const int bodies[2] = {m->shape[c->a].body, m->shape[c->b].body};
    double sum = 0.0;
    for (int k = 0; k < 2; k++) {
        const pp_body *body = &m->body[bodies[k]];
        const pp_frame *f = &e->kin->poses.body[bodies[k]];
        if (body->nv == 0) {
            continue;
        }
        sum += moment ? 0.0 : pp_dot3(d, d) / body->mass;
        if (pp_body_turns(body)) {
            perp_vec3 turn = moment ? d : pp_cross(pp_sub(c->point, f->p), d);
            sum += turned_mobility(body, f, turn);
        }
    }
    return sum > 0.0 ? sum / e->inertia : 1.0;
}

// Of two contacts, none of them listed: whether the pair of shapes of the first comes before that of the second.
static bool pair_before(const pp_contact *x, const pp_contact *y)
{
    return x->a < y->a || (x->a == y->a && x->b < y->b);
}

// Whether contacts are sorted by pairs, behind the listed ones.
static bool is_sorted(const pp_gaps *gaps)
{
    for (int i = 1; i < gaps->count; i++) {
        const pp_contact *last = &gaps->contact[i - 1], *c = &gaps->contact[i];
        if (c->listed >= 0 ? last->listed < 0 : last->listed < 0 && pair_before(c, last)) {
            return false;
        }
    }
    return true;
}

// The first of sorted contacts that is not listed and whose pair does not come before that of c; their number: none.
static int first_of_pair(const pp_gaps *gaps, const pp_contact *c)
{
    int from = 0, to = gaps->count;
    while (from < to) {
        int middle = from + (to - from) / 2;
        const pp_contact *k = &gaps->contact[middle];
        if (k->listed >= 0 || pair_before(k, c)) {
            from = middle + 1;
        } else {
            to = middle;
        }
    }
    return from;
}

// A contact of the theta method in space acts in the middle of the step and obeys its law at the
// end. There it is the contact with the same feature, or else the nearest one of the pair.
//                                                                                     theory (S12)
static pp_contact where_it_holds(const law_judge *j, const pp_contact *c, bool middle)
{
    const pp_gaps *end = j->e->gaps_end;
    const pp_contact *best = NULL;
    pp_contact out = *c;
    double least = HUGE_VAL;
    if (!middle) {
        return out;
    }
    bool sorted = j->sorted && c->listed < 0;
    for (int i = sorted ? first_of_pair(end, c) : 0; i < end->count; i++) {
        const pp_contact *k = &end->contact[i];
        if (sorted && pair_before(c, k)) {
            break;
        }
        double off = pp_length(pp_sub(k->point, c->point));
        bool same = k->feature == c->feature && c->listed < 0;
        if (k->a == c->a && k->b == c->b && k->listed == c->listed && (same || off < least)) {
            best = k;
            least = same ? -1.0 : off;
        }
    }
    if (best) {
        out.point = best->point;
        out.n = best->n;
        out.gap = best->gap;
        // The first tangent is carried over: its part in the new tangent plane, or itself if
        // nothing is left.
        perp_vec3 flat = pp_along(c->t, -pp_dot3(c->t, out.n), out.n);
        out.t = pp_unit(flat, c->t);
    }
    return out;
}

// Velocity of b relative to a at the contact point, with the frames where the law holds: those at
// the end of the step (middle), or at its start.
static perp_vec3 relative_velocity(const law_judge *j, const pp_contact *c, bool middle)
{
    const perp_model *m = j->e->model;
    const pp_frame *frame = middle ? j->e->end->body : j->e->kin->poses.body;
    int a = m->shape[c->a].body, b = m->shape[c->b].body;
    const perp_twist *va = &j->at->body[a], *vb = &j->at->body[b];
    perp_vec3 ra = pp_sub(c->point, frame[a].p), rb = pp_sub(c->point, frame[b].p);
    return pp_sub(pp_add(vb->v_W, pp_cross(vb->w_W, rb)), pp_add(va->v_W, pp_cross(va->w_W, ra)));
}

static perp_vec3 relative_spin(const law_judge *j, const pp_contact *c)
{
    const perp_model *m = j->e->model;
    return pp_sub(j->at->body[m->shape[c->b].body].w_W, j->at->body[m->shape[c->a].body].w_W);
}

// Rotation of a body in the step as a vector in world axes [rad], from its two quaternions.
static perp_vec3 turn_of(const pp_step_evidence *e, int body)
{
    const pp_frame *from = &e->kin->poses.body[body], *to = &e->end->body[body];
    if (!e->model->spatial) {
        return pp_vec(0.0, 0.0, to->angle - from->angle);
    }
    perp_quat a = to->rot, b = from->rot;
    // a b*, scalar first
    double w = a.w * b.w + a.x * b.x + a.y * b.y + a.z * b.z;
    perp_vec3 x = pp_vec(-a.w * b.x + a.x * b.w - a.y * b.z + a.z * b.y,
                         -a.w * b.y + a.x * b.z + a.y * b.w - a.z * b.x,
                         -a.w * b.z - a.x * b.y + a.y * b.x + a.z * b.w);
    double s = pp_length(x), angle = 2.0 * pp_atan2(s, fabs(w));
    return pp_scale((w < 0.0 ? -1.0 : 1.0) * (s > 0.0 ? angle / s : 2.0), x);
}

// Slip of the implicit step is what moved: for two bodies that turn together by theta, their centres have D and D' between
// them, D' - R D, of which the velocities at the end show D' - D - theta x D'. The rest [m].   theory (I4)
static perp_vec3 turned_slip(const law_judge *j, const pp_contact *c)
{
    const pp_step_evidence *e = j->e;
    int a = e->model->shape[c->a].body, b = e->model->shape[c->b].body;
    perp_vec3 ta = j->turn[a], tb = j->turn[b], none = {0.0, 0.0, 0.0};
    double both = pp_dot3(ta, tb);
    if (!(both > 0.0)) {
        return none;
    }
    perp_vec3 theta = pp_scale(both / (pp_dot3(ta, ta) + pp_dot3(tb, tb)), pp_add(ta, tb));
    double angle = pp_length(theta);
    perp_vec3 u = pp_scale(1.0 / angle, theta);
    perp_vec3 D = pp_sub(e->kin->poses.body[b].p, e->kin->poses.body[a].p);
    perp_vec3 then = pp_sub(e->end->body[b].p, e->end->body[a].p), across = pp_cross(u, D);
    // R D - D = sin u x D + (1 - cos) u x (u x D)
    double half = pp_sin(0.5 * angle);
    perp_vec3 turned =
        pp_along(pp_scale(pp_sin(angle), across), 2.0 * half * half, pp_cross(u, across));
    return pp_sub(pp_cross(theta, then), turned);
}

// Distance of a contact point from the farther of its two shapes where the step ends [m]; 0 for meshes.
static double distance_at_end(const law_judge *j, const pp_contact *c)
{
    const perp_model *m = j->e->model;
    const int shape[2] = {c->a, c->b};
    double most = 0.0, skin = pp_skin(m, c->a, c->b);
    for (int k = 0; k < 2; k++) {
        if (!m->shape[shape[k]].mesh) {
            perp_vec3 out = pp_scale(k == 0 ? 1.0 : -1.0, c->n);
            const pp_frame *body = j->e->end->body;
            double off;
            if (j->e->shapes) {
                const pp_convex *piece = &j->e->shapes->piece[shape[k]];
                off = pp_piece_surface_error(piece, &body[piece->body], m->length_scale, c->point,
                                             out);
            } else {
                off = pp_shape_surface_error(m, body, shape[k], c->point, out);
            }
            off -= 0.5 * skin;  // midway in the skin that keeps two shapes without an inside apart
            most = fmax(most, fabs(off));
        }
    }
    return most;
}

// Natural map |p - clamp(p - w/m, lower, upper)| m [m/s]: 0 exactly where p and w are
// complementary.
static double natural_map(double p, double w, double m, double lower, double upper)
{
    double to = fmax(lower, fmin(p - w / m, upper));
    return fabs(p - to) * m;
}

// Replaces p by the nearest point of the disc of the given radius.
static void into_disc(double radius, double p[2])
{
    double size = pp_hypot(p[0], p[1]);
    if (size > radius) {
        p[0] *= radius / size;
        p[1] *= radius / size;
    }
}

// Replaces p by the nearest point of the regular polygon with corners at the given radius, the
// first along (1, 0). All sides are compared.
static void into_polygon(int sides, double radius, double p[2])
{
    static const double TWO_PI = 6.283185307179586;
    double best = HUGE_VAL, to[2] = {0.0, 0.0};
    // Inside means to the left of all sides, which run counterclockwise.
    bool inside = radius > 0.0;
    for (int k = 0; k < sides; k++) {
        double a = TWO_PI * k / sides, b = TWO_PI * (k + 1) / sides;
        double from[2] = {radius * pp_cos(a), radius * pp_sin(a)};
        double side[2] = {radius * pp_cos(b) - from[0], radius * pp_sin(b) - from[1]};
        double x = p[0] - from[0], y = p[1] - from[1];
        double square = side[0] * side[0] + side[1] * side[1];
        double t = square > 0.0 ? (x * side[0] + y * side[1]) / square : 0.0;
        t = fmax(0.0, fmin(t, 1.0));
        double off = pp_hypot(x - t * side[0], y - t * side[1]);
        inside = inside && side[0] * y - side[1] * x >= 0.0;
        if (off < best) {
            best = off;
            to[0] = from[0] + t * side[0];
            to[1] = from[1] + t * side[1];
        }
    }
    p[0] = inside ? p[0] : to[0];
    p[1] = inside ? p[1] : to[1];
}

void pp_own_project(const pp_friction *group, bool polygons, double limit, double p[2])
{
    limit = fmax(limit, 0.0);
    if (group->size == 1) {
        p[0] = fmax(-limit, fmin(p[0], limit));
    } else if (polygons || group->facets > 0) {
        into_polygon(group->directions, limit, p);
    } else {
        into_disc(limit, p);
    }
}

// Directions of the rows of a friction group. Where friction differs along t and o the rows are
// scaled so that one disc holds for both.                                              theory (S4)
static void group_directions(const pp_contact *c, const pp_friction *group, perp_vec3 d[2])
{
    perp_vec3 o = pp_cross(c->n, c->t);
    d[0] = group->kind == PP_SPIN ? c->n : c->t;
    d[1] = o;
    if (group->kind == PP_SLIDE && group->size == 2) {
        double mu_2 = c->mu_2 >= 0.0 ? c->mu_2 : c->mu;
        d[0] = c->mu > 0.0 ? c->t : pp_vec(0.0, 0.0, 0.0);
        d[1] = pp_scale(c->mu > 0.0 ? mu_2 / c->mu : 1.0, o);
    }
}

// Replaces p by the nearest point of an ellipse with positive semi-axes: x_i = a_i^2 p_i / (a_i^2 + s), with the s >= 0 for
// which x is on it, by bisection.
static void into_ellipse(const double a[2], double p[2])
{
    double x = p[0] / a[0], y = p[1] / a[1];
    if (!(pp_hypot(x, y) > 1.0)) {
        return;
    }
    double low = 0.0, high = fmax(a[0], a[1]) * pp_hypot(p[0], p[1]);
    for (int k = 0; k < 200 && low < high; k++) {
        double s = 0.5 * (low + high);
        bool outside =
            pp_hypot(a[0] * p[0] / (a[0] * a[0] + s), a[1] * p[1] / (a[1] * a[1] + s)) > 1.0;
        if (s == low || s == high) {
            break;
        }
        low = outside ? s : low;
        high = outside ? high : s;
    }
    for (int k = 0; k < 2; k++) {
        p[k] *= a[k] * a[k] / (a[k] * a[k] + high);
    }
}

// The natural map of sliding friction with two coefficients [m/s], in world units: of the rows, which are scaled such that
// one disc holds for both, the small limit along t would bound any error along o.
static double anisotropic_error(const law_judge *j, const pp_contact *c, const double p[2],
                                const perp_vec3 d[2], perp_vec3 rate, double limit)
{
    double stretch = pp_length(d[1]);
    perp_vec3 o = pp_scale(1.0 / stretch, d[1]);
    double m = fmax(pp_own_mobility(j->e, c, d[0], false), pp_own_mobility(j->e, c, o, false));
    const double axes[2] = {limit, stretch * limit}, from[2] = {p[0], stretch * p[1]};
    double to[2] = {from[0] - pp_dot3(d[0], rate) / m, from[1] - pp_dot3(o, rate) / m};
    if (limit > 0.0) {
        into_ellipse(axes, to);
    } else {
        to[0] = to[1] = 0.0;
    }
    return m * pp_hypot(from[0] - to[0], from[1] - to[1]);
}

// The natural map of one friction group [m/s], and the distance of its impulse from its cone [N s].
//                                                                                      theory (K2)
static void judge_friction(const law_judge *j, perp_certificate *out, const pp_contact *c,
                           const pp_friction *group, double slack)
{
    const phase *at = j->at;
    const pp_row *row = &j->e->rows->t[group->t];
    bool middle = j->e->rows->n[group->n].middle;
    double pn = at->pn[group->n] + (at->base ? at->base[group->n] : 0.0), most = group->mu * pn;
    double p[2] = {at->pt[group->t], group->size == 2 ? at->pt[group->t + 1] : 0.0};
    if (pn == 0.0 && p[0] == 0.0 && p[1] == 0.0) {
        return;  // nothing there and nothing allowed, whatever the slip
    }
    perp_vec3 d[2], rate = group->kind == PP_SLIDE
                               ? pp_add(relative_velocity(j, c, middle), c->surface)
                               : relative_spin(j, c);
    group_directions(c, group, d);
    // Mobility along t, or along o where the coefficient along t is 0 and its row is empty.
    double m = pp_own_mobility(j->e, c, d[0], group->kind != PP_SLIDE), to[2] = {p[0], p[1]},
           inside[2] = {p[0], p[1]};
    m = pp_dot3(d[0], d[0]) > 0.0 ? m : pp_own_mobility(j->e, c, d[1], group->kind != PP_SLIDE);
    bool at_end = middle && pp_own_at_end(j->e);
    perp_vec3 moved = {0.0, 0.0, 0.0};
    if (at_end && group->kind == PP_SLIDE) {
        moved = pp_scale(1.0 / j->e->kin->h, turned_slip(j, c));
    }
    for (int k = 0; k < group->size; k++) {
        double bias = at_end ? pp_dot3(d[k], moved) : row[k].bias;
        to[k] -= (pp_dot3(d[k], rate) + bias) / m;
    }
    pp_own_project(group, j->e->polygons, most, to);
    double error = m * pp_hypot(p[0] - to[0], p[1] - to[1]);
    bool round = group->kind == PP_SLIDE && group->size == 2 && !j->e->polygons;
    if (round && group->facets == 0 && pp_dot3(d[0], d[0]) > 0.0 && pp_length(d[1]) > 1.0 + 1e-9) {
        // biases along the directions, as a velocity
        double across = (at_end ? pp_dot3(d[1], moved) : row[1].bias) / pp_dot3(d[1], d[1]);
        perp_vec3 hold = pp_scale(at_end ? pp_dot3(d[0], moved) : row[0].bias, d[0]);
        perp_vec3 slip = pp_add(rate, pp_along(hold, across, d[1]));
        error = anisotropic_error(j, c, p, d, slip, most);
    }
    pp_certificate_record(out, j->limits, PERP_JUDGED_RESIDUAL, error, slack);
    out->slip_opposed = fmax(out->slip_opposed, error);
    // The cone alone: the impulse itself, not the one that the slip asks for, is projected.
    pp_own_project(group, j->e->polygons, most, inside);
    double beyond = pp_hypot(p[0] - inside[0], p[1] - inside[1]);
    pp_certificate_record(out, j->limits, PERP_JUDGED_CONE, beyond,
                          slack / m + j->s->slack * most + PULL * j->most);
}

// A normal row, of a contact or of a joint limit, and the friction of its contact. The bias is what
// the scheme adds to the rate: psi/h, restitution.
static void judge_normal(const law_judge *j, perp_certificate *out, int i)
{
    const pp_rows *rows = j->e->rows;
    const pp_row *row = &rows->n[i];
    double p = j->at->pn[i], rho, m;
    int island = pp_scale_island(j->s, row);
    double slack = pp_scale_rate(j->s, island);
    pp_contact held = {0};
    if (i < rows->nc) {
        held = where_it_holds(j, &j->e->gaps->contact[rows->contact[i]], row->middle);
        rho = pp_dot3(held.n, relative_velocity(j, &held, row->middle)) + row->bias;
        if (row->middle && pp_own_at_end(j->e) && !row->bounces) {
            // complementary to the gap where the step ends, which the point shows if it pushes
            double off = p > 0.0 ? distance_at_end(j, &held) : 0.0;
            rho = (off > fabs(held.gap) ? off : held.gap) / j->e->kin->h;
        }
        m = p == 0.0 && rho >= 0.0 ? 1.0 : pp_own_mobility(j->e, &held, held.n, false);
    } else {
        rho = pp_judge_rate(j->e->model, row, j->at->body) + row->bias;
        m = pp_judge_mobility_of(j->e, j->e->joints->limit[i - rows->nc].square, row->gamma);
    }
    // An open contact, p = 0 and rho >= 0, has no residual and needs no mobility.
    if (p != 0.0 || rho < 0.0) {
        double scale = pp_scale_speed_of(j->s, row, slack);
        pp_certificate_record(out, j->limits, PERP_JUDGED_RESIDUAL,
                              natural_map(p, rho, m, 0.0, HUGE_VAL), scale);
        pp_certificate_record(out, j->limits, PERP_JUDGED_COMPLEMENTARITY, fabs(p * rho),
                              scale * (fabs(p) + pp_scale_speed(j->s, island) / m));
        if (p < 0.0) {
            pp_certificate_record(out, j->limits, PERP_JUDGED_CONE, -p, slack / m + PULL * j->most);
        }
    }
    int groups = i < rows->nc ? rows->grouped[i] : 0;
    for (int g = 0; g < groups; g++) {
        const pp_friction *group = &rows->group[rows->friction[i] + g];
        judge_friction(j, out, &held, group, slack);
    }
}

// ── Many contacts ────────────────────────────────────────────────────────────────────────────────

// Contacts are judged in pieces, by several threads at once. The number of pieces depends on the
// rows alone, so that the result does not depend on the number of threads.
enum { PARALLEL_MIN_ROWS = 512, PIECES = 64 };

typedef struct phase_job {
    const law_judge *j;
    int pieces;
    perp_certificate part[PIECES];
} phase_job;

// Judges pieces from..to-1 on one thread, each into a certificate of its own.
static void judge_pieces(void *arg, int from, int to)
{
    phase_job *l = arg;
    int count = l->j->e->rows->nn;
    for (int k = from; k < to; k++) {
        l->part[k] = (perp_certificate){0};
        int end = (int)((int64_t)count * (k + 1) / l->pieces);
        for (int i = (int)((int64_t)count * k / l->pieces); i < end; i++) {
            judge_normal(l->j, &l->part[k], i);
        }
    }
}

static void judge_contacts(const law_judge *j, perp_certificate *out)
{
    phase_job l;  // not initialised: one piece uses a small part of it
    l.j = j;
    l.pieces = j->e->rows->nn > PARALLEL_MIN_ROWS ? PIECES : 1;
    pp_team_share(j->e->team, l.pieces, 1, judge_pieces, &l);
    for (int k = 0; k < l.pieces; k++) {
        pp_certificate_worst(out, &l.part[k]);
    }
}

// Velocities of all bodies in world axes. Bodies that are not free count with their mean over the step, in the theta method
// with those of the end.                                                 theory (P23)
static void fill_twists(const pp_step_evidence *e, const double *nu, perp_twist *out)
{
    const pp_frame *from = e->kin->poses.body, *to = e->end->body;
    bool last = e->stepper == PERP_STEPPER_MOREAU_JEAN;
    for (int i = 0; i < e->model->bodies; i++) {
        const pp_body *body = &e->model->body[i];
        double all[PP_BODY_NV] = {0.0};
        for (int k = 0; k < body->nv; k++) {
            all[body->axis[k]] = nu[body->at + k];
        }
        out[i] = (perp_twist){{all[0], all[1], all[2]}, {all[3], all[4], all[5]}};
        if (body->nv == 0) {
            out[i] = last ? (perp_twist){to[i].v, to[i].w}
                          : pp_own_given_velocity(e->model, &from[i], &to[i], e->kin->h);
        }
    }
}

// Poisson's law in two phases (P9). Compression is judged with its own impulses and velocities. The
// unknowns of the second problem are the impulses after compression and restitution, and its
// friction limit includes the restitution.
static perp_status judge_phases(law_judge *j, perp_certificate *out, perp_twist *after,
                                pp_arena *arena)
{
    const pp_step_evidence *e = j->e;
    const pp_impact *impact = e->impact;
    perp_twist *middle = PP_ARRAY(arena, perp_twist, e->model->bodies);
    double *pn = PP_ARRAY(arena, double, e->rows->nn), *pt = PP_ARRAY(arena, double, e->rows->nt);
    if (!middle || !pn || !pt) {
        return PERP_ERR_MEMORY;
    }
    for (int i = 0; i < e->rows->nn; i++) {
        pn[i] = e->pn[i] - impact->pn[i] - impact->back[i];
    }
    for (int i = 0; i < e->rows->nt; i++) {
        pt[i] = e->pt[i] - impact->pt[i];
    }
    fill_twists(e, impact->nu, middle);
    // j->at is restored: the caller goes on with the whole step.
    const phase *last = j->at;
    phase compression = {middle, impact->pn, impact->pt, NULL};
    phase restitution = {after, pn, pt, impact->back};
    j->at = &compression;
    judge_contacts(j, out);
    j->at = &restitution;
    judge_contacts(j, out);
    j->at = last;
    return PERP_OK;
}

// Equations of joints between two bodies do not give way: J nu + rate + bias = 0. Of each joint the worst length and the
// worst angle count; written so that NaN is the worst.
static void judge_equations(const law_judge *j, perp_certificate *out)
{
    const pp_own_joints *joints = j->e->joints;
    for (int i = 0; i < j->e->model->joints; i++) {
        const pp_own_joint *of = &joints->of[i];
        const pp_joint *joint = &j->e->model->joint[i];
        double length = 0.0, spin = 0.0;
        for (int k = of->first; k < of->first + of->count; k++) {
            double off = fabs(joints->equation[k].after + joints->equation[k].bias);
            double *worst = joints->equation[k].length ? &length : &spin;
            *worst = off <= *worst ? *worst : off;
        }
        double slack = pp_scale_rate(j->s, pp_scale_joint_island(j->s, joint));
        if (!(length <= 0.0)) {
            pp_certificate_record(out, j->limits, PERP_JUDGED_RESIDUAL, length, slack);
        }
        if (!(spin <= 0.0)) {
            pp_certificate_record(out, j->limits, PERP_JUDGED_RESIDUAL, spin,
                                  slack / pp_scale_pair_lever(j->e->model, joint->a, joint->b));
        }
    }
}

// Joints: J nu + rate + bias + gamma p = 0. Rows with bounds (drives, dry friction): their natural
// map.
static void judge_rows(const law_judge *j, perp_certificate *out)
{
    const pp_step_evidence *e = j->e;
    const pp_rows *rows = e->rows;
    judge_equations(j, out);
    for (int i = 0; i < rows->nb; i++) {
        const pp_row *row = &rows->b[i];
        double rate = row->rate + e->joints->b[i].after + row->bias;
        double slack = pp_scale_rate(j->s, pp_scale_island(j->s, row));
        pp_certificate_record(out, j->limits, PERP_JUDGED_RESIDUAL,
                              fabs(rate + row->gamma * e->pb[i]), slack / e->joints->b[i].lever);
    }
    for (int i = 0; i < rows->nm; i++) {
        const pp_row *row = &rows->m[i];
        double rate = row->rate + e->joints->m[i].after + row->bias;
        rate += row->gamma * e->pm[i];
        double mobility = pp_judge_mobility_of(e, e->joints->m[i].square, row->gamma);
        double error = natural_map(e->pm[i], rate, mobility, row->lower, row->upper);
        double slack = pp_scale_rate(j->s, pp_scale_island(j->s, row));
        pp_certificate_record(out, j->limits, PERP_JUDGED_RESIDUAL, error,
                              slack / e->joints->m[i].lever);
    }
}

perp_status pp_judge_law(perp_certificate *out, const pp_step_evidence *e, const pp_scales *s,
                         const perp_limits *limits, pp_arena *arena)
{
    perp_twist *after = PP_ARRAY(arena, perp_twist, e->model->bodies);
    perp_vec3 *turn = PP_ARRAY(arena, perp_vec3, e->model->bodies);
    if (!after || !turn) {
        return PERP_ERR_MEMORY;
    }
    fill_twists(e, e->nu, after);
    for (int i = 0; i < e->model->bodies && pp_own_at_end(e); i++) {
        turn[i] = turn_of(e, i);
    }
    phase last = {after, e->pn, e->pt, NULL};
    law_judge j = {.e = e,
                   .s = s,
                   .limits = limits,
                   .at = &last,
                   .most = pp_norm_inf(e->rows->nn, e->pn),
                   .sorted = is_sorted(e->gaps_end),
                   .turn = turn};
    judge_rows(&j, out);
    if (e->impact) {
        return judge_phases(&j, out, after, arena);
    }
    judge_contacts(&j, out);
    return PERP_OK;
}

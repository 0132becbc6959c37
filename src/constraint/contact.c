// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Contacts as rows: W_n along the normal, W_f along the tangents.                theory (P6), (S4)
//
//   rho_n = n . (v_b - v_a) + psi_n / h          both bodies followed at the contact point
//   rho_t = t . (v_b - v_a) + surface speed      and along o in space
//   rho_m = n . (w_b - w_a)                      torsion; rolling: along t and o
//
// Friction that differs along t and o (mu, mu_2) is the round cone of mu for the row o scaled by
// mu_2 / mu: its impulse grows by the factor and its rate with it, and the power p rho stays.
#include "constraint/row.h"

#include <math.h>
#include <string.h>

// d . (v_b - v_a) at the contact point, for a direction d.
static void relative_point(const pp_row_builder *k, const pp_contact *c, perp_vec3 d, pp_row *row)
{
    pp_row_start(row);
    pp_row_point(k, k->model->shape[c->b].body, c->point, d, 1.0, row);
    pp_row_point(k, k->model->shape[c->a].body, c->point, d, -1.0, row);
}

// The impulse of a normal pushes only; its gap is that of the start.
static void normal_row(const pp_row_builder *k, const pp_contact *c, pp_row *row)
{
    relative_point(k, c, c->n, row);
    row->value = c->gap;
    row->lower = 0.0;
    row->restitution = c->restitution;
}

// Moving surfaces, as of a belt, add their speed to the slip.
static void tangent_row(const pp_row_builder *k, const pp_contact *c, perp_vec3 d, pp_row *row)
{
    relative_point(k, c, d, row);
    double surface = pp_dot3(d, c->surface);
    row->rate += surface;
    row->v_pre += surface;
}

// d . (omega_b - omega_a): moments have no arm.
static void moment_row(const pp_row_builder *k, const pp_contact *c, perp_vec3 d, pp_row *row)
{
    pp_row_start(row);
    pp_row_spin(k, k->model->shape[c->b].body, d, 1.0, row);
    pp_row_spin(k, k->model->shape[c->a].body, d, -1.0, row);
}

// The next friction group of the contact whose normal row is number out->nn, which the caller counts when the contact is
// complete. The group's rows are filled later.
static void add_friction_group(pp_rows *out, pp_friction_kind kind, int size, double mu, int facets,
                               pp_scheme scheme)
{
    // A group of one row pushes both ways; a disc without facets of its own is a polygon in the forms MCP and LCP.
    int n = out->nn, directions = 2;
    if (size != 1) {
        directions = facets > 0 ? facets : scheme.facets;
    }
    if (out->friction[n] < 0) {
        out->friction[n] = out->ng;
    }
    out->grouped[n]++;
    out->group[out->ng++] = (pp_friction){.kind = kind,
                                          .n = n,
                                          .t = out->nt,
                                          .size = size,
                                          .facets = size == 1 ? 0 : facets,
                                          .directions = directions,
                                          .mu = mu,
                                          .stretch = 1.0};
    out->nt += size;
    out->nf += directions;
}

// The cone of which rows, the coefficient of t or, where that is 0, of o; and how the rows are scaled.
double pp_friction_scales(const pp_contact *c, double scale[2])
{
    double mu_2 = c->mu_2 >= 0.0 ? c->mu_2 : c->mu, mu = c->mu > 0.0 ? c->mu : mu_2;
    scale[0] = c->mu > 0.0 ? 1.0 : 0.0;
    scale[1] = mu > 0.0 ? mu_2 / mu : 1.0;
    return mu;
}

// The groups of a contact.
static void add_groups(const perp_model *m, const pp_contact *c, pp_scheme scheme, pp_rows *out)
{
    if (!m->spatial) {
        if (c->mu > 0.0) {
            add_friction_group(out, PP_SLIDE, 1, c->mu, 0, scheme);
        }
        return;
    }
    int facets = 0;  // an exact cone
    if (c->facets > 0) {
        facets = c->facets;
    } else if (scheme.friction == PERP_FRICTION_PYRAMID) {
        facets = scheme.facets;
    }
    double scale[2], mu = pp_friction_scales(c, scale);
    if (mu > 0.0) {
        add_friction_group(out, PP_SLIDE, 2, mu, facets, scheme);
        out->group[out->ng - 1].stretch = scale[0] > 0.0 && scale[1] > 0.0 ? scale[1] : 1.0;
    }
    if (c->mu_spin > 0.0) {
        add_friction_group(out, PP_SPIN, 1, c->mu_spin, 0, scheme);
    }
    if (c->mu_roll > 0.0) {
        add_friction_group(out, PP_ROLL, 2, c->mu_roll, facets, scheme);
    }
}

// Rows of a friction group: along the tangents t and o = n x t (sliding), about n (spin) or about t and o (roll). With two
// coefficients of sliding friction the row along o is scaled by mu_2 / mu: the ellipse of impulses becomes a disc.
static void fill_friction_rows(const pp_row_builder *k, const pp_contact *c,
                               const pp_friction *group, pp_row *row)
{
    perp_vec3 o = pp_cross(c->n, c->t);
    if (group->kind == PP_SPIN) {
        moment_row(k, c, c->n, row);
    } else if (group->kind == PP_ROLL) {
        moment_row(k, c, c->t, &row[0]);
        moment_row(k, c, o, &row[1]);
    } else if (group->size == 1) {
        tangent_row(k, c, c->t, row);
    } else {
        double scale[2];
        pp_friction_scales(c, scale);
        tangent_row(k, c, pp_scale(scale[0], c->t), &row[0]);
        tangent_row(k, c, pp_scale(scale[1], o), &row[1]);
    }
}

// The rows of contact n at other frames, in the layout that `rows` has.
int pp_contact_rows_at(const perp_model *model, const pp_poses *at, const pp_contact *c,
                       const pp_rows *rows, int n, pp_row out[PP_CONTACT_ROWS])
{
    const pp_row_builder k = {.model = model, .poses = at};
    int count = 1;
    relative_point(&k, c, c->n, &out[0]);
    for (int g = 0; g < rows->grouped[n]; g++) {
        const pp_friction *group = &rows->group[rows->friction[n] + g];
        fill_friction_rows(&k, c, group, out + count);
        count += group->size;
    }
    return count;
}

// Rows of all contacts, several at a time: normal rows first, each in the place of its contact; then those
// that are in the problem are counted, and friction is filled in.
typedef struct row_job {
    pp_row_builder start;  // where the step starts, or its end for rows of the implicit step
    const pp_kinematics *kin;
    const pp_gaps *gaps;
    pp_scheme scheme;
    pp_rows *out;
    bool *kept;  // contacts: in the problem
} row_job;

static void some_normals(void *arg, int from, int to)
{
    const row_job *s = arg;
    double rest = 2.0 * pp_scheme_whole(s->scheme, s->kin->h) * s->start.model->gravity_most;
    for (int i = from; i < to; i++) {
        pp_row *row = &s->out->n[i];
        normal_row(&s->start, &s->gaps->contact[i], row);
        row->value = pp_row_tangent_value(row, s->kin->h, s->scheme);
        if (s->scheme.carried) {  // the approach is that of the start
            const pp_row_builder before = {.model = s->start.model, .poses = s->scheme.carried};
            pp_row old;
            relative_point(&before, &s->gaps->contact[i], s->gaps->contact[i].n, &old);
            row->v_pre = old.v_pre;
        }
        row->bounce_threshold = rest;
        double push = row->restitution > 0.0 ? pp_row_force_rate(s->start.model, s->kin, row) : 0.0;
        pp_scheme scheme = s->scheme;
        scheme.rates = scheme.rates || s->gaps->contact[i].locked;
        s->kept[i] = pp_row_unilateral(row, s->kin->h, push, scheme);
    }
}

// Tangential rows of contacts from..to. A group knows where its rows are, so contacts can be taken in any order by any
// thread and the result is the same.
static void some_friction(void *arg, int from, int to)
{
    const row_job *s = arg;
    for (int n = from; n < to; n++) {
        const pp_contact *c = &s->gaps->contact[s->out->contact[n]];
        for (int g = 0; g < s->out->grouped[n]; g++) {
            const pp_friction *group = &s->out->group[s->out->friction[n] + g];
            fill_friction_rows(&s->start, c, group, &s->out->t[group->t]);
        }
    }
}

enum { GRAIN = 128 };  // contacts

// Normal rows of all contacts, those in the problem moved to the front in their order, then friction. Compaction is
// serial between two parallel loops: the numbering must not depend on the number of threads.
static perp_status contact_rows(const perp_model *m, const pp_kinematics *kin, const pp_gaps *gaps,
                                pp_scheme scheme, pp_rows *out, const pp_team *team,
                                pp_arena *arena)
{
    row_job s = {.start = {.model = m,
                           .poses = &kin->poses,
                           .given = kin->given,
                           .at_end = scheme.start != NULL},
                 .kin = kin,
                 .gaps = gaps,
                 .scheme = scheme,
                 .out = out,
                 .kept = PP_ARRAY(arena, bool, gaps->count)};
    if (!s.kept) {
        return PERP_ERR_MEMORY;
    }
    pp_team_share(team, gaps->count, GRAIN, some_normals, &s);
    for (int i = 0; i < gaps->count; i++) {
        if (!s.kept[i]) {
            continue;
        }
        if (out->nn < i) {  // rows were written at the places of their contacts
            out->n[out->nn] = out->n[i];
        }
        out->contact[out->nc++] = i;
        out->friction[out->nn] = -1;
        out->grouped[out->nn] = 0;
        if (scheme.friction != PERP_FRICTION_NONE) {
            add_groups(m, &gaps->contact[i], scheme, out);
        }
        out->nn++;
    }
    pp_team_share(team, out->nn, GRAIN, some_friction, &s);
    return PERP_OK;
}

enum { CONTACT_ROWS_T = 5 };  // at most, in space

// All rows of the step. Contacts, springs and the values of joints are taken at `kin`, gradients of joints at `joints`,
// which are other poses in the theta method only. Arrays are as long as the model and the contacts could need.
perp_status pp_rows_run(pp_rows *out, const perp_model *model, const pp_kinematics *kin,
                        const pp_poses *joints, const pp_gaps *gaps, pp_scheme scheme,
                        const pp_team *team, pp_arena *arena)
{
    size_t contacts = (size_t)gaps->count, most_j = (size_t)model->joints;
    size_t actuators = (size_t)model->actuators, forces = (size_t)model->forces;
    size_t most_n = contacts + PP_JOINT_ROWS_N * most_j;
    *out = (pp_rows){0};
    out->b = PP_ARRAY(arena, pp_row, PP_JOINT_ROWS_B * most_j + PP_FORCE_ROWS * forces + actuators);
    out->m = PP_ARRAY(arena, pp_row, PP_JOINT_ROWS_M * most_j + actuators);
    out->n = PP_ARRAY(arena, pp_row, most_n);
    out->far = PP_ARRAY(arena, pp_row, PP_JOINT_ROWS_N * most_j);
    out->t = PP_ARRAY(arena, pp_row, (model->spatial ? CONTACT_ROWS_T : 1) * contacts);
    out->group = PP_ARRAY(arena, pp_friction, (model->spatial ? PP_FRICTION_GROUPS : 1) * contacts);
    out->contact = PP_ARRAY(arena, int, contacts);
    out->friction = PP_ARRAY(arena, int, most_n);
    out->grouped = PP_ARRAY(arena, int, most_n);
    if (!out->b || !out->m || !out->n || !out->far || !out->t || !out->group || !out->contact ||
        !out->friction || !out->grouped) {
        return PERP_ERR_MEMORY;
    }
    if (contact_rows(model, kin, gaps, scheme, out, team, arena) < 0) {
        return PERP_ERR_MEMORY;
    }
    pp_row_lists of = {{out->b, 0}, {out->m, 0}, {out->n, out->nn}, {out->far, 0}};
    pp_joint_rows(model, kin, joints, scheme, &of);
    pp_spring_rows(model, kin, scheme, &of.b);
    // Normal rows are those of the contacts, then those of joint limits, which have no friction.
    for (int i = out->nn; i < of.n.count; i++) {
        out->friction[i] = -1;
        out->grouped[i] = 0;
    }
    out->nb = of.b.count;
    out->nm = of.boxed.count;
    out->nfar = of.far.count;
    out->nn = of.n.count;
    return PERP_OK;
}

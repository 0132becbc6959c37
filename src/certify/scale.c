// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Scales of a step, island by island, which its errors are measured by.                theory (K1)
#include "certify/scale.h"

#include <math.h>

static const double PLACES = 1e-12;  // rounding of positions relative to their coordinates

// Root of a tree of the union-find forest, with path halving.
static int root_of(int *parent, int i)
{
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

// Every body starts as an island of its own; forces between bodies tie them even without rows.
perp_status pp_scales_start(pp_scales *out, const perp_model *model, pp_arena *arena)
{
    *out = (pp_scales){.model = model};
    out->island = PP_ARRAY(arena, int, model->bodies);
    out->speed = PP_ZEROS(arena, double, model->bodies);
    out->energy = PP_ZEROS(arena, double, model->bodies);
    out->place = PP_ZEROS(arena, double, model->bodies);
    out->mass = PP_ZEROS(arena, double, model->bodies);
    if (!out->island || !out->speed || !out->energy || !out->place || !out->mass) {
        return PERP_ERR_MEMORY;
    }
    for (int i = 0; i < model->bodies; i++) {
        out->island[i] = i;
    }
    for (int i = 0; i < model->forces; i++) {
        pp_scales_tie(out, model->force[i].a, model->force[i].b);
    }
    return PERP_OK;
}

// Until pp_scales_finish, island[] holds the parents of a union-find forest. The lower number
// becomes the root, so that an island has the number of its lowest body. Fixed and driven bodies
// tie nothing.
void pp_scales_tie(pp_scales *s, int a, int b)
{
    if (s->model->body[a].nv > 0 && s->model->body[b].nv > 0) {
        int x = root_of(s->island, a), y = root_of(s->island, b);
        s->island[x > y ? x : y] = x < y ? x : y;
    }
}

// Speed of a body on its own [m/s]: that of its fastest point, plus what the forces of the step
// give it, plus that of a fall by its own size. With the moment of inertia taken as m r^2, which it
// does not exceed, a moment tau gives the speed tau / (m r) at the reach r.
static double body_speed(const perp_model *m, int i, const pp_frame *f, const double *p_ext,
                         double gravity)
{
    const pp_body *body = &m->body[i];
    double push = 0.0, twist = 0.0;
    for (int k = 0; k < body->nv; k++) {
        double p = fabs(p_ext[body->at + k]);
        if (body->axis[k] < 3) {
            push += p / body->divisor_mass;
        } else if (body->reach > 0.0) {
            twist += p / (body->divisor_mass * body->reach);
        }
    }
    double fall = sqrt(fabs(body->gravity_scale) * gravity * body->reach);
    return pp_length(f->v) + pp_length(f->w) * body->reach + push + twist + fall;
}

void pp_scales_finish(pp_scales *s, const pp_kinematics *kin, const pp_frame *end, double slack)
{
    const perp_model *m = s->model;
    s->slack = slack;
    s->h = kin->h;
    double gravity = pp_length(m->gravity);
    for (int i = 0; i < m->bodies; i++) {
        int root = root_of(s->island, i);
        if (m->body[i].nv == 0) {
            continue;
        }
        double speed = body_speed(m, i, &kin->poses.body[i], kin->loads.p_ext, gravity);
        double place =
            fmax(pp_length(kin->poses.body[i].p), pp_length(end[i].p)) + m->body[i].reach;
        s->speed[root] = fmax(s->speed[root], speed);
        s->energy[root] += 0.5 * m->body[i].mass * speed * speed;
        s->place[root] = fmax(s->place[root], place);
        s->mass[root] += m->body[i].mass;
    }
    // Flattens the forest before any -1 is written: -1 must not appear in a chain of parents.
    for (int i = 0; i < m->bodies; i++) {
        s->island[i] = root_of(s->island, i);
    }
    for (int i = 0; i < m->bodies; i++) {
        s->island[i] = m->body[i].nv > 0 ? s->island[i] : -1;
    }
}

// Given motions and belts move what they touch, however slow the bodies are by themselves. Drives
// and springs are left out.
static void add_row_speeds(pp_scales *out, const pp_row *row, int count)
{
    for (int i = 0; i < count; i++) {
        int at = pp_scale_island(out, &row[i]);
        if (at >= 0 && row[i].drives + row[i].spring == 0) {
            out->speed[at] = fmax(out->speed[at], fabs(row[i].rate));
        }
    }
}

// The same of equations of joints between two bodies.
static void add_joint_speeds(pp_scales *out, const pp_own_joints *joints)
{
    for (int i = 0; i < out->model->joints; i++) {
        const pp_own_joint *of = &joints->of[i];
        int at = of->count > 0 ? pp_scale_joint_island(out, &out->model->joint[i]) : -1;
        for (int k = of->first; at >= 0 && k < of->first + of->count; k++) {
            out->speed[at] = fmax(out->speed[at], fabs(joints->equation[k].given));
        }
    }
}

// Bodies of one row are in one island.
static void tie_rows(pp_scales *s, const pp_row *row, int count)
{
    for (int i = 0; i < count; i++) {
        for (int k = 1; k < row[i].count; k++) {
            pp_scales_tie(s, row[i].body[0], row[i].body[k]);
        }
    }
}

// Whether a contact or limit changes the velocity of the lighter of its bodies by more than rounding of the speed of its
// island.
static bool is_loaded(const pp_step_evidence *e, const pp_scales *all, int n)
{
    const pp_rows *rows = e->rows;
    const pp_row *row = &rows->n[n];
    double mass = HUGE_VAL, p = fabs(e->pn[n]);
    for (int k = 0; k < row->count; k++) {
        mass = fmin(mass, e->model->body[row->body[k]].divisor_mass);
    }
    for (int g = 0; n < rows->nc && g < rows->grouped[n]; g++) {
        const pp_friction *group = &rows->group[rows->friction[n] + g];
        for (int k = 0; k < group->size; k++) {
            p = fmax(p, fabs(e->pt[group->t + k]));
        }
    }
    return !(p <= PLACES * mass * pp_scale_speed(all, pp_scale_island(all, row)));
}

// all: the scales of the step, of which only the contacts that carry load shall tie; NULL: all of them.
static perp_status run_scales(pp_scales *out, const pp_step_evidence *e, const pp_scales *all,
                              pp_arena *arena)
{
    perp_status status = pp_scales_start(out, e->model, arena);
    if (status < 0) {
        return status;
    }
    // joints and drives always tie, limits with them
    for (int i = 0; i < e->model->joints; i++) {
        if (e->joints->of[i].count > 0) {
            pp_scales_tie(out, e->model->joint[i].a, e->model->joint[i].b);
        }
    }
    tie_rows(out, e->rows->b, e->rows->nb);
    tie_rows(out, e->rows->m, e->rows->nm);
    for (int i = 0; i < e->rows->nn; i++) {
        if (!all || i >= e->rows->nc || is_loaded(e, all, i)) {
            tie_rows(out, &e->rows->n[i], 1);
        }
    }
    pp_scales_finish(out, e->kin, e->end->body, e->slack);
    add_joint_speeds(out, e->joints);
    add_row_speeds(out, e->rows->b, e->rows->nb);
    add_row_speeds(out, e->rows->n, e->rows->nn);
    add_row_speeds(out, e->rows->t, e->rows->nt);
    return PERP_OK;
}

perp_status pp_scales_run(pp_scales *out, const pp_step_evidence *e, pp_arena *arena)
{
    return run_scales(out, e, NULL, arena);
}

perp_status pp_scales_loaded(pp_scales *out, const pp_step_evidence *e, const pp_scales *all,
                             pp_arena *arena)
{
    // a contact with what is not free ties nothing anyway
    int idle = 0;
    for (int i = 0; i < e->rows->nc; i++) {
        idle += e->rows->n[i].count > 1 && !is_loaded(e, all, i);
    }
    if (idle == 0) {
        *out = *all;
        return PERP_OK;
    }
    return run_scales(out, e, all, arena);
}

double pp_scale_rounding(const pp_scales *s, int island)
{
    return island < 0 ? 0.0 : PLACES * s->place[island] / s->h;
}

// Energy of all bodies of the island at the speed of rounding.
double pp_scale_rounding_energy(const pp_scales *s, int island)
{
    double u = pp_scale_rounding(s, island);
    return island < 0 ? 0.0 : s->mass[island] * u * u;
}

double pp_scale_rate(const pp_scales *s, int island)
{
    return island < 0 ? 0.0 : s->slack * s->speed[island] + pp_scale_rounding(s, island);
}

double pp_scale_speed(const pp_scales *s, int island)
{
    return island < 0 ? 0.0 : s->speed[island];
}

// A row is one of lengths if it moves some body along a direction.
bool pp_scale_is_length(const perp_model *m, const pp_row *row)
{
    for (int k = 0; k < row->count; k++) {
        const pp_body *body = &m->body[row->body[k]];
        for (int i = 0; i < body->nv; i++) {
            if (body->axis[i] < 3 && row->J[k][i] != 0.0) {
                return true;
            }
        }
    }
    return false;
}

// Rate of a coupling's row per speed of the body that it depends on most. Its unit is what its function makes of those
// of the joints; an angular part counts per reach of the body.
double pp_scale_coupling(const perp_model *m, const pp_row *row)
{
    double most = 0.0;
    for (int i = 0; i < row->count; i++) {
        const pp_body *body = &m->body[row->body[i]];
        double moved = 0.0, turned = 0.0;
        for (int k = 0; k < body->nv; k++) {
            double *part = body->axis[k] < 3 ? &moved : &turned;
            *part += row->J[i][k] * row->J[i][k];
        }
        double reach = body->reach > 0.0 ? body->reach : m->length_scale;
        most = fmax(most, fmax(sqrt(moved), sqrt(turned) / reach));
    }
    return most;
}

// A row of angles is in rad/s, a speed over the reach of the bodies that it turns.
double pp_scale_lever(const perp_model *m, const pp_row *row)
{
    double reach = 0.0;
    for (int k = 0; k < row->count; k++) {
        reach = fmax(reach, m->body[row->body[k]].reach);
    }
    if (row->joint >= 0 && m->joint[row->joint].kind == PERP_JOINT_COUPLING) {
        return 1.0 / pp_scale_coupling(m, row);
    }
    return reach > 0.0 && !pp_scale_is_length(m, row) ? reach : 1.0;
}

double pp_scale_speed_of(const pp_scales *s, const pp_row *row, double slack)
{
    return slack / pp_scale_lever(s->model, row);
}

// All free bodies of a row are in one island: any of them gives it.
int pp_scale_island(const pp_scales *s, const pp_row *row)
{
    return row->count > 0 ? s->island[row->body[0]] : -1;
}

int pp_scale_joint_island(const pp_scales *s, const pp_joint *j)
{
    return s->island[j->b] >= 0 ? s->island[j->b] : s->island[j->a];
}

double pp_scale_pair_lever(const perp_model *m, int a, int b)
{
    double of_a = m->body[a].nv > 0 ? m->body[a].reach : 0.0;
    double of_b = m->body[b].nv > 0 ? m->body[b].reach : 0.0;
    double reach = of_a > of_b ? of_a : of_b;  // of the bodies that are free [m]
    return reach > 0.0 ? reach : 1.0;
}

// Limit that the caller set for a value; 0: none.
static double set_limit(const perp_limits *l, perp_judged what)
{
    switch (what) {
    case PERP_JUDGED_GAP:
        return l->gap;
    case PERP_JUDGED_COMPLEMENTARITY:
        return l->complementarity;
    case PERP_JUDGED_CONE:
        return l->cone;
    case PERP_JUDGED_JOINT:
        return l->joint;
    case PERP_JUDGED_MOMENTUM:
        return l->momentum;
    case PERP_JUDGED_ENERGY:
        return l->energy;
    case PERP_JUDGED_RESIDUAL:
        return l->residual;
    case PERP_JUDGED_MOTION:
        return l->motion;
    default:
        return l->path;
    }
}

// Where the certificate has a value.
static double *value_of(perp_certificate *c, perp_judged what)
{
    switch (what) {
    case PERP_JUDGED_GAP:
        return &c->gap;
    case PERP_JUDGED_COMPLEMENTARITY:
        return &c->complementarity;
    case PERP_JUDGED_CONE:
        return &c->cone;
    case PERP_JUDGED_JOINT:
        return &c->joint;
    case PERP_JUDGED_MOMENTUM:
        return &c->momentum;
    case PERP_JUDGED_ENERGY:
        return &c->energy_created;
    case PERP_JUDGED_RESIDUAL:
        return &c->residual;
    case PERP_JUDGED_MOTION:
        return &c->motion;
    default:
        return &c->path;
    }
}

void pp_certificate_record(perp_certificate *c, const perp_limits *limits, perp_judged what,
                           double value, double relative)
{
    double limit = set_limit(limits, what), *kept = value_of(c, what);
    limit = limit > 0.0 ? limit : relative;
    double over = value > 0.0 ? value / limit : 0.0;  // infinite where the limit is 0
    over = isnan(value) || isnan(over) ? HUGE_VAL : over;
    if (!(value <= *kept)) {  // NaN is kept as the worst
        *kept = value;
    }
    c->relative[what] = fmax(c->relative[what], over);
}

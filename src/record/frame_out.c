// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// One frame: a row in every column of run.h5, and lines in the CSV files.
#include "record/writer.h"

#include <string.h>

// ── Columns ──────────────────────────────────────────────────────────────────────────────────────

// The next row of a column with one value a row; false: memory is out.
static bool put_real(pp_store *store, pp_h5_column column, double value)
{
    double *row = pp_store_rows(store, column, 1);
    if (row) {
        *row = value;
    }
    return row != NULL;
}

static bool put_count(pp_store *store, pp_h5_column column, int64_t value)
{
    int64_t *row = pp_store_rows(store, column, 1);
    if (row) {
        *row = value;
    }
    return row != NULL;
}

static bool put_int(pp_store *store, pp_h5_column column, int value)
{
    int32_t *row = pp_store_rows(store, column, 1);
    if (row) {
        *row = value;
    }
    return row != NULL;
}

static bool put_byte(pp_store *store, pp_h5_column column, unsigned value)
{
    uint8_t *row = pp_store_rows(store, column, 1);
    if (row) {
        *row = (uint8_t)value;
    }
    return row != NULL;
}

static bool put_vector(pp_store *store, pp_h5_column column, perp_vec3 v)
{
    double *row = pp_store_rows(store, column, 1);
    if (row) {
        row[0] = v.x;
        row[1] = v.y;
        row[2] = v.z;
    }
    return row != NULL;
}

static bool put_state(perp_record *r, const perp_sim *sim)
{
    const perp_model *m = sim->model;
    pp_store *store = &r->store;
    double *q = pp_store_rows(store, PP_COL_Q, 1), *nu = pp_store_rows(store, PP_COL_NU, 1);
    double *driven = pp_store_rows(store, PP_COL_DRIVEN, 1);
    if (!q || !nu || !driven || !put_real(store, PP_COL_T, sim->now.t) ||
        !put_count(store, PP_COL_STEP, r->sum.steps)) {
        return false;
    }
    memcpy(q, sim->now.q, (size_t)m->nq * sizeof *q);
    memcpy(nu, sim->now.nu, (size_t)m->nv * sizeof *nu);
    for (int i = 0; i < m->bodies; i++) {
        const pp_frame *f = &sim->frames[i];
        if (m->body[i].drive == PERP_DRIVEN && m->spatial) {
            const double row[PP_DRIVEN_SPACE] = {f->p.x,   f->p.y,   f->p.z, f->rot.w, f->rot.x,
                                                 f->rot.y, f->rot.z, f->v.x, f->v.y,   f->v.z,
                                                 f->w.x,   f->w.y,   f->w.z};
            memcpy(driven, row, sizeof row);
            driven += PP_DRIVEN_SPACE;
        } else if (m->body[i].drive == PERP_DRIVEN) {
            const double row[PP_DRIVEN_PLANE] = {f->p.x, f->p.y, f->angle, f->v.x, f->v.y, f->w.z};
            memcpy(driven, row, sizeof row);
            driven += PP_DRIVEN_PLANE;
        }
    }
    return true;
}

// Directions of the friction polygon that was solved with: the forms MCP and LCP have one always.
static int facets_of(const perp_sim *sim, const perp_contact *c)
{
    bool polygons = sim->info.form == PERP_FORM_MCP || sim->info.form == PERP_FORM_LCP;
    return c->facets == 0 && polygons ? sim->def.facets : c->facets;
}

static bool put_contact(pp_store *store, const perp_sim *sim, const perp_contact *c)
{
    int32_t *shapes = pp_store_rows(store, PP_COL_SHAPES, 1);
    uint32_t *feature = pp_store_rows(store, PP_COL_FEATURE, 1);
    if (!shapes || !feature) {
        return false;
    }
    shapes[0] = c->a.i;
    shapes[1] = c->b.i;
    *feature = c->feature;
    bool good = !sim->model->spatial || (put_vector(store, PP_COL_TANGENT, c->tangent_W) &&
                                         put_vector(store, PP_COL_SLIP_VECTOR, c->slip_W) &&
                                         put_vector(store, PP_COL_MOMENT, c->moment_W) &&
                                         put_int(store, PP_COL_FACETS, facets_of(sim, c)));
    return good && put_vector(store, PP_COL_POINT, c->point_W) &&
           put_vector(store, PP_COL_NORMAL, c->normal_W) && put_real(store, PP_COL_GAP, c->gap) &&
           put_real(store, PP_COL_MU, c->mu) &&
           put_real(store, PP_COL_RESTITUTION, c->restitution) &&
           put_real(store, PP_COL_PN, c->pn) && put_vector(store, PP_COL_PF, c->pf_W) &&
           put_real(store, PP_COL_RATE_N, c->rate_n) && put_real(store, PP_COL_SLIP, c->slip) &&
           put_vector(store, PP_COL_HOLD, c->hold_W) && put_byte(store, PP_COL_MODE, c->mode);
}

static bool put_contacts(perp_record *r, const perp_sim *sim, const perp_contact *contact,
                         int count)
{
    r->contact_rows += count;
    bool good = put_count(&r->store, PP_COL_CONTACT_END, r->contact_rows);
    for (int i = 0; i < count && good; i++) {
        good = put_contact(&r->store, sim, &contact[i]);
    }
    return good;
}

static bool put_joints(perp_record *r, const perp_sim *sim)
{
    pp_store *store = &r->store;
    double *coordinate = pp_store_rows(store, PP_COL_COORDINATE, 1);
    double *rate = pp_store_rows(store, PP_COL_RATE, 1);
    double *error = pp_store_rows(store, PP_COL_ERROR, 1);
    double *impulse = pp_store_rows(store, PP_COL_IMPULSE, 1);
    double *drive = pp_store_rows(store, PP_COL_DRIVE, 1);
    double *limit = pp_store_rows(store, PP_COL_LIMIT, 1);
    uint8_t *redundant = pp_store_rows(store, PP_COL_REDUNDANT, 1);
    if (!coordinate || !rate || !error || !impulse || !drive || !limit || !redundant) {
        return false;
    }
    for (int i = 0; i < sim->model->joints; i++) {
        perp_joint_state joint = perp_sim_joint(sim, (perp_joint){i});
        coordinate[i] = joint.coordinate;
        rate[i] = joint.rate;
        error[i] = joint.error;
        memcpy(impulse + 6 * i, &joint.impulse_b, sizeof joint.impulse_b);
        drive[i] = joint.drive;
        limit[i] = joint.limit;
        redundant[i] = joint.redundant;
    }
    return true;
}

// Before the first step nobody has reckoned it yet.
static double start_kinetic(const perp_sim *sim)
{
    double sum = 0.0;
    for (int i = 0; i < sim->model->bodies; i++) {
        const pp_body *body = &sim->model->body[i];
        const pp_frame *f = &sim->frames[i];
        if (body->nv > 0) {
            perp_vec3 w = pp_mul_t(&f->R, f->w);
            sum += 0.5 * (body->mass * pp_dot3(f->v, f->v) + pp_dot3(w, pp_mul(&body->I_B, w)));
        }
    }
    return sum;
}

static bool put_relative(pp_store *store, const double *relative)
{
    double *row = pp_store_rows(store, PP_COL_CERT_RELATIVE, 1);
    if (row) {
        memcpy(row, relative, PERP_JUDGED_COUNT * sizeof *row);
    }
    return row != NULL;
}

static bool put_judgement(perp_record *r, const perp_sim *sim)
{
    pp_store *store = &r->store;
    const perp_certificate *c = &r->since;
    bool start = r->sum.steps == 0;
    double kinetic = start ? start_kinetic(sim) : sim->info.energy.kinetic;
    pp_kinematics now = {.t = sim->now.t, .body = sim->frames, .turn = sim->now.turn};
    double potential =
        start ? pp_potential(sim->model, sim->frames) + pp_joint_energy(sim->model, &now)
              : sim->info.energy.potential;
    return put_real(store, PP_COL_CERT_GAP, c->gap) &&
           put_real(store, PP_COL_CERT_COMP, c->complementarity) &&
           put_real(store, PP_COL_CERT_CONE, c->cone) &&
           put_real(store, PP_COL_CERT_SLIP, c->slip_opposed) &&
           put_real(store, PP_COL_CERT_JOINT, c->joint) &&
           put_real(store, PP_COL_CERT_MOMENTUM, c->momentum) &&
           put_real(store, PP_COL_CERT_ENERGY, c->energy_created) &&
           put_real(store, PP_COL_CERT_RESIDUAL, c->residual) &&
           put_real(store, PP_COL_CERT_MOTION, c->motion) &&
           put_real(store, PP_COL_CERT_PATH, c->path) && put_relative(store, c->relative) &&
           put_byte(store, PP_COL_CERT_PASSED, c->passed) &&
           put_real(store, PP_COL_KINETIC, kinetic) &&
           put_real(store, PP_COL_POTENTIAL, potential) && put_real(store, PP_COL_WORK, r->work) &&
           put_real(store, PP_COL_DISSIPATED, r->dissipated);
}

static bool put_solver(perp_record *r, const perp_sim *sim)
{
    pp_store *store = &r->store;
    const perp_step_info *info = &sim->info;
    double seconds = 0.0;
    for (int k = 0; k < PERP_STAGE_COUNT; k++) {
        seconds += info->seconds[k];
    }
    return put_int(store, PP_COL_STATUS, (int)info->status) &&
           put_int(store, PP_COL_ITERATIONS, info->iterations) &&
           put_int(store, PP_COL_SIZE, info->problem_size) &&
           put_int(store, PP_COL_REDUNDANT_ROWS, info->redundant_rows) &&
           put_int(store, PP_COL_STEP_PARTS, info->parts > 1 ? info->parts : 1) &&
           put_byte(store, PP_COL_UNIQUE, info->unique) &&
           put_byte(store, PP_COL_MOTION_UNIQUE, info->motion) &&
           put_byte(store, PP_COL_IMPULSES_UNIQUE, info->impulses) &&
           put_real(store, PP_COL_SECONDS, seconds);
}

// ── CSV ──────────────────────────────────────────────────────────────────────────────────────────

void pp_csv_heads(perp_record *r, bool spatial)
{
    if (spatial) {
        pp_text_add(&r->body_lines, "t,body,x,y,z,qw,qx,qy,qz,vx,vy,vz,wx,wy,wz\n");
        pp_text_add(&r->contact_lines,
                    "t,body_a,shape_a,body_b,shape_b,feature,x,y,z,nx,ny,nz,gap,pn,pfx,pfy,pfz,mx,"
                    "my,mz,rate_n,slip,ux,uy,uz,mode\n");
        return;
    }
    pp_text_add(&r->body_lines, "t,body,x,y,angle,vx,vy,omega\n");
    pp_text_add(&r->contact_lines, "t,body_a,shape_a,body_b,shape_b,feature,x,y,nx,ny,gap,pn,pfx,"
                                   "pfy,rate_n,slip,mode\n");
}

static void put_cells(pp_text *text, int count, const double *cell)
{
    for (int k = 0; k < count; k++) {
        pp_text_add(text, ",");
        pp_text_number(text, cell[k]);
    }
}

static void put_body_lines(pp_text *text, const perp_sim *sim)
{
    const perp_model *m = sim->model;
    for (int i = 1; i < m->bodies; i++) {
        const pp_frame *f = &sim->frames[i];
        const double flat[6] = {f->p.x, f->p.y, f->angle, f->v.x, f->v.y, f->w.z};
        const double cells[13] = {f->p.x, f->p.y, f->p.z, f->rot.w, f->rot.x, f->rot.y, f->rot.z,
                                  f->v.x, f->v.y, f->v.z, f->w.x,   f->w.y,   f->w.z};
        pp_text_number(text, sim->now.t);
        pp_text_add(text, ",");
        pp_text_field(text, m->body[i].name);
        put_cells(text, m->spatial ? 13 : 6, m->spatial ? cells : flat);
        pp_text_add(text, "\n");
    }
}

static void put_side(pp_text *text, const perp_model *m, perp_shape shape)
{
    pp_text_add(text, ",");
    pp_text_field(text, m->body[m->shape[shape.i].body].name);
    pp_text_add(text, ",");
    pp_text_field(text, m->shape[shape.i].name);
}

static void put_contact_lines(pp_text *text, const perp_sim *sim, const perp_contact *contact,
                              int count)
{
    for (int i = 0; i < count; i++) {
        const perp_contact *c = &contact[i];
        perp_vec3 p = c->point_W, n = c->normal_W, f = c->pf_W, m = c->moment_W, u = c->slip_W;
        const double flat[10] = {p.x, p.y, n.x, n.y, c->gap, c->pn, f.x, f.y, c->rate_n, c->slip};
        const double cells[19] = {p.x, p.y, p.z, n.x, n.y,       n.z,     c->gap, c->pn, f.x, f.y,
                                  f.z, m.x, m.y, m.z, c->rate_n, c->slip, u.x,    u.y,   u.z};
        pp_text_number(text, sim->now.t);
        put_side(text, sim->model, c->a);
        put_side(text, sim->model, c->b);
        pp_text_add(text, ",");
        pp_text_int(text, (int64_t)c->feature);
        put_cells(text, sim->model->spatial ? 19 : 10, sim->model->spatial ? cells : flat);
        pp_text_add(text, ",");
        pp_text_add(text, perp_mode_word((int)c->mode));
        pp_text_add(text, "\n");
    }
}

// ── All of it ────────────────────────────────────────────────────────────────────────────────────

perp_status pp_record_frame(perp_record *r, const perp_sim *sim)
{
    int count = 0;
    const perp_contact *contact = perp_sim_contacts(sim, &count);
    if (r->sum.steps == 0) {
        count = 0;  // the start: nothing has been solved yet
    }
    bool good = put_state(r, sim) && put_contacts(r, sim, contact, count) && put_joints(r, sim) &&
                put_judgement(r, sim) && put_solver(r, sim);
    if (!good) {
        return pp_fail(&r->error, PERP_ERR_MEMORY, "not enough memory for a recording");
    }
    put_body_lines(&r->body_lines, sim);
    put_contact_lines(&r->contact_lines, sim, contact, count);
    r->framed = r->sum.steps;
    r->sum.frames++;
    r->since = (perp_certificate){.passed = true, .path_clear = true};
    r->work = r->dissipated = 0.0;
    return PERP_OK;
}

// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// One frame: a row in every column of run.h5, and lines in the CSV files. A part of a step is
// written like a frame, in columns and files of its own.
//
// A frame is the state after a step with the contacts and joints of that step: gaps and points are
// those before it, impulses act within it, rates are those after it. Certificate, work and
// dissipated energy are of all steps since the frame before. Frame 0 is the start, without
// contacts.
#include "record/writer.h"

#include <string.h>

// ── Columns ──────────────────────────────────────────────────────────────────────────────────────

// The next row of a column of doubles with one value a row; false: memory is out. The functions
// below are the same for other types.
static bool put_real(pp_store *store, pp_h5_column column, double value)
{
    double *row = pp_store_rows(store, column, 1);
    if (row) {
        *row = value;
    }
    return row != NULL;
}

// Columns of 64-bit counts.
static bool put_count(pp_store *store, pp_h5_column column, int64_t value)
{
    int64_t *row = pp_store_rows(store, column, 1);
    if (row) {
        *row = value;
    }
    return row != NULL;
}

// Columns of 32-bit integers.
static bool put_int(pp_store *store, pp_h5_column column, int value)
{
    int32_t *row = pp_store_rows(store, column, 1);
    if (row) {
        *row = value;
    }
    return row != NULL;
}

// Columns of flags and of small enums.
static bool put_byte(pp_store *store, pp_h5_column column, unsigned value)
{
    uint8_t *row = pp_store_rows(store, column, 1);
    if (row) {
        *row = (uint8_t)value;
    }
    return row != NULL;
}

// Components in world axes; in the plane z is 0.
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

// Time, q, nu and the driven bodies.
static bool put_state(perp_record *r, const pp_stored_part *at)
{
    const perp_model *m = r->model;
    pp_store *store = &r->store;
    double *q = pp_store_rows(store, PP_COL_Q, 1), *nu = pp_store_rows(store, PP_COL_NU, 1);
    double *driven = pp_store_rows(store, PP_COL_DRIVEN, 1);
    if (!q || !nu || !driven || !put_real(store, PP_COL_T, at->t) ||
        !put_count(store, PP_COL_STEP, r->sum.steps)) {
        return false;
    }
    memcpy(q, at->q, (size_t)m->nq * sizeof *q);
    memcpy(nu, at->nu, (size_t)m->nv * sizeof *nu);
    // q and nu have free bodies only. Kinematic ones follow expressions, and are stored as they
    // were: pose, then velocity, in the world [m, rad, m/s, rad/s].
    for (int i = 0; i < m->bodies; i++) {
        const pp_frame *f = &at->body[i];
        if (m->body[i].drive == PERP_MOTION_KINEMATIC && m->spatial) {
            const double row[PP_DRIVEN_SPACE] = {f->p.x,   f->p.y,   f->p.z, f->rot.w, f->rot.x,
                                                 f->rot.y, f->rot.z, f->v.x, f->v.y,   f->v.z,
                                                 f->w.x,   f->w.y,   f->w.z};
            memcpy(driven, row, sizeof row);
            driven += PP_DRIVEN_SPACE;
        } else if (m->body[i].drive == PERP_MOTION_KINEMATIC) {
            const double row[PP_DRIVEN_PLANE] = {f->p.x, f->p.y, f->angle, f->v.x, f->v.y, f->w.z};
            memcpy(driven, row, sizeof row);
            driven += PP_DRIVEN_PLANE;
        }
    }
    return true;
}

// Directions of the friction polygon that was solved with; 0: the round cone. The forms MCP and LCP
// always have a polygon.
static int facets_of(const perp_record *r, const pp_stored_part *at, const perp_contact *c)
{
    // Contacts without a number of their own have that of the run.
    bool polygons = at->info.form == PERP_FORM_MCP || at->info.form == PERP_FORM_LCP;
    return c->facets == 0 && polygons ? r->facets : c->facets;
}

// A row in every column of contacts.
static bool put_contact(perp_record *r, const pp_stored_part *at, const perp_contact *c)
{
    pp_store *store = &r->store;
    int32_t *shapes = pp_store_rows(store, PP_COL_SHAPES, 1);
    uint32_t *feature = pp_store_rows(store, PP_COL_FEATURE, 1);
    if (!shapes || !feature) {
        return false;
    }
    shapes[0] = c->a.i;
    shapes[1] = c->b.i;
    *feature = c->feature;
    // The plane has no columns for these.
    bool good = !r->model->spatial || (put_vector(store, PP_COL_TANGENT, c->tangent_W) &&
                                       put_vector(store, PP_COL_SLIP_VECTOR, c->slip_W) &&
                                       put_vector(store, PP_COL_MOMENT, c->moment_W) &&
                                       put_int(store, PP_COL_FACETS, facets_of(r, at, c)));
    return good && put_vector(store, PP_COL_POINT, c->point_W) &&
           put_vector(store, PP_COL_NORMAL, c->normal_W) && put_real(store, PP_COL_GAP, c->gap) &&
           put_real(store, PP_COL_MU, c->mu) &&
           put_real(store, PP_COL_RESTITUTION, c->restitution) &&
           put_real(store, PP_COL_PN, c->pn) && put_vector(store, PP_COL_PF, c->pf_W) &&
           put_real(store, PP_COL_RATE_N, c->rate_n) && put_real(store, PP_COL_SLIP, c->slip) &&
           put_vector(store, PP_COL_HOLD, c->hold_W) && put_byte(store, PP_COL_MODE, c->mode);
}

// contact_end grows by the number of contacts.
static bool put_contacts(perp_record *r, const pp_stored_part *at)
{
    int64_t *rows = &r->contact_rows[r->store.table];
    *rows += at->contacts;
    if (!put_count(&r->store, PP_COL_CONTACT_END, *rows)) {
        return false;
    }
    for (int i = 0; i < at->contacts; i++) {
        if (!put_contact(r, at, &at->contact[i])) {
            return false;
        }
    }
    return true;
}

// Wrenches of the caller, about the origin of the body [N, N m]: a row for each body that has one.
static bool put_applied(perp_record *r, const pp_stored_part *at)
{
    int bodies = at->applied ? r->model->bodies : 0;
    for (int i = 0; i < bodies; i++) {
        const perp_wrench *w = &at->applied[i];
        if (pp_length(w->f_W) > 0.0 || pp_length(w->tau_W) > 0.0) {
            double *row = pp_store_rows(&r->store, PP_COL_APPLIED, 1);
            if (!row || !put_int(&r->store, PP_COL_APPLIED_TO, i)) {
                return false;
            }
            memcpy(row, w, sizeof *w);
            r->wrench_rows++;
        }
    }
    return put_count(&r->store, PP_COL_APPLIED_END, r->wrench_rows);
}

// Parameters that differed from the model in the last step: kind and object, values.
static bool put_changes(perp_record *r, const pp_changes *changes)
{
    int count = changes ? changes->acted_count : 0;
    for (int i = 0; i < count; i++) {
        const pp_change *c = &changes->acted[i];
        int32_t *object = pp_store_rows(&r->store, PP_COL_CHANGE_OF, 1);
        double *value = object ? pp_store_rows(&r->store, PP_COL_CHANGE, 1) : NULL;
        if (!value) {
            return false;
        }
        object[0] = c->kind;
        object[1] = c->object;
        memcpy(value, c->value, sizeof c->value);
    }
    r->change_rows += count;
    return put_count(&r->store, PP_COL_CHANGE_END, r->change_rows);
}

// Impulses of a joint act on b, about its centre of mass; those on a are opposite.
static bool put_joints(perp_record *r, const pp_stored_part *at)
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
    for (int i = 0; i < r->model->joints; i++) {
        perp_joint_state joint = at->joint[i];
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

// Inputs as they were held over the last step, and what actuators did in it.
static bool put_controls(perp_record *r, const pp_stored_part *at)
{
    const perp_model *m = r->model;
    pp_store *store = &r->store;
    double *input = m->inputs > 0 ? pp_store_rows(store, PP_COL_INPUT, 1) : NULL;
    if (m->inputs > 0 && !input) {
        return false;
    }
    for (int i = 0; i < m->inputs; i++) {
        input[i] = at->input[i];
    }
    // A model without actuators has no columns for them.
    if (m->actuators == 0) {
        return true;
    }
    double *control = pp_store_rows(store, PP_COL_CONTROL, 1);
    double *effort = pp_store_rows(store, PP_COL_EFFORT, 1);
    double *impulse = pp_store_rows(store, PP_COL_EFFORT_IMPULSE, 1);
    double *filter = pp_store_rows(store, PP_COL_FILTER, 1);
    uint8_t *limited = pp_store_rows(store, PP_COL_LIMITED, 1);
    if (!control || !effort || !impulse || !filter || !limited) {
        return false;
    }
    for (int i = 0; i < m->actuators; i++) {
        control[i] = at->actuator[i].control;
        effort[i] = at->actuator[i].effort;
        impulse[i] = at->actuator[i].impulse;
        limited[i] = at->actuator[i].limited;
        filter[i] = at->filter[i];
    }
    return true;
}

// Values of all sensors, one after the other.
static bool put_sensors(perp_record *r)
{
    size_t count = (size_t)r->model->sensor_values;
    if (count == 0) {
        return true;
    }
    double *value = pp_store_rows(&r->store, PP_COL_SENSOR, 1);
    if (value) {
        memcpy(value, r->sensor, count * sizeof *value);
    }
    return value != NULL;
}

// Kinetic energy at the start [J]. Before the first step no step has computed it.
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
    pp_poses now = {.t = sim->now.t, .body = sim->frames, .turn = sim->now.turn};
    return sum + pp_rotor_energy(sim->model, &now);
}

// Certificate and energies. The certificate's numbers are absolute, in the units of layout.h;
// `relative` has them divided by their limits.
static bool put_judgement(pp_store *store, const pp_stored_part *at)
{
    const perp_certificate *c = &at->info.certificate;
    const perp_energy *e = &at->info.energy;
    _Static_assert(PERP_JUDGED_COUNT == 9, "components of CERT_RELATIVE in layout.h");
    double *relative = pp_store_rows(store, PP_COL_CERT_RELATIVE, 1);
    if (!relative) {
        return false;
    }
    memcpy(relative, c->relative, sizeof c->relative);
    return put_real(store, PP_COL_CERT_GAP, c->gap) &&
           put_real(store, PP_COL_CERT_COMP, c->complementarity) &&
           put_real(store, PP_COL_CERT_CONE, c->cone) &&
           put_real(store, PP_COL_CERT_SLIP, c->slip_opposed) &&
           put_real(store, PP_COL_CERT_JOINT, c->joint) &&
           put_real(store, PP_COL_CERT_MOMENTUM, c->momentum) &&
           put_real(store, PP_COL_CERT_ENERGY, c->energy_created) &&
           put_real(store, PP_COL_CERT_RESIDUAL, c->residual) &&
           put_real(store, PP_COL_CERT_MOTION, c->motion) &&
           put_real(store, PP_COL_CERT_PATH, c->path) &&
           put_byte(store, PP_COL_CERT_PASSED, c->passed) &&
           put_real(store, PP_COL_KINETIC, e->kinetic) &&
           put_real(store, PP_COL_POTENTIAL, e->potential) &&
           put_real(store, PP_COL_WORK, e->work) &&
           put_real(store, PP_COL_DISSIPATED, e->dissipated);
}

// How the step was solved, and how long it took [s].
static bool put_solver(pp_store *store, const pp_stored_part *at)
{
    const perp_step_info *info = &at->info;
    double seconds = 0.0;
    for (int k = 0; k < PERP_STAGE_COUNT; k++) {
        seconds += info->seconds[k];
    }
    return put_int(store, PP_COL_STATUS, (int)info->status) &&
           put_int(store, PP_COL_ITERATIONS, info->iterations) &&
           put_int(store, PP_COL_SIZE, info->problem_size) &&
           put_int(store, PP_COL_REDUNDANT_ROWS, info->redundant_rows) &&
           put_byte(store, PP_COL_UNIQUE, info->unique) &&
           put_byte(store, PP_COL_MOTION_UNIQUE, info->motion) &&
           put_byte(store, PP_COL_IMPULSES_UNIQUE, info->impulses) &&
           put_real(store, PP_COL_SECONDS, seconds);
}

// A row of one of the tables. The store adds to the table it is set to; frames are the usual one.
static perp_status put_row(perp_record *r, pp_h5_table table, const pp_stored_part *at,
                           const pp_changes *changes)
{
    pp_store *store = &r->store;
    store->table = table;
    bool good = put_state(r, at) && put_contacts(r, at) && put_joints(r, at) &&
                put_judgement(store, at) && put_solver(store, at);
    if (table == PP_PARTS) {
        good = good && put_byte(store, PP_COL_PART_KIND, at->kind) &&
               put_real(store, PP_COL_LENGTH, at->h);
    } else {
        good = good && put_applied(r, at) && put_changes(r, changes) && put_controls(r, at) &&
               put_sensors(r) && put_count(store, PP_COL_PART_END, r->part_rows) &&
               put_int(store, PP_COL_STEP_PARTS, at->info.parts > 1 ? at->info.parts : 1) &&
               put_byte(store, PP_COL_STEP_PLACED, r->placed_since) &&
               put_real(store, PP_COL_STEP_ERROR, at->info.error) &&
               put_real(store, PP_COL_MOTION_ERROR, at->info.motion_error);
    }
    // Events are added between frames.
    store->table = PP_FRAMES;
    return good ? PERP_OK
                : pp_fail(&r->error, PERP_ERR_MEMORY, "not enough memory for a recording");
}

// ── CSV ──────────────────────────────────────────────────────────────────────────────────────────

bool pp_csv_is_wanted(const perp_record *r, pp_csv file)
{
    static const unsigned bit[PP_CSV_COUNT] = {
        [PP_CSV_BODIES] = PERP_CSV_BODIES,     [PP_CSV_CONTACTS] = PERP_CSV_CONTACTS,
        [PP_CSV_PART_BODIES] = PERP_CSV_PARTS, [PP_CSV_PART_CONTACTS] = PERP_CSV_PARTS,
        [PP_CSV_JOINTS] = PERP_CSV_JOINTS,     [PP_CSV_ACTUATORS] = PERP_CSV_ACTUATORS,
        [PP_CSV_SENSORS] = PERP_CSV_SENSORS,
    };
    return file == PP_CSV_EVENTS || (r->def.csv & bit[file]) != 0;
}

// First lines of the CSV files. Columns are in the order of put_body_lines and put_contact_lines.
void pp_csv_heads(perp_record *r, bool parts)
{
    bool spatial = r->model->spatial;
    static const char *const bodies[2] = {"t,body,x,y,angle,vx,vy,omega\n",
                                          "t,body,x,y,z,qw,qx,qy,qz,vx,vy,vz,wx,wy,wz\n"};
    static const char *const contacts[2] = {
        "t,body_a,shape_a,body_b,shape_b,feature,x,y,nx,ny,gap,pn,pfx,pfy,rate_n,slip,mode,fn,"
        "ffx,ffy\n",
        "t,body_a,shape_a,body_b,shape_b,feature,x,y,z,nx,ny,nz,gap,pn,pfx,pfy,pfz,mx,my,mz,rate_n,"
        "slip,ux,uy,uz,mode,fn,ffx,ffy,ffz\n"};
    // Parts have four more cells at the front.
    const char *more = parts ? "step,part,kind,h," : "";
    pp_csv first = parts ? PP_CSV_PART_BODIES : PP_CSV_BODIES;
    pp_csv second = parts ? PP_CSV_PART_CONTACTS : PP_CSV_CONTACTS;
    if (pp_csv_is_wanted(r, first)) {
        pp_text_add(&r->lines[first], more);
        pp_text_add(&r->lines[first], bodies[spatial]);
    }
    if (pp_csv_is_wanted(r, second)) {
        pp_text_add(&r->lines[second], more);
        pp_text_add(&r->lines[second], contacts[spatial]);
    }
}

// First cells of a line. Lines of parts begin with the step, the number of the part, its kind and
// its length [s]; part < 0: of a frame, which begins with the time.
static void put_part(pp_text *text, const perp_record *r, const pp_stored_part *at, int part)
{
    static const char *const words[PERP_PART_COUNT] = {"step", "impact", "smooth", "other",
                                                       "close"};
    if (part >= 0) {
        pp_text_int(text, r->sum.steps);
        pp_text_add(text, ",");
        pp_text_int(text, part);
        pp_text_add(text, ",");
        pp_text_add(text, words[at->kind]);
        pp_text_add(text, ",");
        pp_text_number(text, at->h);
        pp_text_add(text, ",");
    }
    pp_text_time(text, at->t);
}

// Numbers of a CSV line, each after a comma.
static void put_cells(pp_text *text, int count, const double *cell)
{
    for (int k = 0; k < count; k++) {
        pp_text_add(text, ",");
        pp_text_number(text, cell[k]);
    }
}

// Body 0, the ground, has no line. part < 0: of a frame.
static void put_body_lines(perp_record *r, const pp_stored_part *at, int part)
{
    const perp_model *m = r->model;
    pp_csv file = part >= 0 ? PP_CSV_PART_BODIES : PP_CSV_BODIES;
    pp_text *text = &r->lines[file];
    if (!pp_csv_is_wanted(r, file)) {
        return;
    }
    for (int i = 1; i < m->bodies; i++) {
        const pp_frame *f = &at->body[i];
        const double flat[6] = {f->p.x, f->p.y, f->angle, f->v.x, f->v.y, f->w.z};
        const double cells[13] = {f->p.x, f->p.y, f->p.z, f->rot.w, f->rot.x, f->rot.y, f->rot.z,
                                  f->v.x, f->v.y, f->v.z, f->w.x,   f->w.y,   f->w.z};
        put_part(text, r, at, part);
        pp_text_add(text, ",");
        pp_text_field(text, m->body[i].name);
        put_cells(text, m->spatial ? 13 : 6, m->spatial ? cells : flat);
        pp_text_add(text, "\n");
    }
}

// Body and shape on one side of a contact.
static void put_side(pp_text *text, const perp_model *m, perp_shape shape)
{
    pp_text_add(text, ",");
    pp_text_field(text, m->body[m->shape[shape.i].body].name);
    pp_text_add(text, ",");
    pp_text_field(text, m->shape[shape.i].name);
}

// One line for each contact point.
static void put_contact_lines(perp_record *r, const pp_stored_part *at, int part)
{
    pp_csv file = part >= 0 ? PP_CSV_PART_CONTACTS : PP_CSV_CONTACTS;
    pp_text *text = &r->lines[file];
    if (!pp_csv_is_wanted(r, file)) {
        return;
    }
    bool spatial = r->model->spatial;
    double per = at->h > 0.0 ? 1.0 / at->h : 0.0;
    for (int i = 0; i < at->contacts; i++) {
        const perp_contact *c = &at->contact[i];
        perp_vec3 p = c->point_W, n = c->normal_W, f = c->pf_W, m = c->moment_W, u = c->slip_W;
        // Point [m], normal, gap [m], impulses [N s], rates [m/s]; moments [N m s] in space.
        const double flat[10] = {p.x, p.y, n.x, n.y, c->gap, c->pn, f.x, f.y, c->rate_n, c->slip};
        const double cells[19] = {p.x, p.y, p.z, n.x, n.y,       n.z,     c->gap, c->pn, f.x, f.y,
                                  f.z, m.x, m.y, m.z, c->rate_n, c->slip, u.x,    u.y,   u.z};
        put_part(text, r, at, part);
        put_side(text, r->model, c->a);
        put_side(text, r->model, c->b);
        pp_text_add(text, ",");
        pp_text_int(text, (int64_t)c->feature);
        put_cells(text, spatial ? 19 : 10, spatial ? cells : flat);
        pp_text_add(text, ",");
        pp_text_add(text, perp_contact_mode_word((int)c->mode));
        // impulses as means over the step or part; an impact has no length, and no force
        const double force[4] = {per * c->pn, per * f.x, per * f.y, per * f.z};
        put_cells(text, spatial ? 4 : 3, force);
        pp_text_add(text, "\n");
    }
}

// Joints with their coordinates and rates, and their impulses in the last step over its length h [N, N m].
static void put_joint_lines(perp_record *r, const pp_stored_part *at)
{
    const perp_model *m = r->model;
    pp_text *text = &r->lines[PP_CSV_JOINTS];
    if (!pp_csv_is_wanted(r, PP_CSV_JOINTS)) {
        return;
    }
    double per = at->h > 0.0 ? 1.0 / at->h : 0.0;
    if (m->joints > 0 && r->sum.frames == 0) {
        pp_text_add(text, "t,joint,coordinate,rate,drive,limit,fx,fy,fz,tx,ty,tz\n");
    }
    for (int i = 0; i < m->joints; i++) {
        const perp_joint_state *j = &at->joint[i];
        perp_vec3 f = pp_scale(per, j->impulse_b.f_W), tau = pp_scale(per, j->impulse_b.tau_W);
        const double cells[10] = {j->coordinate, j->rate, per * j->drive, per * j->limit, f.x,
                                  f.y,           f.z,     tau.x,          tau.y,          tau.z};
        put_part(text, r, at, -1);
        pp_text_add(text, ",");
        pp_text_field(text, m->joint[i].name);
        put_cells(text, 10, cells);
        pp_text_add(text, "\n");
    }
}

// Actuators: control, effort along the coordinate [N, N m], the power it gives [W], and whether it is at a limit.
static void put_actuator_lines(perp_record *r, const pp_stored_part *at)
{
    const perp_model *m = r->model;
    pp_text *text = &r->lines[PP_CSV_ACTUATORS];
    if (!pp_csv_is_wanted(r, PP_CSV_ACTUATORS)) {
        return;
    }
    if (m->actuators > 0 && r->sum.frames == 0) {
        pp_text_add(text, "t,actuator,joint,control,effort,power,limited\n");
    }
    for (int i = 0; i < m->actuators; i++) {
        const perp_actuator_state *a = &at->actuator[i];
        int joint = m->actuator[i].joint;
        const double cells[3] = {a->control, a->effort, a->effort * at->joint[joint].rate};
        put_part(text, r, at, -1);
        pp_text_add(text, ",");
        pp_text_field(text, m->actuator[i].name);
        pp_text_add(text, ",");
        pp_text_field(text, m->joint[joint].name);
        put_cells(text, 3, cells);
        pp_text_add(text, a->limited ? ",1\n" : ",0\n");
    }
}

// A column for each value of each sensor, with its unit: "wrist force.x [N]". The name is quoted with the rest.
static void put_sensor_head(perp_record *r)
{
    const perp_model *m = r->model;
    pp_text *text = &r->lines[PP_CSV_SENSORS];
    if (!pp_csv_is_wanted(r, PP_CSV_SENSORS)) {
        return;
    }
    pp_text_add(text, "t");
    for (int i = 0; i < m->sensors; i++) {
        const pp_sensor *s = &m->sensor[i];
        for (int k = 0; k < s->size; k++) {
            char tail[32];
            const char *label = perp_sensor_label(s->size, k);
            pp_print(tail, sizeof tail, "%s%s [%s]", label[0] ? "." : "", label, s->unit);
            pp_text_add(text, ",");
            pp_text_field_with(text, s->name, tail);
        }
    }
    pp_text_add(text, "\n");
}

static void put_sensor_line(perp_record *r, const pp_stored_part *at)
{
    pp_text *text = &r->lines[PP_CSV_SENSORS];
    if (!pp_csv_is_wanted(r, PP_CSV_SENSORS)) {
        return;
    }
    if (r->model->sensors == 0) {
        return;
    }
    if (r->sum.frames == 0) {
        put_sensor_head(r);
    }
    put_part(text, r, at, -1);
    put_cells(text, r->model->sensor_values, r->sensor);
    pp_text_add(text, "\n");
}

// ── All of it ────────────────────────────────────────────────────────────────────────────────────

// The state of the sim, with the sums of the steps since the last frame: the worst certificate,
// work and dissipated energy.
static void collect_frame(perp_record *r, const perp_sim *sim, pp_stored_part *now)
{
    // Frame 0 has the state alone.
    bool start = r->sum.steps == 0;  // nothing has been solved yet
    const perp_model *m = sim->model;
    *now = (pp_stored_part){.t = sim->now.t,
                            .q = sim->now.q,
                            .nu = sim->now.nu,
                            .body = sim->frames,
                            .joint = r->joint,
                            .applied = start ? NULL : sim->pushed,
                            .info = sim->info};
    now->contact = perp_sim_contacts(sim, &now->contacts);
    // Contacts that were found at the start have no impulses yet.
    now->contacts = start ? 0 : now->contacts;
    for (int i = 0; i < m->joints; i++) {
        r->joint[i] = perp_sim_joint(sim, (perp_joint){i});
    }
    for (int i = 0; i < m->actuators; i++) {
        r->actuator[i] = perp_sim_actuator(sim, (perp_actuator){i});
    }
    now->actuator = r->actuator;
    for (int i = 0; i < m->sensors; i++) {
        const pp_sensor *s = &m->sensor[i];
        // a handle of the model, and all the room it needs: nothing to refuse
        (void)!perp_sim_sensor(sim, (perp_sensor){i}, r->sensor + s->at, s->size);
    }
    now->h = start ? 0.0 : sim->whole;
    now->input = sim->controls.input;
    now->filter = sim->controls.filter;
    now->info.certificate = r->since;
    if (start) {
        pp_poses at = {.t = sim->now.t, .body = sim->frames, .turn = sim->now.turn};
        now->info.energy.kinetic = start_kinetic(sim);
        now->info.energy.potential = pp_potential(m, sim->frames) + pp_joint_energy(m, &at);
    }
    now->info.energy.work = r->work;
    now->info.energy.dissipated = r->dissipated;
}

perp_status pp_record_frame(perp_record *r, const perp_sim *sim)
{
    pp_stored_part now;
    collect_frame(r, sim, &now);
    // Parts come before their frame, whose part_end counts them.
    int parts = r->sum.steps > 0 ? sim->kept.count : 0;
    if (parts > 0 && r->part_rows == 0) {
        pp_csv_heads(r, true);
    }
    for (int k = 0; k < parts; k++) {
        const pp_stored_part *part = &sim->kept.part[k];
        perp_status status = put_row(r, PP_PARTS, part, NULL);
        if (status != PERP_OK) {
            return status;
        }
        put_body_lines(r, part, k);
        put_contact_lines(r, part, k);
    }
    r->part_rows += parts;
    perp_status status = put_row(r, PP_FRAMES, &now, r->sum.steps > 0 ? &sim->changes : NULL);
    if (status != PERP_OK) {
        return status;
    }
    put_body_lines(r, &now, -1);
    put_contact_lines(r, &now, -1);
    put_joint_lines(r, &now);
    put_actuator_lines(r, &now);
    put_sensor_line(r, &now);
    // Certificates and energies of a frame are those of all steps since the frame before.
    r->framed = r->sum.steps;
    r->sum.frames++;
    r->since = (perp_certificate){.passed = true, .path_clear = true};
    r->placed_since = false;
    r->work = r->dissipated = 0.0;
    return PERP_OK;
}

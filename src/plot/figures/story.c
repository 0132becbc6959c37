// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
#include "plot/figures/story.h"

#include "math/space.h"

#include <math.h>
#include <string.h>

static int cell_of(const pp_run_data *s, int frame)
{
    return (int)((int64_t)frame * s->cells / s->frames);
}

bool pp_run_data_is_small(const pp_run_data *data)
{
    return data->tracks <= PP_FEW;
}

// ── Room ─────────────────────────────────────────────────────────────────────────────────────────

static bool init_lanes(pp_run_data *s)
{
    pp_contact_totals *c = &s->crowd;
    pp_trace *const lanes[] = {&s->kinetic,    &s->potential,   &s->total,    &s->work,
                               &s->dissipated, &s->penetration, &s->residual, &c->gap,
                               &c->pn_sum,     &c->pn_most,     &c->pf_most,  &c->use,
                               &c->slip,       &c->closed,      &c->all};
    bool ready = true;
    for (size_t k = 0; k < sizeof lanes / sizeof lanes[0]; k++) {
        ready = ready && pp_trace_init(lanes[k], s->arena, s->cells);
    }
    for (int k = 0; k < PP_SHARES; k++) {
        ready = ready && pp_trace_init(&s->share[k], s->arena, s->cells);
    }
    return ready;
}

static bool init_sheaf(pp_trace_bundle *sheaf, pp_run_data *s)
{
    if (sheaf->count > PP_FEW) {
        sheaf->many = true;
        sheaf->count = 1;
    }
    for (int k = 0; k < sheaf->count; k++) {
        if (!pp_trace_init(&sheaf->trace[k], s->arena, s->cells)) {
            return false;
        }
    }
    return true;
}

static void name_in(pp_trace_bundle *sheaf, const char *name)
{
    if (sheaf->count < PP_FEW) {
        sheaf->name[sheaf->count] = name;
    }
    sheaf->count++;
}

static bool init_sheaves(pp_run_data *s)
{
    const perp_recording_info *info = s->film->info;
    for (int b = 0; b < info->bodies; b++) {
        const perp_recorded_body *body = &s->film->body[b];
        if (body->motion == PERP_MOTION_DYNAMIC) {
            name_in(&s->vx, body->name);
            name_in(&s->vy, body->name);
            if (body->kind == PERP_BODY_PLANAR || body->kind == PERP_BODY_SPATIAL) {
                name_in(&s->spin, body->name);
            }
        }
    }
    for (int j = 0; j < info->joints; j++) {
        name_in(&s->joint_error, s->film->joint[j].name);
        name_in(&s->joint_force, s->film->joint[j].name);
    }
    return init_sheaf(&s->vx, s) && init_sheaf(&s->vy, s) && init_sheaf(&s->spin, s) &&
           init_sheaf(&s->joint_error, s) && init_sheaf(&s->joint_force, s);
}

static bool init_arms(pp_run_data *s)
{
    s->arm = PP_ZEROS(s->arena, double, s->film->info->bodies);
    for (int k = 0; s->arm && k < s->film->info->shapes; k++) {
        const perp_recorded_shape *shape = &s->film->shape[k];
        double *arm = &s->arm[shape->body.i];
        for (int v = 0; v < shape->outline_count && shape->kind != PERP_SHAPE_HALFPLANE; v++) {
            *arm = fmax(*arm, pp_length(shape->outline[v]) + shape->radius);
        }
        if (s->film->info->spatial && shape->kind != PERP_SHAPE_HALFSPACE) {
            double reach = pp_length(shape->half) + shape->radius;
            *arm = fmax(*arm, pp_length(shape->X_BS.p) + reach);
        }
    }
    return s->arm != NULL;
}

static bool init_paths(pp_run_data *s)
{
    enum { POINTS = 1000000 };  // of all bodies together
    int bodies = s->film->info->bodies;
    int most = POINTS / (bodies + 1) + 2;
    most = most < PP_CELL_MOST ? most : PP_CELL_MOST;
    s->path_stride = s->frames / most + 1;
    s->path_points = (s->frames + s->path_stride - 1) / s->path_stride;
    s->path = PP_ZEROS(s->arena, perp_vec3 *, bodies);
    s->pose = PP_ZEROS(s->arena, double, 4 * (size_t)bodies);
    s->turned = PP_ZEROS(s->arena, perp_quat, bodies);
    if (!s->path || !s->pose || !s->turned) {
        return false;
    }
    for (int b = 0; b < bodies; b++) {
        if (s->film->body[b].motion != PERP_MOTION_STATIC) {
            s->path[b] = PP_ZEROS(s->arena, perp_vec3, s->path_points);
            if (!s->path[b]) {
                return false;
            }
        }
    }
    return true;
}

static bool init(pp_run_data *s)
{
    s->cell_from = PP_ZEROS(s->arena, double, s->cells);
    s->cell_to = PP_ZEROS(s->arena, double, s->cells);
    s->motion = PP_ZEROS(s->arena, double, s->cells);
    bool ready = s->cell_from && s->cell_to && s->motion;
    for (int k = 0; k < 2; k++) {
        s->cone[k] = PP_ZEROS(s->arena, unsigned char, PP_CONE_X *PP_CONE_Y);
        ready = ready && s->cone[k];
    }
    return ready && init_lanes(s) && init_sheaves(s) && init_arms(s) && init_paths(s);
}

// ── First reading ────────────────────────────────────────────────────────────────────────────────

// The largest of many at the same time replaces the one before: the lane gets one sample a frame.
static void add_to(pp_trace_bundle *sheaf, int cell, double t, int *at, double *most, double value)
{
    if (!sheaf->many) {
        pp_trace_add(&sheaf->trace[(*at)++], cell, t, value);
    } else {
        *most = isnan(value) ? *most : fmax(*most, fabs(value));
    }
}

static void close_sheaf(pp_trace_bundle *sheaf, int cell, double t, double most)
{
    if (sheaf->many) {
        pp_trace_add(&sheaf->trace[0], cell, t, most);
    }
}

static void scan_velocities(pp_run_data *s, int cell, const perp_snapshot *f)
{
    int at[3] = {0};
    double most[3] = {0};
    for (int b = 0; b < s->film->info->bodies; b++) {
        const perp_recorded_body *body = &s->film->body[b];
        if (body->motion != PERP_MOTION_DYNAMIC) {
            continue;
        }
        bool spatial = s->film->info->spatial;
        perp_vec3 v = f->velocity_W[b];
        add_to(&s->vx, cell, f->t, &at[0], &most[0], spatial ? pp_length(v) : v.x);
        add_to(&s->vy, cell, f->t, &at[1], &most[1], spatial ? v.z : v.y);
        if (body->kind == PERP_BODY_PLANAR || body->kind == PERP_BODY_SPATIAL) {
            double w = spatial ? pp_length(f->omega_W[b]) : f->spin[b];
            add_to(&s->spin, cell, f->t, &at[2], &most[2], w);
        }
    }
    close_sheaf(&s->vx, cell, f->t, most[0]);
    close_sheaf(&s->vy, cell, f->t, most[1]);
    close_sheaf(&s->spin, cell, f->t, most[2]);
}

// The angle from the rotation before to this one, which takes its place.
static double rotation_angle(perp_quat *before, perp_quat now)
{
    perp_vec3 way = pp_quat_log(pp_quat_mul(now, pp_quat_conjugate(*before)));
    *before = now;
    return pp_length(way);
}

static void scan_bodies(pp_run_data *s, int frame, int cell, const perp_snapshot *f)
{
    double moved = 0.0;
    bool on_path = frame % s->path_stride == 0;
    for (int b = 0; b < s->film->info->bodies; b++) {
        if (!s->path[b]) {
            continue;
        }
        double *pose = s->pose + 4 * (size_t)b;
        if (on_path) {
            s->path[b][frame / s->path_stride] = f->position_W[b];
        }
        perp_vec3 p = f->position_W[b];
        double way = pp_length(pp_vec(p.x - pose[0], p.y - pose[1], p.z - pose[3]));
        double turn = s->film->info->spatial ? rotation_angle(&s->turned[b], f->rotation_WB[b])
                                             : fabs(f->angle[b] - pose[2]);
        way += turn > 1e-9 ? turn * s->arm[b] : 0.0;
        moved = isfinite(way) ? fmax(moved, way) : moved;
        pose[0] = f->position_W[b].x;
        pose[1] = f->position_W[b].y;
        pose[2] = f->angle[b];
        pose[3] = p.z;
    }
    double before = cell > 0 ? s->motion[cell - 1] : 0.0;
    s->motion[cell] = fmax(s->motion[cell], before) + (frame > 0 ? moved : 0.0);
}

static void scan_joints(pp_run_data *s, int cell, const perp_snapshot *f)
{
    int at[2] = {0};
    double most[2] = {0};
    double h = s->film->info->h;
    for (int j = 0; j < s->film->info->joints; j++) {
        perp_vec3 p = f->joint[j].impulse_b.f_W;
        add_to(&s->joint_error, cell, f->t, &at[0], &most[0], fabs(f->joint[j].error));
        add_to(&s->joint_force, cell, f->t, &at[1], &most[1], pp_length(p) / h);
    }
    close_sheaf(&s->joint_error, cell, f->t, most[0]);
    close_sheaf(&s->joint_force, cell, f->t, most[1]);
}

const char *const pp_share_name[PP_SHARES] = {
    "gap", "complementarity", "cone", "joint", "momentum", "energy", "residual", "motion", "path"};

static void scan_certificate(pp_run_data *s, int cell, const perp_snapshot *f)
{
    const perp_certificate *c = &f->certificate;
    for (int k = 0; k < PP_SHARES; k++) {
        pp_trace_add(&s->share[k], cell, f->t, c->relative[k]);
    }
    pp_trace_add(&s->penetration, cell, f->t, fmax(c->gap, 0.0));
    pp_trace_add(&s->residual, cell, f->t, fmax(c->residual, 0.0));
    s->violations += !c->passed;
}

static void scan_energy(pp_run_data *s, int frame, int cell, const perp_snapshot *f)
{
    if (frame == 0) {
        s->potential_start = f->energy.potential;
    } else {
        s->work_sum += f->energy.work;
        s->dissipated_sum += f->energy.dissipated;
    }
    pp_trace_add(&s->kinetic, cell, f->t, f->energy.kinetic);
    double potential = f->energy.potential - s->potential_start;
    pp_trace_add(&s->potential, cell, f->t, potential);
    pp_trace_add(&s->total, cell, f->t, f->energy.kinetic + potential);
    pp_trace_add(&s->work, cell, f->t, s->work_sum);
    pp_trace_add(&s->dissipated, cell, f->t, s->dissipated_sum);
}

// ── Contacts ─────────────────────────────────────────────────────────────────────────────────────

typedef struct contact_sample {
    double pn, pf, bound, use;
    pp_plot_mode mode;
} contact_sample;

// p_f along t = (n_y, -n_x): to the right on a floor; in space its size.
static contact_sample touch_of(const pp_run_data *s, const perp_contact *c)
{
    double pf = s->film->info->spatial ? pp_length(c->pf_W)
                                       : c->pf_W.x * c->normal_W.y - c->pf_W.y * c->normal_W.x;
    double bound = c->mu * c->pn;
    return (contact_sample){.pn = c->pn,
                            .pf = pf,
                            .bound = bound,
                            .use = bound > 0.0 ? pf / bound : (double)NAN,
                            .mode = c->mode == PERP_CONTACT_OPEN    ? PP_PLOT_OPEN
                                    : c->mode == PERP_CONTACT_STICK ? PP_PLOT_STICK
                                                                    : PP_PLOT_SLIP};
}

// Gaps are those before the step that ended at t.
static double gap_time(const pp_run_data *s, const perp_snapshot *f)
{
    return fmax(f->t - s->film->info->h, s->t_before);
}

static int find_track(const pp_run_data *s, const perp_contact *c)
{
    int known = s->tracks < PP_ROWS ? s->tracks : PP_ROWS;
    for (int k = 0; k < known; k++) {
        const pp_contact_trace *t = &s->track[k];
        if (t->a.i == c->a.i && t->b.i == c->b.i && t->feature == c->feature) {
            return k;
        }
    }
    return -1;
}

static void note_contact(pp_run_data *s, const perp_contact *c)
{
    if (s->tracks <= PP_ROWS && find_track(s, c) < 0) {
        if (s->tracks < PP_ROWS) {
            s->track[s->tracks] = (pp_contact_trace){.a = c->a, .b = c->b, .feature = c->feature};
        }
        s->tracks++;
    }
    for (int k = 0; k < s->mus; k++) {
        if (fabs(s->mu[k] - c->mu) <= 1e-9 * c->mu) {
            return;
        }
    }
    if (s->mus < PP_MUS && c->mu > 0.0) {
        s->mu[s->mus++] = c->mu;
    }
}

static void scan_contacts(pp_run_data *s, int cell, const perp_snapshot *f)
{
    double sum = 0.0, pn = 0.0, pf = 0.0, gap = (double)NAN, use = (double)NAN;
    int number[4] = {0};
    for (int k = 0; k < f->contacts; k++) {
        contact_sample now = touch_of(s, &f->contact[k]);
        note_contact(s, &f->contact[k]);
        gap = fmin(gap, f->contact[k].gap);
        use = fmax(use, fabs(now.use));
        sum += now.pn;
        pn = fmax(pn, now.pn);
        pf = fmax(pf, fabs(now.pf));
        number[now.mode]++;
    }
    s->pn_most = isfinite(pn) ? fmax(s->pn_most, pn) : s->pn_most;
    s->pf_most = isfinite(pf) ? fmax(s->pf_most, pf) : s->pf_most;
    pp_contact_totals *c = &s->crowd;
    int slip = number[PP_PLOT_SLIP], closed = slip + number[PP_PLOT_STICK];
    pp_trace_add(&c->gap, cell, gap_time(s, f), gap);
    pp_trace_add(&c->pn_sum, cell, f->t, sum);
    pp_trace_add(&c->pn_most, cell, f->t, pn);
    pp_trace_add(&c->pf_most, cell, f->t, pf);
    pp_trace_add(&c->use, cell, f->t, use);
    pp_trace_add(&c->slip, cell, f->t, slip);
    pp_trace_add(&c->closed, cell, f->t, closed);
    pp_trace_add(&c->all, cell, f->t, f->contacts);
}

static void scan(pp_run_data *s, int frame, const perp_snapshot *f)
{
    int cell = cell_of(s, frame);
    bool first = frame == 0 || cell_of(s, frame - 1) != cell;
    if (first) {
        s->cell_from[cell] = frame == 0 ? f->t : s->t_before;
    }
    s->cell_to[cell] = f->t;
    pp_range_add(&s->t, f->t);
    scan_bodies(s, frame, cell, f);
    scan_velocities(s, cell, f);
    scan_energy(s, frame, cell, f);
    if (frame > 0) {  // nothing has been solved before
        scan_contacts(s, cell, f);
        scan_joints(s, cell, f);
        scan_certificate(s, cell, f);
    }
    s->t_before = f->t;
}

// ── Between the readings ─────────────────────────────────────────────────────────────────────────

// Its body's name, or its own where the body has several shapes and this one was named.
static const char *shape_title(const pp_plot_source *film, perp_shape shape)
{
    const perp_recorded_shape *own = &film->shape[shape.i];
    int shapes = 0;
    for (int k = 0; k < film->info->shapes; k++) {
        shapes += film->shape[k].body.i == own->body.i;
    }
    bool given = own->name[0] && strncmp(own->name, "shape", 5) != 0;
    return given && (shapes > 1 || own->body.i == 0) ? own->name : film->body[own->body.i].name;
}

static bool same_pair(const pp_run_data *s, int j, int k)
{
    const pp_plot_source *film = s->film;
    const pp_contact_trace *u = &s->track[j], *v = &s->track[k];
    return strcmp(shape_title(film, u->a), shape_title(film, v->a)) == 0 &&
           strcmp(shape_title(film, u->b), shape_title(film, v->b)) == 0;
}

static void name_track(pp_run_data *s, int k)
{
    pp_contact_trace *track = &s->track[k];
    int nth = 0, all = 0;
    for (int j = 0; j < s->tracks; j++) {
        bool same = same_pair(s, j, k);
        all += same;
        nth += same && j <= k;
    }
    const char *a = shape_title(s->film, track->a), *b = shape_title(s->film, track->b);
    if (all > 1) {
        pp_print(track->name, sizeof track->name, "%.40s\xe2\x80\x93%.40s #%d", a, b, nth);
    } else {
        pp_print(track->name, sizeof track->name, "%.40s\xe2\x80\x93%.40s", a, b);
    }
}

static bool before(const pp_contact_trace *u, const pp_contact_trace *v)
{
    if (u->a.i != v->a.i) {
        return u->a.i < v->a.i;
    }
    return u->b.i != v->b.i ? u->b.i < v->b.i : u->feature < v->feature;
}

// In the order of the scene, not of their first touch.
static void sort_tracks(pp_run_data *s)
{
    for (int k = 1; k < s->tracks && s->tracks <= PP_ROWS; k++) {
        pp_contact_trace track = s->track[k];
        int at = k;
        for (; at > 0 && before(&track, &s->track[at - 1]); at--) {
            s->track[at] = s->track[at - 1];
        }
        s->track[at] = track;
    }
}

static bool init_tracks(pp_run_data *s)
{
    sort_tracks(s);
    for (int k = 0; k < s->tracks && s->tracks <= PP_ROWS; k++) {
        pp_contact_trace *t = &s->track[k];
        name_track(s, k);
        t->mode = PP_ZEROS(s->arena, unsigned char, s->cells);
        bool ready = t->mode != NULL;
        for (int l = 0; pp_run_data_is_small(s) && l < PP_CONTACT_TRACES; l++) {
            ready = ready && pp_trace_init(&t->trace[l], s->arena, s->cells);
        }
        if (!ready) {
            return false;
        }
    }
    return true;
}

// Snapshots at equal times, up to where the motion has come to its end.
static bool choose_shots(pp_run_data *s)
{
    int bodies = s->film->info->bodies;
    double all = s->motion[s->cells - 1];
    int cell = 0;
    while (cell < s->cells - 1 && s->motion[cell] < 0.995 * all) {
        cell++;
    }
    int last = (int)((int64_t)(cell + 1) * s->frames / s->cells) - 1;
    last = last > 0.9 * s->frames ? s->frames - 1 : last;
    int most = bodies <= 13 ? PP_SNAPSHOTS : bodies <= 41 ? 4 : 2;
    s->shots = all > 0.0 && last > 0 ? (last + 1 < most ? last + 1 : most) : 1;
    if (s->film->ends) {
        last = s->frames - 1;
        s->shots = s->frames > 1 ? 2 : 1;
    }
    for (int k = 0; k < s->shots; k++) {
        pp_plot_snapshot *shot = &s->shot[k];
        shot->frame = s->shots == 1 ? s->frames - 1 : (int)((int64_t)last * k / (s->shots - 1));
        shot->position = PP_ZEROS(s->arena, perp_vec3, bodies);
        shot->angle = PP_ZEROS(s->arena, double, bodies);
        shot->rotation = PP_ZEROS(s->arena, perp_quat, bodies);
        if (!shot->position || !shot->angle || !shot->rotation) {
            return false;
        }
    }
    return true;
}

// ── Second reading ───────────────────────────────────────────────────────────────────────────────

static void mark_cone(pp_run_data *s, const contact_sample *now)
{
    if (now->mode == PP_PLOT_OPEN || !(s->pn_most > 0.0) || !isfinite(now->pf + now->pn)) {
        return;
    }
    double y = s->pf_most > 0.0 ? now->pf / s->pf_most : 0.0;
    int i = (int)lround(now->pn / s->pn_most * (PP_CONE_X - 1));
    int j = (int)lround(0.5 * (y + 1.0) * (PP_CONE_Y - 1));
    if (i >= 0 && i < PP_CONE_X) {
        s->cone[now->mode == PP_PLOT_SLIP][j * PP_CONE_X + i] = 1;
    }
}

// A cell that saw several modes shows that of a closed contact: an impact lasts one step.
static void fill_track(pp_run_data *s, int k, int cell, const perp_snapshot *f,
                       const perp_contact *c)
{
    pp_contact_trace *track = &s->track[k];
    contact_sample now = touch_of(s, c);
    if (track->mode[cell] < (unsigned char)now.mode) {
        track->mode[cell] = (unsigned char)now.mode;
    }
    if (pp_run_data_is_small(s)) {
        const double values[] = {c->gap, now.pn, now.pf, now.bound, now.use};
        for (int l = 0; l < PP_CONTACT_TRACES; l++) {
            pp_trace_add(&track->trace[l], cell, l == PP_GAP ? gap_time(s, f) : f->t, values[l]);
        }
    }
}

static void break_track(pp_run_data *s, int k)
{
    for (int l = 0; l < PP_CONTACT_TRACES; l++) {
        s->track[k].trace[l].broken = true;
    }
}

static void fill_contacts(pp_run_data *s, int cell, const perp_snapshot *f)
{
    bool seen[PP_ROWS] = {false};
    for (int k = 0; k < f->contacts; k++) {
        contact_sample now = touch_of(s, &f->contact[k]);
        mark_cone(s, &now);
        int at = s->tracks <= PP_ROWS ? find_track(s, &f->contact[k]) : -1;
        if (at >= 0) {
            seen[at] = true;
            fill_track(s, at, cell, f, &f->contact[k]);
        }
    }
    for (int k = 0; k < s->tracks && s->tracks <= PP_ROWS; k++) {
        if (!seen[k]) {
            break_track(s, k);
        }
    }
}

static void fill_shots(pp_run_data *s, int frame, const perp_snapshot *f)
{
    size_t bodies = (size_t)s->film->info->bodies;
    for (int k = 0; k < s->shots; k++) {
        if (s->shot[k].frame == frame) {
            s->shot[k].t = f->t;
            memcpy(s->shot[k].position, f->position_W, bodies * sizeof(perp_vec3));
            memcpy(s->shot[k].angle, f->angle, bodies * sizeof(double));
            if (s->film->info->spatial) {
                memcpy(s->shot[k].rotation, f->rotation_WB, bodies * sizeof(perp_quat));
            }
        }
    }
}

static perp_status read_frames(pp_run_data *s, bool second, perp_error *error)
{
    for (int k = 0; k < s->frames; k++) {
        perp_snapshot frame;
        perp_status status = s->film->read(s->film->source, k, &frame, error);
        if (status < 0) {
            return status;
        }
        if (!second) {
            scan(s, k, &frame);
            continue;
        }
        fill_shots(s, k, &frame);
        if (k > 0) {
            fill_contacts(s, cell_of(s, k), &frame);
        }
        s->t_before = frame.t;
    }
    return PERP_OK;
}

perp_status pp_run_data_collect(const pp_plot_source *film, pp_arena *arena, const perp_env *env,
                                pp_run_data *data, perp_error *error)
{
    int frames = film->info->frames;
    *data = (pp_run_data){.film = film,
                          .env = env,
                          .arena = arena,
                          .frames = frames,
                          .cells = frames < PP_CELL_MOST ? frames : PP_CELL_MOST,
                          .t = pp_range_none()};
    pp_assert(frames >= 1);
    if (!init(data)) {
        return pp_fail(error, PERP_ERR_MEMORY, "not enough memory for the curves of %d frames",
                       frames);
    }
    perp_status status = read_frames(data, false, error);
    if (status < 0) {
        return status;
    }
    if (!init_tracks(data) || !choose_shots(data) || !pp_run_data_events(data)) {
        return pp_fail(error, PERP_ERR_MEMORY, "not enough memory for the contacts of %d frames",
                       frames);
    }
    return read_frames(data, true, error);
}

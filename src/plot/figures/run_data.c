// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// What the figures show of a recording, collected in two readings.
//
//   first    scan_*    ranges, sums, curves of bodies, joints, energy, certificate; which contacts there are
//   between            contacts are named and sorted, times of snapshots chosen, events read
//   second   fill_*    curves and modes of single contacts, points in the cone, bodies of the snapshots
//
// Memory is bounded by PP_BINS_MOST bins a curve and PP_FEW or PP_ROWS curves, whatever the number
// of frames, bodies and contacts is.
#include "plot/figures/run_data.h"

#include "math/space.h"

#include <math.h>
#include <string.h>

// Frames fall into bins evenly; with fewer frames than bins each has its own.
static int bin_of(const pp_run_data *s, int frame)
{
    return (int)((int64_t)frame * s->bins / s->frames);
}

bool pp_run_data_is_small(const pp_run_data *data)
{
    return data->contacts <= PP_FEW;
}

// ── Room ─────────────────────────────────────────────────────────────────────────────────────────

// The curves that every recording has.
static bool init_traces(pp_run_data *s)
{
    pp_contact_totals *c = &s->totals;
    pp_trace *const traces[] = {
        &s->kinetic,  &s->potential, &s->total,  &s->work,       &s->dissipated,  &s->penetration,
        &s->residual, &c->gap,       &c->pn_sum, &c->pn_most,    &c->pf_most,     &c->use,
        &c->slip,     &c->closed,    &c->all,    &s->step_error, &s->motion_error};
    bool ready = true;
    for (size_t k = 0; k < sizeof traces / sizeof traces[0]; k++) {
        ready = ready && pp_trace_init(traces[k], s->arena, s->bins);
    }
    for (int k = 0; k < PP_SHARES; k++) {
        ready = ready && pp_trace_init(&s->share[k], s->arena, s->bins);
    }
    return ready;
}

// More curves than PP_FEW become one: the largest.
static bool init_bundle(pp_trace_bundle *bundle, pp_run_data *s)
{
    if (bundle->count > PP_FEW) {
        bundle->many = true;
        bundle->count = 1;
    }
    for (int k = 0; k < bundle->count; k++) {
        if (!pp_trace_init(&bundle->trace[k], s->arena, s->bins)) {
            return false;
        }
    }
    return true;
}

// Counts on past PP_FEW: the count shows that there are many.
static void add_name(pp_trace_bundle *bundle, const char *name)
{
    if (bundle->count < PP_FEW) {
        bundle->name[bundle->count] = name;
    }
    bundle->count++;
}

// Joints that move along one coordinate.
static bool has_coordinate(const pp_run_data *s, int joint)
{
    perp_joint_kind kind = s->source->joint[joint].kind;
    return kind != PERP_JOINT_WELD && kind != PERP_JOINT_SPHERICAL && kind != PERP_JOINT_GEAR;
}

// Curves of bodies and joints. A particle has no angular velocity.
static bool init_bundles(pp_run_data *s)
{
    const perp_recording_info *info = s->source->info;
    for (int b = 0; b < info->bodies; b++) {
        const perp_recorded_body *body = &s->source->body[b];
        if (body->motion == PERP_MOTION_DYNAMIC) {
            add_name(&s->vx, body->name);
            add_name(&s->vy, body->name);
            if (body->kind == PERP_BODY_PLANAR || body->kind == PERP_BODY_SPATIAL) {
                add_name(&s->spin, body->name);
            }
        }
    }
    for (int j = 0; j < info->joints; j++) {
        add_name(&s->joint_error, s->source->joint[j].name);
        add_name(&s->joint_force, s->source->joint[j].name);
        if (has_coordinate(s, j)) {
            add_name(&s->coordinate, s->source->joint[j].name);
        }
    }
    s->rate = s->effort = s->power = s->coordinate;
    return init_bundle(&s->coordinate, s) && init_bundle(&s->rate, s) &&
           init_bundle(&s->effort, s) && init_bundle(&s->power, s) && init_bundle(&s->vx, s) &&
           init_bundle(&s->vy, s) && init_bundle(&s->spin, s) && init_bundle(&s->joint_error, s) &&
           init_bundle(&s->joint_force, s);
}

// Reach of each body from its centre of mass [m], which turns angles into lengths.
static bool init_arms(pp_run_data *s)
{
    s->arm = PP_ZEROS(s->arena, double, s->source->info->bodies);
    if (!s->arm) {
        return false;
    }
    for (int k = 0; k < s->source->info->shapes; k++) {
        const perp_recorded_shape *shape = &s->source->shape[k];
        double *arm = &s->arm[shape->body.i];
        if (shape->kind == PERP_SHAPE_HALFPLANE || shape->kind == PERP_SHAPE_HALFSPACE) {
            continue;  // endless
        }
        for (int v = 0; v < shape->outline_count; v++) {
            *arm = fmax(*arm, pp_length(shape->outline[v]) + shape->radius);
        }
        if (s->source->info->spatial) {
            double reach = pp_length(shape->half) + shape->radius;
            *arm = fmax(*arm, pp_length(shape->X_BS.p) + reach);
        }
    }
    return true;
}

// Every stride-th frame is a point of the path. Of many bodies paths have fewer points, so that the
// memory stays bounded.
static bool init_paths(pp_run_data *s)
{
    // 24 bytes each.
    enum { POINTS = 1000000 };  // of all bodies together
    int bodies = s->source->info->bodies;
    int most = POINTS / (bodies + 1) + 2;
    most = most < PP_BINS_MOST ? most : PP_BINS_MOST;
    s->path_stride = s->frames / most + 1;
    s->path_points = (s->frames + s->path_stride - 1) / s->path_stride;
    s->path = PP_ZEROS(s->arena, perp_vec3 *, bodies);
    s->pose = PP_ZEROS(s->arena, double, 4 * (size_t)bodies);
    s->turned = PP_ZEROS(s->arena, perp_quat, bodies);
    if (!s->path || !s->pose || !s->turned) {
        return false;
    }
    for (int b = 0; b < bodies; b++) {
        if (s->source->body[b].motion != PERP_MOTION_STATIC) {
            s->path[b] = PP_ZEROS(s->arena, perp_vec3, s->path_points);
            if (!s->path[b]) {
                return false;
            }
        }
    }
    return true;
}

// Everything that the first reading fills.
static bool init(pp_run_data *s)
{
    s->bin_from = PP_ZEROS(s->arena, double, s->bins);
    s->bin_to = PP_ZEROS(s->arena, double, s->bins);
    s->motion = PP_ZEROS(s->arena, double, s->bins);
    bool ready = s->bin_from && s->bin_to && s->motion;
    // Points that stick, and points that slip.
    for (int k = 0; k < 2; k++) {
        s->cone[k] = PP_ZEROS(s->arena, unsigned char, PP_CONE_X *PP_CONE_Y);
        ready = ready && s->cone[k];
    }
    return ready && init_traces(s) && init_bundles(s) && pp_run_data_init_sensors(s) &&
           init_arms(s) && init_paths(s);
}

// ── First reading ────────────────────────────────────────────────────────────────────────────────

// A sample of one curve of a bundle. Where there are too many, the largest of them at a time is the
// sample, and close_bundle adds it.
static void add_to(pp_trace_bundle *bundle, int bin, double t, int *at, double *most, double value)
{
    if (!bundle->many) {
        pp_trace_add(&bundle->trace[(*at)++], bin, t, value);
    } else {
        *most = isnan(value) ? *most : fmax(*most, fabs(value));
    }
}

// One sample a frame.
static void close_bundle(pp_trace_bundle *bundle, int bin, double t, double most)
{
    if (bundle->many) {
        pp_trace_add(&bundle->trace[0], bin, t, most);
    }
}

// In the plane v_x, v_y and omega; in space |v|, v_z and |omega|, which do not depend on the axes
// chosen.
static void scan_velocities(pp_run_data *s, int bin, const perp_snapshot *f)
{
    int at[3] = {0};
    double most[3] = {0};
    for (int b = 0; b < s->source->info->bodies; b++) {
        const perp_recorded_body *body = &s->source->body[b];
        if (body->motion != PERP_MOTION_DYNAMIC) {
            continue;
        }
        bool spatial = s->source->info->spatial;
        perp_vec3 v = f->velocity_W[b];
        add_to(&s->vx, bin, f->t, &at[0], &most[0], spatial ? pp_length(v) : v.x);
        add_to(&s->vy, bin, f->t, &at[1], &most[1], spatial ? v.z : v.y);
        if (body->kind == PERP_BODY_PLANAR || body->kind == PERP_BODY_SPATIAL) {
            double w = spatial ? pp_length(f->omega_W[b]) : f->spin[b];
            add_to(&s->spin, bin, f->t, &at[2], &most[2], w);
        }
    }
    close_bundle(&s->vx, bin, f->t, most[0]);
    close_bundle(&s->vy, bin, f->t, most[1]);
    close_bundle(&s->spin, bin, f->t, most[2]);
}

// The angle from the rotation before to this one [rad]; *before becomes this one.
static double rotation_angle(perp_quat *before, perp_quat now)
{
    perp_vec3 way = pp_quat_log(pp_quat_mul(now, pp_quat_conjugate(*before)));
    *before = now;
    return pp_length(way);
}

// Points of the paths, and how far the body that moves most has come [m]: a turn counts with the
// reach. Rotations below 1e-9 rad are rounding.
static void scan_bodies(pp_run_data *s, int frame, int bin, const perp_snapshot *f)
{
    double moved = 0.0;
    bool on_path = frame % s->path_stride == 0;
    for (int b = 0; b < s->source->info->bodies; b++) {
        if (!s->path[b]) {
            continue;
        }
        // x, y, angle, z.
        double *pose = s->pose + 4 * (size_t)b;
        if (on_path) {
            s->path[b][frame / s->path_stride] = f->position_W[b];
        }
        perp_vec3 p = f->position_W[b];
        double way = pp_length(pp_vec(p.x - pose[0], p.y - pose[1], p.z - pose[3]));
        double turn = s->source->info->spatial ? rotation_angle(&s->turned[b], f->rotation_WB[b])
                                               : fabs(f->angle[b] - pose[2]);
        // A turn moves the farthest point by turn times reach.
        way += turn > 1e-9 ? turn * s->arm[b] : 0.0;
        moved = isfinite(way) ? fmax(moved, way) : moved;
        pose[0] = f->position_W[b].x;
        pose[1] = f->position_W[b].y;
        pose[2] = f->angle[b];
        pose[3] = p.z;
    }
    // motion is a sum over all frames so far, bin by bin.
    double before = bin > 0 ? s->motion[bin - 1] : 0.0;
    s->motion[bin] = fmax(s->motion[bin], before) + (frame > 0 ? moved : 0.0);
}

// Coordinates and rates, the mean effort of drives, friction and actuators over the last step, and its power.
static void scan_coordinates(pp_run_data *s, int bin, const perp_snapshot *f)
{
    pp_trace_bundle *const bundle[4] = {&s->coordinate, &s->rate, &s->effort, &s->power};
    int at[4] = {0};
    double most[4] = {0}, h = s->source->info->h;
    for (int j = 0; j < s->source->info->joints; j++) {
        const perp_joint_state *joint = &f->joint[j];
        double effort = h > 0.0 ? joint->drive / h : 0.0;
        if (!has_coordinate(s, j)) {
            continue;
        }
        for (int k = 0; k < s->source->info->actuators; k++) {
            effort += s->source->actuator[k].joint.i == j ? f->actuator[k].effort : 0.0;
        }
        const double value[4] = {joint->coordinate, joint->rate, effort, effort * joint->rate};
        for (int k = 0; k < 4; k++) {
            add_to(bundle[k], bin, f->t, &at[k], &most[k], value[k]);
        }
    }
    for (int k = 0; k < 4; k++) {
        close_bundle(bundle[k], bin, f->t, most[k]);
    }
}

// Errors [m, rad], and impulses over h as forces [N].
static void scan_joints(pp_run_data *s, int bin, const perp_snapshot *f)
{
    int at[2] = {0};
    double most[2] = {0};
    double h = s->source->info->h;
    for (int j = 0; j < s->source->info->joints; j++) {
        perp_vec3 p = f->joint[j].impulse_b.f_W;
        add_to(&s->joint_error, bin, f->t, &at[0], &most[0], fabs(f->joint[j].error));
        add_to(&s->joint_force, bin, f->t, &at[1], &most[1], pp_length(p) / h);
    }
    close_bundle(&s->joint_error, bin, f->t, most[0]);
    close_bundle(&s->joint_force, bin, f->t, most[1]);
}

const char *const pp_share_name[PP_SHARES] = {
    "gap", "complementarity", "cone", "joint", "momentum", "energy", "residual", "motion", "path"};

// Numbers over their limits, and the two that have a panel of their own.
static void scan_certificate(pp_run_data *s, int bin, const perp_snapshot *f)
{
    const perp_certificate *c = &f->certificate;
    for (int k = 0; k < PP_SHARES; k++) {
        pp_trace_add(&s->share[k], bin, f->t, c->relative[k]);
    }
    pp_trace_add(&s->penetration, bin, f->t, fmax(c->gap, 0.0));
    pp_trace_add(&s->residual, bin, f->t, fmax(c->residual, 0.0));
    // an error that is not known breaks its curve
    bool known = isfinite(f->motion_error);
    pp_trace_add(&s->step_error, bin, f->t, isfinite(f->error) ? f->error : (double)NAN);
    pp_trace_add(&s->motion_error, bin, f->t, known ? f->motion_error : (double)NAN);
    s->error_unknown = s->error_unknown || !known;
    s->violations += !c->passed;
}

// Potential energy counts from the start [J], work and dissipated energy are sums over the frames.
static void scan_energy(pp_run_data *s, int frame, int bin, const perp_snapshot *f)
{
    if (frame == 0) {
        s->potential_start = f->energy.potential;
    } else {
        s->work_sum += f->energy.work;
        s->dissipated_sum += f->energy.dissipated;
    }
    pp_trace_add(&s->kinetic, bin, f->t, f->energy.kinetic);
    double potential = f->energy.potential - s->potential_start;
    pp_trace_add(&s->potential, bin, f->t, potential);
    pp_trace_add(&s->total, bin, f->t, f->energy.kinetic + potential);
    pp_trace_add(&s->work, bin, f->t, s->work_sum);
    pp_trace_add(&s->dissipated, bin, f->t, s->dissipated_sum);
}

// ── Contacts ─────────────────────────────────────────────────────────────────────────────────────

// Impulses [N s], the bound mu p_n, and the share of it that friction uses.
typedef struct contact_sample {
    double pn, pf, bound, use;
    pp_plot_mode mode;
} contact_sample;

// p_f along t = (n_y, -n_x), to the right on a floor; in space its size.
static contact_sample sample_of(const pp_run_data *s, const perp_contact *c)
{
    double pf = s->source->info->spatial ? pp_length(c->pf_W)
                                         : c->pf_W.x * c->normal_W.y - c->pf_W.y * c->normal_W.x;
    static const pp_plot_mode modes[] = {[PERP_CONTACT_OPEN] = PP_PLOT_OPEN,
                                         [PERP_CONTACT_STICK] = PP_PLOT_STICK,
                                         [PERP_CONTACT_SLIP] = PP_PLOT_SLIP};
    double bound = c->mu * c->pn;
    return (contact_sample){.pn = c->pn,
                            .pf = pf,
                            .bound = bound,
                            .use = bound > 0.0 ? pf / bound : (double)NAN,
                            .mode = modes[c->mode]};
}

// The time that a recorded gap belongs to: it was measured before the step that ended at t.
static double gap_time(const pp_run_data *s, const perp_snapshot *f)
{
    return fmax(f->t - s->source->info->h, s->t_before);
}

// -1: it is not followed.
static int find_contact_trace(const pp_run_data *s, const perp_contact *c)
{
    // Of too many the first PP_ROWS are stored, but not shown.
    int known = s->contacts < PP_ROWS ? s->contacts : PP_ROWS;
    for (int k = 0; k < known; k++) {
        const pp_contact_trace *t = &s->contact[k];
        if (t->a.i == c->a.i && t->b.i == c->b.i && t->feature == c->feature) {
            return k;
        }
    }
    return -1;
}

// A contact that was not there before, and a coefficient of friction that was not. `contacts` stops
// at PP_ROWS + 1, which stands for "too many for a strip".
static void note_contact(pp_run_data *s, const perp_contact *c)
{
    if (s->contacts <= PP_ROWS && find_contact_trace(s, c) < 0) {
        if (s->contacts < PP_ROWS) {
            s->contact[s->contacts] =
                (pp_contact_trace){.a = c->a, .b = c->b, .feature = c->feature};
        }
        s->contacts++;
    }
    for (int k = 0; k < s->mus; k++) {
        // A cone of this coefficient is drawn already.
        if (fabs(s->mu[k] - c->mu) <= 1e-9 * c->mu) {
            return;
        }
    }
    if (s->mus < PP_MUS && c->mu > 0.0) {
        s->mu[s->mus++] = c->mu;
    }
}

// Sums and extremes over the contacts of a frame.
static void scan_contacts(pp_run_data *s, int bin, const perp_snapshot *f)
{
    // fmin and fmax pass over NaN: without contacts gap and use stay NaN, and break their curves.
    double sum = 0.0, pn = 0.0, pf = 0.0, gap = (double)NAN, use = (double)NAN;
    int number[4] = {0};
    for (int k = 0; k < f->contacts; k++) {
        contact_sample now = sample_of(s, &f->contact[k]);
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
    pp_contact_totals *c = &s->totals;
    int slip = number[PP_PLOT_SLIP], closed = slip + number[PP_PLOT_STICK];
    pp_trace_add(&c->gap, bin, gap_time(s, f), gap);
    pp_trace_add(&c->pn_sum, bin, f->t, sum);
    pp_trace_add(&c->pn_most, bin, f->t, pn);
    pp_trace_add(&c->pf_most, bin, f->t, pf);
    pp_trace_add(&c->use, bin, f->t, use);
    pp_trace_add(&c->slip, bin, f->t, slip);
    pp_trace_add(&c->closed, bin, f->t, closed);
    pp_trace_add(&c->all, bin, f->t, f->contacts);
}

// The first reading of one frame.
static void scan(pp_run_data *s, int frame, const perp_snapshot *f)
{
    int bin = bin_of(s, frame);
    // A bin covers the time from the frame before its first frame to its last frame: bins leave no
    // gaps.
    bool first = frame == 0 || bin_of(s, frame - 1) != bin;
    if (first) {
        s->bin_from[bin] = frame == 0 ? f->t : s->t_before;
    }
    s->bin_to[bin] = f->t;
    pp_range_add(&s->t, f->t);
    scan_bodies(s, frame, bin, f);
    scan_velocities(s, bin, f);
    scan_energy(s, frame, bin, f);
    // Contacts, reactions and the certificate are of the step that led here.
    if (frame > 0) {  // nothing has been solved before
        scan_contacts(s, bin, f);
        scan_joints(s, bin, f);
        scan_coordinates(s, bin, f);
        pp_run_data_scan_sensors(s, bin, f);
        scan_certificate(s, bin, f);
    }
    s->t_before = f->t;
}

// ── Between the readings ─────────────────────────────────────────────────────────────────────────

// The name of its body, or its own where the body has several shapes and this one was given a name.
static const char *shape_title(const pp_plot_source *source, perp_shape shape)
{
    const perp_recorded_shape *own = &source->shape[shape.i];
    int shapes = 0;
    for (int k = 0; k < source->info->shapes; k++) {
        shapes += source->shape[k].body.i == own->body.i;
    }
    // "shape3" and the like are names that the program gave.
    bool given = own->name[0] && strncmp(own->name, "shape", 5) != 0;
    return given && (shapes > 1 || own->body.i == 0) ? own->name : source->body[own->body.i].name;
}

// Contacts of the same two names get numbers.
static bool same_pair(const pp_run_data *s, int j, int k)
{
    const pp_plot_source *source = s->source;
    const pp_contact_trace *u = &s->contact[j], *v = &s->contact[k];
    return strcmp(shape_title(source, u->a), shape_title(source, v->a)) == 0 &&
           strcmp(shape_title(source, u->b), shape_title(source, v->b)) == 0;
}

// "a-b", or "a-b #2" where a pair has several points.
static void name_contact(pp_run_data *s, int k)
{
    pp_contact_trace *contact = &s->contact[k];
    int nth = 0, all = 0;
    for (int j = 0; j < s->contacts; j++) {
        // nth: which of the points with the same names this one is.
        bool same = same_pair(s, j, k);
        all += same;
        nth += same && j <= k;
    }
    const char *a = shape_title(s->source, contact->a), *b = shape_title(s->source, contact->b);
    if (all > 1) {
        pp_print(contact->name, sizeof contact->name, "%.40s\xe2\x80\x93%.40s #%d", a, b, nth);
    } else {
        pp_print(contact->name, sizeof contact->name, "%.40s\xe2\x80\x93%.40s", a, b);
    }
}

// By shape a, shape b, feature.
static bool comes_before(const pp_contact_trace *u, const pp_contact_trace *v)
{
    if (u->a.i != v->a.i) {
        return u->a.i < v->a.i;
    }
    return u->b.i != v->b.i ? u->b.i < v->b.i : u->feature < v->feature;
}

// In the order of the scene, not of their first touch. Few enough for insertion.
static void sort_contacts(pp_run_data *s)
{
    for (int k = 1; k < s->contacts; k++) {
        pp_contact_trace contact = s->contact[k];
        int at = k;
        for (; at > 0 && comes_before(&contact, &s->contact[at - 1]); at--) {
            s->contact[at] = s->contact[at - 1];
        }
        s->contact[at] = contact;
    }
}

// Names, modes and curves of the contacts that the first reading found.
static bool init_contacts(pp_run_data *s)
{
    if (s->contacts > PP_ROWS) {
        return true;  // sums and extremes are shown
    }
    sort_contacts(s);
    int traces = pp_run_data_is_small(s) ? PP_CONTACT_TRACES : 0;
    for (int k = 0; k < s->contacts; k++) {
        pp_contact_trace *t = &s->contact[k];
        name_contact(s, k);
        t->mode = PP_ZEROS(s->arena, unsigned char, s->bins);
        if (!t->mode) {
            return false;
        }
        for (int l = 0; l < traces; l++) {
            if (!pp_trace_init(&t->trace[l], s->arena, s->bins)) {
                return false;
            }
        }
    }
    return true;
}

// Of many bodies fewer snapshots: they lie over each other.
static int most_snapshots(int bodies)
{
    if (bodies <= 13) {
        return PP_SNAPSHOTS;
    }
    return bodies <= 41 ? 4 : 2;
}

// Snapshots at equal times, up to where the motion has come to its end: 99.5 % of the way.
static bool choose_snapshots(pp_run_data *s)
{
    int bodies = s->source->info->bodies;
    // [m], of the body that moves most.
    double all = s->motion[s->bins - 1];
    int bin = 0;
    while (bin < s->bins - 1 && s->motion[bin] < 0.995 * all) {
        bin++;
    }
    // The last bin that still moves; a motion that goes on for 90 % of the run goes on to its end.
    int last = (int)((int64_t)(bin + 1) * s->frames / s->bins) - 1;
    last = last > 0.9 * s->frames ? s->frames - 1 : last;
    s->snapshots = most_snapshots(bodies);
    if (s->snapshots > last + 1) {
        s->snapshots = last + 1;
    }
    if (!(all > 0.0) || last <= 0) {  // nothing moves
        s->snapshots = 1;
    }
    if (s->source->ends) {
        last = s->frames - 1;
        s->snapshots = s->frames > 1 ? 2 : 1;
    }
    for (int k = 0; k < s->snapshots; k++) {
        pp_plot_snapshot *snapshot = &s->snapshot[k];
        snapshot->frame =
            s->snapshots == 1 ? s->frames - 1 : (int)((int64_t)last * k / (s->snapshots - 1));
        snapshot->position = PP_ZEROS(s->arena, perp_vec3, bodies);
        snapshot->angle = PP_ZEROS(s->arena, double, bodies);
        snapshot->rotation = PP_ZEROS(s->arena, perp_quat, bodies);
        if (!snapshot->position || !snapshot->angle || !snapshot->rotation) {
            return false;
        }
    }
    return true;
}

// ── Second reading ───────────────────────────────────────────────────────────────────────────────

// A point of the grid of the cone figure: p_n from 0 to its largest, p_f from minus to plus its
// largest. Points of any number of frames take the same room.
static void mark_cone(pp_run_data *s, const contact_sample *now)
{
    if (now->mode == PP_PLOT_OPEN || !(s->pn_most > 0.0) || !isfinite(now->pf + now->pn)) {
        return;
    }
    // From -1 to 1.
    double y = s->pf_most > 0.0 ? now->pf / s->pf_most : 0.0;
    int i = (int)lround(now->pn / s->pn_most * (PP_CONE_X - 1));
    int j = (int)lround(0.5 * (y + 1.0) * (PP_CONE_Y - 1));
    if (i >= 0 && i < PP_CONE_X) {
        s->cone[now->mode == PP_PLOT_SLIP][j * PP_CONE_X + i] = 1;
    }
}

// Mode and curves of a contact. A bin that saw several modes shows that of a closed contact: an
// impact lasts one step, and would be lost.
static void fill_contact(pp_run_data *s, int k, int bin, const perp_snapshot *f,
                         const perp_contact *c)
{
    pp_contact_trace *contact = &s->contact[k];
    contact_sample now = sample_of(s, c);
    if (contact->mode[bin] < (unsigned char)now.mode) {
        contact->mode[bin] = (unsigned char)now.mode;
    }
    if (pp_run_data_is_small(s)) {
        const double values[] = {c->gap, now.pn, now.pf, now.bound, now.use};
        for (int l = 0; l < PP_CONTACT_TRACES; l++) {
            pp_trace_add(&contact->trace[l], bin, l == PP_GAP ? gap_time(s, f) : f->t, values[l]);
        }
    }
}

// The second reading of the contacts of one frame.
static void fill_contacts(pp_run_data *s, int bin, const perp_snapshot *f)
{
    // Contacts of this frame.
    bool seen[PP_ROWS] = {false};
    for (int k = 0; k < f->contacts; k++) {
        contact_sample now = sample_of(s, &f->contact[k]);
        mark_cone(s, &now);
        int at = s->contacts <= PP_ROWS ? find_contact_trace(s, &f->contact[k]) : -1;
        if (at >= 0) {
            seen[at] = true;
            fill_contact(s, at, bin, f, &f->contact[k]);
        }
    }
    // Curves of contacts that are not there now break off.
    int rows = s->contacts <= PP_ROWS ? s->contacts : 0;
    for (int k = 0; k < rows; k++) {
        for (int l = 0; l < PP_CONTACT_TRACES; l++) {
            s->contact[k].trace[l].broken = s->contact[k].trace[l].broken || !seen[k];
        }
    }
}

// Frames are read one at a time: what is shown is copied.
static void fill_snapshots(pp_run_data *s, int frame, const perp_snapshot *f)
{
    size_t bodies = (size_t)s->source->info->bodies;
    for (int k = 0; k < s->snapshots; k++) {
        if (s->snapshot[k].frame == frame) {
            s->snapshot[k].t = f->t;
            memcpy(s->snapshot[k].position, f->position_W, bodies * sizeof(perp_vec3));
            memcpy(s->snapshot[k].angle, f->angle, bodies * sizeof(double));
            if (s->source->info->spatial) {
                memcpy(s->snapshot[k].rotation, f->rotation_WB, bodies * sizeof(perp_quat));
            }
        }
    }
}

// Frame 0 has no contacts: nothing has been solved before it.
static perp_status read_frames(pp_run_data *s, bool second, perp_error *error)
{
    for (int k = 0; k < s->frames; k++) {
        perp_snapshot frame;
        perp_status status = s->source->read(s->source->context, k, &frame, error);
        if (status < 0) {
            return status;
        }
        if (!second) {
            scan(s, k, &frame);
            continue;
        }
        fill_snapshots(s, k, &frame);
        if (k > 0) {
            fill_contacts(s, bin_of(s, k), &frame);
        }
        s->t_before = frame.t;
    }
    return PERP_OK;
}

// Reads all frames twice.
perp_status pp_run_data_collect(const pp_plot_source *source, pp_arena *arena, const perp_env *env,
                                pp_run_data *data, perp_error *error)
{
    int frames = source->info->frames;
    *data = (pp_run_data){.source = source,
                          .env = env,
                          .arena = arena,
                          .frames = frames,
                          .bins = frames < PP_BINS_MOST ? frames : PP_BINS_MOST,
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
    if (!init_contacts(data) || !choose_snapshots(data) || !pp_run_data_events(data)) {
        return pp_fail(error, PERP_ERR_MEMORY, "not enough memory for the contacts of %d frames",
                       frames);
    }
    return read_frames(data, true, error);
}

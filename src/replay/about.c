// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// What the page holds, as JSON.
#include "replay/data.h"

#include <math.h>

// A member of an object that has others before it.
static void put_key(pp_bytes *out, const char *name)
{
    pp_bytes_text(out, ",");
    pp_bytes_quoted(out, name);
    pp_bytes_text(out, ":");
}

// A missing word is an empty one.
static void put_word(pp_bytes *out, const char *name, const char *text)
{
    put_key(out, name);
    pp_bytes_quoted(out, text ? text : "");
}

static void put_number(pp_bytes *out, const char *name, double value)
{
    put_key(out, name);
    pp_bytes_number(out, value);
}

// Counts and indices.
static void put_integer(pp_bytes *out, const char *name, int64_t value)
{
    put_key(out, name);
    pp_bytes_int(out, value);
}

// true or false.
static void put_flag(pp_bytes *out, const char *name, bool value)
{
    put_key(out, name);
    pp_bytes_text(out, value ? "true" : "false");
}

// An array.
static void put_numbers(pp_bytes *out, const char *name, const double *value, int count)
{
    put_key(out, name);
    for (int k = 0; k < count; k++) {
        pp_bytes_text(out, k > 0 ? "," : "[");
        pp_bytes_number(out, value[k]);
    }
    pp_bytes_text(out, count > 0 ? "]" : "[]");
}

static void put_vector(pp_bytes *out, const char *name, perp_vec3 v)
{
    const double value[3] = {v.x, v.y, v.z};
    put_numbers(out, name, value, 3);
}

// ── Words of kinds ───────────────────────────────────────────────────────────────────────────────

// Kinds that a later release may add get a general word; so do the next three.
static const char *body_word(perp_body_kind kind)
{
    static const char *const words[] = {"planar body", "planar particle", "body", "particle"};
    return (size_t)kind < sizeof words / sizeof words[0] ? words[kind] : "body";
}

// Words of the page; the enum has those of mechanics.
static const char *drive_word(perp_motion drive)
{
    switch (drive) {
    case PERP_MOTION_STATIC:
        return "fixed";
    case PERP_MOTION_KINEMATIC:
        return "driven";
    default:
        return "free";
    }
}

// In the order of perp_shape_kind.
static const char *shape_word(perp_shape_kind kind)
{
    static const char *const words[] = {"point",      "disc",        "box",        "polygon",
                                        "capsule",    "segment",     "half-plane", "sphere",
                                        "cylinder",   "cone",        "ellipsoid",  "hull",
                                        "half-space", "heightfield", "mesh"};
    return (size_t)kind < sizeof words / sizeof words[0] ? words[kind] : "shape";
}

// In the order of perp_joint_kind.
static const char *joint_word(perp_joint_kind kind)
{
    static const char *const words[] = {
        "revolute",  "prismatic",   "weld",      "distance", "point on line", "angle",   "gear",
        "spherical", "cylindrical", "universal", "plane",    "screw",         "coupling"};
    return (size_t)kind < sizeof words / sizeof words[0] ? words[kind] : "joint";
}

// ── Lists ────────────────────────────────────────────────────────────────────────────────────────

// An array of objects.
static void begin_list(pp_bytes *out, const char *name)
{
    put_key(out, name);
    pp_bytes_text(out, "[");
}

// An object that begins with its name.
static void put_item(pp_bytes *out, int k, const char *name)
{
    pp_bytes_text(out, k > 0 ? ",\n{\"name\":" : "\n{\"name\":");
    pp_bytes_quoted(out, name ? name : "");
}

// row: of the body in the columns of poses, -1: fixed. Inertia about the centre of mass [kg m2], in
// space xx yy zz xy xz yz in body axes.
static void put_bodies(const pp_replay_data *data, pp_bytes *out)
{
    begin_list(out, "bodies");
    for (int k = 0; k < data->info->bodies; k++) {
        perp_recorded_body body = perp_recording_body(data->recording, (perp_body){k});
        put_item(out, k, body.name);
        put_word(out, "kind", body_word(body.kind));
        put_word(out, "drive", drive_word(body.motion));
        put_integer(out, "row", data->row[k]);
        put_number(out, "mass", body.mass);
        put_numbers(out, "inertia", data->info->spatial ? body.inertia_B : &body.inertia_zz,
                    data->info->spatial ? 6 : 1);
        pp_bytes_text(out, "}");
    }
    pp_bytes_text(out, "]");
}

// Where the vertices, corners and faces of a shape begin in their columns, which hold all shapes.
typedef struct shape_place {
    int64_t vertex, corner, face;
} shape_place;

// Pose in the body frame: position [m] and quaternion w x y z.
static void put_shape(pp_bytes *out, const perp_recorded_shape *s, bool visual, shape_place *at)
{
    // corner_end counts from the first corner of all shapes.
    int64_t corners = s->faces > 0 ? s->corner_end[s->faces - 1] - s->corner_first : 0;
    const perp_quat *q = &s->X_BS.rot;
    const double pose[7] = {s->X_BS.p.x, s->X_BS.p.y, s->X_BS.p.z, q->w, q->x, q->y, q->z};
    put_word(out, "kind", shape_word(s->kind));
    put_integer(out, "body", s->body.i);
    if (!visual) {
        put_number(out, "mu", s->mu);
        put_number(out, "restitution", s->restitution);
    }
    if (s->hidden) {
        put_integer(out, "hidden", 1);
    }
    if (s->colour >= 0) {
        char colour[8];
        pp_print(colour, sizeof colour, "#%06x", (unsigned)s->colour);
        put_word(out, "colour", colour);
    }
    put_number(out, "radius", s->radius);
    put_vector(out, "half", s->half);
    put_numbers(out, "pose", pose, 7);
    put_integer(out, "vertex", at->vertex);
    put_integer(out, "vertices", s->outline_count);
    put_integer(out, "corner", at->corner);
    put_integer(out, "face", at->face);
    put_integer(out, "faces", s->faces);
    pp_bytes_text(out, "}");
    at->vertex += s->outline_count;
    at->corner += corners;
    at->face += s->faces;
}

// Shapes that collide, then those that are only shown.
static void put_shapes(const pp_replay_data *data, pp_bytes *out)
{
    shape_place at = {0};
    begin_list(out, "shapes");
    for (int k = 0; k < data->info->shapes; k++) {
        perp_recorded_shape s = perp_recording_shape(data->recording, (perp_shape){k});
        put_item(out, k, s.name);
        put_shape(out, &s, false, &at);
    }
    pp_bytes_text(out, "]");
    begin_list(out, "visuals");
    for (int k = 0; k < data->info->visuals; k++) {
        perp_recorded_shape s = perp_recording_visual(data->recording, (perp_visual){k});
        put_item(out, k, s.name);
        put_shape(out, &s, true, &at);
    }
    pp_bytes_text(out, "]");
}

// Anchors in the frames of their bodies [m].
static void put_joints(const pp_replay_data *data, pp_bytes *out)
{
    begin_list(out, "joints");
    for (int k = 0; k < data->info->joints; k++) {
        perp_recorded_joint j = perp_recording_joint(data->recording, (perp_joint){k});
        put_item(out, k, j.name);
        put_word(out, "kind", joint_word(j.kind));
        put_integer(out, "a", j.a.i);
        put_integer(out, "b", j.b.i);
        put_vector(out, "anchor_a", j.anchor_A);
        put_vector(out, "anchor_b", j.anchor_B);
        put_vector(out, "axis", j.axis_A);
        pp_bytes_text(out, "}");
    }
    pp_bytes_text(out, "]");
}

// rest: the length without force [m].
static void put_springs(const pp_replay_data *data, pp_bytes *out)
{
    begin_list(out, "springs");
    for (int k = 0; k < data->info->springs; k++) {
        perp_recorded_spring s = perp_recording_spring(data->recording, k);
        put_item(out, k, s.name);
        put_integer(out, "a", s.a.i);
        put_integer(out, "b", s.b.i);
        put_vector(out, "anchor_a", s.anchor_A);
        put_vector(out, "anchor_b", s.anchor_B);
        put_number(out, "rest", s.rest);
        pp_bytes_text(out, "}");
    }
    pp_bytes_text(out, "]");
}

// Pose in the body frame, as of shapes.
static void put_sites(const pp_replay_data *data, pp_bytes *out)
{
    begin_list(out, "sites");
    for (int k = 0; k < data->info->sites; k++) {
        perp_recorded_site s = perp_recording_site(data->recording, (perp_site){k});
        const perp_quat *q = &s.X_BS.rot;
        const double pose[7] = {s.X_BS.p.x, s.X_BS.p.y, s.X_BS.p.z, q->w, q->x, q->y, q->z};
        put_item(out, k, s.name);
        put_integer(out, "body", s.body.i);
        put_numbers(out, "pose", pose, 7);
        pp_bytes_text(out, "}");
    }
    pp_bytes_text(out, "]");
}

// first: its first value in the column of sensors; mean: over the last step, and so unknown at the start. site and body:
// -1 where there is none.
static void put_sensors(const pp_replay_data *data, pp_bytes *out)
{
    begin_list(out, "sensors");
    for (int k = 0; k < data->info->sensors; k++) {
        perp_recorded_sensor s = perp_recording_sensor(data->recording, (perp_sensor){k});
        put_item(out, k, s.name);
        put_word(out, "kind", perp_sensor_kind_word((int)s.kind));
        put_word(out, "unit", s.unit);
        put_integer(out, "first", s.first);
        put_integer(out, "size", s.size);
        put_flag(out, "mean", s.kind >= PERP_SENSOR_ACCELERATION);
        put_integer(out, "site", s.site.i);
        put_integer(out, "body", s.body.i);
        pp_bytes_text(out, "}");
    }
    pp_bytes_text(out, "]");
}

// In the order of the column of inputs.
static void put_inputs(const pp_replay_data *data, pp_bytes *out)
{
    begin_list(out, "inputs");
    for (int k = 0; k < data->info->inputs; k++) {
        put_item(out, k, perp_recording_input_name(data->recording, (perp_input){k}));
        pp_bytes_text(out, "}");
    }
    pp_bytes_text(out, "]");
}

// at: the first byte of the column, among those of all columns.
static void put_columns(const pp_replay_data *data, pp_bytes *out)
{
    int64_t at = 0;
    begin_list(out, "columns");
    for (int k = 0; k < PP_PAGE_COLUMNS; k++) {
        const pp_page_column *c = &data->column[k];
        put_item(out, k, pp_page_column_word[k]);
        put_word(out, "type", pp_cell_word[c->type]);
        put_integer(out, "width", c->width);
        put_integer(out, "rows", c->count);
        put_integer(out, "at", at);
        pp_bytes_text(out, "}");
        at += c->count * c->width * (int64_t)pp_cell_size(c->type);
    }
    pp_bytes_text(out, "]");
}

// ── The run ──────────────────────────────────────────────────────────────────────────────────────

// Settings of the run; limits and shares of the certificate where it came nearest to its limits.
static void put_method(const pp_replay_data *data, pp_bytes *out)
{
    const perp_recording_info *info = data->info;
    put_word(out, "stepper", perp_stepper_word((int)info->stepper));
    put_word(out, "form", perp_form_word((int)info->form));
    put_word(out, "friction", perp_friction_law_word((int)info->friction));
    put_word(out, "impact", perp_impact_law_word((int)info->impact));
    put_word(out, "solver", info->solver);
    put_number(out, "h", info->h);
    put_number(out, "tolerance", info->tolerance);
    put_number(out, "margin", info->margin);
    put_integer(out, "facets", info->facets);
    put_integer(out, "every", info->every);
    put_flag(out, "complete", info->complete);
    put_numbers(out, "limits", data->limit, PP_CERTIFICATE_WIDTH);
    put_numbers(out, "shares", data->relative, PP_CERTIFICATE_WIDTH);
    // estimated error of the motion [m]; -1: unknown, 0: not estimated
    put_number(out, "motion_error", isfinite(data->motion_error) ? data->motion_error : -1.0);
}

// format: to be raised when the viewer can no longer read older pages.
void pp_about_write(const pp_replay_data *data, const perp_replay_def *def, pp_bytes *out)
{
    const perp_recording_info *info = data->info;
    // snaps: frames with contacts; points: moments of the series.
    pp_bytes_text(out, "{\"format\":1");
    put_word(out, "perp", perp_version());
    put_word(out, "name", info->name);
    put_word(out, "remark", def->remark);
    put_flag(out, "spatial", info->spatial);
    put_flag(out, "live", def->live);
    put_method(data, out);
    put_integer(out, "frames", info->frames);
    put_integer(out, "poses", data->plan.poses.count);
    put_integer(out, "snaps", data->plan.contacts.count);
    put_integer(out, "points", data->plan.series.count);
    put_flag(out, "coarse", data->plan.coarse);
    put_number(out, "megabytes", def->megabytes);
    put_bodies(data, out);
    put_shapes(data, out);
    put_joints(data, out);
    put_springs(data, out);
    put_sites(data, out);
    put_sensors(data, out);
    put_inputs(data, out);
    put_columns(data, out);
    pp_bytes_text(out, "}");
}

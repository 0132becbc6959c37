// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// What the page holds, as JSON.
#include "replay/reel.h"

static void key(pp_bytes *out, const char *name)
{
    pp_bytes_text(out, ",");
    pp_bytes_quoted(out, name);
    pp_bytes_text(out, ":");
}

static void put_word(pp_bytes *out, const char *name, const char *text)
{
    key(out, name);
    pp_bytes_quoted(out, text ? text : "");
}

static void put_number(pp_bytes *out, const char *name, double value)
{
    key(out, name);
    pp_bytes_number(out, value);
}

static void put_integer(pp_bytes *out, const char *name, int64_t value)
{
    key(out, name);
    pp_bytes_int(out, value);
}

static void put_flag(pp_bytes *out, const char *name, bool value)
{
    key(out, name);
    pp_bytes_text(out, value ? "true" : "false");
}

static void numbers(pp_bytes *out, const char *name, const double *value, int count)
{
    key(out, name);
    for (int k = 0; k < count; k++) {
        pp_bytes_text(out, k > 0 ? "," : "[");
        pp_bytes_number(out, value[k]);
    }
    pp_bytes_text(out, count > 0 ? "]" : "[]");
}

static void vector(pp_bytes *out, const char *name, perp_vec3 v)
{
    const double value[3] = {v.x, v.y, v.z};
    numbers(out, name, value, 3);
}

// ── Words of kinds ───────────────────────────────────────────────────────────────────────────────

static const char *body_word(perp_body_kind kind)
{
    static const char *const words[] = {"planar body", "planar particle", "body", "particle"};
    return (size_t)kind < sizeof words / sizeof words[0] ? words[kind] : "body";
}

static const char *drive_word(perp_motion drive)
{
    return drive == PERP_MOTION_STATIC      ? "fixed"
           : drive == PERP_MOTION_KINEMATIC ? "driven"
                                            : "free";
}

static const char *shape_word(perp_shape_kind kind)
{
    static const char *const words[] = {"point",      "disc",        "box",        "polygon",
                                        "capsule",    "segment",     "half-plane", "sphere",
                                        "cylinder",   "cone",        "ellipsoid",  "hull",
                                        "half-space", "heightfield", "mesh"};
    return (size_t)kind < sizeof words / sizeof words[0] ? words[kind] : "shape";
}

static const char *joint_word(perp_joint_kind kind)
{
    static const char *const words[] = {"revolute",      "prismatic", "weld",  "distance",
                                        "point on line", "angle",     "gear",  "spherical",
                                        "cylindrical",   "universal", "plane", "screw"};
    return (size_t)kind < sizeof words / sizeof words[0] ? words[kind] : "joint";
}

// ── Lists ────────────────────────────────────────────────────────────────────────────────────────

static void begin_list(pp_bytes *out, const char *name)
{
    key(out, name);
    pp_bytes_text(out, "[");
}

static void put_item(pp_bytes *out, int k, const char *name)
{
    pp_bytes_text(out, k > 0 ? ",\n{\"name\":" : "\n{\"name\":");
    pp_bytes_quoted(out, name ? name : "");
}

static void bodies(const pp_replay_data *data, pp_bytes *out)
{
    begin_list(out, "bodies");
    for (int k = 0; k < data->info->bodies; k++) {
        perp_recorded_body body = perp_recording_body(data->recording, (perp_body){k});
        put_item(out, k, body.name);
        put_word(out, "kind", body_word(body.kind));
        put_word(out, "drive", drive_word(body.motion));
        put_integer(out, "row", data->row[k]);
        put_number(out, "mass", body.mass);
        numbers(out, "inertia", data->info->spatial ? body.inertia_B : &body.inertia_zz,
                data->info->spatial ? 6 : 1);
        pp_bytes_text(out, "}");
    }
    pp_bytes_text(out, "]");
}

static void shapes(const pp_replay_data *data, pp_bytes *out)
{
    int64_t vertex = 0, corner = 0, face = 0;
    begin_list(out, "shapes");
    for (int k = 0; k < data->info->shapes; k++) {
        perp_recorded_shape s = perp_recording_shape(data->recording, (perp_shape){k});
        int64_t corners = s.faces > 0 ? s.corner_end[s.faces - 1] - s.corner_first : 0;
        const perp_quat *q = &s.X_BS.rot;
        const double pose[7] = {s.X_BS.p.x, s.X_BS.p.y, s.X_BS.p.z, q->w, q->x, q->y, q->z};
        put_item(out, k, s.name);
        put_word(out, "kind", shape_word(s.kind));
        put_integer(out, "body", s.body.i);
        put_number(out, "mu", s.mu);
        put_number(out, "restitution", s.restitution);
        put_number(out, "radius", s.radius);
        vector(out, "half", s.half);
        numbers(out, "pose", pose, 7);
        put_integer(out, "vertex", vertex);
        put_integer(out, "vertices", s.outline_count);
        put_integer(out, "corner", corner);
        put_integer(out, "face", face);
        put_integer(out, "faces", s.faces);
        pp_bytes_text(out, "}");
        vertex += s.outline_count;
        corner += corners;
        face += s.faces;
    }
    pp_bytes_text(out, "]");
}

static void joints(const pp_replay_data *data, pp_bytes *out)
{
    begin_list(out, "joints");
    for (int k = 0; k < data->info->joints; k++) {
        perp_recorded_joint j = perp_recording_joint(data->recording, (perp_joint){k});
        put_item(out, k, j.name);
        put_word(out, "kind", joint_word(j.kind));
        put_integer(out, "a", j.a.i);
        put_integer(out, "b", j.b.i);
        vector(out, "anchor_a", j.anchor_A);
        vector(out, "anchor_b", j.anchor_B);
        vector(out, "axis", j.axis_A);
        pp_bytes_text(out, "}");
    }
    pp_bytes_text(out, "]");
}

static void springs(const pp_replay_data *data, pp_bytes *out)
{
    begin_list(out, "springs");
    for (int k = 0; k < data->info->springs; k++) {
        perp_recorded_spring s = perp_recording_spring(data->recording, k);
        put_item(out, k, s.name);
        put_integer(out, "a", s.a.i);
        put_integer(out, "b", s.b.i);
        vector(out, "anchor_a", s.anchor_A);
        vector(out, "anchor_b", s.anchor_B);
        put_number(out, "rest", s.rest);
        pp_bytes_text(out, "}");
    }
    pp_bytes_text(out, "]");
}

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
    numbers(out, "limits", data->limit, PP_CERTIFICATE_WIDTH);
    numbers(out, "shares", data->relative, PP_CERTIFICATE_WIDTH);
}

void pp_about_write(const pp_replay_data *data, const perp_replay_def *def, pp_bytes *out)
{
    const perp_recording_info *info = data->info;
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
    bodies(data, out);
    shapes(data, out);
    joints(data, out);
    springs(data, out);
    put_columns(data, out);
    pp_bytes_text(out, "}");
}

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

static void word(pp_bytes *out, const char *name, const char *text)
{
    key(out, name);
    pp_bytes_quoted(out, text ? text : "");
}

static void number(pp_bytes *out, const char *name, double value)
{
    key(out, name);
    pp_bytes_number(out, value);
}

static void integer(pp_bytes *out, const char *name, int64_t value)
{
    key(out, name);
    pp_bytes_int(out, value);
}

static void flag(pp_bytes *out, const char *name, bool value)
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

static const char *drive_word(perp_drive drive)
{
    return drive == PERP_FIXED ? "fixed" : drive == PERP_DRIVEN ? "driven" : "free";
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

static void list(pp_bytes *out, const char *name)
{
    key(out, name);
    pp_bytes_text(out, "[");
}

static void item(pp_bytes *out, int k, const char *name)
{
    pp_bytes_text(out, k > 0 ? ",\n{\"name\":" : "\n{\"name\":");
    pp_bytes_quoted(out, name ? name : "");
}

static void bodies(const pp_reel *reel, pp_bytes *out)
{
    list(out, "bodies");
    for (int k = 0; k < reel->info->bodies; k++) {
        perp_recorded_body body = perp_recording_body(reel->recording, (perp_body){k});
        item(out, k, body.name);
        word(out, "kind", body_word(body.kind));
        word(out, "drive", drive_word(body.drive));
        integer(out, "row", reel->row[k]);
        number(out, "mass", body.mass);
        numbers(out, "inertia", reel->info->spatial ? body.inertia3 : &body.inertia,
                reel->info->spatial ? 6 : 1);
        pp_bytes_text(out, "}");
    }
    pp_bytes_text(out, "]");
}

static void shapes(const pp_reel *reel, pp_bytes *out)
{
    int64_t vertex = 0, corner = 0, face = 0;
    list(out, "shapes");
    for (int k = 0; k < reel->info->shapes; k++) {
        perp_recorded_shape s = perp_recording_shape(reel->recording, (perp_shape){k});
        int64_t corners = s.faces > 0 ? s.corner_end[s.faces - 1] - s.corner_first : 0;
        const perp_quat *q = &s.pose.rot;
        const double pose[7] = {s.pose.p.x, s.pose.p.y, s.pose.p.z, q->w, q->x, q->y, q->z};
        item(out, k, s.name);
        word(out, "kind", shape_word(s.kind));
        integer(out, "body", s.body.i);
        number(out, "mu", s.mu);
        number(out, "restitution", s.restitution);
        number(out, "radius", s.radius);
        vector(out, "half", s.half);
        numbers(out, "pose", pose, 7);
        integer(out, "vertex", vertex);
        integer(out, "vertices", s.outline_count);
        integer(out, "corner", corner);
        integer(out, "face", face);
        integer(out, "faces", s.faces);
        pp_bytes_text(out, "}");
        vertex += s.outline_count;
        corner += corners;
        face += s.faces;
    }
    pp_bytes_text(out, "]");
}

static void joints(const pp_reel *reel, pp_bytes *out)
{
    list(out, "joints");
    for (int k = 0; k < reel->info->joints; k++) {
        perp_recorded_joint j = perp_recording_joint(reel->recording, (perp_joint){k});
        item(out, k, j.name);
        word(out, "kind", joint_word(j.kind));
        integer(out, "a", j.a.i);
        integer(out, "b", j.b.i);
        vector(out, "anchor_a", j.anchor_a);
        vector(out, "anchor_b", j.anchor_b);
        vector(out, "axis", j.axis);
        pp_bytes_text(out, "}");
    }
    pp_bytes_text(out, "]");
}

static void springs(const pp_reel *reel, pp_bytes *out)
{
    list(out, "springs");
    for (int k = 0; k < reel->info->springs; k++) {
        perp_recorded_spring s = perp_recording_spring(reel->recording, k);
        item(out, k, s.name);
        integer(out, "a", s.a.i);
        integer(out, "b", s.b.i);
        vector(out, "anchor_a", s.anchor_a);
        vector(out, "anchor_b", s.anchor_b);
        number(out, "rest", s.rest);
        pp_bytes_text(out, "}");
    }
    pp_bytes_text(out, "]");
}

static void columns(const pp_reel *reel, pp_bytes *out)
{
    int64_t at = 0;
    list(out, "columns");
    for (int k = 0; k < PP_COLUMNS; k++) {
        const pp_column *c = &reel->column[k];
        item(out, k, pp_column_word[k]);
        word(out, "type", pp_cell_word[c->type]);
        integer(out, "width", c->width);
        integer(out, "rows", c->count);
        integer(out, "at", at);
        pp_bytes_text(out, "}");
        at += c->count * c->width * (int64_t)pp_cell_size(c->type);
    }
    pp_bytes_text(out, "]");
}

// ── The run ──────────────────────────────────────────────────────────────────────────────────────

static void method(const pp_reel *reel, pp_bytes *out)
{
    const perp_recording_info *info = reel->info;
    word(out, "stepper", perp_stepper_word((int)info->stepper));
    word(out, "form", perp_form_word((int)info->form));
    word(out, "friction", perp_friction_word((int)info->friction));
    word(out, "impact", perp_impact_word((int)info->impact));
    word(out, "solver", info->solver);
    number(out, "h", info->h);
    number(out, "tolerance", info->tolerance);
    number(out, "margin", info->margin);
    integer(out, "facets", info->facets);
    integer(out, "every", info->every);
    flag(out, "complete", info->complete);
    numbers(out, "limits", reel->limit, PP_CERTIFICATE_WIDTH);
    numbers(out, "shares", reel->relative, PP_CERTIFICATE_WIDTH);
}

void pp_about_write(const pp_reel *reel, const perp_replay_def *def, pp_bytes *out)
{
    const perp_recording_info *info = reel->info;
    pp_bytes_text(out, "{\"format\":1");
    word(out, "perp", perp_version());
    word(out, "name", info->name);
    word(out, "remark", def->remark);
    flag(out, "spatial", info->spatial);
    flag(out, "live", def->live);
    method(reel, out);
    integer(out, "frames", info->frames);
    integer(out, "poses", reel->plan.poses.count);
    integer(out, "snaps", reel->plan.contacts.count);
    integer(out, "points", reel->plan.series.count);
    flag(out, "coarse", reel->plan.coarse);
    number(out, "megabytes", def->megabytes);
    bodies(reel, out);
    shapes(reel, out);
    joints(reel, out);
    springs(reel, out);
    columns(reel, out);
    pp_bytes_text(out, "}");
}

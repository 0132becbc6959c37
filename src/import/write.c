// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// A robot as the text of a scene: what all parts of it share, and the order of the parts.
//
// Bodies without joints are parts of the bodies that carry them. The frame of a body of the scene is at the centre
// of mass of such a group, with the axes of its first body. Between the joints of a body that has several there are
// massless bodies. Joints are given by anchors and axes in body frames, with coordinates as in the model.
#include "import/write.h"

#include <string.h>

// ── Names and notes ──────────────────────────────────────────────────────────────────────────────

void pp_write_memory(pp_robot_writer *w)
{
    if (w->status == PERP_OK) {
        w->status = pp_fail(w->error, PERP_ERR_MEMORY, "not enough memory for this model");
    }
}

// Names of scenes have at most 60 bytes, and braces or dots could mean something else.
const char *pp_write_name(pp_robot_writer *w, pp_robot_list list, const char *name)
{
    char *own = PP_ARRAY(w->robot->arena, char, PP_SCENE_NAME_MOST + 1);
    if (!own) {
        pp_write_memory(w);
        return "";
    }
    // a name that is taken gets a number at its end
    for (int k = 0; k < 100000; k++) {
        char tail[16] = "";
        if (k > 0) {
            pp_print(tail, sizeof tail, "_%d", k);
        }
        pp_print(own, PP_SCENE_NAME_MOST + 1, "%.*s%s", PP_SCENE_NAME_MOST - (int)strlen(tail),
                 name, tail);
        for (char *c = own; *c; c++) {
            *c = strchr(".{}[]\"\\", *c) || (unsigned char)*c < ' ' ? '_' : *c;
        }
        bool full = false;
        if (pp_robot_enter(&w->names, list, own, 0, &full)) {
            return own;
        }
        if (full) {
            break;
        }
    }
    pp_write_memory(w);
    return "";
}

void pp_write_unused(pp_robot_writer *w, const pp_xml *at, const char *what, const char *why)
{
    pp_report_add(w->report, PERP_IMPORT_NOT_USED, at, what, why);
}

// ── Preparations ─────────────────────────────────────────────────────────────────────────────────

bool pp_robot_collides(const pp_robot_geom *geom)
{
    return geom->contype || geom->conaffinity || geom->paired;
}

// Mass, frame and name of each group of bodies.
static void weigh_groups(pp_robot_writer *w)
{
    pp_robot *robot = w->robot;
    for (int i = 1; i < robot->bodies; i++) {
        const pp_robot_body *body = &robot->body[i];
        int root = body->carrier;
        w->weightless = w->weightless || body->gravcomp != 0.0;
        if (root == 0) {
            continue;
        }
        // Its pose in the frame of the first body of the group.
        pp_mat3 Rt = pp_transpose3(&w->pose[root].R);
        pp_pose X = {pp_pose_local(&w->pose[root], w->pose[i].p), pp_mat_mul(&Rt, &w->pose[i].R)};
        if (root == i) {
            X = (pp_pose){{0.0, 0.0, 0.0}, pp_identity3()};
        }
        pp_robot_mass own = {body->mass, body->com, body->inertia};
        pp_robot_mass_add(&w->group[root], &own, &X);
    }
    for (int i = robot->bodies - 1; i > 0; i--) {
        const pp_robot_body *body = &robot->body[i];
        w->moves_mass[i] = w->moves_mass[i] || w->group[i].mass > 0.0;
        w->moves_mass[body->parent] = w->moves_mass[body->parent] || w->moves_mass[i];
    }
    for (int i = 1; i < robot->bodies; i++) {
        if (robot->body[i].carrier == i && w->group[i].mass > 0.0 &&
            pp_robot_mass_mend(&w->group[i])) {
            pp_report_add(w->report, PERP_IMPORT_REPAIRED, robot->body[i].at,
                          "inertias that are not positive or break the triangle inequality",
                          "the least inertia is added that makes them possible");
        }
    }
    w->body_name[0] = "ground";
    w->frame[0] = (pp_pose){{0.0, 0.0, 0.0}, pp_identity3()};
    for (int i = 1; i < robot->bodies; i++) {
        if (robot->body[i].carrier == i) {
            w->frame[i] = (pp_pose){pp_pose_point(&w->pose[i], w->group[i].com), w->pose[i].R};
            w->body_name[i] = pp_write_name(w, PP_ROBOT_LIST_body, robot->body[i].name);
        }
    }
}

// Names of joints, and of the massless bodies between them.
static void name_joints(pp_robot_writer *w)
{
    pp_robot *robot = w->robot;
    for (int j = 0; j < robot->joints; j++) {
        if (w->status < 0) {
            break;
        }
        const pp_robot_joint *joint = &robot->joint[j];
        const pp_robot_body *body = &robot->body[joint->body];
        if (joint->kind == PP_ROBOT_FREE) {
            continue;
        }
        w->joint_name[j] = pp_write_name(w, PP_ROBOT_LIST_joint, joint->name);
        if (j < body->joint + body->joints - 1) {
            char text[200];
            pp_print(text, sizeof text, "%.60s after %.60s", body->name, joint->name);
            w->stage_name[j] = pp_write_name(w, PP_ROBOT_LIST_body, text);
        }
    }
}

// Which bodies have all colliding shapes of their group: exclusions of bodies then are those of the scene.
static void find_alone(pp_robot_writer *w)
{
    const pp_robot *robot = w->robot;
    int *owner = PP_ARRAY(robot->arena, int, robot->bodies);
    if (!owner) {
        pp_write_memory(w);
        return;
    }
    for (int i = 0; i < robot->bodies; i++) {
        owner[i] = -1;
    }
    for (int k = 0; k < robot->geoms; k++) {
        const pp_robot_geom *geom = &robot->geom[k];
        int root = robot->body[geom->body].carrier;
        if (pp_robot_collides(geom)) {
            owner[root] = owner[root] == -1 || owner[root] == geom->body ? geom->body : -2;
        }
    }
    for (int i = 0; i < robot->bodies; i++) {
        int only = owner[robot->body[i].carrier];
        w->alone[i] = only == -1 || only == i;
    }
}

static bool prepare(pp_robot_writer *w, int key)
{
    pp_robot *robot = w->robot;
    size_t n = (size_t)robot->bodies, m = (size_t)robot->joints + 1;
    double *q = pp_robot_reference(robot);
    const pp_robot_key *start = key >= 0 ? &robot->key[key] : NULL;
    // Arrays by body, joint and group.
    w->pose = PP_ZEROS(robot->arena, pp_pose, n);
    w->pose0 = PP_ZEROS(robot->arena, pp_pose, n);
    w->body_twist = PP_ZEROS(robot->arena, perp_twist, n);
    w->q0 = q;
    w->after = PP_ZEROS(robot->arena, pp_pose, m);
    w->twist = PP_ZEROS(robot->arena, perp_twist, m);
    w->group = PP_ZEROS(robot->arena, pp_robot_mass, n);
    w->frame = PP_ZEROS(robot->arena, pp_pose, n);
    w->body_name = PP_ZEROS(robot->arena, const char *, n);
    w->joint_name = PP_ZEROS(robot->arena, const char *, m);
    w->stage_name = PP_ZEROS(robot->arena, const char *, m);
    w->tendon_name = PP_ZEROS(robot->arena, const char *, robot->tendons + 1);
    w->alone = PP_ZEROS(robot->arena, bool, n);
    w->moves_mass = PP_ZEROS(robot->arena, bool, n);
    w->names.arena = robot->arena;
    bool full = false;
    if (!q || !w->pose || !w->pose0 || !w->body_twist || !w->after || !w->twist || !w->group ||
        !w->frame || !w->body_name || !w->joint_name || !w->stage_name || !w->tendon_name ||
        !w->alone || !w->moves_mass ||
        !pp_robot_enter(&w->names, PP_ROBOT_LIST_body, "ground", 0, &full)) {
        pp_write_memory(w);
        return false;
    }
    w->q = start && start->qpos ? start->qpos : q;
    w->v = start ? start->qvel : NULL;
    w->ctrl = start ? start->ctrl : NULL;
    pp_robot_poses(robot, w->q, w->pose, w->after);
    pp_robot_poses(robot, q, w->pose0, NULL);
    if (w->v) {
        pp_robot_velocities(robot, w->pose, w->after, w->v, w->twist, w->body_twist);
    }
    weigh_groups(w);
    name_joints(w);
    find_alone(w);
    return w->status == PERP_OK;
}

// ── Lists ────────────────────────────────────────────────────────────────────────────────────────

// "key": [ ... ], with the objects on lines of their own.
void pp_write_open(pp_robot_writer *w, const char *key)
{
    pp_text_add(&w->t, ",\n \"");
    pp_text_add(&w->t, key);
    pp_text_add(&w->t, "\": [");
    w->separator = "\n  ";
}

void pp_write_next(pp_robot_writer *w, const char *name)
{
    pp_text_add(&w->t, w->separator);
    w->separator = ",\n  ";
    pp_text_add(&w->t, "{\"name\": ");
    pp_text_quoted(&w->t, name);
}

void pp_write_close(pp_robot_writer *w)
{
    pp_text_add(&w->t, "]");
}

// ── The scene ────────────────────────────────────────────────────────────────────────────────────

static void put_head(pp_robot_writer *w)
{
    const pp_robot *robot = w->robot;
    char name[PP_SCENE_NAME_MOST + 1];
    pp_print(name, sizeof name, "%s", robot->name && *robot->name ? robot->name : "robot");
    pp_text_add(&w->t, "{\n \"name\": ");
    pp_text_quoted(&w->t, name);
    pp_text_add(&w->t, ",\n \"step\": ");
    pp_text_short(&w->t, robot->timestep);
    pp_text_add(&w->t, ",\n \"until\": 1,\n \"gravity\": ");
    pp_text_vec3(&w->t, robot->gravity);
    pp_text_add(&w->t, ",\n \"coordinates\": \"auto\"");
    if (robot->no_contact) {
        pp_text_add(&w->t, ",\n \"listed_only\": true");
        pp_report_add(w->report, PERP_IMPORT_USED, NULL, "contact is switched off by the model",
                      "");
    }
}

static void put_joints(pp_robot_writer *w)
{
    const pp_robot *robot = w->robot;
    pp_write_open(w, "joints");
    for (int j = 0; j < robot->joints; j++) {
        if (robot->joint[j].kind != PP_ROBOT_FREE) {
            pp_write_joint(w, j);
        } else if (robot->joint[j].damping > 0.0 || robot->joint[j].stiffness > 0.0 ||
                   robot->joint[j].armature > 0.0 || robot->joint[j].friction > 0.0) {
            pp_write_unused(w, robot->joint[j].at,
                            "damping, stiffness, armature and friction of free joints",
                            "scenes have these for joints with one coordinate");
        }
    }
    // links that were kept as bodies of their own are welded to what carries them
    for (int i = 1; i < robot->bodies; i++) {
        if (robot->body[i].carrier == i && robot->body[i].joints == 0 &&
            !pp_write_still(robot, i)) {
            pp_write_weld(w, i);
        }
    }
    for (int k = 0; k < robot->tendons; k++) {
        pp_write_tendon(w, k);
    }
    for (int k = 0; k < robot->equalities; k++) {
        if (robot->equality[k].kind <= PP_ROBOT_WELD) {
            pp_write_link(w, &robot->equality[k]);
        } else {
            pp_write_coupling(w, &robot->equality[k]);
        }
    }
    pp_write_close(w);
}

static void count_used(pp_robot_writer *w, int count, const char *one, const char *many)
{
    if (count > 0) {
        pp_report_say(w->report, PERP_IMPORT_USED, NULL, "%d %s", count, count == 1 ? one : many);
    }
}

// What was used, in numbers.
static void note_rest(pp_robot_writer *w, int key)
{
    const pp_robot *robot = w->robot;
    int shapes = 0;
    for (int k = 0; k < robot->geoms; k++) {
        shapes += pp_robot_collides(&robot->geom[k]);
    }
    count_used(w, robot->bodies - 1, "body", "bodies");
    count_used(w, robot->joints, "joint", "joints");
    count_used(w, shapes, "shape that collides", "shapes that collide");
    count_used(w, robot->actuators, "actuator", "actuators");
    if (key >= 0) {
        pp_report_say(w->report, PERP_IMPORT_USED, robot->key[key].at,
                      "keyframe '%.60s' as the start", robot->key[key].name);
    }
    for (int i = 0; i < robot->bodies; i++) {
        if (robot->body[i].mocap) {
            pp_report_add(w->report, PERP_IMPORT_ASSUMED, robot->body[i].at,
                          "bodies with mocap=\"true\" rest", "");
        }
    }
}

// Without friction of its own, a shape of condim 1 takes that of the other: MuJoCo takes the larger of both.
static void note_friction(pp_robot_writer *w)
{
    const pp_robot *robot = w->robot;
    double least = PP_INF;
    for (int k = 0; k < robot->geoms; k++) {
        const pp_robot_geom *geom = &robot->geom[k];
        if (pp_robot_collides(geom) && geom->condim >= 3 && geom->friction[0] < least) {
            least = geom->friction[0];
        }
    }
    for (int k = 0; k < robot->geoms; k++) {
        const pp_robot_geom *geom = &robot->geom[k];
        if (pp_robot_collides(geom) && geom->condim == 1 && geom->friction[0] > least) {
            pp_report_add(w->report, PERP_IMPORT_ASSUMED, geom->at,
                          "shapes of condim 1 have no friction of their own",
                          "in MuJoCo theirs would count against shapes with less");
        }
    }
}

// What became of the model, for people who have the scene alone.
static void put_description(pp_robot_writer *w)
{
    static const char *const heads[] = {"", "Not used: ", "Repaired: ", "Assumed: "};
    char text[1500];
    pp_print(text, sizeof text, "Imported from %.100s.", w->report->main_file);
    for (int kind = PERP_IMPORT_NOT_USED; kind <= PERP_IMPORT_ASSUMED; kind++) {
        const char *before = NULL;
        for (const pp_note *note = w->report->first; note; note = note->next) {
            size_t used = strlen(text);
            if ((int)note->note.kind != kind || used + 200 > sizeof text) {
                continue;
            }
            pp_print(text + used, sizeof text - used, "%s%s%.150s", before ? before : " ",
                     before ? "" : heads[kind], note->note.what);
            before = "; ";
        }
        if (before && strlen(text) + 2 < sizeof text) {
            pp_print(text + strlen(text), sizeof text - strlen(text), ".");
        }
    }
    pp_text_add(&w->t, ",\n \"description\": ");
    pp_text_quoted(&w->t, text);
}

perp_status pp_robot_write(pp_robot *robot, int key, pp_import_report *report, char **text,
                           size_t *size, perp_error *error)
{
    pp_robot_writer w = {
        .robot = robot, .report = report, .error = error, .t = {.arena = robot->arena}};
    int *first = NULL, *next = NULL;
    if (!prepare(&w, key) || !pp_write_sort_shapes(&w, &first, &next)) {
        return w.status;
    }
    put_head(&w);
    pp_write_open(&w, "shapes");
    pp_write_shapes(&w, 0, first, next);
    pp_write_close(&w);
    pp_write_open(&w, "bodies");
    for (int i = 1; i < robot->bodies; i++) {
        if (w.status < 0) {
            break;
        }
        if (robot->body[i].carrier == i) {
            pp_write_body(&w, i, first, next);
        }
    }
    if (w.separator[0] != ',') {
        // A scene without solids would be one of the plane.
        pp_write_next(&w, pp_write_name(&w, PP_ROBOT_LIST_body, "nothing moves"));
        pp_text_add(&w.t, ", \"kind\": \"solid\", \"drive\": \"fixed\"}");
        pp_report_add(report, PERP_IMPORT_ASSUMED, NULL, "the model has no body that moves",
                      "the first link of a URDF file can be freed (--free-base)");
    }
    pp_write_close(&w);
    pp_write_visuals(&w);
    put_joints(&w);
    pp_write_actuators(&w);
    pp_write_prepare_sensors(&w);
    pp_write_sites(&w);
    pp_write_sensors(&w);
    pp_write_keyframes(&w);
    pp_write_excludes(&w);
    pp_write_open(&w, "pairs");
    for (int k = 0; k < robot->pairs; k++) {
        pp_write_pair(&w, &robot->pair[k]);
    }
    for (int k = 0; k < robot->excludes; k++) {
        pp_write_ignored(&w, &robot->exclude[k], first, next);
    }
    pp_write_close(&w);
    note_friction(&w);
    note_rest(&w, key);
    put_description(&w);
    pp_text_add(&w.t, "\n}\n");
    if (w.status == PERP_OK && (w.t.failed || report->full)) {
        pp_write_memory(&w);
    }
    if (w.status == PERP_OK && w.t.infinite) {
        w.status =
            pp_fail(error, PERP_ERR_NUMERIC,
                    "a mass, position or size is too large, or follows from numbers that are");
    }
    *text = w.t.data;
    *size = w.t.size;
    return w.status;
}

// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// A robot as the text of a scene.
//
// Bodies without joints are parts of the bodies that carry them. The frame of a body of the scene is at the centre
// of mass of such a group, with the axes of its first body. Between the joints of a body that has several there are
// massless bodies. Joints are given by anchors and axes in body frames, with coordinates as in the model.
#include "import/robot.h"
#include "import/text.h"

#include <math.h>
#include <string.h>

enum { NAME_MOST = 60, IGNORED_MOST = 20 * 1000 * 1000 };

typedef struct robot_writer {
    pp_robot *robot;
    pp_import_report *report;
    perp_error *error;
    pp_json_text t;
    perp_status status;
    const double *q, *v, *ctrl;  // the start; ctrl NULL: none
    pp_pose *pose, *after;       // of bodies; of frames after each joint
    perp_twist *twist;           // after each joint
    pp_robot_mass *group;        // by root body, in its frame
    pp_pose *frame;              // of the scene's bodies, by root body
    const char **body_name;      // in the scene, by root body
    const char **joint_name;     // in the scene
    const char **tendon_name;    // in the scene; NULL: the tendon is not in it
    const char **stage_name;     // of the massless body after a joint
    bool *alone;                 // body: the only one with shapes in its group
    bool *moves_mass;            // root body: it, or a body that it carries, has mass
    pp_robot names;              // tables of the names in the scene
    bool weightless;             // some body has gravity compensation
    int ignored;                 // pairs of shapes that were tried
    const char *separator;       // before the next object of a list
} robot_writer;

// ── Names and notes ──────────────────────────────────────────────────────────────────────────────

static void no_memory(robot_writer *w)
{
    if (w->status == PERP_OK) {
        w->status = pp_fail(w->error, PERP_ERR_MEMORY, "not enough memory for this model");
    }
}

// Names of scenes have at most 60 bytes, and braces or dots could mean something else.
static const char *scene_name(robot_writer *w, pp_robot_list list, const char *name)
{
    char *own = PP_ARRAY(w->robot->arena, char, NAME_MOST + 1);
    if (!own) {
        no_memory(w);
        return "";
    }
    for (int k = 0; k < 100000; k++) {
        char tail[16] = "";
        if (k > 0) {
            pp_print(tail, sizeof tail, "_%d", k);
        }
        pp_print(own, NAME_MOST + 1, "%.*s%s", NAME_MOST - (int)strlen(tail), name, tail);
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
    no_memory(w);
    return "";
}

static void unused(robot_writer *w, const pp_xml *at, const char *what, const char *why)
{
    pp_report_add(w->report, PERP_IMPORT_NOT_USED, at, what, why);
}

// ── Preparations ─────────────────────────────────────────────────────────────────────────────────

static bool collides(const pp_robot_geom *geom)
{
    return geom->contype || geom->conaffinity || geom->paired;
}

// Mass, frame and name of each group of bodies.
static void weigh_groups(robot_writer *w)
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
            w->body_name[i] = scene_name(w, PP_ROBOT_LIST_body, robot->body[i].name);
        }
    }
}

// Names of joints, and of the massless bodies between them.
static void name_joints(robot_writer *w)
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
        w->joint_name[j] = scene_name(w, PP_ROBOT_LIST_joint, joint->name);
        if (j < body->joint + body->joints - 1) {
            char text[200];
            pp_print(text, sizeof text, "%.60s after %.60s", body->name, joint->name);
            w->stage_name[j] = scene_name(w, PP_ROBOT_LIST_body, text);
        }
    }
}

// Which bodies have all colliding shapes of their group: exclusions of bodies then are those of the scene.
static void find_alone(robot_writer *w)
{
    const pp_robot *robot = w->robot;
    int *owner = PP_ARRAY(robot->arena, int, robot->bodies);
    if (!owner) {
        no_memory(w);
        return;
    }
    for (int i = 0; i < robot->bodies; i++) {
        owner[i] = -1;
    }
    for (int k = 0; k < robot->geoms; k++) {
        const pp_robot_geom *geom = &robot->geom[k];
        int root = robot->body[geom->body].carrier;
        if (collides(geom)) {
            owner[root] = owner[root] == -1 || owner[root] == geom->body ? geom->body : -2;
        }
    }
    for (int i = 0; i < robot->bodies; i++) {
        int only = owner[robot->body[i].carrier];
        w->alone[i] = only == -1 || only == i;
    }
}

static bool prepare(robot_writer *w, int key)
{
    pp_robot *robot = w->robot;
    size_t n = (size_t)robot->bodies, m = (size_t)robot->joints + 1;
    double *q = pp_robot_reference(robot);
    const pp_robot_key *start = key >= 0 ? &robot->key[key] : NULL;
    // Arrays by body, joint and group.
    w->pose = PP_ZEROS(robot->arena, pp_pose, n);
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
    if (!q || !w->pose || !w->after || !w->twist || !w->group || !w->frame || !w->body_name ||
        !w->joint_name || !w->stage_name || !w->tendon_name || !w->alone || !w->moves_mass ||
        !pp_robot_enter(&w->names, PP_ROBOT_LIST_body, "ground", 0, &full)) {
        no_memory(w);
        return false;
    }
    w->q = start && start->qpos ? start->qpos : q;
    w->v = start ? start->qvel : NULL;
    w->ctrl = start ? start->ctrl : NULL;
    pp_robot_poses(robot, w->q, w->pose, w->after);
    if (w->v && pp_robot_velocities(robot, w->pose, w->after, w->v, w->twist) < 0) {
        no_memory(w);
    }
    weigh_groups(w);
    name_joints(w);
    find_alone(w);
    return w->status == PERP_OK;
}

// ── Lists ────────────────────────────────────────────────────────────────────────────────────────

// "key": [ ... ], with the objects on lines of their own.
static void open_list(robot_writer *w, const char *key)
{
    pp_json_raw(&w->t, ",\n \"");
    pp_json_raw(&w->t, key);
    pp_json_raw(&w->t, "\": [");
    w->separator = "\n  ";
}

static void next_object(robot_writer *w, const char *name)
{
    pp_json_raw(&w->t, w->separator);
    w->separator = ",\n  ";
    pp_json_raw(&w->t, "{\"name\": ");
    pp_json_string(&w->t, name);
}

static void close_list(robot_writer *w)
{
    pp_json_raw(&w->t, "]");
}

// ── Shapes ───────────────────────────────────────────────────────────────────────────────────────

static void put_vertices(robot_writer *w, const pp_robot_mesh *mesh)
{
    pp_json_key(&w->t, "vertices");
    for (int k = 0; k < mesh->hull_vertices; k++) {
        pp_json_raw(&w->t, k == 0 ? "[" : ", ");
        pp_json_vec3(&w->t, mesh->hull[k]);
    }
    pp_json_raw(&w->t, "]");
}

// Whether a scene has this kind of shape; what it does not have is reported.
static bool shape_exists(robot_writer *w, const pp_robot_geom *geom)
{
    if (geom->kind == PP_ROBOT_HFIELD || geom->kind == PP_ROBOT_SDF) {
        unused(w, geom->at, geom->kind == PP_ROBOT_SDF ? "shapes of type sdf" : "height fields",
               "not supported yet");
        return false;
    }
    if (geom->kind != PP_ROBOT_MESH) {
        return true;
    }
    // As in MuJoCo, a mesh collides as its convex hull.
    pp_robot_mesh *mesh = &w->robot->mesh[geom->mesh];
    if (mesh->missing) {
        char what[200];
        pp_print(what, sizeof what, "shapes of mesh '%.80s'", mesh->name);
        unused(w, geom->at, what, "its file was not found");
        return false;
    }
    perp_error error = {0};
    perp_status status = pp_robot_mesh_hull(mesh, w->robot->arena, &error);
    if (status == PERP_ERR_ARGUMENT) {
        char what[200];
        pp_print(what, sizeof what, "shapes of mesh '%.80s'", mesh->name);
        unused(w, geom->at, what, "its vertices are in one plane");
        return false;
    }
    if (status < 0 && w->status == PERP_OK) {
        w->status = pp_fail(w->error, status, "mesh '%.60s': %s", mesh->name, error.text);
    }
    return status == PERP_OK;
}

static void put_kind(robot_writer *w, const pp_robot_geom *geom)
{
    const double *s = geom->size;
    static const char *const words[] = {"halfspace", "",    "sphere", "capsule", "ellipsoid",
                                        "cylinder",  "box", "hull",   ""};
    pp_json_key_string(&w->t, "kind", words[geom->kind]);
    // Sizes of the model are half lengths, those of a scene whole ones.
    switch (geom->kind) {
    case PP_ROBOT_SPHERE:
        pp_json_key_number(&w->t, "radius", s[0]);
        break;
    case PP_ROBOT_CAPSULE:
    case PP_ROBOT_CYLINDER:
        pp_json_key_number(&w->t, "radius", s[0]);
        pp_json_key_number(&w->t, "length", 2.0 * s[1]);
        break;
    case PP_ROBOT_ELLIPSOID:
        pp_json_key_vec3(&w->t, "radii", pp_vec(s[0], s[1], s[2]));
        break;
    case PP_ROBOT_BOX:
        pp_json_key_vec3(&w->t, "size", pp_vec(2.0 * s[0], 2.0 * s[1], 2.0 * s[2]));
        break;
    case PP_ROBOT_MESH:
        put_vertices(w, &w->robot->mesh[geom->mesh]);
        break;
    default:
        break;
    }
}

// condim 1: no friction; 3: sliding; 4: and spinning; 6: and rolling.
static void put_friction(robot_writer *w, const double *friction, int condim)
{
    pp_json_key_number(&w->t, "mu", condim >= 3 ? friction[0] : 0.0);
    if (condim >= 4 && friction[1] > 0.0) {
        pp_json_key_number(&w->t, "mu_spin", friction[1]);
    }
    if (condim >= 6 && friction[2] > 0.0) {
        pp_json_key_number(&w->t, "mu_roll", friction[2]);
    }
}

static void put_colour(robot_writer *w, const pp_robot_geom *geom)
{
    char text[8];
    if (geom->colour >= 0) {
        pp_print(text, sizeof text, "#%06x", (unsigned)geom->colour);
        pp_json_key_string(&w->t, "colour", text);
    }
}

// Pose of a geom in the frame of its body of the scene.
static void put_place(robot_writer *w, const pp_robot_geom *geom)
{
    const pp_pose *X = &w->pose[geom->body], *F = &w->frame[w->robot->body[geom->body].carrier];
    pp_pose own = {geom->pos, pp_quat_matrix(geom->quat)}, world = pp_pose_mul(X, &own);
    pp_mat3 Ft = pp_transpose3(&F->R), R = pp_mat_mul(&Ft, &world.R);
    pp_json_key_vec3(&w->t, "position", pp_pose_local(F, world.p));
    pp_json_key(&w->t, "rotation");
    pp_json_quat(&w->t, pp_matrix_quat(&R));
}

// The mesh of a visual, as far as it is shown.
static void put_triangles(robot_writer *w, const pp_robot_mesh *mesh)
{
    pp_json_key_string(&w->t, "kind", "mesh");
    pp_json_key(&w->t, "vertices");
    for (int k = 0; k < mesh->shown_vertices; k++) {
        pp_json_raw(&w->t, k == 0 ? "[" : ",");
        pp_json_vec3(&w->t, mesh->shown_vertex[k]);
    }
    pp_json_raw(&w->t, "]");
    pp_json_key(&w->t, "triangles");
    for (int k = 0; k < mesh->shown_triangles; k++) {
        const int *c = mesh->shown_triangle + 3 * (size_t)k;
        char text[48];
        pp_print(text, sizeof text, "%s[%d,%d,%d]", k == 0 ? "[" : ",", c[0], c[1], c[2]);
        pp_json_raw(&w->t, text);
    }
    pp_json_raw(&w->t, "]");
}

// Shapes that are only shown, of all bodies.
static void put_visuals(robot_writer *w)
{
    open_list(w, "visuals");
    for (int k = 0; k < w->robot->geoms; k++) {
        const pp_robot_geom *geom = &w->robot->geom[k];
        int root = w->robot->body[geom->body].carrier;
        char name[32];
        if (!geom->visual) {
            continue;
        }
        pp_print(name, sizeof name, "visual%d", k);
        next_object(w, name);
        if (root > 0) {
            pp_json_key_string(&w->t, "body", w->body_name[root]);
        }
        if (geom->kind == PP_ROBOT_MESH) {
            put_triangles(w, &w->robot->mesh[geom->mesh]);
        } else {
            put_kind(w, geom);
        }
        put_place(w, geom);
        put_colour(w, geom);
        pp_json_raw(&w->t, "}");
    }
    close_list(w);
}

static void put_shape(robot_writer *w, const pp_robot_geom *geom)
{
    pp_json_raw(&w->t, w->separator);
    w->separator = ",\n    ";
    pp_json_raw(&w->t, "{\"name\": ");
    pp_json_string(&w->t, geom->name);
    put_kind(w, geom);
    put_place(w, geom);
    put_friction(w, geom->friction, geom->condim);
    pp_json_key_string(&w->t, "combine", "max");
    if (geom->priority != 0) {
        pp_json_key_number(&w->t, "priority", geom->priority);
    }
    pp_json_key_number(&w->t, "group", geom->contype);
    pp_json_key_number(&w->t, "mask", geom->conaffinity);
    put_colour(w, geom);
    if (geom->hidden) {
        pp_json_raw(&w->t, ", \"hidden\": true");
    }
    pp_json_raw(&w->t, "}");
}

// The shapes of a group of bodies: geoms are sorted by bodies, and groups are small.
static void put_shapes(robot_writer *w, int root, const int *first, const int *next)
{
    for (int k = first[root]; k >= 0; k = next[k]) {
        const pp_robot_geom *geom = &w->robot->geom[k];
        if (w->status == PERP_OK && shape_exists(w, geom)) {
            put_shape(w, geom);
        }
    }
}

// Geoms of each group as a list, in the order of the file; those that do not collide are left out. Their names
// become those of the scene.
static bool sort_shapes(robot_writer *w, int **first, int **next)
{
    pp_robot *robot = w->robot;
    *first = PP_ARRAY(robot->arena, int, robot->bodies);
    *next = PP_ARRAY(robot->arena, int, robot->geoms + 1);
    if (!*first || !*next) {
        no_memory(w);
        return false;
    }
    for (int i = 0; i < robot->bodies; i++) {
        (*first)[i] = -1;
    }
    for (int k = 0; k < robot->geoms; k++) {
        if (w->status < 0) {
            break;
        }
        pp_robot_geom *geom = &robot->geom[k];
        if (collides(geom)) {
            geom->name = scene_name(w, PP_ROBOT_LIST_geom, geom->name);
        }
    }
    // Backwards, so that each list is in the order of the file.
    for (int k = robot->geoms - 1; k >= 0; k--) {
        const pp_robot_geom *geom = &robot->geom[k];
        int root = robot->body[geom->body].carrier;
        if (collides(geom)) {
            (*next)[k] = (*first)[root];
            (*first)[root] = k;
        }
    }
    return w->status == PERP_OK;
}

// ── Bodies ───────────────────────────────────────────────────────────────────────────────────────

static void put_pose(robot_writer *w, const pp_pose *X, const perp_twist *V)
{
    pp_json_key_string(&w->t, "kind", "solid");
    pp_json_key_vec3(&w->t, "position", X->p);
    pp_json_key(&w->t, "rotation");
    pp_json_quat(&w->t, pp_matrix_quat(&X->R));
    if (V) {
        pp_json_key_vec3(&w->t, "velocity", V->v_W);
        pp_json_key_vec3(&w->t, "spin", V->w_W);
    }
}

// Gravity compensation of a group, weighted by mass; exact if all bodies of it have the same.
static double weight_of(robot_writer *w, int root)
{
    const pp_robot *robot = w->robot;
    double sum = 0.0;
    bool differ = false;
    if (!w->weightless) {
        return 1.0;
    }
    for (int i = root; i < robot->bodies; i++) {
        const pp_robot_body *body = &robot->body[i];
        if (body->carrier == root) {
            sum += body->mass * body->gravcomp;
            differ = differ || (body->mass > 0.0 && body->gravcomp != robot->body[root].gravcomp);
        } else if (body->parent < root) {
            break;
        }
    }
    if (!differ) {
        return 1.0 - robot->body[root].gravcomp;
    }
    pp_report_add(w->report, PERP_IMPORT_ASSUMED, robot->body[root].at,
                  "gravcomp of bodies that are rigidly connected is averaged",
                  "a body of a scene has one factor of gravity");
    return 1.0 - sum / w->group[root].mass;
}

// Massless bodies after all joints of the body but the last.
static void put_stages(robot_writer *w, const pp_robot_body *body)
{
    for (int k = 0; k + 1 < body->joints; k++) {
        int j = body->joint + k;
        next_object(w, w->stage_name[j]);
        put_pose(w, &w->after[j], w->v ? &w->twist[j] : NULL);
        pp_json_key(&w->t, "massless");
        pp_json_raw(&w->t, "true}");
    }
}

static void put_body(robot_writer *w, int i, const int *first, const int *next)
{
    const pp_robot_body *body = &w->robot->body[i];
    const pp_robot_mass *group = &w->group[i];
    bool massless = !(group->mass > 0.0);
    if (massless && (first[i] >= 0 || !w->moves_mass[i])) {
        if (w->status == PERP_OK) {
            w->status = pp_xml_fail(body->at, w->error,
                                    "moves and has no mass; give it one, or remove its joint");
        }
        return;
    }
    put_stages(w, body);
    next_object(w, w->body_name[i]);
    // The velocity is that of the centre of mass.
    perp_twist V = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
    if (w->v) {
        V = w->twist[body->joint + body->joints - 1];
        perp_vec3 arm = pp_sub(w->frame[i].p, w->pose[i].p);
        V.v_W = pp_add(V.v_W, pp_cross(V.w_W, arm));
    }
    put_pose(w, &w->frame[i], w->v ? &V : NULL);
    if (massless) {
        pp_json_key(&w->t, "massless");
        pp_json_raw(&w->t, "true}");
        return;
    }
    const double *I = group->inertia.m;
    const double six[6] = {I[0], I[4], I[8], I[1], I[2], I[5]};
    pp_json_key_number(&w->t, "mass", group->mass);
    pp_json_key(&w->t, "inertia");
    for (int k = 0; k < 6; k++) {
        pp_json_raw(&w->t, k == 0 ? "[" : ", ");
        pp_json_number(&w->t, six[k]);
    }
    pp_json_raw(&w->t, "]");
    double weight = weight_of(w, i);
    if (weight != 1.0) {
        pp_json_key_number(&w->t, "gravity_scale", weight);
    }
    pp_json_key(&w->t, "shapes");
    pp_json_raw(&w->t, "[");
    w->separator = "\n    ";
    put_shapes(w, i, first, next);
    w->separator = ",\n  ";
    pp_json_raw(&w->t, "]}");
}

// ── Joints ───────────────────────────────────────────────────────────────────────────────────────

// Features that scenes have for joints with one coordinate only.
static void check_ball(robot_writer *w, const pp_robot_joint *joint)
{
    if (joint->damping > 0.0 || joint->stiffness > 0.0 || joint->armature > 0.0 ||
        joint->friction > 0.0 || joint->range.set) {
        unused(w, joint->at, "damping, stiffness, armature, friction and limits of ball joints",
               "scenes have these for joints with one coordinate");
    }
}

static void put_coordinate(robot_writer *w, const pp_robot_joint *joint, double value)
{
    static const double PI = 3.14159265358979323846;
    // The angle of a scene is relative to the orientation at the start.
    if (joint->kind == PP_ROBOT_HINGE) {
        pp_json_key_number(&w->t, "angle", -value);
        if (fabs(value) > PI) {
            pp_report_add(w->report, PERP_IMPORT_ASSUMED, joint->at,
                          "joints that start beyond half a turn start within it",
                          "angles at the start are in -pi to pi");
        }
    }
    if (joint->range.set) {
        pp_json_key_number(&w->t, "lower", joint->range.low);
        pp_json_key_number(&w->t, "upper", joint->range.high);
    }
    if (joint->armature > 0.0) {
        pp_json_key_number(&w->t, "armature", joint->armature);
    }
    if (joint->damping > 0.0) {
        pp_json_key_number(&w->t, "damping", joint->damping);
    }
    if (joint->stiffness > 0.0) {
        pp_json_key_number(&w->t, "stiffness", joint->stiffness);
        pp_json_key_number(&w->t, "rest", joint->springref);
    }
    if (joint->friction > 0.0) {
        pp_json_key_number(&w->t, "friction", joint->friction);
    }
}

// Joint j between the frames A and B of the scene, of bodies with the given names. X: the body after the joint.
static void put_joint(robot_writer *w, int j)
{
    const pp_robot *robot = w->robot;
    const pp_robot_joint *joint = &robot->joint[j];
    const pp_robot_body *body = &robot->body[joint->body];
    int parent = robot->body[body->parent].carrier, stage = j - body->joint;
    bool last = stage + 1 == body->joints;
    const pp_pose *A = stage > 0 ? &w->after[j - 1] : &w->frame[parent];
    const pp_pose *B = last ? &w->frame[joint->body] : &w->after[j], *X = &w->after[j];
    double value = w->q[joint->qpos];
    perp_vec3 point = pp_pose_point(X, joint->pos), axis = pp_mul(&X->R, joint->axis);
    next_object(w, w->joint_name[j]);
    static const char *const kinds[] = {"", "spherical", "prismatic", "revolute"};
    pp_json_key_string(&w->t, "kind", kinds[joint->kind]);
    pp_json_key_string(&w->t, "a", stage > 0 ? w->stage_name[j - 1] : w->body_name[parent]);
    pp_json_key_string(&w->t, "b", last ? w->body_name[joint->body] : w->stage_name[j]);
    // The anchor of a slide is where its coordinate is 0.
    perp_vec3 zero = joint->kind == PP_ROBOT_SLIDE ? pp_along(point, -value, axis) : point;
    pp_json_key_vec3(&w->t, "anchor_a", pp_pose_local(A, zero));
    pp_json_key_vec3(&w->t, "anchor_b", pp_pose_local(B, point));
    if (joint->kind == PP_ROBOT_BALL) {
        check_ball(w, joint);
    } else {
        pp_json_key_vec3(&w->t, "axis", pp_mul_t(&A->R, axis));
        put_coordinate(w, joint, value);
    }
    // A body does not collide with the one that carries it, except the world.
    pp_json_key(&w->t, "collide");
    pp_json_raw(&w->t, parent > 0 || stage > 0 || robot->apart_from_ground ? "false}" : "true}");
}

// ── Equalities ───────────────────────────────────────────────────────────────────────────────────

static void put_link(robot_writer *w, const pp_robot_equality *equality)
{
    const pp_robot *robot = w->robot;
    int a = robot->body[equality->a].carrier, b = robot->body[equality->b].carrier;
    if (a == b) {
        unused(w, equality->at, "equalities within a rigid group of bodies", "they have no effect");
        return;
    }
    perp_vec3 at_a = pp_pose_point(&w->pose[equality->a], equality->anchor_a);
    perp_vec3 at_b = pp_pose_point(&w->pose[equality->b], equality->anchor_b);
    bool weld = equality->kind == PP_ROBOT_WELD;
    next_object(w, scene_name(w, PP_ROBOT_LIST_joint, equality->name));
    pp_json_key_string(&w->t, "kind", weld ? "weld" : "spherical");
    pp_json_key_string(&w->t, "a", w->body_name[a]);
    pp_json_key_string(&w->t, "b", w->body_name[b]);
    pp_json_key_vec3(&w->t, "anchor_a", pp_pose_local(&w->frame[a], at_a));
    pp_json_key_vec3(&w->t, "anchor_b", pp_pose_local(&w->frame[b], at_b));
    pp_json_key(&w->t, "collide");
    pp_json_raw(&w->t, "true}");
    if (weld) {
        pp_report_add(w->report, PERP_IMPORT_ASSUMED, equality->at,
                      "welded bodies keep the relative rotation of the start", "");
    }
}

// ── Couplings ────────────────────────────────────────────────────────────────────────────────────

enum { TERMS_MOST = 16, BODIES_MOST = 8 };  // of a coupling

// A number in an expression, in parentheses if it is negative.
static void put_factor(pp_json_text *t, double x)
{
    pp_json_raw(t, x < 0.0 ? "(" : "");
    pp_json_number(t, x);
    pp_json_raw(t, x < 0.0 ? ")" : "");
}

// The sum of the terms, as an expression.
static void put_sum(robot_writer *w, pp_json_text *t, const pp_robot_term *term, int terms)
{
    for (int k = 0; k < terms; k++) {
        pp_json_raw(t, k > 0 ? " + " : "");
        if (term[k].coefficient != 1.0) {
            put_factor(t, term[k].coefficient);
            pp_json_raw(t, "*");
        }
        pp_json_raw(t, "q[");
        pp_json_raw(t, w->joint_name[term[k].joint]);
        pp_json_raw(t, "]");
    }
    if (terms == 0) {
        pp_json_raw(t, "0");
    }
}

// Adds the free bodies of the scene that joint j connects to a list; massless ones have negative numbers.
static void add_ends(const robot_writer *w, int j, int *list, int *count)
{
    const pp_robot_joint *joint = &w->robot->joint[j];
    const pp_robot_body *body = &w->robot->body[joint->body];
    bool first = j == body->joint, last = j + 1 == body->joint + body->joints;
    const int end[2] = {first ? w->robot->body[body->parent].carrier : -j,
                        last ? joint->body : -(j + 1)};
    for (int e = 0; e < 2; e++) {
        bool known = end[e] == 0;  // the ground is not free
        for (int k = 0; k < *count; k++) {
            known = known || list[k] == end[e];
        }
        if (!known) {
            list[(*count)++] = end[e];
        }
    }
}

// Whether a coupling of these terms is small enough for a scene.
static bool coupling_fits(const robot_writer *w, const pp_robot_term *a, int na,
                          const pp_robot_term *b, int nb)
{
    int list[2 * TERMS_MOST], count = 0;
    if (na > TERMS_MOST || nb > TERMS_MOST || na + nb > TERMS_MOST) {
        return false;
    }
    for (int k = 0; k < na + nb; k++) {
        add_ends(w, k < na ? a[k].joint : b[k - na].joint, list, &count);
    }
    return count <= BODIES_MOST;
}

static double sum_at_reference(const robot_writer *w, const pp_robot_term *term, int terms)
{
    double sum = 0.0;
    for (int k = 0; k < terms; k++) {
        sum += term[k].coefficient * w->robot->joint[term[k].joint].ref;
    }
    return sum;
}

// (x - x0) - (c0 + c1 y + c2 y^2 + ...) = 0 with y the difference of the other sum from its reference.
static void put_polynomial(robot_writer *w, const pp_robot_equality *equality,
                           const pp_robot_term *a, int na, const pp_robot_term *b, int nb)
{
    pp_json_text t = {.arena = w->robot->arena}, y = {.arena = w->robot->arena};
    const double *c = equality->polynomial;
    pp_json_raw(&y, "(");
    put_sum(w, &y, b, nb);
    pp_json_raw(&y, " - ");
    put_factor(&y, sum_at_reference(w, b, nb));
    pp_json_raw(&y, ")");
    put_sum(w, &t, a, na);
    pp_json_raw(&t, " - ");
    put_factor(&t, sum_at_reference(w, a, na) + c[0]);
    // A missing second object leaves the constant.
    for (int k = 1; k < 5; k++) {
        if (equality->b >= 0 && c[k] != 0.0 && y.text) {
            char power[8] = "";
            pp_print(power, sizeof power, "^%d", k);
            pp_json_raw(&t, " - ");
            put_factor(&t, c[k]);
            pp_json_raw(&t, "*");
            pp_json_raw(&t, y.text);
            pp_json_raw(&t, k > 1 ? power : "");
        }
    }
    w->t.infinite = w->t.infinite || t.infinite || y.infinite;
    if (t.full || y.full) {
        no_memory(w);
        return;
    }
    next_object(w, scene_name(w, PP_ROBOT_LIST_joint, equality->name));
    pp_json_key_string(&w->t, "kind", "coupling");
    pp_json_key_string(&w->t, "coordinate", t.text);
    pp_json_key_number(&w->t, "target", 0.0);
    pp_json_raw(&w->t, "}");
}

// Equalities of joints and tendons.
static void put_coupling(robot_writer *w, const pp_robot_equality *equality)
{
    const pp_robot *robot = w->robot;
    const pp_robot_term one_a = {equality->a, 1.0}, one_b = {equality->b, 1.0};
    const pp_robot_term *a = &one_a, *b = &one_b;
    int na = 1, nb = equality->b >= 0 ? 1 : 0;
    bool sound = true;
    if (equality->kind == PP_ROBOT_TENDON) {
        const pp_robot_tendon *first = &robot->tendon[equality->a];
        const pp_robot_tendon *second = equality->b >= 0 ? &robot->tendon[equality->b] : first;
        a = first->term;
        na = first->terms;
        b = second->term;
        nb = equality->b >= 0 ? second->terms : 0;
        sound = !first->spatial && !second->spatial;
    } else {
        // Ball joints have no coordinate.
        sound = robot->joint[equality->a].kind >= PP_ROBOT_SLIDE &&
                (equality->b < 0 || robot->joint[equality->b].kind >= PP_ROBOT_SLIDE);
    }
    if (!sound || na == 0 || !coupling_fits(w, a, na, b, nb)) {
        unused(w, equality->at, "equalities of spatial tendons, ball joints or very many joints",
               "couplings of scenes have at most 16 joints with one coordinate and 8 bodies");
        return;
    }
    put_polynomial(w, equality, a, na, b, nb);
}

// Limits, spring, damper and friction of a tendon.
static void put_tendon_forces(robot_writer *w, const pp_robot_tendon *tendon)
{
    if (tendon->range.set) {
        pp_json_key_number(&w->t, "lower", tendon->range.low);
        pp_json_key_number(&w->t, "upper", tendon->range.high);
    }
    if (tendon->damping > 0.0) {
        pp_json_key_number(&w->t, "damping", tendon->damping);
    }
    if (tendon->stiffness > 0.0 && tendon->spring[0] == tendon->spring[1]) {
        pp_json_key_number(&w->t, "stiffness", tendon->stiffness);
        pp_json_key_number(&w->t, "rest", tendon->spring[0]);
    } else if (tendon->stiffness > 0.0) {
        unused(w, tendon->at, "springs of tendons with slack",
               "springs of scenes have one rest length");
    }
    if (tendon->friction > 0.0) {
        pp_json_key_number(&w->t, "friction", tendon->friction);
    }
}

// A fixed tendon that does something.
static void put_tendon(robot_writer *w, int k)
{
    const pp_robot_tendon *tendon = &w->robot->tendon[k];
    bool acts = tendon->used || tendon->range.set || tendon->stiffness > 0.0 ||
                tendon->damping > 0.0 || tendon->friction > 0.0;
    if (tendon->spatial || tendon->terms == 0 ||
        !coupling_fits(w, tendon->term, tendon->terms, NULL, 0)) {
        unused(w, tendon->at, "spatial tendons, and those over very many joints",
               "couplings of scenes have at most 16 joints with one coordinate and 8 bodies");
        return;
    }
    if (!acts) {
        unused(w, tendon->at, "tendons without effect", "nothing refers to them");
        return;
    }
    // The expression is written apart, since it becomes a string.
    pp_json_text sum = {.arena = w->robot->arena};
    put_sum(w, &sum, tendon->term, tendon->terms);
    w->t.infinite = w->t.infinite || sum.infinite;
    if (sum.full) {
        no_memory(w);
        return;
    }
    w->tendon_name[k] = scene_name(w, PP_ROBOT_LIST_joint, tendon->name);
    next_object(w, w->tendon_name[k]);
    pp_json_key_string(&w->t, "kind", "coupling");
    pp_json_key_string(&w->t, "coordinate", sum.text);
    put_tendon_forces(w, tendon);
    pp_json_raw(&w->t, "}");
}

// ── Actuators ────────────────────────────────────────────────────────────────────────────────────

// The joint or coupling of the scene that an actuator drives; NULL: none.
static const char *driven_name(const robot_writer *w, const pp_robot_actuator *actuator)
{
    if (actuator->gear[0] == 0.0 || actuator->target < 0) {
        return NULL;
    }
    if (actuator->drive == PP_ROBOT_ON_TENDON) {
        return w->tendon_name[actuator->target];
    }
    bool joint = actuator->drive == PP_ROBOT_ON_JOINT &&
                 w->robot->joint[actuator->target].kind >= PP_ROBOT_SLIDE;
    return joint ? w->joint_name[actuator->target] : NULL;
}

// Inertia that the actuator moves, as MuJoCo's damping ratio has it: the sum of M_jj / moment_j^2.
static double driven_inertia(const robot_writer *w, const pp_robot_actuator *actuator,
                             const pp_pose *pose)
{
    pp_robot_term one = {actuator->target, 1.0};
    const pp_robot_term *term = &one;
    int terms = 1;
    if (actuator->drive == PP_ROBOT_ON_TENDON) {
        term = w->robot->tendon[actuator->target].term;
        terms = w->robot->tendon[actuator->target].terms;
    }
    double sum = 0.0;
    for (int k = 0; k < terms; k++) {
        double moment = actuator->gear[0] * term[k].coefficient;
        if (moment != 0.0) {
            sum += pp_robot_joint_inertia(w->robot, pose, term[k].joint) / (moment * moment);
        }
    }
    return sum;
}

// Whether the scene has this actuator; what it does not have is reported.
static bool actuator_exists(robot_writer *w, const pp_robot_actuator *actuator)
{
    if (actuator->other || actuator->affine_gain) {
        unused(w, actuator->at, "actuators that are not linear", "scenes have linear ones");
        return false;
    }
    if (actuator->drive == PP_ROBOT_ON_SITE) {
        bool plain = actuator->bias[0] == 0.0 && actuator->time_constant == 0.0;
        if (!plain) {
            unused(w, actuator->at, "actuators on sites with a bias or a filter",
                   "scenes have motors there");
        }
        return plain;
    }
    if (!driven_name(w, actuator)) {
        unused(w, actuator->at, "actuators on spatial tendons, ball joints, free joints and bodies",
               "actuators of scenes act on joints with one coordinate and couplings of these");
        return false;
    }
    return true;
}

// The control of the start is clamped as MuJoCo does.
static void put_inputs(robot_writer *w)
{
    open_list(w, "inputs");
    for (int k = 0; k < w->robot->actuators; k++) {
        pp_robot_actuator *actuator = &w->robot->actuator[k];
        double u = w->ctrl ? w->ctrl[k] : 0.0;
        if (!actuator_exists(w, actuator)) {
            // Without a name it is left out below.
            actuator->name = NULL;
            continue;
        }
        actuator->name = scene_name(w, PP_ROBOT_LIST_actuator, actuator->name);
        next_object(w, actuator->name);
        if (actuator->control.set) {
            u = u < actuator->control.low ? actuator->control.low : u;
            u = u > actuator->control.high ? actuator->control.high : u;
        }
        pp_json_key_number(&w->t, "value", u);
        if (actuator->control.set) {
            pp_json_key(&w->t, "range");
            pp_json_raw(&w->t, "[");
            pp_json_number(&w->t, actuator->control.low);
            pp_json_raw(&w->t, ", ");
            pp_json_number(&w->t, actuator->control.high);
            pp_json_raw(&w->t, "]");
        }
        pp_json_raw(&w->t, "}");
    }
    close_list(w);
}

// Limits of the actuator, and of the sum of all actuators of the joint, which is right if there is one.
static pp_robot_range effort_of(const pp_robot_actuator *actuator, const pp_robot_joint *joint,
                                double gear)
{
    pp_robot_range to = actuator->force;
    if (joint->force.set) {
        double a = joint->force.low / gear, b = joint->force.high / gear;
        double low = a < b ? a : b, high = a < b ? b : a;
        to.low = to.set && to.low > low ? to.low : low;
        to.high = to.set && to.high < high ? to.high : high;
        to.set = true;
    }
    return to;
}

static void put_actuator(robot_writer *w, const pp_robot_actuator *actuator,
                         const pp_pose *reference)
{
    const char *target = actuator->name ? driven_name(w, actuator) : NULL;
    double gear = actuator->gear[0], bias[3];
    if (!target || actuator->drive == PP_ROBOT_ON_SITE) {
        return;
    }
    memcpy(bias, actuator->bias, sizeof bias);
    if (actuator->damping_ratio > 0.0) {
        // Of the inertia at qpos = ref.
        double inertia = driven_inertia(w, actuator, reference);
        bias[2] = -2.0 * actuator->damping_ratio * sqrt(actuator->gain * inertia);
    }
    next_object(w, actuator->name);
    pp_json_key_string(&w->t, "kind", "general");
    pp_json_key_string(&w->t, "joint", target);
    if (gear != 1.0) {
        pp_json_key_number(&w->t, "gear", gear);
    }
    pp_json_key_number(&w->t, "gain", actuator->gain);
    pp_json_key_vec3(&w->t, "bias", pp_vec(bias[0], bias[1], bias[2]));
    pp_robot_range effort = actuator->force;
    if (actuator->drive == PP_ROBOT_ON_JOINT) {
        effort = effort_of(actuator, &w->robot->joint[actuator->target], gear);
    }
    if (effort.set) {
        pp_json_key(&w->t, "effort");
        pp_json_raw(&w->t, "[");
        pp_json_number(&w->t, effort.low);
        pp_json_raw(&w->t, ", ");
        pp_json_number(&w->t, effort.high);
        pp_json_raw(&w->t, "]");
    }
    if (actuator->time_constant > 0.0) {
        pp_json_key_number(&w->t, "time_constant", actuator->time_constant);
        pp_report_add(w->report, PERP_IMPORT_ASSUMED, actuator->at,
                      "filtered actuators start at their control", "");
    }
    pp_json_raw(&w->t, "}");
}

// "c*f", where f is the clamped force of the actuator.
static void put_thrust(robot_writer *w, const pp_robot_actuator *actuator, const char *key,
                       double c)
{
    char number[40], text[400];
    if (c == 0.0) {
        return;
    }
    pp_number_print_short(number, sizeof number, c * (actuator->force.set ? 1.0 : actuator->gain));
    if (!actuator->force.set) {
        pp_print(text, sizeof text, "%s*u[%s]", number, actuator->name);
    } else {
        char gain[40], low[40], high[40];
        pp_number_print_short(gain, sizeof gain, actuator->gain);
        pp_number_print_short(low, sizeof low, actuator->force.low);
        pp_number_print_short(high, sizeof high, actuator->force.high);
        pp_print(text, sizeof text, "%s*clamp(%s*u[%s], %s, %s)", number, gain, actuator->name, low,
                 high);
    }
    pp_json_key_string(&w->t, key, text);
}

// Motors on sites: forces and torques in the axes of the body.
static void put_thrusts(robot_writer *w)
{
    open_list(w, "forces");
    for (int k = 0; k < w->robot->actuators; k++) {
        const pp_robot_actuator *actuator = &w->robot->actuator[k];
        if (!actuator->name || actuator->drive != PP_ROBOT_ON_SITE) {
            continue;
        }
        const pp_robot_site *site = &w->robot->site[actuator->target];
        int root = w->robot->body[site->body].carrier;
        if (root == 0) {
            continue;
        }
        // The gear is in the axes of the site; f and m are in those of the body.
        const pp_pose *F = &w->frame[root], *X = &w->pose[site->body];
        const double *g = actuator->gear;
        pp_mat3 S = pp_quat_matrix(site->quat), R = pp_mat_mul(&X->R, &S);
        perp_vec3 f = pp_mul_t(&F->R, pp_mul(&R, pp_vec(g[0], g[1], g[2])));
        perp_vec3 m = pp_mul_t(&F->R, pp_mul(&R, pp_vec(g[3], g[4], g[5])));
        next_object(w, actuator->name);
        pp_json_key_string(&w->t, "kind", "force");
        pp_json_key_string(&w->t, "body", w->body_name[root]);
        pp_json_key_vec3(&w->t, "anchor", pp_pose_local(F, pp_pose_point(X, site->pos)));
        const double c[6] = {f.x, f.y, f.z, m.x, m.y, m.z};
        static const char *const keys[] = {"fx", "fy", "fz", "tx", "ty", "tz"};
        for (int e = 0; e < 6; e++) {
            put_thrust(w, actuator, keys[e], c[e]);
        }
        pp_json_key(&w->t, "body_axes");
        pp_json_raw(&w->t, "true}");
    }
    close_list(w);
}

// ── Which shapes collide ─────────────────────────────────────────────────────────────────────────

// Two bodies that never collide.
static void put_excluded(robot_writer *w, int a, int b)
{
    pp_json_raw(&w->t, w->separator);
    w->separator = ",\n  ";
    pp_json_raw(&w->t, "[");
    pp_json_string(&w->t, w->body_name[a]);
    pp_json_raw(&w->t, ", ");
    pp_json_string(&w->t, w->body_name[b]);
    pp_json_raw(&w->t, "]");
}

// Bodies that the model excludes, and those with several joints and the bodies that carry them.
static void put_excludes(robot_writer *w)
{
    const pp_robot *robot = w->robot;
    open_list(w, "exclude");
    for (int k = 0; k < robot->excludes; k++) {
        int i = robot->exclude[k].a, j = robot->exclude[k].b;
        int a = robot->body[i].carrier, b = robot->body[j].carrier;
        if (a != b && w->alone[i] && w->alone[j]) {
            put_excluded(w, a, b);
        }
    }
    for (int i = 1; i < robot->bodies; i++) {
        int parent = robot->body[robot->body[i].parent].carrier;
        if (robot->body[i].joints > 1 && parent > 0) {
            put_excluded(w, parent, i);
        }
    }
    close_list(w);
}

static void put_pair_ends(robot_writer *w, const pp_robot_geom *a, const pp_robot_geom *b)
{
    const pp_robot_geom *end[2] = {a, b};
    pp_json_raw(&w->t, w->separator);
    w->separator = ",\n  ";
    for (int k = 0; k < 2; k++) {
        int root = w->robot->body[end[k]->body].carrier;
        char name[2 * NAME_MOST + 2];
        pp_print(name, sizeof name, "%s%s%s", root > 0 ? w->body_name[root] : "",
                 root > 0 ? "." : "", end[k]->name);
        pp_json_raw(&w->t, k == 0 ? "{\"a\": " : ", \"b\": ");
        pp_json_string(&w->t, name);
    }
}

// Whether a geom is among the shapes that were written.
static bool is_written(const pp_robot *robot, const pp_robot_geom *geom)
{
    bool odd = geom->kind == PP_ROBOT_HFIELD || geom->kind == PP_ROBOT_SDF;
    bool flat = geom->kind == PP_ROBOT_MESH && !robot->mesh[geom->mesh].hull;
    return collides(geom) && !odd && !flat;
}

static void put_pair(robot_writer *w, const pp_robot_pair *pair)
{
    const pp_robot_geom *a = &w->robot->geom[pair->a], *b = &w->robot->geom[pair->b];
    int ra = w->robot->body[a->body].carrier, rb = w->robot->body[b->body].carrier;
    if (!is_written(w->robot, a) || !is_written(w->robot, b) || ra == rb) {
        return;
    }
    put_pair_ends(w, a, b);
    int larger = a->condim > b->condim ? a->condim : b->condim;
    if (pair->own_friction) {
        put_friction(w, pair->friction, pair->own_condim ? pair->condim : larger);
    } else if (pair->own_condim && pair->condim == 1) {
        pp_json_key_number(&w->t, "mu", 0.0);
    }
    pp_json_raw(&w->t, "}");
}

// Bodies that are excluded but are only part of a group: shape by shape.
static void put_ignored(robot_writer *w, const pp_robot_exclude *exclude, const int *first,
                        const int *next)
{
    const pp_robot *robot = w->robot;
    int a = robot->body[exclude->a].carrier, b = robot->body[exclude->b].carrier;
    if (a == b || (w->alone[exclude->a] && w->alone[exclude->b])) {
        return;
    }
    for (int i = first[a]; i >= 0; i = next[i]) {
        for (int j = first[b]; j >= 0; j = next[j]) {
            if (++w->ignored > IGNORED_MOST) {
                w->status = pp_fail(w->error, PERP_ERR_FORMAT,
                                    "the bodies that are excluded have too many shapes");
                return;
            }
            const pp_robot_geom *ga = &robot->geom[i], *gb = &robot->geom[j];
            if (ga->body == exclude->a && gb->body == exclude->b && is_written(robot, ga) &&
                is_written(robot, gb)) {
                put_pair_ends(w, ga, gb);
                pp_json_raw(&w->t, ", \"ignore\": true}");
            }
        }
    }
}

// ── Sites and sensors ────────────────────────────────────────────────────────────────────────────

// Sites keep their places in the list of the robot; names become those of the scene.
static void put_sites(robot_writer *w)
{
    const pp_robot *robot = w->robot;
    open_list(w, "sites");
    for (int k = 0; k < robot->sites; k++) {
        pp_robot_site *site = &robot->site[k];
        int root = robot->body[site->body].carrier;
        const pp_pose *F = &w->frame[root], *X = &w->pose[site->body];
        pp_mat3 S = pp_quat_matrix(site->quat), R = pp_mat_mul(&X->R, &S);
        pp_mat3 Ft = pp_transpose3(&F->R);
        R = pp_mat_mul(&Ft, &R);
        site->name = scene_name(w, PP_ROBOT_LIST_site, site->name);
        next_object(w, site->name);
        pp_json_key_string(&w->t, "body", w->body_name[root]);
        pp_json_key_vec3(&w->t, "position", pp_pose_local(F, pp_pose_point(X, site->pos)));
        pp_json_key(&w->t, "rotation");
        pp_json_quat(&w->t, pp_matrix_quat(&R));
        pp_json_raw(&w->t, "}");
    }
    close_list(w);
}

// The sensors of MJCF that scenes have as well; frames only those of sites.
static const struct {
    const char *mjcf, *scene;
    bool joint;
} sensor_kinds[] = {
    {"gyro", "gyro", false},
    {"accelerometer", "accelerometer", false},
    {"framepos", "position", false},
    {"framequat", "orientation", false},
    {"framelinvel", "velocity", false},
    {"frameangvel", "angular-velocity", false},
    {"jointpos", "joint-position", true},
    {"jointvel", "joint-rate", true},
};

// Its row in the table; -1: scenes have no such sensor.
static int sensor_row(const pp_robot *robot, const pp_robot_sensor *sensor)
{
    for (int k = 0; k < (int)(sizeof sensor_kinds / sizeof sensor_kinds[0]); k++) {
        if (strcmp(sensor->kind, sensor_kinds[k].mjcf) == 0) {
            int joint = pp_robot_find(robot, PP_ROBOT_LIST_joint, sensor->object);
            bool found = sensor_kinds[k].joint
                             ? joint >= 0 && robot->joint[joint].kind >= PP_ROBOT_SLIDE
                             : pp_robot_find(robot, PP_ROBOT_LIST_site, sensor->object) >= 0;
            return found && !sensor->relative ? k : -1;
        }
    }
    return -1;
}

static void put_sensors(robot_writer *w)
{
    const pp_robot *robot = w->robot;
    open_list(w, "sensors");
    for (int k = 0; k < robot->sensors; k++) {
        const pp_robot_sensor *sensor = &robot->sensor[k];
        int row = sensor_row(robot, sensor);
        char name[80];
        if (row < 0) {
            char what[100];
            pp_print(what, sizeof what, "sensors of kind %.60s", sensor->kind);
            unused(w, sensor->at, what, "scenes have none, or not of this object");
            continue;
        }
        // Sensors need names.
        pp_print(name, sizeof name, "sensor%d", k);
        next_object(w, scene_name(w, PP_ROBOT_LIST_sensor, *sensor->name ? sensor->name : name));
        pp_json_key_string(&w->t, "kind", sensor_kinds[row].scene);
        if (sensor_kinds[row].joint) {
            int j = pp_robot_find(robot, PP_ROBOT_LIST_joint, sensor->object);
            pp_json_key_string(&w->t, "joint", w->joint_name[j]);
        } else {
            int j = pp_robot_find(robot, PP_ROBOT_LIST_site, sensor->object);
            pp_json_key_string(&w->t, "site", robot->site[j].name);
        }
        pp_json_raw(&w->t, "}");
    }
    close_list(w);
}

// ── The scene ────────────────────────────────────────────────────────────────────────────────────

static void put_head(robot_writer *w)
{
    const pp_robot *robot = w->robot;
    char name[NAME_MOST + 1];
    pp_print(name, sizeof name, "%s", robot->name && *robot->name ? robot->name : "robot");
    pp_json_raw(&w->t, "{\n \"name\": ");
    pp_json_string(&w->t, name);
    pp_json_raw(&w->t, ",\n \"step\": ");
    pp_json_number(&w->t, robot->timestep);
    pp_json_raw(&w->t, ",\n \"until\": 1,\n \"gravity\": ");
    pp_json_vec3(&w->t, robot->gravity);
    pp_json_raw(&w->t, ",\n \"coordinates\": \"auto\"");
    if (robot->no_contact) {
        pp_json_raw(&w->t, ",\n \"listed_only\": true");
        pp_report_add(w->report, PERP_IMPORT_USED, NULL, "contact is switched off by the model",
                      "");
    }
}

static void put_joints(robot_writer *w)
{
    const pp_robot *robot = w->robot;
    open_list(w, "joints");
    for (int j = 0; j < robot->joints; j++) {
        if (robot->joint[j].kind != PP_ROBOT_FREE) {
            put_joint(w, j);
        } else if (robot->joint[j].damping > 0.0 || robot->joint[j].stiffness > 0.0 ||
                   robot->joint[j].armature > 0.0 || robot->joint[j].friction > 0.0) {
            unused(w, robot->joint[j].at,
                   "damping, stiffness, armature and friction of free joints",
                   "scenes have these for joints with one coordinate");
        }
    }
    for (int k = 0; k < robot->tendons; k++) {
        put_tendon(w, k);
    }
    for (int k = 0; k < robot->equalities; k++) {
        if (robot->equality[k].kind <= PP_ROBOT_WELD) {
            put_link(w, &robot->equality[k]);
        } else {
            put_coupling(w, &robot->equality[k]);
        }
    }
    close_list(w);
}

static void put_actuators(robot_writer *w)
{
    const pp_robot *robot = w->robot;
    double *q = pp_robot_reference(robot);
    pp_pose *pose = PP_ARRAY(robot->arena, pp_pose, robot->bodies);
    if (!q || !pose) {
        no_memory(w);
        return;
    }
    pp_robot_poses(robot, q, pose, NULL);
    put_inputs(w);
    open_list(w, "actuators");
    for (int k = 0; k < robot->actuators; k++) {
        put_actuator(w, &robot->actuator[k], pose);
    }
    close_list(w);
    put_thrusts(w);
}

static void count_used(robot_writer *w, int count, const char *one, const char *many)
{
    if (count > 0) {
        pp_report_say(w->report, PERP_IMPORT_USED, NULL, "%d %s", count, count == 1 ? one : many);
    }
}

// What a robot has and a scene does not have yet.
static void note_rest(robot_writer *w, int key)
{
    const pp_robot *robot = w->robot;
    int shapes = 0;
    for (int k = 0; k < robot->geoms; k++) {
        shapes += collides(&robot->geom[k]);
    }
    count_used(w, robot->bodies - 1, "body", "bodies");
    count_used(w, robot->joints, "joint", "joints");
    count_used(w, shapes, "shape that collides", "shapes that collide");
    count_used(w, robot->actuators, "actuator", "actuators");
    if (key >= 0) {
        pp_report_say(w->report, PERP_IMPORT_USED, robot->key[key].at,
                      "keyframe '%.60s' as the start", robot->key[key].name);
    }
    // These are in the description of the robot, for scenes that will have them.
    for (int k = 0; k < robot->keys; k++) {
        if (k != key) {
            unused(w, robot->key[k].at, "other keyframes", "a scene has one start");
        }
    }
    for (int i = 0; i < robot->bodies; i++) {
        if (robot->body[i].mocap) {
            pp_report_add(w->report, PERP_IMPORT_ASSUMED, robot->body[i].at,
                          "bodies with mocap=\"true\" rest", "");
        }
    }
}

// Without friction of its own, a shape of condim 1 takes that of the other: MuJoCo takes the larger of both.
static void note_friction(robot_writer *w)
{
    const pp_robot *robot = w->robot;
    double least = PP_INF;
    for (int k = 0; k < robot->geoms; k++) {
        const pp_robot_geom *geom = &robot->geom[k];
        if (collides(geom) && geom->condim >= 3 && geom->friction[0] < least) {
            least = geom->friction[0];
        }
    }
    for (int k = 0; k < robot->geoms; k++) {
        const pp_robot_geom *geom = &robot->geom[k];
        if (collides(geom) && geom->condim == 1 && geom->friction[0] > least) {
            pp_report_add(w->report, PERP_IMPORT_ASSUMED, geom->at,
                          "shapes of condim 1 have no friction of their own",
                          "in MuJoCo theirs would count against shapes with less");
        }
    }
}

// What became of the model, for people who have the scene alone.
static void put_description(robot_writer *w)
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
    pp_json_raw(&w->t, ",\n \"description\": ");
    pp_json_string(&w->t, text);
}

perp_status pp_robot_write(pp_robot *robot, int key, pp_import_report *report, char **text,
                           size_t *size, perp_error *error)
{
    robot_writer w = {
        .robot = robot, .report = report, .error = error, .t = {.arena = robot->arena}};
    int *first = NULL, *next = NULL;
    if (!prepare(&w, key) || !sort_shapes(&w, &first, &next)) {
        return w.status;
    }
    // A scene without solids would be one of the plane.
    bool still = true;
    for (int i = 1; i < robot->bodies; i++) {
        still = still && robot->body[i].carrier != i;
    }
    if (still) {
        return pp_fail(
            error, PERP_ERR_FORMAT,
            "the model has no body that moves; the first link of a URDF file can be freed "
            "(--free-base)");
    }
    put_head(&w);
    open_list(&w, "shapes");
    put_shapes(&w, 0, first, next);
    close_list(&w);
    open_list(&w, "bodies");
    for (int i = 1; i < robot->bodies; i++) {
        if (w.status < 0) {
            break;
        }
        if (robot->body[i].carrier == i) {
            put_body(&w, i, first, next);
        }
    }
    close_list(&w);
    put_visuals(&w);
    put_joints(&w);
    put_actuators(&w);
    put_sites(&w);
    put_sensors(&w);
    put_excludes(&w);
    open_list(&w, "pairs");
    for (int k = 0; k < robot->pairs; k++) {
        put_pair(&w, &robot->pair[k]);
    }
    for (int k = 0; k < robot->excludes; k++) {
        put_ignored(&w, &robot->exclude[k], first, next);
    }
    close_list(&w);
    note_friction(&w);
    note_rest(&w, key);
    put_description(&w);
    pp_json_raw(&w.t, "\n}\n");
    if (w.status == PERP_OK && (w.t.full || report->full)) {
        no_memory(&w);
    }
    if (w.status == PERP_OK && w.t.infinite) {
        w.status =
            pp_fail(error, PERP_ERR_NUMERIC,
                    "a mass, position or size is too large, or follows from numbers that are");
    }
    *text = w.t.text;
    *size = w.t.length;
    return w.status;
}

// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Bodies, shapes and joints of a robot, as a scene has them.
#include "import/write.h"

#include <math.h>

// ── Shapes ───────────────────────────────────────────────────────────────────────────────────────

static void put_vertices(pp_robot_writer *w, const pp_robot_mesh *mesh)
{
    pp_text_key(&w->t, "vertices");
    for (int k = 0; k < mesh->hull_vertices; k++) {
        pp_text_add(&w->t, k == 0 ? "[" : ", ");
        pp_text_vec3(&w->t, mesh->hull[k]);
    }
    pp_text_add(&w->t, "]");
}

static void put_heights(pp_robot_writer *w, const pp_robot_hfield *field)
{
    pp_text_key(&w->t, "size");
    pp_text_add(&w->t, "[");
    pp_text_short(&w->t, 2.0 * field->size[0]);
    pp_text_add(&w->t, ", ");
    pp_text_short(&w->t, 2.0 * field->size[1]);
    pp_text_add(&w->t, "]");
    pp_text_key(&w->t, "heights");
    for (int r = 0; r < field->rows; r++) {
        pp_text_add(&w->t, r == 0 ? "[" : ", ");
        for (int c = 0; c < field->columns; c++) {
            pp_text_add(&w->t, c == 0 ? "[" : ", ");
            pp_text_short(&w->t, field->size[2] * field->height[r * field->columns + c]);
        }
        pp_text_add(&w->t, "]");
    }
    pp_text_add(&w->t, "]");
}

// A box in place of a mesh whose file was not found, with the mass and moments of inertia of the body.
static void become_box(pp_robot_writer *w, pp_robot_geom *geom)
{
    const pp_robot_body *body = &w->robot->body[geom->body];
    const double *I = body->inertia.m, m = body->mass;
    const double moment[3] = {I[0], I[4], I[8]};
    for (int k = 0; k < 3; k++) {
        // m (b^2 + c^2) / 3 is the moment about the first axis, a, b, c half lengths.
        double square = moment[(k + 1) % 3] + moment[(k + 2) % 3] - moment[k];
        double half = m > 0.0 && square > 0.0 ? sqrt(1.5 * square / m) : 0.0;
        geom->size[k] = half > 1e-3 ? half : 1e-3;
    }
    if (m > 0.0) {
        geom->pos = body->com;
        geom->quat = (perp_quat){1.0, 0.0, 0.0, 0.0};
    } else {
        geom->size[0] = geom->size[1] = geom->size[2] = 0.025;
    }
    geom->kind = PP_ROBOT_BOX;
    pp_report_add(w->report, PERP_IMPORT_ASSUMED, geom->at,
                  "boxes in place of meshes whose files were not found",
                  "with the mass and moments of inertia of the body, or of 5 cm if it has none");
}

// Whether a scene has this kind of shape; what it does not have is reported.
static bool shape_exists(pp_robot_writer *w, pp_robot_geom *geom)
{
    if (geom->kind == PP_ROBOT_SDF) {
        pp_write_unused(w, geom->at, "shapes of type sdf", "they are code of other programs");
        return false;
    }
    if (geom->kind == PP_ROBOT_HFIELD && !w->robot->hfield[geom->hfield].height) {
        pp_write_unused(w, geom->at, "height fields of image files",
                        "only MuJoCo's own format is read");
        return false;
    }
    if (geom->kind == PP_ROBOT_HFIELD && w->robot->body[geom->body].carrier != 0) {
        pp_write_unused(w, geom->at, "height fields of bodies that move",
                        "those of scenes are fixed");
        return false;
    }
    if (geom->kind != PP_ROBOT_MESH) {
        return true;
    }
    // As in MuJoCo, a mesh collides as its convex hull.
    pp_robot_mesh *mesh = &w->robot->mesh[geom->mesh];
    if (mesh->missing && w->robot->boxes) {
        become_box(w, geom);
        return true;
    }
    if (mesh->missing) {
        char what[200];
        pp_print(what, sizeof what, "shapes of mesh '%.80s'", mesh->name);
        pp_write_unused(w, geom->at, what,
                        mesh->file ? "its file was not found" : "MuJoCo makes it itself");
        return false;
    }
    perp_error error = {0};
    perp_status status = pp_robot_mesh_hull(mesh, w->robot->arena, &error);
    if (status == PERP_ERR_ARGUMENT) {
        char what[200];
        pp_print(what, sizeof what, "shapes of mesh '%.80s'", mesh->name);
        pp_write_unused(w, geom->at, what, "its vertices are in one plane");
        return false;
    }
    if (status < 0 && w->status == PERP_OK) {
        w->status = pp_fail(w->error, status, "mesh '%.60s': %s", mesh->name, error.text);
    }
    return status == PERP_OK;
}

static void put_kind(pp_robot_writer *w, const pp_robot_geom *geom)
{
    const double *s = geom->size;
    static const char *const words[] = {"halfspace", "heightfield", "sphere",
                                        "capsule",   "ellipsoid",   "cylinder",
                                        "box",       "hull",        ""};
    pp_text_named(&w->t, "kind", words[geom->kind]);
    // Sizes of the model are half lengths, those of a scene whole ones.
    switch (geom->kind) {
    case PP_ROBOT_SPHERE:
        pp_text_key_short(&w->t, "radius", s[0]);
        break;
    case PP_ROBOT_CAPSULE:
    case PP_ROBOT_CYLINDER:
        pp_text_key_short(&w->t, "radius", s[0]);
        pp_text_key_short(&w->t, "length", 2.0 * s[1]);
        break;
    case PP_ROBOT_ELLIPSOID:
        pp_text_key_vec3(&w->t, "radii", pp_vec(s[0], s[1], s[2]));
        break;
    case PP_ROBOT_BOX:
        pp_text_key_vec3(&w->t, "size", pp_vec(2.0 * s[0], 2.0 * s[1], 2.0 * s[2]));
        break;
    case PP_ROBOT_HFIELD:
        put_heights(w, &w->robot->hfield[geom->hfield]);
        break;
    case PP_ROBOT_MESH:
        put_vertices(w, &w->robot->mesh[geom->mesh]);
        break;
    default:
        break;
    }
}

// condim 1: no friction; 3: sliding; 4: and spinning; 6: and rolling.
void pp_write_friction(pp_robot_writer *w, const double *friction, int condim)
{
    pp_text_key_short(&w->t, "mu", condim >= 3 ? friction[0] : 0.0);
    if (condim >= 4 && friction[1] > 0.0) {
        pp_text_key_short(&w->t, "mu_spin", friction[1]);
    }
    if (condim >= 6 && friction[2] > 0.0) {
        pp_text_key_short(&w->t, "mu_roll", friction[2]);
    }
}

static void put_colour(pp_robot_writer *w, const pp_robot_geom *geom)
{
    char text[8];
    if (geom->colour >= 0) {
        pp_print(text, sizeof text, "#%06x", (unsigned)geom->colour);
        pp_text_named(&w->t, "colour", text);
    }
}

// Pose of a geom in the frame of its body of the scene.
static void put_place(pp_robot_writer *w, const pp_robot_geom *geom)
{
    const pp_pose *X = &w->pose[geom->body], *F = &w->frame[w->robot->body[geom->body].carrier];
    pp_pose own = {geom->pos, pp_quat_matrix(geom->quat)}, world = pp_pose_mul(X, &own);
    pp_mat3 Ft = pp_transpose3(&F->R), R = pp_mat_mul(&Ft, &world.R);
    pp_text_key_vec3(&w->t, "position", pp_pose_local(F, world.p));
    pp_text_key(&w->t, "rotation");
    pp_text_quat(&w->t, pp_matrix_quat(&R));
}

// The mesh of a visual, as far as it is shown.
static void put_triangles(pp_robot_writer *w, const pp_robot_mesh *mesh)
{
    pp_text_named(&w->t, "kind", "mesh");
    pp_text_key(&w->t, "vertices");
    for (int k = 0; k < mesh->shown_vertices; k++) {
        pp_text_add(&w->t, k == 0 ? "[" : ",");
        pp_text_vec3(&w->t, mesh->shown_vertex[k]);
    }
    pp_text_add(&w->t, "]");
    pp_text_key(&w->t, "triangles");
    for (int k = 0; k < mesh->shown_triangles; k++) {
        const int *c = mesh->shown_triangle + 3 * (size_t)k;
        char text[48];
        pp_print(text, sizeof text, "%s[%d,%d,%d]", k == 0 ? "[" : ",", c[0], c[1], c[2]);
        pp_text_add(&w->t, text);
    }
    pp_text_add(&w->t, "]");
}

void pp_write_visuals(pp_robot_writer *w)
{
    pp_write_open(w, "visuals");
    for (int k = 0; k < w->robot->geoms; k++) {
        const pp_robot_geom *geom = &w->robot->geom[k];
        int root = w->robot->body[geom->body].carrier;
        char name[32];
        if (!geom->visual) {
            continue;
        }
        // Nothing refers to visuals: their names only have to differ.
        pp_print(name, sizeof name, "visual%d", k);
        pp_write_next(w, name);
        if (root > 0) {
            pp_text_named(&w->t, "body", w->body_name[root]);
        }
        if (geom->kind == PP_ROBOT_MESH) {
            put_triangles(w, &w->robot->mesh[geom->mesh]);
        } else {
            put_kind(w, geom);
        }
        put_place(w, geom);
        put_colour(w, geom);
        pp_text_add(&w->t, "}");
    }
    pp_write_close(w);
}

static void put_shape(pp_robot_writer *w, const pp_robot_geom *geom)
{
    pp_text_add(&w->t, w->separator);
    w->separator = ",\n    ";
    pp_text_add(&w->t, "{\"name\": ");
    pp_text_quoted(&w->t, geom->name);
    put_kind(w, geom);
    put_place(w, geom);
    pp_write_friction(w, geom->friction, geom->condim);
    pp_text_named(&w->t, "combine", "max");
    if (geom->priority != 0) {
        pp_text_key_short(&w->t, "priority", geom->priority);
    }
    pp_text_key_short(&w->t, "group", geom->contype);
    pp_text_key_short(&w->t, "mask", geom->conaffinity);
    put_colour(w, geom);
    if (geom->hidden) {
        pp_text_key(&w->t, "hidden");
        pp_text_add(&w->t, "true");
    }
    pp_text_add(&w->t, "}");
}

// The shapes of a group of bodies: geoms are sorted by bodies, and groups are small.
void pp_write_shapes(pp_robot_writer *w, int root, const int *first, const int *next)
{
    for (int k = first[root]; k >= 0; k = next[k]) {
        pp_robot_geom *geom = &w->robot->geom[k];
        if (w->status == PERP_OK && shape_exists(w, geom)) {
            put_shape(w, geom);
        }
    }
}

// Geoms of each group as a list, in the order of the file; those that do not collide are left out. Their names
// become those of the scene.
bool pp_write_sort_shapes(pp_robot_writer *w, int **first, int **next)
{
    pp_robot *robot = w->robot;
    *first = PP_ARRAY(robot->arena, int, robot->bodies);
    *next = PP_ARRAY(robot->arena, int, robot->geoms + 1);
    if (!*first || !*next) {
        pp_write_memory(w);
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
        if (pp_robot_collides(geom)) {
            geom->name = pp_write_name(w, PP_ROBOT_LIST_geom, geom->name);
        }
    }
    // Backwards, so that each list is in the order of the file.
    for (int k = robot->geoms - 1; k >= 0; k--) {
        const pp_robot_geom *geom = &robot->geom[k];
        int root = robot->body[geom->body].carrier;
        if (pp_robot_collides(geom)) {
            (*next)[k] = (*first)[root];
            (*first)[root] = k;
        }
    }
    return w->status == PERP_OK;
}

// ── Bodies ───────────────────────────────────────────────────────────────────────────────────────

static void put_pose(pp_robot_writer *w, const pp_pose *X, const perp_twist *V)
{
    pp_text_named(&w->t, "kind", "solid");
    pp_text_key_vec3(&w->t, "position", X->p);
    pp_text_key(&w->t, "rotation");
    pp_text_quat(&w->t, pp_matrix_quat(&X->R));
    if (V) {
        pp_text_key_vec3(&w->t, "velocity", V->v_W);
        pp_text_key_vec3(&w->t, "spin", V->w_W);
    }
}

// Gravity compensation of a group, weighted by mass; exact if all bodies of it have the same.
static double weight_of(pp_robot_writer *w, int root)
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
static void put_stages(pp_robot_writer *w, const pp_robot_body *body)
{
    for (int k = 0; k + 1 < body->joints; k++) {
        int j = body->joint + k;
        pp_write_next(w, w->stage_name[j]);
        put_pose(w, &w->after[j], w->v ? &w->twist[j] : NULL);
        pp_text_key(&w->t, "massless");
        pp_text_add(&w->t, "true}");
    }
}

static void put_mass(pp_robot_writer *w, int i)
{
    const double *I = w->group[i].inertia.m;
    const double six[6] = {I[0], I[4], I[8], I[1], I[2], I[5]};
    pp_text_key_short(&w->t, "mass", w->group[i].mass);
    pp_text_key(&w->t, "inertia");
    for (int k = 0; k < 6; k++) {
        pp_text_add(&w->t, k == 0 ? "[" : ", ");
        pp_text_short(&w->t, six[k]);
    }
    pp_text_add(&w->t, "]");
    double weight = weight_of(w, i);
    if (weight != 1.0) {
        pp_text_key_short(&w->t, "gravity_scale", weight);
    }
}

// Whether a body that is kept is fixed to the ground.
bool pp_write_still(const pp_robot *robot, int i)
{
    while (i > 0 && robot->body[i].joints == 0) {
        i = robot->body[i].parent;
    }
    return i == 0;
}

void pp_write_body(pp_robot_writer *w, int i, const int *first, const int *next)
{
    const pp_robot_body *body = &w->robot->body[i];
    const pp_robot_mass *group = &w->group[i];
    bool still = pp_write_still(w->robot, i);
    bool massless = !(group->mass > 0.0) && !still;
    if (massless && (first[i] >= 0 || !w->moves_mass[i])) {
        if (w->status == PERP_OK) {
            w->status = pp_xml_fail(body->at, w->error,
                                    "moves and has no mass; give it one, or remove its joint");
        }
        return;
    }
    put_stages(w, body);
    pp_write_next(w, w->body_name[i]);
    // The velocity is that of the centre of mass.
    perp_twist V = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
    if (w->v) {
        V = w->body_twist[i];
        perp_vec3 arm = pp_sub(w->frame[i].p, w->pose[i].p);
        V.v_W = pp_add(V.v_W, pp_cross(V.w_W, arm));
    }
    put_pose(w, &w->frame[i], w->v && !still ? &V : NULL);
    if (still) {
        pp_text_named(&w->t, "drive", "fixed");
    }
    if (massless) {
        pp_text_key(&w->t, "massless");
        pp_text_add(&w->t, "true}");
        return;
    }
    if (!still) {
        put_mass(w, i);
    }
    pp_text_key(&w->t, "shapes");
    pp_text_add(&w->t, "[");
    w->separator = "\n    ";
    pp_write_shapes(w, i, first, next);
    w->separator = ",\n  ";
    pp_text_add(&w->t, "]}");
}

// ── Joints ───────────────────────────────────────────────────────────────────────────────────────

// Whether drag between the two bodies is the damping of ball joint j: they must be bodies with mass.
bool pp_write_ball_damps(const pp_robot_writer *w, int j)
{
    const pp_robot *robot = w->robot;
    const pp_robot_body *body = &robot->body[robot->joint[j].body];
    int a = robot->body[body->parent].carrier;
    return body->joints == 1 && w->group[robot->joint[j].body].mass > 0.0 &&
           (a == 0 || w->group[a].mass > 0.0);
}

// Features that scenes have for joints with one coordinate only.
static void check_ball(pp_robot_writer *w, int j)
{
    const pp_robot_joint *joint = &w->robot->joint[j];
    if ((joint->damping > 0.0 && !pp_write_ball_damps(w, j)) || joint->stiffness > 0.0 ||
        joint->armature > 0.0 || joint->friction > 0.0 || joint->range.set) {
        pp_write_unused(w, joint->at, "stiffness, armature, friction and limits of ball joints",
                        "scenes have these for joints with one coordinate");
    }
}

static void put_coordinate(pp_robot_writer *w, const pp_robot_joint *joint, double value)
{
    static const double PI = 3.14159265358979323846;
    // The angle of a scene is relative to the orientation at the start.
    if (joint->kind == PP_ROBOT_HINGE) {
        pp_text_key_short(&w->t, "angle", -value);
        if (fabs(value) > PI) {
            pp_report_add(w->report, PERP_IMPORT_ASSUMED, joint->at,
                          "joints that start beyond half a turn start within it",
                          "angles at the start are in -pi to pi");
        }
    }
    if (joint->range.set) {
        pp_text_key_short(&w->t, "lower", joint->range.low);
        pp_text_key_short(&w->t, "upper", joint->range.high);
    }
    if (joint->armature > 0.0) {
        pp_text_key_short(&w->t, "armature", joint->armature);
    }
    if (joint->damping > 0.0) {
        pp_text_key_short(&w->t, "damping", joint->damping);
    }
    if (joint->stiffness > 0.0) {
        pp_text_key_short(&w->t, "stiffness", joint->stiffness);
        pp_text_key_short(&w->t, "rest", joint->springref);
    }
    if (joint->friction > 0.0) {
        pp_text_key_short(&w->t, "friction", joint->friction);
    }
}

// Joint j between the frames A and B of the scene, of bodies with the given names. X: the body after the joint.
void pp_write_joint(pp_robot_writer *w, int j)
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
    pp_write_next(w, w->joint_name[j]);
    static const char *const kinds[] = {"", "spherical", "prismatic", "revolute"};
    pp_text_named(&w->t, "kind", kinds[joint->kind]);
    pp_text_named(&w->t, "a", stage > 0 ? w->stage_name[j - 1] : w->body_name[parent]);
    pp_text_named(&w->t, "b", last ? w->body_name[joint->body] : w->stage_name[j]);
    // The anchor of a slide is where its coordinate is 0.
    perp_vec3 zero = joint->kind == PP_ROBOT_SLIDE ? pp_along(point, -value, axis) : point;
    pp_text_key_vec3(&w->t, "anchor_a", pp_pose_local(A, zero));
    pp_text_key_vec3(&w->t, "anchor_b", pp_pose_local(B, point));
    if (joint->kind == PP_ROBOT_BALL) {
        check_ball(w, j);
    } else {
        pp_text_key_vec3(&w->t, "axis", pp_mul_t(&A->R, axis));
        put_coordinate(w, joint, value);
    }
    // A body does not collide with the one that carries it, except the world.
    pp_text_key(&w->t, "collide");
    bool apart = (parent > 0 || stage > 0 || robot->apart_from_ground) && !robot->touch_parents;
    pp_text_add(&w->t, apart ? "false}" : "true}");
}

// A body that is kept is welded to the one that carries it.
void pp_write_weld(pp_robot_writer *w, int i)
{
    const pp_robot *robot = w->robot;
    int parent = robot->body[robot->body[i].parent].carrier;
    char name[160];
    pp_print(name, sizeof name, "%.100s weld", robot->body[i].name);
    pp_write_next(w, pp_write_name(w, PP_ROBOT_LIST_joint, name));
    pp_text_named(&w->t, "kind", "weld");
    pp_text_named(&w->t, "a", w->body_name[parent]);
    pp_text_named(&w->t, "b", w->body_name[i]);
    pp_text_key_vec3(&w->t, "anchor_a", pp_pose_local(&w->frame[parent], w->frame[i].p));
    pp_text_key_vec3(&w->t, "anchor_b", pp_vec(0.0, 0.0, 0.0));
    pp_text_key(&w->t, "collide");
    pp_text_add(&w->t, "false}");
}

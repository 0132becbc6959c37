// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Links of a URDF model that overlap where it starts.
//
// URDF has no list of links that do not collide: tools for it (SRDF files) exclude the pairs that overlap in the zero
// position, for shapes around joints do so by design. Here the same is done, pair by pair, with a line in the report.
// Overlaps are those of perp_sim_distance, in a model of one free body for each link.
#include "import/robot.h"

#include <perp/query.h>

#include <string.h>

enum { TRIES_MOST = 2000000 };  // pairs of shapes

// Overlaps that arithmetic can make are no reason to let links through each other [m]. Those that digits of the file make
// are: parts that touch by design and are held by their joints cannot be moved apart.
static const double DEEP = 1e-9;

typedef struct probe {
    pp_robot *robot;
    perp_builder *builder;
    perp_model *model;
    perp_sim *sim;
    perp_shape *shape;  // by geom; -1: none
    int *first, *next;  // geoms of each link
    int tries;
} probe;

static perp_shape_def shape_of(const pp_robot *robot, const pp_robot_geom *geom)
{
    static const perp_shape_kind kinds[] = {
        PERP_SHAPE_HALFSPACE, PERP_SHAPE_POINT,     PERP_SHAPE_SPHERE,
        PERP_SHAPE_CAPSULE,   PERP_SHAPE_ELLIPSOID, PERP_SHAPE_CYLINDER,
        PERP_SHAPE_BOX,       PERP_SHAPE_HULL,      PERP_SHAPE_POINT};
    perp_shape_def def = perp_shape_default();
    const double *s = geom->size;
    def.kind = kinds[geom->kind];
    def.position_B = geom->pos;
    def.rotation_BS = geom->quat;
    def.radius = s[0];
    def.half = pp_vec(s[0], s[1], s[2]);
    def.detect = false;
    if (geom->kind == PP_ROBOT_CAPSULE || geom->kind == PP_ROBOT_CYLINDER) {
        def.half.z = s[1];
    }
    if (geom->kind == PP_ROBOT_MESH) {
        def.vertices_S = robot->mesh[geom->mesh].hull;
        def.vertex_count = robot->mesh[geom->mesh].hull_vertices;
    }
    return def;
}

// A body for each link, where it is at the start.
static bool build(probe *p, const pp_pose *pose)
{
    const pp_robot *robot = p->robot;
    for (int i = 1; i < robot->bodies; i++) {
        perp_body_def body = perp_body_default();
        body.kind = PERP_BODY_SPATIAL;
        body.position_W = pose[i].p;
        body.rotation_WB = pp_matrix_quat(&pose[i].R);
        // Nothing moves here: any mass will do.
        body.mass = 1.0;
        body.inertia_B[0] = body.inertia_B[1] = body.inertia_B[2] = 1.0;
        perp_builder_add_body(p->builder, &body);
        p->first[i] = -1;
    }
    for (int k = robot->geoms - 1; k >= 0; k--) {
        pp_robot_geom *geom = &robot->geom[k];
        p->shape[k] = (perp_shape){-1};
        if (!geom->contype || geom->body == 0) {
            continue;
        }
        if (geom->kind == PP_ROBOT_MESH) {
            perp_error ignored;
            pp_robot_mesh *mesh = &robot->mesh[geom->mesh];
            if (mesh->missing || pp_robot_mesh_hull(mesh, robot->arena, &ignored) < 0) {
                continue;
            }
        }
        perp_shape_def def = shape_of(robot, geom);
        p->shape[k] = perp_builder_add_shape(p->builder, (perp_body){geom->body}, &def);
        p->next[k] = p->first[geom->body];
        p->first[geom->body] = k;
    }
    perp_sim_def def = perp_sim_default();
    def.start = PERP_START_AS_GIVEN;
    return perp_model_create(p->builder, &p->model, NULL) == PERP_OK &&
           perp_sim_create(p->model, &def, NULL, &p->sim, NULL) == PERP_OK;
}

// The deepest overlap of two links [m].
static double depth(probe *p, int a, int b)
{
    double deepest = 0.0;
    for (int i = p->first[a]; i >= 0; i = p->next[i]) {
        for (int j = p->first[b]; j >= 0; j = p->next[j]) {
            perp_distance found;
            if (++p->tries > TRIES_MOST) {
                return deepest;
            }
            if (perp_sim_distance(p->sim, p->shape[i], p->shape[j], &found) == PERP_OK &&
                -found.distance > deepest) {
                deepest = -found.distance;
            }
        }
    }
    return deepest;
}

// Links that a joint connects, or that are one body, do not collide anyway.
static bool apart(const pp_robot *robot, int a, int b)
{
    int i = robot->body[a].carrier, j = robot->body[b].carrier;
    return i != j && robot->body[robot->body[i].parent].carrier != j &&
           robot->body[robot->body[j].parent].carrier != i;
}

static perp_status exclude_pairs(probe *p, pp_import_report *report)
{
    pp_robot *robot = p->robot;
    for (int a = 1; a < robot->bodies; a++) {
        for (int b = a + 1; b < robot->bodies; b++) {
            if (p->first[a] < 0 || p->first[b] < 0 || !apart(robot, a, b)) {
                continue;
            }
            double deep = depth(p, a, b);
            if (!(deep > DEEP)) {
                continue;
            }
            pp_robot_exclude *exclude = pp_robot_add_exclude(robot);
            if (!exclude) {
                return PERP_ERR_MEMORY;
            }
            *exclude = (pp_robot_exclude){a, b};
            pp_report_say(
                report, PERP_IMPORT_REPAIRED, robot->body[b].at,
                "links '%.50s' and '%.50s' overlap by %.2g m at the start: they do not collide",
                robot->body[a].name, robot->body[b].name, deep);
        }
    }
    return PERP_OK;
}

perp_status pp_robot_part(pp_robot *robot, const perp_env *env, pp_import_report *report,
                          perp_error *error)
{
    size_t n = (size_t)robot->bodies, m = (size_t)robot->geoms + 1;
    probe p = {.robot = robot,
               .builder = perp_builder_create(env),
               .shape = PP_ZEROS(robot->arena, perp_shape, m),
               .first = PP_ZEROS(robot->arena, int, n),
               .next = PP_ZEROS(robot->arena, int, m)};
    pp_pose *pose = PP_ARRAY(robot->arena, pp_pose, n);
    double *q = pp_robot_reference(robot);
    perp_status status = PERP_ERR_MEMORY;
    if (p.builder && p.shape && p.first && p.next && pose && q) {
        pp_robot_poses(robot, q, pose, NULL);
        // A model that cannot be built is one that has faults of its own, which its scene will name.
        status = build(&p, pose) ? exclude_pairs(&p, report) : PERP_OK;
    }
    perp_sim_destroy(p.sim);
    perp_model_destroy(p.model);
    perp_builder_destroy(p.builder);
    return status < 0 ? pp_fail(error, status, "not enough memory for this model") : PERP_OK;
}

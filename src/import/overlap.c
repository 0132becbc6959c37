// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Links that overlap by design, and do not collide.
//
// URDF has no list of links that do not collide: tools for it (SRDF files) exclude the pairs that overlap in the zero
// position, for shapes around joints do so by design. Here the same is done, pair by pair, with a line in the report.
// In MJCF, bodies do not collide with those that carry them, except for those that a fixed base carries: such a pair is
// excluded if it overlaps wherever its joint is, so that nothing parts it. MuJoCo's soft contact bears such an overlap.
// Overlaps are those of perp_sim_distance, in a model of one free body for each link.
#include "import/write.h"

#include <perp/query.h>

#include <math.h>
#include <string.h>

enum { TRIES_MOST = 2000000 };  // pairs of shapes
enum { PLACES = 24 };           // of a joint that are looked at

// Overlaps that arithmetic can make are no reason to let links through each other [m]. Those that digits of the file make
// are: parts that touch by design and are held by their joints cannot be moved apart.
static const double DEEP = 1e-9;

typedef struct probe {
    pp_robot *robot;
    perp_builder *builder;
    perp_model *model;
    perp_sim *sim;
    perp_shape *shape;   // by geom; -1: none
    int *first, *next;   // geoms of each link
    const bool *wanted;  // by link; NULL: all
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
        if (!pp_robot_collides(geom) || geom->body == 0 || (p->wanted && !p->wanted[geom->body])) {
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
            const pp_robot_geom *ga = &p->robot->geom[i], *gb = &p->robot->geom[j];
            if (!(ga->contype & gb->conaffinity) && !(gb->contype & ga->conaffinity)) {
                continue;
            }
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

static perp_status exclude(probe *p, int a, int b, double deep, const char *where,
                           pp_import_report *report)
{
    pp_robot *robot = p->robot;
    pp_robot_exclude *to = pp_robot_add_exclude(robot);
    if (!to) {
        return PERP_ERR_MEMORY;
    }
    *to = (pp_robot_exclude){a, b};
    pp_report_say(report, PERP_IMPORT_REPAIRED, robot->body[b].at,
                  "links '%.50s' and '%.50s' overlap by %.2g m %s: they do not collide",
                  robot->body[a].name, robot->body[b].name, deep, where);
    return PERP_OK;
}

// Where everything overlaps with everything, there is nothing to repair.
static perp_status exclude_pairs(probe *p, pp_import_report *report, perp_error *error)
{
    enum { PAIRS_MOST = 20000 };
    const pp_robot *robot = p->robot;
    for (int a = 1; a < robot->bodies; a++) {
        for (int b = a + 1; b < robot->bodies; b++) {
            if (p->first[a] < 0 || p->first[b] < 0 || !apart(robot, a, b)) {
                continue;
            }
            double deep = depth(p, a, b);
            if (deep > DEEP && robot->excludes >= PAIRS_MOST) {
                return pp_xml_fail(robot->body[b].at, error,
                                   "more than %d pairs of links overlap at the start; move them "
                                   "apart, or remove their collision shapes",
                                   PAIRS_MOST);
            }
            if (deep > DEEP && exclude(p, a, b, deep, "at the start", report) < 0) {
                return PERP_ERR_MEMORY;
            }
        }
    }
    return PERP_OK;
}

// ── Mounts ───────────────────────────────────────────────────────────────────────────────────────

// The joint of body b if it turns or slides on a body that is fixed, but not the world itself; -1: it does not.
static int mount_joint(const pp_robot *robot, int b)
{
    const pp_robot_body *body = &robot->body[b];
    bool mounted = body->parent > 0 && robot->body[body->parent].carrier == 0 && body->joints == 1;
    if (!mounted) {
        return -1;
    }
    const pp_robot_joint *joint = &robot->joint[body->joint];
    bool bounded = joint->kind == PP_ROBOT_SLIDE && joint->range.set;
    return joint->kind == PP_ROBOT_HINGE || bounded ? body->joint : -1;
}

// The least overlap of b with its parent over all places of its joint [m]; negative: memory is out.
static double least_depth(probe *p, int b, double *q, pp_pose *pose)
{
    const pp_robot *robot = p->robot;
    const pp_robot_joint *joint = &robot->joint[mount_joint(robot, b)];
    double low = joint->range.set ? joint->range.low : -3.14159265358979;
    double high = joint->range.set ? joint->range.high : 3.14159265358979, least = HUGE_VAL;
    double *state = PP_ARRAY(robot->arena, double, 7 * (size_t)robot->bodies);
    double *rates = PP_ZEROS(robot->arena, double, 6 * (size_t)robot->bodies);
    double kept = q[joint->qpos];
    if (!state || !rates) {
        return -1.0;
    }
    for (int k = 0; k < PLACES && least > DEEP; k++) {
        q[joint->qpos] = low + (high - low) * k / (PLACES - 1);
        pp_robot_poses(robot, q, pose, NULL);
        for (int i = 1; i < robot->bodies; i++) {
            perp_quat r = pp_matrix_quat(&pose[i].R);
            const double at[7] = {pose[i].p.x, pose[i].p.y, pose[i].p.z, r.w, r.x, r.y, r.z};
            memcpy(state + 7 * ((size_t)i - 1), at, sizeof at);
        }
        bool placed = perp_sim_state_set(p->sim, 0.0, state, rates) == PERP_OK;
        least = placed ? fmin(least, depth(p, robot->body[b].parent, b)) : 0.0;
    }
    q[joint->qpos] = kept;
    return least;
}

static bool is_excluded(const pp_robot *robot, int a, int b)
{
    for (int k = 0; k < robot->excludes; k++) {
        const pp_robot_exclude *e = &robot->exclude[k];
        if ((e->a == a && e->b == b) || (e->a == b && e->b == a)) {
            return true;
        }
    }
    return false;
}

// Bodies on mounts, and the bodies that they are mounted on; NULL: there are none, or memory is out.
static bool *find_mounts(const pp_robot *robot)
{
    bool *wanted = PP_ZEROS(robot->arena, bool, robot->bodies), any = false;
    int count = wanted ? robot->bodies : 0;
    for (int b = 1; b < count; b++) {
        if (mount_joint(robot, b) >= 0 && !is_excluded(robot, robot->body[b].parent, b)) {
            any = wanted[b] = wanted[robot->body[b].parent] = true;
        }
    }
    return any ? wanted : NULL;
}

static perp_status exclude_mounts(probe *p, double *q, pp_pose *pose, pp_import_report *report)
{
    const pp_robot *robot = p->robot;
    for (int b = 1; b < robot->bodies; b++) {
        int a = robot->body[b].parent;
        if (!p->wanted[b] || mount_joint(robot, b) < 0 || p->first[a] < 0 || p->first[b] < 0 ||
            is_excluded(robot, a, b)) {
            continue;
        }
        double deep = least_depth(p, b, q, pose);
        if (deep < 0.0 ||
            (deep > DEEP &&
             exclude(p, a, b, deep, "in all positions of the joint between them", report) < 0)) {
            return PERP_ERR_MEMORY;
        }
    }
    return PERP_OK;
}

perp_status pp_robot_part(pp_robot *robot, bool mounts, const perp_env *env,
                          pp_import_report *report, perp_error *error)
{
    size_t n = (size_t)robot->bodies, m = (size_t)robot->geoms + 1;
    const bool *wanted = mounts ? find_mounts(robot) : NULL;
    if (mounts && !wanted) {
        return PERP_OK;
    }
    probe p = {.robot = robot,
               .wanted = wanted,
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
        bool built = build(&p, pose);
        status = built && !mounts ? exclude_pairs(&p, report, error) : PERP_OK;
        status = built && mounts ? exclude_mounts(&p, q, pose, report) : status;
    }
    perp_sim_destroy(p.sim);
    perp_model_destroy(p.model);
    perp_builder_destroy(p.builder);
    return status == PERP_ERR_MEMORY ? pp_fail(error, status, "not enough memory for this model")
                                     : status;
}

// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
#include "import/robot.h"

#include <string.h>

// ── Lists ────────────────────────────────────────────────────────────────────────────────────────

// A larger array with the same contents, in the arena; NULL: no memory. The old one stays in the arena:
// doubling keeps the waste below its size.
static void *grown(pp_arena *arena, const void *old, int count, size_t size, int *room)
{
    int larger = 2 * *room + 16;
    char *array = pp_arena_zeros(arena, (size_t)larger, size);
    if (array && count > 0) {
        memcpy(array, old, (size_t)count * size);
    }
    *room = array ? larger : *room;
    return array;
}

#define ADD(one, many)                                                                             \
    pp_robot_##one *pp_robot_add_##one(pp_robot *robot)                                            \
    {                                                                                              \
        if (robot->many == robot->one##_room) {                                                    \
            pp_robot_##one *list = grown(robot->arena, robot->one, robot->many,                    \
                                         sizeof(pp_robot_##one), &robot->one##_room);              \
            if (!list) {                                                                           \
                return NULL;                                                                       \
            }                                                                                      \
            robot->one = list;                                                                     \
        }                                                                                          \
        return &robot->one[robot->many++];                                                         \
    }
PP_ROBOT_LISTS(ADD)

// ── Names ────────────────────────────────────────────────────────────────────────────────────────

static pp_robot_entry *slot_of(const pp_robot *robot, pp_robot_list list, const char *name)
{
    uint64_t hash = pp_hash((uint64_t)list + 1, name, strlen(name));
    size_t mask = (size_t)robot->entry_room - 1;
    // The table is never full, so that the search ends.
    for (size_t k = (size_t)hash & mask;; k = (k + 1) & mask) {
        pp_robot_entry *entry = &robot->entry[k];
        if (!entry->name || (entry->list == list && strcmp(entry->name, name) == 0)) {
            return entry;
        }
    }
}

// Doubles the table; false without memory.
static bool widen(pp_robot *robot)
{
    pp_robot wider = *robot;
    wider.entry_room = robot->entry_room > 0 ? 2 * robot->entry_room : 64;
    wider.entry = PP_ZEROS(robot->arena, pp_robot_entry, wider.entry_room);
    if (!wider.entry) {
        return false;
    }
    for (int k = 0; k < robot->entry_room; k++) {
        const pp_robot_entry *old = &robot->entry[k];
        if (old->name) {
            *slot_of(&wider, old->list, old->name) = *old;
        }
    }
    robot->entry = wider.entry;
    robot->entry_room = wider.entry_room;
    return true;
}

bool pp_robot_enter(pp_robot *robot, pp_robot_list list, const char *name, int index, bool *full)
{
    *full = 2 * robot->entries >= robot->entry_room && !widen(robot);
    if (*full) {
        return false;
    }
    pp_robot_entry *entry = slot_of(robot, list, name);
    if (entry->name) {
        return false;
    }
    *entry = (pp_robot_entry){name, list, index};
    robot->entries++;
    return true;
}

int pp_robot_find(const pp_robot *robot, pp_robot_list list, const char *name)
{
    if (robot->entry_room == 0) {
        return -1;
    }
    const pp_robot_entry *entry = slot_of(robot, list, name);
    return entry->name ? entry->index : -1;
}

double pp_robot_clamp(const pp_robot_range *range, double x)
{
    x = range->set && x < range->low ? range->low : x;
    return range->set && x > range->high ? range->high : x;
}

// ── Coordinates ──────────────────────────────────────────────────────────────────────────────────

void pp_robot_number(pp_robot *robot)
{
    static const int positions[] = {7, 4, 1, 1},
                     velocities[] = {6, 3, 1, 1};  // free ball slide hinge
    robot->nq = robot->nv = 0;
    for (int i = 0; i < robot->bodies; i++) {
        pp_robot_body *body = &robot->body[i];
        body->carrier = i;
        if (i > 0 && ((body->joints == 0 && !body->kept) || body->mocap)) {
            body->carrier = body->mocap ? 0 : robot->body[body->parent].carrier;
        }
    }
    for (int j = 0; j < robot->joints; j++) {
        pp_robot_joint *joint = &robot->joint[j];
        joint->qpos = robot->nq;
        joint->dof = robot->nv;
        robot->nq += positions[joint->kind];
        robot->nv += velocities[joint->kind];
    }
}

double *pp_robot_reference(const pp_robot *robot)
{
    double *q = PP_ZEROS(robot->arena, double, robot->nq + 1);
    int count = q ? robot->joints : 0;
    for (int j = 0; j < count; j++) {
        const pp_robot_joint *joint = &robot->joint[j];
        const pp_robot_body *body = &robot->body[joint->body];
        double *to = q + joint->qpos;
        if (joint->kind == PP_ROBOT_FREE) {
            const double pose[7] = {body->pos.x,  body->pos.y,  body->pos.z, body->quat.w,
                                    body->quat.x, body->quat.y, body->quat.z};
            memcpy(to, pose, sizeof pose);
        } else if (joint->kind == PP_ROBOT_BALL) {
            to[0] = 1.0;
        } else {
            to[0] = joint->ref;
        }
    }
    return q;
}

double *pp_robot_relaxed(const pp_robot *robot)
{
    double *q = pp_robot_reference(robot);
    int count = q ? robot->joints : 0;
    for (int j = 0; j < count; j++) {
        const pp_robot_joint *joint = &robot->joint[j];
        if (joint->kind >= PP_ROBOT_SLIDE) {
            q[joint->qpos] = joint->springref;
        }
    }
    return q;
}

double pp_robot_tendon_length(const pp_robot *robot, const pp_robot_tendon *tendon,
                              const double *qpos, const pp_pose *pose)
{
    double sum = 0.0;
    for (int k = 0; k < tendon->terms; k++) {
        sum += tendon->term[k].coefficient * qpos[robot->joint[tendon->term[k].joint].qpos];
    }
    for (int k = 0; k < tendon->spans; k++) {
        const pp_robot_site *a = &robot->site[tendon->span[k].a];
        const pp_robot_site *b = &robot->site[tendon->span[k].b];
        perp_vec3 pa = pp_pose_point(&pose[a->body], a->pos);
        perp_vec3 pb = pp_pose_point(&pose[b->body], b->pos);
        sum += tendon->span[k].factor * pp_length(pp_sub(pb, pa));
    }
    return sum;
}

// Moves the body by one of its joints: X is its pose before, and becomes that after.
static void move_by(const pp_robot_joint *joint, const double *q, pp_pose *X)
{
    if (joint->kind == PP_ROBOT_FREE) {
        X->p = pp_vec(q[0], q[1], q[2]);
        X->R = pp_quat_matrix(pp_quat_unit((perp_quat){q[3], q[4], q[5], q[6]}));
        return;
    }
    if (joint->kind == PP_ROBOT_SLIDE) {
        X->p = pp_along(X->p, q[0] - joint->ref, pp_mul(&X->R, joint->axis));
        return;
    }
    // The anchor stays where it is.
    perp_vec3 anchor = pp_pose_point(X, joint->pos);
    perp_quat turn = joint->kind == PP_ROBOT_HINGE
                         ? pp_quat_exp(pp_scale(q[0] - joint->ref, joint->axis))
                         : pp_quat_unit((perp_quat){q[0], q[1], q[2], q[3]});
    pp_mat3 R = pp_quat_matrix(turn);
    X->R = pp_mat_mul(&X->R, &R);
    X->p = pp_sub(anchor, pp_mul(&X->R, joint->pos));
}

void pp_robot_poses(const pp_robot *robot, const double *qpos, pp_pose *pose, pp_pose *after)
{
    for (int i = 0; i < robot->bodies; i++) {
        const pp_robot_body *body = &robot->body[i];
        pp_pose local = {body->pos, pp_quat_matrix(body->quat)};
        pose[i] = i > 0 ? pp_pose_mul(&pose[body->parent], &local) : local;
        for (int k = 0; k < body->joints; k++) {
            const pp_robot_joint *joint = &robot->joint[body->joint + k];
            move_by(joint, qpos + joint->qpos, &pose[i]);
            if (after) {
                after[body->joint + k] = pose[i];
            }
        }
    }
}

// V is the velocity of the frame at p before the joint, and becomes that of the frame X after it.
static void move_velocity(const pp_robot_joint *joint, const double *v, const pp_pose *X,
                          perp_vec3 p, perp_twist *V)
{
    if (joint->kind == PP_ROBOT_FREE) {
        V->v_W = pp_vec(v[0], v[1], v[2]);
        V->w_W = pp_mul(&X->R, pp_vec(v[3], v[4], v[5]));
        return;
    }
    if (joint->kind == PP_ROBOT_SLIDE) {
        V->v_W = pp_add(V->v_W, pp_cross(V->w_W, pp_sub(X->p, p)));
        V->v_W = pp_along(V->v_W, v[0], pp_mul(&X->R, joint->axis));
        return;
    }
    perp_vec3 spin =
        joint->kind == PP_ROBOT_HINGE ? pp_scale(v[0], joint->axis) : pp_vec(v[0], v[1], v[2]);
    perp_vec3 anchor = pp_pose_point(X, joint->pos);
    V->v_W = pp_add(V->v_W, pp_cross(V->w_W, pp_sub(anchor, p)));
    V->w_W = pp_add(V->w_W, pp_mul(&X->R, spin));
    V->v_W = pp_add(V->v_W, pp_cross(V->w_W, pp_sub(X->p, anchor)));
}

void pp_robot_velocities(const pp_robot *robot, const pp_pose *pose, const pp_pose *after,
                         const double *qvel, perp_twist *twist, perp_twist *body_twist)
{
    for (int i = 1; i < robot->bodies; i++) {
        const pp_robot_body *body = &robot->body[i];
        const pp_pose *parent = &pose[body->parent];
        // As if rigid with the parent, then the motion of the joints one by one.
        perp_twist V = body_twist[body->parent];
        perp_vec3 p = body->joints > 0 ? pp_pose_point(parent, body->pos) : pose[i].p;
        V.v_W = pp_add(V.v_W, pp_cross(V.w_W, pp_sub(p, parent->p)));
        for (int k = 0; k < body->joints; k++) {
            int j = body->joint + k;
            move_velocity(&robot->joint[j], qvel + robot->joint[j].dof, &after[j], p, &V);
            twist[j] = V;
            p = after[j].p;
        }
        body_twist[i] = V;
    }
}

// Whether a body is the other one, or is carried by it.
static bool carries(const pp_robot *robot, int root, int body)
{
    while (body > root) {
        body = robot->body[body].parent;  // parents come first
    }
    return body == root;
}

double pp_robot_joint_inertia(const pp_robot *robot, const pp_pose *pose, int j)
{
    const pp_robot_joint *joint = &robot->joint[j];
    const pp_pose *X = &pose[joint->body];
    perp_vec3 axis = pp_mul(&X->R, joint->axis), anchor = pp_pose_point(X, joint->pos);
    double sum = joint->armature;
    for (int i = joint->body; i < robot->bodies; i++) {
        const pp_robot_body *body = &robot->body[i];
        if (!carries(robot, joint->body, i)) {
            break;  // bodies that it carries follow it, depth first
        }
        if (joint->kind == PP_ROBOT_SLIDE) {
            sum += body->mass;
            continue;
        }
        pp_mat3 I = pp_turn_tensor(&pose[i].R, &body->inertia);
        perp_vec3 arm = pp_cross(axis, pp_sub(pp_pose_point(&pose[i], body->com), anchor));
        sum += pp_dot3(axis, pp_mul(&I, axis)) + body->mass * pp_dot3(arm, arm);
    }
    return sum;
}

// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Which joints make the tree, and in which order its links are numbered.
//
// The tree is a forest of joints with as many equations as possible, or one that a user names
// (Kruskal's algorithm). No two roots are connected in it. Roots are the bodies that are not free,
// and particles: these do not turn, and so cannot be carried by a joint. Links are numbered breadth
// first.
#include "tree/hinge.h"

#include <string.h>

enum { MOST_ROWS = 6, AT_MASSLESS = 2 * MOST_ROWS, LEVELS };

typedef struct grower {
    const perp_model *model;
    int *set;      // bodies: union-find forest, parent of each, -1: root
    bool *rooted;  // roots of that forest: some body of the set can only be a root of the tree
    bool *chosen;  // joints
    // joints of body i: first[i]..first[i + 1]
    int *first, *joint;
    int *waiting[LEVELS], begin[LEVELS], end[LEVELS];  // queues of joints, by their weight
    bool *placed;                                      // bodies
    int *queue;  // bodies in the order in which they are placed
    int queued;
} grower;

// Number of relative velocities that a joint takes away, of six (in the plane three); 0: the joint
// cannot carry a link, since it leaves no coordinates that determine the place of its body.
static int carried_rows(const perp_model *model, const pp_joint *j)
{
    if (j->a == j->b) {
        return 0;
    }
    switch (j->kind) {
    case PERP_JOINT_REVOLUTE:
    case PERP_JOINT_PRISMATIC:
        return model->spatial ? 5 : 2;
    case PERP_JOINT_WELD:
        return model->spatial ? 6 : 3;
    case PERP_JOINT_SPHERICAL:
    case PERP_JOINT_PLANAR:
        return 3;
    case PERP_JOINT_CYLINDRICAL:
    case PERP_JOINT_UNIVERSAL:
        return 4;
    case PERP_JOINT_SCREW:
        return 5;
    default:
        return 0;
    }
}

// The link of a joint, in the plane and in space alike.
static pp_link_kind link_kind_of(const pp_joint *j)
{
    switch (j->kind) {
    case PERP_JOINT_REVOLUTE:
        return PP_LINK_REVOLUTE;
    case PERP_JOINT_PRISMATIC:
        return PP_LINK_PRISMATIC;
    case PERP_JOINT_SCREW:
        return PP_LINK_SCREW;
    case PERP_JOINT_CYLINDRICAL:
        return PP_LINK_CYLINDRICAL;
    case PERP_JOINT_UNIVERSAL:
        return PP_LINK_UNIVERSAL;
    case PERP_JOINT_PLANAR:
        return PP_LINK_PLANE;
    case PERP_JOINT_SPHERICAL:
        return PP_LINK_SPHERICAL;
    default:
        return PP_LINK_WELD;
    }
}

// Bodies that no joint of the tree can carry: those that are not free, and particles, which have no
// axes for a joint.
static bool is_root(const pp_body *body)
{
    return body->nv == 0 || !pp_body_turns(body);
}

// Root of a set, with path compression.
static int end_of(const grower *g, int body)
{
    int end = body;
    while (g->set[end] >= 0) {
        end = g->set[end];
    }
    while (g->set[body] >= 0) {
        int next = g->set[body];
        g->set[body] = end;
        body = next;
    }
    return end;
}

// Takes a joint into the tree unless it closes a loop or connects two roots.
static bool choose_tree_joint(grower *g, int joint)
{
    const pp_joint *j = &g->model->joint[joint];
    int a = end_of(g, j->a), b = end_of(g, j->b);
    if (a == b || (g->rooted[a] && g->rooted[b])) {
        return false;
    }
    g->set[b] = a;
    g->rooted[a] = g->rooted[a] || g->rooted[b];
    g->chosen[joint] = true;
    return true;
}

// Takes the joints that the caller names, or reports why one cannot be in the tree.
static perp_status choose_named(grower *g, const int *joints, int count, perp_error *error)
{
    const perp_model *m = g->model;
    for (int i = 0; i < count; i++) {
        if (joints[i] < 0 || joints[i] >= m->joints) {
            return pp_fail(error, PERP_ERR_ARGUMENT, "joint %d does not exist", joints[i]);
        }
        const pp_joint *j = &m->joint[joints[i]];
        if (carried_rows(m, j) == 0) {
            return pp_fail(error, PERP_ERR_ARGUMENT,
                           "joint '%s' cannot be in the tree: distance, angle, point_on_line, "
                           "gear and coupling joints are always equations",
                           j->name);
        }
        if (g->chosen[joints[i]]) {
            return pp_fail(error, PERP_ERR_ARGUMENT, "joint '%s' is listed twice", j->name);
        }
        if (!choose_tree_joint(g, joints[i])) {
            return pp_fail(error, PERP_ERR_ARGUMENT,
                           "joint '%s' cannot be in the tree: '%s' and '%s' are already connected",
                           j->name, m->body[j->a].name, m->body[j->b].name);
        }
    }
    return PERP_OK;
}

// Joints of each body in compressed rows: those that were chosen, or all that could be.
static void list_joints(grower *g, bool all)
{
    const perp_model *m = g->model;
    memset(g->first, 0, ((size_t)m->bodies + 1) * sizeof *g->first);
    for (int i = 0; i < m->joints; i++) {
        if (all ? carried_rows(m, &m->joint[i]) > 0 : g->chosen[i]) {
            g->first[m->joint[i].a + 1]++;
            g->first[m->joint[i].b + 1]++;
        }
    }
    for (int i = 0; i < m->bodies; i++) {
        g->first[i + 1] += g->first[i];
    }
    int *next = g->queue;  // as scratch: not in use yet
    memcpy(next, g->first, (size_t)m->bodies * sizeof *next);
    for (int i = 0; i < m->joints; i++) {
        if (all ? carried_rows(m, &m->joint[i]) > 0 : g->chosen[i]) {
            g->joint[next[m->joint[i].a]++] = i;
            g->joint[next[m->joint[i].b]++] = i;
        }
    }
}

// ── The tree with most equations ─────────────────────────────────────────────────────────────────
// Prim's algorithm with the number of equations as weight: of the joints at the border of the tree
// one with most equations is taken next, so that the loops that remain have as few as possible.
// Among equal ones those with an armature come first, since H has rotors of the tree only; then the
// first reached, which keeps trees shallow. Joints at massless bodies come before all others: such a body must carry what is
// behind it, and not be left for the end of a loop.

// A body becomes part of the tree; its joints wait in the queue of their weight.
static void enqueue_body(grower *g, int body)
{
    g->placed[body] = true;
    for (int i = g->first[body]; i < g->first[body + 1]; i++) {
        int joint = g->joint[i], rows = carried_rows(g->model, &g->model->joint[joint]);
        const pp_joint *j = &g->model->joint[joint];
        int level = 2 * (rows - 1) + (j->armature > 0.0 ? 1 : 0);
        if (g->model->body[j->a].massless || g->model->body[j->b].massless) {
            level = AT_MASSLESS;
        }
        g->waiting[level][g->end[level]++] = joint;
    }
}

// Grows the tree until no joint waits. A new body may bring joints of higher weight, so that the
// search starts again at the top.
static void grow_tree(grower *g)
{
    int level = LEVELS - 1;
    while (level >= 0) {
        if (g->begin[level] == g->end[level]) {
            level--;
            continue;
        }
        int joint = g->waiting[level][g->begin[level]++];
        const pp_joint *j = &g->model->joint[joint];
        int other = g->placed[j->a] ? j->b : j->a;
        if (!g->placed[other]) {
            g->chosen[joint] = true;
            enqueue_body(g, other);
            level = LEVELS - 1;
        }
    }
}

// From all roots at once, then from a body of each group that floats freely, one with mass.
static void choose_most(grower *g)
{
    const perp_model *m = g->model;
    list_joints(g, true);
    for (int i = 0; i < m->bodies; i++) {
        if (is_root(&m->body[i])) {
            enqueue_body(g, i);
        }
    }
    grow_tree(g);
    for (int i = 0; i < 2 * m->bodies; i++) {
        int body = i % m->bodies;
        if (!g->placed[body] && (i >= m->bodies || !m->body[body].massless)) {
            enqueue_body(g, body);
            grow_tree(g);
        }
    }
    memset(g->placed, 0, (size_t)m->bodies * sizeof *g->placed);
}

// ── Order ────────────────────────────────────────────────────────────────────────────────────────

// Appends a link, with its places in q and qd. Parents come first, which all recursions rely on.
static void add_link(pp_tree *t, grower *g, int body, int carrier, int joint, pp_link_kind kind)
{
    pp_link *l = &t->link[t->links];
    *l = (pp_link){.body = body,
                   .parent = joint < 0 ? -1 : t->of_body[carrier],
                   .carrier = carrier,
                   .joint = joint,
                   .turned = joint >= 0 && t->model->joint[joint].a == body,
                   .kind = kind,
                   .nq = pp_link_nq(t->model, body, kind),
                   .nv = pp_link_nv(t->model, body, kind),
                   .at_q = t->nq,
                   .at_v = t->nv};
    t->of_body[body] = t->links++;
    t->nq += l->nq;
    t->nv += l->nv;
    g->placed[body] = true;
    g->queue[g->queued++] = body;
}

// Appends the children of the bodies queued from `from` on, and their children: breadth first.
static void visit_children(pp_tree *t, grower *g, int from)
{
    for (int k = from; k < g->queued; k++) {
        int body = g->queue[k];
        for (int i = g->first[body]; i < g->first[body + 1]; i++) {
            const pp_joint *j = &t->model->joint[g->joint[i]];
            int other = j->a == body ? j->b : j->a;
            if (!g->placed[other]) {
                add_link(t, g, other, body, g->joint[i], link_kind_of(j));
            }
        }
    }
}

// A body that no joint of the tree leads to moves freely, with coordinates in the world.
static void root_at(pp_tree *t, grower *g, int body)
{
    if (g->placed[body]) {
        return;
    }
    const pp_body *b = &t->model->body[body];
    int from = g->queued;
    pp_link_kind kind = PP_LINK_POINT;
    if (pp_body_turns(b)) {
        kind = pp_body_is_spatial(b) ? PP_LINK_FREE : PP_LINK_FLAT;
    }
    add_link(t, g, body, 0, -1, kind);
    visit_children(t, g, from);
}

// Numbers links breadth first: from bodies that are not free, from particles, from the bodies of
// named joints, then from any body that is left.
static void order_links(pp_tree *t, grower *g, const int *joints, int count)
{
    const perp_model *m = t->model;
    list_joints(g, false);
    for (int i = 0; i < m->bodies; i++) {
        if (m->body[i].nv == 0) {
            g->placed[i] = true;
            g->queue[g->queued++] = i;
        }
    }
    visit_children(t, g, 0);
    for (int i = 0; i < m->bodies; i++) {
        if (is_root(&m->body[i])) {
            root_at(t, g, i);
        }
    }
    for (int i = 0; i < count; i++) {
        int root = m->joint[joints[i]].a;
        // a massless root would not be determined
        if (!m->body[root].massless) {
            root_at(t, g, root);
        }
    }
    for (int i = 0; i < 2 * m->bodies; i++) {
        int body = i % m->bodies;
        if (i >= m->bodies || !m->body[body].massless) {
            root_at(t, g, body);
        }
    }
}

// parent_v, the velocity before each on the path to the root, is the sparsity of H. Joints that
// were not chosen are loops.
static perp_status finish_tree(pp_tree *t, const grower *g, pp_arena *arena)
{
    const perp_model *m = t->model;
    int *last = PP_ARRAY(arena, int, t->links);
    t->parent_v = PP_ARRAY(arena, int, t->nv);
    t->rotor = PP_ZEROS(arena, double, t->nv);
    t->hinge = PP_ARRAY(arena, pp_hinge, t->links);
    t->loop = PP_ARRAY(arena, int, m->joints);
    if (!last || !t->parent_v || !t->rotor || !t->hinge || !t->loop) {
        return PERP_ERR_MEMORY;
    }
    for (int i = 0; i < t->links; i++) {
        const pp_link *l = &t->link[i];
        int before = l->parent < 0 ? -1 : last[l->parent];  // welds have no velocity of their own
        for (int k = 0; k < l->nv; k++) {
            t->parent_v[l->at_v + k] = before;
            t->rotor[l->at_v + k] = l->joint >= 0 ? t->model->joint[l->joint].armature : 0.0;
            before = l->at_v + k;
        }
        last[i] = before;
        pp_hinge_make(t, l, &t->hinge[i]);
    }
    for (int i = 0; i < m->joints; i++) {
        if (!g->chosen[i]) {
            t->loop[t->loops++] = i;
        }
    }
    return PERP_OK;
}

// Scratch arrays of the search.
static bool start_grower(grower *g, const perp_model *m, pp_arena *arena)
{
    size_t bodies = (size_t)m->bodies;
    *g = (grower){.model = m};
    g->set = PP_ARRAY(arena, int, bodies);
    g->rooted = PP_ZEROS(arena, bool, bodies);
    g->chosen = PP_ZEROS(arena, bool, m->joints);
    g->first = PP_ZEROS(arena, int, bodies + 1);
    g->joint = PP_ARRAY(arena, int, 2 * (size_t)m->joints);
    g->placed = PP_ZEROS(arena, bool, bodies);
    g->queue = PP_ARRAY(arena, int, bodies);
    for (int k = 0; k < LEVELS; k++) {
        g->waiting[k] = PP_ARRAY(arena, int, 2 * (size_t)m->joints);
        if (!g->waiting[k]) {
            return false;
        }
    }
    if (!g->set || !g->rooted || !g->chosen || !g->first || !g->joint || !g->placed || !g->queue) {
        return false;
    }
    for (int i = 0; i < m->bodies; i++) {
        g->set[i] = -1;
        g->rooted[i] = is_root(&m->body[i]);
    }
    return true;
}

// H is positive definite only if every link carries some mass, its own or that of the links on it. A massless body
// that no joint of the tree carries would not be determined.
static perp_status check_massless(const pp_tree *t, pp_arena *arena, perp_error *error)
{
    bool *carries = PP_ZEROS(arena, bool, t->links);
    if (!carries) {
        return pp_fail(error, PERP_ERR_MEMORY, "not enough memory for the tree of joints");
    }
    for (int i = t->links - 1; i >= 0; i--) {
        const pp_link *l = &t->link[i];
        const pp_body *body = &t->model->body[l->body];
        carries[i] = carries[i] || !body->massless;
        if (!carries[i] || (body->massless && l->joint < 0)) {
            return pp_fail(
                error, PERP_ERR_MODEL,
                "body '%s': a massless body must be between a body that carries it and "
                "one with mass that it carries; name joints of 'tree' in such an order, or "
                "give it a mass",
                body->name);
        }
        if (l->parent >= 0) {
            carries[l->parent] = true;
        }
    }
    return PERP_OK;
}

// A model without joints gives a tree of free bodies.
// Chooses joints, then numbers links, then prepares their constants.
perp_status pp_tree_create(pp_tree *out, const perp_model *model, const int *joints, int count,
                           pp_arena *arena, perp_error *error)
{
    grower g;
    *out = (pp_tree){.model = model};
    out->link = PP_ARRAY(arena, pp_link, model->bodies);
    out->of_body = PP_ARRAY(arena, int, model->bodies);
    if (!out->link || !out->of_body || !start_grower(&g, model, arena)) {
        return pp_fail(error, PERP_ERR_MEMORY, "not enough memory for the tree of joints");
    }
    for (int i = 0; i < model->bodies; i++) {
        out->of_body[i] = -1;
    }
    count = joints ? count : 0;
    perp_status status = choose_named(&g, joints, count, error);
    if (status < 0) {
        return status;
    }
    if (count > 0) {
        // After the named joints the others in their order, unless they close a loop.
        for (int i = 0; i < model->joints; i++) {
            if (!g.chosen[i] && carried_rows(model, &model->joint[i]) > 0) {
                choose_tree_joint(&g, i);
            }
        }
    } else {
        choose_most(&g);
    }
    order_links(out, &g, joints, count);
    status = finish_tree(out, &g, arena);
    if (status < 0) {
        return pp_fail(error, status, "not enough memory for the tree of joints");
    }
    return check_massless(out, arena, error);
}

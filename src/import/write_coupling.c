// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Equalities and tendons of a robot, as joints and couplings of a scene.
#include "import/write.h"

// ── Equalities ───────────────────────────────────────────────────────────────────────────────────

void pp_write_link(pp_robot_writer *w, const pp_robot_equality *equality)
{
    const pp_robot *robot = w->robot;
    int a = robot->body[equality->a].carrier, b = robot->body[equality->b].carrier;
    if (a == b) {
        pp_write_unused(w, equality->at, "equalities within a rigid group of bodies",
                        "they have no effect");
        return;
    }
    perp_vec3 at_a = pp_pose_point(&w->pose[equality->a], equality->anchor_a);
    perp_vec3 at_b = pp_pose_point(&w->pose[equality->b], equality->anchor_b);
    bool weld = equality->kind == PP_ROBOT_WELD;
    pp_write_next(w, pp_write_name(w, PP_ROBOT_LIST_joint, equality->name));
    pp_text_named(&w->t, "kind", weld ? "weld" : "spherical");
    pp_text_named(&w->t, "a", w->body_name[a]);
    pp_text_named(&w->t, "b", w->body_name[b]);
    pp_text_key_vec3(&w->t, "anchor_a", pp_pose_local(&w->frame[a], at_a));
    pp_text_key_vec3(&w->t, "anchor_b", pp_pose_local(&w->frame[b], at_b));
    pp_text_key(&w->t, "collide");
    pp_text_add(&w->t, "true}");
    if (weld) {
        pp_report_add(w->report, PERP_IMPORT_ASSUMED, equality->at,
                      "welded bodies keep the relative rotation of the start", "");
    }
}

// ── Couplings ────────────────────────────────────────────────────────────────────────────────────

enum { TERMS_MOST = 16, BODIES_MOST = 8 };  // of a coupling

// A number in an expression, in parentheses if it is negative.
static void put_factor(pp_text *t, double x)
{
    pp_text_add(t, x < 0.0 ? "(" : "");
    pp_text_short(t, x);
    pp_text_add(t, x < 0.0 ? ")" : "");
}

// The sum of the terms, as an expression.
static void put_sum(pp_robot_writer *w, pp_text *t, const pp_robot_term *term, int terms)
{
    for (int k = 0; k < terms; k++) {
        pp_text_add(t, k > 0 ? " + " : "");
        if (term[k].coefficient != 1.0) {
            put_factor(t, term[k].coefficient);
            pp_text_add(t, "*");
        }
        pp_text_add(t, "q[");
        pp_text_add(t, w->joint_name[term[k].joint]);
        pp_text_add(t, "]");
    }
    if (terms == 0) {
        pp_text_add(t, "0");
    }
}

// Adds the free bodies of the scene that joint j connects to a list; massless ones have negative numbers.
static void add_ends(const pp_robot_writer *w, int j, int *list, int *count)
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
static bool coupling_fits(const pp_robot_writer *w, const pp_robot_term *a, int na,
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

static double sum_at_reference(const pp_robot_writer *w, const pp_robot_term *term, int terms)
{
    double sum = 0.0;
    for (int k = 0; k < terms; k++) {
        sum += term[k].coefficient * w->robot->joint[term[k].joint].ref;
    }
    return sum;
}

// (x - x0) - (c0 + c1 y + c2 y^2 + ...) = 0 with y the difference of the other sum from its reference.
static void put_polynomial(pp_robot_writer *w, const pp_robot_equality *equality,
                           const pp_robot_term *a, int na, const pp_robot_term *b, int nb)
{
    pp_text t = {.arena = w->robot->arena}, y = {.arena = w->robot->arena};
    const double *c = equality->polynomial;
    pp_text_add(&y, "(");
    put_sum(w, &y, b, nb);
    pp_text_add(&y, " - ");
    put_factor(&y, sum_at_reference(w, b, nb));
    pp_text_add(&y, ")");
    put_sum(w, &t, a, na);
    pp_text_add(&t, " - ");
    put_factor(&t, sum_at_reference(w, a, na) + c[0]);
    // A missing second object leaves the constant.
    for (int k = 1; k < 5; k++) {
        if (equality->b >= 0 && c[k] != 0.0 && y.data) {
            char power[8] = "";
            pp_print(power, sizeof power, "^%d", k);
            pp_text_add(&t, " - ");
            put_factor(&t, c[k]);
            pp_text_add(&t, "*");
            pp_text_add(&t, y.data);
            pp_text_add(&t, k > 1 ? power : "");
        }
    }
    w->t.infinite = w->t.infinite || t.infinite || y.infinite;
    if (t.failed || y.failed) {
        pp_write_memory(w);
        return;
    }
    pp_write_next(w, pp_write_name(w, PP_ROBOT_LIST_joint, equality->name));
    pp_text_named(&w->t, "kind", "coupling");
    pp_text_named(&w->t, "coordinate", t.data);
    pp_text_key_short(&w->t, "target", 0.0);
    pp_text_add(&w->t, "}");
}

// Equalities of joints and tendons.
void pp_write_coupling(pp_robot_writer *w, const pp_robot_equality *equality)
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
        pp_write_unused(
            w, equality->at, "equalities of spatial tendons, ball joints or very many joints",
            "couplings of scenes have at most 16 joints with one coordinate and 8 bodies");
        return;
    }
    put_polynomial(w, equality, a, na, b, nb);
}

// Limits, spring, damper and friction of a tendon.
static void put_tendon_forces(pp_robot_writer *w, const pp_robot_tendon *tendon)
{
    if (tendon->range.set) {
        pp_text_key_short(&w->t, "lower", tendon->range.low);
        pp_text_key_short(&w->t, "upper", tendon->range.high);
    }
    if (tendon->damping > 0.0) {
        pp_text_key_short(&w->t, "damping", tendon->damping);
    }
    if (tendon->stiffness > 0.0 && tendon->spring[0] == tendon->spring[1]) {
        pp_text_key_short(&w->t, "stiffness", tendon->stiffness);
        pp_text_key_short(&w->t, "rest", tendon->spring[0]);
    } else if (tendon->stiffness > 0.0) {
        pp_write_unused(w, tendon->at, "springs of tendons with slack",
                        "springs of scenes have one rest length");
    }
    if (tendon->friction > 0.0) {
        pp_text_key_short(&w->t, "friction", tendon->friction);
    }
}

// A fixed tendon that does something.
void pp_write_tendon(pp_robot_writer *w, int k)
{
    const pp_robot_tendon *tendon = &w->robot->tendon[k];
    bool acts = tendon->used || tendon->range.set || tendon->stiffness > 0.0 ||
                tendon->damping > 0.0 || tendon->friction > 0.0;
    if (tendon->spatial || tendon->terms == 0 ||
        !coupling_fits(w, tendon->term, tendon->terms, NULL, 0)) {
        pp_write_unused(
            w, tendon->at, "spatial tendons, and those over very many joints",
            "couplings of scenes have at most 16 joints with one coordinate and 8 bodies");
        return;
    }
    if (!acts) {
        pp_write_unused(w, tendon->at, "tendons without effect", "nothing refers to them");
        return;
    }
    // The expression is written apart, since it becomes a string.
    pp_text sum = {.arena = w->robot->arena};
    put_sum(w, &sum, tendon->term, tendon->terms);
    w->t.infinite = w->t.infinite || sum.infinite;
    if (sum.failed) {
        pp_write_memory(w);
        return;
    }
    w->tendon_name[k] = pp_write_name(w, PP_ROBOT_LIST_joint, tendon->name);
    pp_write_next(w, w->tendon_name[k]);
    pp_text_named(&w->t, "kind", "coupling");
    pp_text_named(&w->t, "coordinate", sum.data);
    put_tendon_forces(w, tendon);
    pp_text_add(&w->t, "}");
}

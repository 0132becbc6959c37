// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Equalities and tendons of a robot, as joints and couplings of a scene.
#include "import/write.h"

// Distance of anchors that is due to the rounding of numbers in a file [m].
static const double ANCHORS_ROUNDED = 1e-7;

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
    // Redundant loops can only be closed if their anchors agree to the last digits, which files round.
    double gap = pp_length(pp_sub(at_b, at_a));
    if (!weld && gap > 0.0 && gap < ANCHORS_ROUNDED) {
        at_b = at_a;
        pp_report_add(w->report, PERP_IMPORT_ASSUMED, equality->at,
                      "anchors of connects that are less than 1e-7 m apart coincide",
                      "they are rounded in the file");
    }
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

// Pieces of a spatial tendon that change their length: their sites are on different bodies of the scene.
static bool span_moves(const pp_robot *robot, const pp_robot_span *span)
{
    return robot->body[robot->site[span->a].body].carrier !=
           robot->body[robot->site[span->b].body].carrier;
}

// factor*q[name], after what is there.
static void put_term(pp_text *t, double factor, const char *name, bool first)
{
    pp_text_add(t, first ? "" : " + ");
    if (factor != 1.0) {
        put_factor(t, factor);
        pp_text_add(t, "*");
    }
    pp_text_add(t, "q[");
    pp_text_add(t, name);
    pp_text_add(t, "]");
}

// The length of a tendon, as an expression.
static void put_length(pp_robot_writer *w, pp_text *t, const pp_robot_tendon *tendon)
{
    const pp_robot *robot = w->robot;
    bool first = true;
    double constant = 0.0;
    for (int k = 0; k < tendon->terms; k++) {
        put_term(t, tendon->term[k].coefficient, w->joint_name[tendon->term[k].joint], first);
        first = false;
    }
    for (int k = 0; k < tendon->spans; k++) {
        const pp_robot_span *span = &tendon->span[k];
        if (span_moves(robot, span)) {
            put_term(t, span->factor, span->name, first);
            first = false;
        } else {
            pp_robot_span part = *span;
            pp_robot_tendon one = {.span = &part, .spans = 1};
            constant += pp_robot_tendon_length(robot, &one, w->q, w->pose);
        }
    }
    if (constant != 0.0 || first) {
        pp_text_add(t, first ? "" : " + ");
        pp_text_short(t, constant);
    }
}

// The tendon that is a joint alone.
static pp_robot_tendon tendon_of(pp_robot_term *one)
{
    return (pp_robot_tendon){.term = one, .terms = 1};
}

// Adds an end to a list, unless it is there or is the ground, which is not free.
static void add_end(int end, int *list, int *count)
{
    bool known = end == 0;
    for (int k = 0; k < *count; k++) {
        known = known || list[k] == end;
    }
    if (!known) {
        list[(*count)++] = end;
    }
}

// Adds the free bodies of the scene that joint j connects to a list; massless ones have negative numbers.
static void add_ends(const pp_robot_writer *w, int j, int *list, int *count)
{
    const pp_robot_joint *joint = &w->robot->joint[j];
    const pp_robot_body *body = &w->robot->body[joint->body];
    bool first = j == body->joint, last = j + 1 == body->joint + body->joints;
    add_end(first ? w->robot->body[body->parent].carrier : -j, list, count);
    add_end(last ? joint->body : -(j + 1), list, count);
}

// Adds what a tendon moves; false: it has too many pieces for a coupling, or wraps.
static bool add_tendon_ends(const pp_robot_writer *w, const pp_robot_tendon *tendon, int *terms,
                            int *list, int *count)
{
    const pp_robot *robot = w->robot;
    *terms += tendon->terms;
    for (int k = 0; k < tendon->spans; k++) {
        *terms += span_moves(robot, &tendon->span[k]);
    }
    if (*terms > TERMS_MOST || tendon->wraps) {
        return false;
    }
    for (int k = 0; k < tendon->terms; k++) {
        add_ends(w, tendon->term[k].joint, list, count);
    }
    for (int k = 0; k < tendon->spans; k++) {
        if (span_moves(robot, &tendon->span[k])) {
            add_end(robot->body[robot->site[tendon->span[k].a].body].carrier, list, count);
            add_end(robot->body[robot->site[tendon->span[k].b].body].carrier, list, count);
        }
    }
    return true;
}

// Whether a coupling of these tendons is small enough for a scene. b: NULL: none.
static bool coupling_fits(const pp_robot_writer *w, const pp_robot_tendon *a,
                          const pp_robot_tendon *b)
{
    int list[2 * TERMS_MOST + 2], count = 0, terms = 0;
    if (!add_tendon_ends(w, a, &terms, list, &count) ||
        (b && !add_tendon_ends(w, b, &terms, list, &count))) {
        return false;
    }
    return terms > 0 && count <= BODIES_MOST;
}

// (x - x0) - (c0 + c1 y + c2 y^2 + ...) = 0 with y the difference of the other length from its reference.
static void put_polynomial(pp_robot_writer *w, const pp_robot_equality *equality,
                           const pp_robot_tendon *a, const pp_robot_tendon *b)
{
    const pp_robot *robot = w->robot;
    pp_text t = {.arena = robot->arena}, y = {.arena = robot->arena};
    const double *c = equality->polynomial;
    if (b) {
        pp_text_add(&y, "(");
        put_length(w, &y, b);
        pp_text_add(&y, " - ");
        put_factor(&y, pp_robot_tendon_length(robot, b, w->q0, w->pose0));
        pp_text_add(&y, ")");
    }
    put_length(w, &t, a);
    pp_text_add(&t, " - ");
    put_factor(&t, pp_robot_tendon_length(robot, a, w->q0, w->pose0) + c[0]);
    // A missing second object leaves the constant.
    for (int k = 1; k < 5; k++) {
        if (b && c[k] != 0.0 && y.data) {
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

// The distances between the sites of a tendon, as joints that only measure; once.
static void put_spans(pp_robot_writer *w, int tendon)
{
    pp_robot *robot = w->robot;
    pp_robot_tendon *of = &robot->tendon[tendon];
    for (int k = 0; k < of->spans; k++) {
        pp_robot_span *span = &of->span[k];
        if (!span_moves(robot, span) || span->name || w->status < 0) {
            continue;
        }
        char name[160];
        pp_print(name, sizeof name, "%.100s part %d", of->name, k + 1);
        span->name = pp_write_name(w, PP_ROBOT_LIST_joint, name);
        pp_write_next(w, span->name);
        pp_text_named(&w->t, "kind", "distance");
        const int site[2] = {span->a, span->b};
        static const char *const bodies[] = {"a", "b"}, *const anchors[] = {"anchor_a", "anchor_b"};
        for (int e = 0; e < 2; e++) {
            const pp_robot_site *end = &robot->site[site[e]];
            int root = robot->body[end->body].carrier;
            perp_vec3 at = pp_pose_point(&w->pose[end->body], end->pos);
            pp_text_named(&w->t, bodies[e], w->body_name[root]);
            pp_text_key_vec3(&w->t, anchors[e], pp_pose_local(&w->frame[root], at));
        }
        pp_text_named(&w->t, "length", "inf");
        pp_text_add(&w->t, "}");
    }
}

// Equalities of joints and tendons.
void pp_write_coupling(pp_robot_writer *w, const pp_robot_equality *equality)
{
    const pp_robot *robot = w->robot;
    pp_robot_term one_a = {equality->a, 1.0}, one_b = {equality->b, 1.0};
    pp_robot_tendon first = tendon_of(&one_a), second = tendon_of(&one_b);
    bool pair = equality->b >= 0, sound = true;
    if (equality->kind == PP_ROBOT_TENDON) {
        first = robot->tendon[equality->a];
        second = pair ? robot->tendon[equality->b] : second;
    } else {
        // Ball joints have no coordinate.
        sound = robot->joint[equality->a].kind >= PP_ROBOT_SLIDE &&
                (!pair || robot->joint[equality->b].kind >= PP_ROBOT_SLIDE);
    }
    if (!sound || first.wraps || (pair && second.wraps) ||
        !coupling_fits(w, &first, pair ? &second : NULL)) {
        pp_write_unused(
            w, equality->at,
            "equalities of ball joints, of tendons that wrap around geoms or of very many joints",
            "couplings of scenes have at most 16 joints with one coordinate and 8 bodies");
        return;
    }
    if (equality->kind == PP_ROBOT_TENDON) {
        put_spans(w, equality->a);
        if (pair) {
            put_spans(w, equality->b);
        }
        if (w->status < 0) {
            return;
        }
    }
    put_polynomial(w, equality, &first, pair ? &second : NULL);
}

// Limits, damper and friction of a tendon, and its spring if it has no slack.
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
    }
    if (tendon->friction > 0.0) {
        pp_text_key_short(&w->t, "friction", tendon->friction);
    }
}

// A spring that pulls outside of two lengths: x = max(0, L - b) + min(0, L - a) is how far it is stretched.
static void put_slack_spring(pp_robot_writer *w, const pp_robot_tendon *tendon, const char *length)
{
    pp_text t = {.arena = w->robot->arena};
    pp_text_add(&t, "max(0, ");
    pp_text_add(&t, length);
    pp_text_add(&t, " - ");
    put_factor(&t, tendon->spring[1]);
    pp_text_add(&t, ") + min(0, ");
    pp_text_add(&t, length);
    pp_text_add(&t, " - ");
    put_factor(&t, tendon->spring[0]);
    pp_text_add(&t, ")");
    char name[160];
    pp_print(name, sizeof name, "%.100s spring", tendon->name);
    if (t.failed) {
        pp_write_memory(w);
        return;
    }
    pp_write_next(w, pp_write_name(w, PP_ROBOT_LIST_joint, name));
    pp_text_named(&w->t, "kind", "coupling");
    pp_text_named(&w->t, "coordinate", t.data);
    pp_text_key_short(&w->t, "stiffness", tendon->stiffness);
    pp_text_key_short(&w->t, "rest", 0.0);
    pp_text_add(&w->t, "}");
}

// The length of tendon k as a joint of the scene, with all that acts along it.
static void put_tendon(pp_robot_writer *w, int k)
{
    const pp_robot_tendon *tendon = &w->robot->tendon[k];
    // The expression is written apart, since it becomes a string.
    pp_text sum = {.arena = w->robot->arena};
    put_spans(w, k);
    if (w->status < 0) {
        return;  // spans have no names then
    }
    put_length(w, &sum, tendon);
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
    if (tendon->stiffness > 0.0 && tendon->spring[0] != tendon->spring[1]) {
        put_slack_spring(w, tendon, sum.data);
    }
}

// A tendon that does something.
void pp_write_tendon(pp_robot_writer *w, int k)
{
    const pp_robot_tendon *tendon = &w->robot->tendon[k];
    bool acts = tendon->used || tendon->range.set || tendon->stiffness > 0.0 ||
                tendon->damping > 0.0 || tendon->friction > 0.0;
    if (!acts) {
        pp_write_unused(w, tendon->at, "tendons without effect", "nothing refers to them");
    } else if (tendon->wraps) {
        pp_write_unused(w, tendon->at, "spatial tendons that wrap around geoms",
                        "paths of scenes are straight between sites");
    } else if (!coupling_fits(w, tendon, NULL)) {
        pp_write_unused(
            w, tendon->at, "tendons of constant length, and those over very many joints or bodies",
            "couplings of scenes have at most 16 joints with one coordinate and 8 bodies");
    } else {
        put_tendon(w, k);
    }
}

// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Couplings: a coordinate, or a velocity, as a function of those of other joints.   theory (A4), (A9)
#include "model/builder.h"

#include <string.h>

// Which of two functions a coupling has.
typedef struct coupling_text {
    const char *field, *text;
    int each;  // variables of a joint: its coordinate, and its rate in a velocity
} coupling_text;

// "q[name]" or "dq[name]"; NULL: no memory, with the error set.
static const char *variable_name(perp_builder *b, const char *prefix, const char *joint)
{
    size_t size = strlen(prefix) + strlen(joint) + 3;
    char *text = PP_ARRAY(b->arena, char, size);
    if (!text) {
        pp_builder_bad(b, PERP_ERR_MEMORY, "allocation failed");
        return NULL;
    }
    pp_print(text, size, "%s[%s]", prefix, joint);
    return text;
}

// The names that a function of `count` joints may use: t, q[joint] of each, then dq[joint] of each where rates are
// allowed. joint: their numbers; NULL: the first ones. NULL: no memory, with the error set.
static const char **variable_names(perp_builder *b, const int *joint, int count, int each)
{
    static const char *const prefix[2] = {"q", "dq"};
    const pp_joint *all = b->joints.items;
    const char **names = PP_ARRAY(b->arena, const char *, 1 + (size_t)each * (size_t)count);
    if (!names) {
        pp_builder_bad(b, PERP_ERR_MEMORY, "allocation failed");
        return NULL;
    }
    names[0] = "t";
    for (int i = 0; i < each * count; i++) {
        int k = i % count;
        names[1 + i] = variable_name(b, prefix[i / count], all[joint ? joint[k] : k].name);
        if (!names[1 + i]) {
            return NULL;
        }
    }
    return names;
}

// Free bodies that the joints of a coupling hold, each once; -1: more than a row has room for.
static int coupled_bodies(const perp_builder *b, const pp_joint *coupling,
                          int body[PP_COUPLING_BODIES])
{
    const pp_joint *joint = b->joints.items;
    const pp_body *bodies = b->bodies.items;
    int count = 0;
    for (int i = 0; i < 2 * coupling->terms; i++) {
        const pp_joint *of = &joint[coupling->term[i / 2]];
        int at = i % 2 ? of->a : of->b, k = 0;
        while (k < count && body[k] != at) {
            k++;
        }
        if (bodies[at].nv == 0 || k < count) {
            continue;
        }
        if (count == PP_COUPLING_BODIES) {
            return -1;
        }
        body[count++] = at;
    }
    return count;
}

// Parses with the variables of these joints. Only velocities may use inputs: a coordinate that changed by an input would
// have no rate.
static bool parse(perp_builder *b, const pp_joint *coupling, const coupling_text *of,
                  const int *joint, int count, const pp_expr **expr)
{
    const char **names = variable_names(b, joint, count, of->each);
    const pp_expr_names scope = {.variable = names,
                                 .variables = 1 + of->each * count,
                                 .input = b->input_names.items,
                                 .inputs = of->each == 2 ? b->inputs.count : 0};
    return names && pp_builder_expr_in(b, coupling->name, of->field, of->text, &scope, expr);
}

// The joints that a function of `before` joints uses become the terms.
static bool find_terms(perp_builder *b, const pp_expr *all, int before, int each,
                       pp_joint *coupling)
{
    int term[PP_COUPLING_TERMS];
    for (int i = 0; i < before; i++) {
        const pp_joint *of = (const pp_joint *)b->joints.items + i;
        // variables are in the order of variable_names
        if (!pp_expr_uses(all, 1 + i) && !(each == 2 && pp_expr_uses(all, 1 + before + i))) {
            continue;
        }
        if (of->kind == PERP_JOINT_GEAR || of->kind == PERP_JOINT_COUPLING ||
            of->kind == PERP_JOINT_WELD || of->kind == PERP_JOINT_SPHERICAL) {
            return pp_builder_bad(b, PERP_ERR_MODEL,
                                  "joint '%s': a coupling needs joints with a coordinate of their "
                                  "own, and '%s' has none",
                                  coupling->name, of->name);
        }
        if (coupling->terms == PP_COUPLING_TERMS) {
            return pp_builder_bad(b, PERP_ERR_MODEL, "joint '%s': a coupling has at most %d joints",
                                  coupling->name, (int)PP_COUPLING_TERMS);
        }
        term[coupling->terms++] = i;
    }
    int *own = PP_ARRAY(b->arena, int, coupling->terms);
    if (!own) {
        return pp_builder_bad(b, PERP_ERR_MEMORY, "allocation failed");
    }
    memcpy(own, term, (size_t)coupling->terms * sizeof *own);
    coupling->term = own;
    return true;
}

// Terms are the joints that the function uses. The function is parsed twice: with all joints, to find them, and with them
// alone, so that its variables are few.
bool pp_convert_coupling(perp_builder *b, const perp_joint_def *def, pp_joint *coupling)
{
    int before = b->joints.count - 1, body[PP_COUPLING_BODIES];
    const pp_expr *all, *own;
    if (!def->coordinate == !def->velocity) {
        return pp_builder_bad(b, PERP_ERR_MODEL,
                              "joint '%s': a coupling needs either a coordinate or a velocity",
                              coupling->name);
    }
    coupling_text of = {"coordinate", def->coordinate, 1};
    if (def->velocity) {
        of = (coupling_text){"velocity", def->velocity, 2};
    }
    if (!parse(b, coupling, &of, NULL, before, &all) ||
        !find_terms(b, all, before, of.each, coupling)) {
        return false;
    }
    int count = coupled_bodies(b, coupling, body);
    if (count <= 0) {
        return pp_builder_bad(
            b, PERP_ERR_MODEL,
            count < 0 ? "joint '%s': the joints of a coupling may move at most 8 free bodies"
                      : "joint '%s': a coupling needs a joint of a free body",
            coupling->name);
    }
    // A body that is free, which its impulse is recorded at, and another.
    coupling->b = body[0];
    coupling->a = body[count - 1];
    if (!parse(b, coupling, &of, coupling->term, coupling->terms, &own)) {
        return false;
    }
    if (!def->velocity) {
        coupling->function = own;
        return true;
    }
    coupling->velocity = own;
    coupling->linear = pp_expr_is_affine(own, 1 + coupling->terms, coupling->terms);
    bool moves = false;
    for (int i = 0; i < coupling->terms; i++) {
        moves = moves || pp_expr_uses(own, 1 + coupling->terms + i);
    }
    if (!moves) {
        return pp_builder_bad(b, PERP_ERR_MODEL,
                              "joint '%s': a velocity needs a rate dq[joint]; a function of "
                              "positions is a coordinate",
                              coupling->name);
    }
    return true;
}

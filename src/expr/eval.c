// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Evaluation on a stack, with the derivative carried along as dual numbers (forward mode).
//
// At a corner (abs, min, max, clamp) the derivative is that of one side; step has none. An infinite
// derivative, such as that of sqrt at 0, counts as 0 where its argument does not move: inf * 0
// would be NaN.
#include "expr/node.h"
#include "math/math.h"

#include <math.h>
#include <string.h>

typedef struct dual {
    double v, d;  // value, derivative
} dual;

// f(a)' = f'(a) a'.
static dual chain_rule(double value, double slope, double rate)
{
    return (dual){value, rate == 0.0 ? 0.0 : slope * rate};
}

// (a^b)' = b a^(b-1) a' + a^b log(a) b'. Terms without a rate are left out: log(a) does not exist
// for a constant negative base.
static dual power(dual a, dual b)
{
    double v = pp_pow(a.v, b.v), d = 0.0;
    if (a.d != 0.0 && b.v != 0.0) {
        d += b.v * pp_pow(a.v, b.v - 1.0) * a.d;
    }
    if (b.d != 0.0 && v != 0.0) {
        d += v * pp_log(a.v) * b.d;
    }
    return (dual){v, d};
}

// (x y' - y x') / r^2, divided by r twice, which does not overflow.
static dual arc_tangent2(dual y, dual x)
{
    double r = pp_hypot(x.v, y.v), v = pp_atan2(y.v, x.v);
    if (y.d == 0.0 && x.d == 0.0) {
        return (dual){v, 0.0};
    }
    return (dual){v, (x.v / r) * (y.d / r) - (y.v / r) * (x.d / r)};
}

// Rules for two operands. min and max take the derivative of the operand chosen; NaN wins.
static dual binary(pp_op op, dual a, dual b)
{
    switch (op) {
    case PP_OP_ADD:
        return (dual){a.v + b.v, a.d + b.d};
    case PP_OP_SUBTRACT:
        return (dual){a.v - b.v, a.d - b.d};
    case PP_OP_MULTIPLY:
        return (dual){a.v * b.v, a.d * b.v + a.v * b.d};
    case PP_OP_DIVIDE:
        return (dual){a.v / b.v, (a.d - a.v / b.v * b.d) / b.v};
    case PP_OP_POWER:
        return power(a, b);
    case PP_OP_ATAN2:
        return arc_tangent2(a, b);
    case PP_OP_MIN:
        return b.v < a.v || isnan(b.v) ? b : a;
    default:
        return b.v > a.v || isnan(b.v) ? b : a;  // PP_OP_MAX
    }
}

// f(a) and f'(a) a'. abs and step have the derivatives of their pieces, 0 at the corner.
static dual unary(pp_op op, dual a)
{
    double v;
    switch (op) {
    case PP_OP_NEGATE:
        return (dual){-a.v, -a.d};
    case PP_OP_SIN:
        return chain_rule(pp_sin(a.v), pp_cos(a.v), a.d);
    case PP_OP_COS:
        return chain_rule(pp_cos(a.v), -pp_sin(a.v), a.d);
    case PP_OP_TAN:
        v = pp_tan(a.v);
        return chain_rule(v, 1.0 + v * v, a.d);
    case PP_OP_ASIN:
        return chain_rule(pp_asin(a.v), 1.0 / sqrt((1.0 - a.v) * (1.0 + a.v)), a.d);
    case PP_OP_ACOS:
        return chain_rule(pp_acos(a.v), -1.0 / sqrt((1.0 - a.v) * (1.0 + a.v)), a.d);
    case PP_OP_ATAN:
        return chain_rule(pp_atan(a.v), 1.0 / (1.0 + a.v * a.v), a.d);
    case PP_OP_SINH:
        return chain_rule(pp_sinh(a.v), pp_cosh(a.v), a.d);
    case PP_OP_COSH:
        return chain_rule(pp_cosh(a.v), pp_sinh(a.v), a.d);
    case PP_OP_TANH:
        v = pp_tanh(a.v);
        // not 1 - v^2, which cancels where |v| is near 1
        return chain_rule(v, (1.0 - v) * (1.0 + v), a.d);
    case PP_OP_EXP:
        return chain_rule(pp_exp(a.v), pp_exp(a.v), a.d);
    case PP_OP_LOG:
        return chain_rule(pp_log(a.v), 1.0 / a.v, a.d);
    case PP_OP_SQRT:
        v = sqrt(a.v);
        return chain_rule(v, 0.5 / v, a.d);
    case PP_OP_ABS:
        return chain_rule(fabs(a.v), (double)((a.v > 0.0) - (a.v < 0.0)), a.d);
    case PP_OP_NOT:
        return (dual){a.v == 0.0 ? 1.0 : 0.0, 0.0};
    default:  // PP_OP_STEP; NaN stays NaN
        if (isnan(a.v)) {
            return (dual){a.v, 0.0};
        }
        return (dual){a.v >= 0.0 ? 1.0 : 0.0, 0.0};
    }
}

// if(c, a, b): the branch taken, with its derivative; the other one may be undefined.
static dual choose(dual c, dual a, dual b)
{
    if (isnan(c.v)) {
        return (dual){c.v, 0.0};
    }
    return c.v != 0.0 ? a : b;
}

// Value and derivative along `rates`; NULL: all rates are 0.
static dual run_dual(const pp_expr *expr, const double *variables, const double *inputs,
                     const double *rates)
{
    // Operands are pushed; an operation replaces those on top by its result. The parser has checked
    // that the stack is deep enough and that one value is left.
    dual stack[PP_EXPR_DEPTH + 2];
    stack[0] = (dual){0.0, 0.0};
    int top = -1;
    for (int k = 0; k < expr->count; k++) {
        const pp_node *node = &expr->node[k];
        dual *a = &stack[top < 0 ? 0 : top];
        switch (node->op) {
        case PP_OP_NUMBER:
            stack[++top] = (dual){node->value, 0.0};
            break;
        case PP_OP_VARIABLE:
            stack[++top] = (dual){variables[node->index], rates ? rates[node->index] : 0.0};
            break;
        case PP_OP_INPUT:  // held over the step; without inputs no text has this node
            stack[++top] = (dual){inputs ? inputs[node->index] : 0.0, 0.0};
            break;
        case PP_OP_TABLE: {
            double slope, value = pp_table_value(&expr->table[node->index], a->v, &slope);
            *a = chain_rule(value, slope, a->d);
            break;
        }
        case PP_OP_CLAMP:
            top -= 2;
            stack[top] =
                binary(PP_OP_MIN, binary(PP_OP_MAX, stack[top], stack[top + 1]), stack[top + 2]);
            break;
        case PP_OP_IF:
            top -= 2;
            stack[top] = choose(stack[top], stack[top + 1], stack[top + 2]);
            break;
        case PP_OP_LESS:
        case PP_OP_AT_MOST:
        case PP_OP_GREATER:
        case PP_OP_AT_LEAST:
        case PP_OP_EQUAL:
        case PP_OP_DIFFERS:
        case PP_OP_AND:
        case PP_OP_OR:
            top--;
            stack[top] = (dual){pp_logic(node->op, stack[top].v, stack[top + 1].v), 0.0};
            break;
        case PP_OP_ADD:
        case PP_OP_SUBTRACT:
        case PP_OP_MULTIPLY:
        case PP_OP_DIVIDE:
        case PP_OP_POWER:
        case PP_OP_ATAN2:
        case PP_OP_MIN:
        case PP_OP_MAX:
            top--;
            stack[top] = binary(node->op, stack[top], stack[top + 1]);
            break;
        default:
            *a = unary(node->op, *a);
            break;
        }
    }
    pp_assert(top == 0);
    return stack[0];
}

// Without rates the derivative is carried along as 0, which costs little.
double pp_expr_value(const pp_expr *expr, const double *variables)
{
    return run_dual(expr, variables, NULL, NULL).v;
}

double pp_expr_value_in(const pp_expr *expr, const double *variables, const double *inputs)
{
    return run_dual(expr, variables, inputs, NULL).v;
}

double pp_expr_rate_in(const pp_expr *expr, const double *variables, const double *inputs,
                       const double *rates, double *rate)
{
    dual result = run_dual(expr, variables, inputs, rates);
    *rate = result.d;
    return result.v;
}

double pp_expr_rate(const pp_expr *expr, const double *variables, const double *rates, double *rate)
{
    return pp_expr_rate_in(expr, variables, NULL, rates, rate);
}

bool pp_expr_uses(const pp_expr *expr, int k)
{
    for (int i = 0; i < expr->count; i++) {
        if (expr->node[i].op == PP_OP_VARIABLE && expr->node[i].index == k) {
            return true;
        }
    }
    return false;
}

int pp_expr_variables(const pp_expr *expr, int *list)
{
    int count = 0;
    for (int k = 0; k < expr->count; k++) {
        if (expr->node[k].op == PP_OP_VARIABLE) {
            if (list) {
                list[count] = expr->node[k].index;
            }
            count++;
        }
    }
    return count;
}

bool pp_expr_uses_inputs(const pp_expr *expr)
{
    for (int i = 0; i < expr->count; i++) {
        if (expr->node[i].op == PP_OP_INPUT) {
            return true;
        }
    }
    return false;
}

// How a value depends on some variables: not at all, as a + b . x, or otherwise.
enum { CONSTANT, AFFINE, CURVED };

static int degree_of_binary(pp_op op, int a, int b)
{
    int most = a > b ? a : b;
    switch (op) {
    case PP_OP_ADD:
    case PP_OP_SUBTRACT:
        return most;
    case PP_OP_MULTIPLY:
        return a == CONSTANT || b == CONSTANT ? most : CURVED;
    case PP_OP_DIVIDE:
        return b == CONSTANT ? a : CURVED;
    default:
        return most == CONSTANT ? CONSTANT : CURVED;
    }
}

// The stack machine of run_dual, with degrees in place of values.
bool pp_expr_is_affine(const pp_expr *expr, int first, int count)
{
    int stack[PP_EXPR_DEPTH + 2] = {CONSTANT}, top = -1;
    for (int k = 0; k < expr->count; k++) {
        const pp_node *node = &expr->node[k];
        switch (node->op) {
        case PP_OP_NUMBER:
        case PP_OP_INPUT:
            stack[++top] = CONSTANT;
            break;
        case PP_OP_VARIABLE:
            stack[++top] = node->index >= first && node->index < first + count ? AFFINE : CONSTANT;
            break;
        case PP_OP_CLAMP:
            top -= 2;
            stack[top] = degree_of_binary(
                PP_OP_MAX, stack[top], degree_of_binary(PP_OP_MIN, stack[top + 1], stack[top + 2]));
            break;
        case PP_OP_IF: {  // both branches may be affine where the condition is constant
            top -= 2;
            int most = degree_of_binary(PP_OP_ADD, stack[top + 1], stack[top + 2]);
            stack[top] = stack[top] == CONSTANT ? most : CURVED;
            break;
        }
        case PP_OP_LESS:
        case PP_OP_AT_MOST:
        case PP_OP_GREATER:
        case PP_OP_AT_LEAST:
        case PP_OP_EQUAL:
        case PP_OP_DIFFERS:
        case PP_OP_AND:
        case PP_OP_OR:
        case PP_OP_ADD:
        case PP_OP_SUBTRACT:
        case PP_OP_MULTIPLY:
        case PP_OP_DIVIDE:
        case PP_OP_POWER:
        case PP_OP_ATAN2:
        case PP_OP_MIN:
        case PP_OP_MAX:
            top--;
            stack[top] = degree_of_binary(node->op, stack[top], stack[top + 1]);
            break;
        case PP_OP_NEGATE:
            break;
        default:
            stack[top] = stack[top] == CONSTANT ? CONSTANT : CURVED;
            break;
        }
    }
    return stack[0] != CURVED;
}

// ── Construction and copies ──────────────────────────────────────────────────────────────────────

// A table without a text: for callers that have the points already.
perp_status pp_expr_table(pp_interpolation kind, const double *x, const double *y, int count,
                          pp_arena *arena, const pp_expr **expr, pp_expr_error *error)
{
    const char *why = NULL;
    pp_expr *made = PP_ZEROS(arena, pp_expr, 1);
    pp_node *node = PP_ZEROS(arena, pp_node, 2);
    pp_table *table = PP_ZEROS(arena, pp_table, 1);
    *expr = NULL;
    if (!made || !node || !table) {
        return PERP_ERR_MEMORY;
    }
    perp_status status = pp_table_build(kind, x, y, count, arena, table, &why);
    if (status == PERP_ERR_FORMAT && error) {
        error->column = 1;
        pp_print(error->text, sizeof error->text, "%s", why);
    }
    if (status < 0) {
        return status;
    }
    // In postfix order: variable 0, then the table at its value.
    node[0].op = PP_OP_VARIABLE;
    node[1].op = PP_OP_TABLE;
    *made = (pp_expr){.count = 2, .tables = 1, .node = node, .table = table};
    *expr = made;
    return PERP_OK;
}

// NULL: no memory.
static const void *copy_array(const void *items, int count, size_t size, pp_arena *arena)
{
    void *copy = pp_arena_array(arena, (size_t)count, size);
    if (copy && count > 0) {
        memcpy(copy, items, (size_t)count * size);
    }
    return copy;
}

// Nodes are plain data; only tables own arrays.
// A model keeps copies, since expressions are parsed into the builder's arena.
const pp_expr *pp_expr_copy(const pp_expr *expr, pp_arena *arena)
{
    pp_expr *copy = expr ? PP_ARRAY(arena, pp_expr, 1) : NULL;
    pp_table *table = copy ? PP_ARRAY(arena, pp_table, expr->tables) : NULL;
    const pp_node *node = copy ? copy_array(expr->node, expr->count, sizeof *node, arena) : NULL;
    if (!table || !node) {
        return NULL;
    }
    for (int k = 0; k < expr->tables; k++) {
        const pp_table *from = &expr->table[k];
        table[k] = (pp_table){from->kind, from->count,
                              copy_array(from->x, from->count, sizeof(double), arena),
                              copy_array(from->y, from->count, sizeof(double), arena),
                              copy_array(from->shape, from->count, sizeof(double), arena)};
        if (!table[k].x || !table[k].y || !table[k].shape) {
            return NULL;
        }
    }
    *copy = (pp_expr){expr->count, expr->tables, node, table};
    return copy;
}

// Expressions that change have their nodes in the same memory.
typedef struct number_expr {
    pp_expr expr;
    pp_node node;
} number_expr;

pp_expr *pp_expr_number(double value, pp_arena *arena)
{
    number_expr *made = PP_ZEROS(arena, number_expr, 1);
    if (!made) {
        return NULL;
    }
    made->node = (pp_node){.op = PP_OP_NUMBER, .value = value};
    made->expr = (pp_expr){.count = 1, .node = &made->node};
    return &made->expr;
}

// The expression is the first member.
void pp_expr_number_set(pp_expr *number, double value)
{
    ((number_expr *)number)->node.value = value;
}

typedef struct line_expr {
    pp_expr expr;
    pp_node node[5];
} line_expr;

pp_expr *pp_expr_line(pp_arena *arena)
{
    line_expr *made = PP_ZEROS(arena, line_expr, 1);
    if (!made) {
        return NULL;
    }
    // In postfix order: a b x * +
    static const pp_op op[5] = {PP_OP_NUMBER, PP_OP_NUMBER, PP_OP_VARIABLE, PP_OP_MULTIPLY,
                                PP_OP_ADD};
    for (int k = 0; k < 5; k++) {
        made->node[k].op = op[k];
    }
    made->expr = (pp_expr){.count = 5, .node = made->node};
    return &made->expr;
}

void pp_expr_line_set(pp_expr *line, double a, double b)
{
    ((line_expr *)line)->node[0].value = a;
    ((line_expr *)line)->node[1].value = b;
}

// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Evaluation with two derivatives carried along, as truncated Taylor series (forward mode), for the
// accelerations of given motions.
//
//   f(a): f' = f_a a',  f'' = f_aa a'^2 + f_a a''
//
// Corners are treated as in eval.c. An argument that does not move has no derivatives, however
// steep the function.
#include "expr/node.h"
#include "math/math.h"

#include <math.h>

typedef struct jet {
    double v, d, dd;  // value, first and second derivative
} jet;

// Terms with a zero rate are left out, since slope and bend may be infinite.
static jet chain_rule(double value, double slope, double bend, jet a)
{
    if (a.d == 0.0 && a.dd == 0.0) {
        return (jet){value, 0.0, 0.0};
    }
    double dd = a.d == 0.0 ? 0.0 : bend * a.d * a.d;
    return (jet){value, a.d == 0.0 ? 0.0 : slope * a.d, dd + (a.dd == 0.0 ? 0.0 : slope * a.dd)};
}

// Leibniz' rule.
static jet multiply(jet a, jet b)
{
    return (jet){a.v * b.v, a.d * b.v + a.v * b.d, a.dd * b.v + 2.0 * a.d * b.d + a.v * b.dd};
}

// From q b = a, differentiated twice.
static jet divide(jet a, jet b)
{
    jet q = {a.v / b.v, 0.0, 0.0};
    q.d = (a.d - q.v * b.d) / b.v;
    q.dd = (a.dd - 2.0 * q.d * b.d - q.v * b.dd) / b.v;
    return q;
}

// a^b. Where the exponent moves, with g = b log a: v' = v g', v'' = v (g'^2 + g'').
static jet power(jet a, jet b)
{
    double v = pp_pow(a.v, b.v);
    if (b.d == 0.0 && b.dd == 0.0) {
        // b a^(b-1) at a = 0 is 0 for b = 0, not 0 * inf.
        double slope = b.v == 0.0 ? 0.0 : b.v * pp_pow(a.v, b.v - 1.0);
        double bend = b.v == 0.0 || b.v == 1.0 ? 0.0 : b.v * (b.v - 1.0) * pp_pow(a.v, b.v - 2.0);
        return chain_rule(v, slope, bend, a);
    }
    if (v == 0.0) {
        return (jet){v, 0.0, 0.0};
    }
    double r = 1.0 / a.v;
    jet log_a = chain_rule(pp_log(a.v), r, -r * r, a), g = multiply(b, log_a);
    return (jet){v, v * g.d, v * (g.d * g.d + g.dd)};
}

// phi' = (x y' - y x')/r^2,  phi'' = (x y'' - y x'')/r^2 - 2 phi' (x x' + y y')/r^2.
static jet arc_tangent2(jet y, jet x)
{
    double r = pp_hypot(x.v, y.v), cx = x.v / r, cy = y.v / r;
    jet phi = {pp_atan2(y.v, x.v), 0.0, 0.0};
    if (y.d != 0.0 || x.d != 0.0) {
        phi.d = cx * (y.d / r) - cy * (x.d / r);
        phi.dd = -2.0 * phi.d * (cx * (x.d / r) + cy * (y.d / r));
    }
    if (y.dd != 0.0 || x.dd != 0.0) {
        phi.dd += cx * (y.dd / r) - cy * (x.dd / r);
    }
    return phi;
}

// Rules for two operands. min and max take the derivatives of the operand chosen; NaN wins.
static jet binary(pp_op op, jet a, jet b)
{
    switch (op) {
    case PP_OP_ADD:
        return (jet){a.v + b.v, a.d + b.d, a.dd + b.dd};
    case PP_OP_SUBTRACT:
        return (jet){a.v - b.v, a.d - b.d, a.dd - b.dd};
    case PP_OP_MULTIPLY:
        return multiply(a, b);
    case PP_OP_DIVIDE:
        return divide(a, b);
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

// asin (sign 1) and acos (sign -1): f' = sign / sqrt(1 - a^2), f'' = a f' / (1 - a^2).
static jet arc(double value, double sign, jet a)
{
    double r2 = (1.0 - a.v) * (1.0 + a.v), slope = sign / sqrt(r2);
    return chain_rule(value, slope, a.v * slope / r2, a);
}

// f(a) with f' and f'' by the chain rule. abs and step have the derivatives of their pieces, 0 at
// the corner.
static jet unary(pp_op op, jet a)
{
    double v, r;
    switch (op) {
    case PP_OP_NEGATE:
        return (jet){-a.v, -a.d, -a.dd};
    case PP_OP_SIN:
        v = pp_sin(a.v);
        return chain_rule(v, pp_cos(a.v), -v, a);
    case PP_OP_COS:
        v = pp_cos(a.v);
        return chain_rule(v, -pp_sin(a.v), -v, a);
    case PP_OP_TAN:
        v = pp_tan(a.v);
        return chain_rule(v, 1.0 + v * v, 2.0 * v * (1.0 + v * v), a);
    case PP_OP_ASIN:
        return arc(pp_asin(a.v), 1.0, a);
    case PP_OP_ACOS:
        return arc(pp_acos(a.v), -1.0, a);
    case PP_OP_ATAN:
        r = 1.0 / (1.0 + a.v * a.v);
        return chain_rule(pp_atan(a.v), r, -2.0 * a.v * r * r, a);
    case PP_OP_SINH:
        v = pp_sinh(a.v);
        return chain_rule(v, pp_cosh(a.v), v, a);
    case PP_OP_COSH:
        v = pp_cosh(a.v);
        return chain_rule(v, pp_sinh(a.v), v, a);
    case PP_OP_TANH:
        v = pp_tanh(a.v);
        r = (1.0 - v) * (1.0 + v);
        return chain_rule(v, r, -2.0 * v * r, a);
    case PP_OP_EXP:
        v = pp_exp(a.v);
        return chain_rule(v, v, v, a);
    case PP_OP_LOG:
        r = 1.0 / a.v;
        return chain_rule(pp_log(a.v), r, -r * r, a);
    case PP_OP_SQRT:
        v = sqrt(a.v);
        return chain_rule(v, 0.5 / v, -0.25 / (a.v * v), a);
    case PP_OP_ABS:
        return chain_rule(fabs(a.v), (double)((a.v > 0.0) - (a.v < 0.0)), 0.0, a);
    case PP_OP_NOT:
        return (jet){a.v == 0.0 ? 1.0 : 0.0, 0.0, 0.0};
    default:  // PP_OP_STEP; NaN stays NaN
        if (isnan(a.v)) {
            return (jet){a.v, 0.0, 0.0};
        }
        return (jet){a.v >= 0.0 ? 1.0 : 0.0, 0.0, 0.0};
    }
}

// if(c, a, b): the branch taken, with its derivatives; the other one may be undefined.
static jet choose(jet c, jet a, jet b)
{
    if (isnan(c.v)) {
        return (jet){c.v, 0.0, 0.0};
    }
    return c.v != 0.0 ? a : b;
}

// Value and two derivatives along `rates`; second derivatives of the variables are 0.
static jet run_jet(const pp_expr *expr, const double *variables, const double *rates)
{
    // The same stack machine as in eval.c.
    jet stack[PP_EXPR_DEPTH + 2];
    stack[0] = (jet){0.0, 0.0, 0.0};
    int top = -1;
    for (int k = 0; k < expr->count; k++) {
        const pp_node *node = &expr->node[k];
        jet *a = &stack[top < 0 ? 0 : top];
        switch (node->op) {
        case PP_OP_NUMBER:
            stack[++top] = (jet){node->value, 0.0, 0.0};
            break;
        case PP_OP_VARIABLE:
            stack[++top] = (jet){variables[node->index], rates[node->index], 0.0};
            break;
        case PP_OP_TABLE: {
            const pp_table *table = &expr->table[node->index];
            double slope, value = pp_table_value(table, a->v, &slope);
            *a = chain_rule(value, slope, pp_table_second(table, a->v), *a);
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
            stack[top] = (jet){pp_logic(node->op, stack[top].v, stack[top + 1].v), 0.0, 0.0};
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

// Only driven bodies and targets need accelerations, so that other evaluations stay cheaper.
double pp_expr_rate2(const pp_expr *expr, const double *variables, const double *rates,
                     double *rate, double *rate2)
{
    jet result = run_jet(expr, variables, rates);
    *rate = result.d;
    *rate2 = result.dd;
    return result.v;
}

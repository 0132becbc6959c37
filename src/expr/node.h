// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Private to expr/: an expression is a list of nodes in postfix order, which a stack machine runs.
// eval.c and second.c are two such machines, with one and with two derivatives.
#pragma once

#include "expr/expr.h"

// Bounds on what a scene can ask for: evaluation needs no memory but a stack of fixed size.
enum {
    PP_EXPR_NODES = 512,  // most nodes
    PP_EXPR_DEPTH = 64,   // most open parentheses and pending operators; stack of the evaluation
    PP_EXPR_POINTS = 100000,  // most points of all tables
};

// Operands push a value; the others replace their arguments by the result. min and max take two;
// clamp and if take three. Comparisons and logic give 0 or 1.
typedef enum pp_op {
    PP_OP_NUMBER,
    PP_OP_VARIABLE,
    PP_OP_INPUT,
    PP_OP_ADD,
    PP_OP_SUBTRACT,
    PP_OP_MULTIPLY,
    PP_OP_DIVIDE,
    PP_OP_POWER,
    PP_OP_NEGATE,
    PP_OP_SIN,
    PP_OP_COS,
    PP_OP_TAN,
    PP_OP_ASIN,
    PP_OP_ACOS,
    PP_OP_ATAN,
    PP_OP_ATAN2,
    PP_OP_SINH,
    PP_OP_COSH,
    PP_OP_TANH,
    PP_OP_EXP,
    PP_OP_LOG,
    PP_OP_SQRT,
    PP_OP_ABS,
    PP_OP_MIN,
    PP_OP_MAX,
    PP_OP_STEP,
    PP_OP_CLAMP,
    PP_OP_LESS,
    PP_OP_AT_MOST,
    PP_OP_GREATER,
    PP_OP_AT_LEAST,
    PP_OP_EQUAL,
    PP_OP_DIFFERS,
    PP_OP_AND,
    PP_OP_OR,
    PP_OP_NOT,
    PP_OP_IF,
    PP_OP_TABLE,
} pp_op;

// One instruction. Numbers, variables and inputs have no operands.
typedef struct pp_node {
    pp_op op;
    int index;     // of the variable, the input or the table
    double value;  // of the number
} pp_node;

// Points of a table. shape: what the interpolation needs at each point (table.c); for linear and
// hold it is 0.
typedef struct pp_table {
    pp_interpolation kind;
    int count;
    const double *x, *y;  // points, x increasing
    const double *shape;  // second derivatives (spline) or slopes (monotone)
} pp_table;

// Immutable, and shared between threads.
struct pp_expr {
    int count, tables;
    const pp_node *node;
    const pp_table *table;
};

// Fills the table from points, which are copied. PERP_ERR_FORMAT: *why says what is wrong with
// them.
perp_status pp_table_build(pp_interpolation kind, const double *x, const double *y, int count,
                           pp_arena *arena, pp_table *table, const char **why);
// Value and slope at x.
double pp_table_value(const pp_table *table, double x, double *slope);
// Second derivative at x.
double pp_table_second(const pp_table *table, double x);

// Value of a comparison, of `and`, or of `or`: 1 or 0.
static inline double pp_logic(pp_op op, double a, double b)
{
    switch (op) {
    case PP_OP_LESS:
        return a < b ? 1.0 : 0.0;
    case PP_OP_AT_MOST:
        return a <= b ? 1.0 : 0.0;
    case PP_OP_GREATER:
        return a > b ? 1.0 : 0.0;
    case PP_OP_AT_LEAST:
        return a >= b ? 1.0 : 0.0;
    case PP_OP_EQUAL:
        return a == b ? 1.0 : 0.0;
    case PP_OP_DIFFERS:
        return a != b ? 1.0 : 0.0;
    case PP_OP_AND:
        return a != 0.0 && b != 0.0 ? 1.0 : 0.0;
    default:  // PP_OP_OR
        return a != 0.0 || b != 0.0 ? 1.0 : 0.0;
    }
}

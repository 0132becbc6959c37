// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Door of expr/: expressions such as "0.1*sin(2*pi*t)", parsed once, then evaluated and
// differentiated exactly by automatic differentiation in forward mode. Size and depth are bounded.
// The grammar is in docs/scene-format.md.
#pragma once

#include "base/base.h"

// An expression that was parsed. It refers to nothing but its arena.
typedef struct pp_expr pp_expr;

// Why a text is not an expression, and where.
typedef struct pp_expr_error {
    int column;  // 1-based, in the text
    char text[160];
} pp_expr_error;

// Names that a text may use. Variable k has index k below; constants are numbers that are known when
// the text is parsed. A name such as q[left hip] has anything but ']' in its brackets.
typedef struct pp_expr_names {
    const char *const *variable;
    int variables;
    const char *const *constant;
    const double *value;
    int constants;
    const char *const *input;  // of the model: hip, or u[hip]
    int inputs;
} pp_expr_names;

// Interpolation of a table.
typedef enum pp_interpolation {
    PP_INTERPOLATION_MONOTONE,  // cubic, with continuous slope; stays between neighbouring values
    PP_INTERPOLATION_LINEAR,
    PP_INTERPOLATION_HOLD,    // the value of the last point at or before x
    PP_INTERPOLATION_SPLINE,  // natural cubic spline; may overshoot
} pp_interpolation;

// names: the variables that the text may use. The expression lives in the arena. PERP_ERR_FORMAT
// fills *error.
perp_status pp_expr_parse(const char *text, const char *const *names, int count, pp_arena *arena,
                          const pp_expr **expr, pp_expr_error *error);
// The same with inputs and constants. If end is not NULL, a name may follow the expression, the unit of its
// value: *end gets its place, or the end of the text.
perp_status pp_expr_parse_with(const char *text, const pp_expr_names *names, pp_arena *arena,
                               const pp_expr **expr, const char **end, pp_expr_error *error);

// The function of variable 0 through count >= 2 points (x[k], y[k]), constant outside
// x[0]..x[count-1]. As text: table(t, [0, 1, 2], [0, 5, 5], linear).
perp_status pp_expr_table(pp_interpolation kind, const double *x, const double *y, int count,
                          pp_arena *arena, const pp_expr **expr, pp_expr_error *error);

// Whether a name has the form of one: letters, digits and _, not beginning with a digit.
bool pp_expr_is_name(const char *name);
// Whether the language itself uses the name: functions, pi, e, and, or, not, and interpolations.
bool pp_expr_is_reserved(const char *name);
// Length of the first token of a text: a name, a number or one character.
size_t pp_expr_token(const char *text, bool *name);
// Copies a text that was parsed, with names replaced by texts; returns the length, as snprintf does.
size_t pp_expr_replace(const char *text, const char *const *name, const char *const *with,
                       int count, char *out, size_t size);

// A number that may be set again while no other thread uses it; NULL: no memory.
pp_expr *pp_expr_number(double value, pp_arena *arena);
void pp_expr_number_set(pp_expr *number, double value);

// The same of a + b x, with x variable 0.
pp_expr *pp_expr_line(pp_arena *arena);
void pp_expr_line_set(pp_expr *line, double a, double b);

// A copy in another arena; NULL: no memory, or expr is NULL.
const pp_expr *pp_expr_copy(const pp_expr *expr, pp_arena *arena);

// Functions below take as many variables as the expression was parsed with.
double pp_expr_value(const pp_expr *expr, const double *variables);
// The same of an expression that uses inputs; so does the next one.
double pp_expr_value_in(const pp_expr *expr, const double *variables, const double *inputs);
// Value, and derivative along the given rates of the variables, with inputs held.
double pp_expr_rate_in(const pp_expr *expr, const double *variables, const double *inputs,
                       const double *rates, double *rate);
// Value, and derivative along the given rates of the variables: the derivative by time where they
// are rates by time.
double pp_expr_rate(const pp_expr *expr, const double *variables, const double *rates,
                    double *rate);
// The same with the second derivative, where the rates are constant.
double pp_expr_rate2(const pp_expr *expr, const double *variables, const double *rates,
                     double *rate, double *rate2);
// True when the expression uses variable k.
bool pp_expr_uses(const pp_expr *expr, int k);
// Indices of the variables that the expression uses, in the order of the text and as often as it uses them; returns
// their number. list NULL: the number only.
int pp_expr_variables(const pp_expr *expr, int *list);
bool pp_expr_uses_inputs(const pp_expr *expr);
// Whether the expression is a + b . x in variables x = [first, first + count), for any values of the others and of inputs.
// By its form: x*x - x*x + x is not.
bool pp_expr_is_affine(const pp_expr *expr, int first, int count);

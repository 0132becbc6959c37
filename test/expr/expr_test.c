// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Expressions: values as C computes them, exact derivatives, messages with columns, and no harm done by
// random text.
#include "expr/expr.h"
#include "support/cmocka.h"
#include "support/fault.h"
#include "support/random.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {"t", "x", "omega"};
enum { NAMES = 3 };
static const double at[NAMES] = {0.7, -1.3, 2.5};
static const double rates[NAMES] = {1.0, 0.25, -3.0};

static int setup(void **state)
{
    *state = pp_arena_create(NULL);
    return *state ? 0 : -1;
}

static int teardown(void **state)
{
    pp_arena_destroy(*state);
    return 0;
}

static const pp_expr *parse(const char *text, pp_arena *arena)
{
    const pp_expr *expr = NULL;
    pp_expr_error error = {0};
    perp_status status = pp_expr_parse(text, names, NAMES, arena, &expr, &error);
    if (status != PERP_OK) {
        print_error("%s: column %d: %s\n", text, error.column, error.text);
        fail();
    }
    return expr;
}

// ── Values ───────────────────────────────────────────────────────────────────────────────────────

static void values_are_those_of_c(void **state)
{
    double t = at[0], x = at[1], w = at[2], pi = 3.141592653589793, e = 2.718281828459045;
    const struct {
        const char *text;
        double value;
    } cases[] = {
        {"0", 0.0},
        {" 1e3 ", 1e3},
        {".5", 0.5},
        {"5.", 5.0},
        {"2.5E-1", 0.25},
        {"0.1*sin(2*pi*t)", 0.1 * sin(2 * pi * t)},
        {"1 - 2 - 3", -4.0},
        {"8/4/2", 1.0},
        {"2^3^2", 512.0},
        {"-2^2", -4.0},
        {"2^-1", 0.5},
        {"2^-3^2", pow(2.0, -9.0)},
        {"--2", 2.0},
        {"+-+2", -2.0},
        {"-2*-3", 6.0},
        {"1 < 2", 1.0},
        {"2 <= 2", 1.0},
        {"1 > 2", 0.0},
        {"1+1 >= 2*1", 1.0},
        {"2 == 2", 1.0},
        {"2 != 2", 0.0},
        {"1 < 2 and 2 < 3", 1.0},
        {"0 or 1 and 0", 0.0},
        {"not 1 < 2 or 5", 1.0},
        {"not 0", 1.0},
        {"not not 3", 1.0},
        {"if(1 > 2, 3, 4)", 4.0},
        {"if(t, sqrt(2), sqrt(-1))", sqrt(2.0)},
        {"if(0, log(-1), x)", x},
        {"2*(t < 100) + 1", 3.0},
        {"2*-x", 2 * -x},
        {"(1+2)*(3-4)", -3.0},
        {"((((t))))", t},
        {"cos(t)+tan(t)", cos(t) + tan(t)},
        {"asin(t)*acos(t)/atan(t)", asin(t) * acos(t) / atan(t)},
        {"atan2(t, x)", atan2(t, x)},
        {"sinh(t)-cosh(t)*tanh(t)", sinh(t) - cosh(t) * tanh(t)},
        {"exp(-t)+log(omega)", exp(-t) + log(w)},
        {"sqrt(omega)*abs(x)", sqrt(w) * fabs(x)},
        {"min(t, x)", x},
        {"max(t, x, omega, 1)", w},
        {"min(3, 2, 1, 2, 3)", 1.0},
        {"step(t) + 10*step(x) + 100*step(0)", 101.0},
        {"clamp(x, -1, 1)", -1.0},
        {"clamp(omega, -1, 1)", 1.0},
        {"clamp(t, -1, 1)", t},
        {"e^t", pow(e, t)},
        {"2*pi", 2 * pi},
        {"omega*t", w * t},
        {"table(t, [0, 1], [0, 10])", 7.0},
        {"2*table(t-0.7, [-1, 0, +1], [4, 5, -6.0])", 10.0},
        {"table(t, [1, 2], [3, 4])", 3.0},
        {"table(t, [-1, 0.5], [3, 4])", 4.0},
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        double value = pp_expr_value(parse(cases[k].text, *state), at);
        if (!(fabs(value - cases[k].value) <= 1e-15 * (1.0 + fabs(cases[k].value)))) {
            print_error("%s = %.17g, not %.17g\n", cases[k].text, value, cases[k].value);
            fail();
        }
    }
}

static void numbers_ignore_the_locale(void **state)
{
    static const char *const locales[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8"};
    for (size_t k = 0; k < 3 && !setlocale(LC_ALL, locales[k]); k++) {
    }
    double value = pp_expr_value(parse("0.1234567890123456789 + 1.5", *state), at);
    setlocale(LC_ALL, "C");
    assert_true(value == 0.1234567890123456789 + 1.5);
}

static void used_variables_are_known(void **state)
{
    const pp_expr *expr = parse("t + sin(omega)", *state);
    assert_true(pp_expr_uses(expr, 0));
    assert_false(pp_expr_uses(expr, 1));
    assert_true(pp_expr_uses(expr, 2));
}

// ── Derivatives ──────────────────────────────────────────────────────────────────────────────────

// Against a central difference of sixth order along the rates: of the value, or of the rate.
static double difference(const pp_expr *expr, bool of_rate, double h)
{
    static const double weight[3] = {45.0, -9.0, 1.0};
    double sum = 0.0, v[NAMES];
    for (int k = 1; k <= 3; k++) {
        for (int sign = -1; sign <= 1; sign += 2) {
            for (int i = 0; i < NAMES; i++) {
                v[i] = at[i] + sign * k * h * rates[i];
            }
            double rate, value = pp_expr_rate(expr, v, rates, &rate);
            sum += sign * weight[k - 1] * (of_rate ? rate : value);
        }
    }
    return sum / (60.0 * h);
}

static void derivatives_are_exact(void **state)
{
    static const char *const texts[] = {
        "t",
        "3",
        "t*x*omega",
        "t/omega - x/t",
        "t^3",
        "omega^t",
        "(t^2+1)^(x/2)",
        "sin(t*x)*cos(omega)",
        "tan(t)",
        "asin(t/2)+acos(x/3)+atan(omega)",
        "atan2(t*x, omega)",
        "sinh(t)*cosh(x)+tanh(t-x)",
        "exp(-t*t)*log(omega+t)",
        "sqrt(t+omega)",
        "abs(x)*t",
        "min(t, omega)*max(x, t)",
        "step(t)*t",
        "clamp(t*omega, 0, 10)+clamp(omega, 0, 1)",
        "table(t, [0, 0.5, 1, 2], [0, 1, -1, 4])",
        "table(t, [0, 0.5, 1, 2], [0, 1, -1, 4], spline)",
        "table(t, [0, 0.5, 1, 2], [0, 1, -1, 4], linear)*t",
        "if(t < 100, t^3, x)",
        "if(omega > 100, t^3, x*t)",
        "(t < 100)*t^2 + (not t)",
        "table(sin(omega), [-1, 0.3, 1, 2], [0, 3, -1, 4])^2",
        "-t^2",
        "e^(2*pi*t)",
    };
    for (size_t k = 0; k < sizeof texts / sizeof texts[0]; k++) {
        const pp_expr *expr = parse(texts[k], *state);
        double rate, value = pp_expr_rate(expr, at, rates, &rate),
                     expected = difference(expr, false, 1e-3);
        assert_true(value == pp_expr_value(expr, at));
        if (!(fabs(rate - expected) <= 1e-9 * (1.0 + fabs(expected)))) {
            print_error("d/dt %s = %.17g, difference %.17g\n", texts[k], rate, expected);
            fail();
        }
        double again, bend;
        assert_true(pp_expr_rate2(expr, at, rates, &again, &bend) == value);
        assert_true(fabs(again - rate) <= 1e-14 * (1.0 + fabs(rate)));
        expected = difference(expr, true, 1e-3);
        if (!(fabs(bend - expected) <= 1e-8 * (1.0 + fabs(expected)))) {
            print_error("d2/dt2 %s = %.17g, difference %.17g\n", texts[k], bend, expected);
            fail();
        }
    }
}

static void standing_arguments_have_no_rate(void **state)
{
    static const char *const texts[] = {"sqrt(x)",     "log(x)^0", "x^0.5", "asin(1+x)",
                                        "atan2(x, x)", "abs(x)",   "0^t",   "x^1"};
    const double zero[NAMES] = {1.0, 0.0, 0.0}, still[NAMES] = {1.0, 0.0, 0.0};
    for (size_t k = 0; k < sizeof texts / sizeof texts[0]; k++) {
        double rate;
        pp_expr_rate(parse(texts[k], *state), zero, still, &rate);
        double again, bend;
        pp_expr_rate2(parse(texts[k], *state), zero, still, &again, &bend);
        if (rate != 0.0 || again != 0.0 || bend != 0.0) {
            print_error("%s: rate %g\n", texts[k], rate);
            fail();
        }
    }
    double rate;
    pp_expr_rate(parse("t^1 + (t-1)^2 + t^0", *state), zero, still, &rate);
    assert_true(rate == 1.0);
    double bend;
    pp_expr_rate2(parse("t^1 + (t-1)^2 + t^0", *state), zero, still, &rate, &bend);
    assert_true(rate == 1.0 && bend == 2.0);
}

// ── Tables ───────────────────────────────────────────────────────────────────────────────────────

static void check_points(pp_interpolation kind, rng r, pp_arena *arena)
{
    enum { N = 9 };
    double x[N], y[N], rate;
    for (int k = 0; k < N; k++) {
        x[k] = (k > 0 ? x[k - 1] : -2.0) + rng_uniform(&r, 0.1, 1.0);
        y[k] = rng_normal(&r);
    }
    const pp_expr *expr;
    assert_int_equal(pp_expr_table(kind, x, y, N, arena, &expr, NULL), PERP_OK);
    assert_true(pp_expr_uses(expr, 0));
    const double one[1] = {1.0};
    for (int k = 0; k < N; k++) {
        assert_true(fabs(pp_expr_rate(expr, &x[k], one, &rate) - y[k]) < 1e-14);
        bool smooth = kind == PP_INTERPOLATION_SPLINE || kind == PP_INTERPOLATION_MONOTONE;
        if (smooth && k > 0 && k + 1 < N) {  // the slope is continuous
            double left = x[k] - 1e-11, slope;
            pp_expr_rate(expr, &left, one, &slope);
            assert_true(fabs(slope - rate) < 1e-6);
        }
    }
    double before = x[0] - 1.0, after = x[N - 1] + 1.0;
    assert_true(pp_expr_rate(expr, &before, one, &rate) == y[0] && rate == 0.0);
    assert_true(pp_expr_rate(expr, &after, one, &rate) == y[N - 1] && rate == 0.0);
    // Only the spline leaves the range of two neighbouring points.
    for (int k = 0; k + 1 < N && kind != PP_INTERPOLATION_SPLINE; k++) {
        for (int i = 0; i <= 20; i++) {
            double at_x = x[k] + (x[k + 1] - x[k]) * i / 20.0, value = pp_expr_value(expr, &at_x);
            assert_true(value >= fmin(y[k], y[k + 1]) - 1e-13);
            assert_true(value <= fmax(y[k], y[k + 1]) + 1e-13);
        }
    }
}

static void tables_go_through_their_points(void **state)
{
    for (int k = 0; k < 40; k++) {
        rng r = rng_seed(rng_test_seed(7) + (uint64_t)k);
        check_points((pp_interpolation)(k % 4), r, *state);
    }
}

// The derivatives of every interpolation, beside central differences of the value and the slope.
static void tables_have_exact_derivatives(void **state)
{
    static const char *const texts[] = {
        "table(t, [0, 0.5, 2, 3], [1, 2, 5, 4])",
        "table(t, [0, 0.5, 2, 3], [1, 2, 5, 4], monotone)",
        "table(t, [0, 0.5, 2, 3], [1, 2, 5, 4], linear)",
        "table(t, [0, 0.5, 2, 3], [1, 2, 5, 4], hold)",
        "table(t, [0, 0.5, 2, 3], [1, 2, 5, 4], spline)",
    };
    const double one[1] = {1.0}, h = 1e-5;
    for (size_t k = 0; k < sizeof texts / sizeof texts[0]; k++) {
        const pp_expr *expr = parse(texts[k], *state);
        for (int i = 0; i < 30; i++) {
            double t = 0.07 + 0.1 * i, low = t - h, high = t + h, rate, bend, left, right;
            double value = pp_expr_rate2(expr, &t, one, &rate, &bend);
            assert_true(value == pp_expr_value(expr, &t));
            double rise =
                pp_expr_rate(expr, &high, one, &right) - pp_expr_rate(expr, &low, one, &left);
            assert_true(fabs(rise / (2.0 * h) - rate) < 1e-8);
            assert_true(fabs((right - left) / (2.0 * h) - bend) < 1e-6);
        }
    }
    double t = 0.5, rate;
    assert_true(pp_expr_rate(parse(texts[2], *state), &t, one, &rate) == 2.0 && rate == 2.0);
    assert_true(pp_expr_rate(parse(texts[3], *state), &t, one, &rate) == 2.0 && rate == 0.0);
}

// A lift between two dwells: the natural spline swings below and above it.
static void tables_do_not_overshoot_by_default(void **state)
{
    const pp_expr *expr = parse("table(t, [0, 1, 1.1, 2], [0, 0, 0.1, 0.1])", *state);
    const pp_expr *spline = parse("table(t, [0, 1, 1.1, 2], [0, 0, 0.1, 0.1], spline)", *state);
    double least = 0.0, most = 0.0;
    for (int k = 0; k <= 200; k++) {
        double t = 0.01 * k, value = pp_expr_value(expr, &t);
        assert_true(value >= 0.0 && value <= 0.1 + 1e-16);
        least = fmin(least, pp_expr_value(spline, &t));
        most = fmax(most, pp_expr_value(spline, &t));
    }
    assert_true(least < -0.01 && most > 0.11);
    double t = 0.5, rate, bend;
    const double one[1] = {1.0};
    assert_true(pp_expr_rate2(expr, &t, one, &rate, &bend) == 0.0 && rate == 0.0 && bend == 0.0);
    // Slopes by hand: ends 7.5/3 and 15.5/3; inside 9/(5/2 + 4/0.5) and 9/(4/0.5 + 5/4).
    expr = parse("table(t, [0, 1, 3, 4], [0, 2, 3, 7])", *state);
    const double m[4] = {2.5, 9.0 / 10.5, 9.0 / 9.25, 15.5 / 3.0};
    const double x[4] = {0.0, 1.0, 3.0, 4.0}, y[4] = {0.0, 2.0, 3.0, 7.0};
    for (int k = 0; k < 3; k++) {
        double d = x[k + 1] - x[k], middle = x[k] + 0.5 * d;
        double due = 0.5 * (y[k] + y[k + 1]) + d / 8.0 * (m[k] - m[k + 1]);
        assert_true(fabs(pp_expr_value(expr, &middle) - due) < 1e-14);
        pp_expr_rate(expr, &x[k], one, &rate);
        assert_true(fabs(rate - m[k]) < 1e-14);
    }
}

static void tables_of_a_line_are_the_line(void **state)
{
    for (pp_interpolation kind = PP_INTERPOLATION_MONOTONE; kind <= PP_INTERPOLATION_SPLINE;
         kind++) {
        if (kind == PP_INTERPOLATION_HOLD) {
            continue;
        }
        const double x[] = {0.0, 0.25, 1.0, 4.0}, y[] = {1.0, 1.5, 3.0, 9.0}, one[1] = {1.0};
        const pp_expr *expr;
        assert_int_equal(pp_expr_table(kind, x, y, 4, *state, &expr, NULL), PERP_OK);
        for (int k = 1; k < 40; k += 3) {
            double t = 0.1 * k, rate, value = pp_expr_rate(expr, &t, one, &rate);
            assert_true(fabs(value - (1.0 + 2.0 * t)) < 1e-14 && fabs(rate - 2.0) < 1e-14);
        }
    }
}

// Constants are numbers, also in lists; a unit may follow; replacing them gives the same value.
static void constants_and_units(void **state)
{
    static const char *const constant[] = {"width", "e"}, *const with[] = {"(-2.5)", "7"};
    static const char *const input[] = {"sin"};  // hides no function
    static const double value[] = {-2.5, 7.0};
    const pp_expr_names all = {.variable = names,
                               .variables = NAMES,
                               .input = input,
                               .inputs = 1,
                               .constant = constant,
                               .value = value,
                               .constants = 2};
    static const struct {
        const char *text, *unit;
        double due;
    } cases[] = {{"width^2", "", 6.25},
                 {"e*1e1 + width mm", "mm", 67.5},
                 {"2 N/m", "N/m", 2.0},
                 {"30deg", "deg", 30.0},
                 {"1 + sin (0) kg", "kg", 1.0},
                 {"(1 + 2) and 0 kg", "kg", 0.0},
                 {"table(1, [0, e], [width, -width, ], linear)", NULL, 0.0},
                 {"table(1, [0, e], [width, -width], linear)", "", -2.5 + 5.0 / 7.0}};
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        const pp_expr *expr = NULL;
        const char *end = NULL;
        char text[80];
        perp_status status = pp_expr_parse_with(cases[k].text, &all, *state, &expr, &end, NULL);
        assert_int_equal(status, cases[k].unit ? PERP_OK : PERP_ERR_FORMAT);
        if (cases[k].unit) {
            assert_string_equal(end, cases[k].unit);
            assert_true(fabs(pp_expr_value(expr, at) - cases[k].due) < 1e-14);
            size_t n = pp_expr_replace(cases[k].text, constant, with, 2, text, sizeof text);
            assert_int_equal(n, strlen(text));
            text[n - strlen(end)] = '\0';
            assert_true(fabs(pp_expr_value(parse(text, *state), at) - cases[k].due) < 1e-14);
            assert_int_equal(pp_expr_replace(cases[k].text, constant, with, 2, text, 3), n);
        }
    }
    assert_true(pp_expr_is_name("a_1") && !pp_expr_is_name("1a") && !pp_expr_is_name("a b"));
    assert_true(pp_expr_is_reserved("if") && pp_expr_is_reserved("hold") &&
                pp_expr_is_reserved("pi"));
    assert_false(pp_expr_is_reserved("width"));
}

static void bad_tables_are_refused(void **state)
{
    const double up[] = {0.0, 1.0, 2.0}, flat[] = {0.0, 1.0, 1.0}, bad[] = {0.0, HUGE_VAL, 1.0};
    const pp_expr *expr;
    pp_expr_error error;
    assert_int_equal(pp_expr_table(PP_INTERPOLATION_SPLINE, up, up, 1, *state, &expr, &error),
                     PERP_ERR_FORMAT);
    assert_string_equal(error.text, "a table has at least 2 points");
    assert_int_equal(pp_expr_table(PP_INTERPOLATION_LINEAR, flat, up, 3, *state, &expr, &error),
                     PERP_ERR_FORMAT);
    assert_string_equal(error.text, "the first numbers (times) of a table must increase");
    assert_int_equal(pp_expr_table(PP_INTERPOLATION_SPLINE, up, bad, 3, *state, &expr, &error),
                     PERP_ERR_FORMAT);
    assert_string_equal(error.text, "the numbers of a table must be finite");
    assert_null(expr);
}

static void copies_live_alone(void **state)
{
    pp_arena *first = pp_arena_create(NULL);
    const pp_expr *expr = parse("t^2 + table(t, [0, 1, 2], [3, 1, 2])", first);
    double value = pp_expr_value(expr, at);
    const pp_expr *copy = pp_expr_copy(expr, *state);
    pp_arena_destroy(first);
    assert_non_null(copy);
    assert_true(pp_expr_value(copy, at) == value);
    assert_null(pp_expr_copy(NULL, *state));
}

// ── Messages ─────────────────────────────────────────────────────────────────────────────────────

static void errors_say_where_and_what(void **state)
{
    static const struct {
        const char *text;
        int column;
        const char *message;
    } cases[] = {
        {"", 1, "the expression is empty; write a number, or for example 0.1*sin(2*pi*t)"},
        {"  ", 3, "the expression is empty; write a number, or for example 0.1*sin(2*pi*t)"},
        {"sni(t)", 1, "unknown name 'sni': did you mean 'sin'?"},
        {"2*omgea", 3, "unknown name 'omgea': did you mean 'omega'?"},
        {"1+T", 3, "unknown name 'T': did you mean 't'?"},
        {"velocity", 1, "unknown name 'velocity'; use numbers, pi, e, functions and t, x, omega"},
        {"2pi", 2, "missing operator before this; write * to multiply"},
        {"2 (t)", 3, "missing operator before this; write * to multiply"},
        {"t(2)", 2, "missing operator before this; write * to multiply"},
        {"sin t", 5, "write sin(...): the argument must be in parentheses"},
        {"sin", 4, "write sin(...): the argument must be in parentheses"},
        {"1+", 3, "the expression ends where a number, a name or '(' is expected"},
        {"(1+2", 1, "this parenthesis is not closed; write ')'"},
        {"2*sin(t", 3, "this parenthesis is not closed; write ')'"},
        {"1+2)", 4, "this ')' has no matching '('"},
        {"()", 2, "found ')' where a number, a name or '(' is expected"},
        {"*2", 1, "found '*' where a number, a name or '(' is expected to begin with"},
        {"2**3", 2, "write ^ for a power, not **"},
        {"0,5*t", 2, "a comma separates arguments only; write decimals with a point"},
        {"(1,2)", 3, "a comma separates arguments only; write decimals with a point"},
        {"sin(1,2)", 1, "sin takes 1 argument, not 2"},
        {"1+atan2(t)", 3, "atan2 takes 2 arguments, not 1"},
        {"min(t)", 1, "min takes 2 arguments or more, not 1"},
        {"clamp(t,1)", 1, "clamp takes 3 arguments, not 2"},
        {"table(t)", 1, "table takes 3 arguments, not 1"},
        {"1.2.3", 1, "'1.2.3' is not a number; write one like 0.5 or 1e-3"},
        {"1e999", 1, "1e999 is larger than any double"},
        {"t = 2", 3, "write == to compare"},
        {"t ! 2", 3, "write != to compare, or not"},
        {"t && x", 3, "write and"},
        {"t | x", 3, "write or"},
        {"t ; x", 3, "found ';' where an operator is expected: + - * / ^"},
        {"0 < t < 1", 7, "comparisons do not chain; write a < b and b < c"},
        {"t == x != w", 8, "comparisons do not chain; write a < b and b < c"},
        {"if(t, 1)", 1, "if takes 3 arguments, not 2"},
        {"t order", 3, "missing operator before this; write * to multiply"},
        {"t and", 6, "the expression ends where a number, a name or '(' is expected"},
        {"table(t, [0, 1], [1, 2], cubic)", 26,
         "a table ends with linear, hold, monotone or spline"},
        {"2*\xc2\xb5", 3, "found byte 0xC2 where a number, a name or '(' is expected"},
        {"2\x01", 2, "found byte 0x01 where an operator is expected: + - * / ^"},
        {"table(t, 1, 2)", 10,
         "write a table as table(t, [0, 1, 2], [5, 6, 5]): expected '[' here"},
        {"table(t, [0, 1])", 16, "a table has two lists: write ',' and the list of values"},
        {"table(t, [0, t], [1, 2])", 14,
         "a list in a table consists of numbers separated by commas"},
        {"table(t, [0, 1], [1])", 1,
         "the lists of a table must have the same length; these have 2 and 1 numbers"},
        {"table(t, [1, 0], [1, 2])", 1, "the first numbers (times) of a table must increase"},
        {"table(t, [0, 1], [1, 2], 3)", 26, "a table ends with linear, hold, monotone or spline"},
        {"table(t, [0, 1], [1, 2] 3)", 25, "a table ends after its second list: write ')'"},
        {"table(t, [0, 1; [1, 2])", 15,
         "a list in a table consists of numbers separated by commas, followed by ']'"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        const pp_expr *expr = NULL;
        pp_expr_error error = {0};
        perp_status status = pp_expr_parse(cases[k].text, names, NAMES, *state, &expr, &error);
        if (status != PERP_ERR_FORMAT || error.column != cases[k].column ||
            strcmp(error.text, cases[k].message) != 0) {
            print_error("\"%s\"\n  says     %d: %s\n  expected %d: %s\n", cases[k].text,
                        error.column, error.text, cases[k].column, cases[k].message);
            fail();
        }
        assert_null(expr);
    }
}

static void size_and_depth_are_bounded(void **state)
{
    enum { LONG = 4000 };
    char text[LONG + 1];
    const pp_expr *expr;
    pp_expr_error error;
    for (int k = 0; k < LONG; k++) {
        text[k] = (char)(k % 2 ? '+' : '1');
    }
    text[LONG - 1] = '\0';
    assert_int_equal(pp_expr_parse(text, names, NAMES, *state, &expr, &error), PERP_ERR_FORMAT);
    assert_string_equal(error.text,
                        "the expression has more than 512 parts; split it, or use a table");
    memset(text, '(', LONG);
    text[LONG] = '\0';
    assert_int_equal(pp_expr_parse(text, names, NAMES, *state, &expr, &error), PERP_ERR_FORMAT);
    assert_string_equal(error.text, "the expression is nested more than 64 levels deep; split it");
    assert_int_equal(error.column, 65);
    memset(text, '-', LONG);
    assert_int_equal(pp_expr_parse(text, names, NAMES, *state, &expr, &error), PERP_ERR_FORMAT);
    memset(text, '1', LONG);
    assert_int_equal(pp_expr_parse(text, names, NAMES, *state, &expr, &error), PERP_ERR_FORMAT);
    memset(text, ' ', LONG);
    text[LONG - 1] = '1';
    assert_int_equal(pp_expr_parse(text, names, NAMES, *state, &expr, &error), PERP_OK);
    assert_int_equal(pp_expr_parse("", names, NAMES, *state, &expr, NULL), PERP_ERR_FORMAT);
}

// ── Strangers ────────────────────────────────────────────────────────────────────────────────────

static void random_text_does_no_harm(void **state)
{
    static const char *const parts[] = {"t",      "x",     "omega", "1",     "2.5",   "1e3", "+",
                                        "-",      "*",     "/",     "^",     "(",     ")",   ",",
                                        "pi",     "sin(",  "min(",  "abs(",  "step(", "^2",  "e",
                                        "table(", "[0,1]", "]",     "clamp("};
    enum { PARTS = sizeof parts / sizeof parts[0] };
    int good = 0;
    FOR_SEEDS(seed, 20000)
    {
        rng r = rng_seed(seed);
        char text[256] = "";
        int n = 1 + rng_below(&r, 12);
        for (int k = 0; k < n; k++) {
            size_t used = strlen(text);
            snprintf(text + used, sizeof text - used, "%s", parts[rng_below(&r, PARTS)]);
        }
        const pp_expr *expr = NULL;
        pp_expr_error error = {0};
        pp_arena_reset(*state);
        perp_status status = pp_expr_parse(text, names, NAMES, *state, &expr, &error);
        CHECK((status == PERP_OK) == (expr != NULL), seed);
        CHECK(status == PERP_OK ||
                  (error.column >= 1 && error.column <= (int)strlen(text) + 1 && error.text[0]),
              seed);
        if (expr) {
            double rate, value = pp_expr_rate(expr, at, rates, &rate);
            CHECK(isnan(value) || value == pp_expr_value(expr, at), seed);
            good++;
        }
    }
    assert_true(good > 200);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    for (int k = 1;; k++) {
        fault f = {.fail_at = k};
        perp_env env = fault_env(&f);
        pp_arena *arena = pp_arena_create(&env), *second = pp_arena_create(&env);
        const pp_expr *expr = NULL;
        perp_status status = PERP_ERR_MEMORY;
        if (arena && second) {
            status = pp_expr_parse("t+table(t, [0, 1], [2, 3])", names, NAMES, arena, &expr, NULL);
            if (status == PERP_OK && !pp_expr_copy(expr, second)) {
                status = PERP_ERR_MEMORY;
            }
        }
        pp_arena_destroy(arena);
        pp_arena_destroy(second);
        assert_int_equal(f.live, 0);
        assert_int_equal(status, f.happened ? PERP_ERR_MEMORY : PERP_OK);
        if (!f.happened) {
            assert_true(k > 3);
            return;
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(values_are_those_of_c, setup, teardown),
        cmocka_unit_test_setup_teardown(numbers_ignore_the_locale, setup, teardown),
        cmocka_unit_test_setup_teardown(used_variables_are_known, setup, teardown),
        cmocka_unit_test_setup_teardown(derivatives_are_exact, setup, teardown),
        cmocka_unit_test_setup_teardown(standing_arguments_have_no_rate, setup, teardown),
        cmocka_unit_test_setup_teardown(tables_go_through_their_points, setup, teardown),
        cmocka_unit_test_setup_teardown(tables_have_exact_derivatives, setup, teardown),
        cmocka_unit_test_setup_teardown(tables_do_not_overshoot_by_default, setup, teardown),
        cmocka_unit_test_setup_teardown(constants_and_units, setup, teardown),
        cmocka_unit_test_setup_teardown(tables_of_a_line_are_the_line, setup, teardown),
        cmocka_unit_test_setup_teardown(bad_tables_are_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(copies_live_alone, setup, teardown),
        cmocka_unit_test_setup_teardown(errors_say_where_and_what, setup, teardown),
        cmocka_unit_test_setup_teardown(size_and_depth_are_bounded, setup, teardown),
        cmocka_unit_test_setup_teardown(random_text_does_no_harm, setup, teardown),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

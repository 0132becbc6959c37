// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Text to postfix by operator precedence (Dijkstra's shunting yard). Without recursion, so that the
// depth of any text is bounded by an array.
//
// From loose to tight: or, and, not, comparisons (which do not chain), + and -, * and /, unary
// minus, ^ (right-associative). -2^2 is -4, and 2^-1 is 0.5. For example, 2*x^2 + 1 becomes the
// nodes
//
//   2  x  2  ^  *  1  +
//
// Operands go to the output at once. An operator waits on a stack until one that binds less, a
// closing parenthesis or the end of the text follows its right operand.
#include "expr/node.h"

#include <math.h>
#include <string.h>

// How tightly operators bind; LEVEL_OPEN is a parenthesis, which binds nothing.
typedef enum level {
    LEVEL_OPEN,
    LEVEL_OR,
    LEVEL_AND,
    LEVEL_NOT,
    LEVEL_COMPARE,
    LEVEL_SUM,
    LEVEL_PRODUCT,
    LEVEL_SIGN,
    LEVEL_POWER,
} level;

// A function of the language and the number of arguments it takes.
typedef struct function {
    const char *name;
    pp_op op;
    int low, high;  // arguments
} function;

// min and max take two arguments or more; a table takes a value, two lists and a word.
static const function functions[] = {
    {"sin", PP_OP_SIN, 1, 1},
    {"cos", PP_OP_COS, 1, 1},
    {"tan", PP_OP_TAN, 1, 1},
    {"asin", PP_OP_ASIN, 1, 1},
    {"acos", PP_OP_ACOS, 1, 1},
    {"atan", PP_OP_ATAN, 1, 1},
    {"atan2", PP_OP_ATAN2, 2, 2},
    {"sinh", PP_OP_SINH, 1, 1},
    {"cosh", PP_OP_COSH, 1, 1},
    {"tanh", PP_OP_TANH, 1, 1},
    {"exp", PP_OP_EXP, 1, 1},
    {"log", PP_OP_LOG, 1, 1},
    {"sqrt", PP_OP_SQRT, 1, 1},
    {"abs", PP_OP_ABS, 1, 1},
    {"min", PP_OP_MIN, 2, PP_EXPR_DEPTH},
    {"max", PP_OP_MAX, 2, PP_EXPR_DEPTH},
    {"step", PP_OP_STEP, 1, 1},
    {"clamp", PP_OP_CLAMP, 3, 3},
    {"if", PP_OP_IF, 3, 3},
    {"table", PP_OP_TABLE, 3, 3},
};

// Words that are neither functions nor names of values. Interpolations are in the order of
// pp_interpolation.
static const char *const interpolations[] = {"monotone", "linear", "hold", "spline"};
static const char *const words[] = {"pi", "e", "and", "or", "not"};

enum {
    FUNCTIONS = sizeof functions / sizeof functions[0],
    INTERPOLATIONS = sizeof interpolations / sizeof interpolations[0],
    WORDS = sizeof words / sizeof words[0],
    NAMES_MAX = FUNCTIONS + 2 + 64,  // that a message chooses among
};

// A pending operator, or an open parenthesis (LEVEL_OPEN) with the function it belongs to.
typedef struct pending {
    level level;
    pp_op op;
    const function *function;  // NULL: plain parenthesis
    int arguments;             // begun so far
    const char *at;
} pending;

// State of the parser. Operators that wait for their right operand are on `stack`; `node` is the
// output.
typedef struct expr_parser {
    const char *text, *at;
    const pp_expr_names *names;
    bool open_end;  // a unit may follow the expression
    pp_arena *arena;
    pp_expr_error *error;
    pp_node node[PP_EXPR_NODES];
    int nodes;
    pending stack[PP_EXPR_DEPTH];
    int depth;   // of the stack
    int height;  // values on the evaluation's stack
    pp_table *table;
    int tables, points;
} expr_parser;

// Fails with the column of `at`.
static perp_status bad(const expr_parser *p, const char *at, const char *format, ...)
    PP_FORMAT(3, 4);

// Columns count bytes from 1.
static perp_status bad(const expr_parser *p, const char *at, const char *format, ...)
{
    if (p->error) {
        va_list list;
        va_start(list, format);
        p->error->column = (int)(at - p->text) + 1;
        pp_print_list(p->error->text, sizeof p->error->text, format, list);
        va_end(list);
    }
    return PERP_ERR_FORMAT;
}

// Independent of the locale, unlike isdigit and isalpha.
static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

// An expression may span several lines of a scene file.
static void skip_space(expr_parser *p)
{
    while (*p->at == ' ' || *p->at == '\t' || *p->at == '\n' || *p->at == '\r') {
        p->at++;
    }
}

// ── Output ───────────────────────────────────────────────────────────────────────────────────────

// Appends a node that takes `pops` values off the evaluation's stack and pushes one. The height of
// that stack is tracked, so that evaluation need not check it.
static perp_status emit(expr_parser *p, const char *at, pp_node node, int pops)
{
    if (p->nodes == PP_EXPR_NODES) {
        return bad(p, at, "the expression has more than %d parts; split it, or use a table",
                   PP_EXPR_NODES);
    }
    p->node[p->nodes++] = node;
    p->height += 1 - pops;
    if (p->height > PP_EXPR_DEPTH) {
        return bad(p, at, "the expression is nested more than %d levels deep; split it",
                   PP_EXPR_DEPTH);
    }
    return PERP_OK;
}

// Parentheses and operators share one stack.
static perp_status push_operator(expr_parser *p, pending item)
{
    if (p->depth == PP_EXPR_DEPTH) {
        return bad(p, item.at, "the expression is nested more than %d levels deep; split it",
                   PP_EXPR_DEPTH);
    }
    p->stack[p->depth++] = item;
    return PERP_OK;
}

// Emits waiting operators that bind tighter than the level, and with equal_too those that bind as
// tight, which makes an operator left-associative.
static perp_status reduce_operators(expr_parser *p, level to, bool equal_too)
{
    while (p->depth > 0) {
        pending top = p->stack[p->depth - 1];
        if (top.level == LEVEL_OPEN || top.level < to || (top.level == to && !equal_too)) {
            break;
        }
        p->depth--;
        bool unary = top.op == PP_OP_NEGATE || top.op == PP_OP_NOT;
        perp_status status = emit(p, top.at, (pp_node){.op = top.op}, unary ? 1 : 2);
        if (status < 0) {
            return status;
        }
    }
    return PERP_OK;
}

// ── Numbers and tables ───────────────────────────────────────────────────────────────────────────

// Where a number ends; pp_number_parse decides whether it is one.
static size_t number_length(const char *start)
{
    const char *at = start;
    while (is_digit(*at) || *at == '.') {
        at++;
    }
    // An e without digits is no exponent: in 2e the e is a name that lacks an operator.
    if (*at == 'e' || *at == 'E') {
        const char *digits = at + 1 + (at[1] == '+' || at[1] == '-');
        if (is_digit(*digits)) {
            at = digits;
            while (is_digit(*at)) {
                at++;
            }
        }
    }
    return (size_t)(at - start);
}

// The number ends where no digit, point or exponent follows; a unit or a name may.
static perp_status read_number(expr_parser *p, double *value)
{
    const char *start = p->at;
    size_t length = number_length(start);
    p->at += length;
    switch (pp_number_parse(start, length, value)) {
    case PP_NUMBER_FINITE:
        return PERP_OK;
    case PP_NUMBER_OVERFLOW:
        return bad(p, start, "%.*s is larger than any double", length > 40 ? 40 : (int)length,
                   start);
    default:
        return bad(p, start, "'%.*s' is not a number; write one like 0.5 or 1e-3",
                   length > 40 ? 40 : (int)length, start);
    }
}

// A name is delimited by its length: the text goes on after it.
static bool is_word(const char *at, size_t length, const char *word)
{
    return strlen(word) == length && memcmp(at, word, length) == 0;
}

// Length of a name. q[left hip] is one: the name of an object in brackets.
static size_t name_length(const char *at)
{
    size_t length = 0;
    while (is_letter(at[length]) || is_digit(at[length])) {
        length++;
    }
    size_t rest = length > 0 && at[length] == '[' ? strcspn(at + length, "]") : 0;
    return length + (rest > 0 && at[length + rest] == ']' ? rest + 1 : 0);
}

// Goes past a name and returns its length.
static size_t skip_name(expr_parser *p)
{
    const char *at = p->at;
    p->at += name_length(at);
    return (size_t)(p->at - at);
}

// Whether a name has a value that is known now. Constants of the caller hide pi and e.
static bool find_constant(const expr_parser *p, const char *at, size_t length, double *value)
{
    const pp_expr_names *names = p->names;
    for (int k = 0; k < names->constants; k++) {
        if (is_word(at, length, names->constant[k])) {
            *value = names->value[k];
            return true;
        }
    }
    bool pi = is_word(at, length, "pi"), e = is_word(at, length, "e");
    if (pi || e) {
        *value = pi ? 3.141592653589793 : 2.718281828459045;
    }
    return pi || e;
}

// Goes past a sign; true: it was a minus.
static bool read_sign(expr_parser *p)
{
    bool negative = *p->at == '-';
    p->at += negative || *p->at == '+';
    return negative;
}

// One number of a list, or the name of a constant. Lists hold no expressions, but a number in
// parentheses may have a sign of its own, as where a constant was replaced by its value.
static perp_status read_item(expr_parser *p, double *value)
{
    static const char due[] = "a list in a table consists of numbers separated by commas";
    bool negative = read_sign(p), inside = *p->at == '(';
    p->at += inside;
    negative = (inside && read_sign(p)) != negative;
    const char *at = p->at;
    perp_status status;
    if (is_digit(*at) || *at == '.') {
        status = read_number(p, value);
    } else {
        size_t length = is_letter(*at) ? skip_name(p) : 0;
        status =
            length > 0 && find_constant(p, at, length, value) ? PERP_OK : bad(p, at, "%s", due);
    }
    if (status == PERP_OK && inside && *p->at != ')') {
        status = bad(p, p->at, "%s", due);
    }
    p->at += status == PERP_OK && inside;
    if (status == PERP_OK && negative) {
        *value = -*value;
    }
    return status;
}

// A list "[1, 2, 3]". values has room for every comma of the rest of the text.
static perp_status read_list(expr_parser *p, double *values, int room, int *count)
{
    skip_space(p);
    if (*p->at != '[') {
        return bad(p, p->at, "write a table as table(t, [0, 1, 2], [5, 6, 5]): expected '[' here");
    }
    do {
        p->at++;
        skip_space(p);
        if (*count == room) {
            return bad(p, p->at, "tables have at most %d points in total", PP_EXPR_POINTS);
        }
        perp_status status = read_item(p, &values[*count]);
        if (status < 0) {
            return status;
        }
        ++*count;
        skip_space(p);
    } while (*p->at == ',');
    if (*p->at != ']') {
        return bad(p, p->at,
                   "a list in a table consists of numbers separated by commas, followed by ']'");
    }
    p->at++;
    return PERP_OK;
}

// Adds a table to the expression, and the node that evaluates it at the value on the stack. The
// list of tables is copied each time, which is fine for the few that a text has.
static perp_status add_table(expr_parser *p, const char *at, const double *x, const double *y,
                             int count, pp_interpolation kind)
{
    const char *why = NULL;
    p->points += count;
    pp_table *table = PP_ARRAY(p->arena, pp_table, p->tables + 1);
    if (!table) {
        return PERP_ERR_MEMORY;
    }
    if (p->tables > 0) {
        memcpy(table, p->table, (size_t)p->tables * sizeof *table);
    }
    p->table = table;
    perp_status status = p->points > PP_EXPR_POINTS
                             ? bad(p, at, "tables have at most %d points in total", PP_EXPR_POINTS)
                             : pp_table_build(kind, x, y, count, p->arena, &table[p->tables], &why);
    if (why) {
        return bad(p, at, "%s", why);
    }
    if (status != PERP_OK) {
        return status;
    }
    return emit(p, at, (pp_node){.op = PP_OP_TABLE, .index = p->tables++}, 1);
}

// The interpolation of a table, after its lists and a comma.
static perp_status read_interpolation(expr_parser *p, pp_interpolation *kind)
{
    skip_space(p);
    const char *at = p->at;
    size_t length = skip_name(p);
    for (int k = 0; k < INTERPOLATIONS; k++) {
        if (is_word(at, length, interpolations[k])) {
            *kind = (pp_interpolation)k;
            skip_space(p);
            return PERP_OK;
        }
    }
    return bad(p, at, "a table ends with linear, hold, monotone or spline");
}

// The lists of a table and its closing parenthesis, after "table(argument,".
static perp_status read_table(expr_parser *p, const char *at)
{
    // The number of commas in the rest of the text bounds the lengths of the lists.
    int room = 2, nx = 0, ny = 0;
    for (const char *c = p->at; *c && room <= 2 * PP_EXPR_POINTS; c++) {
        room += *c == ',';
    }
    double *x = PP_ARRAY(p->arena, double, room), *y = PP_ARRAY(p->arena, double, room);
    if (!x || !y) {
        return PERP_ERR_MEMORY;
    }
    perp_status status = read_list(p, x, room, &nx);
    skip_space(p);
    if (status == PERP_OK && *p->at != ',') {
        status = bad(p, p->at, "a table has two lists: write ',' and the list of values");
    }
    if (status == PERP_OK) {
        p->at++;
        status = read_list(p, y, room, &ny);
    }
    skip_space(p);
    pp_interpolation kind = PP_INTERPOLATION_MONOTONE;
    if (status == PERP_OK && *p->at == ',') {
        p->at++;
        status = read_interpolation(p, &kind);
    }
    if (status == PERP_OK && *p->at != ')') {
        status = bad(p, p->at, "a table ends after its second list: write ')'");
    }
    if (status == PERP_OK && nx != ny) {
        status = bad(p, at,
                     "the lists of a table must have the same length; these have %d and %d numbers",
                     nx, ny);
    }
    p->at += status == PERP_OK;
    if (status != PERP_OK) {
        return status;
    }
    return add_table(p, at, x, y, nx, kind);
}

// ── Operands ─────────────────────────────────────────────────────────────────────────────────────

// Name k of all: variables, inputs, constants.
static const char *name_at(const pp_expr_names *names, int k)
{
    if (k < names->variables) {
        return names->variable[k];
    }
    k -= names->variables;
    return k < names->inputs ? names->input[k] : names->constant[k - names->inputs];
}

// Suggests the nearest known name, or lists the variables.
static perp_status unknown_name(expr_parser *p, const char *at, size_t length)
{
    const char *known[NAMES_MAX] = {"pi", "e"};
    char list[80] = "";
    const pp_expr_names *names = p->names;
    int n = 2, all = names->variables + names->inputs + names->constants;
    for (int k = 0; k < FUNCTIONS; k++) {
        known[n++] = functions[k].name;
    }
    for (int k = 0; k < all && n < NAMES_MAX; k++) {
        size_t used = strlen(list);
        const char *name = name_at(names, k);
        known[n++] = name;
        pp_print(list + used, sizeof list - used, "%s%s", k > 0 ? ", " : " and ", name);
    }
    const char *near = pp_nearest(at, length, known, n);
    int shown = length > 30 ? 30 : (int)length;
    if (near) {
        return bad(p, at, "unknown name '%.*s': did you mean '%s'?", shown, at, near);
    }
    return bad(p, at, "unknown name '%.*s'; use numbers, pi, e, functions%s", shown, at, list);
}

// hip or u[hip], the only way where the name is not an identifier; -1: no such input.
static int find_input(const pp_expr_names *names, const char *at, size_t length)
{
    if (length > 3 && memcmp(at, "u[", 2) == 0) {
        at += 2;
        length -= 3;
    }
    for (int k = 0; k < names->inputs; k++) {
        if (is_word(at, length, names->input[k])) {
            return k;
        }
    }
    return -1;
}

// The function of this name, if there is one.
static const function *find_function(const char *at, size_t length)
{
    for (int k = 0; k < FUNCTIONS; k++) {
        if (is_word(at, length, functions[k].name)) {
            return &functions[k];
        }
    }
    return NULL;
}

// After the name of a function: its parenthesis.
static perp_status open_call(expr_parser *p, const function *f, const char *at, bool *operand)
{
    if (*p->at != '(') {
        return bad(p, p->at, "write %s(...): the argument must be in parentheses", f->name);
    }
    p->at++;
    *operand = false;
    return push_operator(p, (pending){.function = f, .arguments = 1, .at = at});
}

// A variable, an input, a constant, or a function with its parenthesis. *operand: a value is complete.
static perp_status read_name(expr_parser *p, bool *operand)
{
    const char *at = p->at;
    size_t length = skip_name(p);
    double value = 0.0;
    const function *f = find_function(at, length);
    *operand = true;
    if (f) {
        skip_space(p);
    }
    if (f && *p->at == '(') {  // also where an input has its name
        return open_call(p, f, at, operand);
    }
    // Variables first: a variable called e hides the constant.
    for (int k = 0; k < p->names->variables; k++) {
        if (is_word(at, length, p->names->variable[k])) {
            return emit(p, at, (pp_node){.op = PP_OP_VARIABLE, .index = k}, 0);
        }
    }
    int input = find_input(p->names, at, length);
    if (input >= 0) {
        return emit(p, at, (pp_node){.op = PP_OP_INPUT, .index = input}, 0);
    }
    if (find_constant(p, at, length, &value)) {
        return emit(p, at, (pp_node){.value = value}, 0);
    }
    if (is_word(at, length, "not")) {
        *operand = false;
        return push_operator(p, (pending){.level = LEVEL_NOT, .op = PP_OP_NOT, .at = at});
    }
    return f ? open_call(p, f, at, operand) : unknown_name(p, at, length);
}

// Reports what is found where an operand must follow. Bytes that are not printable are shown in
// hexadecimal.
static perp_status want_operand(const expr_parser *p)
{
    const char *after = p->nodes > 0 || p->depth > 0 ? "" : " to begin with";
    if (*p->at == '\0') {
        return bad(p, p->at, "the expression ends where a number, a name or '(' is expected");
    }
    if (*p->at == '*' && p->at > p->text && p->at[-1] == '*') {
        return bad(p, p->at - 1, "write ^ for a power, not **");
    }
    if (*p->at > ' ' && *p->at <= '~') {
        return bad(p, p->at, "found '%c' where a number, a name or '(' is expected%s", *p->at,
                   after);
    }
    return bad(p, p->at, "found byte 0x%02X where a number, a name or '(' is expected%s",
               (unsigned)(unsigned char)*p->at, after);
}

// An operand: number, name, sign or parenthesis. *operand: a value is complete.
static perp_status read_operand(expr_parser *p, bool *operand)
{
    *operand = false;
    if (is_digit(*p->at) || *p->at == '.') {
        double value;
        const char *at = p->at;
        perp_status status = read_number(p, &value);
        *operand = true;
        if (status != PERP_OK) {
            return status;
        }
        return emit(p, at, (pp_node){.value = value}, 0);
    }
    if (is_letter(*p->at)) {
        return read_name(p, operand);
    }
    const char *at = p->at;
    switch (*at) {
    case '+':
        p->at++;
        return PERP_OK;
    case '-':  // waits for its operand; ^ binds tighter, so that -x^2 is -(x^2)
        p->at++;
        return push_operator(p, (pending){.level = LEVEL_SIGN, .op = PP_OP_NEGATE, .at = at});
    case '(':
        p->at++;
        return push_operator(p, (pending){.arguments = 1, .at = at});
    default:
        return want_operand(p);
    }
}

// ── Operators ────────────────────────────────────────────────────────────────────────────────────

// The innermost open parenthesis, after everything in it has been emitted; NULL: none.
static perp_status innermost(expr_parser *p, pending **open)
{
    perp_status status = reduce_operators(p, LEVEL_OR, true);
    *open = p->depth > 0 ? &p->stack[p->depth - 1] : NULL;
    return status;
}

// At ')': the function is emitted after its arguments, which are in the output already.
// The number of arguments was counted by their commas.
static perp_status close_call(expr_parser *p, const pending *open)
{
    const function *f = open->function;
    int given = open->arguments;
    if (given < f->low || given > f->high) {
        return bad(p, open->at, "%s takes %d argument%s%s, not %d", f->name, f->low,
                   f->low == 1 ? "" : "s", f->high > f->low ? " or more" : "", given);
    }
    if (f->op == PP_OP_CLAMP || f->op == PP_OP_IF) {
        return emit(p, open->at, (pp_node){.op = f->op}, 3);
    }
    if (f->high == 1) {
        return emit(p, open->at, (pp_node){.op = f->op}, 1);
    }
    // min(a, b, c) is min(a, min(b, c)).
    for (int k = 1; k < given; k++) {
        perp_status status = emit(p, open->at, (pp_node){.op = f->op}, 2);
        if (status < 0) {
            return status;
        }
    }
    return PERP_OK;
}

// Operators that wait inside the parentheses are emitted first.
static perp_status read_close(expr_parser *p)
{
    pending *open;
    perp_status status = innermost(p, &open);
    if (status < 0) {
        return status;
    }
    if (!open) {
        return bad(p, p->at, "this ')' has no matching '('");
    }
    pending call = *open;
    p->depth--;
    p->at++;
    return call.function ? close_call(p, &call) : PERP_OK;
}

// Ends an argument. The lists of a table are no arguments and are read at once.
static perp_status read_comma(expr_parser *p, bool *operand)
{
    pending *open;
    perp_status status = innermost(p, &open);
    if (status < 0) {
        return status;
    }
    if (!open || !open->function) {
        return bad(p, p->at, "a comma separates arguments only; write decimals with a point");
    }
    p->at++;
    if (open->function->op == PP_OP_TABLE) {
        const char *at = open->at;
        p->depth--;
        return read_table(p, at);
    }
    open->arguments++;
    *operand = false;
    return PERP_OK;
}

// Signs and words of other languages, and what to write here.
static const char *foreign_operator(const char *at)
{
    switch (*at) {
    case '=':
        return "write == to compare";
    case '!':
        return "write != to compare, or not";
    case '&':
        return "write and";
    case '|':
        return "write or";
    default:
        return NULL;
    }
}

// Reports what is found where an operator must follow.
static perp_status want_operator(const expr_parser *p)
{
    char c = *p->at;
    const char *instead = foreign_operator(p->at);
    if (instead) {
        return bad(p, p->at, "%s", instead);
    }
    if (is_letter(c) || is_digit(c) || c == '(' || c == '.') {
        return bad(p, p->at, "missing operator before this; write * to multiply");
    }
    if (c > ' ' && c <= '~') {
        return bad(p, p->at, "found '%c' where an operator is expected: + - * / ^", c);
    }
    return bad(p, p->at, "found byte 0x%02X where an operator is expected: + - * / ^",
               (unsigned)(unsigned char)c);
}

// An operator with two operands.
typedef struct binary_sign {
    const char *sign;
    level level;
    pp_op op;
} binary_sign;

// The operator at the position; NULL: none. Longer signs stand before those they begin with.
static const binary_sign *find_sign(const char *at)
{
    static const binary_sign signs[] = {
        {"+", LEVEL_SUM, PP_OP_ADD},          {"-", LEVEL_SUM, PP_OP_SUBTRACT},
        {"*", LEVEL_PRODUCT, PP_OP_MULTIPLY}, {"/", LEVEL_PRODUCT, PP_OP_DIVIDE},
        {"^", LEVEL_POWER, PP_OP_POWER},      {"<=", LEVEL_COMPARE, PP_OP_AT_MOST},
        {"<", LEVEL_COMPARE, PP_OP_LESS},     {">=", LEVEL_COMPARE, PP_OP_AT_LEAST},
        {">", LEVEL_COMPARE, PP_OP_GREATER},  {"==", LEVEL_COMPARE, PP_OP_EQUAL},
        {"!=", LEVEL_COMPARE, PP_OP_DIFFERS}, {"and", LEVEL_AND, PP_OP_AND},
        {"or", LEVEL_OR, PP_OP_OR},
    };
    for (size_t k = 0; k < sizeof signs / sizeof signs[0]; k++) {
        size_t length = strlen(signs[k].sign);
        // A word ends where its letters end: "order" is a name.
        bool word = is_letter(signs[k].sign[0]);
        if (strncmp(at, signs[k].sign, length) == 0 &&
            !(word && (is_letter(at[length]) || is_digit(at[length])))) {
            return &signs[k];
        }
    }
    return NULL;
}

// Operators that bind as tight or tighter are emitted first. ^ is right-associative: a^b^c is
// a^(b^c). Comparisons do not chain: in a < b < c the first one would give 0 or 1.
static perp_status read_operator(expr_parser *p, bool *operand)
{
    // Neither is an operator with two operands, but both end one, as an operator does.
    if (*p->at == ')') {
        return read_close(p);
    }
    if (*p->at == ',') {
        return read_comma(p, operand);
    }
    const binary_sign *sign = find_sign(p->at);
    if (!sign) {
        return want_operator(p);
    }
    bool compares = sign->level == LEVEL_COMPARE;
    perp_status status = reduce_operators(p, sign->level, sign->op != PP_OP_POWER && !compares);
    if (status != PERP_OK) {
        return status;
    }
    if (compares && p->depth > 0 && p->stack[p->depth - 1].level == LEVEL_COMPARE) {
        return bad(p, p->at, "comparisons do not chain; write a < b and b < c");
    }
    *operand = false;
    pending item = {.level = sign->level, .op = sign->op, .at = p->at};
    p->at += strlen(sign->sign);
    return push_operator(p, item);
}

// Whether a unit begins here: a name after a complete expression. In 2 t the t is a variable, not a
// tonne.
static bool at_unit(const expr_parser *p)
{
    if (!p->open_end || !is_letter(*p->at) || find_sign(p->at)) {
        return false;
    }
    size_t length = name_length(p->at);
    for (int k = 0; k < p->names->variables; k++) {
        if (is_word(p->at, length, p->names->variable[k])) {
            return false;
        }
    }
    if (find_input(p->names, p->at, length) >= 0) {
        return false;
    }
    for (int k = 0; k < p->depth; k++) {
        if (p->stack[k].level == LEVEL_OPEN) {
            return false;
        }
    }
    return true;
}

// Operands and operators alternate; parentheses and commas count as operators after a value.
static perp_status parse(expr_parser *p)
{
    bool operand = false;  // the last token completed a value
    perp_status status = PERP_OK;
    skip_space(p);
    if (*p->at == '\0') {
        return bad(p, p->at,
                   "the expression is empty; write a number, or for example 0.1*sin(2*pi*t)");
    }
    while (status == PERP_OK && (*p->at || !operand)) {
        if (operand && at_unit(p)) {
            break;
        }
        status = operand ? read_operator(p, &operand) : read_operand(p, &operand);
        skip_space(p);
    }
    pending *open;
    if (status >= 0) {
        status = innermost(p, &open);
    }
    if (status == PERP_OK && open) {
        return bad(p, open->at, "this parenthesis is not closed; write ')'");
    }
    return status;
}

// The parser is on the C stack (some 15 kB); only the result goes to the arena.
perp_status pp_expr_parse_with(const char *text, const pp_expr_names *names, pp_arena *arena,
                               const pp_expr **expr, const char **end, pp_expr_error *error)
{
    *expr = NULL;
    expr_parser p = {.text = text, .at = text, .names = names, .arena = arena};
    p.error = error;
    p.open_end = end != NULL;
    perp_status status = parse(&p);
    if (status < 0) {
        return status;
    }
    pp_expr *made = PP_ARRAY(arena, pp_expr, 1);
    pp_node *node = PP_ARRAY(arena, pp_node, p.nodes);
    if (!made || !node) {
        return PERP_ERR_MEMORY;
    }
    memcpy(node, p.node, (size_t)p.nodes * sizeof *node);
    *made = (pp_expr){p.nodes, p.tables, node, p.table};
    *expr = made;
    if (end) {
        *end = p.at;
    }
    return PERP_OK;
}

perp_status pp_expr_parse(const char *text, const char *const *names, int count, pp_arena *arena,
                          const pp_expr **expr, pp_expr_error *error)
{
    const pp_expr_names all = {.variable = names, .variables = count};
    return pp_expr_parse_with(text, &all, arena, expr, NULL, error);
}

// ── Names ────────────────────────────────────────────────────────────────────────────────────────

// ASCII letters only, whatever the locale.
bool pp_expr_is_name(const char *name)
{
    if (!is_letter(name[0])) {
        return false;
    }
    for (const char *c = name; *c; c++) {
        if (!is_letter(*c) && !is_digit(*c)) {
            return false;
        }
    }
    return true;
}

// A parameter with such a name could never be used.
bool pp_expr_is_reserved(const char *name)
{
    for (int k = 0; k < FUNCTIONS; k++) {
        if (strcmp(name, functions[k].name) == 0) {
            return true;
        }
    }
    for (int k = 0; k < INTERPOLATIONS; k++) {
        if (strcmp(name, interpolations[k]) == 0) {
            return true;
        }
    }
    for (int k = 0; k < WORDS; k++) {
        if (strcmp(name, words[k]) == 0) {
            return true;
        }
    }
    return false;
}

// The text that replaces a name; NULL: it stays.
static const char *find_text(const char *at, size_t length, const char *const *name,
                             const char *const *with, int count)
{
    for (int k = 0; k < count; k++) {
        if (is_word(at, length, name[k])) {
            return with[k];
        }
    }
    return NULL;
}

size_t pp_expr_token(const char *text, bool *name)
{
    *name = is_letter(*text);
    if (*name) {
        return name_length(text);
    }
    return is_digit(*text) || *text == '.' ? number_length(text) : 1;
}

// Numbers are copied as a whole: the e of 1e5 is no name.
size_t pp_expr_replace(const char *text, const char *const *name, const char *const *with,
                       int count, char *out, size_t size)
{
    size_t used = 0;
    while (*text) {
        bool is_name;
        const char *piece = text;
        size_t length = pp_expr_token(text, &is_name);
        // A name that is replaced gives another piece; all else is copied.
        const char *other = is_name ? find_text(text, length, name, with, count) : NULL;
        text += length;
        if (other) {
            piece = other;
            length = strlen(other);
        }
        if (used + length < size) {
            memcpy(out + used, piece, length);
        }
        used += length;
    }
    if (used < size) {
        out[used] = '\0';
    }
    return used;
}

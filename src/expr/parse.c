// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Text to postfix by operator precedence (Dijkstra's shunting yard): no recursion, so that the depth of
// what a stranger writes is bounded by an array.
//
// From loose to tight: + and -, * and /, unary minus, ^ (from the right). So -2^2 = -4 and 2^-1 = 0.5.
#include "expr/node.h"

#include <math.h>
#include <string.h>

typedef enum level { LEVEL_OPEN, LEVEL_SUM, LEVEL_PRODUCT, LEVEL_SIGN, LEVEL_POWER } level;

typedef struct function {
    const char *name;
    pp_op op;
    int low, high;  // arguments
} function;

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
    {"table", PP_OP_TABLE, 3, 3},
};

enum { FUNCTIONS = sizeof functions / sizeof functions[0], NAMES_MAX = FUNCTIONS + 2 + 16 };

// A pending operator, or an open parenthesis (LEVEL_OPEN) with the function it belongs to.
typedef struct pending {
    level level;
    pp_op op;
    const function *function;  // NULL: plain parenthesis
    int arguments;             // begun so far
    const char *at;
} pending;

typedef struct expr_parser {
    const char *text, *at;
    const char *const *names;
    int count;  // of names
    pp_arena *arena;
    pp_expr_error *error;
    pp_node node[PP_EXPR_NODES];
    int nodes;
    pending stack[PP_EXPR_DEPTH];
    int depth;   // of the stack
    int height;  // values on the evaluation's stack
    pp_spline_table *table;
    int tables, points;
} expr_parser;

static perp_status bad(const expr_parser *p, const char *at, const char *format, ...)
    PP_FORMAT(3, 4);

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

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static void skip_space(expr_parser *p)
{
    while (*p->at == ' ' || *p->at == '\t' || *p->at == '\n' || *p->at == '\r') {
        p->at++;
    }
}

// ── Output ───────────────────────────────────────────────────────────────────────────────────────

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

static perp_status push_operator(expr_parser *p, pending item)
{
    if (p->depth == PP_EXPR_DEPTH) {
        return bad(p, item.at, "the expression is nested more than %d levels deep; split it",
                   PP_EXPR_DEPTH);
    }
    p->stack[p->depth++] = item;
    return PERP_OK;
}

// Pops operators that bind tighter than the level (or as tight, for those that group from the left).
static perp_status reduce_operators(expr_parser *p, level to, bool equal_too)
{
    while (p->depth > 0) {
        pending top = p->stack[p->depth - 1];
        if (top.level == LEVEL_OPEN || top.level < to || (top.level == to && !equal_too)) {
            break;
        }
        p->depth--;
        perp_status status =
            emit(p, top.at, (pp_node){.op = top.op}, top.op == PP_OP_NEGATE ? 1 : 2);
        if (status < 0) {
            return status;
        }
    }
    return PERP_OK;
}

// ── Numbers and tables ───────────────────────────────────────────────────────────────────────────

static perp_status read_number(expr_parser *p, double *value)
{
    const char *start = p->at;
    while (is_digit(*p->at) || *p->at == '.') {
        p->at++;
    }
    // An e without digits is no exponent: 2e is read as 2 and then the name e, which lacks an operator.
    if (*p->at == 'e' || *p->at == 'E') {
        const char *digits = p->at + 1 + (p->at[1] == '+' || p->at[1] == '-');
        if (is_digit(*digits)) {
            p->at = digits;
            while (is_digit(*p->at)) {
                p->at++;
            }
        }
    }
    size_t length = (size_t)(p->at - start);
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

// "[1, 2, 3]" into values, which has room for all commas that follow.
static perp_status read_list(expr_parser *p, double *values, int room, int *count)
{
    skip_space(p);
    if (*p->at != '[') {
        return bad(p, p->at, "write a table as table(t, [0, 1, 2], [5, 6, 5]): expected '[' here");
    }
    do {
        p->at++;
        skip_space(p);
        bool negative = *p->at == '-';  // the sign of a number, since lists hold no expressions
        p->at += *p->at == '-' || *p->at == '+';
        if (*count == room || !(is_digit(*p->at) || *p->at == '.')) {
            return bad(p, p->at, "a list in a table consists of numbers separated by commas");
        }
        perp_status status = read_number(p, &values[*count]);
        if (status < 0) {
            return status;
        }
        values[*count] = negative ? -values[*count] : values[*count];
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

// A table belongs to the expression; its node evaluates it at the value on the stack.
static perp_status add_table(expr_parser *p, const char *at, const double *x, const double *y,
                             int count)
{
    const char *why = NULL;
    p->points += count;
    pp_spline_table *table = PP_ARRAY(p->arena, pp_spline_table, p->tables + 1);
    if (!table) {
        return PERP_ERR_MEMORY;
    }
    if (p->tables > 0) {
        memcpy(table, p->table, (size_t)p->tables * sizeof *table);
    }
    p->table = table;
    perp_status status =
        p->points > PP_EXPR_POINTS
            ? bad(p, at, "tables have at most %d points in total", PP_EXPR_POINTS)
            : pp_spline_table_build(x, y, count, p->arena, &table[p->tables], &why);
    if (why) {
        return bad(p, at, "%s", why);
    }
    return status < 0 ? status : emit(p, at, (pp_node){.op = PP_OP_TABLE, .index = p->tables++}, 1);
}

// After "table(argument,": the two lists and the parenthesis.
static perp_status read_table(expr_parser *p, const char *at)
{
    // Commas in the rest of the text bound how many numbers the lists have.
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
    if (status == PERP_OK && *p->at != ')') {
        status = bad(p, p->at, "a table ends after its second list: write ')'");
    }
    if (status == PERP_OK && nx != ny) {
        status = bad(p, at,
                     "the lists of a table must have the same length; these have %d and %d numbers",
                     nx, ny);
    }
    p->at += status == PERP_OK;
    return status < 0 ? status : add_table(p, at, x, y, nx);
}

// ── Operands ─────────────────────────────────────────────────────────────────────────────────────

static bool is_word(const char *at, size_t length, const char *word)
{
    return strlen(word) == length && memcmp(at, word, length) == 0;
}

// The nearest known name as a suggestion, else all variables.
static perp_status unknown_name(expr_parser *p, const char *at, size_t length)
{
    const char *known[NAMES_MAX] = {"pi", "e"};
    char list[80] = "";
    int n = 2;
    for (int k = 0; k < p->count && n < NAMES_MAX; k++) {
        size_t used = strlen(list);
        known[n++] = p->names[k];
        pp_print(list + used, sizeof list - used, "%s%s", k > 0 ? ", " : "", p->names[k]);
    }
    for (int k = 0; k < FUNCTIONS && n < NAMES_MAX; k++) {
        known[n++] = functions[k].name;
    }
    const char *near = pp_nearest(at, length, known, n);
    int shown = length > 30 ? 30 : (int)length;
    if (near) {
        return bad(p, at, "unknown name '%.*s': did you mean '%s'?", shown, at, near);
    }
    return bad(p, at, "unknown name '%.*s'; use numbers, pi, e, functions and %s", shown, at, list);
}

// A name: variable, constant, or function with its parenthesis. *operand: a value was complete.
static perp_status read_name(expr_parser *p, bool *operand)
{
    const char *at = p->at;
    while (is_letter(*p->at) || is_digit(*p->at)) {
        p->at++;
    }
    size_t length = (size_t)(p->at - at);
    *operand = true;
    // Variables first: a caller's variable named e hides the constant.
    for (int k = 0; k < p->count; k++) {
        if (is_word(at, length, p->names[k])) {
            return emit(p, at, (pp_node){.op = PP_OP_VARIABLE, .index = k}, 0);
        }
    }
    if (is_word(at, length, "pi")) {
        return emit(p, at, (pp_node){.value = 3.141592653589793}, 0);
    }
    if (is_word(at, length, "e")) {
        return emit(p, at, (pp_node){.value = 2.718281828459045}, 0);
    }
    for (int k = 0; k < FUNCTIONS; k++) {
        if (is_word(at, length, functions[k].name)) {
            skip_space(p);
            if (*p->at != '(') {
                return bad(p, p->at, "write %s(...): the argument must be in parentheses",
                           functions[k].name);
            }
            p->at++;
            *operand = false;
            return push_operator(p, (pending){.function = &functions[k], .arguments = 1, .at = at});
        }
    }
    return unknown_name(p, at, length);
}

// Says what stands where an operand is due. Bytes that do not print are shown in hexadecimal.
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

// Where a value is due: number, name, sign or parenthesis. *operand: a value is complete.
static perp_status read_operand(expr_parser *p, bool *operand)
{
    *operand = false;
    if (is_digit(*p->at) || *p->at == '.') {
        double value;
        const char *at = p->at;
        perp_status status = read_number(p, &value);
        *operand = true;
        return status < 0 ? status : emit(p, at, (pp_node){.value = value}, 0);
    }
    if (is_letter(*p->at)) {
        return read_name(p, operand);
    }
    const char *at = p->at;
    switch (*at) {
    case '+':
        p->at++;
        return PERP_OK;
    case '-':  // waits for its operand; ^ binds more tightly, so -x^2 is -(x^2)
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

// The innermost open parenthesis once everything in it is written out; NULL: none.
static perp_status innermost(expr_parser *p, pending **open)
{
    perp_status status = reduce_operators(p, LEVEL_SUM, true);
    *open = p->depth > 0 ? &p->stack[p->depth - 1] : NULL;
    return status;
}

// At ')': the call is emitted behind its arguments, which are in the postfix already.
static perp_status close_call(expr_parser *p, const pending *open)
{
    const function *f = open->function;
    int given = open->arguments;
    if (given < f->low || given > f->high) {
        return bad(p, open->at, "%s takes %d argument%s%s, not %d", f->name, f->low,
                   f->low == 1 ? "" : "s", f->high > f->low ? " or more" : "", given);
    }
    if (f->op == PP_OP_CLAMP) {
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

// Ends an argument. A table's lists are no arguments and are read at once.
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

// Says what stands where an operator is due.
static perp_status want_operator(const expr_parser *p)
{
    char c = *p->at;
    if (is_letter(c) || is_digit(c) || c == '(' || c == '.') {
        return bad(p, p->at, "missing operator before this; write * to multiply");
    }
    if (c > ' ' && c <= '~') {
        return bad(p, p->at, "found '%c' where an operator is expected: + - * / ^", c);
    }
    return bad(p, p->at, "found byte 0x%02X where an operator is expected: + - * / ^",
               (unsigned)(unsigned char)c);
}

// Operators that bind as tightly or more are emitted first; ^ is right-associative: a^b^c is a^(b^c).
static perp_status read_operator(expr_parser *p, bool *operand)
{
    static const struct {
        char sign;
        level level;
        pp_op op;
    } signs[] = {{'+', LEVEL_SUM, PP_OP_ADD},
                 {'-', LEVEL_SUM, PP_OP_SUBTRACT},
                 {'*', LEVEL_PRODUCT, PP_OP_MULTIPLY},
                 {'/', LEVEL_PRODUCT, PP_OP_DIVIDE},
                 {'^', LEVEL_POWER, PP_OP_POWER}};
    if (*p->at == ')') {
        return read_close(p);
    }
    if (*p->at == ',') {
        return read_comma(p, operand);
    }
    for (size_t k = 0; k < sizeof signs / sizeof signs[0]; k++) {
        if (*p->at == signs[k].sign) {
            perp_status status = reduce_operators(p, signs[k].level, signs[k].op != PP_OP_POWER);
            *operand = false;
            pending item = {.level = signs[k].level, .op = signs[k].op, .at = p->at++};
            return status < 0 ? status : push_operator(p, item);
        }
    }
    return want_operator(p);
}

// Dijkstra's shunting-yard algorithm: postfix out, operators and parentheses wait on a stack. No recursion, so that the
// depth of an input cannot exhaust the C stack.
static perp_status parse(expr_parser *p)
{
    bool operand = false;  // the last thing read was a value
    perp_status status = PERP_OK;
    skip_space(p);
    if (*p->at == '\0') {
        return bad(p, p->at,
                   "the expression is empty; write a number, or for example 0.1*sin(2*pi*t)");
    }
    while (status == PERP_OK && (*p->at || !operand)) {
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

perp_status pp_expr_parse(const char *text, const char *const *names, int count, pp_arena *arena,
                          const pp_expr **expr, pp_expr_error *error)
{
    *expr = NULL;
    expr_parser p = {.text = text, .at = text, .names = names, .count = count, .arena = arena};
    p.error = error;
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
    return PERP_OK;
}

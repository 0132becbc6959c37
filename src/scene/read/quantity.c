// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Numbers that are written as strings: expressions of parameters and indices, with a unit,
// "2*width" or "12 mm"; the same within motions and names.
//
// Parameters are numbers while a scene is read. The model sees none of them: an expression of time
// is parsed with their names, so that columns in messages are those of the file, and then copied
// with their values in place of their names.
#include "scene/read/json_tree.h"
#include "scene/read/reader.h"

#include <math.h>
#include <string.h>

// ── Units ────────────────────────────────────────────────────────────────────────────────────────

// The units that a field may have; NULL: none. Angles need no entry in the tables.
static const char *field_units(const pp_field *field)
{
    bool angle = field->kind == PP_FIELD_ANGLE || field->kind == PP_FIELD_AXIS;
    return !field->unit && angle ? "rad" : field->unit;
}

// The unit to name in a message: the alternative that counts.
static void put_due(const pp_reader *r, const char *due, char *text, size_t size)
{
    const char *second = strstr(due, " or ");
    if (second && r->alternative == 2) {
        pp_print(text, size, "%s", second + 4);
    } else if (second && r->alternative == 1) {
        pp_print(text, size, "%.*s", (int)(second - due), due);
    } else {
        pp_print(text, size, "%s", due);
    }
}

// The unit at `at` within the text that the path leads to. Parameters (unit "*") take any.
static perp_status read_unit(pp_reader *r, const pp_field *field, const char *text, const char *at,
                             pp_measure *unit)
{
    const char *near = NULL, *due = field_units(field);
    const char *wrong = pp_measure_parse(at, strlen(at), unit, &near);
    // The column is that of the first piece of the unit that is none, not of the whole text.
    if (wrong) {
        int column = (int)(wrong - text) + 1, length = (int)strcspn(wrong, " */^");
        length = length > 20 ? 20 : length;
        if (near) {
            return pp_reader_fail_inside(r, column, "'%s': unknown unit '%.*s': did you mean '%s'?",
                                         field->key, length, wrong, near);
        }
        return pp_reader_fail_inside(
            r, column, "'%s': '%.*s' is no unit; write one such as m, kg, s, deg or N/m at the end",
            field->key, length, wrong);
    }
    if ((due && strcmp(due, "*") == 0) || pp_measure_fits(unit, due, r->alternative)) {
        return PERP_OK;
    }
    char expected[40] = "a number without unit";
    if (due) {
        put_due(r, due, expected, sizeof expected);
    }
    return pp_reader_fail_inside(r, (int)(at - text) + 1,
                                 "'%s': the unit %.20s does not fit; expected %s", field->key, at,
                                 expected);
}

// ── Numbers ──────────────────────────────────────────────────────────────────────────────────────

// Whether a text is a number and nothing else. Such a string is refused: most likely its quotes are
// a mistake, or its unit is missing.
static bool is_plain(const char *text)
{
    double x;
    text += strspn(text, " ");
    size_t length = strcspn(text, " ");
    return pp_number_parse(text, length, &x) == PP_NUMBER_FINITE &&
           text[length + strspn(text + length, " ")] == '\0';
}

// The value of an expression of constants, in SI. Memory of the expression is released.
static perp_status evaluate(pp_reader *r, const pp_field *field, const char *text, double *to)
{
    const pp_constants *known = r->constants;
    const pp_expr_names names = {
        .constant = known->name, .value = known->value, .constants = known->count};
    const pp_expr *expr;
    const char *end;
    pp_expr_error error;
    pp_mark mark = pp_arena_mark(r->arena);
    perp_status status = pp_expr_parse_with(text, &names, r->arena, &expr, &end, &error);
    double x = status == PERP_OK ? pp_expr_value(expr, NULL) : 0.0;
    pp_arena_release(r->arena, mark);
    if (status == PERP_ERR_MEMORY) {
        return pp_reader_memory(r);
    }
    if (status < 0) {
        // A list of all names says less here than where a name would come from.
        char *list = strstr(error.text, "; use numbers");
        bool undefined = list && strncmp(error.text, "unknown name", 12) == 0;
        if (undefined) {
            *list = '\0';
        }
        return pp_reader_fail_inside(r, error.column, "'%s': %s%s", field->key, error.text,
                                     undefined ? "; define it in 'parameters', before its use"
                                               : "");
    }
    if (*end) {
        pp_measure unit;
        status = read_unit(r, field, text, end, &unit);
        if (status < 0) {
            return status;
        }
        x = pp_measure_apply(&unit, x);
    }
    if (!isfinite(x)) {
        return pp_reader_fail(r, "'%s': the value of \"%.40s\" is not a finite number", field->key,
                              text);
    }
    *to = x;
    r->said = text;
    r->meant = x;
    return PERP_OK;
}

// Whether an expression that has a value has none without the constants.
perp_status pp_reader_is_derived(pp_reader *r, const char *text, bool *derived)
{
    const pp_expr_names none = {0};
    const pp_expr *expr;
    const char *end;
    pp_expr_error error;
    pp_mark mark = pp_arena_mark(r->arena);
    perp_status status = pp_expr_parse_with(text, &none, r->arena, &expr, &end, &error);
    pp_arena_release(r->arena, mark);
    *derived = status < 0;
    return status == PERP_ERR_MEMORY ? pp_reader_memory(r) : PERP_OK;
}

// A word alone, where there are no parameters, is no attempt at an expression.
bool pp_reader_number(pp_reader *r, const pp_field *field, const json_t *value, double *to)
{
    if (json_is_number(value)) {
        *to = json_number_value(value);
        return true;
    }
    const char *text = json_string_value(value);
    if (!text || !text[0] || is_plain(text) ||
        (r->constants->count == 0 && pp_expr_is_name(text))) {
        return false;
    }
    return evaluate(r, field, text, to) == PERP_OK;
}

// A whole number, also as 1e3 or as an expression of parameters; -1: the value is none. Doubles hold whole numbers up to
// 2^53 exactly.
int64_t pp_reader_whole(pp_reader *r, const pp_field *field, const json_t *value)
{
    double x = -1.0;
    if (json_is_integer(value)) {
        return json_integer_value(value);
    }
    if (!pp_reader_number(r, field, value, &x)) {
        return -1;
    }
    return fabs(x) < 1e15 && x == floor(x) ? (int64_t)x : -1;
}

// ── Motions ──────────────────────────────────────────────────────────────────────────────────────

enum { USED_MOST = 32, NUMBER_MAX = 40 };

// Constants of an expression and their values as texts.
typedef struct used_constants {
    const char *name[USED_MOST], *with[USED_MOST];
    char text[USED_MOST][NUMBER_MAX];
    int count;
} used_constants;

// Negative values stand in parentheses: -2^2 is not (-2)^2. false: there are too many.
static bool find_used(const pp_reader *r, const char *text, used_constants *used)
{
    const pp_constants *known = r->constants;
    const char *const nothing = "";
    size_t length = strlen(text);
    used->count = 0;
    for (int k = 0; k < known->count; k++) {
        // A text that keeps its length when the name is removed does not use it.
        if (pp_expr_replace(text, &known->name[k], &nothing, 1, NULL, 0) == length) {
            continue;
        }
        if (used->count == USED_MOST) {
            return false;
        }
        char number[NUMBER_MAX - 4];
        pp_number_print(number, sizeof number, known->value[k]);
        int i = used->count++;
        pp_print(used->text[i], NUMBER_MAX, known->value[k] < 0.0 ? "(%s)" : "%s", number);
        used->name[i] = known->name[k];
        used->with[i] = used->text[i];
    }
    return true;
}

// The text for the model, with the factor of a unit. The text has been parsed.
perp_status pp_reader_formula(pp_reader *r, const pp_field *field, const char *text,
                              const char **to)
{
    used_constants used;
    if (!find_used(r, text, &used)) {
        return pp_reader_fail(r, "'%s': more than %d parameters in one expression; combine some",
                              field->key, USED_MOST);
    }
    if (used.count == 0) {
        *to = text;
        return PERP_OK;
    }
    size_t size = pp_expr_replace(text, used.name, used.with, used.count, NULL, 0) + 1;
    char *copy = pp_reader_text(r, size);
    if (!copy) {
        return PERP_ERR_MEMORY;
    }
    pp_expr_replace(text, used.name, used.with, used.count, copy, size);
    *to = copy;
    return PERP_OK;
}

// A motion or force with a unit: the expression times the factor.
perp_status pp_reader_scale(pp_reader *r, const pp_field *field, const char *text, const char *end,
                            const char **to)
{
    pp_measure unit;
    char factor[NUMBER_MAX];
    size_t head = (size_t)(end - text), size = head + NUMBER_MAX + 8;
    perp_status status = read_unit(r, field, text, end, &unit);
    char *copy = status < 0 ? NULL : pp_reader_text(r, size);
    if (!copy) {
        return status < 0 ? status : PERP_ERR_MEMORY;
    }
    pp_number_print(factor, sizeof factor, unit.factor);
    pp_print(copy, size, "(%.*s)*%s", (int)head, text, factor);
    *to = copy;
    return PERP_OK;
}

// ── Names ────────────────────────────────────────────────────────────────────────────────────────

// Replaces {expression} by its value, a whole number. Scenes without parameters and copies have
// braces as plain letters.
perp_status pp_reader_expand(pp_reader *r, const char *key, const char *text, const char **to,
                             bool *made)
{
    *made = r->constants->count > 0 && strchr(text, '{');
    *to = text;
    if (!*made) {
        return PERP_OK;
    }
    // A number has at most 20 digits.
    size_t length = strlen(text), size = length + 1;
    for (const char *c = text; *c; c++) {
        size += *c == '{' ? 24 : 0;
    }
    char *copy = pp_reader_text(r, size), *inside = pp_reader_text(r, length + 1);
    const pp_field field = {.key = key};
    size_t used = 0;
    if (!copy || !inside) {
        return PERP_ERR_MEMORY;
    }
    for (const char *c = text; *c;) {
        const char *close = *c == '{' ? strchr(c, '}') : NULL;
        if (*c == '{' && !close) {
            return pp_reader_fail_inside(r, (int)(c - text) + 1, "'%s': '{' has no matching '}'",
                                         key);
        }
        if (!close) {
            copy[used++] = *c++;
            continue;
        }
        // Blanks before the expression keep its columns those of the whole text.
        size_t head = (size_t)(c - text) + 1, within = (size_t)(close - c) - 1;
        double x = 0.5;
        memset(inside, ' ', head);
        memcpy(inside + head, c + 1, within);
        inside[head + within] = '\0';
        perp_status status = evaluate(r, &field, inside, &x);
        if (status < 0) {
            return status;
        }
        if (x != floor(x) || fabs(x) > 1e15) {
            return pp_reader_fail_inside(r, (int)head + 1,
                                         "'%s': {%.*s} is %g; a name needs a whole number", key,
                                         within > 40 ? 40 : (int)within, c + 1, x);
        }
        pp_print(copy + used, size - used, "%lld", (long long)x);
        used += strlen(copy + used);
        c = close + 1;
    }
    copy[used] = '\0';
    *to = copy;
    return PERP_OK;
}

// ── Inputs and joints ────────────────────────────────────────────────────────────────────────────

// The input that a name means in this scope; NULL: none.
static const char *find_input(const pp_reader *r, const char *word)
{
    char text[256];
    for (const pp_scope *s = r->scope; s; s = s->outer) {
        pp_print(text, sizeof text, "%s%s", s->prefix, word);
        for (int k = 0; k < r->inputs; k++) {
            if (strcmp(r->input[k], text) == 0) {
                return r->input[k];
            }
        }
    }
    return NULL;
}

// The same for q[word], dq[word], u[word] and plain words; the kind goes to *head.
static const char *find_global(pp_reader *r, const pp_expr_names *names, const char *at,
                               size_t length, const char **head)
{
    static const char *const heads[] = {"q", "dq", "u"};
    char word[128];
    size_t open = strcspn(at, "[");
    *head = "u";
    // A word alone may be a variable, a function or a constant, which come first.
    if (open >= length) {
        pp_print(word, sizeof word, "%.*s", (int)length, at);
        for (int k = 0; k < names->variables; k++) {
            if (strcmp(names->variable[k], word) == 0) {
                return NULL;
            }
        }
        bool other = pp_expr_is_reserved(word);
        for (int k = 0; k < names->constants; k++) {
            other = other || strcmp(names->constant[k], word) == 0;
        }
        return other ? NULL : find_input(r, word);
    }
    pp_print(word, sizeof word, "%.*s", (int)(length - open - 2), at + open + 1);
    for (int k = 0; k < 3; k++) {
        if (strlen(heads[k]) == open && memcmp(heads[k], at, open) == 0) {
            *head = heads[k];
            int joint = k < 2 ? pp_reader_find(r, &r->joint_names, word) : -1;
            return k < 2 && joint >= 0 ? r->joint[joint] : find_input(r, word);
        }
    }
    return NULL;
}

// Names of inputs and joints as the model knows them, in scopes with a prefix. *column, one of the
// new text, becomes that of the old one.
perp_status pp_reader_globalize(pp_reader *r, const pp_expr_names *names, const char *text,
                                int *column, const char **to)
{
    enum { LONGEST = 80 };  // bytes that a name becomes
    size_t size = 1, used = 0, wanted = column ? (size_t)*column : 0;
    *to = text;
    if (!r->scope->prefix[0]) {
        return PERP_OK;
    }
    for (const char *c = text; *c;) {
        bool name;
        size_t length = pp_expr_token(c, &name);
        size += length + (name ? LONGEST : 0);
        c += length;
    }
    char *copy = pp_reader_text(r, size);
    if (!copy) {
        return PERP_ERR_MEMORY;
    }
    for (const char *c = text; *c;) {
        bool name;
        const char *head;
        size_t length = pp_expr_token(c, &name);
        const char *global = name ? find_global(r, names, c, length, &head) : NULL;
        if (column && used < wanted) {
            *column = (int)(c - text) + 1;
        }
        if (global) {
            pp_print(copy + used, size - used, "%s[%s]", head, global);
            used += strlen(copy + used);
        } else {
            memcpy(copy + used, c, length);
            used += length;
        }
        c += length;
    }
    copy[used] = '\0';
    *to = copy;
    return PERP_OK;
}

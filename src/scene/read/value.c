// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads one value of a scene file: numbers, angles, vectors, expressions, tables, words and
// references.
//
// Each function checks that the JSON value has the right type and range, and stores it in the unit
// and form of the definition: angles in radians, lengths as half lengths where the model has those.
// On failure it reports at the value (pp_reader_refuse) and leaves the definition as it was.
#include "scene/read/json_tree.h"
#include "scene/read/reader.h"

#include <math.h>
#include <string.h>

// ── Numbers and angles ───────────────────────────────────────────────────────────────────────────

// The unit follows in brackets: "must be a number > 0 [kg]".
perp_status pp_reader_refuse_number(pp_reader *r, const pp_field *field, const char *due,
                                    const json_t *value)
{
    char text[120];
    pp_print(text, sizeof text, field->unit ? "%s [%s]" : "%s", due, field->unit);
    return pp_reader_refuse(r, field->key, text, value);
}

// Numbers of all kinds. A length is stored as half of it.
static perp_status read_number(pp_reader *r, const pp_field *field, const json_t *value, double *to)
{
    const char *word = json_string_value(value);
    bool infinite = field->kind == PP_FIELD_EFFORT && word && strcmp(word, "inf") == 0;
    double x = PP_INF;
    // negated comparisons would let a NaN pass
    bool good = infinite || pp_reader_number(r, field, value, &x);
    const char *due = "a number";
    if (field->kind == PP_FIELD_POSITIVE || field->kind == PP_FIELD_LENGTH) {
        due = "a number > 0";
        good = good && x > 0.0;
    } else if (field->kind == PP_FIELD_NONNEGATIVE) {
        due = "a number >= 0";
        good = good && x >= 0.0;
    } else if (field->kind == PP_FIELD_FRACTION) {
        due = "a number between 0 and 1";
        good = good && x >= 0.0 && x <= 1.0;
    } else if (field->kind == PP_FIELD_THETA) {
        due = "a number between 0.5 and 1";
        good = good && x >= 0.5 && x <= 1.0;
    } else if (field->kind == PP_FIELD_EFFORT) {
        due = "a number >= 0 or \"inf\"";
        good = good && x >= 0.0;
    }
    if (!good) {
        return pp_reader_refuse_number(r, field, due, value);
    }
    *to = field->kind == PP_FIELD_LENGTH ? 0.5 * x : x;
    return PERP_OK;
}

// PP_THREADS_MOST is the 256 of the message.
static perp_status read_threads(pp_reader *r, const pp_field *field, const json_t *value, int *to)
{
    int64_t n = pp_reader_whole(r, field, value);
    if (n < 0 || n > PP_THREADS_MOST) {
        return pp_reader_refuse(r, field->key, "an integer from 0 to 256", value);
    }
    *to = (int)n;
    return PERP_OK;
}

// Bounds of joint coordinates, which may be angles, lengths or infinite.
static perp_status read_bound(pp_reader *r, const pp_field *field, const json_t *value, double *to)
{
    const char *word = json_string_value(value);
    if (word && (strcmp(word, "inf") == 0 || strcmp(word, "-inf") == 0)) {
        *to = word[0] == '-' ? -PP_INF : PP_INF;
        return PERP_OK;
    }
    if (pp_reader_number(r, field, value, to)) {
        return PERP_OK;
    }
    return pp_reader_refuse(r, field->key,
                            "a number, an angle such as \"30 deg\", \"inf\" or \"-inf\"", value);
}

// An array of exactly `count` numbers.
bool pp_reader_numbers(pp_reader *r, const pp_field *field, const json_t *value, int count,
                       double *to)
{
    if (json_array_size(value) != (size_t)count) {
        return false;
    }
    for (int k = 0; k < count; k++) {
        const json_t *number = json_array_get(value, (size_t)k);
        if (json_is_number(number)) {
            to[k] = json_number_value(number);
            continue;
        }
        pp_reader_enter(r, NULL, k);
        bool good = pp_reader_number(r, field, number, &to[k]);
        pp_reader_leave(r);
        if (!good) {
            return false;
        }
    }
    return true;
}

// Two numbers leave z at 0.
bool pp_reader_vector(pp_reader *r, const pp_field *field, const json_t *value, int count,
                      perp_vec3 *to)
{
    double x[3] = {0.0, 0.0, 0.0};
    bool good = pp_reader_numbers(r, field, value, count, x);
    if (good) {
        *to = (perp_vec3){x[0], x[1], x[2]};
    }
    return good;
}

// An axis in the plane is stored as its angle.
static perp_status read_axis(pp_reader *r, const pp_field *field, const json_t *value, double *to)
{
    static const pp_field plain = {.key = "axis"};  // components have no unit, the angle has
    perp_vec3 d;
    if (pp_reader_vector(r, &plain, value, 2, &d) && (d.x != 0.0 || d.y != 0.0)) {
        *to = pp_atan2(d.y, d.x);
        return PERP_OK;
    }
    if (pp_reader_number(r, field, value, to)) {
        return PERP_OK;
    }
    return pp_reader_refuse(r, field->key, "a direction [x, y], or an angle such as \"30 deg\"",
                            value);
}

// Stored as half lengths.
static perp_status read_size(pp_reader *r, const pp_field *field, const json_t *value,
                             perp_vec3 *to)
{
    perp_vec3 d;
    bool good = pp_reader_vector(r, field, value, r->spatial ? 3 : 2, &d) && d.x > 0.0 &&
                d.y > 0.0 && (d.z > 0.0 || !r->spatial);
    if (!good) {
        return pp_reader_refuse_number(r, field,
                                       r->spatial ? "three numbers > 0, [x, y, z]"
                                                  : "two numbers > 0, [width, height]",
                                       value);
    }
    *to = (perp_vec3){0.5 * d.x, 0.5 * d.y, 0.5 * d.z};
    return PERP_OK;
}

// Vertices of a polygon, in the frame of the shape. `to` is the whole shape, because two fields
// change.
static perp_status read_vertices(pp_reader *r, const pp_field *field, const json_t *value,
                                 perp_shape_def *to)
{
    size_t n = json_array_size(value);
    if (!json_is_array(value) || n < 3 || n > 256) {
        return pp_reader_refuse_number(r, field, "an array of 3 to 256 points [x, y]", value);
    }
    perp_vec3 *vertices = PP_ZEROS(r->arena, perp_vec3, n);
    if (!vertices) {
        return pp_reader_memory(r);
    }
    // Whether the polygon is convex and counterclockwise is checked by the model.
    for (size_t k = 0; k < n; k++) {
        const json_t *point = json_array_get(value, k);
        pp_reader_enter(r, NULL, (int)k);
        bool good = pp_reader_vector(r, field, point, 2, &vertices[k]);
        perp_status status =
            good ? PERP_OK : pp_reader_refuse(r, NULL, "a vertex: two numbers [x, y]", point);
        pp_reader_leave(r);
        if (status < 0) {
            return status;
        }
    }
    to->vertices_S = vertices;
    to->vertex_count = (int)n;
    return PERP_OK;
}

// ── Motions ──────────────────────────────────────────────────────────────────────────────────────

// Prints a list of numbers in the syntax of expressions, "[1,2,3]". size holds NUMBER_MAX bytes for
// each.
static perp_status read_list(pp_reader *r, const pp_field *field, const json_t *list, char *text,
                             size_t size)
{
    const char *key = field->key;
    perp_status status = PERP_OK;
    size_t used = 0;
    pp_reader_enter(r, key, 0);
    if (!json_is_array(list) || json_array_size(list) < 2) {
        status = pp_reader_refuse(r, key, "an array of at least 2 numbers", list);
        pp_reader_leave(r);
        return status;
    }
    for (size_t k = 0; k < json_array_size(list); k++) {
        const json_t *number = json_array_get(list, k);
        // Printed with all digits: the text is parsed again.
        double x = 0.0;
        pp_reader_enter(r, NULL, (int)k);
        if (!pp_reader_number(r, field, number, &x)) {
            status = pp_reader_refuse(r, NULL, "a number", number);
        }
        pp_reader_leave(r);
        if (status < 0) {
            break;
        }
        pp_print(text + used, size - used, "%s", k > 0 ? "," : "[");
        used++;
        pp_number_print(text + used, size - used, x);
        used += strlen(text + used);
    }
    pp_print(text + used, size - used, "]");
    pp_reader_leave(r);
    return status;
}

// {"table": {"t": [...], "value": [...]}} becomes the text table(t, [...], [...], monotone), so that
// tables and expressions are evaluated and differentiated by the same code.
static perp_status read_table(pp_reader *r, const pp_field *field, const json_t *value,
                              const char **to)
{
    enum { NUMBER_MAX = 32, HEAD = 64 };
    uint64_t seen;
    int kind = PP_INTERPOLATION_MONOTONE;
    perp_status status = pp_reader_fields(r, &pp_table_object, 0, value, NULL, &seen);
    if (status < 0) {
        return status;
    }
    const json_t *table = json_object_get(value, "table");
    pp_reader_enter(r, "table", 0);
    // Both arrays are read by read_list; the fields only check that they are there.
    status = json_is_object(table)
                 ? pp_reader_fields(r, &pp_points_object, 0, table, &kind, &seen)
                 : pp_reader_refuse(r, "table", "an object with the arrays 't' and 'value'", table);
    if (status == PERP_OK) {
        const json_t *t = json_object_get(table, "t"), *y = json_object_get(table, "value");
        size_t nt = json_array_size(t) * NUMBER_MAX + HEAD,
               ny = json_array_size(y) * NUMBER_MAX + HEAD;
        char *text = pp_reader_text(r, nt + ny), *times = pp_reader_text(r, nt),
             *values = pp_reader_text(r, ny);
        if (!text || !times || !values) {
            status = PERP_ERR_MEMORY;
        } else {
            static const pp_field time = {.key = "t", .unit = "s"};
            status = read_list(r, &time, t, times, nt);
        }
        if (status == PERP_OK) {
            const pp_field of = {.key = "value", .unit = field->unit};
            status = read_list(r, &of, y, values, ny);
        }
        if (status == PERP_OK) {
            static const char *const words[] = {"monotone", "linear", "hold", "spline"};
            pp_print(text, nt + ny, "table(t, %s, %s, %s)", times, values, words[kind]);
            *to = text;
        }
    }
    pp_reader_leave(r);
    return status;
}

// One number e >= 0 stands for both directions, [-e, e].
static perp_status read_range(pp_reader *r, const pp_field *field, const json_t *value, double *to)
{
    double e = -1.0;
    bool array = json_is_array(value);
    if (!array && pp_reader_number(r, field, value, &e) && e >= 0.0) {
        to[1] = e;
        to[0] = -e;
        return PERP_OK;
    }
    if (array && pp_reader_numbers(r, field, value, 2, to) && to[0] <= to[1]) {
        return PERP_OK;
    }
    return pp_reader_refuse_number(r, field, "a number >= 0, or [lower, upper]", value);
}

// Parses an expression for its errors, so that a message has line and column, then replaces
// parameters and unit. The builder parses the result again.
static perp_status read_expression(pp_reader *r, const pp_field *field, const char *text,
                                   const char **to)
{
    const pp_expr *expr;
    pp_expr_error error;
    const char *end, *local = text;
    bool made;
    pp_expr_names scope = {.variable = r->spatial ? pp_spatial_variables : pp_planar_variables,
                           .variables = 1,  // time alone
                           .constant = r->constants->name,
                           .value = r->constants->value,
                           .constants = r->constants->count};
    if (field->kind == PP_FIELD_EXPRESSION) {
        scope.variables = r->spatial ? PP_SPATIAL_VARS : PP_PLANAR_VARS;
    }
    if (field->kind == PP_FIELD_COORDINATE) {
        scope.variable = r->coordinate_names;
        scope.variables = 1 + r->joints;
    }
    if (field->kind == PP_FIELD_SOURCE) {
        scope.variable = r->source_names;
        scope.variables = 1 + 2 * r->joints;
    }
    if (field->kind != PP_FIELD_MOTION && field->kind != PP_FIELD_COORDINATE) {
        scope.input = r->input;
        scope.inputs = r->inputs;
    }
    perp_status status = pp_reader_expand(r, field->key, text, &local, &made);
    if (status == PERP_OK) {
        status = pp_reader_globalize(r, &scope, local, NULL, &text);
    }
    if (status < 0) {
        return status;
    }
    pp_mark mark = pp_arena_mark(r->arena);
    status = pp_expr_parse_with(text, &scope, r->arena, &expr, &end, &error);
    pp_arena_release(r->arena, mark);
    if (status == PERP_ERR_MEMORY) {
        return pp_reader_memory(r);
    }
    // Columns are those of the file, unless braces have changed them.
    if (status < 0) {
        status = pp_reader_globalize(r, &scope, local, &error.column, &text);
        if (status < 0) {
            return status;
        }
        int column = made ? 1 : error.column;
        // a coupling does not see the joints behind it
        bool joint = field->kind == PP_FIELD_COORDINATE &&
                     strncmp(error.text, "unknown name 'q[", 16) == 0 &&
                     !strstr(error.text, "did you mean");
        return pp_reader_fail_inside(r, column, "'%s': %s%s", field->key, error.text,
                                     joint ? "; list a joint before the couplings that use it"
                                           : "");
    }
    if (*end) {
        status = pp_reader_scale(r, field, text, end, &text);
    }
    return status < 0 ? status : pp_reader_formula(r, field, text, to);
}

// A motion is a text, whatever the scene writes: a number is printed with all its digits.
perp_status pp_reader_motion(pp_reader *r, const pp_field *field, const json_t *value,
                             const char **to)
{
    enum { NUMBER_MAX = 40 };
    perp_status status = PERP_OK;
    if (json_is_number(value)) {
        char *text = pp_reader_text(r, NUMBER_MAX);
        if (!text) {
            return PERP_ERR_MEMORY;
        }
        pp_number_print(text, NUMBER_MAX, json_number_value(value));
        *to = text;
    } else if (json_is_string(value)) {
        return read_expression(r, field, json_string_value(value), to);
    } else if (json_is_object(value)) {
        const char *table = NULL;
        status = read_table(r, field, value, &table);
        return status < 0 ? status : read_expression(r, field, table, to);
    } else {
        return pp_reader_refuse_number(r, field,
                                       "a number, an expression such as \"0.1*sin(2*pi*t)\", or "
                                       "{\"table\": ...}",
                                       value);
    }
    return status;
}

// ── Words ────────────────────────────────────────────────────────────────────────────────────────

enum { TEXT_MAX = 4096, NAME_MAX_BYTES = 60 };  // bytes of a description, of a name

// A name is one line without control characters, since messages and tables of results show it.
static perp_status read_text(pp_reader *r, const pp_field *field, const json_t *value,
                             const char **to)
{
    const char *text = json_string_value(value);
    bool description = strcmp(field->key, "description") == 0, made = false;
    if (text && !description) {
        perp_status status = pp_reader_expand(r, field->key, text, &text, &made);
        if (status < 0) {
            return status;
        }
    }
    size_t length = text ? strlen(text) : 0;
    bool good =
        text && length <= (description ? TEXT_MAX : NAME_MAX_BYTES) && (description || length > 0);
    if (good && !description) {
        for (size_t k = 0; k < length; k++) {
            good = good && (unsigned char)text[k] >= ' ';
        }
    }
    if (!good) {
        return pp_reader_refuse(r, field->key,
                                description ? "a string of at most 4096 bytes"
                                            : "a name of 1 to 60 bytes on one line",
                                value);
    }
    *to = text;
    return PERP_OK;
}

// One of several words. Lists are given as an array, or by a function from value to word.
static perp_status read_choice(pp_reader *r, const pp_field *field, const json_t *value, int *to)
{
    enum { MOST = 20 };
    pp_choice list[MOST + 1] = {{NULL, 0}};
    const char *word = json_string_value(value), *words[MOST];
    char due[160];
    int n = 0;
    // The list ends with a NULL word, or is cut at MOST.
    for (; n < MOST; n++) {
        list[n] = field->choices ? field->choices[n] : (pp_choice){field->word(n), n};
        words[n] = list[n].word;
        if (!list[n].word) {
            break;
        }
        if (word && strcmp(word, list[n].word) == 0) {
            *to = list[n].value;
            return PERP_OK;
        }
    }
    // A value that is no word has no near one.
    const char *near = word ? pp_nearest(word, strlen(word), words, n) : NULL;
    if (near) {
        return pp_reader_fail(r, "'%s': there is no \"%.40s\"; did you mean \"%s\"?", field->key,
                              word, near);
    }
    pp_reader_words(list, due, sizeof due);
    return pp_reader_refuse(r, field->key, due, value);
}

// Solvers of the problems of a step: PERP_CLASS_STEP marks those that a step uses by itself, and PERP_CLASS_NCP alone
// those of nonlinear problems, which a step does not pose.
static bool solves_steps(const perp_solver_card *card)
{
    return !(card->classes & PERP_CLASS_STEP) && card->classes != PERP_CLASS_NCP;
}

static perp_status read_solver(pp_reader *r, const pp_field *field, const json_t *value,
                               const char **to)
{
    char due[160] = "auto";
    const char *word = json_string_value(value);
    const perp_solver_card *asked = word ? perp_solver_find(word) : NULL;
    if (asked && solves_steps(asked)) {
        *to = word;
        return PERP_OK;
    }
    // "auto" comes first in the list, " or " before the last.
    const char *last = NULL;
    for (int k = 0; k < perp_solver_count(); k++) {
        const perp_solver_card *card = perp_solver_at(k);
        last = solves_steps(card) ? card->name : last;
    }
    for (int k = 0; k < perp_solver_count(); k++) {
        size_t used = strlen(due);
        const perp_solver_card *card = perp_solver_at(k);
        if (strcmp(card->name, "auto") != 0 && solves_steps(card)) {
            pp_print(due + used, sizeof due - used, "%s%s", card->name == last ? " or " : ", ",
                     card->name);
        }
    }
    return pp_reader_refuse(r, field->key, due, value);
}

// ── References ───────────────────────────────────────────────────────────────────────────────────

// A name that nothing has, with the nearest one that exists.
static perp_status no_such(pp_reader *r, const pp_field *field, const char *what, const char *word,
                           const char *const *names, int count)
{
    const char *near = pp_nearest(word, strlen(word), names, count);
    if (near) {
        return pp_reader_fail(r, "'%s': there is no %s '%.40s'; did you mean '%s'?", field->key,
                              what, word, near);
    }
    return pp_reader_fail(r, "'%s': there is no %s '%.40s'", field->key, what, word);
}

// A scratch array of names; NULL and an error when memory is out.
static const char **name_array(pp_reader *r, int count)
{
    const char **names = PP_ARRAY(r->arena, const char *, count);
    if (!names) {
        pp_reader_memory(r);
    }
    return names;
}

// The word of a reference, with its indices; NULL: it is no string, or r->failed.
static const char *reference(pp_reader *r, const pp_field *field, const json_t *value)
{
    const char *word = json_string_value(value);
    bool made;
    return word && pp_reader_expand(r, field->key, word, &word, &made) == PERP_OK ? word : NULL;
}

// Bodies may be named before or after; all of them are read by now.
static perp_status read_body(pp_reader *r, const pp_field *field, const json_t *value,
                             perp_body *to)
{
    const char *word = reference(r, field, value);
    if (!word) {
        return pp_reader_refuse(r, field->key, "the name of a body, or \"ground\"", value);
    }
    *to = (perp_body){pp_reader_find(r, &r->body_names, word)};
    if (to->i >= 0) {
        return PERP_OK;
    }
    const char **names = name_array(r, r->bodies);
    if (!names) {
        return PERP_ERR_MEMORY;
    }
    for (int i = 0; i < r->bodies; i++) {
        names[i] = r->body[i].name;
    }
    return no_such(r, field, "body", word, names, r->bodies);
}

// A shape by its own name or by that of its body, where only one fits; such names count with the
// prefix of a scope. -1: none. *more: another one that fits, or -1.
static int find_loosely(const pp_reader *r, const char *prefix, const char *word, int *more)
{
    size_t length = strlen(prefix);
    int found = -1;
    *more = -1;
    for (int i = 0; i < r->shapes; i++) {
        const pp_known_shape *shape = &r->shape[i];
        const char *body = r->body[shape->body].name;
        bool in_scope = strncmp(shape->name, prefix, length) == 0;
        bool by_body = strncmp(body, prefix, length) == 0 && strcmp(body + length, word) == 0;
        if ((in_scope && strcmp(shape->own, word) == 0) || by_body) {
            *more = found >= 0 ? found : *more;
            found = i;
        }
    }
    return found;
}

// A shape by its full name, "body.shape"; or by "shape" alone, or by "body" alone, where only one
// shape fits.
static perp_status read_shape(pp_reader *r, const pp_field *field, const json_t *value,
                              perp_shape *to)
{
    const char *word = reference(r, field, value);
    if (!word) {
        return pp_reader_refuse(r, field->key,
                                "the name of a shape: \"body.shape\", or \"shape\" of the ground",
                                value);
    }
    *to = (perp_shape){pp_reader_find(r, &r->shape_names, word)};
    // Inner scopes hide outer ones, here as in pp_reader_find.
    for (const pp_scope *s = r->scope; s && to->i < 0; s = s->outer) {
        int more, found = find_loosely(r, s->prefix, word, &more);
        if (more >= 0) {
            return pp_reader_fail(r, "'%s': '%.40s' is ambiguous; write '%s' or '%s'", field->key,
                                  word, r->shape[more].name, r->shape[found].name);
        }
        to->i = found;
    }
    if (to->i >= 0) {
        return PERP_OK;
    }
    const char **names = name_array(r, r->shapes);
    if (!names) {
        return PERP_ERR_MEMORY;
    }
    for (int i = 0; i < r->shapes; i++) {
        names[i] = r->shape[i].name;
    }
    return no_such(r, field, "shape", word, names, r->shapes);
}

// Joints of a gear are numbered as they are read, so that they must stand before it.
static perp_status read_joint(pp_reader *r, const pp_field *field, const json_t *value,
                              perp_joint *to)
{
    const char *word = reference(r, field, value);
    if (!word) {
        return pp_reader_refuse(r, field->key, "the name of a joint defined before this one",
                                value);
    }
    *to = (perp_joint){pp_reader_find(r, &r->joint_names, word)};
    if (to->i >= 0) {
        return PERP_OK;
    }
    return no_such(r, field, "earlier joint", word, r->joint, r->joints);
}

// Objects without names are not among those that are offered.
static perp_status read_actuator(pp_reader *r, const pp_field *field, const json_t *value,
                                 perp_actuator *to)
{
    const char *word = reference(r, field, value);
    if (!word) {
        return pp_reader_refuse(r, field->key, "the name of an actuator", value);
    }
    *to = (perp_actuator){pp_reader_find(r, &r->actuator_names, word)};
    return to->i >= 0 ? PERP_OK : no_such(r, field, "actuator", word, r->actuator, r->actuators);
}

static perp_status read_site(pp_reader *r, const pp_field *field, const json_t *value,
                             perp_site *to)
{
    const char *word = reference(r, field, value);
    if (!word) {
        return pp_reader_refuse(r, field->key, "the name of a site", value);
    }
    *to = (perp_site){pp_reader_find(r, &r->site_names, word)};
    return to->i >= 0 ? PERP_OK : no_such(r, field, "site", word, r->site, r->sites);
}

// ── All of them ──────────────────────────────────────────────────────────────────────────────────

// `to` points at the member of the definition that the field names, and has the type of its kind.
perp_status pp_reader_value(pp_reader *r, const pp_field *field, const json_t *value, void *to)
{
    perp_vec3 *vector = to;
    switch (field->kind) {
    case PP_FIELD_NUMBER:
    case PP_FIELD_POSITIVE:
    case PP_FIELD_NONNEGATIVE:
    case PP_FIELD_FRACTION:
    case PP_FIELD_THETA:
    case PP_FIELD_EFFORT:
        return read_number(r, field, value, to);
    case PP_FIELD_THREADS:
        return read_threads(r, field, value, to);
    // Capsules lie along x in the plane, along z in space.
    case PP_FIELD_LENGTH:
        return read_number(r, field, value, r->spatial ? &vector->z : &vector->x);
    case PP_FIELD_BOUND:
        return read_bound(r, field, value, to);
    case PP_FIELD_ANGLE:
        return pp_reader_number(r, field, value, to)
                   ? PERP_OK
                   : pp_reader_refuse(r, field->key,
                                      "an angle: radians, or a string such as \"30 deg\"", value);
    case PP_FIELD_AXIS:
        return read_axis(r, field, value, to);
    case PP_FIELD_VECTOR:
        if (pp_reader_vector(r, field, value, r->spatial ? 3 : 2, vector)) {
            return PERP_OK;
        }
        return pp_reader_refuse_number(
            r, field, r->spatial ? "three numbers, [x, y, z]" : "two numbers, [x, y]", value);
    case PP_FIELD_SIZE:
        return read_size(r, field, value, to);
    case PP_FIELD_VERTICES:
        return read_vertices(r, field, value, to);
    case PP_FIELD_MOTION:
    case PP_FIELD_EXPRESSION:
    case PP_FIELD_SIGNAL:
    case PP_FIELD_SOURCE:
    case PP_FIELD_COORDINATE:
        return pp_reader_motion(r, field, value, to);
    case PP_FIELD_RANGE:
        return read_range(r, field, value, to);
    case PP_FIELD_TRIPLE:
        return pp_reader_numbers(r, field, value, 3, to)
                   ? PERP_OK
                   : pp_reader_refuse_number(r, field, "three numbers", value);
    case PP_FIELD_TEXT:
        return read_text(r, field, value, to);
    case PP_FIELD_FLAG:
        *(bool *)to = json_is_true(value);
        return json_is_boolean(value) ? PERP_OK
                                      : pp_reader_refuse(r, field->key, "true or false", value);
    case PP_FIELD_CHOICE:
        return read_choice(r, field, value, to);
    case PP_FIELD_SOLVER:
        return read_solver(r, field, value, to);
    case PP_FIELD_BODY:
        return read_body(r, field, value, to);
    case PP_FIELD_SHAPE:
        return read_shape(r, field, value, to);
    case PP_FIELD_JOINT:
        return read_joint(r, field, value, to);
    case PP_FIELD_ACTUATOR:
        return read_actuator(r, field, value, to);
    case PP_FIELD_SITE:
        return read_site(r, field, value, to);
    case PP_FIELD_GROUPS:
        return pp_reader_bits(r, field, value, to);
    case PP_FIELD_PRIORITY:
        return pp_reader_priority(r, field, value, to);
    case PP_FIELD_COLOUR:
        return pp_reader_colour(r, field, value, to);
    default:
        return pp_reader_value_space(r, field, value, to);
    }
}

// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads objects by their tables. Messages say where, which object, and what to write instead.
//
// A value has no position of its own in the tree, which keeps it small. Instead the reader keeps
// the path from the root to the value being read (pp_reader_enter, pp_reader_leave). If a message
// is needed, and only then, the text is searched along that path for line and column
// (pp_json_find). The path must therefore be left on every way out of a function that entered a
// key.
#include "scene/read/reader.h"
#include "scene/read/json_tree.h"

#include <stdio.h>
#include <string.h>

// ── Names ────────────────────────────────────────────────────────────────────────────────────────

// The number of slots is a power of two and at least twice the number of names.
bool pp_names_open(pp_names *names, size_t most, pp_arena *arena)
{
    names->slots = 8;
    while ((size_t)names->slots < 2 * most) {
        names->slots *= 2;
    }
    names->name = PP_ARRAY(arena, const char *, most);
    names->slot = PP_ZEROS(arena, int, names->slots);
    return names->name && names->slot;
}

// The slot of a name, or the free one where it would go: linear probing.
static int *name_slot(const pp_names *names, const char *name)
{
    size_t mask = (size_t)names->slots - 1, at = (size_t)pp_hash(0, name, strlen(name)) & mask;
    while (names->slot[at] > 0 && strcmp(names->name[names->slot[at] - 1], name) != 0) {
        at = (at + 1) & mask;
    }
    return &names->slot[at];
}

int pp_names_find(const pp_names *names, const char *name)
{
    return *name_slot(names, name) - 1;
}

// A name is added once; the caller has looked for it before.
void pp_names_add(pp_names *names, const char *name, int number)
{
    names->name[number] = name;
    *name_slot(names, name) = number + 1;
}

// ── Messages ─────────────────────────────────────────────────────────────────────────────────────

// The place in the text that the path leads to, or the nearest one above it that can be found: a
// key with escapes is not found.
static const char *path_position(const pp_reader *r, bool at_key)
{
    for (int depth = r->depth; depth > 0; depth--) {
        const char *at =
            pp_json_find(r->text, r->size, r->path, depth, at_key && depth == r->depth);
        if (at) {
            return at;
        }
    }
    return pp_json_find(r->text, r->size, NULL, 0, false);
}

// The text of the file that a scope is in.
static const char *scope_text(const pp_reader *r, const pp_scope *s, size_t *size)
{
    while (s && !s->part) {
        s = s->outer;
    }
    *size = s ? s->part->size : r->scene_size;
    return s ? s->part->text : r->scene_text;
}

// A message about an included file begins with its name, line and column; those of the error are of
// the include in the scene.
static perp_status report(pp_reader *r, const char *at, const char *message)
{
    char text[sizeof((perp_error *)NULL)->text], longer[sizeof text + 96];
    const char *file = r->text;
    size_t size = r->size;
    pp_print(text, sizeof text, "%s", message);
    for (const pp_scope *s = r->scope; s; s = s->outer) {
        if (s->depth == 0) {
            continue;
        }
        perp_error inner = {0};
        pp_scan scan = pp_scan_start(file, size, &inner);
        (void)pp_scan_fail(&scan, at, "%s", text);
        pp_print(longer, sizeof longer, "%.60s:%d:%d: %s", s->part->name, inner.line, inner.column,
                 text);
        pp_print(text, sizeof text, "%s", longer);
        file = scope_text(r, s->outer, &size);
        at = pp_json_find(file, size, s->path, s->depth, false);
        at = at ? at : file;
    }
    pp_scan scan = pp_scan_start(file, size, r->error);
    r->failed = pp_scan_fail(&scan, at, "%s", text);
    return r->failed;
}

// The message begins with the object, if it has a name for messages. The first error is the one that
// counts.
static perp_status fail_list(pp_reader *r, const char *at, const char *format, va_list list)
{
    char text[sizeof((perp_error *)NULL)->text], message[sizeof text + sizeof r->object + 2];
    if (r->failed < 0) {
        return r->failed;
    }
    pp_print_list(text, sizeof text, format, list);
    pp_print(message, sizeof message, "%s%s%s", r->object, r->object[0] ? ": " : "", text);
    return report(r, at, message);
}

// Fails at the value that the path leads to.
perp_status pp_reader_fail(pp_reader *r, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    perp_status status = fail_list(r, path_position(r, false), format, list);
    va_end(list);
    return status;
}

// Columns within the string are those of the text only as long as it has no escapes.
perp_status pp_reader_fail_inside(pp_reader *r, int column, const char *format, ...)
{
    const char *at = path_position(r, false);
    const char *quote =
        *at == '"' ? memchr(at + 1, '"', (size_t)(r->text + r->size - at) - 1) : NULL;
    bool plain = quote && !memchr(at, '\\', (size_t)(quote - at));
    va_list list;
    va_start(list, format);
    perp_status status =
        fail_list(r, plain && at + column <= quote ? at + column : at, format, list);
    va_end(list);
    return status;
}

// Fails at the key itself: it is the key that is wrong, not its value.
static perp_status fail_at_key(pp_reader *r, const char *format, ...) PP_FORMAT(2, 3);

static perp_status fail_at_key(pp_reader *r, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    perp_status status = fail_list(r, path_position(r, true), format, list);
    va_end(list);
    return status;
}

perp_status pp_reader_memory(pp_reader *r)
{
    if (r->failed == PERP_OK) {
        r->failed = pp_fail(r->error, PERP_ERR_MEMORY, "not enough memory for this scene");
    }
    return r->failed;
}

// A value as messages show it, cut to the size; bytes that are not printable become '?'.
static void describe_value(const json_t *value, char *text, size_t size)
{
    switch ((json_type)value->type) {
    case JSON_REAL:
    case JSON_INTEGER:
        pp_print(text, size, "%g", json_number_value(value));
        return;
    case JSON_STRING:
        pp_print(text, size, "\"%.40s\"", json_string_value(value));
        break;
    // A container that is too long is not quoted at all.
    case JSON_ARRAY:
    case JSON_OBJECT: {
        if (!pp_json_print(value, text, size)) {
            pp_print(text, size, json_is_array(value) ? "this array" : "this object");
            return;
        }
        break;
    }
    case JSON_TRUE:
    case JSON_FALSE:
    case JSON_NULL:
        if (json_is_null(value)) {
            pp_print(text, size, "null");
        } else {
            pp_print(text, size, json_is_true(value) ? "true" : "false");
        }
        return;
    }
    for (char *c = text; *c; c++) {
        *c = *c >= ' ' && *c <= '~' ? *c : '?';
    }
}

// "'key' must be ..., not ...", with the value as it stands in the file. key NULL: an element of a
// list.
perp_status pp_reader_refuse(pp_reader *r, const char *key, const char *due, const json_t *value)
{
    char found[88] = "";
    describe_value(value, found, 64);
    // An expression is shown with its value.
    if (json_is_string(value) && r->said == json_string_value(value)) {
        size_t used = strlen(found);
        pp_print(found + used, sizeof found - used, " = %g", r->meant);
    }
    if (!key) {
        return pp_reader_fail(r, "must be %s, not %s", due, found);
    }
    return pp_reader_fail(r, "'%s' must be %s, not %s", key, due, found);
}

// The key is not copied: it lives in the tree or in a table.
void pp_reader_enter(pp_reader *r, const char *key, int index)
{
    pp_assert(r->depth < PP_PATH_MAX);
    r->path[r->depth++] = (pp_json_step){key, index};
}

void pp_reader_leave(pp_reader *r)
{
    pp_assert(r->depth > 0);
    r->depth--;
}

// Scratch memory for a text; a failure is reported here, so that callers only return.
char *pp_reader_text(pp_reader *r, size_t size)
{
    char *text = PP_ARRAY(r->arena, char, size);
    if (!text) {
        pp_reader_memory(r);
    }
    return text;
}

// ── Kinds and fields ─────────────────────────────────────────────────────────────────────────────

// Separated by commas, with "or" before the last one.
void pp_reader_words(const pp_choice *choices, char *text, size_t size)
{
    text[0] = '\0';
    for (; choices && choices->word; choices++) {
        size_t used = strlen(text);
        // A list that is too long ends after a whole word.
        if (used + strlen(choices->word) + sizeof ", or …" > size) {
            pp_print(text + used, size - used, "…");
            return;
        }
        pp_print(text + used, size - used, "%s", choices->word);
        if (choices[1].word) {
            used = strlen(text);
            pp_print(text + used, size - used, choices[2].word ? ", " : " or ");
        }
    }
}

// A list may be NULL: an object without kinds has none.
static bool has_word(const pp_choice *choices, const char *word)
{
    for (; choices && choices->word; choices++) {
        if (strcmp(choices->word, word) == 0) {
            return true;
        }
    }
    return false;
}

// Refuses a kind that exists only in the plane, or only in space; PERP_OK for any other word.
static perp_status elsewhere_kind(pp_reader *r, const pp_object *object, const char *word)
{
    if (!word || has_word(object->kinds[r->spatial], word) ||
        !has_word(object->kinds[!r->spatial], word)) {
        return PERP_OK;
    }
    char words[160];
    pp_reader_words(object->kinds[r->spatial], words, sizeof words);
    return r->spatial
               ? pp_reader_fail(r, "'kind': \"%s\" is for 2D, but this scene is 3D; write %s", word,
                                words)
               : pp_reader_fail(r,
                                "'kind': \"%s\" is for 3D, but the bodies of this scene are "
                                "planar; make them \"solid\"",
                                word);
}

// kinds has two lists: words of the plane, words of space.
perp_status pp_reader_kind(pp_reader *r, const pp_object *object, const json_t *json, int *kind)
{
    *kind = object->kind;
    const pp_choice *kinds = object->kinds[r->spatial];
    const json_t *word = kinds ? json_object_get(json, "kind") : NULL;
    if (word) {
        const pp_field field = {.key = "kind", .kind = PP_FIELD_CHOICE, .choices = kinds};
        pp_reader_enter(r, "kind", 0);
        perp_status status = elsewhere_kind(r, object, json_string_value(word));
        if (status == PERP_OK) {
            status = pp_reader_value(r, &field, word, kind);
        }
        pp_reader_leave(r);
        return status;
    }
    if (*kind < 0) {
        char words[160];
        pp_reader_words(kinds, words, sizeof words);
        return pp_reader_fail(r, "'kind' is missing; write %s", words);
    }
    return PERP_OK;
}

// Whether scenes such as this one, planar or spatial, have the field.
static bool is_here(const pp_reader *r, const pp_field *field)
{
    return field->space == 0 || field->space == (r->spatial ? PP_SPACE : PP_PLANE);
}

// Whether objects of the kind have it in this scene.
static bool owns(const pp_reader *r, const pp_field *field, int kind)
{
    return is_here(r, field) && (field->owners == 0 || (field->owners >> kind & 1u));
}

// The word that the scene writes for a kind.
static const char *kind_word(const pp_reader *r, const pp_object *object, int kind)
{
    for (const pp_choice *c = object->kinds[r->spatial]; c && c->word; c++) {
        if (c->value == kind) {
            return c->word;
        }
    }
    return object->what;
}

// An object in words, with its article: "a disc", "a revolute joint".
static void put_kind(const pp_reader *r, const pp_object *object, int kind, char *text, size_t size)
{
    const char *word = kind_word(r, object, kind);
    pp_print(text, size, "%s %s%s", strchr("aeiou", word[0]) ? "an" : "a", word,
             object == &pp_joint_object ? " joint" : "");
}

// Suggests the nearest key, or lists those that the kind has. One place is left for "kind".
static perp_status unknown_key(pp_reader *r, const pp_object *object, int kind, const char *key)
{
    const char *known[72];
    char list[200] = "";
    int n = 0;
    for (int k = 0; k < object->count && n < 71; k++) {
        if (owns(r, &object->field[k], kind)) {
            known[n++] = object->field[k].key;
        }
    }
    if (object->kinds[r->spatial]) {
        known[n++] = "kind";
    }
    const char *near = pp_nearest(key, strlen(key), known, n);
    if (near) {
        return fail_at_key(r, "unknown key '%.40s': did you mean '%s'?", key, near);
    }
    for (int k = 0; k < n; k++) {
        size_t used = strlen(list), left = sizeof list - used;
        // The list ends in "..." where it would not fit.
        bool fits = strlen(known[k]) + sizeof ", ..." < left;
        pp_print(list + used, left, "%s%s", k > 0 ? ", " : "", fits ? known[k] : "...");
        if (!fits) {
            break;
        }
    }
    return fail_at_key(r, "unknown key '%.40s'; expected one of %s", key, list);
}

// Finds the field among those of the kind and reads its value; otherwise finds out why there is
// none: the key belongs to another kind, to the plane, or to nothing.
static perp_status read_field(pp_reader *r, const pp_object *object, int kind, const char *key,
                              const json_t *value, void *def, uint64_t *seen)
{
    // elsewhere: another kind has the key; planar: what to write in space instead.
    bool elsewhere = false;
    const char *planar = NULL;
    // A key may be in the table several times, for different kinds; the first that fits is
    // taken.
    for (int k = 0; k < object->count; k++) {
        const pp_field *field = &object->field[k];
        if (strcmp(field->key, key) != 0) {
            continue;
        }
        if (owns(r, field, kind)) {
            *seen |= UINT64_C(1) << k;
            // Lists and objects of their own are read by build.c and settings.c.
            return field->kind == PP_FIELD_OTHER
                       ? PERP_OK
                       : pp_reader_value(r, field, value, (char *)def + field->offset);
        }
        elsewhere = elsewhere || is_here(r, field);
        planar = field->in_space ? field->in_space : planar;
    }
    if (object->kinds[r->spatial] && strcmp(key, "kind") == 0) {
        return PERP_OK;
    }
    if (elsewhere) {
        char what[40];
        put_kind(r, object, kind, what, sizeof what);
        return fail_at_key(r, "%s has no '%s'; remove it, or change 'kind'", what, key);
    }
    if (planar && r->spatial) {
        return fail_at_key(r, "'%s' is for 2D, but this scene is 3D; write '%s'", key, planar);
    }
    return unknown_key(r, object, kind, key);
}

// Which of the units of a field counts: joints with an angle have the first, others the second;
// springs the first, twist springs the second. Objects within these have the same.
static int unit_alternative(const pp_object *object, int kind, int before)
{
    if (object == &pp_joint_object) {
        bool angle = kind == PERP_JOINT_REVOLUTE || kind == PERP_JOINT_ANGLE ||
                     kind == PERP_JOINT_UNIVERSAL || kind == PERP_JOINT_PLANAR ||
                     kind == PERP_JOINT_SCREW;
        return angle ? 1 : 2;
    }
    if (object == &pp_force_object) {
        return kind == PERP_FORCE_TORSION_SPRING ? 2 : 1;
    }
    return before;
}

// First what is there, in the order of the file, so that the first error is the uppermost one; then
// what is missing.
perp_status pp_reader_fields(pp_reader *r, const pp_object *object, int kind, const json_t *json,
                             void *def, uint64_t *seen)
{
    *seen = 0;
    int before = r->alternative;
    for (size_t k = 0; k < json_object_size(json); k++) {
        const json_t *value = &json->as.item[k];
        pp_reader_enter(r, value->key, 0);
        r->alternative = unit_alternative(object, kind, before);
        perp_status status = read_field(r, object, kind, value->key, value, def, seen);
        r->alternative = before;
        pp_reader_leave(r);
        if (status != PERP_OK) {
            return status;
        }
    }
    for (int k = 0; k < object->count; k++) {
        const pp_field *field = &object->field[k];
        if (is_here(r, field) && (field->needed >> kind & 1u) && !(*seen >> k & 1u)) {
            char what[40];
            put_kind(r, object, kind, what, sizeof what);
            return pp_reader_fail(r, "'%s' is missing; %s needs it", field->key, what);
        }
    }
    return PERP_OK;
}

// Whether the object gave the key: a value alone does not show if it is the default.
bool pp_reader_saw(const pp_object *object, uint64_t seen, const char *key)
{
    for (int k = 0; k < object->count; k++) {
        if ((seen >> k & 1u) && strcmp(object->field[k].key, key) == 0) {
            return true;
        }
    }
    return false;
}

// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Parts of a scene: parameters, copies of objects, included files and assemblies.
//
// Nothing is copied in the tree. A pass reads the objects of one list wherever they are: it goes
// into each included file and each assembly, reads a copied object as often as its count says, and
// keeps the scope of names, constants and poses on the way. The path to the value being read stays
// that of its file, so that messages have the right line and column.
#include "scene/read/json_tree.h"
#include "scene/read/reader.h"

#include <stdio.h>
#include <string.h>

enum { COPIES_MOST = 1000000, PARAMETERS_MOST = 1000, NAME_MOST = 60, NAME_ROOM = 256 };

// ── Constants ────────────────────────────────────────────────────────────────────────────────────

// Names that are variables of expressions somewhere, or words of the language.
static bool is_taken(const char *name)
{
    for (int k = 0; k < PP_PLANAR_VARS; k++) {
        if (strcmp(name, pp_planar_variables[k]) == 0) {
            return true;
        }
    }
    for (int k = 0; k < PP_SPATIAL_VARS; k++) {
        if (strcmp(name, pp_spatial_variables[k]) == 0) {
            return true;
        }
    }
    return pp_expr_is_reserved(name);
}

// Linear: there are few constants at a time. -1: no such name.
int pp_constant_find(const pp_constants *constants, const char *name)
{
    for (int k = 0; k < constants->count; k++) {
        if (strcmp(constants->name[k], name) == 0) {
            return k;
        }
    }
    return -1;
}

// A name for a parameter or an index; what: "parameter".
static perp_status check_constant(pp_reader *r, const char *what, const char *name)
{
    if (!pp_expr_is_name(name) || strlen(name) > NAME_MOST) {
        return pp_reader_fail(
            r,
            "the name of %s '%.40s' must consist of letters, digits and _, and begin with a letter",
            what, name);
    }
    if (is_taken(name)) {
        return pp_reader_fail(
            r, "%s '%s' has the name of a function, constant or variable; choose another", what,
            name);
    }
    if (pp_constant_find(r->constants, name) >= 0) {
        return pp_reader_fail(r, "%s '%s': the name is already used; choose another", what, name);
    }
    return PERP_OK;
}

// Room for so many parameters, and for indices.
static bool reserve(pp_reader *r, pp_constants *constants, size_t parameters)
{
    int room = (int)parameters + PP_INDICES_MAX;
    constants->count = 0;
    if (constants->room >= room) {
        return true;
    }
    constants->name = PP_ARRAY(r->arena, const char *, room);
    constants->value = PP_ARRAY(r->arena, double, room);
    constants->derived = PP_ARRAY(r->arena, bool, room);
    constants->room = constants->name && constants->value && constants->derived ? room : 0;
    return constants->room > 0;
}

// There is room: reserve and read_replicate have seen to it.
static void push_constant(pp_constants *constants, const char *name, double value, bool derived)
{
    if (constants->name && constants->value && constants->derived) {
        constants->name[constants->count] = name;
        constants->derived[constants->count] = derived;
        constants->value[constants->count++] = value;
    }
}

// The value of one parameter, in SI. Only those before it are known.
static perp_status read_parameter(pp_reader *r, const json_t *json, const pp_constants *given)
{
    const pp_field field = {.key = json->key, .kind = PP_FIELD_NUMBER, .unit = "*"};
    double value = 0.0;
    bool derived = false;
    perp_status status = check_constant(r, "parameter", json->key);
    int set = given && given->value ? pp_constant_find(given, json->key) : -1;
    if (status == PERP_OK && set >= 0) {
        value = given->value[set];
    } else if (status == PERP_OK && !pp_reader_number(r, &field, json, &value)) {
        status = pp_reader_refuse(r, json->key,
                                  "a number, or a string such as \"2*width\" or \"12 mm\"", json);
    }
    if (status == PERP_OK && set < 0 && json_is_string(json)) {
        status = pp_reader_is_derived(r, json_string_value(json), &derived);
    }
    if (status == PERP_OK) {
        push_constant(r->constants, json->key, value, derived);
    }
    return status;
}

// In the order of the file: a value may use the parameters before it. Values given from outside (--set, or by the file
// that includes this one) take the place of those written here, and are checked against the same names.
perp_status pp_reader_parameters(pp_reader *r, const json_t *root, const pp_constants *given)
{
    const json_t *json = json_object_get(root, "parameters");
    size_t n = json_object_size(json);
    perp_status status = PERP_OK;
    if (!reserve(r, r->constants, n < PARAMETERS_MOST ? n : PARAMETERS_MOST)) {
        return pp_reader_memory(r);
    }
    if (!json) {
        return PERP_OK;
    }
    // Messages name the object "parameters", not the scene.
    char before[sizeof r->object];
    memcpy(before, r->object, sizeof before);
    pp_reader_enter(r, "parameters", 0);
    if (!json_is_object(json) || n > PARAMETERS_MOST) {
        status = pp_reader_refuse(r, "parameters", "an object of at most 1000 numbers", json);
    }
    pp_print(r->object, sizeof r->object, "parameters");
    for (size_t k = 0; k < n; k++) {
        if (status < 0) {
            break;
        }
        pp_reader_enter(r, json->as.item[k].key, 0);
        status = read_parameter(r, &json->as.item[k], given);
        pp_reader_leave(r);
    }
    pp_reader_leave(r);
    memcpy(r->object, before, sizeof before);
    return status;
}

// ── Names ────────────────────────────────────────────────────────────────────────────────────────

// The name an object gives itself; NULL: none, or an empty one.
static const char *own_name(const json_t *json)
{
    const char *name = json_string_value(json_object_get(json, "name"));
    return name && name[0] ? name : NULL;
}

// For messages: "body 'block'", or "bodies[3]" without a name. A copy has its indices.
static void name_object(pp_reader *r, const pp_object *object, const char *name, int index)
{
    if (name) {
        pp_print(r->object, sizeof r->object, "%s '%.60s'", object->what, name);
    } else {
        pp_print(r->object, sizeof r->object, "%s[%d]", object->list, index);
    }
    if (r->suffix[0]) {
        size_t used = strlen(r->object);
        pp_print(r->object + used, sizeof r->object - used, " (copy %.30s)", r->suffix + 1);
    }
}

// The name that an object has in the model: prefixes of the parts around it, its own with braces evaluated, and the
// indices of copies where the name does not contain them.
perp_status pp_reader_name(pp_reader *r, const json_t *json, const char *word, int number, bool own,
                           const char **name)
{
    const char *given = own_name(json), *prefix = own ? "" : r->scope->prefix;
    char text[NAME_ROOM] = "";
    bool made = false;
    perp_status status = PERP_OK;
    *name = NULL;
    pp_reader_enter(r, "name", 0);
    if (given) {
        status = pp_reader_expand(r, "name", given, &given, &made);
    }
    // A copy whose name has no index gets one, so that names differ.
    if (status == PERP_OK && given) {
        pp_print(text, sizeof text, "%s%s%s", prefix, given, made ? "" : r->suffix);
    } else if (status == PERP_OK) {
        pp_print(text, sizeof text, "%s%s%d", prefix, word, number);
    }
    if (status == PERP_OK && strlen(text) > NAME_MOST) {
        status = pp_reader_fail(
            r, "'name' must be a name of 1 to 60 bytes on one line, with its prefix and index");
    }
    pp_reader_leave(r);
    char *copy = status < 0 ? NULL : pp_reader_text(r, strlen(text) + 1);
    if (!copy) {
        return status < 0 ? status : PERP_ERR_MEMORY;
    }
    memcpy(copy, text, strlen(text) + 1);
    *name = copy;
    return PERP_OK;
}

// From the innermost scope outwards: an object of the part itself hides one outside.
int pp_reader_find(pp_reader *r, const pp_names *names, const char *word)
{
    char text[2 * NAME_ROOM];
    for (const pp_scope *s = strcmp(word, "ground") == 0 ? NULL : r->scope; s; s = s->outer) {
        pp_print(text, sizeof text, "%s%s", s->prefix, word);
        int found = pp_names_find(names, text);
        if (found >= 0) {
            return found;
        }
    }
    return pp_names_find(names, word);
}

// ── Copies ───────────────────────────────────────────────────────────────────────────────────────

// An element of a list, and what reads it.
typedef struct element {
    const pp_object *object;
    pp_read_object *read;
    const json_t *json, *replicate;
    int owner;
    int place;     // in the list
    int *ordinal;  // the next number in the list, with copies
} element;

// One element, or one copy of it, with the constants that hold now.
static perp_status read_one(pp_reader *r, const element *e)
{
    name_object(r, e->object, own_name(e->json), e->place);
    return e->read(r, e->json, (*e->ordinal)++, e->owner);
}

// Level k of the copies: an element of the array, or the object itself.
static perp_status read_replicate(pp_reader *r, const element *e, size_t level,
                                  pp_replicate_input *in)
{
    const json_t *json = e->replicate;
    bool nested = json_is_array(json);
    perp_status status;
    uint64_t seen;
    pp_reader_enter(r, "replicate", 0);
    if (nested) {
        json = json_array_get(json, level);
        pp_reader_enter(r, NULL, (int)level);
    }
    if (!json_is_object(json)) {
        status = pp_reader_refuse(r, nested ? NULL : "replicate",
                                  "an object such as {\"count\": 20, \"index\": \"i\"}", json);
    } else {
        status = pp_reader_fields(r, &pp_replicate_object, 0, json, in, &seen);
    }
    if (status == PERP_OK) {
        status = check_constant(r, "index", in->index);
    }
    if (status == PERP_OK && r->constants->count == r->constants->room) {
        status = pp_reader_fail(r, "more than %d copies within each other", PP_INDICES_MAX);
    }
    // Before memory is taken for them: the first pass only counts.
    if (status == PERP_OK && (r->copies > COPIES_MOST - in->count)) {
        status = pp_reader_fail(r, "'count': more than %d copies in the scene", COPIES_MOST);
    }
    if (nested) {
        pp_reader_leave(r);
    }
    pp_reader_leave(r);
    return status;
}

// The outermost index changes slowest.
static perp_status read_copies(pp_reader *r, const element *e, size_t level)
{
    size_t levels = json_is_array(e->replicate) ? json_array_size(e->replicate) : 1;
    pp_replicate_input in = {.index = "i"};
    if (level == levels) {
        return read_one(r, e);
    }
    perp_status status = read_replicate(r, e, level, &in);
    if (status < 0) {
        return status;
    }
    r->copies += in.count;
    // The index is a constant of the element, and a suffix of names that do not use it themselves.
    size_t used = strlen(r->suffix);
    push_constant(r->constants, in.index, 0.0, false);
    for (int k = 0; k < in.count; k++) {
        r->constants->value[r->constants->count - 1] = (double)k;
        pp_print(r->suffix + used, sizeof r->suffix - used, "_%d", k);
        status = read_copies(r, e, level + 1);
        if (status != PERP_OK) {
            break;
        }
    }
    r->suffix[used] = '\0';
    r->constants->count--;
    return status;
}

// A scene may leave any list out.
perp_status pp_reader_list(pp_reader *r, const json_t *parent, const pp_object *object,
                           pp_read_object *read, int owner)
{
    const json_t *list = json_object_get(parent, object->list);
    if (!list) {
        return PERP_OK;
    }
    // A list in a list (shapes of a body) changes the name for messages, and is no copy itself.
    char before[sizeof r->object], suffix[sizeof r->suffix];
    memcpy(before, r->object, sizeof before);
    memcpy(suffix, r->suffix, sizeof suffix);
    r->suffix[0] = '\0';
    pp_reader_enter(r, object->list, 0);
    perp_status status = PERP_OK;
    if (!json_is_array(list)) {
        status = pp_reader_refuse(r, object->list, "an array of objects", list);
    }
    int ordinal = 0;
    for (int k = 0; k < (int)json_array_size(list); k++) {
        const json_t *json = json_array_get(list, (size_t)k);
        element e = {object, read, json, json_object_get(json, "replicate"), owner, k, &ordinal};
        pp_reader_enter(r, NULL, k);
        name_object(r, object, own_name(json), k);
        if (!json_is_object(json)) {
            status = pp_reader_refuse(r, NULL, "an object", json);
        } else {
            status = e.replicate ? read_copies(r, &e, 0) : read_one(r, &e);
        }
        pp_reader_leave(r);
        if (status != PERP_OK) {
            break;
        }
    }
    pp_reader_leave(r);
    memcpy(r->object, before, sizeof before);
    memcpy(r->suffix, suffix, sizeof suffix);
    return status;
}

// ── Files ────────────────────────────────────────────────────────────────────────────────────────

// The file that is read now; NULL: the scene.
static const pp_part *current_part(const pp_reader *r)
{
    for (const pp_scope *s = r->scope; s; s = s->outer) {
        if (s->part) {
            return s->part;
        }
    }
    return NULL;
}

// The name of a file relative to the folder of the scene. NULL: no memory.
static const char *scoped_name(pp_reader *r, const char *name)
{
    const pp_part *part = current_part(r);
    const char *slash = part && name[0] != '/' ? strrchr(part->name, '/') : NULL;
    size_t folder = slash ? (size_t)(slash - part->name) + 1 : 0, size = strlen(name) + 1;
    char *text = pp_reader_text(r, folder + size);
    if (text) {
        memcpy(text, part ? part->name : "", folder);
        memcpy(text + folder, name, size);
    }
    return text;
}

// A name without the detours "./" and "folder/../": two files that include each other would otherwise have longer names in
// every round. For comparison only, since a folder may be a link. NULL: no memory.
static const char *plain_name(pp_reader *r, const char *name)
{
    char *plain = pp_reader_text(r, strlen(name) + 1);
    size_t used = 0, folder = 0;  // folder: where the last component begins
    if (!plain) {
        return NULL;
    }
    for (const char *at = name; *at;) {
        size_t length = strcspn(at, "/"), whole = length + (at[length] == '/');
        bool up = length == 2 && memcmp(at, "..", 2) == 0;
        bool above = used - folder == 3 && memcmp(plain + folder, "../", 3) == 0;
        if (up && used > folder && !above) {
            used = folder;
        } else if (length != 1 || *at != '.') {
            memcpy(plain + used, at, whole);
            used += whole;
        }
        for (folder = used > 0 ? used - 1 : 0; folder > 0 && plain[folder - 1] != '/';) {
            folder--;
        }
        at += whole;
    }
    plain[used] = '\0';
    return plain;
}

perp_status pp_reader_file(pp_reader *r, const char *name, const perp_scene_file **file,
                           bool *foreign)
{
    const char *whole = scoped_name(r, name);
    return whole ? pp_reader_keep_file(r, whole, file, foreign) : PERP_ERR_MEMORY;
}

// Parses a file that was read. Errors name it; the path leads to the include.
static perp_status parse_part(pp_reader *r, const perp_scene_file *file, bool foreign,
                              pp_part *part)
{
    perp_error error = {0};
    char *text = pp_reader_text(r, file->size + 1);
    if (!text) {
        return PERP_ERR_MEMORY;
    }
    memcpy(text, file->data, file->size);
    text[file->size] = '\0';
    pp_scene_blank(text, file->size);
    *part = (pp_part){.name = file->name, .text = text, .size = file->size};
    perp_status status = pp_json_parse(text, file->size, r->arena, &part->root, &error);
    if (status == PERP_ERR_MEMORY) {
        return pp_reader_memory(r);
    }
    // The contents of a file from elsewhere are not quoted.
    if (status < 0) {
        return pp_reader_fail(r, "%.60s:%d:%d: %s", file->name, error.line, error.column,
                              foreign ? "not a scene file" : error.text);
    }
    if (!json_is_object(part->root)) {
        return pp_reader_fail(r, "%.60s:1:1: must be an object {...}", file->name);
    }
    return PERP_OK;
}

// The file of an include: from those that were read, or read now. A file that includes itself would
// never end.
static perp_status open_part(pp_reader *r, const json_t *json, const pp_part **to)
{
    const char *name = json_string_value(json_object_get(json, "file"));
    perp_status status = PERP_OK;
    int depth = 0;
    if (!name || !name[0]) {
        return pp_reader_fail(r, "'file' %s the name of a scene file",
                              json_object_get(json, "file") ? "must be" : "is missing; write");
    }
    pp_reader_enter(r, "file", 0);
    const char *whole = scoped_name(r, name), *plain = whole ? plain_name(r, whole) : NULL;
    // The files that are open now are those of the scopes.
    for (const pp_scope *s = plain ? r->scope : NULL; s; s = s->outer) {
        depth++;
        if (s->part && strcmp(s->part->plain, plain) == 0) {
            status = pp_reader_fail(r, "'file': '%.60s' includes itself", whole);
        }
    }
    if (status == PERP_OK && depth >= PP_NEST_MAX) {
        status = pp_reader_fail(r, "'file': more than %d files and assemblies within each other",
                                PP_NEST_MAX);
    }
    *to = r->parts;
    while (plain && *to && strcmp((*to)->name, whole) != 0) {
        *to = (*to)->next;
    }
    if (status == PERP_OK && plain && !*to) {
        const perp_scene_file *file = NULL;
        bool foreign = false;
        pp_part *made = PP_ZEROS(r->arena, pp_part, 1);
        status = made ? pp_reader_keep_file(r, whole, &file, &foreign) : pp_reader_memory(r);
        if (status == PERP_OK && file) {
            status = parse_part(r, file, foreign, made);
        }
        if (status == PERP_OK) {
            made->plain = plain;
            made->next = r->parts;
            *to = r->parts = made;
        }
    }
    pp_reader_leave(r);
    return plain ? status : PERP_ERR_MEMORY;
}

// From here on text, path and constants are those of the file.
static void enter_file(pp_reader *r, pp_scope *scope, const pp_part *part)
{
    scope->part = part;
    scope->depth = r->depth;
    memcpy(scope->path, r->path, sizeof r->path);
    r->text = part->text;
    r->size = part->size;
    r->depth = 0;
    r->scope = scope;
    r->constants++;
}

// Messages are about the including file again.
static void leave_file(pp_reader *r, const pp_scope *scope)
{
    r->scope = scope->outer;
    const pp_part *part = current_part(r);
    r->text = part ? part->text : r->scene_text;
    r->size = part ? part->size : r->scene_size;
    r->depth = scope->depth;
    memcpy(r->path, scope->path, sizeof r->path);
    r->constants--;
}

// ── Files and assemblies ─────────────────────────────────────────────────────────────────────────────

// The pose of the part in the world: that of the outer scope, then its own.
static void place_scope(const pp_reader *r, const pp_part_input *in, pp_scope *scope)
{
    const pp_scope *outer = r->scope;
    pp_mat3 R = pp_quat_matrix(outer->rotation);
    perp_quat turn = pp_quat_unit(in->rotation);
    scope->position = pp_add(outer->position, pp_mul(&R, in->position));
    scope->rotation = pp_quat_mul(outer->rotation, turn);
    if (!r->spatial) {
        scope->angle = outer->angle + in->angle;
        scope->rotation = pp_quat_exp(pp_vec(0.0, 0.0, scope->angle));
    }
    bool moved = in->position.x != 0.0 || in->position.y != 0.0 || in->position.z != 0.0;
    bool turned = in->angle != 0.0 || turn.x != 0.0 || turn.y != 0.0 || turn.z != 0.0;
    scope->placed = outer->placed || moved || turned;
}

// Reads what files and assemblies have in common, and opens the scope, which the caller enters.
static perp_status open_scope(pp_reader *r, const pp_object *object, const json_t *json,
                              pp_scope *scope)
{
    pp_part_input in = {.rotation = {1.0, 0.0, 0.0, 0.0}};
    uint64_t seen;
    *scope = (pp_scope){.outer = r->scope};
    perp_status status = pp_reader_fields(r, object, 0, json, &in, &seen);
    const char *prefix = in.prefix ? in.prefix : "", *outer = r->scope->prefix;
    size_t size = strlen(outer) + strlen(prefix) + 1;
    if (status == PERP_OK && size > NAME_MOST) {
        status = pp_reader_fail(r, "'prefix': '%.30s%.30s' leaves no room for a name of 60 bytes",
                                outer, prefix);
    }
    char *text = status < 0 ? NULL : pp_reader_text(r, size);
    if (!text) {
        return status < 0 ? status : PERP_ERR_MEMORY;
    }
    pp_print(text, size, "%s%s", outer, prefix);
    scope->prefix = text;
    place_scope(r, &in, scope);
    return PERP_OK;
}

static perp_status walk(pp_reader *r, const json_t *json);

// A part written in the scene itself. Its prefix, pose and parameters hold for everything in it.
static perp_status read_assembly(pp_reader *r, const json_t *json, int index, int owner)
{
    (void)index;
    (void)owner;
    pp_scope scope;
    int depth = 0;
    // Scopes are on the C stack, one inside the other: their number is bounded.
    for (const pp_scope *s = r->scope; s; s = s->outer) {
        depth++;
    }
    if (depth >= PP_NEST_MAX) {
        return pp_reader_fail(r, "more than %d files and assemblies within each other",
                              PP_NEST_MAX);
    }
    perp_status status = open_scope(r, &pp_assembly_object, json, &scope);
    if (status < 0) {
        return status;
    }
    r->scope = &scope;
    status = walk(r, json);
    r->scope = scope.outer;
    return status;
}

// Refuses a value for a parameter that the file does not have.
static perp_status no_parameter(pp_reader *r, const char *name, const pp_part *part)
{
    char list[120];
    pp_parameter_list(json_object_get(part->root, "parameters"), list, sizeof list);
    return pp_reader_fail(r, "'%.40s' has no parameter '%.40s'; %s", part->name, name, list);
}

// "parameters" of an include: values for those of the file, in terms of the file that includes it.
static perp_status read_given(pp_reader *r, const json_t *json, const pp_part *part,
                              pp_constants *given)
{
    const json_t *list = json_object_get(json, "parameters");
    size_t n = json_object_size(list);
    perp_status status = PERP_OK;
    *given = (pp_constants){.count = 0};
    if (!list) {
        return PERP_OK;
    }
    pp_reader_enter(r, "parameters", 0);
    if (!json_is_object(list) || n > PARAMETERS_MOST) {
        status = pp_reader_refuse(r, "parameters", "an object of at most 1000 numbers", list);
    } else if (!reserve(r, given, n)) {
        status = pp_reader_memory(r);
    }
    for (size_t k = 0; k < n; k++) {
        if (status < 0) {
            break;
        }
        // Constants in force are still those of the outer file.
        const json_t *item = &list->as.item[k];
        const pp_field field = {.key = item->key, .unit = "*"};
        double value = 0.0;
        pp_reader_enter(r, item->key, 0);
        if (!json_object_get(json_object_get(part->root, "parameters"), item->key)) {
            status = no_parameter(r, item->key, part);
        } else if (!pp_reader_number(r, &field, item, &value)) {
            status = pp_reader_refuse(
                r, item->key, "a number, or a string such as \"2*width\" or \"12 mm\"", item);
        } else {
            push_constant(given, item->key, value, false);
        }
        pp_reader_leave(r);
    }
    pp_reader_leave(r);
    return status;
}

// Settings of the file are checked in the first pass, and otherwise ignored.
static perp_status read_include(pp_reader *r, const json_t *json, int index, int owner)
{
    (void)index;
    (void)owner;
    pp_scope scope;
    pp_constants given = {.count = 0};
    const pp_part *part = NULL;
    perp_status status = open_scope(r, &pp_include_object, json, &scope);
    if (status == PERP_OK) {
        status = open_part(r, json, &part);
    }
    if (status == PERP_OK) {
        status = read_given(r, json, part, &given);
    }
    if (status < 0 || !part) {
        return status;
    }
    // Text, path, constants and the object of messages are those of the file until it is left.
    char before[sizeof r->object];
    memcpy(before, r->object, sizeof before);
    enter_file(r, &scope, part);
    pp_print(r->object, sizeof r->object, "scene");
    status = pp_reader_parameters(r, part->root, &given);
    if (status == PERP_OK && r->checks) {
        pp_settings ignored = {.sim = perp_sim_default()};
        uint64_t seen;
        status = pp_reader_fields(r, &pp_scene_object, 0, part->root, &ignored, &seen);
    }
    if (status == PERP_OK && r->checks) {
        status = pp_reader_groups(r, part->root);
    }
    if (status == PERP_OK) {
        status = walk(r, part->root);
    }
    leave_file(r, &scope);
    memcpy(r->object, before, sizeof before);
    return status;
}

// The objects of a file or assembly: a gear may name joints of the files it includes.
static perp_status walk(pp_reader *r, const json_t *json)
{
    perp_status status = pp_reader_list(r, json, &pp_include_object, read_include, 0);
    if (status == PERP_OK) {
        status = pp_reader_list(r, json, &pp_assembly_object, read_assembly, 0);
    }
    if (status == PERP_OK && !r->pass_object) {
        return pp_reader_exclusions(r, json);
    }
    return status < 0 ? status : pp_reader_list(r, json, r->pass_object, r->pass_read, 0);
}

// Visits the objects of one list in all parts of the scene. The order of the parts is the documented one, so that numbers of
// objects do not depend on how often a scene is read.
perp_status pp_reader_pass(pp_reader *r, const json_t *root, const pp_object *object,
                           pp_read_object *read)
{
    r->pass_object = object;
    r->pass_read = read;
    r->copies = 0;
    return walk(r, root);
}

// ── Plane or space ───────────────────────────────────────────────────────────────────────────────

static perp_status find_space(pp_reader *r, const json_t *json, int depth);

// Bodies of one file or assembly.
static bool has_solid(const json_t *json)
{
    const json_t *bodies = json_object_get(json, "bodies");
    for (size_t k = 0; k < json_array_size(bodies); k++) {
        const char *kind = json_string_value(json_object_get(json_array_get(bodies, k), "kind"));
        if (kind && (strcmp(kind, "solid") == 0 || strcmp(kind, "point_mass") == 0)) {
            return true;
        }
    }
    return false;
}

// Files are opened here for the first time; items that are no objects are reported later.
static perp_status find_space_in(pp_reader *r, const json_t *json, const pp_object *object,
                                 int depth)
{
    const json_t *list = json_object_get(json, object->list);
    perp_status status = PERP_OK;
    pp_reader_enter(r, object->list, 0);
    for (size_t k = 0; k < json_array_size(list); k++) {
        const json_t *item = json_array_get(list, k);
        const pp_part *part = NULL;
        if (!json_is_object(item)) {
            continue;
        }
        pp_reader_enter(r, NULL, (int)k);
        name_object(r, object, NULL, (int)k);
        if (object == &pp_include_object) {
            status = open_part(r, item, &part);
        }
        // Prefix and pose do not matter here, but the file does, for messages.
        if (status == PERP_OK && part) {
            pp_scope scope = {.outer = r->scope, .prefix = ""};
            enter_file(r, &scope, part);
            status = find_space(r, part->root, depth + 1);
            leave_file(r, &scope);
        } else if (status == PERP_OK) {
            status = find_space(r, item, depth + 1);
        }
        pp_reader_leave(r);
        if (status < 0) {
            break;
        }
    }
    pp_reader_leave(r);
    return status;
}

// Assemblies too deep are reported later.
static perp_status find_space(pp_reader *r, const json_t *json, int depth)
{
    r->spatial = r->spatial || has_solid(json);
    if (depth >= PP_NEST_MAX) {
        return PERP_OK;
    }
    perp_status status = find_space_in(r, json, &pp_include_object, depth);
    return status < 0 ? status : find_space_in(r, json, &pp_assembly_object, depth);
}

// Plane or space is decided by the bodies of all parts, before any field is read: vectors differ in length.
perp_status pp_reader_find_space(pp_reader *r, const json_t *root)
{
    char before[sizeof r->object];
    memcpy(before, r->object, sizeof before);
    perp_status status = find_space(r, root, 0);
    memcpy(r->object, before, sizeof before);
    return status;
}

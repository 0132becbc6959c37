// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Collision groups of a scene by number or name, excluded pairs of bodies, priorities and colours.
#include "scene/read/json_tree.h"
#include "scene/read/reader.h"

#include <string.h>

// ── Groups ───────────────────────────────────────────────────────────────────────────────────────

// The bit of a name; -1: no group has it.
static int group_bit(const pp_reader *r, const char *name)
{
    for (int k = 0; k < r->groups; k++) {
        if (strcmp(r->group[k], name) == 0) {
            return k;
        }
    }
    return -1;
}

static perp_status read_group(pp_reader *r, const json_t *item)
{
    const char *name = json_string_value(item);
    if (!name || !name[0]) {
        return pp_reader_refuse(r, NULL, "the name of a group", item);
    }
    // Files that are included share their groups with the scene.
    if (group_bit(r, name) >= 0 && r->scope->outer) {
        return PERP_OK;
    }
    if (r->groups == PP_GROUPS_MOST) {
        return pp_reader_fail(r, "more than 32 groups in the scene and the files it includes");
    }
    if (group_bit(r, name) >= 0) {
        return pp_reader_fail(r, "'groups' has '%.40s' twice; remove one", name);
    }
    r->group[r->groups++] = name;
    return PERP_OK;
}

// The k-th name is bit k.
perp_status pp_reader_groups(pp_reader *r, const json_t *root)
{
    const json_t *json = json_object_get(root, "groups");
    if (!json) {
        return PERP_OK;
    }
    pp_reader_enter(r, "groups", 0);
    size_t count = json_array_size(json);
    perp_status status = PERP_OK;
    // A group is a bit of a 32-bit mask, so that 32 names are all there can be.
    if (!json_is_array(json) || count < 1 || count > PP_GROUPS_MOST) {
        status = pp_reader_refuse(r, "groups", "a list of 1 to 32 names", json);
        count = 0;
    }
    for (size_t k = 0; k < count; k++) {
        pp_reader_enter(r, NULL, (int)k);
        status = read_group(r, json_array_get(json, k));
        pp_reader_leave(r);
        if (status != PERP_OK) {
            break;
        }
    }
    pp_reader_leave(r);
    return status;
}

// One name of a list, as a bit.
static perp_status read_bit(pp_reader *r, const pp_field *field, const json_t *item, uint32_t *bits)
{
    const char *name = json_string_value(item);
    int bit = name ? group_bit(r, name) : -1;
    if (!name) {
        return pp_reader_refuse(r, NULL, "the name of a group", item);
    }
    if (bit < 0) {
        const char *near = pp_nearest(name, strlen(name), r->group, r->groups);
        if (near) {
            return pp_reader_fail(r, "'%s': there is no group '%.40s'; did you mean '%s'?",
                                  field->key, name, near);
        }
        return pp_reader_fail(r, "'%s': there is no group '%.40s'; add it to 'groups' of the scene",
                              field->key, name);
    }
    *bits |= UINT32_C(1) << bit;
    return PERP_OK;
}

// A set of groups: names in a list, or the bits as one number. An empty list is no group at all.
perp_status pp_reader_bits(pp_reader *r, const pp_field *field, const json_t *value, uint32_t *to)
{
    // An error names the item, to which the path leads while it is read.
    if (json_is_array(value)) {
        uint32_t bits = 0;
        for (size_t k = 0; k < json_array_size(value); k++) {
            pp_reader_enter(r, NULL, (int)k);
            perp_status status = read_bit(r, field, json_array_get(value, k), &bits);
            pp_reader_leave(r);
            if (status < 0) {
                return status;
            }
        }
        *to = bits;
        return PERP_OK;
    }
    int64_t n = pp_reader_whole(r, field, value);
    if (n < 0 || n > UINT32_MAX) {
        return pp_reader_refuse(r, field->key,
                                "an integer from 0 to 4294967295, or a list of names of 'groups'",
                                value);
    }
    *to = (uint32_t)n;
    return PERP_OK;
}

// ── Excluded bodies ──────────────────────────────────────────────────────────────────────────────

// One pair of names.
static perp_status read_exclusion(pp_reader *r, const json_t *item)
{
    static const pp_field field = {.key = "exclude", .kind = PP_FIELD_BODY};
    perp_body body[2] = {{-1}, {-1}};
    if (json_array_size(item) != 2) {
        return pp_reader_refuse(r, NULL, "two names of bodies, [\"a\", \"b\"]", item);
    }
    for (int k = 0; k < 2; k++) {
        pp_reader_enter(r, NULL, k);
        perp_status status = pp_reader_value(r, &field, json_array_get(item, (size_t)k), &body[k]);
        pp_reader_leave(r);
        if (status < 0) {
            return status;
        }
    }
    // The ground may be one of the two; the order does not matter.
    if (body[0].i == body[1].i) {
        return pp_reader_fail(r, "'exclude' names '%s' twice; a pair is two different bodies",
                              r->body[body[0].i].name);
    }
    perp_builder_add_exclusion(r->builder, body[0], body[1]);
    return perp_builder_status(r->builder, NULL) == PERP_OK ? PERP_OK : pp_reader_memory(r);
}

// Pairs of bodies whose shapes do not collide. Read after all bodies, whose names they use.
perp_status pp_reader_exclusions(pp_reader *r, const json_t *root)
{
    const json_t *json = json_object_get(root, "exclude");
    if (!json) {
        return PERP_OK;
    }
    // The object read last was another one: messages name the scene.
    pp_print(r->object, sizeof r->object, "scene");
    pp_reader_enter(r, "exclude", 0);
    perp_status status = PERP_OK;
    if (!json_is_array(json)) {
        status = pp_reader_refuse(r, "exclude", "a list of pairs of bodies, [[\"a\", \"b\"], ...]",
                                  json);
    }
    for (size_t k = 0; k < json_array_size(json); k++) {
        pp_reader_enter(r, NULL, (int)k);
        status = read_exclusion(r, json_array_get(json, k));
        pp_reader_leave(r);
        if (status != PERP_OK) {
            break;
        }
    }
    pp_reader_leave(r);
    return status;
}

// ── Values ───────────────────────────────────────────────────────────────────────────────────────

perp_status pp_reader_priority(pp_reader *r, const pp_field *field, const json_t *value,
                               int32_t *to)
{
    json_int_t n = json_integer_value(value);
    if (!json_is_integer(value) || n < INT32_MIN || n > INT32_MAX) {
        return pp_reader_refuse(r, field->key, "an integer", value);
    }
    *to = (int32_t)n;
    return PERP_OK;
}

// -1: no hexadecimal digit.
static int hex_digit(char c)
{
    static const char digits[] = "0123456789abcdef0123456789ABCDEF";
    const char *at = c ? strchr(digits, c) : NULL;
    return at ? (int)((at - digits) % 16) : -1;
}

// Six digits after a #; -1: something else.
static int32_t parse_colour(const char *text)
{
    enum { DIGITS = 6 };
    int32_t colour = 0;
    if (!text || strlen(text) != DIGITS + 1 || text[0] != '#') {
        return -1;
    }
    for (int k = 1; k <= DIGITS; k++) {
        int digit = hex_digit(text[k]);
        if (digit < 0) {
            return -1;
        }
        colour = 16 * colour + digit;
    }
    return colour;
}

perp_status pp_reader_colour(pp_reader *r, const pp_field *field, const json_t *value, int32_t *to)
{
    int32_t colour = parse_colour(json_string_value(value));
    if (colour < 0) {
        return pp_reader_refuse(r, field->key, "a colour \"#rrggbb\" of six hexadecimal digits",
                                value);
    }
    *to = colour;
    return PERP_OK;
}

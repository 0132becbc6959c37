// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The reader of JSON beside jansson: both accept the same texts and find the same in them, and it takes little memory.
#include "scene/read/json_tree.h"
#include "support/cmocka.h"
#include "support/folder.h"
#include "support/json_twin.h"
#include "support/random.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static twin_leaf leaf_of(const json_t *value)
{
    static const char kinds[] = {[JSON_STRING] = 's', [JSON_INTEGER] = 'i', [JSON_REAL] = 'r',
                                 [JSON_TRUE] = 'T',   [JSON_FALSE] = 'F',   [JSON_NULL] = 'N'};
    twin_leaf leaf = {.kind = kinds[value->type]};
    if (leaf.kind == 's') {
        leaf.string = json_string_value(value);
        leaf.length = json_string_length(value);
    } else if (leaf.kind == 'i') {
        leaf.integer = json_integer_value(value);
    } else if (leaf.kind == 'r') {
        leaf.real = json_number_value(value);
    }
    return leaf;
}

static void put_value(twin_text *out, const json_t *value)
{
    bool object = json_is_object(value);
    if (!object && value->type != JSON_ARRAY) {
        twin_leaf leaf = leaf_of(value);
        twin_put_leaf(out, &leaf);
        return;
    }
    twin_put(out, object ? "{" : "[");
    for (uint32_t k = 0; k < value->count; k++) {
        if (object) {
            twin_put(out, "%s=", value->as.item[k].key);
        }
        put_value(out, &value->as.item[k]);
    }
    twin_put(out, object ? "}" : "]");
}

static twin_text ours, theirs;
static pp_arena *arena;
static int accepted, refused;

static void compare(const char *text, size_t size)
{
    const json_t *root = NULL;
    perp_error error = {0};
    char *copy = malloc(size + 1);  // exact, so that sanitizers see one byte too far
    assert_non_null(copy);
    memcpy(copy, text, size);
    pp_arena_reset(arena);
    perp_status status = pp_json_parse(copy, size, arena, &root, &error);
    bool good = twin_read(text, size, &theirs);
    ours.used = 0;
    twin_put(&ours, "%s", "");
    if (status == PERP_OK) {
        put_value(&ours, root);
    } else {
        assert_int_equal(status, PERP_ERR_FORMAT);
        assert_true(error.line > 0 && error.column > 0);
    }
    if (good != (status == PERP_OK) || strcmp(ours.data, theirs.data) != 0) {
        fail_msg("%.*s\n  jansson: %d %s\n  ours: %d %s %s", (int)size, text, good, theirs.data,
                 status, ours.data, error.text);
    }
    accepted += good;
    refused += !good;
    free(copy);
}

static void compare_text(const char *text)
{
    compare(text, strlen(text));
}

static void corners_are_the_same(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",
        " ",
        "{}",
        "[]",
        "[[]",
        "[1,]",
        "{,}",
        "{\"a\":1,}",
        "[1 2]",
        "1",
        "\"a\"",
        "null",
        "[01]",
        "[-]",
        "[-0]",
        "[-01]",
        "[0.]",
        "[.5]",
        "[1.e5]",
        "[1e]",
        "[1e+]",
        "[1E+2]",
        "[1e-400]",
        "[1e400]",
        "[-1e400]",
        "[9223372036854775807]",
        "[9223372036854775808]",
        "[-9223372036854775808]",
        "[-9223372036854775809]",
        "[00]",
        "[0e1]",
        "[1x]",
        "[truex]",
        "[true1]",
        "[TRUE]",
        "[nul]",
        "[+1]",
        "[0x10]",
        "[NaN]",
        "[Infinity]",
        "[\"\\u0000\"]",
        "{\"\\u0000\":1}",
        "[\"\\ud800\"]",
        "[\"\\udc00\"]",
        "[\"\\ud83d\\ude00\"]",
        "[\"\\ud83d\\u0041\"]",
        "[\"\\uD83D\\uDE00\"]",
        "[\"\\u00g0\"]",
        "[\"\\u12\"]",
        "[\"\\x\"]",
        "[\"\\/\\b\\f\\n\\r\\t\\\"\\\\\"]",
        "[\"\t\"]",
        "[\"\x7f\"]",
        "[\"\xff\"]",
        "[\"\xc0\x80\"]",
        "[\"\xed\xa0\x80\"]",
        "[\"\xf4\x90\x80\x80\"]",
        "[\"\xe4\xbd\xa0\"]",
        "[\"\xe4\xbd\"]",
        "{\"a\":1,\"a\":2}",
        "{\"a\":1,\"\\u0061\":2}",
        "{\"a\":{\"a\":1}}",
        "{\"a\" 1}",
        "{a:1}",
        "{\"a\":}",
        "[]x",
        "[] []",
        "[}",
        "{]",
        "\f[]",
        "[\"a\nb\"]",
        "[\"abc",
        "[\"\\",
        "[\"\\u",
        "{\"a\":[1,{\"b\":null}],\"c\":\"\"}",
        "[1.5,-2.25e-3,1e22,123456789012345678]",
        "[0.1,1e-320,2.2250738585072011e-308,1.7976931348623157e308]",
        "[\xef\xbb\xbf]",
    };
    for (size_t k = 0; k < sizeof texts / sizeof texts[0]; k++) {
        compare_text(texts[k]);
    }
    // A zero byte is no space; jansson takes some for one.
    const json_t *root = NULL;
    assert_int_equal(pp_json_parse("[1\0]", 4, arena, &root, NULL), PERP_ERR_FORMAT);
    assert_int_equal(pp_json_parse("[\"a\0b\"]", 7, arena, &root, NULL), PERP_ERR_FORMAT);
    for (int depth = 2040; depth < 2056; depth++) {
        char *deep = malloc(5000);
        assert_non_null(deep);
        memset(deep, '[', (size_t)depth);
        memset(deep + depth, ']', (size_t)depth);
        compare(deep, 2 * (size_t)depth);
        deep[depth] = '1';
        memset(deep + depth + 1, ']', (size_t)depth);
        compare(deep, 2 * (size_t)depth + 1);
        free(deep);
    }
}

// Many keys, one of them twice or not.
static void many_keys(void **state)
{
    (void)state;
    char *text = malloc(200000);
    assert_non_null(text);
    for (int twice = -1; twice < 5000; twice += 1237) {
        size_t used = 1;
        text[0] = '{';
        for (int k = 0; k < 5000; k++) {
            used += (size_t)sprintf(text + used, "%s\"key%d\":%d", k > 0 ? "," : "", k, k);
        }
        if (twice >= 0) {
            used += (size_t)sprintf(text + used, ",\"key%d\":0", twice);
        }
        text[used++] = '}';
        compare(text, used);
    }
    free(text);
}

static void damage(rng *r, const char *text, size_t size)
{
    static const char letters[] = "{}[]\",:/\\0-+.eEu1tfn \n\t\xc3\xa9\xff\x1b";
    char *copy = malloc(size + 8);
    assert_non_null(copy);
    memcpy(copy, text, size);
    int changes = 1 + rng_below(r, 3);
    for (int k = 0; k < changes && size > 0; k++) {
        size_t at = (size_t)rng_below(r, (int)size);
        int how = rng_below(r, 4);
        if (how < 2) {
            copy[at] = letters[rng_below(r, (int)sizeof letters - 1)];
        } else if (how == 2) {
            memmove(copy + at, copy + at + 1, size - at - 1);
            size--;
        } else {
            size = at;
        }
    }
    compare(copy, size);
    free(copy);
}

static void damaged_texts_are_the_same(void **state)
{
    (void)state;
    rng r = rng_seed(rng_test_seed(11));
    static const char *const folders[] = {"scenes", "fuzz/corpus/scene", "fuzz/corpus/json"};
    accepted = refused = 0;
    for (int f = 0; f < 3; f++) {
        DIR *dir = opendir(folders[f]);
        assert_non_null(dir);
        for (struct dirent *entry; (entry = readdir(dir));) {
            char path[600];
            snprintf(path, sizeof path, "%s/%s", folders[f], entry->d_name);
            if (entry->d_name[0] == '.') {
                continue;
            }
            char *text = text_of(path);
            size_t size = strlen(text);
            compare(text, size);
            for (int k = 0; k < 40 && size < 20000; k++) {
                damage(&r, text, size);
            }
            free(text);
        }
        closedir(dir);
    }
    static const char small[] =
        "{\"a\": [1, -2.5e3, \"x\\u00e9\\n\", true, null], \"b\": {\"c\": 0.1}}";
    for (int k = 0; k < 100000; k++) {
        damage(&r, small, strlen(small));
    }
    print_message("%d texts that both accept, %d that both refuse\n", accepted, refused);
}

static void *count_bytes(void *user, size_t size, size_t align)
{
    *(size_t *)user += size;
    return aligned_alloc(align, (size + align - 1) / align * align);
}

static void give_back(void *user, void *block, size_t size)
{
    (void)user;
    (void)size;
    free(block);
}

// Bytes that a text of that kind takes, over its own.
static double cost(const char *item, size_t megabytes)
{
    size_t length = strlen(item), size = megabytes << 20, used = 1;
    char *text = malloc(size + 1);
    assert_non_null(text);
    text[0] = '[';
    while (used + length + 1 < size) {
        memcpy(text + used, item, length);
        used += length;
    }
    text[used - 1] = ']';
    size_t taken = 0;
    const perp_env env = {.alloc = count_bytes, .free = give_back, .user = &taken};
    pp_arena *own = pp_arena_create(&env);
    const json_t *root = NULL;
    perp_error error = {0};
    if (pp_json_parse(text, used, own, &root, &error) < 0) {
        fail_msg("%s", error.text);
    }
    pp_arena_destroy(own);
    free(text);
    return (double)taken / (double)used;
}

static void memory_is_in_proportion(void **state)
{
    (void)state;
    static const char *const items[] = {"0,", "{},", "[],", "\"\",", "[1,2,3],", "{\"a\":1},"};
    for (size_t k = 0; k < sizeof items / sizeof items[0]; k++) {
        double factor = cost(items[k], 4);
        print_message("%-10s %.1f bytes a byte\n", items[k], factor);
        assert_true(factor < 30.0);  // jansson: 80
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(corners_are_the_same),
        cmocka_unit_test(many_keys),
        cmocka_unit_test(damaged_texts_are_the_same),
        cmocka_unit_test(memory_is_in_proportion),
    };
    arena = pp_arena_create(NULL);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    pp_arena_destroy(arena);
    free(ours.data);
    free(theirs.data);
    return failed;
}

// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// STL and OBJ: what is read, and what is said of files that are not what they should be.
#include "format/format.h"
#include "support/cmocka.h"
#include "support/fault.h"
#include "support/mesh_check.h"
#include "support/random.h"

#include <stdio.h>
#include <string.h>

static const char TEXT_STL[] = "solid a part\n"
                               " facet normal 0 0 1\n  outer loop\n"
                               "   vertex 0 0 0\n   vertex 1 0 0\n   vertex 0 1.5e0 0\n"
                               "  endloop\n endfacet\n"
                               " FACET NORMAL nan 0 1\n  outer loop\n"
                               "   vertex 1 0 0\n   vertex 1 1 0.25\n   vertex 0 1.5 0\n"
                               "  endloop\n endfacet\nendsolid a part\n";

static const char TEXT_OBJ[] = "# a square and a triangle\nmtllib x.mtl\no thing\n"
                               "v 0 0 0\nv 1 0 0 1.0\nv 1 1 0\nv 0 1 0\r\nvt 0 0\nvn 0 0 1\n"
                               "f 1/1/1 2//1 3/1 4\n\nv 0.5 0.5 2\n  f -1 1 2\n";

static perp_status parse(const char *text, size_t size, pp_arena *arena, pp_mesh_file *out,
                         perp_error *error)
{
    *error = (perp_error){0};
    return pp_mesh_file_parse(text, size, arena, out, error);
}

static void reads_text(void **state)
{
    (void)state;
    pp_arena *arena = pp_arena_create(NULL);
    pp_mesh_file m;
    perp_error e;
    assert_int_equal(parse(TEXT_STL, strlen(TEXT_STL), arena, &m, &e), PERP_OK);
    assert_true(m.triangles == 2 && m.vertices == 6 && !m.single);
    assert_true(m.vertex[2].y == 1.5 && m.vertex[4].z == 0.25 && m.triangle[5] == 5);
    assert_int_equal(parse(TEXT_OBJ, strlen(TEXT_OBJ), arena, &m, &e), PERP_OK);
    static const int want[] = {0, 1, 2, 0, 2, 3, 4, 0, 1};
    assert_true(m.triangles == 3 && m.vertices == 5 && m.vertex[4].z == 2.0);
    assert_memory_equal(m.triangle, want, sizeof want);
    pp_arena_destroy(arena);
}

enum { BINARY = 84 + 2 * 50 };

static void put_word(char *at, uint32_t word)
{
    for (int k = 0; k < 4; k++) {
        at[k] = (char)(word >> (8 * k));
    }
}

// Two triangles; the header begins like a text file's.
static void fill_binary(char *file)
{
    static const uint32_t one = 0x3f800000, two = 0x40000000, minus_two = 0xc0000000;
    memset(file, 0, BINARY);
    pp_print(file, 80, "solid of a kind");
    put_word(file + 80, 2);
    for (int t = 0; t < 2; t++) {
        char *at = file + 84 + 50 * t + 12;
        put_word(at, one);                 // x of the first corner
        put_word(at + 12 + 4, two);        // y of the second
        put_word(at + 24 + 8, minus_two);  // z of the third
    }
}

static void reads_binary(void **state)
{
    (void)state;
    pp_arena *arena = pp_arena_create(NULL);
    char file[BINARY];
    pp_mesh_file m;
    perp_error e;
    fill_binary(file);
    assert_int_equal(parse(file, BINARY, arena, &m, &e), PERP_OK);
    assert_true(m.triangles == 2 && m.vertices == 6 && m.single);
    assert_true(m.vertex[3].x == 1.0 && m.vertex[1].y == 2.0 && m.vertex[5].z == -2.0);
    put_word(file + 84 + 50 + 12, 0x7f800000);
    assert_int_equal(parse(file, BINARY, arena, &m, &e), PERP_ERR_FORMAT);
    assert_non_null(strstr(e.text, "byte 146: triangle 1"));
    assert_int_equal(parse(file, BINARY - 1, arena, &m, &e), PERP_ERR_FORMAT);
    assert_non_null(strstr(e.text, "length"));
    pp_arena_destroy(arena);
}

typedef struct broken {
    const char *text;
    int line, column;
    const char *says;
} broken;

static void says_what_is_wrong(void **state)
{
    (void)state;
    static const broken list[] = {
        {"", 1, 1, "no triangles"},
        {"v 0 0 0\n", 2, 1, "no triangles"},
        {"solid x\n", 2, 1, "endsolid"},
        {"solid x\nendsolid\n", 3, 1, "no triangles"},
        {"solid x\nfacet normal 0 0 1\nouter lop\n", 3, 7, "'lop' where 'loop'"},
        {"solid x\nfacet normal 0 0 1\nouter loop vertex 0 0", 3, 22, "ends where 'vertex'"},
        {"solid x\nvertex\n", 2, 1, "'vertex' where 'facet' or 'endsolid'"},
        {"solid x\nfacet normal 0", 2, 15, "ends within a normal"},
        {"solid x\nfacet normal 0 0 1 outer loop\nvertex 0 0 0\nvertex 1 0 x\nvertex 0 1 0\n"
         "endloop endfacet\nendsolid\n",
         4, 12, "'x'"},
        {"v 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", 2, 1, "2 of 3"},
        {"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 4\n", 4, 7,
         "vertex 4 does not exist; the file has 3 vertices"},
        {"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 0\n", 4, 7, "vertex 0"},
        {"v 0 0 0\nv 1 0 0\nf -1 -2 -3\nv 0 1 0\n", 3, 9, "vertex -3"},
        {"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2\n", 5, 1, "2 corners"},
        {"v 0 0 0\nf 1 2 three\n", 2, 7, "'three'"},
        {"v inf 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", 1, 3, "finite"},
        {"{\"scene\": 1}\n", 1, 1, "not STL"},
    };
    pp_arena *arena = pp_arena_create(NULL);
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
        pp_mesh_file m;
        perp_error e;
        assert_int_equal(parse(list[k].text, strlen(list[k].text), arena, &m, &e), PERP_ERR_FORMAT);
        if (!strstr(e.text, list[k].says) || e.line != list[k].line || e.column != list[k].column) {
            print_error("case %zu: %d:%d: %s\n", k, e.line, e.column, e.text);
            fail();
        }
        assert_int_equal(pp_mesh_file_parse(list[k].text, strlen(list[k].text), arena, &m, NULL),
                         PERP_ERR_FORMAT);
    }
    pp_arena_destroy(arena);
}

static void names_files(void **state)
{
    (void)state;
    pp_arena *arena = pp_arena_create(NULL);
    pp_mesh_file m;
    perp_error e = {0};
    assert_int_equal(
        pp_mesh_file_named("part.stl", TEXT_STL, strlen(TEXT_STL) - 12, true, arena, &m, &e),
        PERP_ERR_FORMAT);
    assert_true(strstr(e.text, "'part.stl', line 16, column 1: ") && e.line == 0);
    static const char secret[] = "root:x:0:0:root";
    assert_int_equal(pp_mesh_file_named("p", secret, strlen(secret), true, arena, &m, &e),
                     PERP_ERR_FORMAT);
    assert_non_null(strstr(e.text, "root:x"));
    assert_int_equal(pp_mesh_file_named("p", secret, strlen(secret), false, arena, &m, &e),
                     PERP_ERR_FORMAT);
    assert_null(strstr(e.text, "root"));
    assert_non_null(strstr(e.text, "'p', line 1, column 1: is not a valid STL or OBJ file"));
    assert_int_equal(pp_mesh_file_named("p", TEXT_STL, strlen(TEXT_STL), false, arena, &m, NULL),
                     PERP_OK);
    assert_int_equal(m.triangles, 2);
    pp_arena_destroy(arena);
}

// Bytes changed, dropped and doubled: an answer or a message.
static void survives_damage(void **state)
{
    (void)state;
    char binary[BINARY], text[400];
    fill_binary(binary);
    FOR_SEEDS(seed, 2000)
    {
        rng r = rng_seed(seed);
        const char *from = seed % 3 == 0 ? TEXT_STL : seed % 3 == 1 ? TEXT_OBJ : binary;
        size_t size = seed % 3 == 2 ? BINARY : strlen(from);
        for (size_t k = 0; k < size; k++) {
            text[k] = from[k];
        }
        for (int k = 1 + rng_below(&r, 4); k > 0; k--) {
            text[rng_below(&r, (int)size)] =
                (char)(rng_below(&r, 2) ? rng_below(&r, 256) : 32 + rng_below(&r, 64));
        }
        size = rng_below(&r, 3) ? size : (size_t)rng_below(&r, (int)size);
        const char *flaw = mesh_flaw(text, size);
        if (flaw) {
            print_error("%s\n", flaw);
        }
        CHECK(!flaw, seed);
    }
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    bool happened = true;
    for (int at = 1; happened; at++) {
        fault f = {.fail_at = at};
        perp_env env = fault_env(&f);
        pp_arena *arena = pp_arena_create(&env);
        pp_mesh_file m;
        if (arena) {
            perp_status status = pp_mesh_file_parse(TEXT_STL, strlen(TEXT_STL), arena, &m, NULL);
            assert_int_equal(status, f.happened ? PERP_ERR_MEMORY : PERP_OK);
        }
        pp_arena_destroy(arena);
        assert_int_equal(f.live, 0);
        happened = f.happened;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_text),         cmocka_unit_test(reads_binary),
        cmocka_unit_test(says_what_is_wrong), cmocka_unit_test(names_files),
        cmocka_unit_test(survives_damage),    cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

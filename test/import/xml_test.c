// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// XML as a tree: places, what was seen, tolerated oddities, and hostile files.
#include "import/report.h"
#include "support/cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static perp_status parse(const char *text, pp_arena *arena, pp_xml **root, perp_error *error)
{
    pp_xml_source source = {.text = text, .size = strlen(text), .keep_text = true};
    return pp_xml_parse(&source, arena, root, error);
}

static void tree(void **state)
{
    (void)state;
    pp_arena *arena = pp_arena_create(NULL);
    perp_error error = {0};
    pp_xml *root;
    // Blanks before the declaration, a prefix that is not bound, an entity of XML itself.
    assert_int_equal(
        parse(" \n\n<?xml version='1.0'?>\n<a x='1 &lt; 2'>\n  <xacro:b y='2'/>text<c/></a>", arena,
              &root, &error),
        PERP_OK);
    assert_string_equal(root->name, "a");
    assert_string_equal(pp_xml_value(root, "x"), "1 < 2");
    assert_null(pp_xml_value(root, "z"));
    pp_xml *b = pp_xml_child(root, "xacro:b", NULL);
    assert_int_equal(b->line, 5);
    assert_int_equal(b->column, 3);
    assert_null(pp_xml_child(root, "xacro:b", b));
    assert_int_equal(pp_xml_fail(b, &error, "wrong"), PERP_ERR_FORMAT);
    assert_int_equal(error.line, 5);
    assert_string_equal(error.text, "<xacro:b>: wrong");
    pp_arena_destroy(arena);
}

static void unseen(void **state)
{
    (void)state;
    pp_arena *arena = pp_arena_create(NULL);
    perp_error error = {0};
    pp_xml *root;
    static const pp_unused table[] = {{"*", "colour", "colours", "appearance"}};
    assert_int_equal(parse("<a p='1' q='2'><b colour='red'/><b colour='blue'/><c><d/></c></a>",
                           arena, &root, &error),
                     PERP_OK);
    pp_import_report report = {.arena = arena, .main_file = "m.xml"};
    root->seen = true;
    pp_xml_value(root, "p");
    for (pp_xml *b = pp_xml_child(root, "b", NULL); b; b = pp_xml_child(root, "b", b)) {
        assert_true(b->seen);
    }
    pp_report_unseen(&report, root, table, 1);
    const perp_import_note *note = pp_report_list(&report);
    assert_int_equal(report.count, 3);
    assert_string_equal(note[0].what, "<a q>");
    assert_string_equal(note[1].what, "colours");
    assert_int_equal(note[1].count, 2);
    assert_string_equal(note[2].what, "<c>");  // <d> is part of it
    pp_arena_destroy(arena);
}

static void many_notes_end(void **state)
{
    (void)state;
    pp_arena *arena = pp_arena_create(NULL);
    pp_import_report report = {.arena = arena, .main_file = "m.xml"};
    for (int k = 0; k < 5000; k++) {
        pp_report_say(&report, PERP_IMPORT_ASSUMED, NULL, "note %d", k);
    }
    const perp_import_note *note = pp_report_list(&report);
    assert_true(report.count < 1000);
    assert_string_equal(note[report.count - 1].what, "4500 more notes");
    pp_arena_destroy(arena);
}

static void broken(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"", "empty"},
        {"  ", "empty"},
        {"<a>", "no element found"},
        {"<a></b>", "mismatched tag"},
        {"<a b=1/>", "not well-formed"},
        {"<!DOCTYPE a><a/>", "document types"},
        {"<!DOCTYPE l [<!ENTITY x 'lol'><!ENTITY y '&x;&x;&x;'>]><a>&y;</a>", "document types"},
        {"<a>&nothing;</a>", "undefined entity"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        pp_arena *arena = pp_arena_create(NULL);
        perp_error error = {0};
        pp_xml *root;
        assert_int_equal(parse(cases[k].text, arena, &root, &error), PERP_ERR_FORMAT);
        assert_null(root);
        if (!strstr(error.text, cases[k].says)) {
            fail_msg("'%s': '%s'", cases[k].text, error.text);
        }
        pp_arena_destroy(arena);
    }
}

static void deep(void **state)
{
    (void)state;
    enum { LEVELS = 100000 };
    char *text = malloc(3 * LEVELS + 1);
    assert_non_null(text);
    for (int k = 0; k < LEVELS; k++) {
        memcpy(text + 3 * (size_t)k, "<a>", 3);
    }
    text[3 * LEVELS] = '\0';
    pp_arena *arena = pp_arena_create(NULL);
    perp_error error = {0};
    pp_xml *root;
    assert_int_equal(parse(text, arena, &root, &error), PERP_ERR_FORMAT);
    assert_non_null(strstr(error.text, "400 levels"));
    pp_arena_destroy(arena);
    free(text);
}

static void numbers(void **state)
{
    (void)state;
    double x[3];
    assert_int_equal(pp_xml_numbers(" 1 -2e3\n.5 ", x, 3), 3);
    assert_true(x[0] == 1.0 && x[1] == -2e3 && x[2] == 0.5);
    assert_int_equal(pp_xml_numbers("", x, 3), 0);
    assert_int_equal(pp_xml_numbers("1 2 3 4", x, 3), -1);
    assert_int_equal(pp_xml_numbers("nan", x, 3), -1);
    assert_int_equal(pp_xml_numbers("inf", x, 3), -1);
    assert_int_equal(pp_xml_numbers("1,2", x, 3), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tree),   cmocka_unit_test(unseen), cmocka_unit_test(many_notes_end),
        cmocka_unit_test(broken), cmocka_unit_test(deep),   cmocka_unit_test(numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

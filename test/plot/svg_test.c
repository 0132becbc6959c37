// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The text of SVG: escaping, numbers, labels, memory that runs out.
#include "support/cmocka.h"
#include "support/fault.h"
#include "support/random.h"
#include "support/xml.h"

#include "plot/draw/svg.h"

#include <locale.h>
#include <math.h>
#include <string.h>

static void names_are_escaped(void **state)
{
    (void)state;
    pp_svg svg = {0};
    const char *name = "a<b> & \"c\" 'd' \x01\x7f \xce\xbc \xff\xc3( ]]> <script>";
    pp_svg_open(&svg, 100.0, 50.0, name);
    pp_svg_name(&svg, 1.0, 2.0, PP_START, 7.0, 0.0, name);
    pp_svg_label(&svg, 1.0, 2.0, PP_END, 7.0, true, "*p*_{n} < 10^{-3} & more_");
    pp_svg_close(&svg);
    xml x;
    assert_true(xml_read(&x, svg.text, svg.used));
    assert_non_null(strstr(x.words, "a<b> & \"c\" 'd'"));
    assert_non_null(strstr(x.words, "\xce\xbc"));
    assert_non_null(strstr(x.words, "\xef\xbf\xbd"));  // for bytes that are not UTF-8
    assert_non_null(strstr(x.words, "]]> <script>"));
    assert_null(strstr(svg.text, "<script>"));
    assert_int_equal(x.texts, 2);
    pp_svg_free(&svg);
}

static void any_bytes_are_well_formed(void **state)
{
    (void)state;
    FOR_SEEDS(seed, 300)
    {
        rng r = rng_seed(seed);
        char bytes[64] = "";
        int n = rng_below(&r, 63);
        for (int k = 0; k < n; k++) {
            bytes[k] = (char)(1 + rng_below(&r, 255));
        }
        pp_svg svg = {0};
        pp_svg_open(&svg, 100.0, 50.0, bytes);
        pp_svg_name(&svg, 1.0, 2.0, PP_START, 7.0, rng_uniform(&r, 0.0, 80.0), bytes);
        pp_svg_label(&svg, 1.0, 2.0, PP_MIDDLE, 7.0, false, bytes);
        pp_svg_close(&svg);
        xml x;
        CHECK(xml_read(&x, svg.text, svg.used), seed);
        pp_svg_free(&svg);
    }
}

static void long_names_are_cut(void **state)
{
    (void)state;
    pp_svg svg = {0};
    pp_svg_name(&svg, 0.0, 0.0, PP_START, 7.0, 50.0, "a name that is much too long for its place");
    assert_non_null(strstr(svg.text, "\xe2\x80\xa6"));
    assert_null(strstr(svg.text, "place"));
    assert_true(pp_text_width("short", 7.0) < pp_text_width("a longer name", 7.0));
    assert_true(fabs(pp_text_width("Hello", 10.0) - 25.35) < 1e-9);  // 752 615 278 278 612
    pp_svg_free(&svg);
}

static void numbers(void **state)
{
    (void)state;
    const struct {
        double value;
        const char *text;
    } values[] = {{0.0, "0"},
                  {1.0, "1"},
                  {0.2, "0.2"},
                  {0.19999999, "0.2"},
                  {-12.345, PP_MINUS "12.3"},
                  {98765.0, "98765"},
                  {0.99999, "1"},
                  {0.001234, "0.00123"},
                  {1.5e-9, "1.5\xc2\xb7"
                           "10^" PP_MINUS "9!"},
                  {-2e30, PP_MINUS "2\xc2\xb7"
                                   "10^30!"},
                  {INFINITY, "infinite"},
                  {NAN, "not a number"}};
    for (size_t k = 0; k < sizeof values / sizeof values[0]; k++) {
        char text[PP_NUMBER];
        pp_value_text(text, values[k].value, "^", "!");
        assert_string_equal(text, values[k].text);
    }
    char text[PP_NUMBER];
    pp_decimal_text(text, -0.004, 2, false, "-");
    assert_string_equal(text, "0.00");
    pp_decimal_text(text, -1.005e3, 1, false, "-");
    assert_string_equal(text, "-1005.0");
    pp_decimal_text(text, 1e300, 2, false, "-");
    assert_true(strlen(text) < 20);
}

static void the_locale_is_of_no_matter(void **state)
{
    (void)state;
    if (!setlocale(LC_ALL, "de_DE.UTF-8") && !setlocale(LC_ALL, "de_DE")) {
        print_message("no locale with a decimal comma here\n");
        skip();
    }
    pp_svg svg = {0};
    pp_svg_line(&svg, 0.5, 1.25, 2.125, -3.5, (pp_pen){.stroke = "#000000", .width = 0.5});
    setlocale(LC_ALL, "C");
    assert_null(strchr(svg.text, ','));
    pp_svg_free(&svg);
}

static void coordinates_stay_finite(void **state)
{
    (void)state;
    pp_svg svg = {0};
    pp_svg_open(&svg, 100.0, 50.0, "");
    pp_svg_line(&svg, NAN, INFINITY, -INFINITY, 1e300, (pp_pen){.stroke = "#000000"});
    pp_svg_path(&svg, (pp_pen){.stroke = "#000000"});
    pp_svg_move(&svg, NAN, -1e-300);
    pp_svg_arc(&svg, INFINITY, true, 1.0, 2.0);
    pp_svg_end_path(&svg);
    pp_svg_close(&svg);
    xml x;
    assert_true(xml_read(&x, svg.text, svg.used));
    pp_svg_free(&svg);
}

static void memory_runs_out(void **state)
{
    (void)state;
    fault f = {.fail_at = 2};
    perp_env env = fault_env(&f);
    pp_svg svg = {.env = &env};
    for (int k = 0; k < 2000; k++) {
        pp_svg_line(&svg, k, k, k, k, (pp_pen){.stroke = "#000000"});
    }
    assert_true(svg.failed && f.happened);
    pp_svg_free(&svg);
    assert_int_equal(f.live, 0);
    assert_int_equal(f.confused, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(names_are_escaped),
                                       cmocka_unit_test(any_bytes_are_well_formed),
                                       cmocka_unit_test(long_names_are_cut),
                                       cmocka_unit_test(numbers),
                                       cmocka_unit_test(the_locale_is_of_no_matter),
                                       cmocka_unit_test(coordinates_stay_finite),
                                       cmocka_unit_test(memory_runs_out)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

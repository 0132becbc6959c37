// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Every status has a text and a word; unknown values do not crash.
#include "support/cmocka.h"

#include <perp/perp.h>

#include <string.h>

static void every_status_has_words(void **state)
{
    (void)state;
    static const perp_status all[] = {
#define PERP_X(name, value, word, text) name,
        PERP_STATUS_LIST(PERP_X)
#undef PERP_X
    };
    for (size_t k = 0; k < sizeof all / sizeof all[0]; k++) {
        assert_true(strlen(perp_status_text(all[k])) > 3);
        assert_true(strlen(perp_status_word(all[k])) > 2);
    }
    assert_string_equal(perp_status_text((perp_status)1234), "unknown status");
    assert_string_equal(perp_status_word((perp_status)1234), "error");
}

static void version_matches_header(void **state)
{
    (void)state;
    assert_string_equal(perp_version(), PERP_VERSION);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_status_has_words),
        cmocka_unit_test(version_matches_header),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

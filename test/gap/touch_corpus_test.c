// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Every seed of the fuzz target of solids, among them all inputs that have broken it, is judged as there.
#include <dirent.h>
#include <stdio.h>

#include "support/cmocka.h"
#include "support/touch_bytes.h"

static void seeds_have_no_flaw(void **state)
{
    (void)state;
    int count = 0, flaws = 0;
    DIR *folder = opendir("fuzz/corpus/touch");
    assert_non_null(folder);
    for (struct dirent *file = readdir(folder); file; file = readdir(folder)) {
        char path[512];
        uint8_t data[256];
        snprintf(path, sizeof path, "fuzz/corpus/touch/%s", file->d_name);
        FILE *f = file->d_name[0] == '.' ? NULL : fopen(path, "rb");
        if (!f) {
            continue;
        }
        size_t size = fread(data, 1, sizeof data, f);
        (void)fclose(f);
        touch_pair pair;
        touch_hull hull[2];
        rng r = rng_seed(1);
        const char *flaw =
            touch_from_bytes(&pair, hull, data, size) ? touch_flaw(&pair, 1e-9, &r) : NULL;
        if (flaw) {
            print_error("%s: %s\n", path, flaw);
            flaws++;
        }
        count++;
    }
    (void)closedir(folder);
    assert_int_equal(flaws, 0);
    assert_true(count >= 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(seeds_have_no_flaw)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

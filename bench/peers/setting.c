// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Words of a setting; every module has its own copy.
#include "peer.h"

#include <stdlib.h>
#include <string.h>

bool peer_has(const char *setting, const char *word)
{
    size_t length = strlen(word);
    for (const char *s = setting; *s;) {
        size_t here = strcspn(s, "-");
        if (here == length && !strncmp(s, word, length)) {
            return true;
        }
        s += here + (s[here] == '-');
    }
    return false;
}

int peer_number(const char *setting, const char *stem, int otherwise)
{
    size_t length = strlen(stem);
    for (const char *s = setting; *s;) {
        size_t here = strcspn(s, "-");
        if (here > length && !strncmp(s, stem, length)) {
            char *end;
            int number = (int)strtol(s + length, &end, 10);
            if (end == s + here) {
                return number;
            }
        }
        s += here + (s[here] == '-');
    }
    return otherwise;
}

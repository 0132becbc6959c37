// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The known word nearest to a misspelt one.
//
// Distance: insertions, deletions, replacements and exchanges of neighbours (optimal string
// alignment); case does not count, nor '-' and ' ' against '_'. A word is near if at most a third
// of its letters differ.
#include "base/base.h"

#include <string.h>

enum { WORD_MAX = 32 };

// Letters as they are compared.
static char plain(char c)
{
    if (c >= 'A' && c <= 'Z') {
        return (char)(c - 'A' + 'a');
    }
    return (char)(c == '-' || c == ' ' ? '_' : c);
}

static int min2(int a, int b)
{
    return a < b ? a : b;
}

// Dynamic programming with three rows: the current one and two before, for exchanges.
static int edit_distance(const char *a, int n, const char *b, int m)
{
    int row[3][WORD_MAX + 1];
    for (int j = 0; j <= m; j++) {
        row[0][j] = j;
    }
    for (int i = 1; i <= n; i++) {
        int *now = row[i % 3], *last = row[(i + 2) % 3], *before = row[(i + 1) % 3];
        now[0] = i;
        for (int j = 1; j <= m; j++) {
            char x = plain(a[i - 1]), y = plain(b[j - 1]);
            now[j] = min2(min2(now[j - 1], last[j]) + 1, last[j - 1] + (x != y));
            if (i > 1 && j > 1 && x == plain(b[j - 2]) && y == plain(a[i - 2])) {
                now[j] = min2(now[j], before[j - 2] + 1);
            }
        }
    }
    return row[n % 3][m];
}

const char *pp_nearest(const char *word, size_t length, const char *const *words, int count)
{
    const char *best = NULL;
    int best_distance = WORD_MAX;
    for (int k = 0; k < count; k++) {
        size_t n = words[k] ? strlen(words[k]) : 0;
        if (n == 0 || n > WORD_MAX || length == 0 || length > WORD_MAX) {
            continue;
        }
        int d = edit_distance(word, (int)length, words[k], (int)n);
        int longest = (int)(n > length ? n : length);
        // One error in three letters: a shorter word with an error is another word.
        int most = longest / 3;
        if (d <= most && d < best_distance) {
            best = words[k];
            best_distance = d;
        }
    }
    return best;
}

// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// XML seen through expat: is it well-formed, are its coordinates numbers, what does it hold.
#pragma once

#include <stdbool.h>
#include <stddef.h>

typedef struct xml {
    int elements, texts, paths;
    double width, height;  // of the root's viewBox
    double right, bottom;  // the largest x and y of lines, rectangles and circles
    char words[20000];     // character data, cut to that
    char fault[200];       // "" when all is well
} xml;

// false, with the reason in fault: not well-formed, or a coordinate that is no number.
bool xml_read(xml *x, const char *text, size_t size);
// The same from a file.
bool xml_read_file(xml *x, const char *path);

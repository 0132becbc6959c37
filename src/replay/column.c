// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Encodings of numbers in the page.
//
// Numbers are stored in as few bits as they need: times in 64, values in 32, in a coarse page
// positions as 16-bit steps of their range, unit vectors as 16-bit fractions, other values as the
// upper half of a float. viewer/ decodes them by the names in pp_cell_word.
#include "replay/column.h"

#include <math.h>
#include <string.h>

// Words of the page's format, in the order of pp_page_column_name: the viewer looks columns up by
// them.
const char *const pp_page_column_word[PP_PAGE_COLUMNS] = {
    "start",          "outline",         "corner",       "corner_end", "s.t",        "s.step",
    "s.energy",       "s.certificate",   "s.flags",      "s.solver",   "p.t",        "p.h",
    "p.position.low", "p.position.step", "p.position",   "p.rotation", "p.velocity", "p.omega",
    "p.joint",        "p.sensor",        "p.input",      "c.t",        "c.h",        "c.end",
    "c.track",        "c.point.low",     "c.point.step", "c.point",    "c.normal",   "c.values",
    "c.friction",     "c.mode",          "t.shapes",     "t.feature",  "t.mu",       "events",
};

// In the order of pp_cell_type.
const char *const pp_cell_word[] = {"f64", "f32", "b16", "q16", "n16", "u32", "u8"};

size_t pp_cell_size(pp_cell_type type)
{
    static const size_t size[] = {8, 4, 2, 2, 2, 4, 1};
    return size[type];
}

// Least significant byte first, on every machine.
static void put_little_endian(unsigned char *out, uint64_t bits, size_t size)
{
    for (size_t k = 0; k < size; k++) {
        out[k] = (unsigned char)(bits >> 8 * k);
    }
}

// The bits of a float, IEEE 754.
static uint32_t single_bits(double value)
{
    float single = (float)value;
    uint32_t bits;
    memcpy(&bits, &single, sizeof bits);
    return bits;
}

// To the nearest, within 0 to `most`; NaN becomes 0.
static uint64_t round_to_integer(double value, double most)
{
    if (!(value > 0.0)) {
        return 0;
    }
    return value < most ? (uint64_t)(value + 0.5) : (uint64_t)most;
}

// The bits of a number, in the lower bytes of the result.
static uint64_t encode_cell(pp_cell_type type, double value)
{
    uint64_t bits;
    switch (type) {
    case PP_F64:
        memcpy(&bits, &value, sizeof bits);
        return bits;
    case PP_F32:
        return single_bits(value);
    // Half a unit of the upper half is added before the lower half is cut: rounding to nearest.
    case PP_B16:
        return isfinite(value) ? (uint64_t)(single_bits(value) + 0x8000U) >> 16 : 0;
    case PP_N16: {
        double k =
            isfinite(value) ? fmax(-32767.0, fmin(32767.0, nearbyint(value * 32767.0))) : 0.0;
        return (uint64_t)(int64_t)k & 0xffffU;
    }
    case PP_Q16:
        return round_to_integer(value, 65535.0);
    case PP_U32:
        return round_to_integer(value, 4294967295.0);
    default:
        return round_to_integer(value, 255.0);
    }
}

void pp_page_column_set(pp_page_column *column, int64_t row, int i, double value)
{
    size_t size = pp_cell_size(column->type);
    put_little_endian(column->data + ((size_t)row * (size_t)column->width + (size_t)i) * size,
                      encode_cell(column->type, value), size);
}

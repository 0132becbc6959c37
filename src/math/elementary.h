// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Private to math/: tables and constants of the elementary functions, made by tools/elementary_numbers.
#pragma once

#include "math/double_double.h"

#include <stdint.h>

enum { PP_TWO_OVER_PI_WORDS = 42 };

extern const double pp_exp_table[128][2];    // 2^(j / 128): value, rest
extern const double pp_log_table[128][3];    // 1 / c, log(c), rest
extern const double pp_sine_table[52][4];    // sin(j / 64), rest, cos(j / 64), rest
extern const double pp_arctan_table[65][2];  // arctan(j / 64), rest
extern const double pp_exp_step[3], pp_log_2[2], pp_half_pi[4];
extern const pp_dd pp_dd_half_pi, pp_dd_log_2, pp_dd_per_log_2, pp_dd_per_log_10;
extern const uint32_t pp_two_over_pi[PP_TWO_OVER_PI_WORDS];

// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The clock, in place of pp_seconds of src/base (--wrap): a step asks it some twenty times, and through WASI, by way of
// memory, that was a third of the time of a small step.

__attribute__((import_module("perp"), import_name("seconds"))) double js_seconds(void);

double __wrap_pp_seconds(void);
double __wrap_pp_seconds(void)
{
    return js_seconds();
}

// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Private to assemble/: writing sparse matrices column by column.
#pragma once

#include "assemble/assemble.h"

typedef struct pp_writer {
    int *p, *i, used, columns;
    double *x;
} pp_writer;

bool pp_writer_open(pp_writer *w, int n, size_t most, pp_arena *arena);
void pp_writer_column(pp_writer *w);                      // begins the next column
void pp_writer_put(pp_writer *w, int row, double value);  // rows ascending; zeros are left out
perp_matrix pp_writer_close(pp_writer *w, int n);

// J^T of a row as entries of a column.
void pp_wrench_column(const perp_model *m, const pp_row *row, int *used, int *i, double *x);
// Block sizes of m, n, f, sigma.
void pp_posed_sizes(pp_posed *out, const pp_rows *rows);

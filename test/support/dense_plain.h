// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The dense kernels of src/math compiled once more for the plainest machine, under other names: what
// the library's clones must agree with to the last bit.
#pragma once

double plain_dot(int n, const double *x, const double *y);
void plain_axpy(int n, double a, const double *x, double *y);
void plain_gemv(int m, int n, double a, const double *A, int ld, const double *x, double *y);
void plain_gemv_t(int m, int n, double a, const double *A, int ld, const double *x, double *y);
void plain_ger(int m, int n, double a, const double *x, const double *y, double *A, int ld);
void plain_exchange(int n, double *T, int ld, int r, int c, double *u);
int plain_lu_factor(int n, double *A, int ld, int *pivot, double tiny);
void plain_lu_solve(int n, const double *LU, int ld, const int *pivot, double *x);
int plain_chol_factor(int n, double *A, int ld, double tiny);
void plain_chol_solve(int n, const double *L, int ld, double *x);

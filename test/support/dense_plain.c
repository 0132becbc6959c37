// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// See dense_plain.h. The renaming must come before any header.
#define PP_NO_CLONES

#define pp_dot                plain_dot
#define pp_axpy               plain_axpy
#define pp_norm_inf           plain_norm_inf
#define pp_norm2              plain_norm2
#define pp_all_finite         plain_all_finite
#define pp_gemv               plain_gemv
#define pp_gemv_columns       plain_gemv_columns
#define pp_gemv_t             plain_gemv_t
#define pp_exchange           plain_exchange
#define pp_ger                plain_ger
#define pp_gemm_sub           plain_gemm_sub
#define pp_gemm_sub_t         plain_gemm_sub_t
#define pp_gemm_sub_lower_t   plain_gemm_sub_lower_t
#define pp_syrk_sub           plain_syrk_sub
#define pp_lu_factor          plain_lu_factor
#define pp_lu_invert          plain_lu_invert
#define pp_lu_solve           plain_lu_solve
#define pp_lu_solve_t         plain_lu_solve_t
#define pp_chol_factor        plain_chol_factor
#define pp_chol_factor_rows   plain_chol_factor_rows
#define pp_chol_solve         plain_chol_solve
#define pp_chol_solve_back    plain_chol_solve_back
#define pp_chol_solve_forward plain_chol_solve_forward
#define pp_chol_solve_rows    plain_chol_solve_rows

#include "math/vector.c"

#include "math/dense.c"
#include "math/dense_chol.c"
#include "math/dense_gemm.c"
#include "math/dense_lu.c"

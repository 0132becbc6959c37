// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// CVODE: Adams methods with fixed-point iteration; backward differentiation formulas with a dense
// Jacobian where those fail. SUNDIALS takes its memory from malloc.
#include "hybrid/ode.h"

#ifdef PERP_WITH_SUNDIALS

#include <cvode/cvode.h>
#include <math.h>
#include <nvector/nvector_serial.h>
#include <string.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>
#include <sunnonlinsol/sunnonlinsol_fixedpoint.h>

struct pp_ode {
    int n;
    pp_ode_rate rate;
    void *user;
    double relative, absolute;
    SUNContext context;
    N_Vector y, out;
    void *mem;
    SUNNonlinearSolver fixed;
    SUNMatrix jacobian;
    SUNLinearSolver linear;
    bool stiff;
    double t, stop;      // [s] end of the last step, end of the integration
    double longest;      // [s] longest step, 0: no limit
    int64_t steps;       // since the start
    perp_status status;  // of the last failed evaluation
    const perp_env *env;
};

// Returns 1 for a recoverable failure, after which CVODE tries a shorter step, and
// -1 where no step can help.
static int rhs_callback(realtype t, N_Vector y, N_Vector y_dot, void *user)
{
    pp_ode *ode = user;
    perp_status status = ode->rate(ode->user, t, N_VGetArrayPointer(y), N_VGetArrayPointer(y_dot));
    if (status >= 0) {
        return 0;
    }
    ode->status = status;
    return pp_is_final(status) ? -1 : 1;
}

// The library never prints: SUNDIALS' messages are dropped.
static void silent(int code, const char *module, const char *function, char *message, void *user)
{
    (void)code;
    (void)module;
    (void)function;
    (void)message;
    (void)user;
}

// All that belongs to one method; vectors and context stay.
static void free_cvode(pp_ode *ode)
{
    CVodeFree(&ode->mem);
    if (ode->fixed) {
        SUNNonlinSolFree(ode->fixed);
    }
    if (ode->linear) {
        SUNLinSolFree(ode->linear);
    }
    if (ode->jacobian) {
        SUNMatDestroy(ode->jacobian);
    }
    ode->mem = NULL;
    ode->fixed = NULL;
    ode->linear = NULL;
    ode->jacobian = NULL;
}

// The nonlinear solver of Adams methods, or the linear one of BDF.
static bool attach(pp_ode *ode)
{
    if (!ode->stiff) {
        ode->fixed = SUNNonlinSol_FixedPoint(ode->y, 0, ode->context);
        return ode->fixed && CVodeSetNonlinearSolver(ode->mem, ode->fixed) == CV_SUCCESS;
    }
    // CVODE's default is Newton's method with a Jacobian by differences.
    ode->jacobian = SUNDenseMatrix(ode->n, ode->n, ode->context);
    ode->linear = ode->jacobian ? SUNLinSol_Dense(ode->y, ode->jacobian, ode->context) : NULL;
    return ode->linear && CVodeSetLinearSolver(ode->mem, ode->linear, ode->jacobian) == CV_SUCCESS;
}

// A CVODE memory for the method in use, at the present y and t. 40 failures in a step, in place of
// CVODE's 10 and 7, let steps shrink far enough at a jump of the accelerations.
static perp_status create_cvode(pp_ode *ode)
{
    free_cvode(ode);
    ode->mem = CVodeCreate(ode->stiff ? CV_BDF : CV_ADAMS, ode->context);
    bool fine = ode->mem && CVodeSetErrHandlerFn(ode->mem, silent, NULL) == CV_SUCCESS &&
                CVodeInit(ode->mem, rhs_callback, ode->t, ode->y) == CV_SUCCESS &&
                CVodeSetUserData(ode->mem, ode) == CV_SUCCESS &&
                CVodeSStolerances(ode->mem, ode->relative, ode->absolute) == CV_SUCCESS &&
                CVodeSetMaxConvFails(ode->mem, 40) == CV_SUCCESS &&
                CVodeSetMaxErrTestFails(ode->mem, 40) == CV_SUCCESS &&
                CVodeSetMaxStep(ode->mem, ode->longest) == CV_SUCCESS && attach(ode);
    return fine ? PERP_OK : PERP_ERR_MEMORY;
}

perp_status pp_ode_create(pp_ode **out, int n, pp_ode_rate rate, void *user, double relative,
                          double absolute, const perp_env *env)
{
    pp_ode *ode = pp_alloc(env, sizeof *ode);
    *out = NULL;
    if (!ode) {
        return PERP_ERR_MEMORY;
    }
    *ode = (pp_ode){
        .n = n, .rate = rate, .user = user, .relative = relative, .absolute = absolute, .env = env};
    // The CVODE memory is made at the first start, when t and y are known.
    if (SUNContext_Create(NULL, &ode->context) != 0 || !(ode->y = N_VNew_Serial(n, ode->context)) ||
        !(ode->out = N_VNew_Serial(n, ode->context))) {
        pp_ode_destroy(ode);
        return PERP_ERR_MEMORY;
    }
    *out = ode;
    return PERP_OK;
}

void pp_ode_destroy(pp_ode *ode)
{
    if (ode) {
        free_cvode(ode);
        if (ode->y) {
            N_VDestroy(ode->y);
        }
        if (ode->out) {
            N_VDestroy(ode->out);
        }
        SUNContext_Free(&ode->context);
        pp_free(ode->env, ode, sizeof *ode);
    }
}

perp_status pp_ode_limit(pp_ode *ode, double longest)
{
    // CVODE takes 0 for no limit; the bound survives a switch of the method.
    ode->longest = longest < 1e300 ? longest : 0.0;  // 0: no limit
    return CVodeSetMaxStep(ode->mem, ode->longest) == CV_SUCCESS ? PERP_OK : PERP_ERR_NUMERIC;
}

perp_status pp_ode_start(pp_ode *ode, double t, const double *y, double stop)
{
    memcpy(N_VGetArrayPointer(ode->y), y, (size_t)ode->n * sizeof *y);
    ode->t = t;
    ode->stop = stop;
    ode->steps = 0;
    // The memory of CVODE is made at the first start and used again after events, with
    // the method that was in use.
    if (!ode->mem) {
        perp_status status = create_cvode(ode);
        if (status < 0) {
            return status;
        }
    } else if (CVodeReInit(ode->mem, t, ode->y) != CV_SUCCESS) {
        return PERP_ERR_NUMERIC;
    }
    return CVodeSetStopTime(ode->mem, stop) == CV_SUCCESS ? PERP_OK : PERP_ERR_NUMERIC;
}

// Adams methods are limited by stability where the iteration fails in more than one of six steps.
static bool looks_stiff(pp_ode *ode)
{
    long int failures[1] = {0};
    if (ode->stiff || ode->steps < 60 ||
        CVodeGetNumNonlinSolvConvFails(ode->mem, failures) != CV_SUCCESS) {
        return false;
    }
    return failures[0] > ode->steps / 6;
}

// Goes on with backward differences from the present y and t.
static perp_status go_stiff(pp_ode *ode)
{
    ode->stiff = true;
    ode->steps = 0;
    perp_status status = create_cvode(ode);
    if (status < 0) {
        return status;
    }
    return CVodeSetStopTime(ode->mem, ode->stop) == CV_SUCCESS ? PERP_OK : PERP_ERR_NUMERIC;
}

perp_status pp_ode_step(pp_ode *ode, double *t0, double *t1)
{
    double t = ode->t;
    *t0 = ode->t;
    ode->status = PERP_OK;
    // The switch to backward differences is final: a machine that was stiff once will be again.
    if (looks_stiff(ode)) {
        perp_status status = go_stiff(ode);
        if (status < 0) {
            return status;
        }
    }
    // CVODE fails after many convergence or error test failures; backward
    // differences are then tried once.
    int code = CVode(ode->mem, ode->stop, ode->y, &t, CV_ONE_STEP);
    if (code < 0 && !ode->stiff && !pp_is_final(ode->status) && code != CV_MEM_FAIL) {
        perp_status status = go_stiff(ode);
        code = status < 0 ? CV_MEM_FAIL : CVode(ode->mem, ode->stop, ode->y, &t, CV_ONE_STEP);
    }
    if (code == CV_MEM_FAIL) {
        return PERP_ERR_MEMORY;
    }
    if (code < 0) {
        // The reason of the right-hand side, where that failed.
        return ode->status < 0 ? ode->status : PERP_ERR_LIMIT;
    }
    ode->steps++;
    ode->t = t;
    *t1 = t;
    return t > *t0 ? PERP_OK : PERP_ERR_LIMIT;
}

perp_status pp_ode_at(pp_ode *ode, double t, double *y)
{
    const double *from = N_VGetArrayPointer(ode->y);
    // At the end of the step y itself is exact; within the step the interpolating polynomial of
    // the method is evaluated.
    if (t != ode->t) {
        if (CVodeGetDky(ode->mem, t, 0, ode->out) != CV_SUCCESS) {
            return PERP_ERR_NUMERIC;
        }
        from = N_VGetArrayPointer(ode->out);
    }
    memcpy(y, from, (size_t)ode->n * sizeof *y);
    return PERP_OK;
}

double pp_ode_error(pp_ode *ode, int n, const double *weight)
{
    // Before the first step there is no estimate.
    if (CVodeGetEstLocalErrors(ode->mem, ode->out) != CV_SUCCESS) {
        return PP_INF;
    }
    const double *error = N_VGetArrayPointer(ode->out);
    double most = 0.0;
    for (int i = 0; i < n; i++) {
        most = fmax(most, weight[i] * fabs(error[i]));
    }
    return most;
}

bool pp_ode_stiff(const pp_ode *ode)
{
    return ode->stiff;
}

#else

perp_status pp_ode_create(pp_ode **out, int n, pp_ode_rate rate, void *user, double relative,
                          double absolute, const perp_env *env)
{
    (void)n;
    (void)rate;
    (void)user;
    (void)relative;
    (void)absolute;
    (void)env;
    *out = NULL;
    return PERP_ERR_REFUSED;
}

void pp_ode_destroy(pp_ode *ode)
{
    (void)ode;
}

perp_status pp_ode_start(pp_ode *ode, double t, const double *y, double stop)
{
    (void)ode;
    (void)t;
    (void)y;
    (void)stop;
    return PERP_ERR_REFUSED;
}

perp_status pp_ode_limit(pp_ode *ode, double longest)
{
    (void)ode;
    (void)longest;
    return PERP_ERR_REFUSED;
}

perp_status pp_ode_step(pp_ode *ode, double *t0, double *t1)
{
    (void)ode;
    (void)t0;
    (void)t1;
    return PERP_ERR_REFUSED;
}

perp_status pp_ode_at(pp_ode *ode, double t, double *y)
{
    (void)ode;
    (void)t;
    (void)y;
    return PERP_ERR_REFUSED;
}

double pp_ode_error(pp_ode *ode, int n, const double *weight)
{
    (void)ode;
    (void)n;
    (void)weight;
    return 0.0;
}

bool pp_ode_stiff(const pp_ode *ode)
{
    (void)ode;
    return false;
}

#endif

// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The outer loop of Newton's method on the modes: the choice of the proximal term alpha.    theory (S8)
//
// First with alpha = 1e-7 of the mobility, which is of the size of rounding: where the modes are those of the step
// before and redundant contacts are consistent, one or two steps end at rounding. Redundant contacts may be
// inconsistent by a small b (gaps differ by what the step before left over; sticking contacts form a ring that cannot
// quite turn). Then dp = b / alpha along the redundant directions, and such a step ruins the impulses.
//
// Few contacts then start again with an alpha that falls from 0.1 to 1e-7. Many start again with an alpha that stays
// above 1e-4 and grows after a step that did not help, so that impulses stay near those of the step before, and gaps within
// the slop count as touching (S17). Contacts that neither move nor close come first: at rest the last impulses are the
// answer, and nothing is factored (S19). Otherwise the error
// falls to the size of b in a few steps, and is accepted where it no longer falls (PP_ACCEPTED): sticking contacts
// that form rings do not have an answer to rounding. Where neither helps, central paths (modes_path.c) and convex problems
// (modes_convex.c) lead to an answer, or near one.
#include "comp/modes/modes.h"

#include <math.h>
#include <string.h>

enum {
    UNDAMPED_MAX = 12,   // steps with the least alpha
    UNDAMPED_EARLY = 4,  // of them, after which the error must be a tenth of the first
    POLISH_MAX = 3,      // such steps from an accepted answer
    REST_MAX = 10,       // steps while nothing moves
    STUCK_MOST = 4,      // steps in a row that do not change the error
    PATIENCE = 6,        // steps in a row that do not halve the least error
    HALVINGS_MOST = 1    // of a step that raises the error
};

// Speeds are relative to s->scale, the largest in play.
static const double ROUNDING = 2e-15;  // an error that cannot become less
static const double JUDGED =
    1.8;  // of what is accepted, half of what the certificate allows: a plateau
static const double ACCEPT = 1e-12;         // accepted where the next step no longer halves it
static const double ALPHA_UNDAMPED = 1e-7;  // least alpha, in units of the mobility
static const double ALPHA_MOST = 0.3;
static const double DOWN = 0.3;           // factor of alpha after a step that helped
static const double DOWN_FAST = 0.1;      // of feet, where it helped as much
static const double POLISH_BELOW = 1e-6;  // one more step with the least alpha may end at rounding
static const double ABOVE_ROUNDING = 10.0;  // an error over what rounding may add to it
static const double NEAR_REST = 1e-4;  // error of a warm start that is corrected with little change
static const double CALM = 1e-3;       // of the slop: error at which many contacts are done
static const double STUCK = 0.02;      // relative change of an error that counts as none

// A schedule of alpha.
typedef struct prox_schedule {
    double alpha_first;  // alpha, in units of the mobility; 0: by the error of the warm start
    double alpha_min;
    double shrink_below;  // alpha falls after a step that leaves less than this part of the error,
    double grow_by;       // and grows by this factor after one that doubles it
    int max_steps;        // steps
} prox_schedule;

static const prox_schedule DECREASING_ALPHA = {0.1, ALPHA_UNDAMPED, 1.0, 1.0, 40};  // few contacts
static const prox_schedule BOUNDED_ALPHA = {0.0, 1e-4, 0.5, 3.0, 40};               // many contacts

static size_t count_impulses(const pp_modes *s)
{
    size_t count = 0;
    for (int b = 0; b < s->blocks; b++) {
        count += (size_t)s->impulses[b].count;
    }
    return count;
}

static void restore_impulses(const pp_modes *s, const double *kept)
{
    for (int b = 0; b < s->blocks; b++) {
        for (int i = 0; i < s->impulses[b].count; i++) {
            s->impulses[b].p[i] = *kept++;
        }
    }
}

static void save_impulses(const pp_modes *s, double *kept)
{
    for (int b = 0; b < s->blocks; b++) {
        for (int i = 0; i < s->impulses[b].count; i++) {
            *kept++ = s->impulses[b].p[i];
        }
    }
}

// The warm start: impulses of the step before.
static void start_at_guess(pp_modes *s)
{
    restore_impulses(s, s->warm);
    // bounds may have changed with the length of the step, or with an effort
    for (int i = 0; i < s->count; i++) {
        const pp_mode_contact *c = &s->contact[i];
        if (c->boxed) {
            *c->p = pp_clamp(*c->p, c->lower, c->upper);
        }
    }
    s->factored = false;
}

// Room for all impulses before the last step; NULL: out of memory.
static double *new_impulses(const pp_modes *s)
{
    return PP_ARRAY(s->arena, double, count_impulses(s));
}

// Half of what is accepted, which is judged by projections in place of modes (obeys_laws in modes.c). Polygons have to be
// finished at a basic solution, for which no error is enough.
double pp_modes_goal(const pp_modes *s)
{
    double enough = s->basic ? 0.0 : 0.5 * PP_ACCEPTED;
    enough *= fmin(fmin(1.0, s->scale), s->speed) * s->tolerance;
    return fmax(enough, ACCEPT * s->scale);
}

// Half of what the certificate allows. Many contacts are judged at the speed of their island (K1); few come closer in nearly
// all steps.
double pp_modes_accepted(const pp_modes *s)
{
    double unit = s->by_speed ? s->speed : fmin(fmin(1.0, s->scale), s->speed);
    return PP_ACCEPTED * unit * s->tolerance;
}

// What is accepted where smaller alpha and longer paths do not lower it: of many contacts nine tenths of what the certificate
// allows.
double pp_modes_plateau(const pp_modes *s)
{
    return (s->many ? JUDGED : 1.0) * pp_modes_accepted(s);
}

double pp_modes_enough(const pp_modes *s)
{
    return fmax(0.5 * pp_modes_accepted(s), pp_modes_goal(s));
}

// The error at which steps end that no longer halve it [m/s]: few contacts go on to rounding, which their sticking contacts
// need so as not to jitter. Feet do not come there.
static double stall_error(const pp_modes *s)
{
    return s->feet || s->many ? pp_modes_goal(s) : ACCEPT * s->scale;
}

// Errors here are measured by modes, and in joint coordinates by what moves there; those of the certificate by projections and
// by bodies alone: none may pull, and a foot is light while the robot on it is not. An error that no longer falls is accepted
// where both are small.
static bool judged_as_well(pp_modes *s)
{
    s->stalled = s->stalled && s->system->obeys_laws(s);
    return s->stalled;
}

// Whether Newton's method has come to its end: at rounding, or at an error that is accepted and that the last step did
// not halve. That step may have raised it: of the two the smaller one counts, and its impulses are restored.
static bool has_converged(pp_modes *s, double goal, double error, double last, const double *kept)
{
    s->stalled = fmin(error, last) <= goal && error > 0.5 * last;
    if (error < CALM * s->slop) {
        return true;
    }
    bool rounding = error <= ROUNDING * s->scale;
    if (!s->stalled && !rounding) {
        return false;
    }
    if (error > last) {
        restore_impulses(s, kept);
    }
    return rounding || judged_as_well(s);
}

perp_status pp_modes_keep_best(pp_modes *s, double error)
{
    if (s->best && error >= s->best_error) {
        return PERP_OK;
    }
    s->best = s->best ? s->best : new_impulses(s);
    if (!s->best) {
        return PERP_ERR_MEMORY;
    }
    save_impulses(s, s->best);
    s->best_error = error;
    return PERP_OK;
}

// An iterate with an accepted error: the best one is the answer where nothing comes to rounding. On a plateau impulses drift along
// what redundant contacts share: a later iterate has to be better by half. False: out of memory.
static bool keep_candidate(pp_modes *s, double error)
{
    double accepted = s->many ? pp_modes_accepted(s) : pp_modes_enough(s);
    // polygons are finished at a basic solution, for which no error is enough
    if (s->basic || !(error <= accepted)) {
        return true;
    }
    error = s->system->judged(s, error);
    bool better = error <= accepted && !(s->best && error > 0.5 * s->best_error);
    return !better || pp_modes_keep_best(s, error) >= 0;
}

// The best candidate, where there is one.
static bool accept_best(pp_modes *s)
{
    if (!s->best) {
        return false;
    }
    restore_impulses(s, s->best);
    s->factored = false;
    s->stalled = s->best_error <= pp_modes_accepted(s);
    pp_modes_evaluate(s);
    return judged_as_well(s);
}

// K depends on alpha, and with it the factors.
static void set_alpha(pp_modes *s, double alpha)
{
    s->factored = s->factored && alpha == s->proximal;
    s->proximal = alpha;
}

// The least alpha that does no harm. Rates are known to rounding, and a step divides them by alpha: with too small a one,
// contacts that carry little would open and close by rounding alone. Few contacts do without it: they have the least alpha, and
// come to rounding.                                                                         theory (S19)
static double least_alpha(const pp_modes *s, double error)
{
    double harmless = ABOVE_ROUNDING * ROUNDING * s->scale / error;
    return s->many ? pp_clamp(harmless, ALPHA_UNDAMPED, ALPHA_MOST) : ALPHA_UNDAMPED;
}

// Contacts that neither move nor close: true where the answer is found. Gaps stay as they are, of many contacts also those
// within what is accepted, so that no contact has to close or open and redundant ones agree. What is left is a balance
// of the loads: the last impulses, or for many contacts what a few steps about them find. Bodies at rest have it bit for
// bit, since velocities that are rounding are made zero (pp_solve_whole).                   theory (S19)
static bool newton_at_rest(pp_modes *s)
{
    int most = s->slop > 0.0 ? REST_MAX : 0;
    double accepted = s->slop > 0.0 ? pp_modes_accepted(s) : 0.0;
    if (most == 0 && !s->system->may_rest(s)) {
        return false;
    }
    start_at_guess(s);
    pp_modes_use_slop(s, accepted);
    for (int k = 0;; k++) {
        double error = pp_modes_evaluate(s);
        bool still = s->system->rests(s);
        bool done = still || (k > 0 && (k == most || error <= ROUNDING * s->scale));
        if (done && error <= ACCEPT * s->scale) {
            return true;
        }
        set_alpha(s, least_alpha(s, error));
        if (k == most || (k == 0 && s->system->largest_rate(s) > accepted) || !pp_modes_step(s)) {
            return false;
        }
    }
}

// Steps with the least alpha. True: what is left is rounding, or of few contacts what is accepted. It ends early where the
// error grows beyond the first one, or after UNDAMPED_EARLY steps without a digit: then redundant contacts are
// inconsistent, and further steps only move the impulses apart.
static bool newton_undamped(pp_modes *s, double *kept)
{
    double first = PP_INF, last = PP_INF;
    bool moves = false;
    start_at_guess(s);
    for (int k = 0;; k++) {
        double error = pp_modes_evaluate(s);
        first = k == 0 ? error : first;
        if (error <= ROUNDING * s->scale || (error > 0.5 * last && error <= ACCEPT * s->scale)) {
            return true;
        }
        // feet that move do not come to rounding, and further steps would open and close what shares their load; those that
        // stand would creep by what is left
        moves = moves || (k == 0 && s->feet && s->system->largest_rate(s) > stall_error(s));
        if (moves && has_converged(s, stall_error(s), error, last, kept)) {
            return true;
        }
        // Steps that change nothing: what is left is the inconsistency of a few rows. The impulses of many contacts
        // would be left where it has moved them.
        s->stalled =
            k > 0 && !s->many && fabs(error - last) <= STUCK * last && error <= stall_error(s);
        if (judged_as_well(s)) {
            return true;
        }
        // few contacts: the last impulses may be as good as it gets
        if (k == 0 && !s->many && !keep_candidate(s, error)) {
            return false;
        }
        bool worse = k > 0 && !(error <= fmax(first, POLISH_BELOW * s->scale)),
             slow = k >= UNDAMPED_EARLY && error > 0.1 * first;
        set_alpha(s, least_alpha(s, error));
        save_impulses(s, kept);
        if (k == UNDAMPED_MAX || worse || slow || !pp_modes_step(s)) {
            return false;
        }
        last = error;
    }
}

// alpha for many contacts by how far off the warm start is: a good one must not be left, a poor one must be. Near rest a
// small alpha would exchange load between contacts that share it, and a step raises the error a hundredfold.
static double first_alpha(const pp_modes *s, double error)
{
    double part = error / s->scale;
    if (part > 1e-2) {
        return 0.1;
    }
    if (part > 1e-3) {
        return 1e-2;
    }
    return part > NEAR_REST ? 1e-3 : 0.1;
}

// The ratio of two errors decides, as in Levenberg's and Marquardt's damping.
static double next_alpha(const pp_modes *s, const prox_schedule *how, double error, double last)
{
    if (error < how->shrink_below * last) {
        double down = s->feet ? pp_clamp(error / last, DOWN_FAST, DOWN) : DOWN;
        return fmax(down * s->proximal, how->alpha_min);
    }
    return error > 2.0 * last ? fmin(how->grow_by * s->proximal, ALPHA_MOST) : s->proximal;
}

// ── Newton's steps ───────────────────────────────────────────────────────────────────────────────

// p becomes the mean of what it was before the step and what it is.
static void halve_step(const pp_modes *s, const double *kept)
{
    for (int b = 0; b < s->blocks; b++) {
        double *p = s->impulses[b].p;
        for (int i = 0; i < s->impulses[b].count; i++) {
            p[i] = 0.5 * (p[i] + *kept++);
        }
    }
}

// The error is below the tolerance: up to three steps with the least alpha, which may take it to
// rounding. A step that does not lower the error is undone.
static void polish_to_roundoff(pp_modes *s, double error, double *kept)
{
    s->proximal = ALPHA_UNDAMPED;
    s->factored = false;
    for (int k = 0; k < POLISH_MAX && error > ROUNDING * s->scale; k++) {
        save_impulses(s, kept);
        double next = pp_modes_step(s) ? pp_modes_evaluate(s) : PP_INF;
        if (!(next < error)) {
            restore_impulses(s, kept);
            return;
        }
        error = next;
    }
}

perp_status pp_modes_polish(pp_modes *s)
{
    double *kept = new_impulses(s);
    s->factored = false;
    if (!kept) {
        return PERP_ERR_MEMORY;
    }
    polish_to_roundoff(s, pp_modes_evaluate(s), kept);
    return PERP_OK;
}

// Steps by a schedule of alpha, from the impulses of the answer. *solved: what is left is rounding,
// or is below the tolerance and no longer falls. kept: room for impulses.
static perp_status newton_proximal(pp_modes *s, const prox_schedule *how, double *kept,
                                   bool *solved)
{
    double error = pp_modes_evaluate(s), last = PP_INF, least = PP_INF, goal = stall_error(s);
    s->proximal = how->alpha_first > 0.0 ? how->alpha_first : first_alpha(s, error);
    int stuck = 0, waited = 0;
    *solved = s->stalled = false;
    for (int k = 0; k < how->max_steps; k++) {
        bool halved = error < 0.5 * least;
        waited = halved ? 0 : waited + 1;
        least = halved ? error : least;
        if (stuck == STUCK_MOST || waited > PATIENCE) {
            break;
        }
        if (has_converged(s, goal, error, last, kept)) {
            polish_to_roundoff(s, fmin(error, last), kept);
            *solved = true;
            return PERP_OK;
        }
        if (!keep_candidate(s, error)) {
            return PERP_ERR_MEMORY;
        }
        save_impulses(s, kept);
        if (!(error < PP_INF) || !pp_modes_step(s)) {
            *solved = accept_best(s);
            return PERP_OK;
        }
        last = error;
        error = pp_modes_evaluate(s);
        // Two rows that change each other's mode in every step cycle without this.
        for (int half = 0; half < HALVINGS_MOST && error > last; half++) {
            halve_step(s, kept);
            error = pp_modes_evaluate(s);
        }
        stuck = fabs(error - last) < STUCK * last ? stuck + 1 : 0;
        set_alpha(s, next_alpha(s, how, error, last));
    }
    if (!keep_candidate(s, error)) {
        return PERP_ERR_MEMORY;
    }
    *solved = accept_best(s);
    if (*solved) {
        polish_to_roundoff(s, s->best_error, kept);
    }
    return PERP_OK;
}

// Where it ended and the last impulses: the better one is kept.
static void keep_better(pp_modes *s, double *kept)
{
    save_impulses(s, kept);
    double end = pp_modes_evaluate(s);
    start_at_guess(s);
    if (end < pp_modes_evaluate(s)) {
        restore_impulses(s, kept);
    }
}

// Where the last impulses are no start for Newton's method: along a central path, by convex problems from the best impulses so far
// where that does not arrive, and along the next path.
static perp_status newton_from_afar(pp_modes *s, double *kept, bool *solved)
{
    int paths = pp_modes_has_paths(s) ? PP_MODES_PATHS : 1;
    for (int which = 0; which < paths; which++) {
        perp_status status = pp_modes_path(s, which, solved);
        if (status < 0 || *solved) {
            return status;
        }
        keep_better(s, kept);
        status = pp_modes_convex(s, solved);
        if (status < 0 || *solved) {
            return status;
        }
    }
    if (s->many && s->best) {
        restore_impulses(s, s->best);
        *solved = s->stalled = s->best_error <= pp_modes_plateau(s);
    }
    return PERP_OK;
}

// From the last impulses: at rest, with the least alpha, and by a schedule of it. Few contacts rest with a slop where they do not come
// to rounding without: where gaps disagree there is no such answer but one of huge loads.
static perp_status newton_from_guess(pp_modes *s, double *kept, bool *solved)
{
    bool many = s->many;
    *solved = newton_at_rest(s);
    if (*solved) {
        return PERP_OK;
    }
    pp_modes_use_slop(s, s->slop);  // 0 of few
    *solved = newton_undamped(s, kept);
    if (*solved) {
        return PERP_OK;
    }
    if (!many) {
        s->slop = s->no_slop ? 0.0 : 0.5 * pp_modes_accepted(s);
        *solved = newton_at_rest(s);
        if (*solved) {
            return PERP_OK;
        }
        s->slop = 0.0;
        pp_modes_use_slop(s, 0.0);
        *solved = accept_best(s);
        if (*solved) {
            return PERP_OK;
        }
    }
    start_at_guess(s);
    return newton_proximal(s, many ? &BOUNDED_ALPHA : &DECREASING_ALPHA, kept, solved);
}

// Many contacts none of which was there before go along their central path at once, which loads all contacts that can share a
// load, so that later steps are short. Newton's method would stop at the first impulses that solve the problem, some of them
// nil, and rounding would open and close those contacts in later steps.
perp_status pp_modes_newton(pp_modes *s, bool *solved)
{
    bool many = s->many;
    double *kept = new_impulses(s);
    *solved = false;
    if (!kept) {
        return PERP_ERR_MEMORY;
    }
    if (!many || !s->fresh) {
        perp_status status = newton_from_guess(s, kept, solved);
        if (status < 0 || *solved) {
            return status;
        }
    }
    // With a limit on iterations the rest is for sweeps, which have an answer after each of them; polygons are finished at a
    // basic solution by the cone form.
    if (s->near) {
        return PERP_OK;
    }
    return newton_from_afar(s, kept, solved);
}

perp_status pp_modes_newton_from_answer(pp_modes *s, bool *solved)
{
    double *kept = new_impulses(s);
    s->factored = false;
    *solved = false;
    return kept ? newton_proximal(s, &BOUNDED_ALPHA, kept, solved) : PERP_ERR_MEMORY;
}

// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Private to hybrid/: a flight, the motion of the machine over one step of the user, through all events in
// it.
#pragma once

#include "hybrid/moment.h"
#include "hybrid/ode.h"

// What ended or changed: one for each condition that a mode lives by.
typedef enum pp_end_kind {
    PP_END_GAP,    // an open contact closes
    PP_END_LIMIT,  // a limit is reached
    PP_END_SLIP,   // sliding comes to rest
    PP_END_PULL,   // a closed contact or limit would pull
    PP_END_CONE,   // sticking would need more friction than there is, a motor more effort
    PP_END_LOST,   // a contact's feature has gone
} pp_end_kind;

// Impact times of two bodies, the last four.
enum { PP_IMPACT_TIMES = 4, PP_IMPACT_HISTORIES = 16 };
typedef struct pp_impact_history {
    int a, b;  // bodies
    int count;
    double t[PP_IMPACT_TIMES];
} pp_impact_history;

typedef struct pp_flight {
    const pp_machine *machine;
    pp_rims rims;  // those of the machine
    pp_hybrid_result *result;
    pp_arena *keep;     // results and holds
    pp_arena *scratch;  // one evaluation
    pp_ode *ode;
    double t, end;
    double *y;       // nq + nv
    double *q, *qd;  // in y
    double *y_try;   // for dense output
    double *other;   // nv
    pp_holds holds;
    bool stale;      // holds are those before a short step
    bool confirmed;  // the modes were an answer of the problem of modes when it was last asked
    double tol_gap, tol_rate, tol_limit;
    int events, most_events, at_once;
    double last_event;
    double margin_t, margin;  // of all conditions in the present modes, and when
    pp_impact_history impact_history[PP_IMPACT_HISTORIES];
    int impact_histories;
    int fixed;                       // holds that are always there: equations, motors, dry friction
    double burst;                    // since when events follow each other closely
    int burst_count;                 // how many
    double capture_dt, capture_end;  // the last short step [s], and where it ended
    int captured;                    // its event, -1: none
    int captures, capture_run;       // of all, and in a row
    const char *why;                 // modes do not lead on, where that is known
    pp_passage now;                  // under way
    double *weight;                  // nq: what an error of a coordinate is worth [m]
    int first;                       // of its contacts in the result
    bool empty;                      // nothing was exchanged in it so far
} pp_flight;

// The smallest of all conditions at a state, each divided by what rounding does to it: below -1 one is
// broken. ended (holds, may be NULL): which ones are at their end.                       theory (H13)
perp_status pp_flight_event_margin(pp_flight *flight, double t, const double *y, double *margin,
                                   bool *ended);
// For how long from a state no two shapes that are apart can have met or passed each other; at most horizon.
perp_status pp_flight_clear_time(pp_flight *flight, double t, const double *y, double horizon,
                                 double *clear);
// Smooth motion up to the next event, which is resolved, or the end.
enum { PP_MOST_STEPS = 200000 };  // of the integrator in one step
perp_status pp_flight_integrate_smooth(pp_flight *flight);
// Looks for the first broken condition between t0 and t1 of the last internal step; false: none.
perp_status pp_flight_locate(pp_flight *flight, double t0, double t1, double *when, bool *found);

// New modes at the present state; impacts where bodies approach. ended: holds at their end, or NULL.
perp_status pp_flight_resolve(pp_flight *flight, const bool *ended);

// Impacts of all that approaches: velocities jump, events are noted. rest: slower than this nothing bounces; short: in a
// short step, where sequences of impacts are not followed; ends (holds): true where a sequence of impacts ends, on
// return.                                                                          theory (H9), (H10)
perp_status pp_flight_resolve_impacts(pp_flight *flight, pp_holds *holds, double rest,
                                      bool in_short, bool *ends, bool *again);
// The impact speed of a bounce that would rise so little that nothing shows of it [m/s]: slower impacts do not bounce.
// Faces that meet in several points never come to rest otherwise: their bounces go on from point to point, in no steady
// sequence.
double pp_flight_bounce_speed(const pp_flight *flight);
// Events of impulses; bounces NULL: Painleve's, else ends is there. info may be NULL.
perp_status pp_flight_add_impact_events(pp_flight *flight, const pp_instant *instant,
                                        const pp_holds *holds, const double *impulse,
                                        const pp_bounces *bounces, const double *qd_new,
                                        const pp_law_info *info);
// Of holds that touch those that part are dropped; the rest are held or slide as their velocities say. ends: impacts
// that end here; at_rest: sliding that was seen to come to rest.
perp_status pp_flight_set_modes(pp_flight *flight, pp_holds *holds, const bool *ends,
                                const bool *at_rest);
// Which of them let go and which begin to slide, by accelerations. wedged: none obey the laws, by Painleve's paradox.
perp_status pp_flight_choose_modes(pp_flight *flight, pp_holds *holds, const bool *ended,
                                   bool *wedged, bool *again);

// Whether normal rates or accelerations u (rows) that are right at the points of a manifold of round faces are
// negative between them. Then the point where they are least becomes one of the manifold: all that touches is to be
// found again.                                                                           theory (H18)
perp_status pp_flight_refine_rims(pp_flight *flight, const pp_instant *instant,
                                  const pp_holds *holds, const double *u, double tolerance,
                                  bool *again);
// Where the load r (rows) of a round face comes to the edge of its manifold, the point of the rim next to it becomes one
// of the manifold.
perp_status pp_flight_follow_rims(pp_flight *flight, const pp_instant *instant,
                                  const pp_holds *holds, const double *r, bool *again);
// Rounds of that: each brings the next point close.
enum { PP_EXCHANGES = 12 };
// A hold of the list that is the same joint's or contact's; NULL: none.
const pp_hold *pp_holds_same(const pp_holds *holds, const pp_hold *hold);
// Equations, motors and dry friction as they are, then all limits and contacts at zero.
perp_status pp_flight_touching(pp_flight *flight, pp_holds *out);
// Adds limits that are reached, or as near as `reach`.
perp_status pp_flight_limits(pp_flight *flight, double t, const pp_frame *body, double reach,
                             pp_holds *out);
// A speed whose bounce is not worth following: contacts whose impacts end stay closed below it [m/s].
double pp_flight_rest_speed(const pp_flight *flight);

// A short step by impulses where modes do not lead on; the modes are then to be found anew. theory (H17)
perp_status pp_flight_capture(pp_flight *flight, const char *why);

// Adds an event at the present time.
perp_event *pp_flight_add_event(pp_flight *flight, perp_event_kind kind, const pp_hold *hold);
// True when the impacts of two bodies have become a sequence that ends before it is worth following.
bool pp_flight_zeno(pp_flight *flight, int body_a, int body_b, double speed, double *ratio,
                    double *end);

// ── What is exchanged ────────────────────────────────────────────────────────────────────────────

// Impulses of the smooth motion between t0 and t1; of what sets velocities right; and of a short step of dt with
// impulses r half way.
perp_status pp_flight_sum(pp_flight *flight, double t0, double t1);
perp_status pp_flight_sum_impact(pp_flight *flight, const pp_instant *instant,
                                 const pp_holds *holds, const double *impulse);
typedef struct pp_short_step {
    const pp_instant *moment;  // half way
    const pp_holds *holds;
    const double *r;  // impulses of its rows
    double dt;
    const double *q, *qd;  // at the end
} pp_short_step;
perp_status pp_flight_sum_short(pp_flight *flight, const pp_short_step *step);

// What a contact, hold i of a moment, gives in a time w (or 1: at once).
bool pp_flight_add_contact(pp_flight *flight, const pp_instant *instant, const pp_hold *hold, int i,
                           const double *r, double w);

// And the moment of its torsional or rolling friction, after it.
void pp_flight_add_turn(pp_flight *flight, const pp_instant *instant, const pp_hold *hold, int i,
                        const double *r, double w);
// Contacts of the passage under way are now where the moment has them.
void pp_flight_see_contacts(pp_flight *flight, const pp_instant *instant, const pp_holds *holds);

// An impact as a passage of its own; the velocities become qd.
typedef struct pp_bounce {
    pp_bounces of;
    double share;    // of the restitution that acted
    bool other_law;  // by the law that was not asked for
} pp_bounce;
perp_status pp_flight_jump(pp_flight *flight, const pp_instant *instant, const pp_holds *holds,
                           const double *impulse, const double *qd, pp_bounce bounce);
// The passage under way begins, and ends here.
perp_status pp_flight_open(pp_flight *flight);
perp_status pp_flight_close(pp_flight *flight, pp_jump jump);

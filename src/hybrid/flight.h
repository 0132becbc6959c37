// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Private to hybrid/: a flight, the motion of the machine over one step of the user,
// through all events in it.
//
// Conventions of all functions that take a flight: the state is (t, q, qd) of the flight; lists
// of holds and results are allocated in `keep`, everything else in `scratch`. A function leaves
// that as it found it, unless it is given an instant, which is in the scratch arena itself, or
// its comment says otherwise. A negative status other than PERP_ERR_MEMORY, PERP_ERR_REFUSED
// and PERP_ERR_INFEASIBLE leads to short steps (pp_flight_capture); `why` then holds the
// reason, where it is known.
#pragma once

#include "hybrid/moment.h"
#include "hybrid/ode.h"

// The last impact times of two bodies, for the detection of Zeno sequences.
enum { PP_IMPACT_TIMES = 4, PP_IMPACT_HISTORIES = 16 };
typedef struct pp_impact_history {
    int a, b;  // bodies
    int count;
    double t[PP_IMPACT_TIMES];  // [s] in order
} pp_impact_history;

typedef struct pp_flight {
    const pp_machine *machine;
    pp_rims rims;  // machine->rims points here
    pp_hybrid_result *result;
    pp_arena *keep;     // results and holds
    pp_arena *scratch;  // one evaluation
    pp_ode *ode;        // NULL: nothing can move

    // The state.
    double t, end;     // [s] now, and the end of the step
    double *y;         // nq + nv
    double *q, *qd;    // in y
    double *y_try;     // nq + nv: dense output
    double *qd_after;  // nv: rates after the next event to be added
    pp_holds holds;    // closed now, in their modes
    bool stale;        // holds are those before a short step
    bool confirmed;    // the problem of modes returned the present modes when it was last solved
    // Closed and at rest within these: [m], [m/s]; of limits relative to their scale.
    double tol_gap, tol_rate, tol_limit;

    // Conditions and events.
    double margin_t, margin;  // [s] and value of the last margin, in rounding errors
    int events, most_events;  // so far, and the bound
    double last_event;        // [s]
    int at_once;              // events at the time of the last one
    int exchange;             // of rim points at this instant, so far
    double burst;             // [s] since when events follow each other closely
    int burst_count;          // how many of them
    int bursts;               // how often in a row they did not end
    pp_impact_history impact_history[PP_IMPACT_HISTORIES];
    int impact_histories;

    // Short steps.
    double capture_dt, capture_end;  // [s] length of the last one, and its end
    int captured;                    // index of their event in the result, -1: none
    int captures, capture_run;       // calls so far, and steps in the present one
    const char *why;                 // modes failed; NULL: not known

    // Sums.
    pp_passage now;  // the passage under way
    double *weight;  // nq: [m] per unit of a coordinate's error
    double *
        unit;  // nq + nv: of the absolute tolerance, lengths and speeds relative to a small machine
    int first;   // the first contact of the passage in the result
    bool empty;  // no impulse was added to it so far
} pp_flight;

// The instant of the present state, left in the scratch arena. forces: as in pp_instant_make.
perp_status pp_flight_instant(const pp_flight *flight, const pp_holds *holds, bool forces,
                              pp_instant *out);

// ── Smooth motion ────────────────────────────────────────────────────────────────────────────────

// The smallest of all conditions at a state y, each divided by its rounding error: below -1 one is
// violated. ended (holds, may be NULL): set to true for the holds whose conditions have ended.
//                                                                                      theory (H13)
perp_status pp_flight_event_margin(pp_flight *flight, double t, const double *y, double *margin,
                                   bool *ended);
// The time from a state y, at most horizon, in which no two shapes that are apart can have
// met or passed each other.
perp_status pp_flight_clear_time(pp_flight *flight, double t, const double *y, double horizon,
                                 double *clear);
// Integrates up to the next event, which is resolved, or to the end of the step.
enum { PP_MOST_STEPS = 200000 };  // of the integrator in one step of the user
perp_status pp_flight_integrate_smooth(pp_flight *flight);
// Whether the motion has lost a closed contact in space at an instant.
bool pp_flight_strays(const pp_flight *flight, const pp_instant *instant);
// Locates the first violated condition between t0 and t1 in the last internal step.
// found: there is one, at *when.
perp_status pp_flight_locate(pp_flight *flight, double t0, double t1, double *when, bool *found);

// ── Events ───────────────────────────────────────────────────────────────────────────────────────

// Resolves an event at the present state: impacts of contacts that approach, new modes, events for
// what changed. ended (holds of the flight, or NULL): those whose conditions have ended.
//                                                                                      theory (H14)
perp_status pp_flight_resolve(pp_flight *flight, const bool *ended);

// Impacts of all contacts and limits of the list that approach: velocities jump, events are added.
// rest [m/s]: slower impacts do not bounce. in_short: within a short step, where Zeno sequences are
// not followed. ends (holds): set to true where a Zeno sequence ends. again: a rim point was added
// instead; the list has to be made anew. theory (H9), (H10)
perp_status pp_flight_resolve_impacts(pp_flight *flight, pp_holds *holds, double rest,
                                      bool in_short, bool *ends, bool *again);
// The impact speed of a bounce too low to be seen [m/s]; slower impacts do not bounce. Without
// this bound faces that meet in several points never come to rest: bounces pass from point to
// point without a steady ratio.
double pp_flight_bounce_speed(const pp_flight *flight);
// Events of the impulses at an instant. bounces: NULL for Painleve's paradox. qd_new: rates after.
// info: NULL, or the law that was used.
perp_status pp_flight_add_impact_events(pp_flight *flight, const pp_instant *instant,
                                        const pp_holds *holds, const double *impulse,
                                        const pp_bounces *bounces, const double *qd_new,
                                        const pp_law_info *info);
// Drops holds that separate and gives the others the modes of their velocities. ends: contacts
// whose Zeno sequence ends here; at_rest: sliding that was located to come to rest.
perp_status pp_flight_set_modes(pp_flight *flight, pp_holds *holds, const bool *ends,
                                const bool *at_rest);
// Modes by accelerations: drops holds that open and lets others begin to slide. ended: holds
// at the end of their modes. wedged: no accelerations obey the laws, by Painleve's paradox.
// again: a rim point was added.                                                         theory (H7)
perp_status pp_flight_choose_modes(pp_flight *flight, pp_holds *holds, const bool *ended,
                                   bool *wedged, bool *again);

// Whether normal rates or accelerations u (rows), which are admissible at the points of a manifold
// of round faces, are below -tolerance between them. Then the minimiser is added to the manifold,
// and `again` is set: contacts have to be found anew.                                  theory (H18)
perp_status pp_flight_refine_rims(pp_flight *flight, const pp_instant *instant,
                                  const pp_holds *holds, const double *u, double tolerance,
                                  bool *again);
// The same where the centre of the load r (rows) of a round face reaches the edge of its manifold:
// the point of the rim next to it is added.
perp_status pp_flight_follow_rims(pp_flight *flight, const pp_instant *instant,
                                  const pp_holds *holds, const double *r, bool *again);
// Rounds of the exchange: each brings the next point closer to the minimiser.
enum { PP_EXCHANGES = 12 };

// The hold of the list that belongs to the same joint or contact feature; NULL: none.
const pp_hold *pp_holds_same(const pp_holds *holds, const pp_hold *hold);
// Equations, motors and dry friction, then all limits and contacts that touch, in that order.
perp_status pp_flight_touching(pp_flight *flight, pp_holds *out);
// What a bound of a joint's coordinate is compared with: the length of the machine, a radian, or the
// bound itself where that is more.
double pp_flight_limit_scale(const pp_flight *flight, int joint, double bound);
// Adds the limits that are reached, or closer than `reach` [m or rad].
perp_status pp_flight_limits(pp_flight *flight, double t, const pp_frame *body, double reach,
                             pp_holds *out);
// The speed below which contacts stay closed when their impacts end, and impacts of short
// steps do not bounce [m/s].
double pp_flight_rest_speed(const pp_flight *flight);

// Short steps by impulses where modes fail; modes are then to be found anew. why:
// the reason, for the event.                                                           theory (H17)
perp_status pp_flight_capture(pp_flight *flight, const char *why);

// Adds an event at the present time, with the rates qd before it and qd_after after
// it. NULL: out of memory.
perp_event *pp_flight_add_event(pp_flight *flight, perp_event_kind kind, const pp_hold *hold);
// Records an impact of two bodies at the given approach speed [m/s]. True: their
// impacts form a Zeno sequence too low to be followed; ratio: of its last intervals,
// end: its accumulation time [s].
bool pp_flight_zeno(pp_flight *flight, int body_a, int body_b, double speed, double *ratio,
                    double *end);

// ── Sums of impulses and energies ────────────────────────────────────────────────────────────────

// Adds the impulses of the smooth motion between t0 and t1, in the last internal step. stray: the
// motion loses a contact between them, and nothing was added.                         theory (H15)
perp_status pp_flight_sum(pp_flight *flight, double t0, double t1, bool *stray);
// Adds the impulses of a jump of the velocities at an instant; leaves its
// work in the scratch arena.
perp_status pp_flight_sum_impact(pp_flight *flight, const pp_instant *instant,
                                 const pp_holds *holds, const double *impulse);
// Adds the impulses of a short step.                                                   theory (H17)
typedef struct pp_short_step {
    const pp_instant *moment;  // at its middle
    const pp_holds *holds;
    const double *r;       // impulses of its rows [N s]
    double dt;             // [s]
    const double *q, *qd;  // at its end
} pp_short_step;
perp_status pp_flight_sum_short(pp_flight *flight, const pp_short_step *step);

// Adds the impulse w r of a contact, hold i of an instant; w: a time [s], or 1 where r are
// impulses. False: out of memory.
bool pp_flight_add_contact(pp_flight *flight, const pp_instant *instant, const pp_hold *hold, int i,
                           const double *r, double w);

// The same for its torsional or rolling friction, after the contact.
void pp_flight_add_turn(pp_flight *flight, const pp_instant *instant, const pp_hold *hold, int i,
                        const double *r, double w);
// Updates the geometry of the contacts in the passage under way to that of an instant.
void pp_flight_see_contacts(pp_flight *flight, const pp_instant *instant, const pp_holds *holds);

// An impact as a passage of its own, after which the rates are qd.
typedef struct pp_bounce {
    pp_bounces of;
    double share;    // of the restitution that acted
    bool other_law;  // Poisson's in place of Newton's, or the other way round
} pp_bounce;
perp_status pp_flight_jump(pp_flight *flight, const pp_instant *instant, const pp_holds *holds,
                           const double *impulse, const double *qd, pp_bounce bounce);
// The sums of the passage under way as they are, in the scratch arena; and as they were, after
// impulses were added that do not belong to the motion.
typedef struct pp_sums_kept {
    pp_passage now;
    pp_contact_sum *contact;  // from flight->first on
    perp_wrench *held;
    int contacts, redundant;
    bool empty;
} pp_sums_kept;
perp_status pp_flight_keep_sums(const pp_flight *flight, pp_sums_kept *out);
void pp_flight_restore_sums(pp_flight *flight, const pp_sums_kept *kept);
// Begins the next passage; ends the one under way at the present state, and begins the next.
perp_status pp_flight_open(pp_flight *flight);
perp_status pp_flight_close(pp_flight *flight, pp_jump jump);

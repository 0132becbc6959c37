// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Door of sim/: a model in motion.
#pragma once

#include "certify/certify.h"
#include "hybrid/hybrid.h"
#include "integrate/integrate.h"
#include "sim/step/kept.h"
#include "solve/solve.h"

#include <stdatomic.h>

// A round of the implicit step: its contacts and rows, and the answer to them.
typedef struct pp_round {
    pp_gaps gap;
    pp_rows row;
    pp_answer answer;
} pp_round;

// What a step leaves behind, readable until the next one, also after a failure.
typedef struct pp_step {
    pp_kinematics kin;
    pp_gaps gap;
    pp_rows row;
    pp_tree_pass tree;  // joint coordinates: where the step starts
    pp_coordinates in;
    pp_answer answer;
    pp_inertia *mass_l;  // theta method in space: masses and impulses of forces at the start, while
    double *push_l;      // kin has those of (S9)
    pp_contact *acted;   // theta method in space: gap's contacts where they act; NULL: as found
    bool limits;         // all limits of joints are in the problem, since one was crossed
    bool locked;         // friction locks contacts: overlaps and drifts are not worked off
    bool lock_failed;    // and there was no answer without them either
    bool stay;           // contacts are taken as found, since the middle was not found otherwise
    double middle_size;  // of those velocities
    double middle_off;   // theta method: how far its middle is from that of the step found [m/s]
    pp_poses middle;     // theta method: where the rows of joints are taken; no frames: at kin
    double *bend;        // nb: in the biases of joints for bodies that turn; NULL: nothing is
    pp_poses end;        // where the step ends
    const double *end_q;  // coordinates of the tree there
    pp_frame *end_body;   // the frames of end, which are found again while positions are
    double h;             // length of the step, once its end is known [s]
    // Implicit step: contacts of the start while `gap` has those of the end; the round before, whose impulses a solve
    // starts from (NULL: those of the last step do); share of the restitution that acts
    pp_gaps gap_l;
    const pp_round *last;
    bool *stays;  // bodies of islands whose answer holds where the step ends
    double restitution_share;
    double reach;    // how far contacts of the start were looked for [m]
    double closes;   // what speeds could close then [m]
    bool bounces;    // an impact is among the rows
    bool inelastic;  // restitution that contacts were given does not act
    bool at_end;     // rows were taken where the step ends,
    bool unsettled;  // and do not hold there,
    bool flips;      // with other contacts in each round
    bool
        drifts;  // overlaps stay that the rows do not take back: a closing follows      theory (K8)
    bool solved;
} pp_step;

// Contacts where the last step ended, as the certificate saw them: the next one begins there.
typedef struct pp_contact_cache {
    pp_arena *arena[2];  // of the last step's end, and of its start
    int current;         // which is that of the end
    pp_gaps gaps;
    double reach;          // as far as was looked [m]
    double closes;         // and of pairs whose margins are smaller [m]
    const double *travel;  // bodies
    const double *push;    // bodies, with travel
    double span;           // of the speeds of its pairs [s]
    bool valid;            // of the state as it is
    pp_aims_seen aims;     // axes of the last step that began there,
    int aims_at;           // and the arena that they are in
} pp_contact_cache;

// Impulses of the last step's contacts, to start the next one from.
typedef struct pp_warm {
    int a, b;
    uint32_t feature;
    int listed;  // contact of the model, -1: found
    int count;   // friction rows
    int locked;  // friction locks it: 1, else 0; saved states have no padding
    double pn, pt[5];
    double hold[3];   // what a sticking contact left behind, in the world [m]         theory (P17)
    double point[3];  // where it was, in the frame of b's body [m]
} pp_warm;

enum { PP_WARM_JOINT = 4 };  // motor, dry friction, two limits

// Numbers of warm_rows.
static inline size_t pp_warm_rows(const perp_model *m)
{
    return PP_WARM_JOINT * (size_t)m->joints + (size_t)m->actuators;
}

// What makes a part of a step be divided again.
typedef enum pp_parts_stop {
    PP_PARTS_ALL,     // impacts that follow each other, and what forces it
    PP_PARTS_FORCED,  // no answer, or something is let through
    PP_PARTS_NONE,    // nothing: what is left goes without restitution
} pp_parts_stop;

// Sums over the parts of a step that was divided.
typedef struct pp_parts_sum {
    pp_parts_stop stop;
    bool done;            // the last step was divided, and this is what it left
    int count, contacts;  // parts, contacts
    pp_arena *arena;      // NULL: no step was divided yet
    perp_contact *contact;
    perp_joint_state *joint;             // joints: their impulses
    perp_wrench *driven;                 // bodies
    double judged_at, judged_h, judged;  // the last attempt's start, length, worst share of a limit
    double created, created_of;  // energy of parts in which nothing pushed [J], and of its limit
} pp_parts_sum;

// Times are multiples of the step, not sums of it: t = start + count h as long as h is the same, so that rounding does
// not pile up over the steps of a run.
typedef struct pp_step_clock {
    double start, h;  // h 0: no step since the state was set
    double window;  // time within which what the last steps left open is closed [s]   theory (P22)
    int64_t count;
} pp_step_clock;

// A step that ended where it began (repeat.c).
typedef struct pp_repeat {
    bool stays;  // the last step ended with the bits that it began with, and the next one will
    double h;    // the length of that step [s]
    char *
        impulses;  // copy of warm_rows and warm where positions and velocities stayed the same, in heap memory,
    size_t size, capacity;  // of this many bytes; size 0: none
} pp_repeat;

// Inputs and the controls of actuators. Over a step they are constant.
typedef struct pp_controls {
    double *input;         // inputs: as they are held
    double *taken;         // inputs: 1 where the caller set it, which takes the place of its source
    double *filter;        // actuators: filtered control at the end of the last step
    double *end;           // actuators: the same at the end of the step under way
    double *mean;          // actuators: control over the step
    double *before;        // copies of input and taken at the start of a step, for one that fails
    double *impulse;       // actuators: of the last step, along their joints [N s, N m s]
    double *variable;      // t, and q and dq of joints: of sources
    bool *watched;         // joints: a source uses its coordinate or rate
    perp_wrench *applied;  // bodies: copies of what was applied before on_control; NULL: without it
    pp_drive drive;        // the same as the stages see it
    bool any;              // there are inputs or actuators
} pp_controls;

// What the sim has differently from the model it was given. Lists are in heap memory that grows.
typedef struct pp_changes {
    perp_model *own;  // the model of the sim with its changes; NULL: nothing was changed yet
    pp_change *list, *before, *acted;
    int count, room;
    int acted_count;  // of `acted`: what held in the last step, for recordings
    int kept;         // of the list at the start of a step that calls on_control: `before` has them
} pp_changes;

// What sensors need of a step. Both members have a copy for the last step and one for the step under way, so that a step
// that fails changes nothing.
typedef struct pp_sensing {
    double *sum[2];  // impulses that the means of sensors come from, in the order of their values
    pp_frame *start[2];  // bodies where the step started
    int last;            // which of the two is of the last step
    double h;            // length of the last step [s]; 0: none since the state was set
    double before;       // h when the step under way began
} pp_sensing;

// Which stage runs, and since when, by pp_seconds().
typedef struct pp_stage_clock {
    perp_stage stage;
    double since;
} pp_stage_clock;

// Why a step ends early.
typedef enum pp_stop_reason {
    PP_STOP_NONE,
    PP_STOP_ASKED,  // perp_env.stop
    PP_STOP_LATE,   // the time limit of the step
} pp_stop_reason;

// The services of the host as the sim has them, and what its own add (stop.c).
typedef struct pp_host {
    perp_env env;
    double deadline;     // of the whole step, by pp_seconds(); 0: none
    atomic_int stopped;  // pp_stop_reason; stays until the step ends
} pp_host;

// Estimated errors of the motion (accurate.c).                                          theory (I8)
typedef struct pp_accuracy {
    perp_sim *twin;    // takes trial steps; NULL: no errors are estimated
    perp_sim *shadow;  // goes along with half the steps
    bool begins;       // the shadow is to start from the sim
    bool unknown;      // the shadow could not follow
    double sum;        // errors of the parts of the step [m]
    double whole;  // of twin and shadow: length of the step that theirs are parts of [s]; else 0
    void *start;   // of the shadow, saved where the step began
    size_t size;
} pp_accuracy;

// A sim owns all its memory. `memory` holds what lives as long as the sim, `arena` what a step makes, `contact_cache` the
// contacts of two ends of steps; lists that grow are on the heap.
struct perp_sim {
    pp_host host;
    perp_env env;  // of everything that lives no longer than the sim; the host's own is in `host`
    const perp_model *model;  // with the changes of this sim
    const perp_model *given;  // as it was created
    pp_changes changes;
    perp_sim_def def;
    char solver[16];   // def.solver's copy
    pp_arena *memory;  // lives as long as the sim
    pp_arena *arena;   // of the step; reset at its start
    perp_workspace *work;
    pp_ldl *ldl_joints;    // factorisation of the closed joints
    pp_ldl *ldl_contacts;  // of the bodies in contact
    pp_islands *islands;
    pp_team team;
    pp_tree *tree;  // joint coordinates; NULL: bodies
    int *named;     // def.tree, for a tree of joints that a sim of bodies is asked about
    int named_count;
    char why[120];  // PERP_COORDINATES_AUTO: the reason of its choice; otherwise ""
    // a step reads now and writes next; pp_sim_commit swaps them
    pp_state now, next;
    pp_step_clock clock;  // now.t is its time
    pp_controls controls;
    pp_sensing sensing;
    bool stepping;                   // a step is under way: callbacks may not begin another
    uint64_t placed;                 // states that the caller has set, restored or reset to
    perp_wrench *applied;            // bodies
    perp_wrench *pushed;             // bodies: what was applied in the last step
    perp_body refused;               // was given a wrench that is not finite; -1: none
    pp_frame *frames;                // of `now`
    const pp_judged_shapes *shapes;  // of the model, for the certificate; NULL: not needed yet
    pp_judged_end *judged_end;       // what it found at the end of the last step; NULL: no step yet
    pp_step step;
    pp_contact_cache contact_cache;
    pp_gap_memory *gap_memory;  // NULL: not needed yet
    pp_repeat repeat;
    pp_warm *warm;  // of the last step, in heap memory that grows
    double *
        warm_rows;  // the same of limits and boxed rows: PP_WARM_JOINT of each joint, one of each actuator
    int warm_count, warm_capacity, contact_count, contact_capacity;
    perp_contact *contacts;
    perp_step_info info;
    pp_stage_clock charged;
    double whole;  // length of the step, of which a part may be under way [s]
    double pace;   // time over which it closes what is open: whole, or more after longer steps [s]
    pp_parts_sum parts;
    pp_stored_parts kept;
    double worked;    // on the step so far, parts that were given up included, in factorisations
    double deadline;  // of the step's solvers, by pp_seconds(); 0: none
    bool projected;   // the state was moved to fit, as the remark says; until the next step
    bool
        lock_all,  // the next attempt of a step has no corrections of overlaps and drifts  theory (P20)
        unfit;  // a start that was kept as given still overlaps, is open or past a limit: positions are closed by parts
    perp_error error;
    pp_accuracy accurate;
    pp_arena *scratch;       // PERP_STEPPER_EVENT: of one evaluation
    pp_hybrid_result flown;  // PERP_STEPPER_EVENT: the last step
};

// What was set from outside makes the next step another one (repeat.c); and the memory.
void pp_sim_repeat_forget(perp_sim *sim);
void pp_sim_repeat_free(perp_sim *sim);

// Stopping (stop.c). pp_host_begin: the services to use in place of the host's, which refer to *host. The limit of time
// counts from pp_sim_stop_begin to pp_sim_stop_end. pp_sim_stopped: PERP_OK, or why the step has to end, with a remark.
perp_env pp_host_begin(pp_host *host, const perp_env *env, double max_seconds);
void pp_sim_stop_begin(perp_sim *sim);
void pp_sim_stop_end(perp_sim *sim);
perp_status pp_sim_stopped(perp_sim *sim);

// Inputs and actuators (control.c): memory for them, false: none left; their values over a step that begins here; what
// a finished step leaves; and what they were before one that failed.
bool pp_sim_controls_create(perp_sim *sim);
perp_status pp_sim_controls_begin(perp_sim *sim, double h);
void pp_sim_controls_end(perp_sim *sim, bool done);

// Estimated errors (accurate.c): the twin, where the sim has an accuracy; no error so far.
perp_status pp_sim_twin_create(perp_sim *sim, perp_error *error);
void pp_sim_twin_destroy(perp_sim *sim);
void pp_sim_forget_error(perp_sim *sim);

// Changes of the model by this sim (change.c): what a step that fails takes back; a list from a saved state, which is
// copied, false: no memory and nothing changed; and the memory.
void pp_sim_changes_begin(perp_sim *sim);
void pp_sim_changes_undo(perp_sim *sim);
void pp_sim_changes_done(perp_sim *sim);
perp_status pp_sim_changes_check(const perp_sim *sim, const pp_change *list, int count);
bool pp_sim_changes_set(perp_sim *sim, const pp_change *list, int count);
void pp_sim_changes_free(perp_sim *sim);

// Sensors (sensor.c): memory for them, false: none left; a step begins; a part of it is about to be committed; it ends.
bool pp_sim_sensors_create(perp_sim *sim);
void pp_sim_sensors_begin(perp_sim *sim);
void pp_sim_sensors_add(perp_sim *sim);
void pp_sim_sensors_end(perp_sim *sim, bool done);

// The time at the end of a step of length h from here; when that step is taken, and when the time is set.  (state.c)
double pp_sim_time_after(const perp_sim *sim, double h);
void pp_sim_step_clock_advance(perp_sim *sim, double h);
void pp_sim_step_clock_set(perp_sim *sim);
// Coordinates of all joints as the frames have them, each in the turn nearest to at->turn.
void pp_sim_follow_turns(const perp_model *model, const pp_poses *at, double *turn);
// Turns start over from what the frames show.
void pp_sim_reset_turns(perp_sim *sim);
// Turns as they are, of bodies that were moved a little; and those of the model's initial state.
void pp_sim_keep_turns(perp_sim *sim);
void pp_sim_initial_turns(perp_sim *sim);
// After a state was set: nothing is left of the steps before it, and bodies are on the tree.
perp_status pp_sim_accept_state(perp_sim *sim);
// perp_sim_state_restore, also while a step is under way.
perp_status pp_sim_state_restore(perp_sim *sim, const void *block, size_t size);
// The initial state of the model, or one of its keyframes, before it is corrected (keyframe.c).
perp_status pp_sim_start_at(perp_sim *sim, int keyframe, perp_error *error);
// Removes overlaps, open joints and crossed limits of the start, unless it is to stay as given.
perp_status pp_sim_fit_start(perp_sim *sim, perp_error *error);

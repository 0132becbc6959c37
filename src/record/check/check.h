// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Judging a recording again: the model from the scene's text, states and impulses from the frames.
#pragma once

#include "record/load.h"
#include "sim/sim.h"

enum { PP_WHERE_MAX = 200 };

// A frame being judged, with the one before it.
typedef struct pp_recheck {
    const perp_recording_info *info;
    const perp_recording *recording;
    const perp_model *model;  // NULL: the recording has no scene. With the changes of the step
    const perp_model *scene;  // the model of the scene
    perp_model *own;          // its copy, where the caller changed parameters
    uint64_t changes;         // a hash of those of the step; 0: none
    bool changed;             // they are others than those of the frame before
    pp_arena *arena;          // of the step
    perp_check *check;
    char (*where)[PP_WHERE_MAX];          // text of each item
    perp_snapshot frame_read, part_read;  // the frame and the part that were read last
    const perp_snapshot *now;             // the one of them that is judged
    double t0, h;                         // of the frame before; what lies between
    double last;                          // the last step before this frame [s]
    double whole;   // the step that this is a part of, or a longer one before it
    double window;  // time within which what earlier steps left is closed [s]
    int part;       // which, -1: it is whole
    bool
        closed;  // positions are exact where it ends, by a closing or without one                theory (I9)
    bool
        phases;  // of some step the two phases of Poisson's law would be needed, and sums are recorded
    bool unfit;  // no step before has ended without what the start overlapped, or was open, by
    double
        share;  // of a start as given: part of the step that a closing belongs to; 0: it closes all    theory (K8)
    bool at_end;  // this is the last frame: its last step may be shorter than the others
    int64_t step0;
    perp_energy energy0;
    const perp_wrench *applied;  // bodies: by the caller, in this step
    const double *q0, *nu0;      // the state before
    const double *turn0;         // joints: their coordinates then
    const double *turn;          // and now, which show how often an axis went around
    const double *nu;            // velocities after the step
    pp_frame *before, *after;    // bodies at both times
    const pp_frame *coming;      // before, with the velocities that bodies come to contacts with
    const pp_frame
        *carried;  // the end of the implicit step with these velocities; NULL: nothing bounces
    pp_frame *
        acting;  // where the joints act: before, the middle of the theta method, the end of the implicit step
    const pp_frame *
        found;  // where contacts, drives and surfaces are taken: before, or the end of the implicit step
    double found_t;        // when [s]
    pp_kinematics kin;     // of the step
    const double *start;   // velocities it starts from: nu0, or none when quasistatic
    perp_wrench *impulse;  // bodies: of contacts and joints together, about their origins
    double *spring;        // joints: impulse of the spring and the rotor on their coordinate
    double *actuated;      // joints: impulse of their actuators, as the laws of these have it
    double *missed;        // joints: by how much that may be off
    double *input, *filter, *control;  // of the step: inputs, actuators
    pp_drive drive;                    // the same
    double *load;                      // bodies: sum of the sizes of impulses on them [N s]
    double arm;                        // longest of the joints [m]
    double created, created_of;        // energy of the parts of a step so far [J], and of its limit
    // bodies: energy that closing may give, to one of the two that it moves: contacts and limits; joints [J]
    double *given, *joined;
    const int *groups;  // bodies that joints and forces connect, where there is a model,
    double *gains;      // and what the scheme gave them so far                    theory (K18)
    pp_scales scales;   // of the step, where there is a model
    double set[PERP_CHECK_COUNT];  // limits that were set, 0: relative
} pp_recheck;

// Holds a value against its limit, an absolute one where it was set, and keeps the worst of an
// item; `at` and `with` name where it was seen, `with` may be "".
void pp_check_record_worst(pp_recheck *c, perp_check_item item, double value, double limit,
                           const char *at, const char *with);
// What rates, impulses and energies of two bodies are held against.
typedef struct pp_check_scale {
    double rate, impulse, energy;  // [m/s], [N s], [J]
} pp_check_scale;
// Share of the masses in the step. Quasistatic steps keep a billionth, so that what nothing holds has a velocity.
double pp_check_share(const pp_recheck *c);
// `impulse` is that of the contact or joint itself: what is held against it may be wrong by a part
// of it.
pp_check_scale pp_check_scale_of(const pp_recheck *c, int body_a, int body_b, double impulse);
// The larger of two errors; a NaN is larger than any number, so that it is never lost.
static inline double pp_check_worse(double a, double b)
{
    return !(b <= a) ? b : a;
}

// The velocities of a body, nu + its place, as a twist: the ones that it does not have are zero.
static inline perp_twist pp_check_twist(const pp_body *body, const double *nu)
{
    double all[PP_BODY_NV] = {0.0};
    for (int k = 0; k < body->nv; k++) {
        all[body->axis[k]] = nu[k];
    }
    return (perp_twist){{all[0], all[1], all[2]}, {all[3], all[4], all[5]}};
}

// Contacts, joints and their directions are those where the step ends. A start that was kept as given is worked off with
// those of the start, as in the linear step.                                            theory (I1), (K8)
static inline bool pp_check_at_end(const pp_recheck *c)
{
    return c->info->stepper == PERP_STEPPER_IMPLICIT && !c->unfit;
}

// The recording has every step: c->found is where the recorded contacts were found.
static inline bool pp_check_each_step(const pp_recheck *c)
{
    return c->model && c->info->every == 1;
}

// Belts and driven bodies move what they touch: their speeds are scales.
void pp_check_add_surface(pp_recheck *c, const perp_contact *contact);
// Bodies where a recorded contact acts: as it was found, or the middle of the theta method where it is found
// there.
const pp_frame *pp_check_acting(const pp_recheck *c, const perp_contact *contact);

// ── What a frame shows by itself (check_frame.c) ─────────────────────────────────────────────────
perp_status pp_check_places(pp_recheck *c);
perp_status pp_check_path(pp_recheck *c);  // gaps, joints
void pp_check_contacts(pp_recheck *c);     // pull, push, close, cone, slip
// Impulses may complement this rate only: 0 <= p, 0 <= rate, p rate = 0. `rate` is the one after
// the step, `before` that at its start; NaN: the recording does not show it.
double pp_check_complementarity(const pp_recheck *c, double p, double value, double rate,
                                double before, double restitution, double rest, double push);

// ── What two frames one step apart show (check_step.c) ───────────────────────────────────────────
perp_status pp_check_motion(pp_recheck *c);
perp_status pp_check_balance(pp_recheck *c);  // momentum, energy, and what joints may do
void pp_check_add_at(perp_wrench *w, const pp_frame *body, double sign, perp_vec3 p, perp_vec3 at);
// Velocity of a body at the end of the step, a driven one's at its start, as the step's problem has
// it.
perp_twist pp_check_velocity(const pp_recheck *c, int body);
perp_twist pp_check_contact_velocity(const pp_recheck *c, int body);  // as contacts know it
typedef perp_twist pp_check_velocities(const pp_recheck *, int body);
double pp_check_power(const perp_wrench *w, const perp_twist *v);
// Velocity of b's surface minus a's beyond the bodies' own, at a contact point.
perp_vec3 pp_check_surface(const pp_recheck *c, const perp_contact *contact);

// Of two bodies the one whose accounts have what both of them share: one that is free, or 0.
static inline int pp_check_account(const pp_recheck *c, int a, int b)
{
    int free_one = c->model->body[b].nv > 0 ? b : a;
    return c->model->body[free_one].nv > 0 ? free_one : 0;
}

double pp_check_energy_at(const pp_recheck *c, const pp_frame *body, double t, const double *turn);
// Energy that appears in the step, beyond the work it records and what the order of the scheme may add.
perp_status pp_check_energy(pp_recheck *c);

// ── What two frames show with events between them (check_event.c) ────────────────────────────────
perp_status pp_check_event(pp_recheck *c);
// The balance of momentum of an impact, in which nothing moves and no force has time to act
// (check_step.c).
perp_status pp_check_impact(pp_recheck *c);
// Sums over bodies and joints, at zero (check_step.c). False: no memory.
bool pp_check_start_sums(pp_recheck *c);

// ── A closing of the theta method (check_close.c) ────────────────────────────────────────────────
perp_status pp_check_closing(pp_recheck *c);

// ── Friction (check_friction.c) ──────────────────────────────────────────────────────────────────
// What the scene says of two shapes; *is_listed: it lists their contact.
pp_pair_rule pp_check_law(const perp_model *m, int a, int b, bool *is_listed);
// Impulse beyond the cone; and what the moments and the sliding friction should have taken and did
// not, where they move faster than `still`.
void pp_check_friction(const pp_recheck *c, const perp_contact *contact, double still,
                       double *beyond, double *short_of);

// ── Joints: what their impulses do, and may (check_joint.c) ──────────────────────────────────────
// Adds the recorded impulse of a joint to c->impulse, and what closing it may give: a drift that the order of the scheme
// explains.
void pp_check_add_joint(pp_recheck *c, int index);
void pp_check_joints(pp_recheck *c);  // drives, limits
// Adds what the law of an actuator gives to c->actuated, and holds the recorded impulse against it. slack: by
// which it may miss the law.
void pp_check_actuator(pp_recheck *c, int actuator, double p, double slack);
// What a joint's drive loses to bodies that it brings to its rate within the step [J]; *lag: more what
// constant ones of them, and dry friction, have behind the velocities, as gravity has.
//                                                                                      theory (K13)
double pp_check_jerk(const pp_recheck *c, int index, double theta, double *lag);
double pp_check_reactions(const pp_recheck *c, int index);
perp_status pp_check_joint_rates(pp_recheck *c);
// What the equations of joints give to bodies in the step, and take.                   theory (K18)
void pp_check_joint_gains(const pp_recheck *c, pp_gains_step *step);
// All of it, and the sums over the steps so far (check_gains.c). Of a closing, in which bodies move and velocities do not.
bool pp_check_gains(pp_recheck *c);
bool pp_check_gains_of_closing(pp_recheck *c);

// ── What is recorded besides states and impulses (check_record.c) ────────────────────────────────
void pp_check_recorded(pp_recheck *c);
void pp_check_recorded_sensors(pp_recheck *c);    // of steps that are not in parts (check_sensor.c)
void pp_check_recorded_actuators(pp_recheck *c);  // of whole steps, in parts or not

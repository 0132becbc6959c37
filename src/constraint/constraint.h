// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Door of constraint/: every joint, drive, limit and contact as rows of W^T.
//
// A row is a scalar rate, w = sum_k J_k nu_k + rate + bias (+ gamma p), and the impulse p that goes
// with it acts on the bodies as J_k^T p.                                                theory (P2)
#pragma once

#include "gap/gap.h"

#include <perp/sim.h>

#include <stddef.h>
#include <string.h>

enum { PP_ROW_BODIES = PP_COUPLING_BODIES };  // a joint moves two, a contact two, a gear four
// Most rows have the blocks of two bodies: what all rows have stands before them, so that it lies in the same lines of a cache.
typedef struct pp_row {
    int count;  // bodies touched that are free
    int body[PP_ROW_BODIES];
    int joint, force;     // that it belongs to, implicit spring that it is; -1: none
    int actuator;         // that it is; -1: none
    double value;         // phi or psi at the start of the step [m, rad]
    double rate;          // what driven bodies, given motions and moving surfaces add [m/s, rad/s]
    double shift;         // of `rate`: what a contact's way within the step adds, no motion   (S12)
    double bias;          // what the scheme adds: phi/h, psi/h, restitution, spring [m/s, rad/s]
    double gamma;         // compliance [m/s per N s]
    double lower, upper;  // of the impulse [N s, N m s]
    double v_pre;         // J nu + rate at the start of the step [m/s, rad/s]
    double restitution;
    double
        bounce_threshold;  // [m/s] slower than this it does not bounce: what gravity gives in two steps
    double rebound;        // of what bounces: rate that its own approach leaves with (P14)
    bool drives;           // target, rate or dry friction of the joint's coordinate
    bool stabilised;       // target or rate whose error decays: no condition on the state  (A10)
    bool spring;           // implicit spring or damper: keeps its energy
    bool bounces;          // closes in the step, faster than what rests: an impact with restitution
    bool middle;  // an equation of the theta method: acts in the middle, holds at the end   (S11)
    double J[PP_ROW_BODIES][PP_BODY_NV];
} pp_row;

// Copies a row; of its blocks those that it has.
static inline void pp_row_copy(pp_row *to, const pp_row *from)
{
    memcpy(to, from, offsetof(pp_row, J));
    for (int i = 0; i < from->count; i++) {
        for (int k = 0; k < PP_BODY_NV; k++) {
            to->J[i][k] = from->J[i][k];
        }
    }
}

// Whether two rows have the same J, as drives and friction along one coordinate have.
static inline bool pp_row_has_same_gradient(const pp_row *a, const pp_row *b)
{
    size_t count = (size_t)a->count;
    return a->joint == b->joint && a->joint >= 0 && a->count == b->count &&
           memcmp(a->body, b->body, count * sizeof *a->body) == 0 &&
           memcmp(a->J, b->J, count * sizeof *a->J) == 0;
}

// Friction rows that share a limit: |p| <= mu p_n over one row (the plane, torsion) or two (sliding in
// space, rolling).
typedef enum pp_friction_kind { PP_SLIDE, PP_SPIN, PP_ROLL } pp_friction_kind;

enum { PP_FRICTION_GROUPS = 3 };  // most of a contact

typedef struct pp_friction {
    pp_friction_kind kind;
    int n;           // its normal row
    int t, size;     // its friction rows
    int facets;      // polygon of so many directions in place of the disc; 0: the disc
    int directions;  // in the forms MCP and LCP: 2 for one row
    double mu;       // [-], or [m] for moments
    double stretch;  // sliding in space: by which the row along o is scaled, mu_2 / mu; 1 otherwise
} pp_friction;

typedef struct pp_rows {
    int nb, nm, nn, nt, nc, ng, nf, nfar;
    pp_row *b;  // nb bilateral: joints, targets, rates, implicit springs
    pp_row *m;  // nm boxed: drives and actuators with limited effort, dry friction of joints
    pp_row *n;  // nn unilateral: nc contacts that are in the problem, then joint limits
    pp_row *t;  // nt friction rows: of a contact t, o, then moments about n, and about t and o
    // nfar joints with limits that the step is not expected to reach: rows of their coordinates, with the ways that are
    // left as bounds [m, rad]
    pp_row *far;
    pp_friction *group;  // ng, in the order of their rows; nf: all their directions
    int *contact;        // nc: index in pp_gaps
    int *friction;       // nn: first group of the contact, -1: frictionless
    int *grouped;        // nn: how many
} pp_rows;

// The two phases of Poisson's impact: what compression left, and the normal impulse it gives back.
typedef struct pp_impact {
    const double *nu, *pn, *pt;
    const double *back;  // nn
} pp_impact;

// How a stepper writes its rows.
typedef struct pp_scheme {
    perp_stepper stepper;
    perp_friction_law friction;
    perp_impact_law impact;
    int facets;    // directions of an exact disc in the forms MCP and LCP
    double theta;  // PERP_STEPPER_MOREAU_JEAN
    double whole;  // the step that this is a part of [s]; 0: it is whole
    bool rates;    // errors of position are worked off elsewhere: rows ask for rates alone
    bool limits;   // all limits of joints are in the problem, however far
    // joints: x'' of stabilised coordinates where the step starts, while bodies keep their velocities [m/s^2, rad/s^2];
    // NULL: there are none
    const double *drift;
    // PERP_STEPPER_IMPLICIT: rows are taken at an iterate of the end of the step, which kin has with the velocities that
    // lead there. start: where the step starts; carried: the iterate with the velocities of the start. NULL: rows of the
    // start, with which the iteration begins                                            theory (I2)
    const pp_poses *start, *carried;
} pp_scheme;

// Whether velocities nu carry a coordinate past a limit that is not in the problem.    theory (P19)
bool pp_rows_cross_far_limit(const perp_model *model, const pp_rows *rows, const double *nu,
                             double h);

// phi_i(q) of every bilateral row at the poses [m, rad]; 0 for rates and springs.
void pp_bilateral_phi(const perp_model *model, const pp_poses *at, const pp_rows *rows,
                      double *value);

// Second-order term (phi(q + h nu) - phi(q) - h J nu) / h of every bilateral row [m/s, rad/s], with bodies that turn
// by nu (NULL: by their own): exact for rows that hold points of bodies together, 0 for others.
//                                                                                       theory (S6)
void pp_bilateral_curvature(const perp_model *model, const pp_poses *at, double h,
                            const pp_rows *rows, const double *nu, double *value);

// joints: where the rows of joints are taken: &kin->poses, or the middle of the step for PERP_STEPPER_MOREAU_JEAN.
// team: NULL for one thread.
perp_status pp_rows_run(pp_rows *out, const perp_model *model, const pp_kinematics *kin,
                        const pp_poses *joints, const pp_gaps *gaps, pp_scheme scheme,
                        const pp_team *team, pp_arena *arena);

// Rows of contact n of `rows` as they are at other poses and with the geometry of `c` (point, n, t): its normal
// row, then its friction rows; of each J and rate. Returns how many.
enum { PP_CONTACT_ROWS = 6 };
int pp_contact_rows_at(const perp_model *model, const pp_poses *at, const pp_contact *c,
                       const pp_rows *rows, int n, pp_row out[PP_CONTACT_ROWS]);

// The first of the joint's rows among row[from..count), which are in the order of joints, springs last; where
// there is none, a row of another joint or count.
int pp_rows_of_joint(const pp_row *row, int from, int count, int joint);
// row += s times another row.
void pp_row_combine(pp_row *row, double s, const pp_row *other);
// J nu + rate of a row for velocities nu.
double pp_row_rate(const perp_model *model, const pp_row *row, const double *nu);
// nu += s M^-1 J^T, or p += s J^T when mass is NULL.
void pp_row_add(const perp_model *model, const pp_row *row, double s, const pp_inertia *mass,
                double *nu);
// J M^-1 p_ext: what the forces add to the rate of a row.
double pp_row_force_rate(const perp_model *m, const pp_kinematics *kin, const pp_row *row);
// J M^-1 J^T of a row that names no body twice: what a unit impulse does to its own rate.
double pp_row_mobility(const perp_model *model, const pp_inertia *mass, const pp_row *row);
// J_a M^-1 J_b^T of two rows: what an impulse along b does to the rate of a.
double pp_row_coupling(const perp_model *model, const pp_inertia *mass, const pp_row *a,
                       const pp_row *b);
// Sliding in space where friction differs along t and o: both rows are scaled so that one disc holds for
// them, whose coefficient is returned.                                                  theory (S4)
double pp_friction_scales(const pp_contact *contact, double scale[2]);
// Rates of a group's rows with their biases.
void pp_friction_slip(const perp_model *model, const pp_rows *rows, const pp_friction *group,
                      const double *nu, double slip[2]);
// The nearest impulse within the limit: of one row, of the disc, or of a polygon in its place.
void pp_friction_project(const pp_friction *group, bool polygons, double limit, double p[2]);
// Whether two coefficients of sliding friction bound its impulses by an ellipse, which its rows make a disc.
bool pp_friction_is_elliptic(const pp_friction *group, bool polygons);
// The natural map of a group's impulses and rates [m/s, rad/s], with the mobility of its unscaled rows: how far p is from the law.
double pp_friction_error(const pp_friction *group, bool polygons, double limit, double mobility,
                         const double p[2], const double slip[2]);
// sup -d . slip over the unit disc or polygon: what a sliding contact dissipates per unit of limit.
double pp_friction_support(const pp_friction *group, bool polygons, const double slip[2]);
// Direction j of a group in the plane of its rows: (1, 0), (-1, 0) for one row.
void pp_friction_direction(const pp_friction *group, int j, double d[2]);

// p as a combination of the directions of a group with nothing negative, of the one or two next to it;
// returns the sum.
double pp_friction_split(const pp_friction *group, const double *p, double *part);

enum { PP_JOINT_EQUATIONS = 6 };

// Rows of a joint's own equations phi (value, J, rate), without bias; returns how many.
int pp_joint_equations(const perp_model *model, const pp_poses *at, int joint,
                       pp_row row[PP_JOINT_EQUATIONS]);
// Coordinate of a joint and its rate row (value, J, rate), without bias. Gears, welds and spherical joints have none.
void pp_joint_coordinate(const perp_model *model, const pp_poses *at, int joint, pp_row *row);
// Its value alone; of a joint without a coordinate 0.
double pp_joint_coordinate_value(const perp_model *model, const pp_poses *at, int joint);
// How far the coordinate is beyond its limits, 0 within them [m, rad].
double pp_joint_limit_violation(const perp_model *model, const pp_poses *at, int joint);
// Energy in the springs of joint coordinates [J].
double pp_joint_energy(const perp_model *model, const pp_poses *at);
// Kinetic energy of the rotors geared to joint coordinates [J].                          theory (A3)
double pp_rotor_energy(const perp_model *model, const pp_poses *at);
bool pp_joint_has_coordinate(const pp_joint *joint);
// Worst |phi| of a joint's own equations [m, rad].
double pp_joint_error(const perp_model *model, const pp_poses *at, int joint);

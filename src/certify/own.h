// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Private to certify/: rows of joints, drives, limits and springs, and the impulse of the forces, written a second time from the
// equations; so are points and velocities of bodies, friction and mobilities. Nothing of the folders that made the step is
// called (tools/check_layers): only types are shared, pp_row among them, which is how both sides are written down.
//
// A scalar of a joint is a function of vectors that are fixed in its bodies: anchors p, and axes e. With its gradients by
// them, g_p and g_e, virtual power gives the row of either body without a derivation for each kind of joint:
//
//   force g_p,   moment (p - o) x g_p + sum e x g_e                                       theory (K12)
#pragma once

#include "certify/certify.h"

// World position of a point fixed in a body, and the velocity of the point of a body that is at a world position.
static inline perp_vec3 pp_own_point(const pp_frame *f, perp_vec3 r_B)
{
    return pp_add(f->p, pp_mul(&f->R, r_B));
}

static inline perp_vec3 pp_own_velocity(const pp_frame *f, perp_vec3 at)
{
    return pp_add(f->v, pp_cross(f->w, pp_sub(at, f->p)));
}

// The nearest friction impulse within a limit: of one row, of the disc, or of the polygon of the group's directions (law.c).
void pp_own_project(const pp_friction *group, bool polygons, double limit, double p[2]);
// Change of the relative velocity along d at a contact by a unit impulse along it; moment: of the relative rotation about d.
// 1 where nothing can move.
double pp_own_mobility(const pp_step_evidence *e, const pp_contact *c, perp_vec3 d, bool moment);

// The equations of a joint where the bodies are: value, J, rate, and the rate `before` with the velocities of the frames.
// turn: coordinates of joints when last seen; NULL: angles between -pi and pi. Returns how many.
int pp_own_equations(const perp_model *m, const pp_frame *body, const double *turn, int joint,
                     pp_row row[PP_JOINT_EQUATIONS]);
// The coordinate of a joint likewise; false: it has none.
bool pp_own_coordinate(const perp_model *m, const pp_frame *body, const double *turn, int joint,
                       pp_row *row);
// A row that measures how far two points of bodies are apart along d, and one of a relative turn about d.
void pp_own_start(pp_row *row);
void pp_own_add(const perp_model *m, const pp_frame *body, int i, perp_vec3 f, perp_vec3 tau,
                pp_row *row);

// All rows of the step but those of contacts, in the places that the impulses have; *same: they are the rows that the
// problem had, as far as their number and kind go.
perp_status pp_own_rows(pp_rows *own, bool *same, const pp_step_evidence *e, pp_arena *arena);

// Wrenches of a force of the scene on its bodies at the start of the step, about their origins [N, N m].
void pp_own_force(const pp_step_evidence *e, const pp_force *f, perp_wrench *on_a,
                  perp_wrench *on_b);
// nv: impulse of gravity, explicit forces, what is applied, and of bodies that spin.     theory (P1), (S2)
double *pp_own_push(const pp_step_evidence *e, pp_arena *arena);

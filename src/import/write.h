// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The text of a scene as it is written from a robot.
#pragma once

#include "format/format.h"
#include "import/robot.h"

enum { PP_SCENE_NAME_MOST = 60 };

typedef struct pp_robot_writer {
    pp_robot *robot;
    pp_import_report *report;
    perp_error *error;
    pp_text t;
    perp_status status;
    const double *q, *v, *ctrl;  // the start; ctrl NULL: none
    const double *q0;            // qpos = ref, and the poses there
    pp_pose *pose0;
    pp_pose *pose, *after;     // of bodies; of frames after each joint
    perp_twist *twist;         // after each joint
    perp_twist *body_twist;    // of the frames of bodies
    pp_robot_mass *group;      // by root body, in its frame
    pp_pose *frame;            // of the scene's bodies, by root body
    const char **body_name;    // in the scene, by root body
    const char **joint_name;   // in the scene
    const char **tendon_name;  // in the scene; NULL: the tendon is not in it
    const char **stage_name;   // of the massless body after a joint
    bool *alone;               // body: the only one with shapes in its group
    bool *moves_mass;          // root body: it, or a body that it carries, has mass
    pp_robot names;            // tables of the names in the scene
    bool weightless;           // some body has gravity compensation
    int ignored;               // pairs of shapes that were tried
    const char *separator;     // before the next object of a list
} pp_robot_writer;

// ── What all parts share (write.c) ───────────────────────────────────────────────────────────────

void pp_write_memory(pp_robot_writer *w);
// A name for the scene. Names have at most 60 bytes, and braces or dots could mean something else.
const char *pp_write_name(pp_robot_writer *w, pp_robot_list list, const char *name);
void pp_write_unused(pp_robot_writer *w, const pp_xml *at, const char *what, const char *why);
bool pp_robot_collides(const pp_robot_geom *geom);
// "key": [ ... ], with the objects on lines of their own.
void pp_write_open(pp_robot_writer *w, const char *key);
void pp_write_next(pp_robot_writer *w, const char *name);
void pp_write_close(pp_robot_writer *w);

// ── Parts ────────────────────────────────────────────────────────────────────────────────────────

// Geoms of each group of bodies as a list, in the order of the file; those that do not collide are left out. Their
// names become those of the scene.
bool pp_write_sort_shapes(pp_robot_writer *w, int **first, int **next);
void pp_write_shapes(pp_robot_writer *w, int root, const int *first, const int *next);
// Shapes that are only shown, of all bodies.
void pp_write_visuals(pp_robot_writer *w);
void pp_write_friction(pp_robot_writer *w, const double *friction, int condim);
void pp_write_body(pp_robot_writer *w, int i, const int *first, const int *next);
void pp_write_joint(pp_robot_writer *w, int j);
// Whether a body that is kept is fixed to the ground; else it is welded to the one that carries it.
bool pp_write_still(const pp_robot *robot, int i);
void pp_write_weld(pp_robot_writer *w, int i);
bool pp_write_ball_damps(const pp_robot_writer *w, int j);
void pp_write_keyframes(pp_robot_writer *w);
void pp_write_link(pp_robot_writer *w, const pp_robot_equality *equality);
void pp_write_coupling(pp_robot_writer *w, const pp_robot_equality *equality);
void pp_write_tendon(pp_robot_writer *w, int k);
void pp_write_actuators(pp_robot_writer *w);
// Before the sites are written: some sensors bring sites of their own.
void pp_write_prepare_sensors(pp_robot_writer *w);
void pp_write_sites(pp_robot_writer *w);
// The name of a site in the scene.
const char *pp_write_site_name(pp_robot_writer *w, int k);
void pp_write_sensors(pp_robot_writer *w);
void pp_write_excludes(pp_robot_writer *w);
void pp_write_pair(pp_robot_writer *w, const pp_robot_pair *pair);
void pp_write_ignored(pp_robot_writer *w, const pp_robot_exclude *exclude, const int *first,
                      const int *next);

// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The reader of MJCF, MuJoCo's model format.
//
// Includes are put in place first (mjcf_include.c). Then the sections are read in MuJoCo's order: compiler and
// option, defaults (mjcf_value.c), assets (mjcf_mesh.c), bodies (mjcf_body.c), and the rest (mjcf_actuator.c,
// mjcf_other.c). An error sticks: after the first one, readers return at once with harmless values.
#pragma once

#include "import/files.h"
#include "import/robot.h"

// A class of defaults: elements of <default>, in the order of the file.
typedef struct pp_mjcf_class {
    const char *name;
    struct pp_mjcf_class *parent, *next;
    pp_xml **element;
    int elements, room;
} pp_mjcf_class;

// What a model can switch off.
typedef enum pp_mjcf_flag {
    PP_OFF_CONSTRAINT,
    PP_OFF_EQUALITY,
    PP_OFF_FRICTION,
    PP_OFF_LIMIT,
    PP_OFF_CONTACT,
    PP_OFF_PASSIVE,
    PP_OFF_SPRING,
    PP_OFF_DAMPER,
    PP_OFF_GRAVITY,
    PP_OFF_CLAMP,
    PP_OFF_ACTUATION,
    PP_OFF_FILTER_PARENT,
    PP_MJCF_FLAGS,
} pp_mjcf_flag;

typedef struct pp_mjcf {
    pp_arena *arena;
    pp_robot *robot;
    pp_import_report *report;
    pp_import_files *files;
    perp_error *error;
    perp_status status;  // of the first error
    pp_mjcf_class *classes, *main;
    int class_count, default_count;
    // <compiler>
    bool degree, autolimits, balance;
    char eulerseq[4];
    int from_geom;  // inertiafromgeom: 0 false, 1 true, 2 auto
    int group_low, group_high;
    double total_mass, bound_mass, bound_inertia;
    const char *mesh_dir;
    bool strip_path;
    // <option><flag>
    bool off[PP_MJCF_FLAGS];
    int64_t shown;       // vertices and triangles of meshes that are only shown
    int objects;         // bodies, joints, geoms and sites, copies included
    const char *suffix;  // of names in copies
    // Of a model that is attached to another
    const char *prefix;    // of its names
    const char *folder;    // of its file, relative to that of the main one; "": the same
    int depth;             // models around it
    pp_xml *root;          // its own tree
    struct pp_mjcf *part;  // first model that is attached to it, in the order of the file
    struct pp_mjcf *last, *next;
    int joint0, joints;  // its joints in the list of the robot
    int actuator0;       // its first actuator
} pp_mjcf;

// An element with the class from which it takes what it does not say itself. kind: the name of its defaults.
typedef struct pp_mjcf_view {
    pp_mjcf *m;
    pp_xml *at;
    const pp_mjcf_class *class;
    const char *kind;
} pp_mjcf_view;

// Fails at the element; the first failure counts.
void pp_mjcf_fail(pp_mjcf *m, const pp_xml *at, const char *format, ...) PP_FORMAT(3, 4);
void pp_mjcf_memory(pp_mjcf *m);

// ── Values (mjcf_value.c) ────────────────────────────────────────────────────────────────────────

void pp_mjcf_defaults(pp_mjcf *m, pp_xml *root);
// The view of an element. outer: the class of its surroundings; NULL: main.
pp_mjcf_view pp_mjcf_look(pp_mjcf *m, pp_xml *at, const char *kind, const pp_mjcf_class *outer);
pp_mjcf_class *pp_mjcf_class_named(pp_mjcf *m, const pp_xml *at, const char *name);

// The value of an attribute, of the element itself or of its defaults; NULL: none. All of these count as seen.
const char *pp_mjcf_text(const pp_mjcf_view *v, const char *name);
// Whether the element itself has it.
bool pp_mjcf_own(const pp_mjcf_view *v, const char *name);
double pp_mjcf_real(const pp_mjcf_view *v, const char *name, double otherwise);
int pp_mjcf_int(const pp_mjcf_view *v, const char *name, int low, int high, int otherwise);
// low to high numbers; returns how many, 0: the attribute is absent, and x stays as it was.
int pp_mjcf_reals(const pp_mjcf_view *v, const char *name, int low, int high, double *x);
// A number that may be followed by the higher terms of a polynomial, which are reported and not used.
double pp_mjcf_linear(const pp_mjcf_view *v, const char *name);
perp_vec3 pp_mjcf_vec3(const pp_mjcf_view *v, const char *name, perp_vec3 otherwise);
// The index of the value among the words, separated by blanks.
int pp_mjcf_word(const pp_mjcf_view *v, const char *name, const char *words, int otherwise);
// A range with its "limited" attribute: true, false or auto.
pp_robot_range pp_mjcf_range(const pp_mjcf_view *v, const char *range, const char *limited,
                             double scale);
// The orientation, in any of its spellings; false: none is given.
bool pp_mjcf_turn(const pp_mjcf_view *v, perp_quat *quat);
// The shortest rotation that takes z to the direction.
perp_quat pp_mjcf_z_to(perp_vec3 direction);
double pp_mjcf_angle(const pp_mjcf *m, double value);  // in radians
// The name with the prefix of an attached model.
const char *pp_mjcf_full_name(pp_mjcf *m, const char *name);
// The name in the list, entered into the table of names; unnamed objects get the given word and number. Duplicate
// names are an error.
const char *pp_mjcf_name(const pp_mjcf_view *v, pp_robot_list list, int index, const char *word);
// The object that an attribute names; -1: absent. An unknown name is an error.
int pp_mjcf_refer(const pp_mjcf_view *v, const char *name, pp_robot_list list);

// ── Sections ─────────────────────────────────────────────────────────────────────────────────────

void pp_mjcf_include(pp_mjcf *m, pp_xml *root);
void pp_mjcf_meshes(pp_mjcf *m, pp_xml *root);
// Reads the file of the mesh, once; a file that does not exist marks it as missing.
void pp_mjcf_mesh_load(pp_mjcf *m, int k);
void pp_mjcf_hfields(pp_mjcf *m, pp_xml *root);
// The same of a mesh that is only shown: whatever is wrong with its file marks it as missing.
void pp_mjcf_mesh_show(pp_mjcf *m, int k);
void pp_mjcf_materials(pp_mjcf *m, pp_xml *root);
void pp_mjcf_bodies(pp_mjcf *m, pp_xml *root);
// Reads <compiler>, defaults and assets of the model below root.
void pp_mjcf_settings(pp_mjcf *m, pp_xml *root);
// Reads the model of an <attach> element; NULL on failure. Its bodies are read by the caller, its other sections later.
pp_mjcf *pp_mjcf_attach(pp_mjcf *m, pp_xml *at);
void pp_mjcf_tendons(pp_mjcf *m, pp_xml *root);
void pp_mjcf_actuators(pp_mjcf *m, pp_xml *root);
void pp_mjcf_others(pp_mjcf *m, pp_xml *root);

perp_status pp_mjcf_read(pp_xml *root, pp_import_files *files, pp_import_report *report,
                         pp_robot *robot, perp_error *error);

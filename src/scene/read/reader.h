// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Private to scene/: objects of a scene file as tables of fields, and the reader that fills
// definitions from them. A key that is in no table is an error, so that the tables define the
// format. scenes/scene.schema.json says the same (test/scene/schema_test.c compares them).
#pragma once

#include "scene/scene.h"

typedef struct json_t json_t;  // scene/read/json_tree.h

// ── Tables ───────────────────────────────────────────────────────────────────────────────────────

// What a value may be, and how it is stored. Lengths are halved where the definition has half
// lengths.
typedef enum pp_field_kind {
    PP_FIELD_NUMBER,
    PP_FIELD_POSITIVE,
    PP_FIELD_NONNEGATIVE,
    PP_FIELD_FRACTION,    // 0..1
    PP_FIELD_EFFORT,      // >= 0 or "inf"
    PP_FIELD_BOUND,       // number, angle, "inf", "-inf"
    PP_FIELD_ANGLE,       // radians, or "30 deg"
    PP_FIELD_AXIS,        // angle, or direction [x, y]
    PP_FIELD_VECTOR,      // [x, y], in space [x, y, z], into a perp_vec3
    PP_FIELD_SIZE,        // [width, height] > 0, in space [x, y, z], stored as half of it
    PP_FIELD_LENGTH,      // > 0, stored as half of it in the x, in space z, of a perp_vec3
    PP_FIELD_VERTICES,    // [[x, y], …] into vertices and vertex_count of a perp_shape_def
    PP_FIELD_MOTION,      // number, expression of t, or table
    PP_FIELD_EXPRESSION,  // the same of t x y angle vx vy omega and of inputs
    PP_FIELD_SIGNAL,      // the same of t and of inputs
    PP_FIELD_SOURCE,      // the same of t, of inputs before it, and of q[…] and dq[…] of joints
    PP_FIELD_RANGE,       // a number e >= 0, for [-e, e], or [lower, upper], into two doubles
    PP_FIELD_TRIPLE,      // three numbers into a double[3]
    PP_FIELD_TEXT,
    PP_FIELD_FLAG,
    PP_FIELD_CHOICE,
    PP_FIELD_SOLVER,
    PP_FIELD_BODY,
    PP_FIELD_SHAPE,
    PP_FIELD_JOINT,
    // Of space (value_space.c):
    PP_FIELD_DIRECTION,  // [x, y, z], not zero
    PP_FIELD_ROTATION,   // unit quaternion [w, x, y, z], or {"axis": […], "angle": …}
    PP_FIELD_INERTIA,    // 3 or 6 numbers into a double[6]
    PP_FIELD_RADII,      // three numbers > 0
    PP_FIELD_AREA,       // [x, y] > 0, stored as half of it
    PP_FIELD_THREADS,    // a whole number from 0 to 256
    PP_FIELD_COUNT,      // a whole number, 0 or more
    PP_FIELD_FACETS,     // 0, or a whole number from 3 to 256
    PP_FIELD_SURFACE,    // three motions into a perp_shape_def
    PP_FIELD_POINTS,     // [[x, y, z], …] into vertices and vertex_count of a perp_shape_def
    PP_FIELD_TRIANGLES,  // [[a, b, c], …] into triangles and triangle_count of one
    PP_FIELD_HEIGHTS,    // rows of numbers into heights, grid_x and grid_y of one
    PP_FIELD_FILE,       // of an STL or OBJ file, into vertices and triangles of one
    PP_FIELD_GROUPS,     // a whole number below 2^32, or names of groups, into a uint32_t
    PP_FIELD_PRIORITY,   // a whole number of 32 bits
    PP_FIELD_COLOUR,     // "#rrggbb"
    PP_FIELD_OTHER,      // read by code of its own
} pp_field_kind;

// Scenes that have a field.
enum { PP_PLANE = 1, PP_SPACE = 2 };

typedef struct pp_choice {
    const char *word;  // NULL ends the list
    int value;
} pp_choice;

// A key of an object. The same key may occur twice in a table, for kinds that store it differently.
typedef struct pp_field {
    const char *key;
    pp_field_kind kind;
    size_t offset;             // in the definition
    unsigned owners, needed;   // bit k: objects of kind k have it, must have it; owners 0: all
    const char *unit;          // "kg", or NULL
    const pp_choice *choices;  // PP_FIELD_CHOICE: these words,
    const char *(*word)(int);  // or word(0), word(1), … for 0, 1, …
    int space;                 // PP_PLANE, PP_SPACE; 0: both
    const char *in_space;      // PP_PLANE: what to write in space
} pp_field;

// A kind of object in the file.
typedef struct pp_object {
    const char *what;           // "body"
    const char *list;           // "bodies": the array it stands in
    const pp_choice *kinds[2];  // words of "kind" in the plane, in space; NULL: has none
    int kind;                   // when "kind" is absent; -1: it must be there
    const pp_field *field;      // "kind" is not among them
    int count;
} pp_object;

extern const pp_object pp_scene_object, pp_limits_object, pp_body_object, pp_drive_object,
    pp_shape_object, pp_contact_object, pp_pair_object, pp_joint_object, pp_force_object,
    pp_input_object, pp_actuator_object, pp_table_object, pp_points_object, pp_rotation_object;

// ── Definitions beyond the public ones ───────────────────────────────────────────────────────────

// Everything at the top of a scene that is not a list.
// step, until and interval are in seconds.
typedef struct pp_settings {
    perp_sim_def sim;
    double step, until, interval;
    perp_vec3 gravity;
    bool listed_only;
    const char *name, *description;
} pp_settings;

typedef struct pp_turn_input {  // {"axis": […], "angle": …}
    perp_vec3 axis;
    double angle;
} pp_turn_input;

// A joint as a scene writes it: `at` in place of two anchors, `collide` as a flag.
typedef struct pp_joint_input {
    perp_joint_def def;
    perp_vec3 at;
    bool collide;
} pp_joint_input;

// ── The reader (reader.c) ────────────────────────────────────────────────────────────────────────

// What later objects need to know of shapes and bodies that were read.
typedef struct pp_known_shape {
    const char *name;  // "body.shape", or "shape" of the ground
    const char *own;   // "shape"
    int body;
} pp_known_shape;

// The ground is body 0 and has the name "ground".
typedef struct pp_known_body {
    const char *name;
    perp_body_def def;  // for its place at t = 0
} pp_known_body;

// Names that are taken, in a hash table, with the number of the object that has each.
typedef struct pp_names {
    const char **name;
    int *slot, slots;  // number + 1, found by hashing; 0: free
} pp_names;

enum { PP_GROUPS_MOST = 32 };  // bits of a group
enum { PP_PATH_MAX = 12 };     // no object of the format is nested deeper

// path and depth lead from the root to the value being read; messages find line and column by them.
typedef struct pp_reader {
    bool spatial;           // the scene is one of space
    const char *path_name;  // of the scene file: files it names are found beside it
    const perp_scene_load_options *reading;
    perp_scene *scene;  // keeps the files
    const char *text;   // without comments
    size_t size;
    const perp_env *env;
    perp_error *error;
    pp_arena *arena;  // scratch
    perp_builder *builder;
    pp_json_step path[PP_PATH_MAX];
    int depth;
    char object[120];  // the object being read, for messages: "body 'block'"
    pp_known_body *body;
    pp_known_shape *shape;
    const char **joint;
    const char **input;         // names of the inputs that were read
    const char **source_names;  // t, then q[…] and dq[…] of the joints; NULL until these are read
    int bodies, shapes, joints, inputs;
    pp_names body_names, shape_names, joint_names;
    const char *group[PP_GROUPS_MOST];  // names of the bits of groups and masks
    int groups;
} pp_reader;

// Room for `most` names; false: no memory.
bool pp_names_open(pp_names *names, size_t most, pp_arena *arena);
int pp_names_find(const pp_names *names, const char *name);  // -1: not taken
void pp_names_add(pp_names *names, const char *name, int number);

// Fails with a message at the place that the path leads to, after the name of the object.
perp_status pp_reader_fail(pp_reader *r, const char *format, ...) PP_FORMAT(2, 3);
// The same at a column (from 1) within the string that the path leads to.
perp_status pp_reader_fail_inside(pp_reader *r, int column, const char *format, ...)
    PP_FORMAT(3, 4);
perp_status pp_reader_memory(pp_reader *r);
// "must be …, not …" about the value that the path leads to.
perp_status pp_reader_refuse(pp_reader *r, const char *key, const char *due, const json_t *value);
void pp_reader_enter(pp_reader *r, const char *key, int index);  // key NULL: element
void pp_reader_leave(pp_reader *r);
char *pp_reader_text(pp_reader *r, size_t size);  // scratch for a text; NULL: out of memory

// Value of "kind" of an object, or its default (0 where the object has no kinds).
perp_status pp_reader_kind(pp_reader *r, const pp_object *object, const json_t *json, int *kind);
// Reads all fields of an object into its definition. *seen gets bit k for field k of the table. The
// path leads to the object.
perp_status pp_reader_fields(pp_reader *r, const pp_object *object, int kind, const json_t *json,
                             void *def, uint64_t *seen);
bool pp_reader_saw(const pp_object *object, uint64_t seen, const char *key);
// Reads one value, to which the path leads (value.c).
perp_status pp_reader_value(pp_reader *r, const pp_field *field, const json_t *value, void *to);
// "must be a number > 0 [kg], not -1".
perp_status pp_reader_refuse_number(pp_reader *r, const pp_field *field, const char *due,
                                    const json_t *value);
bool pp_reader_angle(const json_t *value, double *to);
bool pp_reader_numbers(const json_t *value, int count, double *to);    // exactly so many
bool pp_reader_vector(const json_t *value, int count, perp_vec3 *to);  // two or three
perp_status pp_reader_motion(pp_reader *r, const pp_field *field, const json_t *value,
                             const char **to);
// The kinds of space (value_space.c).
perp_status pp_reader_value_space(pp_reader *r, const pp_field *field, const json_t *value,
                                  void *to);
// The triangles of a file that the scene names, in scratch; the scene keeps the file (files.c).
perp_status pp_reader_mesh(pp_reader *r, const char *name, pp_mesh_file *mesh);
// Largest text or file that is read [bytes].
size_t pp_reading_most(const perp_scene_load_options *reading);
// The words of a list as "a, b or c".
void pp_reader_words(const pp_choice *choices, char *text, size_t size);

// "limits" and "tree" of a scene; the latter names joints, which are read before (settings.c).
perp_status pp_reader_limits(pp_reader *r, const json_t *root, perp_limits *limits);
perp_status pp_reader_tree(pp_reader *r, const json_t *root, perp_sim_def *sim);
// "groups", the names of bits, which shapes use; and "exclude", pairs of bodies (groups.c).
perp_status pp_reader_groups(pp_reader *r, const json_t *root);
perp_status pp_reader_exclusions(pp_reader *r, const json_t *root);
// Values of shapes: bits by number or name, a priority, a colour (groups.c).
perp_status pp_reader_bits(pp_reader *r, const pp_field *field, const json_t *value, uint32_t *to);
perp_status pp_reader_priority(pp_reader *r, const pp_field *field, const json_t *value,
                               int32_t *to);
perp_status pp_reader_colour(pp_reader *r, const pp_field *field, const json_t *value, int32_t *to);

// Reads the whole file into settings and the builder (build.c).
perp_status pp_reader_run(pp_reader *r, const json_t *root, pp_settings *settings);

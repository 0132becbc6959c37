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
    PP_FIELD_THETA,       // 0.5..1
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
    PP_FIELD_COORDINATE,  // the same of t and of q[…] of joints before it
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
    PP_FIELD_ACTUATOR,
    PP_FIELD_SITE,
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
    pp_shape_object, pp_visual_object, pp_contact_object, pp_pair_object, pp_joint_object,
    pp_force_object, pp_input_object, pp_actuator_object, pp_site_object, pp_sensor_object,
    pp_table_object, pp_points_object, pp_rotation_object, pp_replicate_object, pp_include_object,
    pp_assembly_object, pp_keyframe_object, pp_keyframe_joint_object, pp_keyframe_body_object;

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

typedef struct pp_replicate_input {  // {"count": 20, "index": "i"}
    int count;
    const char *index;
} pp_replicate_input;

// An included file or an assembly: the pose of its frame, and what names in it begin with.
typedef struct pp_part_input {
    const char *prefix;
    perp_vec3 position;
    double angle;
    perp_quat rotation;
} pp_part_input;

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
enum {
    PP_PATH_MAX = 48,     // no object of the format is nested deeper
    PP_NEST_MAX = 12,     // files and assemblies within each other
    PP_INDICES_MAX = 12,  // indices of replicate in force at a place
    PP_SUFFIX_MAX = 80,
};

// Numbers that a scene knows by name while it is read: parameters, then indices.
typedef struct pp_constants {
    const char **name;
    double *value;
    bool *derived;  // from constants before it
    int count, room;
} pp_constants;

// A file that is included, read once.
typedef struct pp_part {
    const char *name;   // relative to the folder of the scene
    const char *plain;  // the same without detours such as a/../b
    const char *text;   // without comments
    size_t size;
    const json_t *root;
    const struct pp_part *next;
} pp_part;

// Where the objects being read are: the scene, an included file, or an assembly. Scopes are on the C
// stack.
typedef struct pp_scope {
    const struct pp_scope *outer;
    const char *prefix;   // of all names, with those of outer scopes
    bool placed;          // the pose is not the identity
    perp_vec3 position;   // of the frame in the world
    double angle;         // in the plane
    perp_quat rotation;   // in space
    const pp_part *part;  // of the file; NULL: the scene
    // The place of the include in the outer file; depth 0: an assembly, which is in the same file.
    pp_json_step path[PP_PATH_MAX];
    int depth;
} pp_scope;

// Objects of a scene, counted before anything is read: arrays and tables of names get their final
// size.
typedef struct pp_counts {
    size_t bodies, shapes, visuals, joints, inputs, actuators, sites;
} pp_counts;

// Reads one object of a list. index: its number in the list, with copies; owner: the body whose
// shapes are read.
struct pp_reader;
typedef perp_status pp_read_object(struct pp_reader *r, const json_t *json, int index, int owner);

// path and depth lead from the root of the file to the value being read; messages find line and
// column by them.
typedef struct pp_reader {
    bool spatial;           // the scene is one of space
    const char *path_name;  // of the scene file: files it names are found beside it
    const perp_scene_load_options *reading;
    perp_scene *scene;  // keeps the files
    const char *text;   // of the file being read, without comments
    size_t size;
    const char *scene_text;  // of the scene itself
    size_t scene_size;
    const perp_env *env;
    perp_error *error;
    perp_status failed;  // an error was reported; later ones are its consequences
    pp_arena *arena;     // scratch
    perp_builder *builder;
    pp_json_step path[PP_PATH_MAX];
    int depth;
    char object[120];  // the object being read, for messages: "body 'block'"
    const char *said;  // the last string that was a number, and its value, for messages
    double meant;
    int alternative;  // of the units of a field, from 1 (units.c); 0: all
    pp_known_body *body;
    pp_known_shape *shape;
    const char **joint;
    const char **actuator;  // "": it has no name
    const char **site;
    const char **input;             // names of the inputs that were read
    const char **coordinate_names;  // t, then q[…] of the joints read before a coupling
    const char **source_names;  // t, then q[…] and dq[…] of the joints; NULL until these are read
    int bodies, shapes, joints, inputs, actuators, sites;
    pp_counts room;
    int next_body, next_input;  // whose shapes or source are read
    pp_names body_names, shape_names, joint_names, actuator_names, site_names;
    const char *group[PP_GROUPS_MOST];  // names of the bits of groups and masks
    int groups;
    // Parameters, copies, files and assemblies (parts.c).
    const pp_scope *scope;
    pp_constants level[PP_NEST_MAX + 1];  // of the scene, and of files in files
    pp_constants *constants;              // those in force
    const pp_part *parts;                 // files that were read
    const pp_object *pass_object;         // the list that is read in all parts, and how
    pp_read_object *pass_read;
    bool checks;                 // the first pass, which checks what no pass reads
    int copies;                  // made in this pass
    char suffix[PP_SUFFIX_MAX];  // of the copy being read, for its name
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
// A number, or a string with an expression of constants and a unit (quantity.c). false: it is
// neither, or r->failed shows that the error was reported.
bool pp_reader_number(pp_reader *r, const pp_field *field, const json_t *value, double *to);
perp_status pp_reader_is_derived(pp_reader *r, const char *text, bool *derived);
// Exactly so many numbers; a vector has two or three.
bool pp_reader_numbers(pp_reader *r, const pp_field *field, const json_t *value, int count,
                       double *to);
bool pp_reader_vector(pp_reader *r, const pp_field *field, const json_t *value, int count,
                      perp_vec3 *to);
// A whole number; -1: it is none.
int64_t pp_reader_whole(pp_reader *r, const pp_field *field, const json_t *value);
// A text that was parsed, with the constants replaced by numbers, for the model.
perp_status pp_reader_formula(pp_reader *r, const pp_field *field, const char *text,
                              const char **to);
// A text with the names of inputs and joints that the model has, where a scope has a prefix.
// column, unless NULL: one of that text, which becomes one of the given text.
perp_status pp_reader_globalize(pp_reader *r, const pp_expr_names *names, const char *text,
                                int *column, const char **to);
// The expression before `end`, times the factor of the unit there.
perp_status pp_reader_scale(pp_reader *r, const pp_field *field, const char *text, const char *end,
                            const char **to);
// A name with expressions in braces, "ball{i+1}", as text; *made: it had some. The path leads to it.
perp_status pp_reader_expand(pp_reader *r, const char *key, const char *text, const char **to,
                             bool *made);
perp_status pp_reader_motion(pp_reader *r, const pp_field *field, const json_t *value,
                             const char **to);
// The kinds of space (value_space.c).
perp_status pp_reader_value_space(pp_reader *r, const pp_field *field, const json_t *value,
                                  void *to);
// A file that the scene or a file in it names, which the scene keeps (files.c). *foreign: it is
// outside the folder of the scene.
perp_status pp_reader_file(pp_reader *r, const char *name, const perp_scene_file **file,
                           bool *foreign);
// The same by its name relative to the folder of the scene.
perp_status pp_reader_keep_file(pp_reader *r, const char *name, const perp_scene_file **file,
                                bool *foreign);
// Writes the values that the options set into a text, in the arena (text.c).
perp_status pp_scene_set(pp_arena *arena, const perp_scene_load_options *reading, const char **text,
                         size_t *size, perp_error *error);
// The parameters of a scene as a sentence: "it has width, height".
void pp_parameter_list(const json_t *parameters, char *text, size_t size);
// The triangles of such a file, in scratch.
perp_status pp_reader_mesh(pp_reader *r, const char *name, pp_mesh_file *mesh);

// ── Parts (parts.c): parameters, copies, included files and assemblies ───────────────────────────────

int pp_constant_find(const pp_constants *constants, const char *name);  // -1: none
// Evaluates "parameters" of a file into r->constants. given: values that replace its own.
perp_status pp_reader_parameters(pp_reader *r, const json_t *root, const pp_constants *given);
// Whether some body is spatial, which decides for the whole scene before any field is read. Loads
// the files.
perp_status pp_reader_find_space(pp_reader *r, const json_t *root);
// Reads the objects of a list in all parts (object NULL: excluded pairs of bodies): those of included files first, then those of assemblies,
// then those of the file itself.
perp_status pp_reader_pass(pp_reader *r, const json_t *root, const pp_object *object,
                           pp_read_object *read);
// Reads an array of objects, the value of object->list in the object that the path leads to, with
// its copies.
perp_status pp_reader_list(pp_reader *r, const json_t *parent, const pp_object *object,
                           pp_read_object *read, int owner);
// The name of an object in its scope: prefix, own name or word and number, and the index of a copy.
// own: without the prefix.
perp_status pp_reader_name(pp_reader *r, const json_t *json, const char *word, int number, bool own,
                           const char **name);
// Finds a name as the scope sees it: with its prefix, with those of outer scopes, without. -1: none.
int pp_reader_find(pp_reader *r, const pp_names *names, const char *word);

// ── Poses of files and assemblies (place.c) ──────────────────────────────────────────────────────────

perp_status pp_place_body(pp_reader *r, perp_body_def *def);
void pp_place_shape(const pp_reader *r, perp_shape_def *def);
void pp_place_site(const pp_reader *r, perp_site_def *def);
void pp_place_joint(const pp_reader *r, pp_joint_input *joint);
perp_status pp_place_force(pp_reader *r, perp_force_def *def);
perp_vec3 pp_place_direction(const pp_reader *r, perp_vec3 d);
// Position and rotation of a body at t = 0.
perp_status pp_initial_pose(pp_reader *r, const perp_body_def *def, perp_vec3 *position,
                            double *angle, perp_quat *rotation);
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

// The error of the builder, if it has one, at the place of the object being read (build.c).
perp_status pp_reader_built(pp_reader *r);
// "keyframes" of a scene, and "keyframe", the one it starts from (keyframes.c).
perp_status pp_reader_keyframes(pp_reader *r, const json_t *root, perp_sim_def *sim);

// Reads the whole file into settings and the builder (build.c).
perp_status pp_reader_run(pp_reader *r, const json_t *root, pp_settings *settings);

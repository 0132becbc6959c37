// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// A robot as readers of MJCF and URDF describe it, before it is a scene.
//
// Bodies are listed as in the file, parents before children; body 0 is the world. Quantities of a body are in
// its own frame. Poses of bodies and joint coordinates q agree at q = ref. qpos and qvel have the layout of
// MuJoCo: free joints have 7 and 6 numbers, ball joints 4 and 3, others one.
#pragma once

#include "import/report.h"
#include "math/space.h"

typedef enum pp_robot_joint_kind {
    PP_ROBOT_FREE,
    PP_ROBOT_BALL,
    PP_ROBOT_SLIDE,
    PP_ROBOT_HINGE,
} pp_robot_joint_kind;

typedef enum pp_robot_geom_kind {
    PP_ROBOT_PLANE,
    PP_ROBOT_HFIELD,
    PP_ROBOT_SPHERE,
    PP_ROBOT_CAPSULE,
    PP_ROBOT_ELLIPSOID,
    PP_ROBOT_CYLINDER,
    PP_ROBOT_BOX,
    PP_ROBOT_MESH,
    PP_ROBOT_SDF,
} pp_robot_geom_kind;

typedef struct pp_robot_range {
    bool set;
    double low, high;
} pp_robot_range;

typedef struct pp_robot_body {
    const char *name;
    int parent;
    perp_vec3 pos;  // frame in that of the parent, at q = ref
    perp_quat quat;
    double mass;  // [kg]
    perp_vec3 com;
    pp_mat3 inertia;  // about the centre of mass, in body axes [kg m^2]
    double gravcomp;  // 1: weightless
    bool mocap;
    bool kept;  // a body of its own in spite of having no joint: welded to the one that carries it
    int joint, joints;  // its joints are consecutive
    int carrier;  // the body that carries it rigidly: itself if it has joints or is kept, 0: the world
    pp_xml *at;
} pp_robot_body;

typedef struct pp_robot_joint {
    const char *name;
    pp_robot_joint_kind kind;
    int body;
    perp_vec3 axis, pos;  // in the frame of the body; unit axis
    pp_robot_range range, force;
    double ref, armature, damping, friction, stiffness, springref;
    int qpos, dof;  // first places
    pp_xml *at;
} pp_robot_joint;

typedef enum pp_mesh_rule {
    PP_MESH_LEGACY,  // pyramids with positive volumes
    PP_MESH_EXACT,
    PP_MESH_CONVEX,
    PP_MESH_SHELL,  // all mass on the surface: areas take the place of volumes
} pp_mesh_rule;

// A mesh, scaled and placed, with its volume by the rule of the model.
typedef struct pp_robot_mesh {
    const char *name, *file, *folder;  // folder: of the file, relative to that of the model
    bool loaded, missing;
    perp_vec3 scale, ref_pos;
    perp_quat ref_quat;
    pp_mesh_rule rule;
    int vertices, triangles;
    perp_vec3 *vertex;
    const int *triangle;
    double volume;  // [m^3], of a shell its area [m^2]; 0: not computed
    perp_vec3 centroid;
    pp_mat3 inertia;  // about the centroid, density 1 [m^5], of a shell [m^4]
    int hull_vertices;
    const perp_vec3 *hull;  // NULL: not computed
    // What is shown of it; NULL: nothing.
    int shown_vertices, shown_triangles;
    const perp_vec3 *shown_vertex;
    const int *shown_triangle;
    pp_xml *at;
} pp_robot_mesh;

// A height field: rows of heights along x, one for each y.
typedef struct pp_robot_hfield {
    const char *name;
    int rows, columns;
    double size[4];  // half lengths along x and y, largest height, depth of the base [m]
    double *height;  // 0 to 1, rows x columns; NULL: its file cannot be read
    pp_xml *at;
} pp_robot_hfield;

typedef struct pp_robot_geom {
    const char *name;
    pp_robot_geom_kind kind;
    int body;
    perp_vec3 pos;
    perp_quat quat;
    double size[3];  // radii and half lengths [m]
    unsigned contype, conaffinity;
    int condim, priority;
    double friction[3];    // sliding, spinning, rolling
    int mesh;              // -1: none
    int hfield;            // -1: none
    double mass, density;  // mass < 0: from the density
    int group;
    bool paired;     // named in a pair
    int32_t colour;  // 0xRRGGBB; -1: none
    bool in_view;    // the model shows it
    // How it is shown (visual.c): as a visual; and a shape that collides is then hidden.
    bool visual, hidden;
    pp_xml *at;
} pp_robot_geom;

typedef struct pp_robot_material {
    const char *name;
    int32_t colour;  // 0xRRGGBB; -1: none
    double opacity;
    pp_xml *at;
} pp_robot_material;

typedef struct pp_robot_site {
    const char *name;
    int body;
    perp_vec3 pos;
    perp_quat quat;
    pp_robot_geom_kind kind;
    double size[3];
    bool named;  // the name is one of the scene
    bool touch;  // a touch sensor measures in it
    pp_xml *at;
} pp_robot_site;

typedef struct pp_robot_term {
    int joint;
    double coefficient;
} pp_robot_term;

// A piece of a spatial tendon, straight between two sites; its length counts with the factor.
typedef struct pp_robot_span {
    int a, b;
    double factor;
    const char *name;  // of the joint of the scene that measures it
} pp_robot_span;

// Its length is a linear combination of joint coordinates, or if it is spatial of lengths between sites.
typedef struct pp_robot_tendon {
    const char *name;
    pp_robot_term *term;
    int terms;
    pp_robot_span *span;
    int spans;
    bool spatial, used;  // used: an actuator or an equality refers to it
    bool wraps;          // it goes around geoms
    pp_robot_range range;
    double stiffness, damping, friction;
    double spring[2];  // the spring pulls outside of these lengths
    pp_xml *at;
} pp_robot_tendon;

typedef enum pp_robot_drive {
    PP_ROBOT_ON_JOINT,
    PP_ROBOT_ON_TENDON,
    PP_ROBOT_ON_SITE,
    PP_ROBOT_ON_OTHER,
} pp_robot_drive;

// f = gain u + bias0 + bias1 l + bias2 l'.
typedef struct pp_robot_actuator {
    const char *name;
    pp_robot_drive drive;
    int target;
    double gear[6];
    bool affine_gain, other;  // other: a law that is not linear
    bool off;                 // the model switches actuators off
    double gain, bias[3];
    double damping_ratio;  // > 0: bias[2] follows from it
    double time_constant;  // of a filter of the control; 0: none
    pp_robot_range control, force;
    pp_xml *at;
} pp_robot_actuator;

typedef enum pp_robot_equality_kind {
    PP_ROBOT_CONNECT,
    PP_ROBOT_WELD,
    PP_ROBOT_JOINT,
    PP_ROBOT_TENDON,
} pp_robot_equality_kind;

typedef struct pp_robot_equality {
    const char *name;
    pp_robot_equality_kind kind;
    int a, b;  // bodies, joints or tendons; b -1: none
    perp_vec3 anchor_a, anchor_b;
    perp_quat turn;        // weld: of b relative to a
    double polynomial[5];  // joint, tendon
    pp_xml *at;
} pp_robot_equality;

typedef struct pp_robot_exclude {
    int a, b;  // bodies
} pp_robot_exclude;

typedef struct pp_robot_pair {
    int a, b;  // geoms
    int condim;
    double friction[3];
    bool own_friction, own_condim;
} pp_robot_pair;

typedef struct pp_robot_key {
    const char *name;
    double time;                 // [s]
    double *qpos, *qvel, *ctrl;  // NULL: not given
    pp_xml *at;
} pp_robot_key;

// Sensors are described by their kind and object.
typedef struct pp_robot_sensor {
    const char *name, *kind, *object,
        *type;      // type: list of the object where the kind leaves it open
    bool relative;  // measured in the frame of another object
    double cutoff;
    int row;            // its kind among those of scenes
    int site;           // that it measures at; -1: none
    const char *joint;  // of the scene, whose coordinate it measures; NULL: none
    pp_xml *at;
} pp_robot_sensor;

#define PP_ROBOT_LISTS(X)                                                                          \
    X(body, bodies)                                                                                \
    X(joint, joints)                                                                               \
    X(geom, geoms)                                                                                 \
    X(mesh, meshes)                                                                                \
    X(hfield, hfields)                                                                             \
    X(material, materials)                                                                         \
    X(site, sites)                                                                                 \
    X(tendon, tendons)                                                                             \
    X(actuator, actuators)                                                                         \
    X(equality, equalities)                                                                        \
    X(exclude, excludes)                                                                           \
    X(pair, pairs)                                                                                 \
    X(key, keys)                                                                                   \
    X(sensor, sensors)

// Each list is an array in the arena that grows by doubling.
#define PP_ROBOT_MEMBERS(one, many)                                                                \
    pp_robot_##one *one;                                                                           \
    int many, one##_room;

#define PP_ROBOT_NUMBERS(one, many) PP_ROBOT_LIST_##one,
typedef enum pp_robot_list { PP_ROBOT_LISTS(PP_ROBOT_NUMBERS) PP_ROBOT_LIST_COUNT } pp_robot_list;

// An entry of the table of names; name NULL: free.
typedef struct pp_robot_entry {
    const char *name;
    pp_robot_list list;
    int index;
} pp_robot_entry;

typedef struct pp_robot {
    pp_arena *arena;
    pp_robot_entry *entry;  // open addressing; room is a power of two
    int entries, entry_room;
    const char *name;
    perp_vec3 gravity;
    double timestep;
    bool no_contact;         // the model switches contact off
    bool boxes;              // in place of meshes whose files do not exist
    bool touch_parents;      // bodies collide with the ones that carry them
    bool apart_from_ground;  // bodies do not collide with the part of the ground that carries them
    int nq, nv;
    PP_ROBOT_LISTS(PP_ROBOT_MEMBERS)
} pp_robot;

// Adds a zeroed object at the end of a list; NULL: no memory.
#define PP_ROBOT_ADDER(one, many) pp_robot_##one *pp_robot_add_##one(pp_robot *robot);
PP_ROBOT_LISTS(PP_ROBOT_ADDER)

// Enters a name in the table of all names; false: the list has an object of that name, or there is no memory
// (then *full is set).
bool pp_robot_enter(pp_robot *robot, pp_robot_list list, const char *name, int index, bool *full);
// The object of that name; -1: none.
int pp_robot_find(const pp_robot *robot, pp_robot_list list, const char *name);

// The value within the range, if there is one.
double pp_robot_clamp(const pp_robot_range *range, double x);
// Fills `carrier` of the bodies, and the places of the joints in qpos and qvel.
void pp_robot_number(pp_robot *robot);
// qpos at which the bodies are as described; nq numbers in the arena.
double *pp_robot_reference(const pp_robot *robot);
// qpos at which the springs of the joints are relaxed.
double *pp_robot_relaxed(const pp_robot *robot);
// The length of a tendon for qpos and the poses that belong to it; 0 if it wraps.
double pp_robot_tendon_length(const pp_robot *robot, const pp_robot_tendon *tendon,
                              const double *qpos, const pp_pose *pose);
// Poses of all bodies in the world for qpos; and of their frames after each joint, for bodies with several
// (after: one for each joint, or NULL).
void pp_robot_poses(const pp_robot *robot, const double *qpos, pp_pose *pose, pp_pose *after);
// Velocities of the frames after each joint, and of all bodies, of their origins and in world axes, for poses from pp_robot_poses.
void pp_robot_velocities(const pp_robot *robot, const pp_pose *pose, const pp_pose *after,
                         const double *qvel, perp_twist *twist, perp_twist *body_twist);
// The diagonal of the mass matrix at the given poses for joint j, with its armature.
double pp_robot_joint_inertia(const pp_robot *robot, const pp_pose *pose, int j);

// ── Inertia (inertia.c) ──────────────────────────────────────────────────────────────────────────

typedef struct pp_robot_mass {
    double mass;
    perp_vec3 com;
    pp_mat3 inertia;  // about com
} pp_robot_mass;

// Adds mass properties given in a frame whose pose is X.
void pp_robot_mass_add(pp_robot_mass *sum, const pp_robot_mass *part, const pp_pose *X);
// Principal moments of a tensor, and its axes as columns.
void pp_robot_principal(const pp_mat3 *A, double out[3], pp_mat3 *axes);
// Repairs an inertia that no body can have; false: there is nothing to repair.
bool pp_robot_mass_mend(pp_robot_mass *mass);
// Volume, centroid and inertia of a geom for density 1 in its own frame; false: it has none.
bool pp_robot_geom_volume(const pp_robot *robot, const pp_robot_geom *geom, pp_robot_mass *out);

// Computes the volume of the mesh, once.
perp_status pp_robot_mesh_weigh(pp_robot_mesh *mesh, pp_arena *arena, perp_error *error);
// Fills vertices and triangles from the text of a file (STL or OBJ), rounded to single precision as MuJoCo
// does, then scaled and placed.
perp_status pp_robot_mesh_parse(pp_robot_mesh *mesh, const char *text, size_t size, pp_arena *arena,
                                perp_error *error);
// Rounds, scales and places the vertices; false: one is not finite.
bool pp_robot_mesh_place(pp_robot_mesh *mesh);
// Gives a mesh of vertices alone the triangles of its convex hull.
perp_status pp_robot_mesh_close(pp_robot_mesh *mesh, pp_arena *arena, perp_error *error);
// Computes its convex hull, once.
perp_status pp_robot_mesh_hull(pp_robot_mesh *mesh, pp_arena *arena, perp_error *error);

// ── Overlaps (overlap.c) ─────────────────────────────────────────────────────────────────────────

// Excludes the pairs of bodies that overlap at qpos = ref, with a line in the report for each. mounts: only bodies on a
// fixed base that overlap with it wherever their joint is.
perp_status pp_robot_part(pp_robot *robot, bool mounts, const perp_env *env,
                          pp_import_report *report, perp_error *error);

// ── What is shown (visual.c) ─────────────────────────────────────────────────────────────────────

// 0xRRGGBB of three numbers between 0 and 1.
int32_t pp_robot_colour(const double *rgb);
// Vertices and triangles to show, at most so many of the latter; none if the mesh has no extent.
perp_status pp_robot_mesh_show(pp_robot_mesh *mesh, int most, pp_arena *arena);
// Decides which geoms are shown, and how: at most so many triangles of meshes; 0: no visuals. False: no memory.
bool pp_robot_show(pp_robot *robot, int triangles, pp_import_report *report);

// ── The scene (write.c) ──────────────────────────────────────────────────────────────────────────

// Writes the robot as a scene, as text in the arena that ends with a zero byte. key: the keyframe in which it
// starts; -1: at qpos = ref. What a scene cannot express is reported.
perp_status pp_robot_write(pp_robot *robot, int key, pp_import_report *report, char **text,
                           size_t *size, perp_error *error);

// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Links and joints of a URDF file as a robot.
//
// A link is a body, its frame that of its joint. Links are sorted depth first, in the order of the joints in the
// file. A link without <inertial> weighs nothing; where a group of links that moves would weigh nothing, its
// collision shapes count with the density of water.
#include "import/urdf.h"

#include <math.h>
#include <string.h>

static const double DENSITY = 1000.0;  // [kg/m^3]
enum { LINKS_MOST = 20000 };

// A joint of the file: the links are numbers, or -1.
typedef struct urdf_joint {
    pp_xml *at;
    const char *name, *type;
    int parent, child;
    int next;  // of the same parent, or -1
} urdf_joint;

typedef struct urdf_link {
    pp_xml *at;
    const char *name;
    int joint;        // that carries it; -1: it is a root
    int first, last;  // joints that it carries
    int body;         // -1: not read yet
} urdf_link;

typedef struct urdf_reader {
    pp_arena *arena;
    pp_robot *robot, names;  // names of links
    pp_import_report *report;
    pp_import_files *files;
    perp_error *error;
    perp_status status;
    urdf_link *link;
    urdf_joint *joint;
    bool *still;  // by body: fixed to the ground
    int links, joints;
} urdf_reader;

// ── Values ───────────────────────────────────────────────────────────────────────────────────────

static void no_memory(urdf_reader *u)
{
    if (u->status == PERP_OK) {
        u->status = pp_fail(u->error, PERP_ERR_MEMORY, "not enough memory for this model");
    }
}

static void fail_at(urdf_reader *u, const pp_xml *at, const char *what, const char *text)
{
    if (u->status < 0) {
        return;
    }
    // Files that were not expanded have expressions in the place of numbers.
    bool macro = text && strchr(text, '$');
    u->status = pp_xml_fail(at, u->error, "%s%s%.60s%s%s", what, text ? ", not \"" : "",
                            text ? text : "", text ? "\"" : "",
                            macro ? "; this is a xacro file: expand it first (xacro FILE)" : "");
}

// `count` numbers of an attribute; false: it is absent, and x stays as it was.
static bool read_numbers(urdf_reader *u, pp_xml *at, const char *name, int count, double *x)
{
    double read[4];
    char what[80];
    const char *text = at ? pp_xml_value(at, name) : NULL;
    if (!text || u->status < 0) {
        return false;
    }
    if (pp_xml_numbers(text, read, count) != count) {
        pp_print(what, sizeof what, "%s must be %d number%s", name, count, count == 1 ? "" : "s");
        fail_at(u, at, what, text);
        return false;
    }
    memcpy(x, read, (size_t)count * sizeof *x);
    return true;
}

static double read_number(urdf_reader *u, pp_xml *at, const char *name, double otherwise)
{
    read_numbers(u, at, name, 1, &otherwise);
    return otherwise;
}

// <origin xyz rpy> of an element; rpy are angles about the fixed axes x, y, z.
static pp_pose read_origin(urdf_reader *u, pp_xml *element, perp_quat *quat)
{
    pp_xml *at = pp_xml_child(element, "origin", NULL);
    double p[3] = {0.0, 0.0, 0.0}, a[3] = {0.0, 0.0, 0.0};
    if (at) {
        read_numbers(u, at, "xyz", 3, p);
        read_numbers(u, at, "rpy", 3, a);
    }
    perp_quat x = {pp_cos(0.5 * a[0]), pp_sin(0.5 * a[0]), 0.0, 0.0};
    perp_quat y = {pp_cos(0.5 * a[1]), 0.0, pp_sin(0.5 * a[1]), 0.0};
    perp_quat z = {pp_cos(0.5 * a[2]), 0.0, 0.0, pp_sin(0.5 * a[2])};
    *quat = pp_quat_unit(pp_quat_mul(z, pp_quat_mul(y, x)));
    return (pp_pose){{p[0], p[1], p[2]}, pp_quat_matrix(*quat)};
}

static void note(urdf_reader *u, perp_import_note_kind kind, const pp_xml *at, const char *what,
                 const char *why)
{
    pp_report_add(u->report, kind, at, what, why);
}

// ── Shapes ───────────────────────────────────────────────────────────────────────────────────────

// A mesh for each place where one is used: scales may differ.
static int read_mesh(urdf_reader *u, pp_xml *at)
{
    pp_robot_mesh *mesh = pp_robot_add_mesh(u->robot);
    const char *uri = pp_xml_value(at, "filename"), *scale = pp_xml_value(at, "scale");
    double s[4] = {1.0, 1.0, 1.0, 1.0};
    if (!mesh) {
        no_memory(u);
        return -1;
    }
    if (!uri) {
        fail_at(u, at, "needs a filename", NULL);
        return -1;
    }
    int count = scale ? pp_xml_numbers(scale, s, 4) : 3;
    if (count == 1) {
        s[1] = s[2] = s[0];
    } else if (count != 3) {
        s[0] = count == 4 ? s[0] : 1.0;
        note(u, PERP_IMPORT_REPAIRED, at, "scales of meshes that are not three numbers",
             count == 4 ? "the first three are used" : "1 is used");
    }
    *mesh = (pp_robot_mesh){.name = uri,
                            .file = uri,
                            .loaded = true,
                            .scale = {s[0], s[1], s[2]},
                            .ref_quat = {1.0, 0.0, 0.0, 0.0},
                            .at = at};
    pp_import_file file;
    perp_error error = {0};
    u->status = pp_import_read_uri(u->files, uri, at, &file, u->error);
    mesh->missing = file.missing;
    if (u->status < 0 || file.missing) {
        if (u->status == PERP_OK && u->files->options->missing == PERP_IMPORT_MISSING_ERROR) {
            fail_at(u, at,
                    "the file does not exist, or is in a package that was not found "
                    "(--package-path DIR)",
                    NULL);
        }
        return u->robot->meshes - 1;
    }
    // COLLADA is XML, the others are not.
    perp_status status = pp_xml_likely(file.text, file.size)
                             ? pp_dae_read(file.text, file.size, u->arena, mesh, &error)
                             : pp_robot_mesh_parse(mesh, file.text, file.size, u->arena, &error);
    if (status == PERP_ERR_MEMORY) {
        no_memory(u);
    } else if (status < 0) {
        u->status = pp_xml_fail(at, u->error, "'%.80s': %.120s", uri, error.text);
    }
    return u->robot->meshes - 1;
}

// The kind and size of <geometry>; false: it is left out. Lengths are whole ones.
static bool read_geometry(urdf_reader *u, pp_xml *at, pp_robot_geom *geom)
{
    pp_xml *box = pp_xml_child(at, "box", NULL), *sphere = pp_xml_child(at, "sphere", NULL);
    pp_xml *cylinder = pp_xml_child(at, "cylinder", NULL);
    pp_xml *capsule = pp_xml_child(at, "capsule", NULL), *mesh = pp_xml_child(at, "mesh", NULL);
    double *s = geom->size;
    int sizes = 0;
    // The first that is there counts.
    if (box) {
        geom->kind = PP_ROBOT_BOX;
        read_numbers(u, box, "size", 3, s);
        sizes = 3;
    } else if (sphere) {
        geom->kind = PP_ROBOT_SPHERE;
        s[0] = read_number(u, sphere, "radius", 0.0);
        sizes = 1;
    } else if (cylinder || capsule) {
        pp_xml *tube = cylinder ? cylinder : capsule;
        geom->kind = cylinder ? PP_ROBOT_CYLINDER : PP_ROBOT_CAPSULE;
        s[0] = read_number(u, tube, "radius", 0.0);
        s[1] = 0.5 * read_number(u, tube, "length", 0.0);
        sizes = 2;
    } else if (mesh) {
        geom->kind = PP_ROBOT_MESH;
        geom->mesh = read_mesh(u, mesh);
        return u->status == PERP_OK;
    } else {
        note(u, PERP_IMPORT_NOT_USED, at, "shapes of an unknown kind",
             "box, sphere, cylinder, capsule and mesh are read");
        return false;
    }
    for (int k = 0; k < sizes; k++) {
        s[k] *= box ? 0.5 : 1.0;
        if (!(s[k] > 0.0)) {
            note(u, PERP_IMPORT_NOT_USED, at, "shapes of size 0", "they have no points");
            return false;
        }
    }
    return u->status == PERP_OK;
}

// Friction of a link, as Bullet has it.
static void read_contact(urdf_reader *u, pp_xml *link, pp_robot_geom *geom)
{
    pp_xml *at = pp_xml_child(link, "contact", NULL);
    geom->contype = geom->conaffinity = 1;
    geom->condim = 3;
    geom->friction[0] = 1.0;
    if (at) {
        geom->friction[0] =
            read_number(u, pp_xml_child(at, "lateral_friction", NULL), "value", 1.0);
        geom->friction[1] =
            read_number(u, pp_xml_child(at, "spinning_friction", NULL), "value", 0.0);
        geom->friction[2] =
            read_number(u, pp_xml_child(at, "rolling_friction", NULL), "value", 0.0);
        geom->condim = 6;
    }
    for (int k = 0; k < 3; k++) {
        geom->friction[k] = geom->friction[k] > 0.0 ? geom->friction[k] : 0.0;
    }
}

// The colour of <material>, given there or once for the whole model; -1: none.
static int32_t read_colour(urdf_reader *u, pp_xml *at, bool *clear)
{
    pp_xml *material = pp_xml_child(at, "material", NULL);
    pp_xml *colour = material ? pp_xml_child(material, "color", NULL) : NULL;
    const char *name = material ? pp_xml_value(material, "name") : NULL;
    const char *text = colour ? pp_xml_value(colour, "rgba") : NULL;
    double rgba[4];
    if (text && pp_xml_numbers(text, rgba, 4) == 4) {
        *clear = !(rgba[3] > 0.0);
        return pp_robot_colour(rgba);
    }
    int known = name ? pp_robot_find(u->robot, PP_ROBOT_LIST_material, name) : -1;
    *clear = known >= 0 && !(u->robot->material[known].opacity > 0.0);
    return known >= 0 ? u->robot->material[known].colour : -1;
}

static void read_materials(urdf_reader *u, pp_xml *root)
{
    for (pp_xml *at = pp_xml_child(root, "material", NULL); at;
         at = pp_xml_child(root, "material", at)) {
        pp_xml *colour = pp_xml_child(at, "color", NULL);
        const char *name = pp_xml_value(at, "name");
        const char *text = colour ? pp_xml_value(colour, "rgba") : NULL;
        double rgba[4];
        bool full = false;
        if (!name || !text || pp_xml_numbers(text, rgba, 4) != 4 ||
            !pp_robot_enter(u->robot, PP_ROBOT_LIST_material, name, u->robot->materials, &full)) {
            if (full) {
                no_memory(u);
            }
            continue;
        }
        pp_robot_material *material = pp_robot_add_material(u->robot);
        if (!material) {
            no_memory(u);
            return;
        }
        *material = (pp_robot_material){
            .name = name, .colour = pp_robot_colour(rgba), .opacity = rgba[3], .at = at};
    }
}

// Shapes that are only shown. Whatever is wrong with one leaves it out: nothing but the picture depends on it.
static void read_visuals(urdf_reader *u, pp_xml *link, int body)
{
    for (pp_xml *at = pp_xml_child(link, "visual", NULL); at;
         at = pp_xml_child(link, "visual", at)) {
        pp_xml *geometry = pp_xml_child(at, "geometry", NULL);
        pp_robot_geom read = {.body = body, .mesh = -1, .hfield = -1, .in_view = true, .at = at};
        bool clear = false;
        if (u->status < 0 || u->files->options->visual_triangles < 1) {
            return;
        }
        // An error of the file of a mesh is forgotten below.
        perp_error kept = *u->error;
        read.pos = read_origin(u, at, &read.quat).p;
        read.colour = read_colour(u, at, &clear);
        read.in_view = !clear;
        bool found = geometry && read_geometry(u, geometry, &read);
        if (u->status < 0 && u->status != PERP_ERR_MEMORY) {
            u->status = PERP_OK;
            *u->error = kept;
            found = false;
        }
        if (!found) {
            note(u, PERP_IMPORT_NOT_USED, at, "visual shapes that cannot be read", "");
            continue;
        }
        pp_robot_geom *geom = pp_robot_add_geom(u->robot);
        if (!geom) {
            no_memory(u);
            return;
        }
        *geom = read;
        geom->name = "visual";
    }
}

static void read_shapes(urdf_reader *u, pp_xml *link, int body)
{
    for (pp_xml *at = pp_xml_child(link, "collision", NULL); at;
         at = pp_xml_child(link, "collision", at)) {
        pp_xml *geometry = pp_xml_child(at, "geometry", NULL);
        pp_robot_geom read = {.body = body,
                              .mesh = -1,
                              .hfield = -1,
                              .mass = -1.0,
                              .density = DENSITY,
                              .colour = -1,
                              .at = at};
        if (u->status < 0) {
            return;
        }
        // Shapes that are left out have no number.
        read.pos = read_origin(u, at, &read.quat).p;
        if (!geometry || !read_geometry(u, geometry, &read)) {
            continue;
        }
        read_contact(u, link, &read);
        pp_robot_geom *geom = pp_robot_add_geom(u->robot);
        char *name = PP_ARRAY(u->arena, char, 96);
        if (!geom || !name) {
            no_memory(u);
            return;
        }
        const char *own = pp_xml_value(at, "name");
        if (own && *own) {
            pp_print(name, 96, "%.80s", own);
        } else {
            pp_print(name, 96, "geom%d", u->robot->geoms - 1);
        }
        *geom = read;
        geom->name = name;
    }
}

// ── Links ────────────────────────────────────────────────────────────────────────────────────────

static void read_inertial(urdf_reader *u, pp_xml *link, pp_robot_body *body)
{
    static const char *const keys[] = {"ixx", "ixy", "ixz", "iyy", "iyz", "izz"};
    pp_xml *at = pp_xml_child(link, "inertial", NULL);
    double I[6] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
    if (!at) {
        return;
    }
    perp_quat quat;
    pp_pose X = read_origin(u, at, &quat);
    pp_xml *inertia = pp_xml_child(at, "inertia", NULL);
    body->mass = read_number(u, pp_xml_child(at, "mass", NULL), "value", 0.0);
    body->com = X.p;
    for (int k = 0; k < 6; k++) {
        I[k] = inertia ? read_number(u, inertia, keys[k], 0.0) : 0.0;
    }
    // The tensor is in the axes of its own origin.
    pp_mat3 own = {{I[0], I[1], I[2], I[1], I[3], I[4], I[2], I[4], I[5]}};
    body->inertia = pp_turn_tensor(&X.R, &own);
    if (body->mass < 0.0) {
        fail_at(u, at, "the mass must be >= 0", NULL);
    }
}

static pp_robot_joint *add_joint(urdf_reader *u, const urdf_joint *from, int body,
                                 pp_robot_joint_kind kind, const char *suffix)
{
    pp_robot_joint *joint = pp_robot_add_joint(u->robot);
    size_t size = strlen(from->name) + strlen(suffix) + 16;
    char *name = PP_ARRAY(u->arena, char, size);
    bool full = false;
    if (!joint || !name) {
        no_memory(u);
        return NULL;
    }
    int self = u->robot->joints - 1;
    pp_print(name, size, "%s%s", from->name, suffix);
    if (!pp_robot_enter(u->robot, PP_ROBOT_LIST_joint, name, self, &full)) {
        pp_print(name, size, "%s%s_%d", from->name, suffix, self);
        note(u, PERP_IMPORT_REPAIRED, from->at, "joints of the same name", "renamed");
    }
    *joint = (pp_robot_joint){
        .name = name, .kind = kind, .body = body, .axis = {1.0, 0.0, 0.0}, .at = from->at};
    if (u->robot->body[body].joints++ == 0) {
        u->robot->body[body].joint = self;
    }
    return joint;
}

static perp_vec3 read_axis(urdf_reader *u, const urdf_joint *from)
{
    double x[3] = {1.0, 0.0, 0.0};
    pp_xml *at = pp_xml_child(from->at, "axis", NULL);
    if (at) {
        read_numbers(u, at, "xyz", 3, x);
    }
    double length = pp_length(pp_vec(x[0], x[1], x[2]));
    if (!(length > 0.0)) {
        fail_at(u, from->at, "the axis has length 0", NULL);
        return pp_vec(1.0, 0.0, 0.0);
    }
    if (fabs(length - 1.0) > 1e-6) {
        note(u, PERP_IMPORT_REPAIRED, at, "axes that are not of unit length", "normalised");
    }
    return pp_scale(1.0 / length, pp_vec(x[0], x[1], x[2]));
}

// Limits and forces of a joint with one coordinate.
static void read_limits(urdf_reader *u, pp_robot_joint *joint, const urdf_joint *from)
{
    pp_xml *limit = pp_xml_child(from->at, "limit", NULL);
    pp_xml *dynamics = pp_xml_child(from->at, "dynamics", NULL);
    bool endless = strcmp(from->type, "continuous") == 0;
    if (limit) {
        double low = read_number(u, limit, "lower", 0.0),
               high = read_number(u, limit, "upper", 0.0);
        double effort = read_number(u, limit, "effort", 0.0);  // 0 means nothing
        if (low > high) {
            note(u, PERP_IMPORT_REPAIRED, limit, "limits in reverse order",
                 "the joint has none, as in Bullet");
        }
        joint->range = (pp_robot_range){!endless && low < high, low, high};
        joint->force = (pp_robot_range){effort > 0.0, -effort, effort};
        if (!endless && low == high) {
            note(u, PERP_IMPORT_ASSUMED, limit, "joints whose limits are equal have none", "");
        }
    }
    if (dynamics) {
        joint->damping = read_number(u, dynamics, "damping", 0.0);
        joint->friction = read_number(u, dynamics, "friction", 0.0);
    }
    if (joint->damping < 0.0 || joint->friction < 0.0) {
        joint->damping = joint->damping > 0.0 ? joint->damping : 0.0;
        joint->friction = joint->friction > 0.0 ? joint->friction : 0.0;
        note(u, PERP_IMPORT_REPAIRED, dynamics, "negative damping or friction", "0 is used");
    }
}

// A planar joint: two slides and a hinge.
static void read_planar(urdf_reader *u, const urdf_joint *from, int body)
{
    perp_vec3 normal = read_axis(u, from), x = pp_across(normal), y = pp_cross(normal, x);
    pp_robot_joint *a = add_joint(u, from, body, PP_ROBOT_SLIDE, "_x");
    if (a) {
        a->axis = x;
    }
    pp_robot_joint *b = add_joint(u, from, body, PP_ROBOT_SLIDE, "_y");
    if (b) {
        b->axis = y;
    }
    pp_robot_joint *c = add_joint(u, from, body, PP_ROBOT_HINGE, "_angle");
    if (c) {
        c->axis = normal;
    }
}

static void read_joint(urdf_reader *u, const urdf_joint *from, int body)
{
    bool slide = strcmp(from->type, "prismatic") == 0;
    bool hinge = strcmp(from->type, "revolute") == 0 || strcmp(from->type, "continuous") == 0;
    if (strcmp(from->type, "fixed") == 0) {
        static const char *const idle[] = {"axis", "limit", "dynamics", "calibration"};
        for (int k = 0; k < 4; k++) {
            pp_xml *at = pp_xml_child(from->at, idle[k], NULL);
            if (at) {
                pp_xml_see_all(at);
                note(u, PERP_IMPORT_NOT_USED, at, "axes, limits and dynamics of fixed joints",
                     "they do not move");
            }
        }
        return;
    }
    // Others than these have no coordinate of their own name.
    if (slide || hinge) {
        pp_robot_joint *joint =
            add_joint(u, from, body, slide ? PP_ROBOT_SLIDE : PP_ROBOT_HINGE, "");
        if (joint) {
            joint->axis = read_axis(u, from);
            read_limits(u, joint, from);
        }
    } else if (strcmp(from->type, "spherical") == 0) {
        add_joint(u, from, body, PP_ROBOT_BALL, "");
    } else if (strcmp(from->type, "planar") == 0) {
        read_planar(u, from, body);
    } else if (strcmp(from->type, "floating") == 0) {
        if (u->robot->body[body].parent != 1 && u->robot->body[body].parent != 0) {
            fail_at(u, from->at, "a floating joint must be on the first link", NULL);
            return;
        }
        add_joint(u, from, body, PP_ROBOT_FREE, "");
    } else {
        fail_at(u, from->at,
                "the type must be fixed, revolute, continuous, prismatic, planar, "
                "spherical or floating",
                from->type);
    }
}

// One link as a body; its parent has been read before.
static void read_link(urdf_reader *u, int k)
{
    urdf_link *link = &u->link[k];
    const urdf_joint *joint = link->joint >= 0 ? &u->joint[link->joint] : NULL;
    pp_robot_body *body = pp_robot_add_body(u->robot);
    bool full = false;
    if (!body) {
        no_memory(u);
        return;
    }
    // Adding joints and shapes may move arrays, but not that of the bodies.
    link->body = u->robot->bodies - 1;
    *body = (pp_robot_body){.name = link->name, .quat = {1.0, 0.0, 0.0, 0.0}, .at = link->at};
    pp_robot_enter(u->robot, PP_ROBOT_LIST_body, link->name, link->body, &full);
    if (full) {
        no_memory(u);
        return;
    }
    if (joint) {
        body->parent = u->link[joint->parent].body;
        body->pos = read_origin(u, joint->at, &body->quat).p;
        read_joint(u, joint, link->body);
    } else if (u->files->options->free_base) {
        const urdf_joint base = {.at = link->at, .name = "base", .type = "floating"};
        add_joint(u, &base, link->body, PP_ROBOT_FREE, "");
    }
    body = &u->robot->body[link->body];
    read_inertial(u, link->at, body);
    bool fixed = body->joints == 0;
    body->kept = fixed && u->files->options->keep_fixed &&
                 (body->mass > 0.0 || (body->parent == 0 || u->still[body->parent]));
    u->still[link->body] = fixed && (body->parent == 0 || u->still[body->parent]);
    if (fixed && u->files->options->keep_fixed && !body->kept) {
        note(u, PERP_IMPORT_ASSUMED, link->at,
             "links on fixed joints without mass are part of the link that carries them", "");
    }
    read_shapes(u, link->at, link->body);
    read_visuals(u, link->at, link->body);
}

// ── The tree ─────────────────────────────────────────────────────────────────────────────────────

static int find_link(urdf_reader *u, pp_xml *joint, const char *end)
{
    pp_xml *at = pp_xml_child(joint, end, NULL);
    const char *name = at ? pp_xml_value(at, "link") : NULL;
    int found = name ? pp_robot_find(&u->names, PP_ROBOT_LIST_body, name) : -1;
    if (found < 0 && u->status == PERP_OK) {
        u->status = pp_xml_fail(at ? at : joint, u->error, "%s link '%.60s' does not exist", end,
                                name ? name : "");
    }
    return found;
}

static void list_links(urdf_reader *u, pp_xml *root)
{
    for (pp_xml *at = pp_xml_child(root, "link", NULL); at; at = pp_xml_child(root, "link", at)) {
        const char *name = pp_xml_value(at, "name");
        bool full = false;
        if (!name) {
            fail_at(u, at, "needs a name", NULL);
            return;
        }
        if (!pp_robot_enter(&u->names, PP_ROBOT_LIST_body, name, u->links, &full)) {
            if (full) {
                no_memory(u);
            } else {
                fail_at(u, at, "there are two links of this name; rename one", NULL);
            }
            return;
        }
        u->link[u->links++] =
            (urdf_link){.at = at, .name = name, .joint = -1, .first = -1, .last = -1, .body = -1};
    }
}

static void list_joints(urdf_reader *u, pp_xml *root)
{
    for (pp_xml *at = pp_xml_child(root, "joint", NULL); at; at = pp_xml_child(root, "joint", at)) {
        const char *name = pp_xml_value(at, "name"), *type = pp_xml_value(at, "type");
        int parent = find_link(u, at, "parent"), child = find_link(u, at, "child");
        if (u->status < 0) {
            return;
        }
        if (!name || !type || u->link[child].joint >= 0) {
            fail_at(u, at,
                    name && type ? "its child link already has a parent"
                                 : "needs a name and a type",
                    NULL);
            return;
        }
        // Appended to the list of the parent.
        int self = u->joints;
        u->joint[u->joints++] = (urdf_joint){at, name, type, parent, child, -1};
        u->link[child].joint = self;
        if (u->link[parent].last >= 0) {
            u->joint[u->link[parent].last].next = self;
        } else {
            u->link[parent].first = self;
        }
        u->link[parent].last = self;
    }
}

// From each root depth first, without recursion: chains may be long.
static void read_tree(urdf_reader *u)
{
    int roots = 0;
    for (int r = 0; r < u->links; r++) {
        if (u->link[r].joint >= 0) {
            continue;
        }
        roots++;
        int k = r;
        while (k >= 0) {
            read_link(u, k);
            if (u->status < 0) {
                return;
            }
            // Down, else to the next joint of the nearest parent that has one.
            int j = u->link[k].first;
            while (j < 0 && k != r) {
                j = u->joint[u->link[k].joint].next;
                k = u->joint[u->link[k].joint].parent;
            }
            k = j >= 0 ? u->joint[j].child : -1;
        }
    }
    if (u->robot->bodies - 1 < u->links && u->status == PERP_OK) {
        u->status =
            pp_fail(u->error, PERP_ERR_FORMAT, "the joints form a loop without a first link");
    }
    if (roots > 1) {
        note(u, PERP_IMPORT_ASSUMED, NULL, "several links without a parent are all on the ground",
             "");
    } else if (!u->files->options->free_base) {
        note(u, PERP_IMPORT_ASSUMED, NULL, "the first link is fixed to the ground",
             "--free-base makes it free");
    }
}

static void read_mimics(urdf_reader *u)
{
    for (int k = 0; k < u->joints; k++) {
        pp_xml *at = pp_xml_child(u->joint[k].at, "mimic", NULL);
        const char *other = at ? pp_xml_value(at, "joint") : NULL;
        int a = pp_robot_find(u->robot, PP_ROBOT_LIST_joint, u->joint[k].name);
        int b = other ? pp_robot_find(u->robot, PP_ROBOT_LIST_joint, other) : -1;
        if (!at) {
            continue;
        }
        if (a < 0 || b < 0) {
            fail_at(u, at, "there is no such joint", other ? other : "");
            return;
        }
        if (a == b) {
            fail_at(u, at, "a joint cannot mimic itself; name another one", other);
            return;
        }
        double factor = read_number(u, at, "multiplier", 1.0);
        double offset = read_number(u, at, "offset", 0.0);
        pp_robot_equality *to = pp_robot_add_equality(u->robot);
        if (!to) {
            no_memory(u);
            return;
        }
        // q_a = offset + factor q_b
        *to =
            (pp_robot_equality){.kind = PP_ROBOT_JOINT, .name = "mimic", .a = a, .b = b, .at = at};
        to->polynomial[0] = offset;
        to->polynomial[1] = factor;
    }
}

// ── Masses ───────────────────────────────────────────────────────────────────────────────────────

// Groups that move and weigh nothing get the mass of their shapes. Meshes count as MuJoCo counts them.
static void weigh_shapes(urdf_reader *u, const bool *light)
{
    pp_robot *robot = u->robot;
    for (int k = 0; k < robot->geoms; k++) {
        pp_robot_geom *geom = &robot->geom[k];
        pp_robot_body *body = &robot->body[geom->body];
        pp_robot_mass part, sum = {body->mass, body->com, body->inertia};
        if (!light[body->carrier] || !geom->contype) {
            continue;
        }
        // Only now are the volumes of meshes needed.
        if (geom->mesh >= 0 &&
            pp_robot_mesh_weigh(&robot->mesh[geom->mesh], u->arena, u->error) < 0) {
            no_memory(u);
            return;
        }
        if (!pp_robot_geom_volume(robot, geom, &part)) {
            continue;
        }
        part.mass *= DENSITY;
        for (int e = 0; e < 9; e++) {
            part.inertia.m[e] *= DENSITY;
        }
        pp_pose X = {geom->pos, pp_quat_matrix(geom->quat)};
        pp_robot_mass_add(&sum, &part, &X);
        body->mass = sum.mass;
        body->com = sum.com;
        body->inertia = sum.inertia;
        note(u, PERP_IMPORT_REPAIRED, body->at, "shapes of links that move and have no mass",
             "they count, with 1000 kg/m^3");
    }
}

// A link that moves and has neither mass nor shapes.
static void weigh_nothing(urdf_reader *u, pp_robot_body *body)
{
    static const double mass = 1e-3, inertia = 0.4 * 1e-3 * 1e-4;  // 1 g, a sphere of 1 cm
    body->mass = mass;
    body->inertia = (pp_mat3){{inertia, 0.0, 0.0, 0.0, inertia, 0.0, 0.0, 0.0, inertia}};
    note(u, PERP_IMPORT_REPAIRED, body->at,
         "links that move and have no mass, nor shapes that give them one", "they get 1 g");
}

static void check_masses(urdf_reader *u)
{
    pp_robot *robot = u->robot;
    double *mass = PP_ZEROS(u->arena, double, robot->bodies);
    bool *carries = PP_ZEROS(u->arena, bool, robot->bodies);
    bool *light = PP_ZEROS(u->arena, bool, robot->bodies);
    if (!mass || !carries || !light) {
        no_memory(u);
        return;
    }
    for (int i = 1; i < robot->bodies; i++) {
        mass[robot->body[i].carrier] += robot->body[i].mass;
    }
    for (int i = 1; i < robot->bodies; i++) {
        light[i] = robot->body[i].carrier == i && !(mass[i] > 0.0);
    }
    weigh_shapes(u, light);
    memset(mass, 0, (size_t)robot->bodies * sizeof *mass);
    for (int i = 1; i < robot->bodies; i++) {
        mass[robot->body[i].carrier] += robot->body[i].mass;
    }
    // Links without mass are frames between joints, unless they carry nothing.
    for (int i = robot->bodies - 1; i > 0; i--) {
        bool moves = robot->body[i].carrier == i;
        carries[i] = carries[i] || mass[i] > 0.0;
        bool shaped = pp_xml_child(robot->body[i].at, "collision", NULL) != NULL;
        if (moves && !(mass[i] > 0.0) && (!carries[i] || shaped)) {
            weigh_nothing(u, &robot->body[i]);
            carries[i] = true;
        }
        carries[robot->body[i].parent] = carries[robot->body[i].parent] || carries[i];
    }
}

// ── The model ────────────────────────────────────────────────────────────────────────────────────

static const char shown[] = "appearance";
static const char other[] = "data of other programs";
static const pp_unused unused[] = {
    {"visual", NULL, "visual shapes and materials", shown},
    {"material", NULL, "visual shapes and materials", shown},
    {"transmission", NULL, "<transmission>", "add actuators to the scene"},
    {"gazebo", NULL, "<gazebo>", other},
    {"safety_controller", NULL, "<safety_controller>", "controllers are not part of the model"},
    {"calibration", NULL, "<calibration>", "controllers are not part of the model"},
    {"limit", "velocity", "velocity limits of joints", "scenes have none"},
    {"robot", "xmlns*", "names of XML", other},
    {"robot", "version", "names of XML", other},
};

perp_status pp_urdf_read(pp_xml *root, pp_import_files *files, pp_import_report *report,
                         pp_robot *robot, perp_error *error)
{
    urdf_reader u = {.arena = robot->arena,
                     .robot = robot,
                     .names = {.arena = robot->arena},
                     .report = report,
                     .files = files,
                     .error = error};
    int count = 0;
    for (const pp_xml *at = root->child; at; at = at->next) {
        count++;
    }
    if (count > LINKS_MOST) {
        return pp_xml_fail(root, error, "has more than %d links and joints", LINKS_MOST);
    }
    root->seen = true;
    robot->name = pp_xml_value(root, "name");
    robot->gravity = pp_vec(0.0, 0.0, -9.81);
    robot->timestep = 0.002;
    robot->apart_from_ground = true;
    // The world comes first, as the body 0 of every robot.
    u.link = PP_ARRAY(u.arena, urdf_link, count + 1);
    u.joint = PP_ARRAY(u.arena, urdf_joint, count + 1);
    u.still = PP_ZEROS(u.arena, bool, count + 2);
    pp_robot_body *world = pp_robot_add_body(robot);
    if (!u.link || !u.joint || !u.still || !world) {
        no_memory(&u);
        return u.status;
    }
    *world = (pp_robot_body){.name = "world", .quat = {1.0, 0.0, 0.0, 0.0}, .at = root};
    read_materials(&u, root);
    if (u.status == PERP_OK) {
        list_links(&u, root);
    }
    if (u.status == PERP_OK) {
        list_joints(&u, root);
    }
    if (u.status == PERP_OK) {
        read_tree(&u);
    }
    if (u.status == PERP_OK) {
        pp_robot_number(robot);
        read_mimics(&u);
        check_masses(&u);
    }
    if (u.status == PERP_OK) {
        pp_report_unseen(report, root, unused, sizeof unused / sizeof unused[0]);
    }
    return u.status;
}

// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Bodies of an MJCF model with their joints, shapes and sites.
//
// MuJoCo numbers bodies depth first, and joints, shapes and sites by their bodies; so each body is read twice,
// first what it has itself, then the bodies below it.
#include "import/mjcf.h"

#include <math.h>
#include <string.h>

// Objects of all kinds in a model: copies of copies could make any number of them.
enum { OBJECTS_MOST = 50000, COPIES_MOST = 10000 };

// Where elements are: the body they belong to, the frame in it, and the class of defaults.
typedef struct mjcf_place {
    int body;
    pp_pose X;  // of the frame, in that of the body
    const pp_mjcf_class *class;
    int depth;
} mjcf_place;

static bool count_object(pp_mjcf *m, const pp_xml *at)
{
    if (++m->objects > OBJECTS_MOST) {
        pp_mjcf_fail(m, at, "the model has more than %d bodies, joints, geoms and sites",
                     OBJECTS_MOST);
    }
    return m->status == PERP_OK;
}

// The pose that an element gives, in the frame of the body.
static void put(const mjcf_place *p, perp_vec3 *pos, perp_quat *quat)
{
    pp_mat3 R = pp_quat_matrix(*quat);
    pp_pose own = {*pos, R}, X = pp_pose_mul(&p->X, &own);
    *pos = X.p;
    // Without a rotated frame the quaternion keeps its bits.
    if (p->X.R.m[0] != 1.0 || p->X.R.m[4] != 1.0 || p->X.R.m[8] != 1.0) {
        *quat = pp_matrix_quat(&X.R);
    }
}

// ── Joints ───────────────────────────────────────────────────────────────────────────────────────

static pp_robot_joint *add_joint(pp_mjcf *m, pp_xml *at, const mjcf_place *p)
{
    pp_robot_joint *joint = count_object(m, at) ? pp_robot_add_joint(m->robot) : NULL;
    if (!joint) {
        pp_mjcf_memory(m);
        return NULL;
    }
    pp_robot_body *body = &m->robot->body[p->body];
    if (body->joints++ == 0) {
        body->joint = m->robot->joints - 1;
    }
    *joint = (pp_robot_joint){.body = p->body, .axis = {0.0, 0.0, 1.0}, .at = at};
    return joint;
}

static void read_joint(pp_mjcf *m, pp_xml *at, const mjcf_place *p)
{
    bool plain = pp_xml_is(at, "freejoint");
    pp_mjcf_view v = pp_mjcf_look(m, at, plain ? NULL : "joint", p->class);
    pp_robot_joint *joint = add_joint(m, at, p);
    if (!joint) {
        return;
    }
    joint->name = pp_mjcf_name(&v, PP_ROBOT_LIST_joint, m->robot->joints - 1, "joint");
    joint->kind = plain ? PP_ROBOT_FREE
                        : (pp_robot_joint_kind)pp_mjcf_word(&v, "type", "free ball slide hinge",
                                                            PP_ROBOT_HINGE);
    if (p->body == 0) {
        pp_mjcf_fail(m, at, "the world has no joints");
        return;
    }
    if (joint->kind == PP_ROBOT_FREE && m->robot->body[p->body].parent != 0) {
        pp_mjcf_fail(m, at, "only a child of the world can be free");
        return;
    }
    const pp_robot_body *body = &m->robot->body[p->body];
    bool after_free = body->joints > 1 && m->robot->joint[body->joint].kind == PP_ROBOT_FREE;
    if (after_free || (joint->kind == PP_ROBOT_FREE && body->joints > 1)) {
        pp_mjcf_fail(m, at, "a free joint must be the only joint of its body; remove the others");
        return;
    }
    if (plain) {
        return;  // takes no defaults
    }
    double unit = joint->kind == PP_ROBOT_SLIDE ? 1.0 : pp_mjcf_angle(m, 1.0);
    perp_vec3 axis = pp_mjcf_vec3(&v, "axis", pp_vec(0.0, 0.0, 1.0));
    joint->pos = pp_pose_point(&p->X, pp_mjcf_vec3(&v, "pos", pp_vec(0.0, 0.0, 0.0)));
    if (joint->kind >= PP_ROBOT_SLIDE && !(pp_length(axis) > 1e-12)) {
        pp_mjcf_fail(m, at, "axis=\"0 0 0\" has no direction");
        return;
    }
    joint->axis = pp_mul(&p->X.R, pp_unit(axis, joint->axis));
    joint->range = pp_mjcf_range(&v, "range", "limited", unit);
    joint->force = pp_mjcf_range(&v, "actuatorfrcrange", "actuatorfrclimited", 1.0);
    joint->ref = unit * pp_mjcf_real(&v, "ref", 0.0);
    joint->springref = unit * pp_mjcf_real(&v, "springref", 0.0);
    joint->stiffness = pp_mjcf_linear(&v, "stiffness");
    joint->damping = pp_mjcf_linear(&v, "damping");
    joint->armature = pp_mjcf_real(&v, "armature", 0.0);
    joint->friction = pp_mjcf_real(&v, "frictionloss", 0.0);
    if (joint->kind == PP_ROBOT_FREE) {
        joint->range.set = false;
    }
    if (joint->stiffness < 0.0 || joint->damping < 0.0 || joint->armature < 0.0 ||
        joint->friction < 0.0) {
        pp_mjcf_fail(m, at, "stiffness, damping, armature and frictionloss must be >= 0");
    }
}

// ── Shapes and sites ─────────────────────────────────────────────────────────────────────────────

// Sizes that a kind of shape needs.
static int sizes_of(pp_robot_geom_kind kind)
{
    switch (kind) {
    case PP_ROBOT_SPHERE:
        return 1;
    case PP_ROBOT_CAPSULE:
    case PP_ROBOT_CYLINDER:
        return 2;
    case PP_ROBOT_ELLIPSOID:
    case PP_ROBOT_BOX:
        return 3;
    default:
        return 0;
    }
}

// fromto: the ends of the axis, with z from the second to the first.
static bool read_fromto(const pp_mjcf_view *v, perp_vec3 *pos, perp_quat *quat, double *half)
{
    double x[6];
    if (pp_mjcf_reals(v, "fromto", 6, 6, x) == 0) {
        return false;
    }
    perp_vec3 from = pp_vec(x[0], x[1], x[2]), to = pp_vec(x[3], x[4], x[5]);
    perp_vec3 along = pp_sub(from, to);
    *half = 0.5 * pp_length(along);
    *pos = pp_scale(0.5, pp_add(from, to));
    *quat = pp_mjcf_z_to(along);
    if (!(*half > 0.0)) {
        pp_mjcf_fail(v->m, v->at, "fromto: the two points are the same");
    }
    return true;
}

static void read_size(const pp_mjcf_view *v, pp_robot_geom *geom)
{
    double half = 0.0;
    perp_quat quat;
    geom->pos = pp_mjcf_vec3(v, "pos", pp_vec(0.0, 0.0, 0.0));
    pp_mjcf_turn(v, &quat);
    geom->quat = quat;
    int need = sizes_of(geom->kind), given = pp_mjcf_reals(v, "size", 0, 3, geom->size);
    bool line = need >= 2 && read_fromto(v, &geom->pos, &geom->quat, &half);
    if (line && need == 2) {
        geom->size[1] = half;
    } else if (line) {
        geom->size[1] = geom->size[0];
        geom->size[2] = half;
    }
    given = line && given > 0 ? need : given;
    for (int k = 0; k < need; k++) {
        if ((given <= k || !(geom->size[k] > 0.0)) && geom->mesh < 0) {
            pp_mjcf_fail(v->m, v->at, "size must have %d positive number%s", need,
                         need == 1 ? "" : "s");
            return;
        }
    }
}

static void read_contact(const pp_mjcf_view *v, pp_robot_geom *geom)
{
    static const double standard[3] = {1.0, 0.005, 0.0001};
    memcpy(geom->friction, standard, sizeof standard);
    pp_mjcf_reals(v, "friction", 1, 3, geom->friction);
    geom->contype = (unsigned)pp_mjcf_int(v, "contype", 0, INT32_MAX, 1);
    geom->conaffinity = (unsigned)pp_mjcf_int(v, "conaffinity", 0, INT32_MAX, 1);
    geom->condim = pp_mjcf_int(v, "condim", 1, 6, 3);
    geom->priority = pp_mjcf_int(v, "priority", INT32_MIN, INT32_MAX, 0);
    if (geom->condim == 2 || geom->condim == 5) {
        pp_mjcf_fail(v->m, v->at, "condim must be 1, 3, 4 or 6");
    }
    for (int k = 0; k < 3; k++) {
        if (geom->friction[k] < 0.0) {
            pp_mjcf_fail(v->m, v->at, "friction must be >= 0");
        }
    }
}

// Groups 0 to 2 are those that MuJoCo shows. A colour of the geom itself counts before that of its material.
static void read_looks(const pp_mjcf_view *v, pp_robot_geom *geom)
{
    static const int GROUP_SHOWN = 2;
    double rgba[4] = {0.5, 0.5, 0.5, 1.0};
    geom->colour = -1;
    geom->in_view = geom->group <= GROUP_SHOWN;
    const char *name = pp_mjcf_text(v, "material");
    int material = name ? pp_robot_find(v->m->robot, PP_ROBOT_LIST_material, name) : -1;
    if (name && material < 0) {
        pp_report_add(v->m->report, PERP_IMPORT_NOT_USED, v->at, "materials that do not exist", "");
    }
    if (pp_mjcf_reals(v, "rgba", 4, 4, rgba) > 0) {
        geom->colour = pp_robot_colour(rgba);
        geom->in_view = geom->in_view && rgba[3] > 0.0;
    } else if (material >= 0) {
        geom->colour = v->m->robot->material[material].colour;
        geom->in_view = geom->in_view && v->m->robot->material[material].opacity > 0.0;
    }
}

static void read_geom(pp_mjcf *m, pp_xml *at, const mjcf_place *p)
{
    pp_mjcf_view v = pp_mjcf_look(m, at, "geom", p->class);
    pp_robot_geom *geom = count_object(m, at) ? pp_robot_add_geom(m->robot) : NULL;
    if (!geom) {
        pp_mjcf_memory(m);
        return;
    }
    *geom = (pp_robot_geom){.body = p->body, .mesh = -1, .hfield = -1, .at = at};
    geom->name = pp_mjcf_name(&v, PP_ROBOT_LIST_geom, m->robot->geoms - 1, "geom");
    geom->kind = (pp_robot_geom_kind)pp_mjcf_word(
        &v, "type", "plane hfield sphere capsule ellipsoid cylinder box mesh sdf", PP_ROBOT_SPHERE);
    // The mesh comes first: shapes that are fitted to one have no size.
    geom->hfield = pp_mjcf_refer(&v, "hfield", PP_ROBOT_LIST_hfield);
    if (geom->kind == PP_ROBOT_HFIELD && geom->hfield < 0) {
        pp_mjcf_fail(m, at, "a geom of type hfield needs an hfield");
    }
    geom->mesh = pp_mjcf_refer(&v, "mesh", PP_ROBOT_LIST_mesh);
    read_contact(&v, geom);
    read_size(&v, geom);
    put(p, &geom->pos, &geom->quat);
    geom->mass = pp_mjcf_real(&v, "mass", -1.0);
    geom->density = pp_mjcf_real(&v, "density", 1000.0);
    geom->group = pp_mjcf_int(&v, "group", INT32_MIN, INT32_MAX, 0);
    read_looks(&v, geom);
    if (geom->density < 0.0 || (geom->mass < 0.0 && pp_mjcf_text(&v, "mass"))) {
        pp_mjcf_fail(m, at, "mass and density must be >= 0");
    }
    if (geom->kind == PP_ROBOT_MESH && geom->mesh < 0) {
        pp_mjcf_fail(m, at, "a geom of type mesh needs a mesh");
    }
    if (m->status == PERP_OK && geom->mesh >= 0 && geom->kind != PP_ROBOT_MESH) {
        pp_mjcf_fail(m, at, "fitting a %s to a mesh is not supported; give its size",
                     pp_mjcf_text(&v, "type"));
    }
}

static void read_site(pp_mjcf *m, pp_xml *at, const mjcf_place *p)
{
    pp_mjcf_view v = pp_mjcf_look(m, at, "site", p->class);
    pp_robot_site *site = count_object(m, at) ? pp_robot_add_site(m->robot) : NULL;
    double half;
    if (!site) {
        pp_mjcf_memory(m);
        return;
    }
    *site = (pp_robot_site){.body = p->body, .at = at};
    site->name = pp_mjcf_name(&v, PP_ROBOT_LIST_site, m->robot->sites - 1, "site");
    site->pos = pp_mjcf_vec3(&v, "pos", pp_vec(0.0, 0.0, 0.0));
    pp_mjcf_turn(&v, &site->quat);
    read_fromto(&v, &site->pos, &site->quat, &half);
    site->kind =
        (pp_robot_geom_kind)(PP_ROBOT_SPHERE +
                             pp_mjcf_word(&v, "type", "sphere capsule ellipsoid cylinder box", 0));
    for (int k = 0; k < 3; k++) {
        site->size[k] = 0.005;  // MuJoCo's default
    }
    pp_mjcf_reals(&v, "size", 1, 3, site->size);
    put(p, &site->pos, &site->quat);
}

// ── Mass ─────────────────────────────────────────────────────────────────────────────────────────

static void read_inertial(pp_mjcf *m, pp_xml *at, const mjcf_place *p)
{
    pp_mjcf_view v = pp_mjcf_look(m, at, NULL, p->class);
    pp_robot_body *body = &m->robot->body[p->body];
    double I[6] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
    body->com = pp_mjcf_vec3(&v, "pos", pp_vec(0.0, 0.0, 0.0));
    body->mass = pp_mjcf_real(&v, "mass", -1.0);
    perp_quat quat;
    pp_mjcf_turn(&v, &quat);
    put(p, &body->com, &quat);
    if (pp_mjcf_reals(&v, "fullinertia", 6, 6, I) == 0 &&
        pp_mjcf_reals(&v, "diaginertia", 3, 3, I) == 0) {
        pp_mjcf_fail(m, at, "needs diaginertia or fullinertia");
    }
    pp_mat3 own = {{I[0], I[3], I[4], I[3], I[1], I[5], I[4], I[5], I[2]}};
    pp_mat3 R = pp_quat_matrix(quat);
    body->inertia = pp_turn_tensor(&R, &own);
    if (body->mass < 0.0) {
        pp_mjcf_fail(m, at, "needs a mass >= 0");
    }
}

// Mass from shapes: all of the body whose group is in range, whether they collide or not.
static void weigh_body(pp_mjcf *m, int first, pp_robot_body *body)
{
    pp_robot_mass sum = {0};
    for (int k = first; k < m->robot->geoms; k++) {
        if (m->status < 0) {
            return;
        }
        const pp_robot_geom *geom = &m->robot->geom[k];
        bool counts = geom->group >= m->group_low && geom->group <= m->group_high &&
                      geom->mass != 0.0 && (geom->mass > 0.0 || geom->density > 0.0);
        if (!counts) {
            continue;
        }
        // Only now is the file of the mesh needed.
        if (geom->mesh >= 0) {
            pp_mjcf_mesh_load(m, geom->mesh);
            pp_robot_mesh *mesh = &m->robot->mesh[geom->mesh];
            perp_status status =
                m->status == PERP_OK ? pp_robot_mesh_weigh(mesh, m->arena, m->error) : m->status;
            m->status = status < 0 ? status : m->status;
            if (m->status == PERP_OK && mesh->missing) {
                pp_mjcf_fail(m, geom->at, "the mass of the body depends on the mesh '%.60s', %s",
                             mesh->name,
                             mesh->file ? "whose file does not exist"
                                        : "which MuJoCo makes itself: write it as STL or OBJ");
            }
        }
        pp_robot_mass part;
        if (m->status < 0 || !pp_robot_geom_volume(m->robot, geom, &part)) {
            continue;
        }
        double scale = geom->mass > 0.0 ? geom->mass / part.mass : geom->density;
        part.mass *= scale;
        for (int e = 0; e < 9; e++) {
            part.inertia.m[e] *= scale;
        }
        pp_pose X = {geom->pos, pp_quat_matrix(geom->quat)};
        pp_robot_mass_add(&sum, &part, &X);
    }
    body->mass = sum.mass;
    body->com = sum.com;
    body->inertia = sum.inertia;
}

// ── The tree ─────────────────────────────────────────────────────────────────────────────────────

static void read_parts(pp_mjcf *m, pp_xml *at, const mjcf_place *p, bool bodies);

static void read_frame(pp_mjcf *m, pp_xml *at, const mjcf_place *p, bool bodies)
{
    pp_mjcf_view v = pp_mjcf_look(m, at, NULL, p->class);
    pp_xml_value(at, "name");  // nothing refers to a frame
    const char *child = pp_xml_value(at, "childclass");
    perp_vec3 pos = pp_mjcf_vec3(&v, "pos", pp_vec(0.0, 0.0, 0.0));
    perp_quat quat;
    pp_mjcf_turn(&v, &quat);
    pp_pose own = {pos, pp_quat_matrix(quat)};
    mjcf_place inner = *p;
    inner.X = pp_pose_mul(&p->X, &own);
    inner.class = child ? pp_mjcf_class_named(m, at, child) : p->class;
    read_parts(m, at, &inner, bodies);
}

// Each copy is moved from the one before it; names get its number.
static void read_copies(pp_mjcf *m, pp_xml *at, const mjcf_place *p, bool bodies)
{
    pp_mjcf_view v = pp_mjcf_look(m, at, NULL, p->class);
    int count = pp_mjcf_int(&v, "count", 0, COPIES_MOST, 1), digits = 1;
    perp_vec3 offset = pp_mjcf_vec3(&v, "offset", pp_vec(0.0, 0.0, 0.0));
    const char *sep = pp_xml_value(at, "sep"), *outer = m->suffix;
    perp_quat quat;
    pp_mjcf_turn(&v, &quat);
    pp_pose turn = {offset, pp_quat_matrix(quat)};
    mjcf_place inner = *p;
    for (int n = count - 1; n >= 10; n /= 10) {
        digits++;
    }
    for (int k = 0; k < count; k++) {
        if (m->status < 0) {
            return;
        }
        char *suffix = PP_ARRAY(m->arena, char, strlen(outer) + 80);
        if (!suffix) {
            pp_mjcf_memory(m);
            return;
        }
        pp_print(suffix, strlen(outer) + 80, "%.40s%0*d%s", sep ? sep : "", digits, k, outer);
        // Copies count as objects, so that nested ones cannot go on for ever without making any.
        m->suffix = suffix;
        if (!count_object(m, at)) {
            break;
        }
        read_parts(m, at, &inner, bodies);
        inner.X = pp_pose_mul(&inner.X, &turn);
    }
    m->suffix = outer;
}

static void read_body(pp_mjcf *m, pp_xml *at, const mjcf_place *p)
{
    pp_mjcf_view v = pp_mjcf_look(m, at, NULL, p->class);
    pp_robot_body *body = count_object(m, at) ? pp_robot_add_body(m->robot) : NULL;
    if (!body) {
        pp_mjcf_memory(m);
        return;
    }
    int self = m->robot->bodies - 1, first = m->robot->geoms;
    const char *child = pp_xml_value(at, "childclass");
    *body = (pp_robot_body){.parent = p->body, .at = at, .mass = -1.0};
    body->name = pp_mjcf_name(&v, PP_ROBOT_LIST_body, self, "body");
    body->pos = pp_mjcf_vec3(&v, "pos", pp_vec(0.0, 0.0, 0.0));
    pp_mjcf_turn(&v, &body->quat);
    put(p, &body->pos, &body->quat);
    body->gravcomp = pp_mjcf_real(&v, "gravcomp", 0.0);
    body->mocap = pp_mjcf_word(&v, "mocap", "false true", 0) == 1;
    mjcf_place inner = {.body = self,
                        .X = {{0.0, 0.0, 0.0}, pp_identity3()},
                        .class = child ? pp_mjcf_class_named(m, at, child) : p->class,
                        .depth = p->depth + 1};
    read_parts(m, at, &inner, false);
    // The array may have moved.
    body = &m->robot->body[self];
    bool given = body->mass >= 0.0;
    bool moves = body->joints > 0 || m->robot->body[body->parent].carrier > 0;
    body->carrier = moves ? self : 0;  // for now: only whether it moves
    if (!given) {
        body->mass = 0.0;
    }
    if ((m->from_geom == 1 || (m->from_geom == 2 && !given)) && moves && m->status == PERP_OK) {
        weigh_body(m, first, body);
    }
    read_parts(m, at, &inner, true);
}

// The body of that name below `top`.
static pp_xml *find_body(pp_xml *top, const char *name)
{
    for (pp_xml *at = top; at; at = pp_xml_walk(top, at)) {
        const char *own = pp_xml_is(at, "body") ? pp_xml_value(at, "name") : NULL;
        if (own && strcmp(own, name) == 0) {
            return at;
        }
    }
    return NULL;
}

// The body of another model that <attach> names, or all that its world has.
static void read_attached(pp_mjcf *m, pp_xml *at, const mjcf_place *p)
{
    const char *name = pp_xml_value(at, "body");
    pp_mjcf *part = pp_mjcf_attach(m, at);
    if (!part) {
        return;
    }
    mjcf_place inner = *p;
    inner.class = part->main;
    part->joint0 = m->robot->joints;
    bool found = false;
    for (pp_xml *world = pp_xml_child(part->root, "worldbody", NULL); world;
         world = pp_xml_child(part->root, "worldbody", world)) {
        pp_xml *body = name ? find_body(world, name) : NULL;
        if (body) {
            read_body(part, body, &inner);
            found = true;
        } else if (!name) {
            read_parts(part, world, &inner, false);
            read_parts(part, world, &inner, true);
            found = true;
        }
        // What else the world of that model has stays where it is.
        for (pp_xml *rest = world->child; rest; rest = rest->next) {
            if (name && !rest->seen) {
                pp_xml_see_all(rest);
                pp_report_add(m->report, PERP_IMPORT_NOT_USED, rest,
                              "parts of attached models beside the body that is attached",
                              "the model does not ask for them");
            }
        }
    }
    part->joints = m->robot->joints - part->joint0;
    m->objects = part->objects;
    m->status = part->status;
    if (!found && m->status == PERP_OK) {
        pp_mjcf_fail(m, at, "the model has no body '%.60s'", name ? name : "");
    }
}

// bodies: only the bodies below, else all but them.
static void read_parts(pp_mjcf *m, pp_xml *at, const mjcf_place *p, bool bodies)
{
    for (pp_xml *child = at->child; child; child = child->next) {
        if (m->status < 0) {
            return;
        }
        if (pp_xml_is(child, "frame")) {
            read_frame(m, child, p, bodies);
        } else if (pp_xml_is(child, "replicate")) {
            read_copies(m, child, p, bodies);
        } else if (pp_xml_is(child, "attach")) {
            if (bodies) {
                read_attached(m, child, p);
            }
        } else if (pp_xml_is(child, "composite") || pp_xml_is(child, "flexcomp")) {
            pp_mjcf_fail(m, child, "<%s> is not supported; write the bodies out", child->name);
        } else if (bodies) {
            // The second pass is for bodies alone.
            if (pp_xml_is(child, "body")) {
                read_body(m, child, p);
            }
        } else if (pp_xml_is(child, "joint") || pp_xml_is(child, "freejoint")) {
            read_joint(m, child, p);
        } else if (pp_xml_is(child, "geom")) {
            read_geom(m, child, p);
        } else if (pp_xml_is(child, "site")) {
            read_site(m, child, p);
        } else if (pp_xml_is(child, "inertial")) {
            read_inertial(m, child, p);
        }
    }
}

void pp_mjcf_bodies(pp_mjcf *m, pp_xml *root)
{
    pp_robot_body *world = pp_robot_add_body(m->robot);
    bool full = false;
    if (!world || !pp_robot_enter(m->robot, PP_ROBOT_LIST_body, "world", 0, &full)) {
        pp_mjcf_memory(m);
        return;
    }
    *world = (pp_robot_body){.name = "world", .quat = {1.0, 0.0, 0.0, 0.0}, .at = root};
    // Several <worldbody> sections are one: what the world has itself comes first.
    mjcf_place top = {.X = {{0.0, 0.0, 0.0}, pp_identity3()}, .class = m->main};
    for (int pass = 0; pass < 2; pass++) {
        for (pp_xml *at = pp_xml_child(root, "worldbody", NULL); at;
             at = pp_xml_child(root, "worldbody", at)) {
            if (m->status < 0) {
                return;
            }
            const char *child = pp_xml_value(at, "childclass");
            mjcf_place p = top;
            p.class = child ? pp_mjcf_class_named(m, at, child) : top.class;
            read_parts(m, at, &p, pass == 1);
        }
    }
}

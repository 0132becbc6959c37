// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// An MJCF model as a whole: settings, the order of the sections, and what is left unused.
#include "import/mjcf.h"

#include <string.h>

// ── What scenes have no use for ──────────────────────────────────────────────────────────────────

static const char shown[] = "appearance";
static const char soft[] = "contact, limits and equalities are rigid in perp";
static const char softness[] = "softness: solref, solimp, margin, gap, impratio and the like";
static const char solver[] = "perp has solvers of its own";
static const char settings[] = "settings of MuJoCo's solver and integrator";
static const char looks[] = "looks: textures, reflectance, cameras, lights";

static const pp_unused unused[] = {
    {"visual", NULL, looks, shown},
    {"statistic", NULL, looks, shown},
    {"camera", NULL, looks, shown},
    {"light", NULL, looks, shown},
    {"material", NULL, looks, shown},
    {"texture", NULL, looks, shown},
    {"skin", NULL, looks, shown},
    {"material", "texture", looks, shown},
    {"material", "texrepeat", looks, shown},
    {"material", "texuniform", looks, shown},
    {"material", "emission", looks, shown},
    {"material", "specular", looks, shown},
    {"material", "shininess", looks, shown},
    {"material", "reflectance", looks, shown},
    {"material", "metallic", looks, shown},
    {"material", "roughness", looks, shown},
    {"*", "rgba", looks, shown},
    {"mujoco", "model", "names of attached models", "the scene has that of the main one"},
    {"*", "material", looks, shown},
    {"compiler", "texturedir", looks, shown},
    {"tendon", "width", looks, shown},
    {"spatial", "width", looks, shown},
    {"spatial", "group", looks, shown},
    {"fixed", "group", looks, shown},
    {"actuator", "group", looks, shown},
    {"site", "size", looks, shown},
    {"site", "type", looks, shown},
    {"site", "group", looks, shown},
    {"joint", "group", looks, shown},
    {"tendon", "group", looks, shown},
    {"*", "solref", softness, soft},
    {"*", "solimp", softness, soft},
    {"*", "solreflimit", softness, soft},
    {"*", "solimplimit", softness, soft},
    {"*", "solreffriction", softness, soft},
    {"*", "solimpfriction", softness, soft},
    {"*", "solmix", softness, soft},
    {"*", "margin", softness, soft},
    {"*", "gap", softness, soft},
    {"option", "impratio", softness, soft},
    {"option", "iterations", settings, solver},
    {"option", "tolerance", settings, solver},
    {"option", "ls_iterations", settings, solver},
    {"option", "ls_tolerance", settings, solver},
    {"option", "noslip_iterations", settings, solver},
    {"option", "noslip_tolerance", settings, solver},
    {"option", "ccd_iterations", settings, solver},
    {"option", "ccd_tolerance", settings, solver},
    {"option", "mpr_iterations", settings, solver},
    {"option", "mpr_tolerance", settings, solver},
    {"option", "sdf_iterations", settings, solver},
    {"option", "sdf_initpoints", settings, solver},
    {"option", "sleep_tolerance", settings, solver},
    {"option", "integrator", settings, solver},
    {"option", "cone", settings, solver},
    {"option", "jacobian", settings, solver},
    {"option", "solver", settings, solver},
    {"option", "apirate", settings, solver},
    {"option", "wind", NULL, "perp has no forces of a medium"},
    {"option", "magnetic", NULL, "scenes have no magnetometers"},
    {"option", "o_*", softness, soft},
    {"flag", "warmstart", settings, solver},
    {"flag", "refsafe", settings, solver},
    {"flag", "sensor", settings, solver},
    {"flag", "midphase", settings, solver},
    {"flag", "eulerdamp", settings, solver},
    {"flag", "autoreset", settings, solver},
    {"flag", "nativeccd", settings, solver},
    {"flag", "island", settings, solver},
    {"flag", "energy", settings, solver},
    {"flag", "fwdinv", settings, solver},
    {"flag", "invdiscrete", settings, solver},
    {"flag", "multiccd", settings, solver},
    {"flag", "sleep", settings, solver},
    {"size", NULL, "<size>", "memory is allocated as needed"},
    {"custom", NULL, "<custom>", "data of other programs"},
    {"*", "user", "user data", "data of other programs"},
    {"plugin", NULL, "<plugin>", "code of other programs"},
    {"extension", NULL, "<extension>", "code of other programs"},
    {"deformable", NULL, "<deformable>", "perp simulates rigid bodies"},
    {"mesh", "normal", looks, shown},
    {"mesh", "texcoord", looks, shown},
    {"mesh", "smoothnormal", looks, shown},
    {"geom", "shellinertia", NULL, "only meshes can be shells; the shape is solid"},
    {"mesh", "maxhullvert", NULL, "the whole convex hull is used"},
    {"mesh", "content_type", NULL, "formats are recognised by their content"},
};

// ── Settings ─────────────────────────────────────────────────────────────────────────────────────

static void read_euler(pp_mjcf *m, const pp_mjcf_view *v)
{
    const char *text = pp_mjcf_text(v, "eulerseq");
    if (!text) {
        return;
    }
    if (strlen(text) != 3 || strspn(text, "xyzXYZ") != 3) {
        pp_mjcf_fail(m, v->at, "eulerseq=\"%.20s\" must be three of xyzXYZ", text);
        return;
    }
    memcpy(m->eulerseq, text, 4);
}

// Attributes of later elements win.
static void read_compiler(pp_mjcf *m, pp_xml *at)
{
    pp_mjcf_view v = {m, at, NULL, NULL};
    at->seen = true;
    m->degree = pp_mjcf_word(&v, "angle", "radian degree", m->degree) == 1;
    m->autolimits = pp_mjcf_word(&v, "autolimits", "false true", m->autolimits) == 1;
    m->balance = pp_mjcf_word(&v, "balanceinertia", "false true", m->balance) == 1;
    m->strip_path = pp_mjcf_word(&v, "strippath", "false true", m->strip_path) == 1;
    m->from_geom = pp_mjcf_word(&v, "inertiafromgeom", "false true auto", m->from_geom);
    m->total_mass = pp_mjcf_real(&v, "settotalmass", m->total_mass);
    m->bound_mass = pp_mjcf_real(&v, "boundmass", m->bound_mass);
    m->bound_inertia = pp_mjcf_real(&v, "boundinertia", m->bound_inertia);
    double range[2] = {m->group_low, m->group_high};
    pp_mjcf_reals(&v, "inertiagrouprange", 2, 2, range);
    m->group_low = (int)(range[0] > -1e9 ? range[0] : -1e9);
    m->group_high = (int)(range[1] < 1e9 ? range[1] : 1e9);
    read_euler(m, &v);
    // meshdir takes precedence over assetdir.
    const char *assets = pp_mjcf_text(&v, "assetdir"), *meshes = pp_mjcf_text(&v, "meshdir");
    m->mesh_dir = assets ? assets : m->mesh_dir;
    m->mesh_dir = meshes ? meshes : m->mesh_dir;
    // Bodies without joints are merged in any case; coordinates are always local.
    pp_xml_value(at, "fusestatic");
    const char *coordinate = pp_xml_value(at, "coordinate");
    if (coordinate && strcmp(coordinate, "local") != 0) {
        pp_mjcf_fail(m, at, "coordinate=\"%.20s\" is not supported, only local", coordinate);
    }
}

static void read_option(pp_mjcf *m, pp_xml *at)
{
    pp_mjcf_view v = {m, at, NULL, NULL};
    at->seen = true;
    m->robot->timestep = pp_mjcf_real(&v, "timestep", m->robot->timestep);
    m->robot->gravity = pp_mjcf_vec3(&v, "gravity", m->robot->gravity);
    if (!(m->robot->timestep > 0.0)) {
        pp_mjcf_fail(m, at, "timestep must be > 0");
    }
    // Bodies move in a vacuum; flags that are not here concern MuJoCo's algorithms.
    double fluid = pp_mjcf_real(&v, "density", 0.0) + pp_mjcf_real(&v, "viscosity", 0.0);
    if (fluid != 0.0) {
        pp_report_add(m->report, PERP_IMPORT_NOT_USED, at, "<option density, viscosity>",
                      "perp has no forces of a medium");
    }
    static const char *const flags[PP_MJCF_FLAGS] = {
        "constraint", "equality", "frictionloss", "limit",     "contact",   "passive",
        "spring",     "damper",   "gravity",      "clampctrl", "actuation", "filterparent"};
    for (pp_xml *flag = pp_xml_child(at, "flag", NULL); flag;
         flag = pp_xml_child(at, "flag", flag)) {
        pp_mjcf_view f = {m, flag, NULL, NULL};
        for (int k = 0; k < PP_MJCF_FLAGS; k++) {
            m->off[k] = pp_mjcf_word(&f, flags[k], "disable enable", !m->off[k]) == 0;
            if (m->off[k]) {
                pp_report_say(m->report, PERP_IMPORT_USED, flag, "%s switched off by the model",
                              flags[k]);
            }
        }
    }
}

// What the model switches off is left out of the robot.
static void apply_flags(pp_mjcf *m)
{
    pp_robot *robot = m->robot;
    const bool *off = m->off;
    // "constraint" stands for limits, friction, contact and equalities, "passive" for springs and dampers
    bool all = off[PP_OFF_CONSTRAINT], passive = off[PP_OFF_PASSIVE];
    bool limit = all || off[PP_OFF_LIMIT], friction = all || off[PP_OFF_FRICTION];
    bool spring = passive || off[PP_OFF_SPRING], damper = passive || off[PP_OFF_DAMPER];
    robot->no_contact = all || off[PP_OFF_CONTACT];
    robot->touch_parents = off[PP_OFF_FILTER_PARENT];
    robot->equalities = all || off[PP_OFF_EQUALITY] ? 0 : robot->equalities;
    if (off[PP_OFF_GRAVITY]) {
        robot->gravity = pp_vec(0.0, 0.0, 0.0);
    }
    for (int j = 0; j < robot->joints; j++) {
        pp_robot_joint *joint = &robot->joint[j];
        joint->range.set = joint->range.set && !limit;
        joint->friction = friction ? 0.0 : joint->friction;
        joint->stiffness = spring ? 0.0 : joint->stiffness;
        joint->damping = damper ? 0.0 : joint->damping;
    }
    for (int k = 0; k < robot->tendons; k++) {
        pp_robot_tendon *tendon = &robot->tendon[k];
        tendon->range.set = tendon->range.set && !limit;
        tendon->friction = friction ? 0.0 : tendon->friction;
        tendon->stiffness = spring ? 0.0 : tendon->stiffness;
        tendon->damping = damper ? 0.0 : tendon->damping;
    }
    for (int k = 0; k < robot->actuators; k++) {
        robot->actuator[k].control.set = robot->actuator[k].control.set && !off[PP_OFF_CLAMP];
        robot->actuator[k].off = off[PP_OFF_ACTUATION];
    }
    for (int i = 0; i < robot->bodies; i++) {
        robot->body[i].gravcomp = passive ? 0.0 : robot->body[i].gravcomp;
    }
}

// ── Masses ───────────────────────────────────────────────────────────────────────────────────────

static void scale_body(pp_robot_body *body, double s)
{
    body->mass *= s;
    for (int e = 0; e < 9; e++) {
        body->inertia.m[e] *= s;
    }
}

// Bounds and balance of the principal moments.
static void adjust_inertia(pp_mjcf *m, pp_robot_body *body)
{
    double e[3];
    pp_mat3 axes;
    pp_robot_principal(&body->inertia, e, &axes);
    bool raised = false;
    for (int k = 0; k < 3; k++) {
        bool low = e[k] < m->bound_inertia;
        raised = raised || low;
        e[k] = low ? m->bound_inertia : e[k];
    }
    bool unbalanced =
        m->balance && (e[0] + e[1] < e[2] || e[0] + e[2] < e[1] || e[1] + e[2] < e[0]);
    if (unbalanced) {
        e[0] = e[1] = e[2] = (e[0] + e[1] + e[2]) / 3.0;
        pp_report_say(m->report, PERP_IMPORT_USED, body->at, "balanceinertia: body '%.60s' changed",
                      body->name);
    }
    if (raised || unbalanced) {
        pp_mat3 own = {{e[0], 0.0, 0.0, 0.0, e[1], 0.0, 0.0, 0.0, e[2]}};
        body->inertia = pp_turn_tensor(&axes, &own);
        pp_report_say(m->report, PERP_IMPORT_USED, body->at, "boundinertia: body '%.60s' raised",
                      body->name);
    }
}

// boundmass and boundinertia are lower bounds; settotalmass comes last.
static void adjust_masses(pp_mjcf *m)
{
    double total = 0.0;
    for (int i = 1; i < m->robot->bodies; i++) {
        pp_robot_body *body = &m->robot->body[i];
        if (body->mass < m->bound_mass) {
            body->mass = m->bound_mass;
            pp_report_say(m->report, PERP_IMPORT_USED, body->at, "boundmass: body '%.60s' raised",
                          body->name);
        }
        if (m->bound_inertia > 0.0 || m->balance) {
            adjust_inertia(m, body);
        }
        total += body->mass;
    }
    for (int i = 1; m->total_mass > 0.0 && total > 0.0 && i < m->robot->bodies; i++) {
        scale_body(&m->robot->body[i], m->total_mass / total);
    }
}

// ── The model ────────────────────────────────────────────────────────────────────────────────────

// Names of sections that have a reader count as seen.
static void see_sections(pp_xml *root)
{
    static const char *const names[] = {"asset",   "worldbody", "actuator", "tendon", "equality",
                                        "contact", "keyframe",  "sensor",   "default"};
    for (pp_xml *at = root->child; at; at = at->next) {
        for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
            at->seen = at->seen || pp_xml_is(at, names[k]);
        }
    }
}

// Defaults of kinds that have a reader, but that no element uses.
static void see_defaults(const pp_mjcf *m)
{
    static const char *const kinds[] = {"joint",    "geom",     "site",    "tendon",
                                        "equality", "pair",     "general", "motor",
                                        "position", "velocity", "mesh"};
    for (const pp_mjcf_class *c = m->classes; c; c = c->next) {
        for (int k = 0; k < c->elements; k++) {
            pp_xml *at = c->element[k];
            bool known = at->attributes == 0;
            for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
                known = known || pp_xml_is(at, kinds[i]);
            }
            if (!at->seen && known) {
                pp_xml_see_all(at);
                pp_report_add(m->report, PERP_IMPORT_NOT_USED, at, "defaults that no element uses",
                              "");
            }
        }
    }
}

void pp_mjcf_settings(pp_mjcf *m, pp_xml *root)
{
    root->seen = true;
    pp_mjcf_include(m, root);
    // Settings apply to the whole model, wherever they stand; options are those of the main model.
    for (pp_xml *at = root->child; at; at = at->next) {
        if (m->status < 0) {
            break;
        }
        if (pp_xml_is(at, "compiler")) {
            read_compiler(m, at);
        } else if (pp_xml_is(at, "option") && m->depth == 0) {
            read_option(m, at);
        } else if (pp_xml_is(at, "option")) {
            pp_xml_see_all(at);
            pp_report_add(m->report, PERP_IMPORT_NOT_USED, at, "<option> of attached models",
                          "the main model has its own");
        }
    }
    if (m->status == PERP_OK) {
        pp_mjcf_defaults(m, root);
    }
    if (m->status == PERP_OK) {
        pp_mjcf_meshes(m, root);
        pp_mjcf_materials(m, root);
        pp_mjcf_hfields(m, root);
    }
}

// Tendons, actuators and the rest: those of attached models first, as in MuJoCo.
static void read_sections(pp_mjcf *m)
{
    for (pp_mjcf *part = m->part; part; part = part->next) {
        part->status = m->status;
        read_sections(part);
        m->status = part->status;
    }
    if (m->status == PERP_OK) {
        m->actuator0 = m->part ? m->part->actuator0 : m->robot->actuators;
        pp_mjcf_tendons(m, m->root);
        pp_mjcf_actuators(m, m->root);
        pp_mjcf_others(m, m->root);
    }
}

// What no reader has looked at, of the model and of those that are attached to it.
static void report_rest(pp_mjcf *m)
{
    see_sections(m->root);
    see_defaults(m);
    pp_report_unseen(m->report, m->root, unused, sizeof unused / sizeof unused[0]);
    for (pp_mjcf *part = m->part; part; part = part->next) {
        report_rest(part);
    }
}

perp_status pp_mjcf_read(pp_xml *root, pp_import_files *files, pp_import_report *report,
                         pp_robot *robot, perp_error *error)
{
    pp_mjcf m = {.arena = robot->arena,
                 .robot = robot,
                 .report = report,
                 .files = files,
                 .error = error,
                 .degree = true,
                 .autolimits = true,
                 .eulerseq = "xyz",
                 .from_geom = 2,
                 .group_high = 5,
                 .total_mass = -1.0,
                 .suffix = "",
                 .prefix = "",
                 .folder = ""};
    robot->gravity = pp_vec(0.0, 0.0, -9.81);
    robot->timestep = 0.002;
    m.root = root;
    robot->name = pp_xml_value(root, "model");
    pp_mjcf_settings(&m, root);
    if (m.status == PERP_OK) {
        pp_mjcf_bodies(&m, root);
    }
    if (m.status == PERP_OK) {
        adjust_masses(&m);
        pp_robot_number(robot);
        read_sections(&m);
        apply_flags(&m);
    }
    // Meshes of shapes that collide.
    for (int k = 0; k < robot->geoms; k++) {
        if (m.status < 0) {
            break;
        }
        const pp_robot_geom *geom = &robot->geom[k];
        if (geom->mesh >= 0 && (geom->contype || geom->conaffinity || geom->paired)) {
            pp_mjcf_mesh_load(&m, geom->mesh);
        }
    }
    // Then those that are only shown.
    for (int k = 0; k < robot->geoms && files->options->visual_triangles > 0; k++) {
        const pp_robot_geom *geom = &robot->geom[k];
        if (geom->mesh >= 0 && geom->in_view) {
            pp_mjcf_mesh_show(&m, geom->mesh);
        }
    }
    if (m.status == PERP_OK) {
        report_rest(&m);
    }
    return m.status;
}

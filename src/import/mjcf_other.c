// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Tendons, equalities, pairs, keyframes and sensors of an MJCF model.
#include "import/mjcf.h"

#include <string.h>

// Lengths of tendons need the poses of all bodies.
enum { TENDONS_MOST = 5000 };

// Calls read for all children of the sections of that name.
static void each(pp_mjcf *m, pp_xml *root, const char *section,
                 void (*read)(pp_mjcf *m, pp_xml *at))
{
    for (pp_xml *list = pp_xml_child(root, section, NULL); list;
         list = pp_xml_child(root, section, list)) {
        for (pp_xml *at = list->child; at; at = at->next) {
            if (m->status < 0) {
                return;
            }
            read(m, at);
        }
    }
}

// ── Tendons ──────────────────────────────────────────────────────────────────────────────────────

static void read_terms(pp_mjcf *m, pp_xml *at, pp_robot_tendon *tendon)
{
    int count = 0;
    for (const pp_xml *child = at->child; child; child = child->next) {
        count++;
    }
    tendon->term = PP_ARRAY(m->arena, pp_robot_term, count + 1);
    if (!tendon->term) {
        pp_mjcf_memory(m);
        return;
    }
    for (pp_xml *child = pp_xml_child(at, "joint", NULL); child;
         child = pp_xml_child(at, "joint", child)) {
        if (m->status < 0) {
            return;
        }
        pp_mjcf_view v = pp_mjcf_look(m, child, NULL, NULL);
        int joint = pp_mjcf_refer(&v, "joint", PP_ROBOT_LIST_joint);
        if (joint < 0 || m->robot->joint[joint].kind < PP_ROBOT_SLIDE) {
            pp_mjcf_fail(m, child, "needs a hinge or slide joint");
            return;
        }
        tendon->term[tendon->terms++] = (pp_robot_term){joint, pp_mjcf_real(&v, "coef", 1.0)};
    }
}

// The path of a spatial tendon: straight between sites. A pulley ends a branch and divides the lengths of the next.
static void read_path(pp_mjcf *m, pp_xml *at, pp_robot_tendon *tendon)
{
    int count = 0, before = -1;
    double factor = 1.0;
    for (const pp_xml *child = at->child; child; child = child->next) {
        count++;
    }
    tendon->span = PP_ARRAY(m->arena, pp_robot_span, count + 1);
    if (!tendon->span) {
        pp_mjcf_memory(m);
        return;
    }
    for (pp_xml *child = at->child; child; child = child->next) {
        if (m->status < 0) {
            return;
        }
        bool pulley = pp_xml_is(child, "pulley");
        if (!pulley && !pp_xml_is(child, "site") && !pp_xml_is(child, "geom")) {
            continue;  // reported as not seen
        }
        pp_mjcf_view v = pp_mjcf_look(m, child, NULL, NULL);
        if (pulley) {
            double divisor = pp_mjcf_real(&v, "divisor", 0.0);
            if (!(divisor > 0.0)) {
                pp_mjcf_fail(m, child, "needs a divisor > 0");
            }
            factor = 1.0 / divisor;
            before = -1;
        } else if (pp_xml_is(child, "geom")) {
            // Wrapping is not read: the names are checked, so that errors are found.
            tendon->wraps = true;
            pp_mjcf_refer(&v, "geom", PP_ROBOT_LIST_geom);
            pp_mjcf_refer(&v, "sidesite", PP_ROBOT_LIST_site);
        } else {
            int site = pp_mjcf_refer(&v, "site", PP_ROBOT_LIST_site);
            if (site < 0) {
                pp_mjcf_fail(m, child, "needs a site");
                return;
            }
            if (before >= 0) {
                tendon->span[tendon->spans++] = (pp_robot_span){before, site, factor, NULL};
            }
            before = site;
        }
    }
    if (tendon->spans == 0) {
        pp_mjcf_fail(m, at, "needs two sites that follow each other");
    }
}

// Without a length, the spring is relaxed where the springs of the joints are.
static void read_spring(const pp_mjcf_view *v, pp_robot_tendon *tendon)
{
    pp_robot *robot = v->m->robot;
    double x[2] = {-1.0, -1.0};
    tendon->range = pp_mjcf_range(v, "range", "limited", 1.0);
    tendon->stiffness = pp_mjcf_linear(v, "stiffness");
    tendon->damping = pp_mjcf_linear(v, "damping");
    tendon->friction = pp_mjcf_real(v, "frictionloss", 0.0);
    int count = pp_mjcf_reals(v, "springlength", 1, 2, x);
    if ((count == 0 || x[0] < 0.0) && tendon->stiffness > 0.0) {
        // q: every joint where its own spring is relaxed (springref)
        double *q = pp_robot_relaxed(robot);
        pp_pose *pose = PP_ARRAY(v->m->arena, pp_pose, robot->bodies);
        if (!q || !pose) {
            pp_mjcf_memory(v->m);
            return;
        }
        pp_robot_poses(robot, q, pose, NULL);
        x[0] = x[1] = pp_robot_tendon_length(robot, tendon, q, pose);
        count = 1;
    }
    tendon->spring[0] = x[0];
    tendon->spring[1] = count == 2 ? x[1] : x[0];
    if (tendon->stiffness < 0.0 || tendon->damping < 0.0 || tendon->friction < 0.0 ||
        tendon->spring[0] > tendon->spring[1]) {
        pp_mjcf_fail(v->m, v->at,
                     "stiffness, damping and frictionloss must be >= 0, and springlength must not "
                     "decrease");
    }
    if (pp_mjcf_real(v, "armature", 0.0) != 0.0) {
        pp_report_add(v->m->report, PERP_IMPORT_NOT_USED, v->at, "armature of tendons",
                      "couplings of scenes have none");
    }
}

static void read_tendon(pp_mjcf *m, pp_xml *at)
{
    bool fixed = pp_xml_is(at, "fixed");
    if (!fixed && !pp_xml_is(at, "spatial")) {
        return;
    }
    if (m->robot->tendons >= TENDONS_MOST) {
        pp_mjcf_fail(m, at, "the model has more than %d tendons", TENDONS_MOST);
        return;
    }
    pp_mjcf_view v = pp_mjcf_look(m, at, "tendon", NULL);
    pp_robot_tendon *tendon = pp_robot_add_tendon(m->robot);
    if (!tendon) {
        pp_mjcf_memory(m);
        return;
    }
    *tendon = (pp_robot_tendon){.spatial = !fixed, .at = at};
    tendon->name = pp_mjcf_name(&v, PP_ROBOT_LIST_tendon, m->robot->tendons - 1, "tendon");
    if (fixed) {
        read_terms(m, at, tendon);
    } else {
        read_path(m, at, tendon);
    }
    if (m->status == PERP_OK) {
        read_spring(&v, tendon);
    }
}

// ── Equalities ───────────────────────────────────────────────────────────────────────────────────

// Bodies a and b, the world if b is absent; false: by sites, which *sites then has.
static bool read_bodies(const pp_mjcf_view *v, pp_robot_equality *to, int *sites)
{
    if (pp_mjcf_own(v, "site1") || pp_mjcf_own(v, "site2")) {
        sites[0] = pp_mjcf_refer(v, "site1", PP_ROBOT_LIST_site);
        sites[1] = pp_mjcf_refer(v, "site2", PP_ROBOT_LIST_site);
        if (sites[0] < 0 || sites[1] < 0) {
            pp_mjcf_fail(v->m, v->at, "needs site1 and site2");
        } else {
            to->a = v->m->robot->site[sites[0]].body;
            to->b = v->m->robot->site[sites[1]].body;
        }
        return false;
    }
    to->a = pp_mjcf_refer(v, "body1", PP_ROBOT_LIST_body);
    to->b = pp_mjcf_refer(v, "body2", PP_ROBOT_LIST_body);
    if (to->a < 0) {
        pp_mjcf_fail(v->m, v->at, "needs body1");
        to->a = 0;
    }
    to->b = to->b < 0 ? 0 : to->b;
    return true;
}

// Connect and weld: anchors in both bodies, at qpos = ref. Poses are filled by the caller.
static void read_link(const pp_mjcf_view *v, const pp_pose *pose, pp_robot_equality *to)
{
    const pp_robot *robot = v->m->robot;
    int sites[2] = {-1, -1};
    bool weld = to->kind == PP_ROBOT_WELD;
    double x[7] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
    bool by_bodies = read_bodies(v, to, sites);
    if (v->m->status < 0) {
        return;
    }
    const pp_pose *A = &pose[to->a], *B = &pose[to->b];
    pp_mat3 R = pp_transpose3(&A->R);
    R = pp_mat_mul(&R, &B->R);
    to->turn = pp_matrix_quat(&R);
    if (!by_bodies) {
        const pp_robot_site *a = &robot->site[sites[0]], *b = &robot->site[sites[1]];
        to->anchor_a = a->pos;
        to->anchor_b = b->pos;
        to->turn = pp_quat_mul(a->quat, pp_quat_conjugate(b->quat));
        return;
    }
    perp_vec3 anchor = pp_mjcf_vec3(v, "anchor", pp_vec(0.0, 0.0, 0.0));
    // The anchor of a weld is in the second body, that of a connect in the first.
    if (!weld) {
        to->anchor_a = anchor;
        to->anchor_b = pp_pose_local(B, pp_pose_point(A, anchor));
        return;
    }
    to->anchor_b = anchor;
    to->anchor_a = pp_pose_local(A, pp_pose_point(B, anchor));
    if (pp_mjcf_reals(v, "relpose", 7, 7, x) == 7 &&
        (x[3] != 0.0 || x[4] != 0.0 || x[5] != 0.0 || x[6] != 0.0)) {
        to->turn = pp_quat_unit((perp_quat){x[3], x[4], x[5], x[6]});
        pp_mat3 T = pp_quat_matrix(to->turn);
        to->anchor_a = pp_add(pp_vec(x[0], x[1], x[2]), pp_mul(&T, anchor));
    }
}

static void read_coupling(const pp_mjcf_view *v, pp_robot_equality *to)
{
    bool joint = to->kind == PP_ROBOT_JOINT;
    pp_robot_list list = joint ? PP_ROBOT_LIST_joint : PP_ROBOT_LIST_tendon;
    to->a = pp_mjcf_refer(v, joint ? "joint1" : "tendon1", list);
    to->b = pp_mjcf_refer(v, joint ? "joint2" : "tendon2", list);
    to->polynomial[1] = 1.0;
    pp_mjcf_reals(v, "polycoef", 1, 5, to->polynomial);
    if (to->a < 0) {
        pp_mjcf_fail(v->m, v->at, "needs %s", joint ? "joint1" : "tendon1");
    }
    if (!joint && to->a >= 0) {
        v->m->robot->tendon[to->a].used = true;
    }
    if (!joint && to->b >= 0) {
        v->m->robot->tendon[to->b].used = true;
    }
}

static void read_equalities(pp_mjcf *m, pp_xml *root)
{
    static const char *const kinds[] = {"connect", "weld", "joint", "tendon"};
    pp_pose *pose = PP_ARRAY(m->arena, pp_pose, m->robot->bodies);
    double *q = pp_robot_reference(m->robot);
    if (!pose || !q) {
        pp_mjcf_memory(m);
        return;
    }
    pp_robot_poses(m->robot, q, pose, NULL);
    for (pp_xml *list = pp_xml_child(root, "equality", NULL); list;
         list = pp_xml_child(root, "equality", list)) {
        for (pp_xml *at = list->child; at; at = at->next) {
            if (m->status < 0) {
                return;
            }
            int kind = 0;
            while (kind < 4 && !pp_xml_is(at, kinds[kind])) {
                kind++;
            }
            if (kind == 4) {
                continue;  // reported as not seen
            }
            pp_mjcf_view v = pp_mjcf_look(m, at, "equality", NULL);
            if (pp_mjcf_word(&v, "active", "false true", 1) == 0) {
                pp_xml_see_all(at);
                pp_report_add(m->report, PERP_IMPORT_NOT_USED, at, "inactive equalities",
                              "the model switches them off");
                continue;
            }
            pp_robot_equality *to = pp_robot_add_equality(m->robot);
            if (!to) {
                pp_mjcf_memory(m);
                return;
            }
            *to = (pp_robot_equality){.kind = (pp_robot_equality_kind)kind, .at = at, .b = -1};
            to->name =
                pp_mjcf_name(&v, PP_ROBOT_LIST_equality, m->robot->equalities - 1, "equality");
            if (kind < 2) {
                read_link(&v, pose, to);
            } else {
                read_coupling(&v, to);
            }
        }
    }
}

// ── Contact ──────────────────────────────────────────────────────────────────────────────────────

static void read_exclude(pp_mjcf *m, pp_xml *at)
{
    pp_mjcf_view v = pp_mjcf_look(m, at, NULL, NULL);
    int a = pp_mjcf_refer(&v, "body1", PP_ROBOT_LIST_body);
    int b = pp_mjcf_refer(&v, "body2", PP_ROBOT_LIST_body);
    pp_xml_value(at, "name");
    pp_robot_exclude *to = pp_robot_add_exclude(m->robot);
    if (!to) {
        pp_mjcf_memory(m);
    } else if (a < 0 || b < 0) {
        pp_mjcf_fail(m, at, "needs body1 and body2");
    } else {
        *to = (pp_robot_exclude){a, b};
    }
}

static void read_pair(pp_mjcf *m, pp_xml *at)
{
    pp_mjcf_view v = pp_mjcf_look(m, at, "pair", NULL);
    int a = pp_mjcf_refer(&v, "geom1", PP_ROBOT_LIST_geom);
    int b = pp_mjcf_refer(&v, "geom2", PP_ROBOT_LIST_geom);
    pp_robot_pair *to = pp_robot_add_pair(m->robot);
    double f[5] = {1.0, 1.0, 0.005, 0.0001, 0.0001};
    pp_xml_value(at, "name");
    if (!to) {
        pp_mjcf_memory(m);
        return;
    }
    if (a < 0 || b < 0) {
        pp_mjcf_fail(m, at, "needs geom1 and geom2");
        return;
    }
    m->robot->geom[a].paired = m->robot->geom[b].paired = true;
    *to = (pp_robot_pair){.a = a, .b = b};
    to->own_friction = pp_mjcf_reals(&v, "friction", 1, 5, f) > 0;
    to->condim = pp_mjcf_int(&v, "condim", 1, 6, 0);
    to->own_condim = to->condim > 0;
    to->friction[0] = f[0];
    to->friction[1] = f[2];
    to->friction[2] = f[3];
}

static void read_contact_rule(pp_mjcf *m, pp_xml *at)
{
    if (pp_xml_is(at, "exclude")) {
        read_exclude(m, at);
    } else if (pp_xml_is(at, "pair")) {
        read_pair(m, at);
    }
}

// ── Keyframes and sensors ────────────────────────────────────────────────────────────────────────

// Places of a model among those of the whole robot.
typedef struct mjcf_places {
    int first, count, total;
} mjcf_places;

// Numbers for the places of the model, in an array for the whole robot; the others are those of `base`, or 0. NULL: not
// given.
static double *read_state(const pp_mjcf_view *v, const char *name, mjcf_places places,
                          const double *base)
{
    const char *text = pp_mjcf_text(v, name);
    if (!text || v->m->status < 0) {
        return NULL;
    }
    double *x = PP_ZEROS(v->m->arena, double, places.total + 1);
    if (!x) {
        pp_mjcf_memory(v->m);
        return NULL;
    }
    if (base) {
        memcpy(x, base, (size_t)places.total * sizeof *x);
    }
    int found = pp_xml_numbers(text, x + places.first, places.count);
    if (found != places.count) {
        pp_mjcf_fail(v->m, v->at, "%s must have %d number%s, as the model has", name, places.count,
                     places.count == 1 ? "" : "s");
        return NULL;
    }
    return x;
}

// Where the coordinates of the model are: an attached one has a part of them.
static void find_places(const pp_mjcf *m, mjcf_places *q, mjcf_places *v, mjcf_places *u)
{
    const pp_robot *robot = m->robot;
    *q = (mjcf_places){0, robot->nq, robot->nq};
    *v = (mjcf_places){0, robot->nv, robot->nv};
    *u = (mjcf_places){0, robot->actuators, robot->actuators};
    if (m->depth == 0) {
        return;
    }
    int end = m->joint0 + m->joints;
    bool some = m->joints > 0, last = end == robot->joints;
    q->first = some ? robot->joint[m->joint0].qpos : 0;
    v->first = some ? robot->joint[m->joint0].dof : 0;
    int q_end = last ? robot->nq : robot->joint[end].qpos;
    int v_end = last ? robot->nv : robot->joint[end].dof;
    q->count = some ? q_end - q->first : 0;
    v->count = some ? v_end - v->first : 0;
    u->first = m->actuator0;
    u->count = robot->actuators - m->actuator0;
}

// Quaternions of length 0 become those without rotation, as in MuJoCo.
static void mend_turns(pp_mjcf *m, pp_xml *at, double *qpos)
{
    for (int j = 0; j < m->robot->joints; j++) {
        const pp_robot_joint *joint = &m->robot->joint[j];
        if (joint->kind > PP_ROBOT_BALL) {
            continue;
        }
        double *q = qpos + joint->qpos + (joint->kind == PP_ROBOT_FREE ? 3 : 0);
        if (!(pp_quat_norm((perp_quat){q[0], q[1], q[2], q[3]}) > 1e-12)) {
            q[0] = 1.0;
            q[1] = q[2] = q[3] = 0.0;
            pp_report_add(m->report, PERP_IMPORT_REPAIRED, at,
                          "quaternions of length 0 in keyframes", "replaced by 1 0 0 0");
        }
    }
}

static void read_key(pp_mjcf *m, pp_xml *at)
{
    if (!pp_xml_is(at, "key")) {
        return;
    }
    pp_mjcf_view v = pp_mjcf_look(m, at, NULL, NULL);
    // Each keyframe of the scene has all joints, also if a short file says little of them.
    enum { VALUES_MOST = 200000 };
    if ((int64_t)m->robot->keys * (m->robot->joints + m->robot->actuators + 1) > VALUES_MOST) {
        pp_mjcf_fail(m, at, "keyframes have more than %d values of joints and actuators in all",
                     VALUES_MOST);
        return;
    }
    pp_robot_key *key = pp_robot_add_key(m->robot);
    if (!key) {
        pp_mjcf_memory(m);
        return;
    }
    const char *name = pp_xml_value(at, "name");
    *key = (pp_robot_key){.name = name ? pp_mjcf_full_name(m, name) : "", .at = at};
    key->time = pp_mjcf_real(&v, "time", 0.0);
    // a key of an attached model has its own joints and actuators only
    mjcf_places places[3];
    find_places(m, &places[0], &places[1], &places[2]);
    key->qpos = read_state(&v, "qpos", places[0], pp_robot_reference(m->robot));
    key->qvel = read_state(&v, "qvel", places[1], NULL);
    key->ctrl = read_state(&v, "ctrl", places[2], NULL);
    const char *const rest[] = {"act", "mpos", "mquat"};
    for (int k = 0; k < 3; k++) {
        if (pp_xml_value(at, rest[k])) {
            pp_report_add(m->report, PERP_IMPORT_NOT_USED, at, "act, mpos and mquat of keyframes",
                          "filters start at their control, and mocap bodies rest");
        }
    }
    if (key->qpos) {
        mend_turns(m, at, key->qpos);
    }
}

// Names of objects are those of the model, prefixes of attached ones included.
static void read_sensor(pp_mjcf *m, pp_xml *at)
{
    static const char *const objects[] = {"site", "joint",   "tendon",  "actuator",
                                          "body", "objname", "tendon1", "geom1"};
    pp_robot_sensor *sensor = pp_robot_add_sensor(m->robot);
    if (!sensor) {
        pp_mjcf_memory(m);
        return;
    }
    pp_mjcf_view v = {m, at, NULL, NULL};
    const char *name = pp_xml_value(at, "name");
    *sensor = (pp_robot_sensor){.name = name ? pp_mjcf_full_name(m, name) : "",
                                .kind = at->name,
                                .object = "",
                                .site = -1,
                                .at = at};
    at->seen = true;
    // the attribute that names the object depends on the kind; a sensor has one of them
    for (size_t k = 0; k < sizeof objects / sizeof objects[0]; k++) {
        const char *object = pp_xml_value(at, objects[k]);
        sensor->object = object ? pp_mjcf_full_name(m, object) : sensor->object;
    }
    sensor->type = pp_xml_value(at, "objtype");
    sensor->relative = pp_xml_value(at, "reftype") || pp_xml_value(at, "refname");
    sensor->cutoff = pp_mjcf_real(&v, "cutoff", 0.0);
    double noise = pp_mjcf_real(&v, "noise", 0.0);
    bool cut = sensor->cutoff > 0.0 && strcmp(sensor->kind, "rangefinder") != 0;
    if (noise != 0.0 || cut) {
        pp_report_add(m->report, PERP_IMPORT_NOT_USED, at, "noise and cutoff of sensors",
                      "sensors of scenes are exact");
    }
}

void pp_mjcf_others(pp_mjcf *m, pp_xml *root)
{
    if (m->status == PERP_OK) {
        read_equalities(m, root);
    }
    each(m, root, "contact", read_contact_rule);
    each(m, root, "keyframe", read_key);
    each(m, root, "sensor", read_sensor);
}

void pp_mjcf_tendons(pp_mjcf *m, pp_xml *root)
{
    each(m, root, "tendon", read_tendon);
}

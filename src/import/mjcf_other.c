// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Tendons, equalities, pairs, keyframes and sensors of an MJCF model.
#include "import/mjcf.h"

#include <string.h>

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

// Without a length, the spring is relaxed where the springs of the joints are.
static void read_spring(const pp_mjcf_view *v, pp_robot_tendon *tendon)
{
    double x[2] = {-1.0, -1.0};
    tendon->range = pp_mjcf_range(v, "range", "limited", 1.0);
    tendon->stiffness = pp_mjcf_real(v, "stiffness", 0.0);
    tendon->damping = pp_mjcf_real(v, "damping", 0.0);
    tendon->friction = pp_mjcf_real(v, "frictionloss", 0.0);
    int count = pp_mjcf_reals(v, "springlength", 1, 2, x);
    if (count == 0 || x[0] < 0.0) {
        x[0] = 0.0;
        for (int k = 0; k < tendon->terms; k++) {
            const pp_robot_term *term = &tendon->term[k];
            x[0] += term->coefficient * v->m->robot->joint[term->joint].springref;
        }
    }
    tendon->spring[0] = x[0];
    tendon->spring[1] = count == 2 ? x[1] : x[0];
    if (tendon->stiffness < 0.0 || tendon->damping < 0.0 || tendon->friction < 0.0) {
        pp_mjcf_fail(v->m, v->at, "stiffness, damping and frictionloss must be >= 0");
    }
}

static void read_tendon(pp_mjcf *m, pp_xml *at)
{
    bool fixed = pp_xml_is(at, "fixed");
    if (!fixed && !pp_xml_is(at, "spatial")) {
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
        read_spring(&v, tendon);
    } else {
        pp_xml_see_all(at);
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

// `count` numbers; NULL: not given.
static double *read_state(const pp_mjcf_view *v, const char *name, int count)
{
    const char *text = pp_mjcf_text(v, name);
    if (!text || v->m->status < 0) {
        return NULL;
    }
    double *x = PP_ARRAY(v->m->arena, double, count + 1);
    if (!x) {
        pp_mjcf_memory(v->m);
        return NULL;
    }
    int found = pp_xml_numbers(text, x, count);
    if (found != count) {
        pp_mjcf_fail(v->m, v->at, "%s must have %d number%s, as the model has", name, count,
                     count == 1 ? "" : "s");
        return NULL;
    }
    return x;
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
    pp_robot_key *key = pp_robot_add_key(m->robot);
    if (!key) {
        pp_mjcf_memory(m);
        return;
    }
    const char *name = pp_xml_value(at, "name");
    *key = (pp_robot_key){.name = name ? name : "", .at = at};
    key->qpos = read_state(&v, "qpos", m->robot->nq);
    key->qvel = read_state(&v, "qvel", m->robot->nv);
    key->ctrl = read_state(&v, "ctrl", m->robot->actuators);
    if (key->qpos) {
        mend_turns(m, at, key->qpos);
    }
}

static void read_sensor(pp_mjcf *m, pp_xml *at)
{
    static const char *const objects[] = {"site", "joint",   "tendon",  "actuator",
                                          "body", "objname", "tendon1", "geom1"};
    pp_robot_sensor *sensor = pp_robot_add_sensor(m->robot);
    if (!sensor) {
        pp_mjcf_memory(m);
        return;
    }
    const char *name = pp_xml_value(at, "name");
    *sensor = (pp_robot_sensor){.name = name ? name : "", .kind = at->name, .object = "", .at = at};
    for (size_t k = 0; k < sizeof objects / sizeof objects[0]; k++) {
        const char *object = pp_xml_value(at, objects[k]);
        sensor->object = object ? object : sensor->object;
    }
    // Objects of other types than sites have names of their own lists.
    const char *type = pp_xml_value(at, "objtype");
    sensor->relative = pp_xml_value(at, "reftype") || pp_xml_value(at, "refname") ||
                       (type && strcmp(type, "site") != 0);
    if (pp_xml_value(at, "noise") || pp_xml_value(at, "cutoff")) {
        pp_report_add(m->report, PERP_IMPORT_NOT_USED, at, "noise and cutoff of sensors",
                      "sensors of scenes are exact");
    }
    pp_xml_see_all(at);
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

// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Actuators of an MJCF model.
//
// All kinds of actuators are shortcuts of one general actuator, and write into the same defaults: <position kp="50"/>
// in a class also changes a later <general> of that class. So the elements of a class are applied one after the
// other to one state, the outermost class first, and the actuator itself last.
#include "import/mjcf.h"

#include <math.h>
#include <string.h>

// The state that the elements of a class change.
typedef struct drive {
    int gain_type, bias_type,
        dynamics;  // fixed affine other; none affine other; none integrator filter filterexact other
    double gain[3], bias[3], dyn[1];
    int control_limited, force_limited;  // false true auto
    double control[2], force[2], gear[6];
    double inherit;
    bool has_control, has_force, odd;  // odd: a kind without a linear law
} drive;

static const char kinds[] =
    "general motor position velocity intvelocity damper cylinder muscle adhesion "
    "plugin dcmotor";
enum { GENERAL, MOTOR, POSITION, VELOCITY, ACTUATORS_MOST = 5000 };

// Its number among the kinds; -1: no actuator.
static int kind_of(const pp_xml *at)
{
    size_t length = strlen(at->name);
    int k = 0;
    for (const char *word = kinds; *word; k++) {
        size_t n = strcspn(word, " ");
        if (n == length && strncmp(word, at->name, n) == 0) {
            return k;
        }
        word += n;
        word += strspn(word, " ");
    }
    return -1;
}

static void apply_general(const pp_mjcf_view *v, drive *d)
{
    double more[10];
    d->gain_type = pp_mjcf_word(v, "gaintype", "fixed affine muscle user", d->gain_type);
    d->bias_type = pp_mjcf_word(v, "biastype", "none affine muscle user", d->bias_type);
    d->dynamics =
        pp_mjcf_word(v, "dyntype", "none integrator filter filterexact muscle user", d->dynamics);
    int n = pp_mjcf_reals(v, "gainprm", 1, 10, more);
    memcpy(d->gain, more, (size_t)(n < 3 ? n : 3) * sizeof *more);
    n = pp_mjcf_reals(v, "biasprm", 1, 10, more);
    memcpy(d->bias, more, (size_t)(n < 3 ? n : 3) * sizeof *more);
    n = pp_mjcf_reals(v, "dynprm", 1, 10, more);
    memcpy(d->dyn, more, (size_t)(n < 1 ? 0 : 1) * sizeof *more);
}

static void apply_position(const pp_mjcf_view *v, drive *d)
{
    double kp = pp_mjcf_real(v, "kp", d->gain[0]), kv = 0.0, ratio = 0.0, time = 0.0;
    d->gain_type = 0;
    d->bias_type = 1;
    d->gain[0] = kp;
    d->bias[1] = -kp;
    bool has_kv = pp_mjcf_reals(v, "kv", 1, 1, &kv) > 0;
    bool has_ratio = pp_mjcf_reals(v, "dampratio", 1, 1, &ratio) > 0;
    if (has_kv && has_ratio) {
        pp_mjcf_fail(v->m, v->at, "has both kv and dampratio; remove one");
    }
    if (kv < 0.0 || ratio < 0.0 || kp < 0.0) {
        pp_mjcf_fail(v->m, v->at, "kp, kv and dampratio must be >= 0");
    }
    d->bias[2] = has_kv ? -kv : d->bias[2];
    d->bias[2] = has_ratio ? ratio : d->bias[2];  // a positive number is a damping ratio
    if (pp_mjcf_reals(v, "timeconst", 1, 1, &time) > 0) {
        d->dynamics = time > 0.0 ? 3 : 0;
        d->dyn[0] = time;
    }
    d->inherit = pp_mjcf_real(v, "inheritrange", d->inherit);
}

// The element alone, without its defaults: those have been applied before.
static void apply(pp_mjcf *m, pp_xml *at, drive *d)
{
    pp_mjcf_view v = {m, at, NULL, NULL};
    int kind = kind_of(at);
    at->seen = true;
    if (kind == GENERAL) {
        apply_general(&v, d);
    } else if (kind == MOTOR) {
        d->gain_type = d->bias_type = d->dynamics = 0;
        d->gain[0] = 1.0;
        memset(d->bias, 0, sizeof d->bias);
    } else if (kind == POSITION) {
        apply_position(&v, d);
    } else if (kind == VELOCITY) {
        double kv = pp_mjcf_real(&v, "kv", d->gain[0]);
        d->gain_type = d->dynamics = 0;
        d->bias_type = 1;
        d->gain[0] = kv;
        d->bias[0] = d->bias[1] = 0.0;
        d->bias[2] = -kv;
    } else {
        d->odd = true;
    }
    // What all kinds have.
    d->control_limited = pp_mjcf_word(&v, "ctrllimited", "false true auto", d->control_limited);
    d->force_limited = pp_mjcf_word(&v, "forcelimited", "false true auto", d->force_limited);
    d->has_control = pp_mjcf_reals(&v, "ctrlrange", 2, 2, d->control) > 0 || d->has_control;
    d->has_force = pp_mjcf_reals(&v, "forcerange", 2, 2, d->force) > 0 || d->has_force;
    double gear[6];
    int n = pp_mjcf_reals(&v, "gear", 1, 6, gear);
    memcpy(d->gear, gear, (size_t)n * sizeof *gear);
}

// Outer classes first.
static void apply_class(pp_mjcf *m, const pp_mjcf_class *class, drive *d)
{
    const pp_mjcf_class *chain[PP_XML_DEPTH_MAX + 2];
    int count = 0;
    for (const pp_mjcf_class *c = class; c && count < PP_XML_DEPTH_MAX + 2; c = c->parent) {
        chain[count++] = c;
    }
    while (count-- > 0) {
        for (int k = 0; k < chain[count]->elements; k++) {
            if (kind_of(chain[count]->element[k]) >= 0) {
                apply(m, chain[count]->element[k], d);
            }
        }
    }
}

static pp_robot_range range_of(const pp_mjcf *m, const pp_xml *at, int limited, bool given,
                               const double *x)
{
    bool on = limited == 1 || (limited == 2 && given && m->autolimits);
    (void)at;
    return (pp_robot_range){on, x[0], x[1]};
}

// The object it acts on.
static void find_target(const pp_mjcf_view *v, pp_robot_actuator *to)
{
    static const char *const other[] = {"jointinparent", "slidersite", "cranksite", "body"};
    to->drive = PP_ROBOT_ON_OTHER;  // unless one of the first three is found
    to->target = -1;
    // A name that does not exist is an error of pp_mjcf_refer.
    if (pp_mjcf_own(v, "joint")) {
        to->drive = PP_ROBOT_ON_JOINT;
        to->target = pp_mjcf_refer(v, "joint", PP_ROBOT_LIST_joint);
        return;
    }
    if (pp_mjcf_own(v, "tendon")) {
        to->drive = PP_ROBOT_ON_TENDON;
        to->target = pp_mjcf_refer(v, "tendon", PP_ROBOT_LIST_tendon);
        if (to->target >= 0) {
            v->m->robot->tendon[to->target].used = true;
        }
        return;
    }
    if (pp_mjcf_own(v, "site")) {
        bool relative = pp_mjcf_own(v, "refsite");
        to->drive = relative ? PP_ROBOT_ON_OTHER : PP_ROBOT_ON_SITE;
        to->target = pp_mjcf_refer(v, "site", PP_ROBOT_LIST_site);
        return;
    }
    for (int k = 0; k < 4; k++) {
        if (pp_mjcf_own(v, other[k])) {
            pp_xml_see_all(v->at);
            return;
        }
    }
    pp_mjcf_fail(v->m, v->at, "has no joint, tendon or site");
}

// The range of the joint about its middle, times a factor.
static void inherit_range(const pp_mjcf *m, double factor, pp_robot_actuator *to)
{
    if (!(factor > 0.0) || to->drive != PP_ROBOT_ON_JOINT || to->target < 0) {
        return;
    }
    const pp_robot_range *range = &m->robot->joint[to->target].range;
    if (range->set) {
        double middle = 0.5 * (range->low + range->high);
        double radius = 0.5 * (range->high - range->low) * factor;
        to->control = (pp_robot_range){true, middle - radius, middle + radius};
    }
}

static void read_actuator(pp_mjcf *m, pp_xml *at)
{
    pp_mjcf_view v = pp_mjcf_look(m, at, NULL, NULL);
    pp_robot_actuator *to = pp_robot_add_actuator(m->robot);
    if (!to) {
        pp_mjcf_memory(m);
        return;
    }
    drive d = {.gain = {1.0, 0.0, 0.0},
               .dyn = {1.0},
               .gear = {1.0, 0.0, 0.0, 0.0, 0.0, 0.0},
               .control_limited = 2,
               .force_limited = 2};
    apply_class(m, v.class, &d);
    d.odd = false;
    apply(m, at, &d);
    to->at = at;
    to->name = pp_mjcf_name(&v, PP_ROBOT_LIST_actuator, m->robot->actuators - 1, "actuator");
    find_target(&v, to);
    memcpy(to->gear, d.gear, sizeof d.gear);
    to->affine_gain = d.gain_type == 1;
    to->other = d.odd || d.gain_type > 1 || d.bias_type > 1 || d.dynamics == 1 || d.dynamics > 3;
    to->gain = d.gain[0];
    if (d.bias_type == 1) {
        memcpy(to->bias, d.bias, sizeof d.bias);
    }
    // As in MuJoCo, a positive damping is a ratio where the law is that of a position servo.
    if (d.bias_type == 1 && d.gain_type == 0 && d.bias[1] == -d.gain[0] && d.bias[2] > 0.0) {
        to->damping_ratio = d.bias[2];
        to->bias[2] = 0.0;
    }
    to->time_constant = d.dynamics >= 2 && d.dynamics <= 3 ? d.dyn[0] : 0.0;
    to->control = range_of(m, at, d.control_limited, d.has_control, d.control);
    to->force = range_of(m, at, d.force_limited, d.has_force, d.force);
    if ((to->control.set && !(to->control.low < to->control.high)) ||
        (to->force.set && !(to->force.low < to->force.high))) {
        pp_mjcf_fail(m, at, "ctrlrange and forcerange: the first number must be less");
    }
    inherit_range(m, d.inherit, to);
}

void pp_mjcf_actuators(pp_mjcf *m, pp_xml *root)
{
    for (pp_xml *list = pp_xml_child(root, "actuator", NULL); list;
         list = pp_xml_child(root, "actuator", list)) {
        for (pp_xml *at = list->child; at; at = at->next) {
            if (m->status < 0) {
                return;
            }
            if (m->robot->actuators >= ACTUATORS_MOST) {
                pp_mjcf_fail(m, at, "the model has more than %d actuators", ACTUATORS_MOST);
                return;
            }
            if (kind_of(at) >= 0) {
                read_actuator(m, at);
            }
        }
    }
}

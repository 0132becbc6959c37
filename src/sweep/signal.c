// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Signals: numbers of a run at one time, by names such as y[ball] or energy.
//
// Names are listed for a model when the file is read; a run looks up the objects of those that are used, since its own
// model may differ. What belongs to a step (contacts, certificate) is 0 before the first one; energies, which the
// certificate of a step reports, are NaN, and reducers pass over them.
#include "sim/sim.h"
#include "sweep/own.h"

#include <math.h>
#include <string.h>

typedef enum kind {
    KIND_PARAMETER = -1,
    KIND_TIME,
    KIND_POSITION,
    KIND_ANGLE,
    KIND_QUATERNION,
    KIND_VELOCITY,
    KIND_SPIN,
    KIND_BODY_CONTACTS,
    KIND_BODY_FORCE,
    KIND_JOINT,
    KIND_JOINT_RATE,
    KIND_SENSOR,
    KIND_INPUT,
    KIND_EFFORT,
    KIND_CONTACTS,
    KIND_STICKING,
    KIND_SLIPPING,
    KIND_FORCE,
    KIND_KINETIC,
    KIND_POTENTIAL,
    KIND_ENERGY,
    KIND_WORK,
    KIND_DISSIPATED,
    KIND_CERTIFICATE,
    KIND_JUDGED,
    KIND_PENETRATION,
    KIND_UNIQUE,
    KIND_EVENTS,
} kind;

static const char *const judged[PERP_JUDGED_COUNT] = {
    "gap", "complementarity", "cone", "joint", "momentum", "energy", "residual", "motion", "path"};

// Signals without an object.
static const struct {
    const char *name;
    kind kind;
} plain[] = {{"t", KIND_TIME},
             {"contacts", KIND_CONTACTS},
             {"sticking", KIND_STICKING},
             {"slipping", KIND_SLIPPING},
             {"force", KIND_FORCE},
             {"kinetic", KIND_KINETIC},
             {"potential", KIND_POTENTIAL},
             {"energy", KIND_ENERGY},
             {"work", KIND_WORK},
             {"dissipated", KIND_DISSIPATED},
             {"certificate", KIND_CERTIFICATE},
             {"penetration", KIND_PENETRATION},
             {"unique", KIND_UNIQUE}};
enum { PLAIN = sizeof plain / sizeof plain[0], EVENT_KINDS = 32 };

// Signals of a body in the plane, and in space.
static const struct {
    const char *name;
    kind kind;
    int part;
} body_plane[] = {{"x", KIND_POSITION, 0},
                  {"y", KIND_POSITION, 1},
                  {"angle", KIND_ANGLE, 0},
                  {"vx", KIND_VELOCITY, 0},
                  {"vy", KIND_VELOCITY, 1},
                  {"omega", KIND_SPIN, 2},
                  {"touching", KIND_BODY_CONTACTS, 0},
                  {"force", KIND_BODY_FORCE, 0}},
  body_space[] = {{"x", KIND_POSITION, 0},      {"y", KIND_POSITION, 1},
                  {"z", KIND_POSITION, 2},      {"qw", KIND_QUATERNION, 0},
                  {"qx", KIND_QUATERNION, 1},   {"qy", KIND_QUATERNION, 2},
                  {"qz", KIND_QUATERNION, 3},   {"vx", KIND_VELOCITY, 0},
                  {"vy", KIND_VELOCITY, 1},     {"vz", KIND_VELOCITY, 2},
                  {"wx", KIND_SPIN, 0},         {"wy", KIND_SPIN, 1},
                  {"wz", KIND_SPIN, 2},         {"touching", KIND_BODY_CONTACTS, 0},
                  {"force", KIND_BODY_FORCE, 0}};
enum {
    IN_PLANE = sizeof body_plane / sizeof body_plane[0],
    IN_SPACE = sizeof body_space / sizeof body_space[0],
};

// ── Names ────────────────────────────────────────────────────────────────────────────────────────

typedef struct lister {
    pp_signals *out;
    pp_arena *arena;
    bool failed;
} lister;

static const char *copy_name(lister *l, const char *text)
{
    size_t n = strlen(text) + 1;
    char *copy = PP_ARRAY(l->arena, char, n);
    l->failed = l->failed || !copy;
    return copy ? memcpy(copy, text, n) : NULL;
}

// "name[object]", or "name" for an object that is NULL; `element` > 0: "name[object:element]".
static void add(lister *l, const char *name, const char *object, int element, pp_signal signal)
{
    char text[400];
    if (object && strlen(object) > 300) {
        return;  // too long to be written in an expression
    }
    if (object && element > 0) {
        pp_print(text, sizeof text, "%s[%s:%d]", name, object, element);
    } else if (object) {
        pp_print(text, sizeof text, "%s[%s]", name, object);
    } else {
        pp_print(text, sizeof text, "%s", name);
    }
    l->out->name[l->out->count] = copy_name(l, text);
    l->out->signal[l->out->count] = signal;
    l->out->count++;
}

static void list_bodies(lister *l, const perp_model *model)
{
    bool spatial = perp_model_is_spatial(model);
    for (int b = 1; b < perp_model_bodies(model); b++) {
        const char *object = copy_name(l, perp_model_body_name(model, (perp_body){b}));
        if (!object) {
            return;
        }
        for (int k = 0; k < (spatial ? IN_SPACE : IN_PLANE); k++) {
            const char *name = spatial ? body_space[k].name : body_plane[k].name;
            pp_signal s = {.kind = (int)(spatial ? body_space[k].kind : body_plane[k].kind),
                           .part = spatial ? body_space[k].part : body_plane[k].part,
                           .object = object};
            add(l, name, object, 0, s);
        }
    }
}

// Joints, inputs, actuators, sensors.
static void list_machine(lister *l, const perp_model *model)
{
    // A name that could not be copied is noted in l.
    for (int k = 0; k < perp_model_joints(model); k++) {
        const char *object = copy_name(l, perp_model_joint_name(model, (perp_joint){k}));
        if (object) {
            add(l, "q", object, 0, (pp_signal){KIND_JOINT, 0, object});
            add(l, "dq", object, 0, (pp_signal){KIND_JOINT_RATE, 0, object});
        }
    }
    for (int k = 0; k < perp_model_inputs(model); k++) {
        const char *object = copy_name(l, perp_model_input_name(model, (perp_input){k}));
        if (object) {
            add(l, "u", object, 0, (pp_signal){KIND_INPUT, 0, object});
        }
    }
    for (int k = 0; k < perp_model_actuators(model); k++) {
        const char *object = copy_name(l, perp_model_actuator_name(model, (perp_actuator){k}));
        if (object) {
            add(l, "effort", object, 0, (pp_signal){KIND_EFFORT, 0, object});
        }
    }
    for (int k = 0; k < perp_model_sensors(model); k++) {
        const char *object = copy_name(l, perp_model_sensor_name(model, (perp_sensor){k}));
        int size = perp_model_sensor_size(model, (perp_sensor){k});
        size = object ? size : 0;
        for (int e = 0; e < size; e++) {
            add(l, "sensor", object, size > 1 ? e + 1 : 0, (pp_signal){KIND_SENSOR, e, object});
        }
    }
}

perp_status pp_signals_list(pp_signals *signals, const perp_model *model, pp_arena *arena)
{
    size_t most = PLAIN + PERP_JUDGED_COUNT + EVENT_KINDS +
                  (size_t)perp_model_bodies(model) * IN_SPACE +
                  2 * (size_t)perp_model_joints(model) + (size_t)perp_model_inputs(model) +
                  (size_t)perp_model_actuators(model);
    for (int k = 0; k < perp_model_sensors(model); k++) {
        most += (size_t)perp_model_sensor_size(model, (perp_sensor){k});
    }
    *signals = (pp_signals){.name = PP_ARRAY(arena, const char *, most),
                            .signal = PP_ZEROS(arena, pp_signal, most)};
    if (!signals->name || !signals->signal) {
        return PERP_ERR_MEMORY;
    }
    // In the order in which messages list them.
    lister l = {.out = signals, .arena = arena};
    for (int k = 0; k < PLAIN; k++) {
        add(&l, plain[k].name, NULL, 0, (pp_signal){.kind = (int)plain[k].kind});
    }
    for (int k = 0; k < PERP_JUDGED_COUNT; k++) {
        add(&l, "certificate", judged[k], 0, (pp_signal){.kind = KIND_JUDGED, .part = k});
    }
    for (int k = 0; k < EVENT_KINDS && perp_event_kind_word(k); k++) {
        add(&l, "events", perp_event_kind_word(k), 0, (pp_signal){.kind = KIND_EVENTS, .part = k});
    }
    list_bodies(&l, model);
    list_machine(&l, model);
    return l.failed ? PERP_ERR_MEMORY : PERP_OK;
}

// ── A run ────────────────────────────────────────────────────────────────────────────────────────

// The number of the object of a signal in a model; -1: there is none.
static int find_object(const pp_signal *s, const perp_model *model)
{
    switch ((kind)s->kind) {
    case KIND_JOINT:
    case KIND_JOINT_RATE:
        return perp_model_joint(model, s->object).i;
    case KIND_SENSOR: {
        perp_sensor sensor = perp_model_sensor(model, s->object);
        bool holds = sensor.i >= 0 && s->part < perp_model_sensor_size(model, sensor);
        return holds ? sensor.i : -1;
    }
    case KIND_INPUT:
        return perp_model_input(model, s->object).i;
    case KIND_EFFORT:
        return perp_model_actuator(model, s->object).i;
    default:
        return perp_model_body(model, s->object).i;
    }
}

perp_status pp_signal_reader_start(pp_signal_reader *r, const pp_signals *signals,
                                   const perp_model *model, pp_arena *arena, perp_error *error)
{
    int widest = 1;
    for (int k = 0; k < perp_model_sensors(model); k++) {
        int size = perp_model_sensor_size(model, (perp_sensor){k});
        widest = size > widest ? size : widest;
    }
    *r = (pp_signal_reader){.signals = signals,
                            .handle = PP_ARRAY(arena, int, signals->count),
                            .value = PP_ZEROS(arena, double, signals->count),
                            .index = PP_ARRAY(arena, int, signals->count),
                            .scratch = PP_ARRAY(arena, double, widest)};
    if (!r->handle || !r->value || !r->index || !r->scratch) {
        return pp_fail(error, PERP_ERR_MEMORY, "not enough memory for outputs");
    }
    // The model of this run may have other objects than that of the first.
    for (int k = 0; k < signals->count; k++) {
        const pp_signal *s = &signals->signal[k];
        if (!signals->used[k]) {
            continue;
        }
        r->handle[k] = s->object ? find_object(s, model) : 0;
        if (r->handle[k] < 0) {
            return pp_fail(error, PERP_ERR_MODEL,
                           "the scene of this run has nothing called '%.80s'", s->object);
        }
        r->index[r->count++] = k;
    }
    return PERP_OK;
}

static double part_of(perp_vec3 v, int part)
{
    const double parts[] = {v.x, v.y, v.z};
    return parts[part];
}

// How many contacts carry load, all or in one mode, all or of one body; or the sum of their normal forces.
static double sum_contacts(const perp_sim *sim, const pp_signal *s, int body, double h)
{
    int count = 0;
    const perp_contact *contact = perp_sim_contacts(sim, &count);
    const perp_model *model = perp_sim_model(sim);
    double sum = 0.0;
    for (int k = 0; k < count && h > 0.0; k++) {
        const perp_contact *c = &contact[k];
        bool counts = c->mode != PERP_CONTACT_OPEN;
        if (s->kind == KIND_STICKING || s->kind == KIND_SLIPPING) {
            counts = c->mode == (s->kind == KIND_STICKING ? PERP_CONTACT_STICK : PERP_CONTACT_SLIP);
        } else if (s->kind == KIND_BODY_CONTACTS || s->kind == KIND_BODY_FORCE) {
            counts =
                counts && (model->shape[c->a.i].body == body || model->shape[c->b.i].body == body);
        }
        bool force = s->kind == KIND_FORCE || s->kind == KIND_BODY_FORCE;
        if (counts) {
            sum += force ? c->pn / h : 1.0;
        }
    }
    return sum;
}

static double worst_relative(const perp_certificate *c)
{
    double worst = 0.0;
    for (int k = 0; k < PERP_JUDGED_COUNT; k++) {
        worst = fmax(worst, c->relative[k]);
    }
    return worst;
}

static double count_events(const perp_sim *sim, int kind_wanted, double h)
{
    int count = 0, found = 0;
    const perp_event *event = perp_sim_events(sim, &count);
    for (int k = 0; k < count && h > 0.0; k++) {
        found += (int)event[k].kind == kind_wanted;
    }
    return found;
}

// Signals of bodies.
static double read_body(const perp_sim *sim, const pp_signal *s, perp_body body)
{
    switch ((kind)s->kind) {
    case KIND_POSITION:
        return part_of(perp_sim_body_position(sim, body), s->part);
    case KIND_ANGLE:
        return perp_sim_body_angle(sim, body);
    case KIND_VELOCITY:
        return part_of(perp_sim_body_twist(sim, body).v_W, s->part);
    case KIND_SPIN:
        return part_of(perp_sim_body_twist(sim, body).w_W, s->part);
    default: {
        perp_quat q = perp_sim_body_pose(sim, body).rot;
        const double parts[] = {q.w, q.x, q.y, q.z};
        return parts[s->part];
    }
    }
}

// Signals of the last step and of energies.
static double read_step(const pp_signal_reader *r, const perp_sim *sim, const pp_signal *s,
                        double h)
{
    const perp_step_info *info = perp_sim_info(sim);
    // h = 0: there was no step yet.
    switch ((kind)s->kind) {
    case KIND_TIME:
        return perp_sim_time(sim);
    case KIND_KINETIC:
        return h > 0.0 ? info->energy.kinetic : (double)NAN;
    case KIND_POTENTIAL:
        return h > 0.0 ? info->energy.potential : (double)NAN;
    case KIND_ENERGY:
        return h > 0.0 ? info->energy.kinetic + info->energy.potential : (double)NAN;
    case KIND_WORK:
        return r->work;
    case KIND_DISSIPATED:
        return r->dissipated;
    case KIND_CERTIFICATE:
        return h > 0.0 ? worst_relative(&info->certificate) : 0.0;
    case KIND_JUDGED:
        return h > 0.0 ? info->certificate.relative[s->part] : 0.0;
    case KIND_PENETRATION:
        return h > 0.0 ? info->certificate.gap : 0.0;
    case KIND_UNIQUE:
        return h > 0.0 && info->unique ? 1.0 : 0.0;
    default:
        return count_events(sim, s->part, h);
    }
}

perp_status pp_signal_reader_read(pp_signal_reader *r, const perp_sim *sim, double h)
{
    if (h > 0.0) {
        r->work += perp_sim_info(sim)->energy.work;
        r->dissipated += perp_sim_info(sim)->energy.dissipated;
    }
    for (int i = 0; i < r->count; i++) {
        int k = r->index[i], handle = r->handle[k];
        const pp_signal *s = &r->signals->signal[k];
        switch ((kind)s->kind) {
        case KIND_PARAMETER:
            break;  // set once
        case KIND_JOINT:
            r->value[k] = perp_sim_joint(sim, (perp_joint){handle}).coordinate;
            break;
        case KIND_JOINT_RATE:
            r->value[k] = perp_sim_joint(sim, (perp_joint){handle}).rate;
            break;
        case KIND_SENSOR: {
            int size = perp_model_sensor_size(perp_sim_model(sim), (perp_sensor){handle});
            perp_status status = perp_sim_sensor(sim, (perp_sensor){handle}, r->scratch, size);
            if (status < 0) {
                return status;
            }
            r->value[k] = r->scratch[s->part];
            break;
        }
        case KIND_INPUT:
            r->value[k] = perp_sim_input(sim, (perp_input){handle});
            break;
        case KIND_EFFORT:
            r->value[k] = h > 0.0 ? perp_sim_actuator(sim, (perp_actuator){handle}).effort : 0.0;
            break;
        case KIND_CONTACTS:
        case KIND_STICKING:
        case KIND_SLIPPING:
        case KIND_FORCE:
        case KIND_BODY_CONTACTS:
        case KIND_BODY_FORCE:
            r->value[k] = sum_contacts(sim, s, handle, h);
            break;
        case KIND_POSITION:
        case KIND_ANGLE:
        case KIND_QUATERNION:
        case KIND_VELOCITY:
        case KIND_SPIN:
            r->value[k] = read_body(sim, s, (perp_body){handle});
            break;
        default:
            r->value[k] = read_step(r, sim, s, h);
            break;
        }
    }
    return PERP_OK;
}

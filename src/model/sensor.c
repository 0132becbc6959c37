// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Sites, which are frames fixed to bodies, and sensors, which measure at sites, joints and actuators.
#include "model/builder.h"

#include <math.h>
#include <string.h>

// ── Kinds ────────────────────────────────────────────────────────────────────────────────────────

// What a sensor is attached to.
typedef enum attachment { AT_JOINT, AT_ACTUATOR, AT_FRAME, AT_FRAME_AND_JOINT } attachment;

// A kind of sensor: values in space and in the plane, units. `turning` is the unit where the joint has an angle, or
// where an orientation is one; `coupled` that of a coupling, whose coordinate has the unit of its function; NULL: the
// same.
typedef struct sensor_card {
    const char *word;
    attachment at;
    int space, plane;
    const char *unit, *turning, *coupled;
} sensor_card;

static const sensor_card cards[] = {
    [PERP_SENSOR_JOINT_POSITION] = {"joint-position", AT_JOINT, 1, 1, "m", "rad", "1"},
    [PERP_SENSOR_JOINT_RATE] = {"joint-rate", AT_JOINT, 1, 1, "m/s", "rad/s", "1/s"},
    [PERP_SENSOR_POSITION] = {"position", AT_FRAME, 3, 2, "m", NULL, NULL},
    [PERP_SENSOR_ORIENTATION] = {"orientation", AT_FRAME, 4, 1, "1", "rad", NULL},
    [PERP_SENSOR_VELOCITY] = {"velocity", AT_FRAME, 3, 2, "m/s", NULL, NULL},
    [PERP_SENSOR_ANGULAR_VELOCITY] = {"angular-velocity", AT_FRAME, 3, 1, "rad/s", NULL, NULL},
    [PERP_SENSOR_GYRO] = {"gyro", AT_FRAME, 3, 1, "rad/s", NULL, NULL},
    [PERP_SENSOR_RANGE] = {"range", AT_FRAME, 1, 1, "m", NULL, NULL},
    [PERP_SENSOR_ACCELERATION] = {"acceleration", AT_FRAME, 3, 2, "m/s^2", NULL, NULL},
    [PERP_SENSOR_ANGULAR_ACCELERATION] = {"angular-acceleration", AT_FRAME, 3, 1, "rad/s^2", NULL,
                                          NULL},
    [PERP_SENSOR_ACCELEROMETER] = {"accelerometer", AT_FRAME, 3, 2, "m/s^2", NULL, NULL},
    [PERP_SENSOR_JOINT_EFFORT] = {"joint-effort", AT_JOINT, 1, 1, "N", "N m", "J"},
    [PERP_SENSOR_ACTUATOR_EFFORT] = {"actuator-effort", AT_ACTUATOR, 1, 1, "N", "N m", "J"},
    [PERP_SENSOR_FORCE] = {"force", AT_FRAME_AND_JOINT, 3, 2, "N", NULL, NULL},
    [PERP_SENSOR_TORQUE] = {"torque", AT_FRAME_AND_JOINT, 3, 1, "N m", NULL, NULL},
    [PERP_SENSOR_TOUCH] = {"touch", AT_FRAME, 1, 1, "N", NULL, NULL},
};

enum { KINDS = sizeof cards / sizeof *cards };

const char *perp_sensor_kind_word(int kind)
{
    return kind >= 0 && kind < KINDS ? cards[kind].word : NULL;
}

// ── Sites ────────────────────────────────────────────────────────────────────────────────────────

// Whether the region is a sphere, a box or none; planar boxes have no half extent along z.
static bool check_region(perp_builder *b, const perp_site_def *def, const char *name)
{
    perp_vec3 half = def->half;
    bool box = half.x != 0.0 || half.y != 0.0 || half.z != 0.0;
    bool positive =
        half.x > 0.0 && half.y > 0.0 && (half.z > 0.0 || (half.z == 0.0 && !b->spatial));
    if (!isfinite(def->radius) || !(def->radius >= 0.0) || !pp_finite3(half) ||
        (box && !positive)) {
        return pp_builder_bad(b, PERP_ERR_MODEL,
                              "site '%s': the radius or all half extents of its region must be "
                              "positive",
                              name);
    }
    if (box && def->radius > 0.0) {
        return pp_builder_bad(b, PERP_ERR_MODEL,
                              "site '%s': its region is a sphere or a box, not both", name);
    }
    return true;
}

// The pose is completed in pp_model_set_sensors: whether a model is spatial is not known before its first body.
static bool convert_site(perp_builder *b, const perp_site_def *def, pp_site *site)
{
    double norm = pp_quat_norm(def->rotation_BS);
    if (def->body.i < 0 || def->body.i >= b->bodies.count) {
        return pp_builder_bad(b, PERP_ERR_MODEL, "site '%s': body %d does not exist", site->name,
                              def->body.i);
    }
    if (!pp_finite3(def->position_B) || !isfinite(def->angle)) {
        return pp_builder_bad(b, PERP_ERR_MODEL, "site '%s': position and angle must be finite",
                              site->name);
    }
    if (!(norm > 0.999) || !(norm < 1.001)) {
        return pp_builder_bad(b, PERP_ERR_MODEL,
                              "site '%s': rotation must be a quaternion of length 1, got %g",
                              site->name, norm);
    }
    site->body = def->body.i;
    site->X_BS.p = def->position_B;
    site->rot_BS = pp_quat_unit(def->rotation_BS);
    site->angle = def->angle;
    site->radius = def->radius;
    site->half = def->half;
    return check_region(b, def, site->name);
}

perp_site perp_builder_add_site(perp_builder *builder, const perp_site_def *def)
{
    if (!pp_builder_usable(builder, def, def ? def->cookie : 0, PP_SITE_COOKIE, "site")) {
        return (perp_site){-1};
    }
    pp_site *site = pp_builder_grow(builder, &builder->sites, sizeof *site);
    if (!site) {
        return (perp_site){-1};
    }
    *site = (pp_site){.name = def->name};
    bool ok = pp_builder_name(builder, "site", &site->name, builder->sites.count - 1,
                              &builder->sites, sizeof *site) &&
              convert_site(builder, def, site) && pp_builder_keep_def(builder, PP_DEF_SITE, def);
    return (perp_site){pp_builder_keep(&builder->sites, ok)};
}

// ── Sensors ──────────────────────────────────────────────────────────────────────────────────────

static bool has_coordinate(perp_joint_kind kind)
{
    return kind != PERP_JOINT_WELD && kind != PERP_JOINT_GEAR && kind != PERP_JOINT_SPHERICAL;
}

// Sensors of joints need a coordinate, those of forces two bodies.
static bool check_joint(perp_builder *b, const perp_sensor_def *def, const pp_sensor *s)
{
    const pp_joint *joint = b->joints.items;
    const sensor_card *card = &cards[def->kind];
    if (def->joint.i < 0 || def->joint.i >= b->joints.count) {
        return pp_builder_bad(b, PERP_ERR_MODEL, "sensor '%s': joint %d does not exist", s->name,
                              def->joint.i);
    }
    const pp_joint *j = &joint[def->joint.i];
    if (card->at == AT_JOINT && !has_coordinate(j->kind)) {
        return pp_builder_bad(b, PERP_ERR_MODEL,
                              "sensor '%s': joint '%s' has no coordinate; use force and torque",
                              s->name, j->name);
    }
    if (card->at == AT_JOINT) {
        return true;
    }
    // what follows is of forces and torques, which have a frame as well
    if (pp_joint_couples(j)) {
        return pp_builder_bad(
            b, PERP_ERR_MODEL,
            "sensor '%s': joint '%s' couples others and has no bodies of its own; "
            "use one of the joints that it couples",
            s->name, j->name);
    }
    if (s->body != j->a && s->body != j->b) {
        return pp_builder_bad(b, PERP_ERR_MODEL,
                              "sensor '%s': its site must be on one of the bodies of joint '%s'",
                              s->name, j->name);
    }
    return true;
}

// The body that carries the frame of the sensor; a site determines it.
static bool find_frame(perp_builder *b, const perp_sensor_def *def, pp_sensor *s)
{
    const pp_site *site = b->sites.items;
    bool by_site = def->site.i != -1;
    if (by_site && (def->site.i < 0 || def->site.i >= b->sites.count)) {
        return pp_builder_bad(b, PERP_ERR_MODEL, "sensor '%s': site %d does not exist", s->name,
                              def->site.i);
    }
    if (by_site == (def->body.i != -1)) {
        return pp_builder_bad(b, PERP_ERR_MODEL, "sensor '%s': give a site or a body%s", s->name,
                              by_site ? ", not both" : "");
    }
    if (!by_site && (def->body.i < 0 || def->body.i >= b->bodies.count)) {
        return pp_builder_bad(b, PERP_ERR_MODEL, "sensor '%s': body %d does not exist", s->name,
                              def->body.i);
    }
    s->site = def->site.i;
    s->body = by_site ? site[def->site.i].body : def->body.i;
    bool region = by_site && (site[s->site].radius > 0.0 || site[s->site].half.x > 0.0);
    if (def->kind == PERP_SENSOR_TOUCH && by_site && !region) {
        return pp_builder_bad(b, PERP_ERR_MODEL,
                              "sensor '%s': site '%s' has no region; give it a radius or a "
                              "size, or name a body",
                              s->name, site[s->site].name);
    }
    return true;
}

// Everything that a caller can get wrong, with the name of the sensor.
static bool convert_sensor(perp_builder *b, const perp_sensor_def *def, pp_sensor *s)
{
    if (def->kind < PERP_SENSOR_JOINT_POSITION || (int)def->kind >= KINDS) {
        return pp_builder_bad(b, PERP_ERR_MODEL, "sensor '%s': unknown kind %d", s->name,
                              (int)def->kind);
    }
    const sensor_card *card = &cards[def->kind];
    bool at_frame = card->at == AT_FRAME || card->at == AT_FRAME_AND_JOINT;
    bool at_joint = card->at == AT_JOINT || card->at == AT_FRAME_AND_JOINT;
    s->kind = def->kind;
    // the frame first: a wrench needs the body that carries it
    if (at_frame && !find_frame(b, def, s)) {
        return false;
    }
    if (at_joint && !check_joint(b, def, s)) {
        return false;
    }
    if (card->at == AT_ACTUATOR && (def->actuator.i < 0 || def->actuator.i >= b->actuators.count)) {
        return pp_builder_bad(b, PERP_ERR_MODEL, "sensor '%s': actuator %d does not exist", s->name,
                              def->actuator.i);
    }
    if (!pp_finite3(def->axis_S) || !(def->max_range > 0.0)) {
        return pp_builder_bad(b, PERP_ERR_MODEL,
                              "sensor '%s': the axis must be finite, the range positive", s->name);
    }
    s->joint = at_joint ? def->joint.i : -1;
    s->actuator = card->at == AT_ACTUATOR ? def->actuator.i : -1;
    s->axis_S = def->axis_S;
    s->max_range = def->max_range;
    return true;
}

perp_sensor perp_builder_add_sensor(perp_builder *builder, const perp_sensor_def *def)
{
    if (!pp_builder_usable(builder, def, def ? def->cookie : 0, PP_SENSOR_COOKIE, "sensor")) {
        return (perp_sensor){-1};
    }
    pp_sensor *s = pp_builder_grow(builder, &builder->sensors, sizeof *s);
    if (!s) {
        return (perp_sensor){-1};
    }
    *s = (pp_sensor){.name = def->name, .joint = -1, .actuator = -1, .site = -1, .body = -1};
    bool ok = pp_builder_name(builder, "sensor", &s->name, builder->sensors.count - 1,
                              &builder->sensors, sizeof *s) &&
              convert_sensor(builder, def, s) && pp_builder_keep_def(builder, PP_DEF_SENSOR, def);
    return (perp_sensor){pp_builder_keep(&builder->sensors, ok)};
}

// ── In a model ───────────────────────────────────────────────────────────────────────────────────

// Unit of a kind, by the joint that the sensor refers to; an orientation is an angle in the plane.
static const char *unit_of(const perp_model *m, const pp_sensor *s)
{
    const sensor_card *card = &cards[s->kind];
    int joint = s->actuator >= 0 ? m->actuator[s->actuator].joint : s->joint;
    if (!card->turning || (joint < 0 && m->spatial)) {
        return card->unit;
    }
    if (joint < 0) {
        return card->turning;
    }
    perp_joint_kind kind = m->joint[joint].kind;
    if (kind == PERP_JOINT_COUPLING) {
        return card->coupled;
    }
    bool slides = kind == PERP_JOINT_PRISMATIC || kind == PERP_JOINT_DISTANCE ||
                  kind == PERP_JOINT_POINT_ON_LINE || kind == PERP_JOINT_CYLINDRICAL;
    return slides ? card->unit : card->turning;
}

// The part of a direction that exists in the model, with length 1; `otherwise` where nothing is left.
static perp_vec3 direction(const perp_model *m, perp_vec3 axis, perp_vec3 otherwise)
{
    perp_vec3 d = m->spatial ? axis : pp_vec(axis.x, axis.y, 0.0);
    double size = fmax(fabs(d.x), fmax(fabs(d.y), fabs(d.z)));
    return size > 0.0 ? pp_unit(pp_scale(1.0 / size, d), otherwise) : otherwise;
}

void pp_model_set_sensors(perp_model *m)
{
    for (int i = 0; i < m->sites; i++) {
        pp_site *site = &m->site[i];
        double half = 0.5 * site->angle;
        if (!m->spatial) {
            site->X_BS.p.z = 0.0;
            site->rot_BS = (perp_quat){pp_cos(half), 0.0, 0.0, pp_sin(half)};
        }
        site->X_BS.R = pp_quat_matrix(site->rot_BS);
    }
    // Directions of actuators at sites, so far in the axes of the site.
    for (int i = 0; i < m->joints; i++) {
        pp_joint *j = &m->joint[i];
        if (j->site > 0) {
            const pp_mat3 *R = &m->site[j->site - 1].X_BS.R;
            j->force_B = pp_mul(R, j->force_B);
            j->torque_B = pp_mul(R, j->torque_B);
            if (!m->spatial) {
                j->force_B.z = j->torque_B.x = j->torque_B.y = 0.0;
            }
        }
    }
    for (int i = 0; i < m->sensors; i++) {
        pp_sensor *s = &m->sensor[i];
        const sensor_card *card = &cards[s->kind];
        s->at = m->sensor_values;
        s->size = m->spatial ? card->space : card->plane;
        m->sensor_values += s->size;
        s->unit = unit_of(m, s);
        s->axis_S = direction(m, s->axis_S, pp_vec(!m->spatial, 0.0, m->spatial));
    }
}

// ── Properties ───────────────────────────────────────────────────────────────────────────────────

int perp_model_sites(const perp_model *model)
{
    return model ? model->sites : 0;
}

int perp_model_sensors(const perp_model *model)
{
    return model ? model->sensors : 0;
}

perp_site perp_model_site(const perp_model *model, const char *name)
{
    int count = model && name ? model->sites : 0;
    for (int i = 0; i < count; i++) {
        if (strcmp(model->site[i].name, name) == 0) {
            return (perp_site){i};
        }
    }
    return (perp_site){-1};
}

perp_sensor perp_model_sensor(const perp_model *model, const char *name)
{
    int count = model && name ? model->sensors : 0;
    for (int i = 0; i < count; i++) {
        if (strcmp(model->sensor[i].name, name) == 0) {
            return (perp_sensor){i};
        }
    }
    return (perp_sensor){-1};
}

// Handles come from callers, and are checked wherever they enter.
static bool has_site(const perp_model *model, perp_site site)
{
    return model && site.i >= 0 && site.i < model->sites;
}

static bool has_sensor(const perp_model *model, perp_sensor sensor)
{
    return model && sensor.i >= 0 && sensor.i < model->sensors;
}

const char *perp_model_site_name(const perp_model *model, perp_site site)
{
    return has_site(model, site) ? model->site[site.i].name : "";
}

perp_body perp_model_site_body(const perp_model *model, perp_site site)
{
    return (perp_body){has_site(model, site) ? model->site[site.i].body : -1};
}

const char *perp_model_sensor_name(const perp_model *model, perp_sensor sensor)
{
    return has_sensor(model, sensor) ? model->sensor[sensor.i].name : "";
}

perp_sensor_kind perp_model_sensor_kind(const perp_model *model, perp_sensor sensor)
{
    return has_sensor(model, sensor) ? model->sensor[sensor.i].kind : PERP_SENSOR_JOINT_POSITION;
}

int perp_model_sensor_size(const perp_model *model, perp_sensor sensor)
{
    return has_sensor(model, sensor) ? model->sensor[sensor.i].size : 0;
}

const char *perp_model_sensor_unit(const perp_model *model, perp_sensor sensor)
{
    return has_sensor(model, sensor) ? model->sensor[sensor.i].unit : "";
}

// Quaternions begin with their scalar part.
const char *perp_sensor_label(int size, int k)
{
    static const char *const label[] = {"w", "x", "y", "z"};
    if (size < 2 || size > 4 || k < 0 || k >= size) {
        return "";
    }
    return label[size == 4 ? k : k + 1];
}

// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// A model as the text of a scene, from the definitions that it keeps and the tables of the reader: a field is written
// where it differs from its default. Numbers have 17 digits, so that the model is read back to the last bit.
#include "scene/read/json_tree.h"
#include "scene/read/reader.h"

#include <math.h>
#include <string.h>

// Text that grows; a failure is remembered.
typedef struct writer {
    const perp_env *env;
    const perp_model *model;
    char *text;
    size_t size, room;
    bool failed;        // no memory
    const char *wrong;  // a name or number that a scene cannot have
    bool first;         // of a list or object: no comma
} writer;

// ── Text ─────────────────────────────────────────────────────────────────────────────────────────

static void put(writer *w, const char *text)
{
    size_t length = strlen(text);
    if (w->size + length + 1 > w->room && !w->failed) {
        size_t room = 2 * (w->room + length) + 1024;
        char *more = pp_alloc(w->env, room);
        w->failed = !more;
        if (more) {
            memcpy(more, w->text ? w->text : "", w->size);
            pp_free(w->env, w->text, w->room);
            w->text = more;
            w->room = room;
        }
    }
    if (!w->failed) {
        memcpy(w->text + w->size, text, length + 1);
        w->size += length;
    }
}

// JSON has no word for what is not finite.
static void put_number(writer *w, double x)
{
    char text[40];
    if (!isfinite(x)) {
        w->wrong = "a number is not finite";
        return;
    }
    pp_number_print_short(text, sizeof text, x);
    put(w, text);
}

static void put_bound(writer *w, double x)
{
    if (isfinite(x)) {
        put_number(w, x);
    } else {
        put(w, x > 0.0 ? "\"inf\"" : "\"-inf\"");
    }
}

static void put_string(writer *w, const char *text)
{
    char c[8];
    put(w, "\"");
    for (; *text; text++) {
        unsigned char byte = (unsigned char)*text;
        if (byte < ' ') {
            pp_print(c, sizeof c, "\\u%04x", byte);
        } else {
            pp_print(c, sizeof c, "%s%c", byte == '"' || byte == '\\' ? "\\" : "", byte);
        }
        put(w, c);
    }
    put(w, "\"");
}

// Names are of one line and 60 bytes; braces would be evaluated.
static void put_name(writer *w, const char *name)
{
    if (!name[0] || strlen(name) > 60 || strpbrk(name, "{}\n\r\t")) {
        w->wrong = "a name is longer than 60 bytes, or has braces or several lines";
    }
    put_string(w, name);
}

static void put_key(writer *w, const char *key)
{
    put(w, w->first ? "" : ", ");
    w->first = false;
    put_string(w, key);
    put(w, ": ");
}

static void put_vector(writer *w, const double *x, int count)
{
    for (int k = 0; k < count; k++) {
        put(w, k > 0 ? ", " : "[");
        put_number(w, x[k]);
    }
    put(w, "]");
}

// A plain number must not be a string.
static void put_formula(writer *w, const char *text)
{
    double x;
    if (pp_number_parse(text, strlen(text), &x) == PP_NUMBER_FINITE) {
        put_number(w, x);
    } else {
        put_string(w, text);
    }
}

// ── Values ───────────────────────────────────────────────────────────────────────────────────────

static void put_points(writer *w, const perp_shape_def *shape, int count)
{
    for (int i = 0; i < shape->vertex_count; i++) {
        const perp_vec3 *p = &shape->vertices_S[i];
        put(w, i > 0 ? ", " : "[");
        put_vector(w, (double[]){p->x, p->y, p->z}, count);
    }
    put(w, "]");
}

static void put_triangles(writer *w, const perp_shape_def *shape)
{
    char text[48];
    for (int i = 0; i < shape->triangle_count; i++) {
        const int *t = &shape->triangles[3 * (size_t)i];
        pp_print(text, sizeof text, "%s[%d, %d, %d]", i > 0 ? ", " : "[", t[0], t[1], t[2]);
        put(w, text);
    }
    put(w, "]");
}

static void put_heights(writer *w, const perp_shape_def *shape)
{
    for (int i = 0; i < shape->grid_y; i++) {
        put(w, i > 0 ? ", " : "[");
        put_vector(w, shape->heights + (size_t)i * (size_t)shape->grid_x, shape->grid_x);
    }
    put(w, "]");
}

static void put_surface(writer *w, const perp_shape_def *shape)
{
    const char *const text[3] = {shape->surface_x, shape->surface_y, shape->surface_z};
    for (int k = 0; k < 3; k++) {
        put(w, k > 0 ? ", " : "[");
        put_formula(w, text[k] ? text[k] : "0");
    }
    put(w, "]");
}

static void put_choice(writer *w, const pp_field *field, int value)
{
    const char *word = field->word ? field->word(value) : NULL;
    for (const pp_choice *c = field->choices; c && c->word; c++) {
        word = c->value == value ? c->word : word;
    }
    put_string(w, word ? word : "?");
}

static double real_at(const void *at)
{
    double x;
    memcpy(&x, at, sizeof x);
    return x;
}

static int int_at(const void *at)
{
    int x;
    memcpy(&x, at, sizeof x);
    return x;
}

static perp_vec3 vector_at(const void *at)
{
    perp_vec3 x;
    memcpy(&x, at, sizeof x);
    return x;
}

static const char *text_at(const void *at)
{
    const char *x;
    memcpy(&x, at, sizeof x);
    return x;
}

// The numbers of a field, in the order of the file; 0: it is not made of numbers alone.
static int numbers_of(const writer *w, const pp_field *field, const char *at, double *x)
{
    bool spatial = w->model->spatial;
    perp_vec3 v = {0.0, 0.0, 0.0};
    switch (field->kind) {
    case PP_FIELD_VECTOR:
    case PP_FIELD_DIRECTION:
    case PP_FIELD_RADII:
        v = vector_at(at);
        memcpy(x, &v, sizeof v);
        return spatial ? 3 : 2;
    case PP_FIELD_SIZE:
    case PP_FIELD_AREA:
        v = pp_scale(2.0, vector_at(at));  // half extents
        memcpy(x, &v, sizeof v);
        return spatial && field->kind == PP_FIELD_SIZE ? 3 : 2;
    case PP_FIELD_ROTATION:
        memcpy(x, at, 4 * sizeof *x);
        return 4;
    case PP_FIELD_INERTIA:
        memcpy(x, at, 6 * sizeof *x);
        return 6;
    case PP_FIELD_RANGE:
        memcpy(x, at, 2 * sizeof *x);
        return 2;
    case PP_FIELD_TRIPLE:
        memcpy(x, at, 3 * sizeof *x);
        return 3;
    default:
        return 0;
    }
}

// The value of a field; `whole` is the definition.
static void put_value(writer *w, const pp_field *field, const char *at, const void *whole)
{
    const perp_model *m = w->model;
    double x[6];
    char text[24];
    // lists of numbers first; names are those of the model, as definitions may have none
    int count = numbers_of(w, field, at, x);
    if (count > 0) {
        put_vector(w, x, count);
        return;
    }
    switch (field->kind) {
    case PP_FIELD_EFFORT:
    case PP_FIELD_BOUND:
        put_bound(w, real_at(at));
        break;
    case PP_FIELD_LENGTH: {
        perp_vec3 half = vector_at(at);
        put_number(w, 2.0 * (m->spatial ? half.z : half.x));
        break;
    }
    case PP_FIELD_VERTICES:
    case PP_FIELD_POINTS:
        put_points(w, whole, field->kind == PP_FIELD_POINTS ? 3 : 2);
        break;
    case PP_FIELD_TRIANGLES:
        put_triangles(w, whole);
        break;
    case PP_FIELD_HEIGHTS:
        put_heights(w, whole);
        break;
    case PP_FIELD_SURFACE:
        put_surface(w, whole);
        break;
    case PP_FIELD_MOTION:
    case PP_FIELD_EXPRESSION:
    case PP_FIELD_SIGNAL:
    case PP_FIELD_SOURCE:
    case PP_FIELD_COORDINATE:
        put_formula(w, text_at(at));
        break;
    case PP_FIELD_TEXT:
        put_name(w, text_at(at));
        break;
    case PP_FIELD_SOLVER:
        put_string(w, text_at(at));
        break;
    case PP_FIELD_FLAG:
        put(w, *(const bool *)at ? "true" : "false");
        break;
    case PP_FIELD_CHOICE:
        put_choice(w, field, int_at(at));
        break;
    case PP_FIELD_BODY:
        put_name(w, m->body[int_at(at)].name);
        break;
    case PP_FIELD_SHAPE:
        put_name(w, m->shape[int_at(at)].name);
        break;
    case PP_FIELD_JOINT:
        put_name(w, m->joint[int_at(at)].name);
        break;
    case PP_FIELD_ACTUATOR:
        put_name(w, m->actuator[int_at(at)].name);
        break;
    case PP_FIELD_SITE:
        put_name(w, m->site[int_at(at)].name);
        break;
    case PP_FIELD_THREADS:
    case PP_FIELD_COUNT:
    case PP_FIELD_FACETS:
    case PP_FIELD_PRIORITY:
        pp_print(text, sizeof text, "%d", int_at(at));
        put(w, text);
        break;
    case PP_FIELD_GROUPS:
        pp_print(text, sizeof text, "%u", (unsigned)int_at(at));
        put(w, text);
        break;
    case PP_FIELD_COLOUR:
        pp_print(text, sizeof text, "\"#%06x\"", (unsigned)int_at(at));
        put(w, text);
        break;
    default:
        put_number(w, real_at(at));
        break;
    }
}

// ── Fields ───────────────────────────────────────────────────────────────────────────────────────

// Whether the value is another than that of the default definition.
static bool differs(const writer *w, const pp_field *field, const char *at, const char *usual,
                    const void *whole)
{
    const perp_shape_def *shape = whole;
    double x[6], y[6];
    int count = numbers_of(w, field, at, x);
    if (count > 0) {
        (void)numbers_of(w, field, usual, y);
        // minus zero is the same number, but not the same bits
        return memcmp(x, y, (size_t)count * sizeof *x) != 0;
    }
    switch (field->kind) {
    case PP_FIELD_VERTICES:
    case PP_FIELD_POINTS:
        return shape->vertices_S != NULL;
    case PP_FIELD_TRIANGLES:
        return shape->triangles != NULL;
    case PP_FIELD_HEIGHTS:
        return shape->heights != NULL;
    case PP_FIELD_SURFACE:
        return shape->surface_x || shape->surface_y || shape->surface_z;
    case PP_FIELD_MOTION:
    case PP_FIELD_EXPRESSION:
    case PP_FIELD_SIGNAL:
    case PP_FIELD_SOURCE:
    case PP_FIELD_COORDINATE:
    case PP_FIELD_TEXT:
    case PP_FIELD_SOLVER:
        return text_at(at) && text_at(at)[0];
    case PP_FIELD_FLAG:
        return *(const bool *)at != *(const bool *)usual;
    case PP_FIELD_CHOICE:
    case PP_FIELD_BODY:
    case PP_FIELD_SHAPE:
    case PP_FIELD_JOINT:
    case PP_FIELD_ACTUATOR:
    case PP_FIELD_SITE:
    case PP_FIELD_THREADS:
    case PP_FIELD_COUNT:
    case PP_FIELD_FACETS:
    case PP_FIELD_PRIORITY:
    case PP_FIELD_GROUPS:
    case PP_FIELD_COLOUR:
        return int_at(at) != int_at(usual);
    case PP_FIELD_LENGTH:
        return true;
    default:
        return memcmp(at, usual, sizeof(double)) != 0;
    }
}

// Negative coefficients stand for those of the shapes, and are left out.
static bool is_left_out(const pp_field *field, const char *at)
{
    switch (field->kind) {
    case PP_FIELD_NONNEGATIVE:
    case PP_FIELD_FRACTION:
        return real_at(at) < 0.0;
    case PP_FIELD_FACETS:
        return int_at(at) < 0;
    case PP_FIELD_DIRECTION: {
        perp_vec3 d = vector_at(at);
        return d.x == 0.0 && d.y == 0.0 && d.z == 0.0;
    }
    case PP_FIELD_OTHER:
    case PP_FIELD_FILE:
        return true;
    default:
        return false;
    }
}

// What a table of fields is written with: usual: the default definition; but: keys that are not written, ended by NULL;
// all: also what is as usual.
typedef struct put_rule {
    const void *usual;
    const char *const *but;
    bool all;
} put_rule;

static void put_fields(writer *w, const pp_object *object, int kind, const void *def, put_rule rule)
{
    int space = w->model->spatial ? PP_SPACE : PP_PLANE;
    for (int k = 0; k < object->count; k++) {
        const pp_field *field = &object->field[k];
        const char *at = (const char *)def + field->offset;
        const char *usual = (const char *)rule.usual + field->offset;
        bool owned = (field->space == 0 || field->space == space) &&
                     (field->owners == 0 || (field->owners >> kind & 1u));
        if (!owned || is_left_out(field, at)) {
            continue;
        }
        bool skip = false;
        for (const char *const *key = rule.but; key && *key; key++) {
            skip = skip || strcmp(*key, field->key) == 0;
        }
        bool needed = field->needed >> kind & 1u;
        if (!skip && (needed || rule.all || differs(w, field, at, usual, def))) {
            put_key(w, field->key);
            put_value(w, field, at, def);
        }
    }
}

// "kind" as the scene writes it.
static void put_kind(writer *w, const pp_object *object, int kind)
{
    put_key(w, "kind");
    put_choice(w, &(pp_field){.choices = object->kinds[w->model->spatial]}, kind);
}

// ── Objects ──────────────────────────────────────────────────────────────────────────────────────

static void open_list(writer *w, const char *key, int index)
{
    if (index == 0) {
        put(w, ",\n ");
        put_string(w, key);
        put(w, ": [");
    }
    put(w, index > 0 ? ",\n  {" : "\n  {");
    w->first = true;
}

static void close_list(writer *w, int count)
{
    put(w, count > 0 ? "]" : "");
}

// Velocities of a body that is not free have no meaning, and no place in a scene.
static void put_bodies(writer *w)
{
    const perp_model *m = w->model;
    static const char *const moving[] = {"name", "velocity", "spin", NULL};
    const perp_body_def *def = m->def[PP_DEF_BODY], usual = perp_body_default();
    for (int i = 1; i < m->bodies; i++) {
        const char *const *but = def[i].motion == PERP_MOTION_DYNAMIC ? moving + 3 : moving;
        perp_body_def body = def[i];
        body.name = m->body[i].name;
        open_list(w, "bodies", i - 1);
        put_key(w, "name");
        put_name(w, body.name);
        put_kind(w, &pp_body_object, (int)body.kind);
        body.name = NULL;
        put_fields(w, &pp_body_object, (int)body.kind, &body, (put_rule){&usual, but, false});
        if (body.motion == PERP_MOTION_STATIC) {
            put_key(w, "drive");
            put(w, "\"fixed\"");
        } else if (body.motion == PERP_MOTION_KINEMATIC) {
            bool moves = body.motion_x || body.motion_y || body.motion_z || body.motion_rx ||
                         body.motion_ry || body.motion_angle;
            put_key(w, "drive");
            put(w, "{");
            w->first = true;
            put_fields(w, &pp_drive_object, 0, &body, (put_rule){&usual, NULL, false});
            if (!moves) {  // it stands still, which is a motion as well
                put_key(w, "x");
                put_number(w, body.position_W.x);
            }
            put(w, "}");
            w->first = false;
        }
        put(w, "}");
    }
    close_list(w, m->bodies - 1);
}

// Shapes, or visuals: each with the body it belongs to, unless that is the ground.
static void put_solids(writer *w, const pp_object *object, const pp_shape *shape, int count,
                       const perp_shape_def *def)
{
    const perp_shape_def usual = perp_shape_default();
    for (int i = 0; i < count; i++) {
        perp_shape_def own = def[i];
        own.name = NULL;
        open_list(w, object->list, i);
        put_key(w, "name");
        put_name(w, shape[i].name);
        if (shape[i].body > 0) {
            put_key(w, "body");
            put_name(w, w->model->body[shape[i].body].name);
        }
        put_kind(w, object, (int)own.kind);
        put_fields(w, object, (int)own.kind, &own, (put_rule){&usual, NULL, false});
        put(w, "}");
    }
    close_list(w, count);
}

// All coefficients of a pair: those left out would be combined from the shapes.
static void put_contacts(writer *w)
{
    const perp_model *m = w->model;
    const perp_contact_def *def = m->def[PP_DEF_CONTACT], usual = perp_contact_default();
    const perp_pair_def *pair = m->def[PP_DEF_PAIR], plain = perp_pair_default();
    for (int i = 0; i < m->listed; i++) {
        perp_contact_def contact = def[i];
        contact.name = m->contact[i].name;
        open_list(w, "contacts", i);
        put_fields(w, &pp_contact_object, 0, &contact, (put_rule){&usual, NULL, false});
        put(w, "}");
    }
    close_list(w, m->listed);
    for (int i = 0; i < m->pairs; i++) {
        open_list(w, "pairs", i);
        put_fields(w, &pp_pair_object, 0, &pair[i], (put_rule){&plain, NULL, true});
        put(w, "}");
    }
    close_list(w, m->pairs);
}

static void put_joints(writer *w)
{
    const perp_model *m = w->model;
    static const char *const by_hand[] = {"at", "collide", "lower", "upper", NULL};
    const perp_joint_def *def = m->def[PP_DEF_JOINT];
    const pp_joint_input usual = {.def = perp_joint_default()};
    int written = 0;
    for (int i = 0; i < m->joints; i++) {
        pp_joint_input joint = {.def = def[i]};
        if (m->joint[i].site > 0) {  // comes with its actuator
            continue;
        }
        joint.def.name = m->joint[i].name;
        open_list(w, "joints", written++);
        put_kind(w, &pp_joint_object, (int)def[i].kind);
        put_fields(w, &pp_joint_object, (int)def[i].kind, &joint,
                   (put_rule){&usual, by_hand, false});
        // lower > upper: none
        if (def[i].lower <= def[i].upper) {
            put_key(w, "lower");
            put_bound(w, def[i].lower);
            put_key(w, "upper");
            put_bound(w, def[i].upper);
        }
        if (def[i].collide != PERP_COLLIDE_RULE) {
            put_key(w, "collide");
            put(w, def[i].collide == PERP_COLLIDE_ALWAYS ? "true" : "false");
        }
        put(w, "}");
    }
    close_list(w, written);
}

static void put_forces(writer *w)
{
    const perp_model *m = w->model;
    const perp_force_def *def = m->def[PP_DEF_FORCE], usual = perp_force_default();
    for (int i = 0; i < m->forces; i++) {
        perp_force_def force = def[i];
        force.name = m->force[i].name;
        open_list(w, "forces", i);
        put_kind(w, &pp_force_object, (int)force.kind);
        put_fields(w, &pp_force_object, (int)force.kind, &force, (put_rule){&usual, NULL, false});
        put(w, "}");
    }
    close_list(w, m->forces);
}

// Inputs that an actuator added are among them: their order is that of the model.
static void put_controls(writer *w)
{
    const perp_model *m = w->model;
    const perp_input_def *def = m->def[PP_DEF_INPUT], usual = perp_input_default();
    const perp_actuator_def *actuators = m->def[PP_DEF_ACTUATOR], plain = perp_actuator_default();
    for (int i = 0; i < m->inputs; i++) {
        perp_input_def input = def[i];
        input.name = m->input[i].name;
        open_list(w, "inputs", i);
        put_fields(w, &pp_input_object, 0, &input, (put_rule){&usual, NULL, false});
        if (m->source[i] || input.value != 0.0) {
            put_key(w, "value");
            if (m->source[i]) {
                put_string(w, m->source[i]);
            } else {
                put_number(w, input.value);
            }
        }
        put(w, "}");
    }
    close_list(w, m->inputs);
    // a damping ratio takes the place of kv
    for (int i = 0; i < m->actuators; i++) {
        static const char *const gains[] = {"kv", NULL};
        perp_actuator_def actuator = actuators[i];
        actuator.name = m->actuator[i].name;
        open_list(w, "actuators", i);
        put_kind(w, &pp_actuator_object, (int)actuator.kind);
        put_fields(w, &pp_actuator_object, (int)actuator.kind, &actuator,
                   (put_rule){&plain, actuator.damping_ratio >= 0.0 ? gains : NULL, false});
        put(w, "}");
    }
    close_list(w, m->actuators);
}

static void put_sensors(writer *w)
{
    const perp_model *m = w->model;
    const perp_site_def *def = m->def[PP_DEF_SITE], usual = perp_site_default();
    const perp_sensor_def *sensors = m->def[PP_DEF_SENSOR], plain = perp_sensor_default();
    for (int i = 0; i < m->sites; i++) {
        perp_site_def site = def[i];
        site.name = m->site[i].name;
        open_list(w, "sites", i);
        put_fields(w, &pp_site_object, 0, &site, (put_rule){&usual, NULL, false});
        put(w, "}");
    }
    close_list(w, m->sites);
    // what a kind does not have is in no field of it
    for (int i = 0; i < m->sensors; i++) {
        perp_sensor_def sensor = sensors[i];
        sensor.name = m->sensor[i].name;
        open_list(w, "sensors", i);
        put_kind(w, &pp_sensor_object, (int)sensor.kind);
        put_fields(w, &pp_sensor_object, (int)sensor.kind, &sensor,
                   (put_rule){&plain, NULL, false});
        put(w, "}");
    }
    close_list(w, m->sensors);
}

static void put_exclusions(writer *w)
{
    const perp_model *m = w->model;
    for (int i = 0; i < m->exclusions; i++) {
        put(w, i > 0 ? ", [" : ",\n \"exclude\": [[");
        put_name(w, m->body[m->exclusion[i].a].name);
        put(w, ", ");
        put_name(w, m->body[m->exclusion[i].b].name);
        put(w, "]");
    }
    close_list(w, m->exclusions);
}

// ── Keyframes ────────────────────────────────────────────────────────────────────────────────────

static void put_coordinates(writer *w, const char *key, const double *x, int count)
{
    put_key(w, key);
    if (count == 1) {
        put_number(w, x[0]);
    } else {
        put_vector(w, x, count);
    }
}

static void put_keyframe_joints(writer *w, int keyframe)
{
    const perp_model *m = w->model;
    for (int i = 0; i < m->keyframe_joints; i++) {
        const pp_keyframe_joint *item = &m->keyframe_joint[i];
        const pp_joint *joint = &m->joint[item->joint];
        int nq, nv;
        unsigned angles;
        if (item->keyframe != keyframe) {
            continue;
        }
        pp_joint_carries(m->spatial, joint->kind, &nq, &nv, &angles);
        put_key(w, joint->name);
        put(w, "{");
        w->first = true;
        if (item->placed) {
            put_coordinates(w, "position", item->position, nq);
        }
        if (item->moving) {
            put_coordinates(w, "rate", item->rate, nv);
        }
        put(w, "}");
        w->first = false;
    }
}

static void put_keyframe_bodies(writer *w, int keyframe)
{
    const perp_model *m = w->model;
    int count = m->spatial ? 3 : 2;
    for (int i = 0; i < m->keyframe_bodies; i++) {
        const pp_keyframe_body *item = &m->keyframe_body[i];
        const pp_body *body = &m->body[item->body];
        if (item->keyframe != keyframe) {
            continue;
        }
        put_key(w, body->name);
        put(w, "{");
        w->first = true;
        // of the frame that the shapes were given in, not of the centre of mass
        put_key(w, "position");
        put_vector(w, (const double *)&item->given, count);
        put_key(w, "velocity");
        put_vector(w, (const double *)&item->v, count);
        if (body->kind == PERP_BODY_SPATIAL) {
            put_key(w, "rotation");
            put_vector(w, (const double *)&item->rot, 4);
            put_key(w, "spin");
            put_vector(w, (const double *)&item->w, 3);
        } else if (body->kind == PERP_BODY_PLANAR) {
            put_key(w, "angle");
            put_number(w, item->angle);
            put_key(w, "spin");
            put_number(w, item->w.z);
        }
        put(w, "}");
        w->first = false;
    }
}

static void put_keyframes(writer *w)
{
    const perp_model *m = w->model;
    for (int k = 0; k < m->keyframes; k++) {
        open_list(w, "keyframes", k);
        put_key(w, "name");
        put_name(w, m->keyframe[k].name);
        put_key(w, "time");
        put_number(w, m->keyframe[k].t);
        // objects that may be empty
        put_key(w, "joints");
        put(w, "{");
        w->first = true;
        put_keyframe_joints(w, k);
        put(w, "}");
        w->first = false;
        put_key(w, "bodies");
        put(w, "{");
        w->first = true;
        put_keyframe_bodies(w, k);
        put(w, "}");
        w->first = false;
        put_key(w, "inputs");
        put(w, "{");
        w->first = true;
        for (int i = 0; i < m->keyframe_inputs; i++) {
            const pp_keyframe_input *item = &m->keyframe_input[i];
            if (item->keyframe == k) {
                put_key(w, m->input[item->input].name);
                put_number(w, item->value);
            }
        }
        put(w, "}}");
    }
    close_list(w, m->keyframes);
}

// ── All of it ────────────────────────────────────────────────────────────────────────────────────

static void put_settings(writer *w, const perp_scene_settings *settings)
{
    const perp_model *m = w->model;
    perp_sim_def plain = perp_sim_default();
    const perp_sim_def *def = settings->sim ? settings->sim : &plain;
    const pp_settings usual = {.sim = perp_sim_default(), .step = 0.001, .until = 1.0};
    const pp_settings given = {.sim = *def,
                               .step = settings->step,
                               .until = settings->until,
                               .interval = settings->interval,
                               .gravity = m->gravity,
                               .listed_only = m->listed_only,
                               .name = settings->name,
                               .description = settings->description};
    // gravity always, since its default depends on the bodies
    static const char *const by_hand[] = {"gravity", "description", NULL};
    const perp_limits none = {0};
    put(w, "{");
    w->first = true;
    put_fields(w, &pp_scene_object, 0, &given, (put_rule){&usual, by_hand, false});
    if (given.description && given.description[0]) {
        put_key(w, "description");
        put_string(w, given.description);
    }
    put_key(w, "gravity");
    put_vector(w, (const double *)&m->gravity, m->spatial ? 3 : 2);
    bool limited = false;
    for (int k = 0; k < pp_limits_object.count; k++) {
        size_t at = pp_limits_object.field[k].offset;
        limited = limited || real_at((const char *)&def->limits + at) != 0.0;
    }
    if (limited) {
        put_key(w, "limits");
        put(w, "{");
        w->first = true;
        put_fields(w, &pp_limits_object, 0, &def->limits, (put_rule){&none, NULL, false});
        put(w, "}");
        w->first = false;
    }
    for (int i = 0; i < (def->tree ? def->tree_count : 0); i++) {
        bool exists = def->tree[i].i >= 0 && def->tree[i].i < m->joints;
        put(w, i > 0 ? ", " : ", \"tree\": [");
        put_name(w, exists ? m->joint[def->tree[i].i].name : "?");
    }
    close_list(w, def->tree ? def->tree_count : 0);
    if (def->keyframe.i >= 0 && def->keyframe.i < m->keyframes) {
        put_key(w, "keyframe");
        put_name(w, m->keyframe[def->keyframe.i].name);
    }
}

perp_scene_settings perp_scene_settings_default(void)
{
    return (perp_scene_settings){.step = 0.001, .until = 1.0, .cookie = PP_SETTINGS_COOKIE};
}

// The text is read again at once: a model that a scene cannot express is refused here, and not when the file is needed.
perp_status perp_scene_create(const perp_model *model, const perp_scene_settings *settings,
                              const perp_env *env, perp_scene **scene, perp_error *error)
{
    const perp_scene_settings plain = perp_scene_settings_default();
    settings = settings ? settings : &plain;
    if (!model || !scene) {
        return pp_fail(error, PERP_ERR_ARGUMENT, "scene: model or output pointer is NULL");
    }
    *scene = NULL;
    if (settings->cookie != PP_SETTINGS_COOKIE) {
        return pp_fail(error, PERP_ERR_DEF,
                       "scene: initialise the settings with perp_scene_settings_default()");
    }
    writer w = {.env = env, .model = model};
    put_settings(&w, settings);
    put_controls(&w);
    put_bodies(&w);
    put_solids(&w, &pp_shape_object, model->shape, model->shapes, model->def[PP_DEF_SHAPE]);
    put_solids(&w, &pp_visual_object, model->visual, model->visuals, model->def[PP_DEF_VISUAL]);
    put_contacts(&w);
    put_exclusions(&w);
    put_joints(&w);
    put_forces(&w);
    put_sensors(&w);
    put_keyframes(&w);
    put(&w, "}\n");
    perp_status status = PERP_OK;
    if (w.failed) {
        status = pp_fail(error, PERP_ERR_MEMORY, "not enough memory for this scene");
    } else if (w.wrong) {
        status =
            pp_fail(error, PERP_ERR_MODEL, "the model cannot be written as a scene: %s", w.wrong);
    } else {
        perp_scene_load_options reading = perp_scene_load_options_default();
        reading.max_mb = PP_INF;  // it is in memory already
        reading.given_only = true;
        status = perp_scene_parse_with(settings->name ? settings->name : "model", w.text, w.size,
                                       &reading, env, scene, error);
    }
    pp_free(env, w.text, w.room);
    if (status >= 0 && perp_scene_model(*scene)->fingerprint != model->fingerprint) {
        perp_scene_destroy(*scene);
        *scene = NULL;
        return pp_fail(error, PERP_ERR_MODEL,
                       "the model cannot be written as a scene: it would be another one");
    }
    return status;
}

perp_status perp_model_write(const perp_model *model, const perp_scene_settings *settings,
                             const char *path, perp_error *error)
{
    perp_scene *scene = NULL;
    if (!model || !path) {
        return pp_fail(error, PERP_ERR_ARGUMENT, "perp_model_write: NULL argument");
    }
    perp_status status = perp_scene_create(model, settings, NULL, &scene, error);
    if (status == PERP_OK) {
        status = perp_scene_write(scene, path, error);
    }
    perp_scene_destroy(scene);
    return status;
}

// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Attributes of MJCF elements: from the element, or from its class of defaults and the classes around that.
#include "import/mjcf.h"

#include <math.h>
#include <string.h>

void pp_mjcf_fail(pp_mjcf *m, const pp_xml *at, const char *format, ...)
{
    if (m->status < 0) {
        return;
    }
    char text[300];
    va_list list;
    va_start(list, format);
    pp_print_list(text, sizeof text, format, list);
    va_end(list);
    m->status = pp_xml_fail(at, m->error, "%s", text);
}

void pp_mjcf_memory(pp_mjcf *m)
{
    if (m->status == PERP_OK) {
        m->status = pp_fail(m->error, PERP_ERR_MEMORY, "not enough memory for this model");
    }
}

// Every attribute is looked for in all of them.
enum { CLASSES_MOST = 2000, DEFAULTS_MOST = 5000 };

// ── Classes ──────────────────────────────────────────────────────────────────────────────────────

static pp_mjcf_class *find_class(const pp_mjcf *m, const char *name)
{
    for (pp_mjcf_class *c = m->classes; c; c = c->next) {
        if (strcmp(c->name, name) == 0) {
            return c;
        }
    }
    return NULL;
}

pp_mjcf_class *pp_mjcf_class_named(pp_mjcf *m, const pp_xml *at, const char *name)
{
    pp_mjcf_class *class = find_class(m, name);
    if (!class) {
        pp_mjcf_fail(m, at, "there is no default class '%.60s'", name);
        return m->main;
    }
    return class;
}

static pp_mjcf_class *add_class(pp_mjcf *m, const char *name, pp_mjcf_class *parent)
{
    if (++m->class_count > CLASSES_MOST && m->status == PERP_OK) {
        m->status =
            pp_fail(m->error, PERP_ERR_FORMAT, "more than %d default classes", CLASSES_MOST);
        return NULL;
    }
    pp_mjcf_class *class = PP_ZEROS(m->arena, pp_mjcf_class, 1);
    if (!class) {
        pp_mjcf_memory(m);
        return NULL;
    }
    class->name = name;
    class->parent = parent;
    class->next = m->classes;
    m->classes = class;
    return class;
}

static void add_element(pp_mjcf *m, pp_mjcf_class *class, pp_xml *element)
{
    if (++m->default_count > DEFAULTS_MOST) {
        pp_mjcf_fail(m, element, "more than %d elements with defaults", DEFAULTS_MOST);
        return;
    }
    if (class->elements == class->room) {
        pp_xml **list = PP_ARRAY(m->arena, pp_xml *, 2 * class->room + 8);
        if (!list) {
            pp_mjcf_memory(m);
            return;
        }
        for (int k = 0; k < class->elements; k++) {
            list[k] = class->element[k];
        }
        class->element = list;
        class->room = 2 * class->room + 8;
    }
    class->element[class->elements++] = element;
}

// One <default> element; nested ones are classes below it.
static void read_class(pp_mjcf *m, pp_xml *at, pp_mjcf_class *parent)
{
    const char *name = pp_xml_value(at, "class");
    at->seen = true;
    if (!name && parent) {
        pp_mjcf_fail(m, at, "a nested <default> needs a class");
        return;
    }
    // At the top, the class is the main one, whatever it is called.
    pp_mjcf_class *class = name ? find_class(m, name) : m->main;
    if (!class && !parent && m->main->elements == 0 && strcmp(m->main->name, "main") == 0) {
        class = m->main;
        class->name = name;
    }
    if (!class) {
        class = add_class(m, name, parent ? parent : m->main);
    }
    for (pp_xml *child = at->child; child; child = child->next) {
        if (m->status < 0 || !class) {
            return;
        }
        if (pp_xml_is(child, "default")) {
            read_class(m, child, class);
        } else {
            add_element(m, class, child);
        }
    }
}

void pp_mjcf_defaults(pp_mjcf *m, pp_xml *root)
{
    m->main = add_class(m, "main", NULL);
    if (!m->main) {
        return;
    }
    for (pp_xml *at = pp_xml_child(root, "default", NULL); at;
         at = pp_xml_child(root, "default", at)) {
        if (m->status < 0) {
            return;
        }
        read_class(m, at, NULL);
    }
}

pp_mjcf_view pp_mjcf_look(pp_mjcf *m, pp_xml *at, const char *kind, const pp_mjcf_class *outer)
{
    at->seen = true;
    const char *name = pp_xml_value(at, "class");
    const pp_mjcf_class *class = outer ? outer : m->main;
    class = name ? pp_mjcf_class_named(m, at, name) : class;
    return (pp_mjcf_view){m, at, class, kind};
}

// ── Attributes ───────────────────────────────────────────────────────────────────────────────────

// Later elements of a class override earlier ones, inner classes outer ones. All count as seen,
// also those that are overridden.
const char *pp_mjcf_text(const pp_mjcf_view *v, const char *name)
{
    const char *value = pp_xml_value(v->at, name);
    for (const pp_mjcf_class *c = v->kind ? v->class : NULL; c; c = c->parent) {
        for (int k = c->elements - 1; k >= 0; k--) {
            if (pp_xml_is(c->element[k], v->kind)) {
                c->element[k]->seen = true;
                const char *other = pp_xml_value(c->element[k], name);
                value = value ? value : other;
            }
        }
    }
    return value;
}

bool pp_mjcf_own(const pp_mjcf_view *v, const char *name)
{
    return pp_xml_value(v->at, name) != NULL;
}

int pp_mjcf_reals(const pp_mjcf_view *v, const char *name, int low, int high, double *x)
{
    double read[32];
    const char *text = pp_mjcf_text(v, name);
    if (!text || v->m->status < 0) {
        return 0;
    }
    int count = pp_xml_numbers(text, read, high < 32 ? high : 32);
    if (count < low) {
        if (low == high) {
            pp_mjcf_fail(v->m, v->at, "%s=\"%.60s\" must be %d number%s", name, text, low,
                         low == 1 ? "" : "s");
        } else {
            pp_mjcf_fail(v->m, v->at, "%s=\"%.60s\" must be %d to %d numbers", name, text, low,
                         high);
        }
        return 0;
    }
    memcpy(x, read, (size_t)count * sizeof *x);
    return count;
}

double pp_mjcf_real(const pp_mjcf_view *v, const char *name, double otherwise)
{
    pp_mjcf_reals(v, name, 1, 1, &otherwise);
    return otherwise;
}

int pp_mjcf_int(const pp_mjcf_view *v, const char *name, int low, int high, int otherwise)
{
    double x = otherwise;
    if (pp_mjcf_reals(v, name, 1, 1, &x) == 1 && !(x >= low && x <= high && x == floor(x))) {
        pp_mjcf_fail(v->m, v->at, "%s=\"%.60s\" must be an integer in %d..%d", name,
                     pp_mjcf_text(v, name), low, high);
        return otherwise;
    }
    return (int)x;
}

// Stiffness and damping may be polynomials; only the linear term is used.
double pp_mjcf_linear(const pp_mjcf_view *v, const char *name)
{
    double x[4] = {0.0, 0.0, 0.0, 0.0};
    int count = pp_mjcf_reals(v, name, 1, 4, x);
    for (int k = 1; k < count; k++) {
        if (x[k] != 0.0) {
            pp_report_add(v->m->report, PERP_IMPORT_NOT_USED, v->at,
                          "higher terms of stiffness and damping", "scenes have linear ones");
        }
    }
    return x[0];
}

perp_vec3 pp_mjcf_vec3(const pp_mjcf_view *v, const char *name, perp_vec3 otherwise)
{
    double x[3] = {otherwise.x, otherwise.y, otherwise.z};
    pp_mjcf_reals(v, name, 3, 3, x);
    return pp_vec(x[0], x[1], x[2]);
}

int pp_mjcf_word(const pp_mjcf_view *v, const char *name, const char *words, int otherwise)
{
    const char *text = pp_mjcf_text(v, name);
    if (!text || v->m->status < 0) {
        return otherwise;
    }
    size_t length = strlen(text);
    int k = 0;
    for (const char *word = words; *word; k++) {
        size_t n = strcspn(word, " ");
        if (n == length && strncmp(word, text, n) == 0) {
            return k;
        }
        word += n;
        word += strspn(word, " ");
    }
    pp_mjcf_fail(v->m, v->at, "%s=\"%.60s\" is not one of: %s", name, text, words);
    return otherwise;
}

pp_robot_range pp_mjcf_range(const pp_mjcf_view *v, const char *range, const char *limited,
                             double scale)
{
    double x[2] = {0.0, 0.0};
    bool given = pp_mjcf_reals(v, range, 2, 2, x) == 2;
    int word = pp_mjcf_word(v, limited, "false true auto", 2);
    bool on = word == 1 || (word == 2 && given && v->m->autolimits);
    pp_robot_range to = {on, scale * x[0], scale * x[1]};
    if (on && !(to.low < to.high)) {
        pp_mjcf_fail(v->m, v->at, "%s=\"%g %g\": the first number must be less than the second",
                     range, x[0], x[1]);
    }
    return to;
}

// ── Orientation ──────────────────────────────────────────────────────────────────────────────────

double pp_mjcf_angle(const pp_mjcf *m, double value)
{
    static const double PI = 3.14159265358979323846;
    return m->degree ? value / 180.0 * PI : value;
}

perp_quat pp_mjcf_z_to(perp_vec3 direction)
{
    perp_vec3 z = pp_unit(direction, pp_vec(0.0, 0.0, 1.0));
    perp_vec3 axis = pp_vec(-z.y, z.x, 0.0);  // z cross direction
    double s = pp_length(axis), angle = pp_atan2(s, z.z);
    axis = s < 1e-10 ? pp_vec(1.0, 0.0, 0.0) : pp_scale(1.0 / s, axis);
    double half = pp_sin(0.5 * angle);
    return (perp_quat){pp_cos(0.5 * angle), half * axis.x, half * axis.y, half * axis.z};
}

// Lower case: about axes that turn along; upper case: about fixed ones.
static perp_quat from_euler(const pp_mjcf *m, const double *angle)
{
    perp_quat q = {1.0, 0.0, 0.0, 0.0};
    for (int k = 0; k < 3; k++) {
        char c = m->eulerseq[k];
        bool fixed = c >= 'X' && c <= 'Z';
        int axis = fixed ? c - 'X' : c - 'x';
        double half = 0.5 * pp_mjcf_angle(m, angle[k]), s = pp_sin(half);
        perp_quat turn = {pp_cos(half), axis == 0 ? s : 0.0, axis == 1 ? s : 0.0,
                          axis == 2 ? s : 0.0};
        q = fixed ? pp_quat_mul(turn, q) : pp_quat_mul(q, turn);
    }
    return q;
}

static perp_quat from_axes(perp_vec3 x, perp_vec3 y)
{
    x = pp_unit(x, pp_vec(1.0, 0.0, 0.0));
    y = pp_unit(pp_along(y, -pp_dot3(x, y), x), pp_vec(0.0, 1.0, 0.0));
    pp_mat3 R = pp_mat3_columns(x, y, pp_cross(x, y));
    return pp_matrix_quat(&R);
}

bool pp_mjcf_turn(const pp_mjcf_view *v, perp_quat *quat)
{
    double x[6];
    bool given = true;
    *quat = (perp_quat){1.0, 0.0, 0.0, 0.0};
    // All count as seen, also those that another one overrides.
    static const char *const spellings[] = {"axisangle", "euler", "xyaxes", "zaxis", "quat"};
    for (int k = 0; k < 5; k++) {
        pp_mjcf_text(v, spellings[k]);
    }
    // The other spellings take precedence over quat, as in MuJoCo.
    if (pp_mjcf_reals(v, "axisangle", 4, 4, x) > 0) {
        perp_vec3 axis = pp_unit(pp_vec(x[0], x[1], x[2]), pp_vec(0.0, 0.0, 1.0));
        double half = 0.5 * pp_mjcf_angle(v->m, x[3]), s = pp_sin(half);
        *quat = (perp_quat){pp_cos(half), s * axis.x, s * axis.y, s * axis.z};
    } else if (pp_mjcf_reals(v, "euler", 3, 3, x) > 0) {
        *quat = from_euler(v->m, x);
    } else if (pp_mjcf_reals(v, "xyaxes", 6, 6, x) > 0) {
        *quat = from_axes(pp_vec(x[0], x[1], x[2]), pp_vec(x[3], x[4], x[5]));
    } else if (pp_mjcf_reals(v, "zaxis", 3, 3, x) > 0) {
        *quat = pp_mjcf_z_to(pp_vec(x[0], x[1], x[2]));
    } else {
        given = pp_mjcf_reals(v, "quat", 4, 4, x) > 0;
        *quat = given ? (perp_quat){x[0], x[1], x[2], x[3]} : *quat;
        if (given && !(pp_quat_norm(*quat) > 1e-12)) {
            pp_mjcf_fail(v->m, v->at, "quat=\"...\" has length 0");
            *quat = (perp_quat){1.0, 0.0, 0.0, 0.0};
        }
    }
    *quat = pp_quat_unit(*quat);
    return given;
}

// ── Names ────────────────────────────────────────────────────────────────────────────────────────

const char *pp_mjcf_full_name(pp_mjcf *m, const char *name)
{
    if (!*m->prefix) {
        return name;
    }
    size_t room = strlen(m->prefix) + strlen(name) + 1;
    char *made = PP_ARRAY(m->arena, char, room);
    if (!made) {
        pp_mjcf_memory(m);
        return "";
    }
    pp_print(made, room, "%s%s", m->prefix, name);
    return made;
}

const char *pp_mjcf_name(const pp_mjcf_view *v, pp_robot_list list, int index, const char *word)
{
    pp_mjcf *m = v->m;
    const char *name = pp_xml_value(v->at, "name");
    bool given = name && *name, full = false;
    if (!given || *m->suffix || *m->prefix) {
        size_t room = 80 + strlen(m->prefix) + (given ? strlen(name) + strlen(m->suffix) : 0);
        char *made = PP_ARRAY(m->arena, char, room);
        if (!made) {
            pp_mjcf_memory(m);
            return "";
        }
        if (given) {
            pp_print(made, room, "%s%s%s", m->prefix, name, m->suffix);
        } else {
            pp_print(made, room, "%s%d", word, index);
        }
        name = made;
    }
    bool fresh = pp_robot_enter(m->robot, list, name, index, &full);
    if (full) {
        pp_mjcf_memory(m);
    } else if (!fresh && given) {
        pp_mjcf_fail(m, v->at, "there are two of this name; rename one");
    }
    return name;
}

int pp_mjcf_refer(const pp_mjcf_view *v, const char *name, pp_robot_list list)
{
    const char *text = pp_mjcf_text(v, name);
    if (!text || v->m->status < 0) {
        return -1;
    }
    // The world has one name in all models.
    bool world = list == PP_ROBOT_LIST_body && strcmp(text, "world") == 0;
    int found = pp_robot_find(v->m->robot, list, world ? text : pp_mjcf_full_name(v->m, text));
    if (found < 0) {
        pp_mjcf_fail(v->m, v->at, "%s=\"%.60s\": there is no such object", name, text);
    }
    return found;
}

// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// What run.h5 tells once: how the run was made, the scene's text, and the model to draw and judge it by.
#include "record/store.h"
#include "sim/sim.h"

#include <errno.h>
#include <string.h>

// ── HDF5 in short: every function reports into *good ─────────────────────────────────────────────

typedef struct writer {
    hid_t at;     // the group
    bool good;    // everything has been written
    bool memory;  // is out
} writer;

static bool have(writer *w, bool allocated)
{
    w->memory = w->memory || !allocated;
    w->good = w->good && allocated;
    return w->good;
}

static void put_array(writer *w, const char *name, pp_cell cell, int rank, const hsize_t *dims,
                      const void *data)
{
    hid_t space = H5Screate_simple(rank, dims, NULL);
    hid_t dataset =
        H5Dcreate2(w->at, name, pp_cell_file(cell), space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    hsize_t count = 1;
    for (int k = 0; k < rank; k++) {
        count *= dims[k];
    }
    w->good = w->good && dataset >= 0 &&
              (count == 0 ||
               H5Dwrite(dataset, pp_cell_memory(cell), H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0);
    H5Dclose(dataset);
    H5Sclose(space);
}

static void put_vector(writer *w, const char *name, pp_cell cell, int count, const void *data)
{
    const hsize_t dim = (hsize_t)count;
    put_array(w, name, cell, 1, &dim, data);
}

static void put_table(writer *w, const char *name, int rows, int cols, const double *data)
{
    const hsize_t dims[2] = {(hsize_t)rows, (hsize_t)cols};
    put_array(w, name, PP_F64, 2, dims, data);
}

// Strings of one size, that of the longest, in UTF-8.
static hid_t string_type(size_t size)
{
    hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, size > 0 ? size : 1);
    H5Tset_cset(type, H5T_CSET_UTF8);
    H5Tset_strpad(type, H5T_STR_NULLPAD);
    return type;
}

static void put_strings(writer *w, const char *name, int count, size_t size, const char *data)
{
    const hsize_t dim = (hsize_t)count;
    hid_t type = string_type(size), space = H5Screate_simple(1, &dim, NULL);
    hid_t dataset = H5Dcreate2(w->at, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    w->good = w->good && dataset >= 0 &&
              (count == 0 || H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0);
    H5Dclose(dataset);
    H5Sclose(space);
    H5Tclose(type);
}

static void put_attribute(writer *w, const char *name, hid_t type, hid_t memory, const void *value)
{
    hid_t space = H5Screate(H5S_SCALAR);
    hid_t attribute = H5Acreate2(w->at, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    w->good = w->good && attribute >= 0 && H5Awrite(attribute, memory, value) >= 0;
    H5Aclose(attribute);
    H5Sclose(space);
}

static void put_number(writer *w, const char *name, double value)
{
    put_attribute(w, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, &value);
}

static void put_integer(writer *w, const char *name, int value)
{
    put_attribute(w, name, H5T_STD_I32LE, H5T_NATIVE_INT, &value);
}

static void put_word(writer *w, const char *name, const char *word)
{
    hid_t type = string_type(strlen(word));
    put_attribute(w, name, type, type, word[0] ? word : "\0");
    H5Tclose(type);
}

static writer enter(const writer *w, const char *name)
{
    writer inner = {H5Gcreate2(w->at, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), w->good,
                    w->memory};
    inner.good = inner.good && inner.at >= 0;
    return inner;
}

static void leave(writer *w, const writer *inner)
{
    w->good = inner->good;
    w->memory = inner->memory;
    H5Gclose(inner->at);
}

// ── The parts ────────────────────────────────────────────────────────────────────────────────────

static void put_run(writer *w, const perp_sim *sim, const perp_record_def *def)
{
    const perp_sim_def *s = &sim->def;
    const perp_limits *limits = &s->limits;
    put_word(w, "format", "perp recording");
    put_integer(w, "version", PP_RECORDING_VERSION);
    put_word(w, "perp", PERP_VERSION);
    put_word(w, "name", def->name ? def->name : "");
    put_word(w, "stepper", perp_stepper_word((int)s->stepper));
    put_word(w, "form", perp_form_word((int)s->form));
    put_word(w, "friction", perp_friction_word((int)s->friction));
    put_word(w, "impact", perp_impact_word((int)s->impact));
    put_word(w, "solver", s->solver ? s->solver : "auto");
    put_number(w, "h", def->h);
    put_integer(w, "every", def->every);
    put_number(w, "tolerance", s->tolerance);
    put_number(w, "margin", s->margin);
    put_number(w, "theta", s->theta);
    put_number(w, "limit_gap", limits->gap);
    put_number(w, "limit_complementarity", limits->complementarity);
    put_number(w, "limit_cone", limits->cone);
    put_number(w, "limit_joint", limits->joint);
    put_number(w, "limit_momentum", limits->momentum);
    put_number(w, "limit_energy", limits->energy);
    put_number(w, "limit_residual", limits->residual);
}

// Names of things that have a name member, as fixed-size strings.
static const char *name_at(const void *items, size_t size, size_t offset, int i)
{
    const char *name;
    memcpy(&name, (const char *)items + (size_t)i * size + offset, sizeof name);
    return name;
}

static void put_names(writer *w, pp_arena *arena, const void *items, size_t size, size_t offset,
                      int count)
{
    size_t longest = 1;
    for (int i = 0; i < count; i++) {
        size_t length = strlen(name_at(items, size, offset, i));
        longest = length > longest ? length : longest;
    }
    char *block = pp_arena_zeros(arena, (size_t)count, longest);
    if (!have(w, block != NULL)) {
        return;
    }
    for (int i = 0; i < count; i++) {
        const char *name = name_at(items, size, offset, i);
        for (size_t k = 0; name[k]; k++) {
            block[(size_t)i * longest + k] = name[k];  // padded, not terminated
        }
    }
    put_strings(w, "name", count, longest, block);
}

#define PUT_NAMES(w, arena, type, items, count)                                                    \
    put_names(w, arena, items, sizeof(type), offsetof(type, name), count)

static void put_bodies(writer *w, const perp_sim *sim, pp_arena *arena)
{
    const perp_model *m = sim->model;
    int n = m->bodies;
    double *mass = PP_ARRAY(arena, double, n), *inertia = PP_ARRAY(arena, double, n);
    double *start = PP_ARRAY(arena, double, 3 * (size_t)n);
    int32_t *ints = PP_ARRAY(arena, int32_t, 3 * (size_t)n);
    if (!have(w, mass && inertia && start && ints)) {
        return;
    }
    for (int i = 0; i < n; i++) {
        const pp_body *body = &m->body[i];
        const pp_frame *frame = &sim->frames[i];
        mass[i] = body->mass;
        inertia[i] = body->I_B.m[8];
        start[3 * i] = frame->p.x;
        start[3 * i + 1] = frame->p.y;
        start[3 * i + 2] = frame->angle;
        ints[i] = (int32_t)body->kind;
        ints[n + i] = (int32_t)body->drive;
        ints[2 * n + i] = body->nv > 0 ? body->at : -1;
    }
    PUT_NAMES(w, arena, pp_body, m->body, n);
    put_vector(w, "mass", PP_F64, n, mass);
    put_vector(w, "inertia", PP_F64, n, inertia);
    put_table(w, "start", n, 3, start);
    put_vector(w, "kind", PP_I32, n, ints);
    put_vector(w, "drive", PP_I32, n, ints + n);
    put_vector(w, "at", PP_I32, n, ints + 2 * n);
}

// Points of a shape's outline in the body frame: vertices, ends, centre; half-plane: point and normal.
static int outline(const pp_shape *s, pp_vec2 *out)
{
    pp_vec2 d = {s->half * s->axis_B.x, s->half * s->axis_B.y};
    switch (s->kind) {
    case PERP_BOX:
    case PERP_POLYGON:
        memcpy(out, s->vertex_B, (size_t)s->count * sizeof *out);
        return s->count;
    case PERP_CAPSULE:
    case PERP_SEGMENT:
        out[0] = (pp_vec2){s->p_BS.x - d.x, s->p_BS.y - d.y};
        out[1] = (pp_vec2){s->p_BS.x + d.x, s->p_BS.y + d.y};
        return 2;
    case PERP_HALFPLANE:
        out[0] = s->p_BS;
        out[1] = (pp_vec2){-s->axis_B.y, s->axis_B.x};
        return 2;
    default:
        out[0] = s->p_BS;
        return 1;
    }
}

static void put_outlines(writer *w, const perp_model *m, pp_arena *arena)
{
    size_t most = 0;
    for (int i = 0; i < m->shapes; i++) {
        most += (size_t)m->shape[i].count + 2;
    }
    pp_vec2 *points = PP_ARRAY(arena, pp_vec2, most);
    int32_t *end = PP_ARRAY(arena, int32_t, m->shapes);
    if (!have(w, points && end)) {
        return;
    }
    int count = 0;
    for (int i = 0; i < m->shapes; i++) {
        count += outline(&m->shape[i], points + count);
        end[i] = count;
    }
    put_vector(w, "outline_end", PP_I32, m->shapes, end);
    put_table(w, "outline", count, 2, (const double *)points);
}

static void put_shapes(writer *w, const perp_model *m, pp_arena *arena)
{
    int n = m->shapes;
    double *reals = PP_ARRAY(arena, double, 3 * (size_t)n);
    int32_t *ints = PP_ARRAY(arena, int32_t, 2 * (size_t)n);
    if (!have(w, reals && ints)) {
        return;
    }
    for (int i = 0; i < n; i++) {
        const pp_shape *shape = &m->shape[i];
        reals[i] = shape->mu;
        reals[n + i] = shape->restitution;
        reals[2 * n + i] = shape->radius;
        ints[i] = shape->body;
        ints[n + i] = (int32_t)shape->kind;
    }
    PUT_NAMES(w, arena, pp_shape, m->shape, n);
    put_vector(w, "mu", PP_F64, n, reals);
    put_vector(w, "restitution", PP_F64, n, reals + n);
    put_vector(w, "radius", PP_F64, n, reals + 2 * n);
    put_vector(w, "body", PP_I32, n, ints);
    put_vector(w, "kind", PP_I32, n, ints + n);
    put_outlines(w, m, arena);
}

static void put_joints(writer *w, const perp_model *m, pp_arena *arena)
{
    int n = m->joints;
    double *anchor = PP_ARRAY(arena, double, 4 * (size_t)n);
    int32_t *ints = PP_ARRAY(arena, int32_t, 3 * (size_t)n);
    if (!have(w, anchor && ints)) {
        return;
    }
    for (int i = 0; i < n; i++) {
        const pp_joint *joint = &m->joint[i];
        const double anchors[4] = {joint->r_A.x, joint->r_A.y, joint->r_B.x, joint->r_B.y};
        memcpy(anchor + 4 * i, anchors, sizeof anchors);
        ints[i] = (int32_t)joint->kind;
        ints[n + i] = joint->a;
        ints[2 * n + i] = joint->b;
    }
    PUT_NAMES(w, arena, pp_joint, m->joint, n);
    put_vector(w, "kind", PP_I32, n, ints);
    put_vector(w, "a", PP_I32, n, ints + n);
    put_vector(w, "b", PP_I32, n, ints + 2 * n);
    put_table(w, "anchors", n, 4, anchor);
}

static void put_model(writer *w, const perp_sim *sim, pp_arena *arena)
{
    const perp_model *m = sim->model;
    writer model = enter(w, "model");
    writer bodies = enter(&model, "bodies");
    put_bodies(&bodies, sim, arena);
    leave(&model, &bodies);
    writer shapes = enter(&model, "shapes");
    put_shapes(&shapes, m, arena);
    leave(&model, &shapes);
    writer joints = enter(&model, "joints");
    put_joints(&joints, m, arena);
    leave(&model, &joints);
    put_number(&model, "gravity_x", m->gravity.x);
    put_number(&model, "gravity_y", m->gravity.y);
    put_integer(&model, "nv", m->nv);
    leave(w, &model);
}

static pp_sizes sizes_of(const perp_model *m)
{
    pp_sizes sizes = {.nv = m->nv, .joints = m->joints};
    for (int i = 0; i < m->bodies; i++) {
        sizes.driven += m->body[i].drive == PERP_DRIVEN;
    }
    return sizes;
}

perp_status pp_store_model(pp_store *store, const perp_sim *sim, const perp_record_def *def,
                           perp_error *error)
{
    pp_arena *arena = pp_arena_create(&store->env);
    if (!arena) {
        return pp_fail(error, PERP_ERR_MEMORY, "not enough memory for a recording");
    }
    const char *scene = def->scene ? def->scene : "";
    writer root = {store->file, true, false};
    store->sizes = sizes_of(sim->model);
    errno = 0;
    put_run(&root, sim, def);
    put_vector(&root, "scene", PP_U8, (int)strlen(scene), scene);
    put_model(&root, sim, arena);
    int fault = errno;
    pp_arena_destroy(arena);
    if (root.memory) {
        return pp_fail(error, PERP_ERR_MEMORY, "not enough memory for a recording");
    }
    return root.good ? PERP_OK : pp_cannot_write(error, store->path, fault);
}

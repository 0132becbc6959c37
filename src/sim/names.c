// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Names for the unknowns of a step: velocities by body, impulses by joint and contact.
#include "sim/names.h"

// Names are written in the order of the unknowns; failed: out of memory, and nothing more is
// written.
typedef struct namer {
    const perp_model *model;
    pp_arena *arena;
    const char **next;
    bool failed;
} namer;

enum { LONGEST = 160 };

static void put_name(namer *n, const char *format, ...) PP_FORMAT(2, 3);

// Each name has a fixed length: names of bodies and joints are cut to it.
static void put_name(namer *n, const char *format, ...)
{
    char *text = PP_ARRAY(n->arena, char, LONGEST);
    if (!text) {
        n->failed = true;
        return;
    }
    va_list list;
    va_start(list, format);
    pp_print_list(text, LONGEST, format, list);
    va_end(list);
    *n->next++ = text;
}

// Joint coordinates: rates of the tree.
static void name_rates(namer *n, const pp_tree *tree)
{
    for (int i = 0; i < tree->nv; i++) {
        char name[LONGEST];
        pp_tree_name_v(tree, i, name, sizeof name);
        put_name(n, "%s", name);
    }
}

// Bodies: velocities in world axes.
static void name_velocities(namer *n)
{
    static const char *const parts[PP_BODY_NV] = {"vx", "vy", "vz", "wx", "wy", "wz"};
    for (int i = 0; i < n->model->bodies; i++) {
        for (int k = 0; k < n->model->body[i].nv; k++) {
            const pp_body *body = &n->model->body[i];
            bool planar = body->kind == PERP_BODY_PLANAR && k == 2;
            put_name(n, "%s.%s", body->name, planar ? "omega" : parts[body->axis[k]]);
        }
    }
}

// The k-th row of its joint or spring, counted from 1 when there are several.
static void name_row(namer *n, const pp_row *row, const pp_row *first, const pp_row *end)
{
    int index = 1, count = 0;
    for (const pp_row *r = first; r < end; r++) {
        bool same = r->joint == row->joint && r->force == row->force;
        count += same;
        index += same && r < row;
    }
    // contacts are named by name_contact: every other row has a joint or a force
    const char *name = "?";
    if (row->joint >= 0) {
        name = n->model->joint[row->joint].name;
    } else if (row->force >= 0) {
        name = n->model->force[row->force].name;
    }
    if (count > 1) {
        put_name(n, "%s.%d", name, index);
    } else {
        put_name(n, "%s", name);
    }
}

// Rows of one kind, named by what they belong to.
static void name_rows(namer *n, const pp_row *row, int count)
{
    for (int i = 0; i < count; i++) {
        name_row(n, &row[i], row, row + count);
    }
}

// "floor/block.box:256", or the name a scene gave it.
static void name_contact(namer *n, const pp_contact *contact, const char *ending)
{
    const perp_model *m = n->model;
    const char *given = contact->listed >= 0 ? m->contact[contact->listed].name : NULL;
    if (given && given[0]) {
        put_name(n, "%s%s", given, ending);
        return;
    }
    const pp_shape *a = &m->shape[contact->a], *b = &m->shape[contact->b];
    put_name(n, "%s/%s:%u%s", a->name, b->name, (unsigned)contact->feature, ending);
}

// p_f of all groups by direction, then sigma of all groups.
static void name_friction(namer *n, const pp_step *s)
{
    static const char *const kinds[3] = {"", ".spin", ".roll"};
    char ending[32];
    for (int g = 0; g < s->row.ng; g++) {
        const pp_friction *group = &s->row.group[g];
        const pp_contact *contact = &s->gap.contact[s->row.contact[group->n]];
        // in the plane, and for spin, there are two ways; in space directions around the disc, from 1
        for (int j = 0; j < group->directions; j++) {
            if (group->size == 1) {
                pp_print(ending, sizeof ending, "%s%s", kinds[group->kind], j == 0 ? "+t" : "-t");
            } else {
                pp_print(ending, sizeof ending, "%s.d%d", kinds[group->kind], j + 1);
            }
            name_contact(n, contact, ending);
        }
    }
    for (int g = 0; g < s->row.ng; g++) {
        const pp_friction *group = &s->row.group[g];
        pp_print(ending, sizeof ending, "%s.sigma", kinds[group->kind]);
        name_contact(n, &s->gap.contact[s->row.contact[group->n]], ending);
    }
}

const char *const *pp_step_names(const perp_model *model, const pp_step *s,
                                 const pp_step_equations *motion, pp_arena *arena)
{
    const pp_rows *rows = &s->row;
    size_t count = (size_t)motion->nv + (size_t)motion->nb + (size_t)rows->nm + (size_t)rows->nn +
                   (size_t)rows->nf + (size_t)rows->ng;
    const char **names = PP_ARRAY(arena, const char *, count);
    namer n = {model, arena, names, !names};
    if (n.failed) {
        return NULL;
    }
    // the order of (P7): nu, p_b, p_m, p_n, p_f, sigma; contacts before limits of joints
    if (s->in.tree) {
        name_rates(&n, s->in.tree->tree);
    } else {
        name_velocities(&n);
    }
    for (int i = 0; i < motion->nb; i++) {
        name_row(&n, &rows->b[motion->row[i]], rows->b, rows->b + rows->nb);
    }
    name_rows(&n, rows->m, rows->nm);
    for (int i = 0; i < rows->nc; i++) {
        name_contact(&n, &s->gap.contact[rows->contact[i]], ".n");
    }
    name_rows(&n, rows->n + rows->nc, rows->nn - rows->nc);
    name_friction(&n, s);
    return n.failed ? NULL : names;
}

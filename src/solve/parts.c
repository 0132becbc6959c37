// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Islands by union and find over the bodies of each row (Tarjan 1975), numbered by their first bodies.
//
// A row ties its free bodies together; bodies that are not free are in no row's list, so that the ground does not
// make one island of everything that rests on it. Friction rows have the bodies of their normal row.
#include "solve/islands.h"

#include <string.h>

// The first body of a group, with path halving. Invariant: up[i] <= i, so that a leader is the
// lowest index of its group and the numbering does not depend on the order of rows.
static int root_of_body(int *up, int body)
{
    while (up[body] != body) {
        up[body] = up[up[body]];
        body = up[body];
    }
    return body;
}

// Joins the groups of all bodies of each row; used: bodies that some row touches.
static void join_rows(int *up, bool *used, const pp_row *rows, int count)
{
    for (int i = 0; i < count; i++) {
        const pp_row *row = &rows[i];
        int a = row->count > 0 ? root_of_body(up, row->body[0]) : 0;
        for (int k = 0; k < row->count; k++) {
            int b = root_of_body(up, row->body[k]);
            used[row->body[k]] = true;
            int low = a < b ? a : b;
            up[a > b ? a : b] = low;
            a = low;
        }
    }
}

// Islands in the order of their first bodies. The leader has the lowest index, so it is numbered
// before the others.
static void number_islands(pp_island_partition *out, int bodies, int *up, const bool *used)
{
    for (int i = 0; i < bodies; i++) {
        out->of[i] = -1;
        if (used[i]) {
            int first = root_of_body(up, i);
            out->of[i] = first == i ? out->count++ : out->of[first];
        }
    }
}

// Rows that touch no free body go with the first island.
static int island_of_row(const pp_island_partition *parts, const pp_row *row)
{
    return row->count > 0 ? parts->of[row->body[0]] : 0;
}

// Counting sort by island, stable; place[i] < 0: in none.
static bool sort_by_island(pp_by_island *out, int islands, const int *place, int count,
                           pp_arena *arena)
{
    out->start = PP_ZEROS(arena, int, (size_t)islands + 2);
    out->list = PP_ARRAY(arena, int, count);
    if (!out->start || !out->list) {
        return false;
    }
    // next[k] is first the number of things in island k - 1, then where island k begins, and in the end where it
    // ends, which is start[k + 1]: that is why `start` has one element more than islands + 1.
    int *next = out->start + 1;
    for (int i = 0; i < count; i++) {
        if (place[i] >= 0) {
            next[place[i] + 1]++;
        }
    }
    for (int k = 1; k <= islands; k++) {
        next[k] += next[k - 1];
    }
    for (int i = 0; i < count; i++) {
        if (place[i] >= 0) {
            out->list[next[place[i]]++] = i;
        }
    }
    return true;
}

static bool sort_rows(pp_by_island *out, const pp_island_partition *parts, const pp_row *rows,
                      int count, int *place, pp_arena *arena)
{
    for (int i = 0; i < count; i++) {
        place[i] = island_of_row(parts, &rows[i]);
    }
    return sort_by_island(out, parts->count, place, count, arena);
}

// Bodies, rows and friction groups of every island.
static perp_status sort_all(pp_island_partition *out, const perp_model *model, const pp_rows *rows,
                            pp_arena *arena)
{
    int most = rows->nb;
    most = rows->nm > most ? rows->nm : most;
    most = rows->nn > most ? rows->nn : most;
    most = rows->ng > most ? rows->ng : most;
    int *place = PP_ARRAY(arena, int, most);
    if (!place || !sort_by_island(&out->body, out->count, out->of, model->bodies, arena) ||
        !sort_rows(&out->b, out, rows->b, rows->nb, place, arena) ||
        !sort_rows(&out->m, out, rows->m, rows->nm, place, arena) ||
        !sort_rows(&out->n, out, rows->n, rows->nn, place, arena)) {
        return PERP_ERR_MEMORY;
    }
    for (int g = 0; g < rows->ng; g++) {  // a group is where its normal row is
        place[g] = island_of_row(out, &rows->n[rows->group[g].n]);
    }
    bool ok = sort_by_island(&out->group, out->count, place, rows->ng, arena);
    return ok ? PERP_OK : PERP_ERR_MEMORY;
}

// Whether there are free bodies that no row touches.
static bool has_loose(const pp_island_partition *parts, const perp_model *model)
{
    for (int i = 0; i < model->bodies; i++) {
        if (parts->of[i] < 0 && model->body[i].nv > 0) {
            return true;
        }
    }
    return false;
}

perp_status pp_island_partition_find(pp_island_partition *out, const perp_model *model,
                                     const pp_rows *rows, pp_arena *arena)
{
    *out = (pp_island_partition){.of = PP_ARRAY(arena, int, model->bodies)};
    int *up = PP_ARRAY(arena, int, model->bodies);
    bool *used = PP_ZEROS(arena, bool, model->bodies);
    if (!out->of || !up || !used) {
        return PERP_ERR_MEMORY;
    }
    for (int i = 0; i < model->bodies; i++) {
        up[i] = i;
    }
    join_rows(up, used, rows->b, rows->nb);
    join_rows(up, used, rows->m, rows->nm);
    join_rows(up, used, rows->n, rows->nn);
    number_islands(out, model->bodies, up, used);
    out->apart = out->count > 1 || (out->count == 1 && has_loose(out, model));
    return out->apart ? sort_all(out, model, rows, arena) : PERP_OK;
}

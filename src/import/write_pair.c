// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Which shapes of a robot collide.
#include "import/write.h"

enum { IGNORED_MOST = 20 * 1000 * 1000 };

// ── Which shapes collide ─────────────────────────────────────────────────────────────────────────

// Two bodies that never collide.
static void put_excluded(pp_robot_writer *w, int a, int b)
{
    pp_text_add(&w->t, w->separator);
    w->separator = ",\n  ";
    pp_text_add(&w->t, "[");
    pp_text_quoted(&w->t, w->body_name[a]);
    pp_text_add(&w->t, ", ");
    pp_text_quoted(&w->t, w->body_name[b]);
    pp_text_add(&w->t, "]");
}

// Bodies that the model excludes, and those with several joints and the bodies that carry them.
void pp_write_excludes(pp_robot_writer *w)
{
    const pp_robot *robot = w->robot;
    pp_write_open(w, "exclude");
    for (int k = 0; k < robot->excludes; k++) {
        int i = robot->exclude[k].a, j = robot->exclude[k].b;
        int a = robot->body[i].carrier, b = robot->body[j].carrier;
        if (a != b && w->alone[i] && w->alone[j]) {
            put_excluded(w, a, b);
        }
    }
    for (int i = 1; i < robot->bodies; i++) {
        int parent = robot->body[robot->body[i].parent].carrier;
        if (robot->body[i].joints > 1 && parent > 0) {
            put_excluded(w, parent, i);
        }
    }
    pp_write_close(w);
}

static void put_pair_ends(pp_robot_writer *w, const pp_robot_geom *a, const pp_robot_geom *b)
{
    const pp_robot_geom *end[2] = {a, b};
    pp_text_add(&w->t, w->separator);
    w->separator = ",\n  ";
    for (int k = 0; k < 2; k++) {
        int root = w->robot->body[end[k]->body].carrier;
        char name[2 * PP_SCENE_NAME_MOST + 2];
        pp_print(name, sizeof name, "%s%s%s", root > 0 ? w->body_name[root] : "",
                 root > 0 ? "." : "", end[k]->name);
        pp_text_add(&w->t, k == 0 ? "{\"a\": " : ", \"b\": ");
        pp_text_quoted(&w->t, name);
    }
}

// Whether a geom is among the shapes that were written.
static bool is_written(const pp_robot *robot, const pp_robot_geom *geom)
{
    bool flat_ground = geom->kind == PP_ROBOT_HFIELD && robot->hfield[geom->hfield].height &&
                       robot->body[geom->body].carrier == 0;
    bool odd = (geom->kind == PP_ROBOT_HFIELD && !flat_ground) || geom->kind == PP_ROBOT_SDF;
    bool flat = geom->kind == PP_ROBOT_MESH && !robot->mesh[geom->mesh].hull;
    return pp_robot_collides(geom) && !odd && !flat;
}

void pp_write_pair(pp_robot_writer *w, const pp_robot_pair *pair)
{
    const pp_robot_geom *a = &w->robot->geom[pair->a], *b = &w->robot->geom[pair->b];
    int ra = w->robot->body[a->body].carrier, rb = w->robot->body[b->body].carrier;
    if (!is_written(w->robot, a) || !is_written(w->robot, b) || ra == rb) {
        return;
    }
    put_pair_ends(w, a, b);
    int larger = a->condim > b->condim ? a->condim : b->condim;
    if (pair->own_friction) {
        pp_write_friction(w, pair->friction, pair->own_condim ? pair->condim : larger);
    } else if (pair->own_condim && pair->condim == 1) {
        pp_text_key_short(&w->t, "mu", 0.0);
    }
    pp_text_add(&w->t, "}");
}

// Bodies that are excluded but are only part of a group: shape by shape.
void pp_write_ignored(pp_robot_writer *w, const pp_robot_exclude *exclude, const int *first,
                      const int *next)
{
    const pp_robot *robot = w->robot;
    int a = robot->body[exclude->a].carrier, b = robot->body[exclude->b].carrier;
    if (a == b || (w->alone[exclude->a] && w->alone[exclude->b])) {
        return;
    }
    for (int i = first[a]; i >= 0; i = next[i]) {
        for (int j = first[b]; j >= 0; j = next[j]) {
            if (++w->ignored > IGNORED_MOST) {
                w->status = pp_fail(w->error, PERP_ERR_FORMAT,
                                    "the bodies that are excluded have too many shapes");
                return;
            }
            const pp_robot_geom *ga = &robot->geom[i], *gb = &robot->geom[j];
            if (ga->body == exclude->a && gb->body == exclude->b && is_written(robot, ga) &&
                is_written(robot, gb)) {
                put_pair_ends(w, ga, gb);
                pp_text_add(&w->t, ", \"ignore\": true}");
            }
        }
    }
}

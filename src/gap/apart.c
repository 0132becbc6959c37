// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Which pairs of shapes are known to be apart, from one search to the next (apart.h).
#include "gap/apart.h"

#include "gap/convex/convex.h"

#include <float.h>
#include <math.h>

// Shapes of which all pairs are listed: memory for the list grows with their square.
enum { LISTED_SHAPES = 128 };
// Searches like this one after which two shapes may be looked at again: then a better axis is worth a search.
static const double SEARCHES_AHEAD = 16.0;
static const double AHEAD_LEAST =
    1e-3;  // of the largest shape: motion that is noise sorts nothing anew
// Of the size of two shapes: less than this is left to the search, which rounds in its own way.
static const double UNSURE = 1e-9;

static bool is_endless(const pp_shape *shape)
{
    return shape->kind == PERP_SHAPE_HALFSPACE;
}

// No point of the shape is farther from the origin of its body. Half-spaces: infinite.
static double reach_of(const pp_shape *s)
{
    perp_vec3 low, high;
    if (is_endless(s)) {
        return PP_INF;
    }
    if (s->mesh) {
        low = s->mesh->node[1].low;
        high = s->mesh->node[1].high;
    } else {
        pp_solid_bounds(&s->solid, &low, &high);
    }
    perp_vec3 far = {pp_max(fabs(low.x), fabs(high.x)), pp_max(fabs(low.y), fabs(high.y)),
                     pp_max(fabs(low.z), fabs(high.z))};
    return pp_length(s->X_BS.p) + pp_length(far);
}

static bool list_pairs(pp_gap_memory *m, const perp_model *model, pp_arena *arena)
{
    size_t most = (size_t)model->shapes * (size_t)model->shapes / 2 + 1;
    pp_apart_pair *pair = PP_ARRAY(arena, pp_apart_pair, most);
    if (!pair) {
        return false;
    }
    for (int a = 0; a < model->shapes; a++) {
        for (int b = a + 1; b < model->shapes; b++) {
            const pp_shape *of_a = &model->shape[a], *of_b = &model->shape[b];
            if (pp_model_pair_filter(model, a, b) == PP_PAIR_COLLIDES) {
                bool plane = is_endless(of_a) || is_endless(of_b);
                pair[m->count++] = (pp_apart_pair){
                    .a = a, .b = b, .plane = plane, .curved = !plane && !of_a->mesh && !of_b->mesh};
            }
        }
    }
    m->pair = pair;
    return true;
}

pp_gap_memory *pp_gap_memory_create(const perp_model *model, pp_arena *arena)
{
    pp_gap_memory *m = PP_ZEROS(arena, pp_gap_memory, 1);
    if (!m || !model->spatial || model->shapes > LISTED_SHAPES) {
        return m;
    }
    double *reach = PP_ARRAY(arena, double, model->shapes);
    m->at = PP_ARRAY(arena, pp_pose, model->bodies);
    m->way = PP_ZEROS(arena, double, model->shapes);
    if (!reach || !m->at || !m->way || !list_pairs(m, model, arena)) {
        return NULL;
    }
    m->close = PP_ARRAY(arena, int, m->count);
    for (int i = 0; i < model->shapes; i++) {
        reach[i] = reach_of(&model->shape[i]);
        m->least = isfinite(reach[i]) ? pp_max(m->least, AHEAD_LEAST * reach[i]) : m->least;
    }
    m->reach = reach;
    m->horizon = -1.0;
    return m->close ? m : NULL;
}

// The difference of two rotations has the singular values 2 sin(angle / 2), twice, and 0.
static double turn_between(const pp_mat3 *A, const pp_mat3 *B)
{
    double square = 0.0;
    for (int k = 0; k < 9; k++) {
        square += (A->m[k] - B->m[k]) * (A->m[k] - B->m[k]);
    }
    return sqrt(0.5 * square);
}

static double ahead(const pp_gap_memory *m)
{
    return pp_max(m->least, SEARCHES_AHEAD * m->step);
}

bool pp_apart_move(pp_gap_memory *m, const perp_model *model, const pp_frame *body, double margin)
{
    double largest = 0.0, move = 0.0, turn = 0.0, unsure = 0.0;
    int before = -1;
    for (int i = 0; i < model->shapes; i++) {
        int k = model->shape[i].body;
        if (k != before && m->known) {
            before = k;
            move = pp_length(pp_sub(body[k].p, m->at[k].p));
            turn = turn_between(&body[k].R, &m->at[k].R);
            unsure = DBL_EPSILON * (fabs(body[k].p.x) + fabs(body[k].p.y) + fabs(body[k].p.z));
        }
        if (!m->known || (move == 0.0 && turn == 0.0)) {
            continue;
        }
        // and whatever positions, rotations and sums lose by rounding
        double more = is_endless(&model->shape[i])
                          ? PP_INF
                          : move + turn * m->reach[i] +
                                64.0 * (unsure + DBL_EPSILON * (move + m->reach[i])) +
                                4.0 * DBL_EPSILON * m->way[i];
        m->way[i] += more;
        largest = pp_max(largest, more);
    }
    for (int k = 0; k < model->bodies; k++) {
        m->at[k] = (pp_pose){body[k].p, body[k].R};
    }
    m->known = true;
    m->step = largest;
    m->covered += largest * (1.0 + 1e-9);
    return !(m->covered <= m->horizon) || margin > m->margin || m->horizon > 4.0 * ahead(m);
}

static double ways_of(const pp_gap_memory *m, const pp_apart_pair *p)
{
    return m->way[p->a] + m->way[p->b];
}

void pp_apart_sort(pp_gap_memory *m, double margin)
{
    m->covered = 0.0;
    m->horizon = ahead(m);
    m->margin = 2.0 * margin;
    m->close_count = 0;
    for (int k = 0; k < m->count; k++) {
        double room = m->pair[k].boxes - ways_of(m, &m->pair[k]) - m->margin;
        if (!(room > 2.0 * (1.0 + 1e-9) * m->horizon)) {
            m->close[m->close_count++] = k;
        }
    }
}

bool pp_apart_boxes(const pp_gap_memory *m, int pair, double margin)
{
    const pp_apart_pair *p = &m->pair[pair];
    return ways_of(m, p) + margin < p->boxes;
}

bool pp_apart_shapes(const pp_gap_memory *m, int pair, double margin)
{
    const pp_apart_pair *p = &m->pair[pair];
    return ways_of(m, p) + margin < p->until;
}

// A little less than the sum: it is compared with sums that are rounded as well.
static double until(const pp_gap_memory *m, const pp_apart_pair *p, double apart)
{
    double unsure = UNSURE * (m->reach[p->a] + m->reach[p->b]);
    return p->plane ? (1.0 - 1e-9) * (ways_of(m, p) + apart) : ways_of(m, p) + apart - unsure;
}

void pp_apart_set_boxes(pp_gap_memory *m, int pair, double apart)
{
    pp_apart_pair *p = &m->pair[pair];
    p->boxes = apart > 0.0 ? until(m, p, apart) : 0.0;
}

// Poses seen from the body of a, as the search does.
static void place_pair(const perp_model *model, const pp_frame *body, const pp_apart_pair *p,
                       pp_pose X[2])
{
    const pp_shape *a = &model->shape[p->a], *b = &model->shape[p->b];
    perp_vec3 origin = body[a->body].p;
    pp_pose A = {{0.0, 0.0, 0.0}, body[a->body].R},
            B = {pp_sub(body[b->body].p, origin), body[b->body].R};
    X[0] = pp_pose_mul(&A, &a->X_BS);
    X[1] = pp_pose_mul(&B, &b->X_BS);
}

bool pp_apart_again(pp_gap_memory *m, const perp_model *model, const pp_frame *body, int pair,
                    double margin)
{
    pp_apart_pair *p = &m->pair[pair];
    pp_pose X[2];
    if (!(pp_dot3(p->n, p->n) > 0.0)) {
        return false;
    }
    place_pair(model, body, p, X);
    const pp_shape *a = &model->shape[p->a], *b = &model->shape[p->b];
    double apart =
        pp_solid_separation(&a->solid, &X[0], &b->solid, &X[1], pp_rotate(&body[a->body], p->n));
    p->until = until(m, p, apart);
    return pp_apart_shapes(m, pair, margin);
}

void pp_apart_find(pp_gap_memory *m, const perp_model *model, const pp_frame *body, int pair,
                   double margin)
{
    pp_apart_pair *p = &m->pair[pair];
    const pp_shape *a = &model->shape[p->a], *b = &model->shape[p->b];
    pp_pose X[2];
    perp_vec3 n;
    if (!p->curved) {
        return;
    }
    place_pair(model, body, p, X);
    double wanted = margin + SEARCHES_AHEAD * m->step;
    double apart = pp_solid_part(&a->solid, &X[0], &b->solid, &X[1], wanted, &n);
    p->until = until(m, p, apart);
    p->n = apart > margin ? pp_mul_t(&body[a->body].R, n) : pp_vec(0.0, 0.0, 0.0);
}

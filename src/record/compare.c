// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Two recordings, moment by moment.
//
// Bodies are matched by name, shapes by their order within a body, moments by time. Recordings of
// one scene with different steps, steppers or releases can be compared; those of different scenes
// as far as they have bodies of the same name.
//
// The second recording is walked along with the first: its states at the two frames around a moment
// are kept, and the frame at or after the moment stays readable for its contacts.
#include "record/record.h"

#include "math/math.h"
#include "math/space.h"

#include <perp/compare.h>

#include <math.h>
#include <string.h>

// Of a body at one time: position [m], velocity [m/s], rotation.
typedef struct state {
    perp_vec3 p, v;
    double angle;
    perp_quat rot;
} state;

// Contacts that carry load, as sorted numbers: two shapes of a and the mode. `spare` is memory for
// sorting.
typedef struct touches {
    uint64_t *key, *spare;
    int count, room;
} touches;

struct perp_comparison {
    perp_recording *a, *b;
    pp_arena *arena;
    perp_compared_body *body;
    int bodies;
    bool spatial;
    int *body_in_a, *shape_in_a;  // of each body and shape of b, -1: a has none
    state *old, *next;            // of the common bodies in b
    double t_old, t_next;
    int frame_a, frame_b;  // to be read next
    perp_snapshot in_b;    // the one of t_next
    double *place, *turn, *speed;
    touches touch_a, touch_b;
    perp_compared_mode *mode;
    int modes, mode_room;
};

// ── Bodies and shapes of both ────────────────────────────────────────────────────────────────────

// Whether a body exists and has the name.
static bool is_named(const perp_recording *r, int body, const char *name)
{
    return body < perp_recording_about(r)->bodies &&
           strcmp(perp_recording_body(r, (perp_body){body}).name, name) == 0;
}

// guess: recordings of one scene have their bodies in the same places, and no search is needed.
static int find_body(const perp_recording *r, const char *name, int guess)
{
    if (is_named(r, guess, name)) {
        return guess;
    }
    for (int i = 1; i < perp_recording_about(r)->bodies; i++) {
        if (is_named(r, i, name)) {
            return i;
        }
    }
    return -1;
}

// By name. Bodies of only one recording are left out.
static void match_bodies(perp_comparison *c)
{
    // Bodies of b that a does not have stay at -1.
    for (int i = 0; i < perp_recording_about(c->b)->bodies; i++) {
        c->body_in_a[i] = i == 0 ? 0 : -1;  // the ground is the ground
    }
    for (int i = 1; i < perp_recording_about(c->a)->bodies; i++) {
        const char *name = perp_recording_body(c->a, (perp_body){i}).name;
        int k = find_body(c->b, name, i);
        if (k >= 0) {
            c->body[c->bodies++] = (perp_compared_body){name, {i}, {k}};
            c->body_in_a[k] = i;
        }
    }
}

// By the order in which the shapes of a body were defined.
static bool match_shapes(perp_comparison *c)
{
    const perp_recording_info *a = perp_recording_about(c->a), *b = perp_recording_about(c->b);
    int *count = PP_ZEROS(c->arena, int, a->bodies), *end = PP_ZEROS(c->arena, int, a->bodies);
    int *list = PP_ZEROS(c->arena, int, a->shapes), *nth = PP_ZEROS(c->arena, int, b->bodies);
    if (!count || !end || !list || !nth) {
        return false;
    }
    // list: the shapes of a, body by body. end[i] moves from the first to past the last of body i.
    for (int k = 0; k < a->shapes; k++) {
        count[perp_recording_shape(c->a, (perp_shape){k}).body.i]++;
    }
    for (int i = 1; i < a->bodies; i++) {
        end[i] = end[i - 1] + count[i - 1];
    }
    for (int k = 0; k < a->shapes; k++) {
        list[end[perp_recording_shape(c->a, (perp_shape){k}).body.i]++] = k;
    }
    // Shapes have no names that must differ: the n-th shape of a body is the n-th of the same body.
    for (int k = 0; k < b->shapes; k++) {
        int owner = perp_recording_shape(c->b, (perp_shape){k}).body.i;
        int same = c->body_in_a[owner], at = nth[owner]++;
        c->shape_in_a[k] = same >= 0 && at < count[same] ? list[end[same] - count[same] + at] : -1;
    }
    return true;
}

// ── Moments of both ──────────────────────────────────────────────────────────────────────────────

static state state_of(const perp_snapshot *f, int body)
{
    return (state){f->position_W[body], f->velocity_W[body], f->angle[body], f->rotation_WB[body]};
}

// A quaternion on the chord from a to b, the shorter way around. It is not normalised: turn_apart
// does not need it.
static perp_quat mix_turn(perp_quat a, perp_quat b, double s)
{
    // A quaternion and its negative are the same rotation: the nearer one is taken.
    double sign = a.w * b.w + a.x * b.x + a.y * b.y + a.z * b.z < 0.0 ? -s : s;
    return (perp_quat){(1.0 - s) * a.w + sign * b.w, (1.0 - s) * a.x + sign * b.x,
                       (1.0 - s) * a.y + sign * b.y, (1.0 - s) * a.z + sign * b.z};
}

// Positions and velocities on the chord between two frames.
static state interpolate_state(state p, state q, double s)
{
    return (state){pp_along(p.p, s, pp_sub(q.p, p.p)), pp_along(p.v, s, pp_sub(q.v, p.v)),
                   p.angle + s * (q.angle - p.angle), mix_turn(p.rot, q.rot, s)};
}

// The angle of the rotation from a to b [rad], of quaternions of any length.
static double turn_apart(perp_quat a, perp_quat b)
{
    double w = a.w * b.w + a.x * b.x + a.y * b.y + a.z * b.z;
    double x = a.w * b.x - a.x * b.w - a.y * b.z + a.z * b.y;
    double y = a.w * b.y + a.x * b.z - a.y * b.w - a.z * b.x;
    double z = a.w * b.z - a.x * b.y + a.y * b.x - a.z * b.w;
    return 2.0 * pp_atan2(sqrt(x * x + y * y + z * z), fabs(w));
}

// Distances of positions [m] and velocities [m/s], angles between rotations [rad].
static void measure_differences(perp_comparison *c, const perp_snapshot *f, double s)
{
    for (int k = 0; k < c->bodies; k++) {
        state a = state_of(f, c->body[k].a.i);
        state b = s == 1.0 ? c->next[k] : interpolate_state(c->old[k], c->next[k], s);
        c->place[k] = pp_length(pp_sub(a.p, b.p));
        c->speed[k] = pp_length(pp_sub(a.v, b.v));
        c->turn[k] = c->spatial ? turn_apart(a.rot, b.rot) : fabs(a.angle - b.angle);
    }
}

// The frame after becomes the frame before.
static perp_status read_next_frame(perp_comparison *c, perp_error *error)
{
    perp_status status = perp_recording_read(c->b, c->frame_b, &c->in_b, error);
    if (status < 0) {
        return status;
    }
    state *old = c->old;
    c->old = c->next;
    c->next = old;
    c->t_old = c->t_next;
    c->t_next = c->in_b.t;
    c->frame_b++;
    for (int k = 0; k < c->bodies; k++) {
        c->next[k] = state_of(&c->in_b, c->body[k].b.i);
    }
    return PERP_OK;
}

// ── Contacts of both ─────────────────────────────────────────────────────────────────────────────

// The shapes in either order are the same pair. 31 bits for each of them, 2 for the mode: keys sort
// by pair, then by mode.
static uint64_t contact_key(int u, int v, perp_contact_mode mode)
{
    uint64_t first = (uint64_t)(u < v ? u : v), second = (uint64_t)(u < v ? v : u);
    return first << 33 | second << 2 | (uint64_t)mode;
}

// The part of a key that names the pair.
static uint64_t shapes_of(uint64_t key)
{
    return key >> 2;
}

// The part of a key that names the mode.
static perp_contact_mode mode_of(uint64_t key)
{
    return (perp_contact_mode)(key & 3);
}

// The contacts of a frame that carry load, one entry for each pair of shapes. shape: maps the
// shapes of b to those of a; NULL: they are a's.
static bool collect_contacts(perp_comparison *c, touches *list, const perp_snapshot *f,
                             const int *shape)
{
    if (f->contacts > list->room) {
        list->room = 2 * f->contacts;
        list->key = PP_ARRAY(c->arena, uint64_t, list->room);
        list->spare = PP_ARRAY(c->arena, uint64_t, list->room);
        if (!list->key || !list->spare) {
            return false;
        }
    }
    list->count = 0;
    for (int k = 0; k < f->contacts; k++) {
        const perp_contact *contact = &f->contact[k];
        int u = shape ? shape[contact->a.i] : contact->a.i;
        int v = shape ? shape[contact->b.i] : contact->b.i;
        if (u >= 0 && v >= 0 && contact->mode != PERP_CONTACT_OPEN) {
            list->key[list->count++] = contact_key(u, v, contact->mode);
        }
    }
    pp_sort_keys(list->count, list->key, list->spare);
    int kept = 0;
    for (int k = 0; k < list->count; k++) {  // of the same two the last one slips, if one does
        bool again = kept > 0 && shapes_of(list->key[kept - 1]) == shapes_of(list->key[k]);
        kept -= again;
        list->key[kept++] = list->key[k];
    }
    list->count = kept;
    return true;
}

// Two sorted lists, merged; a pair that is in one of them only is open in the other.
static bool compare_modes(perp_comparison *c, const perp_snapshot *f)
{
    touches *a = &c->touch_a, *b = &c->touch_b;
    if (!collect_contacts(c, a, f, NULL) || !collect_contacts(c, b, &c->in_b, c->shape_in_a)) {
        return false;
    }
    if (a->count + b->count > c->mode_room) {
        c->mode_room = 2 * (a->count + b->count);
        c->mode = PP_ARRAY(c->arena, perp_compared_mode, c->mode_room);
        if (!c->mode) {
            return false;
        }
    }
    c->modes = 0;
    // The smaller key comes next; a list that has ended is past all keys.
    for (int i = 0, j = 0; i < a->count || j < b->count;) {
        uint64_t u = i < a->count ? shapes_of(a->key[i]) : UINT64_MAX;
        uint64_t v = j < b->count ? shapes_of(b->key[j]) : UINT64_MAX;
        uint64_t shapes = u < v ? u : v;
        perp_contact_mode first = u == shapes ? mode_of(a->key[i++]) : PERP_CONTACT_OPEN;
        perp_contact_mode second = v == shapes ? mode_of(b->key[j++]) : PERP_CONTACT_OPEN;
        if (first != second) {
            c->mode[c->modes++] = (perp_compared_mode){
                {(int)(shapes >> 31)}, {(int)(shapes & 0x7fffffff)}, first, second};
        }
    }
    return true;
}

// Moments are the frames of a. Where b has none at that time, its states are interpolated; its
// contacts are those of its next frame.
perp_status perp_comparison_next(perp_comparison *c, perp_compared_instant *moment, bool *more,
                                 perp_error *error)
{
    if (!c || !moment || !more) {
        return pp_fail(error, PERP_ERR_ARGUMENT, "compare: comparison or output is NULL");
    }
    *more = false;
    if (c->frame_a >= perp_recording_about(c->a)->frames) {
        return PERP_OK;
    }
    perp_snapshot f;
    perp_status status = perp_recording_read(c->a, c->frame_a, &f, error);
    if (status < 0) {
        return status;
    }
    double tiny = 1e-9 * (1.0 + fabs(f.t));  // t is a sum of many h
    while (c->t_next < f.t - tiny) {
        if (c->frame_b >= perp_recording_about(c->b)->frames) {
            return PERP_OK;  // b ends here
        }
        status = read_next_frame(c, error);
        if (status < 0) {
            return status;
        }
    }
    // Between two frames of b, at the share s of the way from one to the other.
    double between = c->t_next - c->t_old;
    bool same_time = fabs(c->t_next - f.t) <= tiny || between <= 0.0;
    measure_differences(c, &f, same_time ? 1.0 : (f.t - c->t_old) / between);
    if (!compare_modes(c, &f)) {
        return pp_fail(error, PERP_ERR_MEMORY, "not enough memory for %d contacts", f.contacts);
    }
    c->frame_a++;
    *moment = (perp_compared_instant){f.t, c->place, c->turn, c->speed, c->modes, c->mode};
    *more = true;
    return PERP_OK;
}

// ── The whole ────────────────────────────────────────────────────────────────────────────────────

// As many as a has: more bodies cannot be common.
static bool reserve_bodies(perp_comparison *c)
{
    const perp_recording_info *a = perp_recording_about(c->a), *b = perp_recording_about(c->b);
    c->body = PP_ZEROS(c->arena, perp_compared_body, a->bodies);
    c->body_in_a = PP_ZEROS(c->arena, int, b->bodies);
    c->shape_in_a = PP_ZEROS(c->arena, int, b->shapes);
    c->old = PP_ZEROS(c->arena, state, a->bodies);
    c->next = PP_ZEROS(c->arena, state, a->bodies);
    c->place = PP_ZEROS(c->arena, double, a->bodies);
    c->turn = PP_ZEROS(c->arena, double, a->bodies);
    c->speed = PP_ZEROS(c->arena, double, a->bodies);
    return c->body && c->body_in_a && c->shape_in_a && c->old && c->next && c->place && c->turn &&
           c->speed;
}

// The first frame of b is read, so that every moment of a lies after it or at it.
static perp_status match(perp_comparison *c, perp_error *error)
{
    c->spatial = perp_recording_about(c->a)->spatial || perp_recording_about(c->b)->spatial;
    if (!reserve_bodies(c)) {
        return pp_fail(error, PERP_ERR_MEMORY, "not enough memory for a comparison");
    }
    match_bodies(c);
    if (c->bodies == 0) {
        return pp_fail(error, PERP_ERR_ARGUMENT, "the recordings have no body with the same name");
    }
    if (!match_shapes(c)) {
        return pp_fail(error, PERP_ERR_MEMORY, "not enough memory for a comparison");
    }
    return read_next_frame(c, error);
}

perp_status perp_comparison_create(perp_recording *a, perp_recording *b, const perp_env *env,
                                   perp_comparison **out, perp_error *error)
{
    if (!a || !b || a == b) {
        return pp_fail(error, PERP_ERR_ARGUMENT, "two open recordings are needed");
    }
    pp_arena *arena = pp_arena_create(env);
    perp_comparison *c = arena ? PP_ZEROS(arena, perp_comparison, 1) : NULL;
    if (!c) {
        pp_arena_destroy(arena);
        return pp_fail(error, PERP_ERR_MEMORY, "not enough memory for a comparison");
    }
    *c = (perp_comparison){.a = a, .b = b, .arena = arena};
    perp_status status = match(c, error);
    if (status < 0) {
        pp_arena_destroy(arena);
        return status;
    }
    *out = c;
    return PERP_OK;
}

void perp_comparison_destroy(perp_comparison *comparison)
{
    if (comparison) {
        pp_arena_destroy(comparison->arena);
    }
}

int perp_comparison_bodies(const perp_comparison *comparison)
{
    return comparison ? comparison->bodies : 0;
}

perp_compared_body perp_comparison_body(const perp_comparison *comparison, int k)
{
    bool known = comparison && k >= 0 && k < comparison->bodies;
    return known ? comparison->body[k] : (perp_compared_body){.name = "", .a = {-1}, .b = {-1}};
}

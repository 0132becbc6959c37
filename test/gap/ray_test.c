// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Rays against every kind of shape: the first place where a sampled line enters the shape, found by bisection of a
// membership test written here; normals by the gradient of that test; and cases with closed forms.
#include "gap/gap.h"
#include "support/cmocka.h"
#include "support/random.h"

#include <perp/perp.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

// One body with one shape, and where it is.
typedef struct target {
    perp_model *model;
    pp_frame frame[2];
    perp_shape_def def;
} target;

static const perp_vec3 tetrahedron[4] = {
    {0.4, 0.1, -0.3}, {-0.5, 0.3, -0.2}, {0.0, -0.6, -0.1}, {0.1, 0.0, 0.7}};
static const perp_vec3 pentagon[5] = {
    {0.5, -0.3, 0.0}, {0.6, 0.2, 0.0}, {0.0, 0.5, 0.0}, {-0.5, 0.1, 0.0}, {-0.2, -0.4, 0.0}};
static const int faces[4][3] = {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {2, 0, 3}};
static const double heights[12] = {0.0, 0.1, 0.0, 0.2, 0.4, 0.1, 0.3, 0.2, 0.0, 0.2, 0.1, 0.05};

static double sign_of_faces(void)
{
    const perp_vec3 *v = tetrahedron;
    perp_vec3 n = pp_cross(pp_sub(v[2], v[0]), pp_sub(v[1], v[0]));
    return pp_dot3(n, pp_sub(v[3], v[0]));
}

static target make(perp_shape_kind kind, bool spatial, rng *r)
{
    target t = {.def = perp_shape_default()};
    int triangles[12];
    t.def.kind = kind;
    t.def.radius = 0.3;
    t.def.half = (perp_vec3){0.5, 0.25, 0.4};
    t.def.position_B = (perp_vec3){0.3, -0.2, spatial ? 0.1 : 0.0};
    t.def.angle = 0.7;
    t.def.rotation_BS = pp_quat_exp(pp_vec(0.3, -0.4, 0.5));
    if (kind == PERP_SHAPE_HULL || kind == PERP_SHAPE_MESH) {
        t.def.vertices_S = tetrahedron;
        t.def.vertex_count = 4;
    } else if (kind == PERP_SHAPE_POLYGON) {
        t.def.vertices_S = pentagon;
        t.def.vertex_count = 5;
    } else if (kind == PERP_SHAPE_HEIGHTFIELD) {
        t.def.heights = heights;
        t.def.grid_x = 4;
        t.def.grid_y = 3;
    }
    for (int k = 0; k < 4; k++) {  // outward: the fourth corner is behind face 0
        bool turn = sign_of_faces() > 0.0;
        triangles[3 * k] = faces[k][0];
        triangles[3 * k + 1] = faces[k][turn ? 2 : 1];
        triangles[3 * k + 2] = faces[k][turn ? 1 : 2];
    }
    t.def.triangles = kind == PERP_SHAPE_MESH ? triangles : NULL;
    t.def.triangle_count = kind == PERP_SHAPE_MESH ? 4 : 0;
    perp_builder *b = perp_builder_create(NULL);
    perp_body_def body = perp_body_default();
    body.kind = spatial ? PERP_BODY_SPATIAL : PERP_BODY_PLANAR;
    body.motion = PERP_MOTION_STATIC;
    perp_builder_add_shape(b, perp_builder_add_body(b, &body), &t.def);
    perp_error error;
    if (perp_model_create(b, &t.model, &error) < 0) {
        fail_msg("%s", error.text);
    }
    perp_builder_destroy(b);
    pp_frame_set_angle(&t.frame[0], 0.0);
    t.frame[1].p = (perp_vec3){rng_uniform(r, -1.0, 1.0), rng_uniform(r, -1.0, 1.0),
                               spatial ? rng_uniform(r, -1.0, 1.0) : 0.0};
    if (spatial) {
        perp_quat q = {rng_normal(r), rng_normal(r), rng_normal(r), rng_normal(r)};
        pp_frame_set_rotation(&t.frame[1], pp_quat_unit(q));
    } else {
        pp_frame_set_angle(&t.frame[1], rng_uniform(r, -3.0, 3.0));
    }
    return t;
}

// From the world to the frame of the shape, by the definition.
static perp_vec3 to_shape(const target *t, perp_vec3 x, bool direction)
{
    perp_vec3 y = direction ? x : pp_sub(x, t->frame[1].p);
    y = pp_mul_t(&t->frame[1].R, y);
    y = direction ? y : pp_sub(y, t->def.position_B);
    pp_mat3 R = pp_quat_matrix(t->model->spatial ? t->def.rotation_BS
                                                 : pp_quat_exp(pp_vec(0.0, 0.0, t->def.angle)));
    return pp_mul_t(&R, y);
}

static double over_polygon(perp_vec3 x)
{
    double most = -HUGE_VAL;
    for (int k = 0; k < 5; k++) {
        perp_vec3 p = pentagon[k], q = pentagon[(k + 1) % 5];
        double length = hypot(q.x - p.x, q.y - p.y);
        most = fmax(most, ((q.y - p.y) * (x.x - p.x) - (q.x - p.x) * (x.y - p.y)) / length);
    }
    return most;
}

static double over_tetrahedron(perp_vec3 x)
{
    double most = -HUGE_VAL;
    for (int k = 0; k < 4; k++) {
        perp_vec3 a = tetrahedron[(k + 1) % 4], b = tetrahedron[(k + 2) % 4];
        perp_vec3 c = tetrahedron[(k + 3) % 4];
        perp_vec3 n = pp_unit(pp_cross(pp_sub(b, a), pp_sub(c, a)), pp_vec(1.0, 0.0, 0.0));
        double side = pp_dot3(n, pp_sub(tetrahedron[k], a));
        most = fmax(most, (side > 0.0 ? -1.0 : 1.0) * pp_dot3(n, pp_sub(x, a)));
    }
    return most;
}

// Negative in the shape, positive outside, zero on its surface; smooth on each face.
static double membership(const target *t, perp_vec3 world)
{
    perp_vec3 x = to_shape(t, world, false), h = t->def.half;
    bool space = t->model->spatial;
    double r = t->def.radius, far = hypot(x.x, x.y);
    double end = space ? fmin(fmax(x.z, -h.z), h.z) : fmin(fmax(x.x, -h.x), h.x);
    switch (t->def.kind) {
    case PERP_SHAPE_DISC:
        return far - r;
    case PERP_SHAPE_SPHERE:
        return pp_length(x) - r;
    case PERP_SHAPE_CAPSULE:
        return (space ? pp_length(pp_vec(x.x, x.y, x.z - end)) : hypot(x.x - end, x.y)) - r;
    case PERP_SHAPE_BOX:
        return fmax(fmax(fabs(x.x) - h.x, fabs(x.y) - h.y), space ? fabs(x.z) - h.z : -1.0);
    case PERP_SHAPE_POLYGON:
        return over_polygon(x);
    case PERP_SHAPE_CYLINDER:
        return fmax(far - r, fabs(x.z) - h.z);
    case PERP_SHAPE_CONE:
        return fmax(-x.z - h.z, far - r * (h.z - x.z) / (2.0 * h.z));
    case PERP_SHAPE_ELLIPSOID:
        return pp_length(pp_vec(x.x / h.x, x.y / h.y, x.z / h.z)) - 1.0;
    case PERP_SHAPE_HULL:
    case PERP_SHAPE_MESH:
        return over_tetrahedron(x);
    case PERP_SHAPE_HALFPLANE:
        return x.y;
    case PERP_SHAPE_HALFSPACE:
        return x.z;
    default:
        return 1.0;
    }
}

static perp_vec3 gradient(const target *t, perp_vec3 x)
{
    const double e = 1e-6;
    perp_vec3 g = {0};
    g.x = membership(t, pp_add(x, pp_vec(e, 0.0, 0.0))) - membership(t, pp_sub(x, pp_vec(e, 0, 0)));
    g.y = membership(t, pp_add(x, pp_vec(0.0, e, 0.0))) - membership(t, pp_sub(x, pp_vec(0, e, 0)));
    if (t->model->spatial) {
        g.z = membership(t, pp_add(x, pp_vec(0.0, 0.0, e))) -
              membership(t, pp_sub(x, pp_vec(0.0, 0.0, e)));
    }
    return pp_unit(g, pp_vec(1.0, 0.0, 0.0));
}

// Where the sampled ray enters; negative: nowhere.
static double sampled(const target *t, const pp_ray *ray, double length)
{
    enum { SAMPLES = 4000 };
    double before = 0.0;
    for (int k = 1; k <= SAMPLES; k++) {
        double now = length * k / SAMPLES;
        if (membership(t, pp_along(ray->origin, now, ray->direction)) < 0.0) {
            for (int i = 0; i < 60; i++) {
                double half = 0.5 * (before + now);
                bool in = membership(t, pp_along(ray->origin, half, ray->direction)) < 0.0;
                *(in ? &now : &before) = half;
            }
            return now;
        }
        before = now;
    }
    return -1.0;
}

static const struct {
    perp_shape_kind kind;
    bool spatial;
} kinds[] = {
    {PERP_SHAPE_DISC, false},     {PERP_SHAPE_BOX, false},       {PERP_SHAPE_POLYGON, false},
    {PERP_SHAPE_CAPSULE, false},  {PERP_SHAPE_HALFPLANE, false}, {PERP_SHAPE_SPHERE, true},
    {PERP_SHAPE_BOX, true},       {PERP_SHAPE_CAPSULE, true},    {PERP_SHAPE_CYLINDER, true},
    {PERP_SHAPE_CONE, true},      {PERP_SHAPE_ELLIPSOID, true},  {PERP_SHAPE_HULL, true},
    {PERP_SHAPE_HALFSPACE, true}, {PERP_SHAPE_MESH, true}};

static pp_ray random_ray(rng *r, const target *t)
{
    bool space = t->model->spatial;
    perp_vec3 from = {rng_normal(r), rng_normal(r), space ? rng_normal(r) : 0.0};
    perp_vec3 aim = {rng_normal(r), rng_normal(r), space ? rng_normal(r) : 0.0};
    from = pp_along(t->frame[1].p, 3.0, pp_unit(from, pp_vec(1.0, 0.0, 0.0)));
    aim = pp_along(t->frame[1].p, 0.4, aim);
    pp_ray ray = {from, pp_unit(pp_sub(aim, from), pp_vec(1.0, 0.0, 0.0)), PP_INF};
    return ray;
}

static void as_sampled(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        int hits = 0, misses = 0;
        FOR_SEEDS(seed, 60)
        {
            rng r = rng_seed(seed);
            target t = make(kinds[k].kind, kinds[k].spatial, &r);
            pp_ray ray = random_ray(&r, &t);
            pp_ray_hit hit;
            bool outside = membership(&t, ray.origin) > 0.0;
            double want = sampled(&t, &ray, 8.0);
            bool found = pp_gap_ray(t.model, t.frame, 0, &ray, &hit);
            if (outside && want >= 0.0) {
                CHECK(found && !hit.inside, seed);
                CHECK(fabs(hit.distance - want) < 1e-12, seed);
                CHECK(fabs(pp_length(hit.n) - 1.0) < 1e-12, seed);
                // across an edge the gradient is not a normal
                perp_vec3 x = pp_along(ray.origin, want, ray.direction), g = gradient(&t, x);
                CHECK(pp_length(pp_sub(g, hit.n)) < 1e-4, seed);
                // the distance is also the longest that is looked at
                ray.most = hit.distance * (1.0 + 1e-12);
                CHECK(pp_gap_ray(t.model, t.frame, 0, &ray, &hit), seed);
                ray.most = hit.distance * (1.0 - 1e-9);
                CHECK(!pp_gap_ray(t.model, t.frame, 0, &ray, &hit), seed);
                hits++;
            } else if (outside) {
                // what passes between two samples is short
                double chord = found ? hit.distance : 8.0;
                CHECK(!found || chord > 8.0 ||
                          membership(&t, pp_along(ray.origin, hit.distance + 2e-3, ray.direction)) >
                              -1e-2,
                      seed);
                misses++;
            } else {
                CHECK(found && (hit.inside || kinds[k].kind == PERP_SHAPE_MESH), seed);
            }
            perp_model_destroy(t.model);
        }
        assert_true(hits > 5 && hits + misses > 20);
    }
}

// From inside: at once, against the direction. A mesh has no inside of its own: its triangles are hit from behind.
static void from_inside(void **state)
{
    (void)state;
    rng r = rng_seed(7);
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        target t = make(kinds[k].kind, kinds[k].spatial, &r);
        perp_vec3 in = t.def.position_B;
        if (kinds[k].kind == PERP_SHAPE_HALFPLANE || kinds[k].kind == PERP_SHAPE_HALFSPACE) {
            pp_mat3 R = pp_quat_matrix(
                kinds[k].spatial ? t.def.rotation_BS : pp_quat_exp(pp_vec(0.0, 0.0, t.def.angle)));
            in = pp_along(in, -0.1, pp_mat3_column(&R, kinds[k].spatial ? 2 : 1));
        }
        pp_ray ray = {pp_point(&t.frame[1], in), {0.6, 0.8, 0.0}, PP_INF};
        pp_ray_hit hit;
        assert_true(membership(&t, ray.origin) < 0.0);
        assert_true(pp_gap_ray(t.model, t.frame, 0, &ray, &hit));
        assert_true(hit.inside);
        if (kinds[k].kind == PERP_SHAPE_MESH) {
            perp_vec3 x = pp_along(ray.origin, hit.distance, ray.direction);
            assert_true(fabs(membership(&t, x)) < 1e-12 && pp_dot3(hit.n, ray.direction) > 0.0);
        } else {
            assert_true(hit.distance == 0.0);
            assert_true(pp_length(pp_add(hit.n, ray.direction)) < 1e-12);
        }
        perp_model_destroy(t.model);
    }
}

// A height field against the plane of each of its triangles, found by the grid.
static double height_at(const target *t, perp_vec3 x)
{
    double u = (x.x / t->def.half.x + 1.0) * 1.5, v = (x.y / t->def.half.y + 1.0) * 1.0;
    int i = (int)fmin(fmax(floor(u), 0.0), 2.0), j = (int)fmin(fmax(floor(v), 0.0), 1.0);
    double a = u - i, b = v - j;
    double h00 = heights[i + 4 * j], h10 = heights[i + 1 + 4 * j];
    double h01 = heights[i + 4 * j + 4], h11 = heights[i + 5 + 4 * j];
    return a >= b ? h00 + a * (h10 - h00) + b * (h11 - h10)
                  : h00 + b * (h01 - h00) + a * (h11 - h01);
}

static void height_fields(void **state)
{
    (void)state;
    int hits = 0;
    FOR_SEEDS(seed, 300)
    {
        rng r = rng_seed(seed);
        target t = make(PERP_SHAPE_HEIGHTFIELD, true, &r);
        pp_ray ray = random_ray(&r, &t);
        pp_ray_hit hit;
        if (pp_gap_ray(t.model, t.frame, 0, &ray, &hit)) {
            perp_vec3 x = to_shape(&t, pp_along(ray.origin, hit.distance, ray.direction), false);
            perp_vec3 d = to_shape(&t, ray.direction, true);
            CHECK(fabs(x.x) <= t.def.half.x + 1e-12 && fabs(x.y) <= t.def.half.y + 1e-12, seed);
            CHECK(fabs(x.z - height_at(&t, x)) < 1e-12, seed);
            CHECK(hit.inside == (pp_dot3(hit.n, ray.direction) > 0.0), seed);
            // no earlier crossing
            double before = 0.0;
            for (int k = 0; k < 200; k++) {
                perp_vec3 y = pp_along(x, -hit.distance * (k + 1) / 201.0, d);
                bool over = fabs(y.x) < t.def.half.x && fabs(y.y) < t.def.half.y;
                double side = over ? y.z - height_at(&t, y) : 0.0;
                CHECK(!over || before * side >= 0.0, seed);
                before = over ? side : before;
            }
            hits++;
        }
        perp_model_destroy(t.model);
    }
    assert_true(hits > 50);
}

// A fan of triangles around a vertex: rays at its edges and its centre always hit something.
static void nothing_passes_between_triangles(void **state)
{
    (void)state;
    rng r = rng_seed(3);
    target t = make(PERP_SHAPE_MESH, true, &r);
    const pp_mesh *mesh = t.model->shape[0].mesh;
    pp_pose X = {t.frame[1].p, t.frame[1].R};
    X = pp_pose_mul(&X, &t.model->shape[0].X_BS);
    perp_vec3 middle = {0};
    for (int k = 0; k < 4; k++) {
        middle = pp_along(middle, 0.25, pp_pose_point(&X, mesh->vertex[k]));
    }
    for (int k = 0; k < 4; k++) {
        for (int i = 0; i < 4; i++) {
            for (int n = 0; n <= 20; n++) {
                perp_vec3 a = pp_pose_point(&X, mesh->vertex[k]),
                          b = pp_pose_point(&X, mesh->vertex[i]);
                perp_vec3 x = pp_along(a, n / 20.0, pp_sub(b, a));
                // from the middle through a point of an edge
                pp_ray ray = {middle, pp_unit(pp_sub(x, middle), pp_vec(1.0, 0.0, 0.0)), PP_INF};
                pp_ray_hit hit;
                assert_true(pp_gap_ray(t.model, t.frame, 0, &ray, &hit));
                assert_true(fabs(hit.distance - pp_length(pp_sub(x, middle))) < 1e-12);
            }
        }
    }
    perp_model_destroy(t.model);
}

// Along the axes and surfaces of shapes, where quadrics degenerate.
static void along_the_axes(void **state)
{
    (void)state;
    static const struct {
        perp_shape_kind kind;
        perp_vec3 from, d;
        double distance;  // negative: missed
        perp_vec3 n;
    } cases[] = {
        {PERP_SHAPE_CYLINDER, {0.1, 0.1, 3.0}, {0, 0, -1}, 2.6, {0, 0, 1}},
        {PERP_SHAPE_CYLINDER, {0.31, 0.0, 3.0}, {0, 0, -1}, -1.0, {0, 0, 0}},
        {PERP_SHAPE_CYLINDER, {3.0, 0.0, 0.39}, {-1, 0, 0}, 2.7, {1, 0, 0}},
        {PERP_SHAPE_CYLINDER, {3.0, 0.0, 0.41}, {-1, 0, 0}, -1.0, {0, 0, 0}},
        {PERP_SHAPE_CONE, {0.0, 0.0, 3.0}, {0, 0, -1}, 2.6, {0, 0, 1}},
        {PERP_SHAPE_CONE, {0.0, 0.0, -3.0}, {0, 0, 1}, 2.6, {0, 0, -1}},
        {PERP_SHAPE_CONE, {0.3, 0.0, 3.0}, {0, 0, -1}, 3.4, {0, 0, 0}},
        {PERP_SHAPE_CONE, {3.0, 0.0, 0.0}, {-1, 0, 0}, 2.85, {0.936329177569, 0, 0.351123441588}},
        {PERP_SHAPE_CONE, {3.0, 0.0, 0.41}, {-1, 0, 0}, -1.0, {0, 0, 0}},
        {PERP_SHAPE_CAPSULE, {0.0, 0.0, 3.0}, {0, 0, -1}, 2.3, {0, 0, 1}},
        {PERP_SHAPE_CAPSULE, {3.0, 0.0, 0.4}, {-1, 0, 0}, 2.7, {1, 0, 0}},
        {PERP_SHAPE_BOX, {0.5, 0.25, 3.0}, {0, 0, -1}, 2.6, {0, 0, 1}},
        {PERP_SHAPE_BOX, {0.6, 0.0, 3.0}, {0, 0, -1}, -1.0, {0, 0, 0}},
        {PERP_SHAPE_HALFSPACE, {0.0, 0.0, 1.0}, {1, 0, 0}, -1.0, {0, 0, 0}},
        {PERP_SHAPE_HALFSPACE, {0.0, 0.0, 1.0}, {0, 0, 1}, -1.0, {0, 0, 0}},
        {PERP_SHAPE_SPHERE, {1e9, 0.0, 0.0}, {-1, 0, 0}, 1e9 - 0.3, {1, 0, 0}},
        {PERP_SHAPE_SPHERE, {0.0, 0.0, 0.3}, {0, 0, 1}, -1.0, {0, 0, 0}},
        {PERP_SHAPE_SPHERE, {0.0, 0.0, 0.3}, {0, 0, -1}, 0.0, {0, 0, 1}},
        {PERP_SHAPE_POINT, {1.0, 0.0, 0.0}, {-1, 0, 0}, -1.0, {0, 0, 0}},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        perp_builder *b = perp_builder_create(NULL);
        perp_body_def body = perp_body_default();
        body.kind = PERP_BODY_SPATIAL;
        body.motion = PERP_MOTION_STATIC;
        perp_shape_def def = perp_shape_default();
        def.kind = cases[k].kind;
        def.radius = 0.3;
        def.half = (perp_vec3){0.5, 0.25, 0.4};
        perp_builder_add_shape(b, perp_builder_add_body(b, &body), &def);
        perp_model *m = NULL;
        assert_int_equal(perp_model_create(b, &m, NULL), PERP_OK);
        pp_frame frame[2] = {{.angle = 0.0}, {.angle = 0.0}};
        pp_frame_set_angle(&frame[0], 0.0);
        pp_frame_set_angle(&frame[1], 0.0);
        pp_ray ray = {cases[k].from, cases[k].d, PP_INF};
        pp_ray_hit hit = {0};
        bool found = pp_gap_ray(m, frame, 0, &ray, &hit);
        if (found != (cases[k].distance >= 0.0) ||
            (found &&
             fabs(hit.distance - cases[k].distance) > 1e-12 + 1e-16 * pp_length(ray.origin))) {
            fail_msg("case %d: %d at %.17g", (int)k, found, hit.distance);
        }
        if (found && pp_length(cases[k].n) > 0.0 && pp_length(pp_sub(hit.n, cases[k].n)) > 1e-9) {
            fail_msg("case %d: normal %g %g %g", (int)k, hit.n.x, hit.n.y, hit.n.z);
        }
        perp_model_destroy(m);
        perp_builder_destroy(b);
    }
}

static void segments(void **state)
{
    (void)state;
    rng r = rng_seed(5);
    target t = make(PERP_SHAPE_SEGMENT, false, &r);
    for (int k = -12; k <= 12; k++) {
        for (int side = -1; side <= 1; side += 2) {
            pp_mat3 R = pp_quat_matrix(pp_quat_exp(pp_vec(0.0, 0.0, t.def.angle)));
            perp_vec3 e = pp_rotate(&t.frame[1], pp_mat3_column(&R, 0));
            perp_vec3 up = pp_rotate(&t.frame[1], pp_mat3_column(&R, 1));
            perp_vec3 c = pp_point(&t.frame[1], t.def.position_B);
            perp_vec3 x = pp_along(c, 0.05 * k, e);
            pp_ray ray = {pp_along(x, side * 2.0, up), pp_scale(-side, up), PP_INF};
            pp_ray_hit hit;
            bool found = pp_gap_ray(t.model, t.frame, 0, &ray, &hit);
            if (abs(k) == 10) {
                continue;  // the very end
            }
            assert_int_equal(found, abs(k) < 10);
            if (found) {
                assert_true(fabs(hit.distance - 2.0) < 1e-12 && !hit.inside);
                assert_true(pp_length(pp_add(hit.n, ray.direction)) < 1e-12);
            }
        }
    }
    perp_model_destroy(t.model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_sampled),     cmocka_unit_test(from_inside),
        cmocka_unit_test(height_fields),  cmocka_unit_test(nothing_passes_between_triangles),
        cmocka_unit_test(along_the_axes), cmocka_unit_test(segments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

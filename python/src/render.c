// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Pictures of a sim without a graphics card: a ray for each pixel, against the shapes where they are now. In space rays
// start at the eye, and further ones look for the lamp; in the plane each pixel asks which shape it lies in.
#include "binding.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct camera {
    double eye[3], right[3], up[3], forward[3];  // unit vectors
    double half_height;  // in space: tangent of half the angle of view; in the plane: [m]
} camera;

typedef struct picture {
    int width, height;
    perp_ray *ray;
    perp_hit *hit;
    int *pixel;  // of each ray to the lamp
    uint8_t *rgb;
} picture;

// Colours of bodies that have none of their own, in turn; the ground is grey.
static const uint32_t palette[] = {0x4e79a7, 0xf28e2b, 0x59a14f, 0xe15759, 0x76b7b2,
                                   0xedc948, 0xb07aa1, 0x9c755f, 0xff9da7, 0x86bcb6};
static const uint32_t GROUND = 0xb8bcc2, SKY = 0xf4f6f8;

static uint32_t colour_of(const perp_model *model, perp_shape shape)
{
    int32_t own = perp_model_shape_colour(model, shape);
    int body = perp_model_shape_body(model, shape).i;
    if (own >= 0) {
        return (uint32_t)own;
    }
    return body <= 0 ? GROUND : palette[(body - 1) % (int)(sizeof palette / sizeof palette[0])];
}

static void put(uint8_t *rgb, uint32_t colour, double light)
{
    for (int k = 0; k < 3; k++) {
        double value = light * (double)(colour >> (16 - 8 * k) & 0xff);
        rgb[k] = (uint8_t)(value < 255.0 ? value + 0.5 : 255.0);
    }
}

// ── Space ────────────────────────────────────────────────────────────────────────────────────────

static void aim_space(const camera *c, picture *p)
{
    double aspect = (double)p->width / (double)p->height;
    for (int k = 0; k < p->width * p->height; k++) {
        double x = (2.0 * (k % p->width + 0.5) / p->width - 1.0) * c->half_height * aspect;
        int line = k / p->width;
        double y = (1.0 - 2.0 * (line + 0.5) / p->height) * c->half_height;
        double d[3];
        for (int i = 0; i < 3; i++) {
            d[i] = c->forward[i] + x * c->right[i] + y * c->up[i];
        }
        p->ray[k] = perp_ray_default();
        p->ray[k].origin_W = (perp_vec3){c->eye[0], c->eye[1], c->eye[2]};
        p->ray[k].direction_W = (perp_vec3){d[0], d[1], d[2]};
    }
}

// Direction to the lamp.
static const double LAMP[3] = {0.36, -0.48, 0.8};

// Squares on the ground show where it moves, and how far. They fade where they are smaller than pixels.
static double squares(const perp_hit *hit, int body)
{
    bool odd = (int64_t)floor(4.0 * hit->point_W.x) % 2 != (int64_t)floor(4.0 * hit->point_W.y) % 2;
    return body <= 0 && odd && hit->distance < 40.0 ? 0.93 : 1.0;
}

// Light of each pixel that shows something: more where the surface faces the lamp. Returns the number of rays to the lamp,
// of which p->pixel has the pixels.
static int shade_space(const perp_sim *sim, picture *p)
{
    const perp_model *model = perp_sim_model(sim);
    int lit = 0;
    for (int k = 0; k < p->width * p->height; k++) {
        const perp_hit *hit = &p->hit[k];
        put(p->rgb + 3 * (size_t)k, SKY, 1.0);
        if (hit->shape.i < 0) {
            continue;
        }
        const perp_vec3 n = hit->normal_W;
        double facing = n.x * LAMP[0] + n.y * LAMP[1] + n.z * LAMP[2];
        double light = 0.45 + 0.55 * (facing > 0.0 ? facing : 0.0);
        light *= squares(hit, perp_model_shape_body(model, hit->shape).i);
        put(p->rgb + 3 * (size_t)k, colour_of(model, hit->shape), light);
        if (facing > 0.0) {  // a ray to the lamp, from a little above the surface
            double off = 1e-6 * (1.0 + hit->distance);
            p->ray[lit] = perp_ray_default();
            p->ray[lit].origin_W = (perp_vec3){
                hit->point_W.x + off * n.x, hit->point_W.y + off * n.y, hit->point_W.z + off * n.z};
            p->ray[lit].direction_W = (perp_vec3){LAMP[0], LAMP[1], LAMP[2]};
            p->ray[lit].max_distance = 1e3;
            p->pixel[lit] = k;
            lit++;
        }
    }
    return lit;
}

static perp_status darken_shadows(const perp_sim *sim, picture *p, int lit)
{
    perp_status status = perp_sim_rays(sim, p->ray, lit, p->hit);
    for (int j = 0; j < lit && status >= 0; j++) {
        uint8_t *rgb = p->rgb + 3 * (size_t)p->pixel[j];
        for (int i = 0; i < 3 && p->hit[j].shape.i >= 0; i++) {
            rgb[i] = (uint8_t)(0.62 * rgb[i]);
        }
    }
    return status;
}

// ── The plane ────────────────────────────────────────────────────────────────────────────────────

// A short ray finds the area that contains the pixel, and lines that pass through it.
static void aim_plane(const camera *c, picture *p)
{
    double pixel = 2.0 * c->half_height / p->height, aspect = (double)p->width / p->height;
    for (int k = 0; k < p->width * p->height; k++) {
        double x = (2.0 * (k % p->width + 0.5) / p->width - 1.0) * c->half_height * aspect;
        int line = k / p->width;
        double y = (1.0 - 2.0 * (line + 0.5) / p->height) * c->half_height;
        p->ray[k] = perp_ray_default();
        // along the diagonal of the pixel, so that lines in any direction but one are met
        p->ray[k].origin_W =
            (perp_vec3){c->eye[0] + x - 0.5 * pixel, c->eye[1] + y - 0.5 * pixel, 0.0};
        p->ray[k].direction_W = (perp_vec3){1.0, 1.0, 0.0};
        p->ray[k].max_distance = 1.5 * pixel;
    }
}

// Pixels at the edge of a shape are darker: shapes of one colour stay apart.
static void shade_plane(const perp_sim *sim, picture *p)
{
    const perp_model *model = perp_sim_model(sim);
    for (int k = 0; k < p->width * p->height; k++) {
        int shape = p->hit[k].shape.i;
        bool edge = false;
        if (shape < 0) {
            put(p->rgb + 3 * (size_t)k, SKY, 1.0);
            continue;
        }
        if (k % p->width > 0) {
            edge = p->hit[k - 1].shape.i != shape;
        }
        if (k >= p->width) {
            edge = edge || p->hit[k - p->width].shape.i != shape;
        }
        put(p->rgb + 3 * (size_t)k, colour_of(model, (perp_shape){shape}), edge ? 0.55 : 1.0);
    }
}

// ── Bodies without shapes ────────────────────────────────────────────────────────────────────────

static bool has_shape(const perp_model *model, int body)
{
    for (int k = 0; k < perp_model_shapes(model); k++) {
        if (perp_model_shape_body(model, (perp_shape){k}).i == body) {
            return true;
        }
    }
    return false;
}

// Where a point of the world is in the picture [pixels]; false: behind the eye.
static bool project(const camera *c, const picture *p, bool spatial, perp_vec3 at, double out[2])
{
    const double d[3] = {at.x - c->eye[0], at.y - c->eye[1], at.z - c->eye[2]};
    double along[3] = {0.0, 0.0, 0.0};
    for (int i = 0; i < 3; i++) {
        along[0] += d[i] * c->right[i];
        along[1] += d[i] * c->up[i];
        along[2] += d[i] * c->forward[i];
    }
    double depth = spatial ? along[2] : 1.0;
    double scale = 0.5 * p->height / (c->half_height * depth);
    out[0] = 0.5 * p->width + scale * along[0];
    out[1] = 0.5 * p->height - scale * along[1];
    return depth > 0.0 && fabs(out[0]) < 1e6 && fabs(out[1]) < 1e6;
}

// Particles and bare bodies have no area: a dot of 5 pixels at each, in the plane at every body.
static void dot_bodies(const perp_sim *sim, const camera *c, picture *p)
{
    const perp_model *model = perp_sim_model(sim);
    bool spatial = perp_model_is_spatial(model);
    for (int i = 1; i < perp_model_bodies(model); i++) {
        double at[2];
        perp_vec3 center = perp_sim_body_position(sim, (perp_body){i});
        if ((spatial && has_shape(model, i)) || !project(c, p, spatial, center, at)) {
            continue;
        }
        for (int d = 0; d < 25; d++) {
            int x = (int)floor(at[0]) + d % 5 - 2, y = (int)floor(at[1]) + d / 5 - 2;
            int corner = abs(d % 5 - 2) + abs(d / 5 - 2);
            if (x >= 0 && x < p->width && y >= 0 && y < p->height && corner < 4) {
                put(p->rgb + 3 * ((size_t)y * (size_t)p->width + (size_t)x), 0x202428, 1.0);
            }
        }
    }
}

// ── The picture ──────────────────────────────────────────────────────────────────────────────────

static perp_status draw(const perp_sim *sim, const camera *c, picture *p)
{
    bool spatial = perp_model_is_spatial(perp_sim_model(sim));
    if (spatial) {
        aim_space(c, p);
    } else {
        aim_plane(c, p);
    }
    perp_status status = perp_sim_rays(sim, p->ray, p->width * p->height, p->hit);
    if (status < 0) {
        return status;
    }
    if (spatial) {
        status = darken_shadows(sim, p, shade_space(sim, p));
    } else {
        shade_plane(sim, p);
    }
    dot_bodies(sim, c, p);
    return status;
}

// _render(width, height, camera of 13 numbers, out): out has 3 bytes a pixel.
PyObject *bind_sim_render(PyObject *object, PyObject *args)
{
    bind_sim *self = (bind_sim *)object;
    PyObject *view = NULL, *out = NULL;
    picture p = {0};
    camera c;
    bind_array numbers = {.data = NULL}, bytes = {.data = NULL};
    if (!PyArg_ParseTuple(args, "iiOO", &p.width, &p.height, &view, &out)) {
        return NULL;
    }
    if (p.width < 1 || p.height < 1 || p.width > 8192 || p.height > 8192) {
        PyErr_SetString(PyExc_ValueError, "render: a picture has 1 to 8192 pixels a side");
        return NULL;
    }
    size_t pixels = (size_t)p.width * (size_t)p.height;
    bool fine = bind_array_get(view, "camera", 'd', 13, false, &numbers) &&
                bind_array_get(out, "out", 'b', 3 * (Py_ssize_t)pixels, true, &bytes);
    p.ray = fine ? malloc(pixels * sizeof *p.ray) : NULL;
    p.hit = fine ? malloc(pixels * sizeof *p.hit) : NULL;
    p.pixel = fine ? malloc(pixels * sizeof *p.pixel) : NULL;
    PyObject *result = NULL;
    if (fine && (!p.ray || !p.hit || !p.pixel)) {
        PyErr_NoMemory();
    } else if (fine && bind_sim_enter(self, false)) {
        p.rgb = bytes.data;
        memcpy(&c, numbers.data, sizeof c);
        perp_status status = PERP_OK;
        bool nested = self->calling;  // a controller draws: the lock stays with it
        if (!nested) {
            bind_host_leave(&self->host);
        }
        status = draw(self->sim, &c, &p);
        if (!nested) {
            bind_host_return(&self->host);
        }
        bind_sim_leave(self);
        result = status < 0 ? bind_raise(self->state->value_error, status,
                                         "render: the camera has a number that is not finite")
                            : Py_NewRef(Py_None);
    }
    free(p.ray);
    free(p.hit);
    free(p.pixel);
    bind_array_release(&numbers);
    bind_array_release(&bytes);
    return result;
}

// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Questions to a sim whose allocations fail, one place of the code after another; and the step of a scene with groups,
// rules, listed contacts and excluded bodies, which the certificate sorts for itself.
#include "support/cmocka.h"
#include "support/sites.h"

#include <perp/io.h>
#include <perp/perp.h>

#include <string.h>

enum { DEPTH = 8 };

static const char text[] = "{\"groups\": [\"a\", \"b\"], \"exclude\": [[\"x\", \"y\"], "
                           "[\"ground\", \"y\"]], \"shapes\": [{\"name\": "
                           "\"floor\", \"kind\": \"halfspace\", \"mask\": [\"a\", \"b\"]}], "
                           "\"bodies\": [{\"name\": \"x\", \"kind\": \"solid\", "
                           "\"position\": [0, 0, 0.5], \"mass\": 1, \"inertia\": [1, 1, 1], "
                           "\"shapes\": [{\"name\": \"s\", \"kind\": "
                           "\"sphere\", \"radius\": 0.5, \"group\": [\"b\"]}]}, {\"name\": \"y\", "
                           "\"kind\": \"solid\", \"position\": [3, 0, 3], "
                           "\"mass\": 1, \"inertia\": [1, 1, 1], \"shapes\": [{\"name\": \"s\", "
                           "\"kind\": \"point\"}]}], \"contacts\": "
                           "[{\"a\": \"floor\", \"b\": \"y.s\"}], \"pairs\": [{\"a\": \"floor\", "
                           "\"b\": \"x.s\", \"mu\": 1}]}";

static perp_status ask(const perp_env *env, void *user)
{
    static const perp_vec3 corners[4] = {
        {0.0, 0.0, 0.0}, {1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
    perp_scene *scene = NULL;
    perp_sim *sim = NULL;
    perp_hit hit[2];
    perp_error error = {0};
    (void)user;
    perp_status status = perp_scene_parse("test", text, strlen(text), env, &scene, &error);
    if (status >= 0) {
        perp_sim_def def = perp_scene_sim_def(scene);
        status = perp_sim_create(perp_scene_model(scene), &def, env, &sim, &error);
    }
    if (status >= 0) {
        status = perp_sim_step(sim, 0.01);
    }
    perp_ray ray[2] = {perp_ray_default(), perp_ray_default()};
    if (status >= 0) {
        status = perp_sim_rays(sim, ray, 2, hit);
    }
    perp_shape_def hull = perp_shape_default();
    hull.kind = PERP_SHAPE_HULL;
    hull.vertices_S = corners;
    hull.vertex_count = 4;
    perp_probe probe = perp_probe_default();
    probe.shape = &hull;
    int count = -1;
    if (status >= 0) {
        status = perp_sim_overlap(sim, &probe, NULL, 0, &count, &error);
        assert_true(status < 0 || count == 2);
    }
    double a[12] = {0.0}, f[12];
    if (status >= 0) {
        status = perp_sim_inverse_dynamics(sim, a, f);
    }
    perp_sim_destroy(sim);
    perp_scene_destroy(scene);
    return status;
}

static void questions(void **state)
{
    (void)state;
    assert_true(sites_walk("questions", ask, NULL, DEPTH) > 60);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(questions)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

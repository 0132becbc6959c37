// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
#include "support/shot.h"

#include "support/cmocka.h"

#include <math.h>
#include <stdio.h>

void shot_open(shot *s, const char *name)
{
    char path[128];
    perp_error error;
    *s = (shot){0};
    snprintf(path, sizeof path, "scenes/%s.json", name);
    if (perp_scene_load(path, NULL, &s->scene, &error) < 0) {
        fail_msg("%s:%d:%d: %s", path, error.line, error.column, error.text);
    }
    s->def = perp_scene_sim_def(s->scene);
    s->h = perp_scene_step(s->scene);
}

void shot_start(shot *s)
{
    perp_error error;
    if (perp_sim_create(perp_scene_model(s->scene), &s->def, NULL, &s->sim, &error) < 0) {
        fail_msg("%s: %s", perp_scene_name(s->scene), error.text);
    }
}

void shot_close(shot *s)
{
    perp_sim_destroy(s->sim);
    perp_scene_destroy(s->scene);
}

static void weigh(shot *s)
{
    perp_energy e = perp_sim_info(s->sim)->energy;
    double all = e.kinetic + e.potential;
    if (s->energy_scale == 0.0) {
        s->energy_first = all;
    }
    s->energy_off = fmax(s->energy_off, fabs(all - s->energy_first));
    s->energy_scale = fmax(s->energy_scale, e.kinetic);
}

void shot_run(shot *s, double t)
{
    double left;
    while ((left = t - perp_sim_time(s->sim)) > 1e-13 * (1.0 + fabs(t))) {
        double h = left < s->h * (1.0 + 1e-9) ? left : s->h;
        perp_status status = perp_sim_step(s->sim, h);
        if (status < 0) {
            fail_msg("%s, t = %.9g: %s (%s)", perp_scene_name(s->scene), perp_sim_time(s->sim),
                     perp_sim_error(s->sim)->text, perp_sim_info(s->sim)->remark);
        }
        s->inexact += status == PERP_INEXACT;
        weigh(s);
    }
}

double shot_value(const shot *s, const char *body, char what)
{
    const perp_model *model = perp_scene_model(s->scene);
    perp_body b = perp_model_body(model, body);
    assert_true(b.i >= 0);
    perp_vec3 p = perp_sim_body_position(s->sim, b);
    perp_twist v = perp_sim_body_twist(s->sim, b);
    perp_quat q = perp_sim_body_pose(s->sim, b).rot;
    switch (what) {
    case 'x':
        return p.x;
    case 'y':
        return p.y;
    case 'z':
        return p.z;
    case 'a':
        return perp_model_is_spatial(model) ? 2.0 * atan2(q.z, q.w)
                                            : perp_sim_body_angle(s->sim, b);
    case 'u':
        return v.v_W.x;
    case 'v':
        return v.v_W.y;
    case 'w':
        return v.v_W.z;
    default:
        return v.w_W.z;
    }
}

perp_joint_state shot_joint(const shot *s, const char *joint)
{
    perp_joint j = perp_model_joint(perp_scene_model(s->scene), joint);
    assert_true(j.i >= 0);
    return perp_sim_joint(s->sim, j);
}

// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The implicit step leaves no gap below -1e-9 m and no joint open by more than 1e-10 m: bodies from a millimetre to 100 m that
// tumble onto each other, with joints, in the plane and in space, in both coordinates, with all laws of friction. Gaps and
// joints are those of the certificate, which finds them by code of its own.
#include "support/cmocka.h"

#include <perp/io.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TEXT = 8192, STEPS = 60 };
static const double GAP = 1e-9, JOINT = 1e-10;  // [m]

typedef struct law {
    const char *name;
    bool spatial;
    perp_friction_law friction;
    const char *material;  // of all shapes; %g are lengths
    double length;         // torsional and rolling friction, of the size of the bodies
    const char *pairs;
} law;

static const law laws[] = {
    {"polygon in the plane", false, PERP_FRICTION_COULOMB, "\"mu\": 0.5", 0.0, ""},
    {"none in the plane", false, PERP_FRICTION_NONE, "\"mu\": 0.5", 0.0, ""},
    {"cone", true, PERP_FRICTION_COULOMB, "\"mu\": 0.5", 0.0, ""},
    {"pyramid", true, PERP_FRICTION_PYRAMID, "\"mu\": 0.5", 0.0, ""},
    {"none", true, PERP_FRICTION_NONE, "\"mu\": 0.5", 0.0, ""},
    {"rolling", true, PERP_FRICTION_COULOMB, "\"mu\": 0.5, \"mu_spin\": %g, \"mu_roll\": %g", 0.01,
     ""},
    {"anisotropic", true, PERP_FRICTION_COULOMB, "\"mu\": 0.5", 0.0,
     ", \"pairs\": [{\"a\": \"floor\", \"b\": \"box\", \"mu\": 0.6, \"mu_2\": 0.2, \"tangent\": "
     "[1, 0, 0]}, {\"a\": \"floor\", \"b\": \"ball\", \"mu\": 0.6, \"mu_2\": 0.2, \"tangent\": "
     "[0, 1, 0]}]"},
};

// A box, a disc and a rod fall into a bin, onto a rod that hangs; two hinged rods follow. s: size of the bodies [m].
static int put_plane(char *text, double s, const char *material)
{
    double v = sqrt(s), w = 1.0 / sqrt(s);
    return snprintf(
        text, TEXT,
        "{\"shapes\": [{\"name\": \"floor\", \"kind\": \"halfplane\", %s}, {\"kind\": \"box\", "
        "\"size\": [%g, %g], \"position\": [%g, %g], %s}, {\"kind\": \"box\", \"size\": [%g, %g], "
        "\"position\": [%g, %g], %s}], \"bodies\": ["
        "{\"name\": \"box\", \"position\": [%g, %g], \"angle\": 0.7, \"velocity\": [%g, 0], "
        "\"spin\": %g, \"shapes\": [{\"kind\": \"box\", \"size\": [%g, %g], \"density\": 1000, "
        "%s}]}, "
        "{\"name\": \"ball\", \"position\": [%g, %g], \"shapes\": [{\"kind\": \"disc\", "
        "\"radius\": %g, \"density\": 10, %s}]}, "
        "{\"name\": \"rod\", \"position\": [%g, %g], \"spin\": %g, \"shapes\": [{\"kind\": "
        "\"capsule\", \"length\": %g, \"radius\": %g, \"density\": 300, %s}]}, "
        "{\"name\": \"hangs\", \"position\": [%g, %g], \"shapes\": [{\"kind\": \"capsule\", "
        "\"length\": %g, \"radius\": %g, \"density\": 300, %s}]}, "
        "{\"name\": \"r0\", \"position\": [%g, %g], \"shapes\": [{\"kind\": \"capsule\", "
        "\"length\": %g, \"radius\": %g, \"density\": 100, %s}]}, "
        "{\"name\": \"r1\", \"position\": [%g, %g], \"shapes\": [{\"kind\": \"capsule\", "
        "\"length\": %g, \"radius\": %g, \"density\": 100, %s}]}], \"joints\": ["
        "{\"name\": \"pin\", \"kind\": \"revolute\", \"b\": \"hangs\", \"at\": [%g, %g]}, "
        "{\"name\": \"hinge\", \"kind\": \"revolute\", \"a\": \"r0\", \"b\": \"r1\", \"at\": [%g, "
        "%g]}]",
        material, 0.2 * s, 6 * s, -1.6 * s, 3 * s, material, 0.2 * s, 6 * s, 1.6 * s, 3 * s,
        material, -0.4 * s, 1.1 * s, v, -2 * w, 0.9 * s, 0.6 * s, material, 0.3 * s, 2.2 * s,
        0.35 * s, material, -0.1 * s, 3.1 * s, 2 * w, 0.8 * s, 0.15 * s, material, 0.9 * s, 1.2 * s,
        0.8 * s, 0.1 * s, material, -0.4 * s, 4.2 * s, 0.6 * s, 0.1 * s, material, 0.4 * s, 4.2 * s,
        0.6 * s, 0.1 * s, material, 0.5 * s, 1.2 * s, 0.0, 4.2 * s);
}

// The same in space, without the bin.
static int put_space(char *text, double s, const char *material)
{
    double v = sqrt(s), w = 1.0 / sqrt(s);
    return snprintf(
        text, TEXT,
        "{\"shapes\": [{\"name\": \"floor\", \"kind\": \"halfspace\", %s}], \"bodies\": ["
        "{\"name\": \"box\", \"kind\": \"solid\", \"position\": [0, 0, %g], \"velocity\": [%g, 0, "
        "0], \"spin\": [%g, %g, 0], \"shapes\": [{\"kind\": \"box\", \"size\": [%g, %g, %g], "
        "\"density\": 1000, %s}]}, "
        "{\"name\": \"ball\", \"kind\": \"solid\", \"position\": [%g, %g, %g], \"shapes\": "
        "[{\"kind\": \"sphere\", \"radius\": %g, \"density\": 10, %s}]}, "
        "{\"name\": \"rod\", \"kind\": \"solid\", \"position\": [%g, %g, %g], \"spin\": [%g, 0, "
        "%g], \"shapes\": [{\"kind\": \"capsule\", \"length\": %g, \"radius\": %g, \"density\": "
        "300, %s}]}, "
        "{\"name\": \"hangs\", \"kind\": \"solid\", \"position\": [%g, 0, %g], \"shapes\": "
        "[{\"kind\": \"box\", \"size\": [%g, %g, %g], \"density\": 300, %s}]}, "
        "{\"name\": \"r0\", \"kind\": \"solid\", \"position\": [%g, 0, %g], \"shapes\": "
        "[{\"kind\": "
        "\"box\", \"size\": [%g, %g, %g], \"density\": 100, %s}]}, "
        "{\"name\": \"r1\", \"kind\": \"solid\", \"position\": [%g, 0, %g], \"shapes\": "
        "[{\"kind\": "
        "\"box\", \"size\": [%g, %g, %g], \"density\": 100, %s}]}], \"joints\": ["
        "{\"name\": \"pin\", \"kind\": \"revolute\", \"b\": \"hangs\", \"at\": [%g, 0, %g], "
        "\"axis\": [0, 1, 0]}, {\"name\": \"hinge\", \"kind\": \"spherical\", \"a\": \"r0\", "
        "\"b\": \"r1\", \"at\": [0, 0, %g]}]",
        material, 0.8 * s, v, 2 * w, -1 * w, 0.9 * s, 0.7 * s, 0.6 * s, material, 0.2 * s, 0.1 * s,
        1.8 * s, 0.35 * s, material, -0.1 * s, 0.05 * s, 2.7 * s, 2 * w, w, 0.6 * s, 0.15 * s,
        material, 1.3 * s, 1.0 * s, 0.8 * s, 0.2 * s, 0.2 * s, material, -0.4 * s, 3.6 * s, 0.6 * s,
        0.15 * s, 0.15 * s, material, 0.4 * s, 3.6 * s, 0.6 * s, 0.15 * s, 0.15 * s, material,
        0.9 * s, 1.0 * s, 3.6 * s);
}

typedef struct errors {
    double gap, joint;
    int contacts;  // most in a step
} errors;

static errors errors_of(const law *l, double size, perp_coordinates coordinates)
{
    char text[TEXT], material[200];
    double friction = l->length * size;
    snprintf(material, sizeof material, l->material, friction, friction);
    int at = l->spatial ? put_space(text, size, material) : put_plane(text, size, material);
    snprintf(text + at, (size_t)(TEXT - at), "%s}", l->pairs);
    perp_scene *scene = NULL;
    perp_sim *sim = NULL;
    perp_error error;
    if (perp_scene_parse("scales", text, strlen(text), NULL, &scene, &error) < 0) {
        fail_msg("%s", error.text);
    }
    perp_sim_def def = perp_scene_sim_def(scene);
    def.stepper = PERP_STEPPER_IMPLICIT;
    def.friction = l->friction;
    def.coordinates = coordinates;
    assert_int_equal(perp_sim_create(perp_scene_model(scene), &def, NULL, &sim, NULL), PERP_OK);
    errors worst = {0.0, 0.0, 0};
    for (int k = 0; k < STEPS; k++) {
        if (perp_sim_step(sim, 0.015 * sqrt(size)) < 0) {
            fail_msg("%s, %g m: %s", l->name, size, perp_sim_error(sim)->text);
        }
        const perp_step_info *info = perp_sim_info(sim);
        if (!info->certificate.passed) {
            fail_msg("%s, %g m, step %d: %s", l->name, size, k, info->remark);
        }
        worst.gap = fmax(worst.gap, info->certificate.gap);
        worst.joint = fmax(worst.joint, info->certificate.joint);
        worst.contacts = info->contacts > worst.contacts ? info->contacts : worst.contacts;
    }
    perp_sim_destroy(sim);
    perp_scene_destroy(scene);
    return worst;
}

static void gaps_and_joints_are_closed(void **state)
{
    (void)state;
    static const double sizes[] = {1e-3, 0.05, 1.0, 10.0, 100.0};
    static const perp_coordinates coordinates[] = {PERP_COORDINATES_BODY, PERP_COORDINATES_JOINT};
    for (size_t k = 0; k < sizeof laws / sizeof laws[0]; k++) {
        errors most = {0.0, 0.0, 0};
        for (size_t i = 0; i < 2 * sizeof sizes / sizeof sizes[0]; i++) {
            errors e = errors_of(&laws[k], sizes[i / 2], coordinates[i % 2]);
            if (!(e.gap <= GAP && e.joint <= JOINT)) {
                fail_msg("%s, %g m: gap -%.1e m, joint %.1e m", laws[k].name, sizes[i / 2], e.gap,
                         e.joint);
            }
            assert_true(e.contacts >= 4);  // they are on each other
            most.gap = fmax(most.gap, e.gap);
            most.joint = fmax(most.joint, e.joint);
        }
        print_message("%s: gaps %.1e m, joints %.1e m\n", laws[k].name, most.gap, most.joint);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(gaps_and_joints_are_closed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

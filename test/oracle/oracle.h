// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Distances and depths of pairs of solids by other people's programs.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

// A placed solid, in the numbering of pp_solid_kind.
typedef struct oracle_solid {
    int kind;
    double radius, half[3];
    int vertices, faces;
    const double *vertex;  // three numbers each
    const int *face_first, *corner;
    const double *R;  // rows of the rotation
    double p[3];
} oracle_solid;

// FCL with libccd: the distance of solids that are apart (its signed distance stops the program by an assertion
// where solids overlap). 0: FCL has no answer for the pair, or gave up.
int oracle_fcl(const oracle_solid *a, const oracle_solid *b, double *distance);
// Bullet's GJK and EPA, with doubles and without margins, and the direction they part along; not for ellipsoids.
int oracle_bullet(const oracle_solid *a, const oracle_solid *b, double *distance, double way[3]);

#ifdef __cplusplus
}
#endif

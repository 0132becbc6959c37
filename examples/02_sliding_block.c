// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// A planar block slides on its two lower corners, is slowed by Coulomb friction, and comes to rest.
// Each step of size h solves the Stewart–Trinkle problem for its impulses. An optional argument names an
// SVG file to write.
//
//   0 <= z _|_ A z + b >= 0,   z = (p_n, p_f, sigma),   A = [W' M^-1 W, E; U, -E', 0]
#include <perp/comp.h>

#include <math.h>
#include <stdio.h>

enum { STEPS = 150, NC = 2, N = 4 * NC };  // z: 2 normals, 2 x 2 friction directions, 2 sigmas
enum { X, SPEED, FRICTION, REAR, FRONT, FIELDS };             // a row: [m], [m/s], then forces [N]
static const double h = 0.01, g = 9.8, mu = 0.3, half = 0.2;  // a square of 0.4 m
static const double inverse_M[3] = {1.0, 1.0, 37.5};          // of 1 kg

// A and b at configuration q and velocity nu. The velocity of a corner along d is W' nu with
// W = (d, r x d), r from the centre to the corner; columns of W: normals, then +t, -t of each corner.
static void pose(const double q[3], const double nu[3], double W[3 * NC][3], double A[N * N],
                 double b[N])
{
    for (int c = 0; c < NC; c++) {
        double x = c ? half : -half, s = sin(q[2]), t = cos(q[2]);
        double r[2] = {x * t + half * s, x * s - half * t};
        int f = NC + 2 * c, sigma = 3 * NC + c;
        W[c][0] = 0.0, W[c][1] = 1.0, W[c][2] = r[0];
        W[f][0] = 1.0, W[f][1] = 0.0, W[f][2] = -r[1];
        W[f + 1][0] = -1.0, W[f + 1][1] = 0.0, W[f + 1][2] = r[1];
        b[c] = (q[1] + r[1]) / h;  // the gap may close within this step, but not become negative
        A[sigma + c * N] = mu;
        A[f + sigma * N] = A[f + 1 + sigma * N] = 1.0;
        A[sigma + f * N] = A[sigma + (f + 1) * N] = -1.0;
    }
    for (int j = 0; j < 3 * NC; j++) {
        for (int k = 0; k < 3; k++) {
            b[j] += W[j][k] * nu[k];
            for (int i = 0; i < 3 * NC; i++) {
                A[i + j * N] += W[i][k] * inverse_M[k] * W[j][k];
            }
        }
    }
}

static perp_status step(double q[3], double nu[3], double row[FIELDS])
{
    double W[3 * NC][3], A[N * N] = {0}, b[N] = {0}, z[N] = {0};
    nu[1] -= h * g;
    pose(q, nu, W, A, b);
    perp_mcp lcp = perp_mcp_from_lcp(N, perp_matrix_dense(N, N, A), b);
    perp_status status = perp_mcp_solve("lemke", &lcp, NULL, NULL, z, NULL);
    for (int k = 0; status >= 0 && k < 3; k++) {
        for (int j = 0; j < 3 * NC; j++) {
            nu[k] += inverse_M[k] * W[j][k] * z[j];
        }
        q[k] += h * nu[k];
    }
    row[X] = q[0], row[SPEED] = nu[0], row[FRICTION] = (z[2] - z[3] + z[4] - z[5]) / h;
    row[REAR] = z[0] / h, row[FRONT] = z[1] / h;
    return status;
}

// A plot of 350 x 160 at `left`, of the given field from low to high; with a title, draws the axes.
static void plot(FILE *svg, int left, double low, double high, const char *title,
                 double rows[][FIELDS], int field, const char *look)
{
    fprintf(svg, "<text x='%d' y='246' text-anchor='start'>%s</text>\n", left, title);
    for (int k = 0; k <= 3 && *title; k++) {
        double y = 430 - 160 * k / 3.0;
        fprintf(svg, "<path d='M%d %gh350' stroke='#ddd'/>", left, y);
        fprintf(svg, "<text x='%d' y='%g'>%g</text>", left - 16, y + 4, low + (high - low) * k / 3);
        fprintf(svg, "<text x='%g' y='452'>%g s</text>\n", left + 350 * k / 3.0, STEPS * h * k / 3);
    }
    fprintf(svg, "<polyline fill='none' stroke-width='2.5' %s points='", look);
    for (int k = 0; k < STEPS; k++) {
        double t = (k + 1.0) / STEPS, value = (rows[k][field] - low) / (high - low);
        fprintf(svg, "%.1f,%.1f ", left + 350 * t, 430 - 160 * value);
    }
    fprintf(svg, "'/>\n");
}

static int draw(FILE *svg, double rows[][FIELDS])
{
    fputs("<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 900 470' font-family='sans-serif' "
          "font-size='13' text-anchor='middle'><path d='M0 0H900V470H0z' fill='#fff'/>"
          "<path d='M50 200H850' stroke='#000'/><g fill='#27a' fill-opacity='.1' stroke='#013'>\n",
          svg);
    for (int k = 0; k < STEPS; k += 10) {
        fprintf(svg, "<path d='M%.1f 40h160v160h-160z'/>\n", 148 + 400 * (rows[k][X] - half));
    }
    fputs("</g>\n", svg);
    plot(svg, 50, 0, 3, "speed [m/s]", rows, SPEED, "stroke='#2a6f97'");
    plot(svg, 500, -4, 8, "friction (red); normal force, rear (light) and front (dark) [N]", rows,
         FRICTION, "stroke='#c1121f'");
    plot(svg, 500, -4, 8, "", rows, FRONT, "stroke='#386641'");
    plot(svg, 500, -4, 8, "", rows, REAR, "stroke='#8a0'");
    fputs("</svg>\n", svg);
    return fclose(svg) != 0;
}

int main(int argc, char **argv)
{
    double q[3] = {0.0, half, 0.0}, nu[3] = {3.0, 0.0, 0.0}, rows[STEPS][FIELDS];
    printf("every 0.25 s:\n      x [m] speed [m/s]  frict. [N]    rear [N]   front [N]\n");
    for (int k = 0; k < STEPS; k++) {
        perp_status status = step(q, nu, rows[k]);
        if (status < 0) {
            fprintf(stderr, "step %d: %s\n", k, perp_status_text(status));
            return 1;
        }
        for (int j = 0; j < FIELDS && k % 25 == 24; j++) {
            printf("%11.3f%s", fabs(rows[k][j]) < 5e-4 ? 0.0 : rows[k][j], j < FRONT ? " " : "\n");
        }
    }
    FILE *svg = argc > 1 ? fopen(argv[1], "w") : NULL;
    return svg ? draw(svg, rows) : argc > 1;
}

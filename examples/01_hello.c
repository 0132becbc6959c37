// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// A ball on the floor, pushed down with 3 N s and sideways with 1 N s: find the contact impulses.
//
//   0 <= z _|_ A z + b >= 0,   z = (p_n, p_f+, p_f-, sigma)
//
// The mass is 1 kg and mu is 0.5, so A z + b is (normal velocity, slip + sigma, -slip + sigma,
// distance to the friction cone). Friction can supply up to 1.5 N s and needs 1: the ball sticks.
#include <perp/comp.h>

#include <stdio.h>

int main(void)
{
    const double A[] = {1, 0, 0, 0.5, 0, 1, -1, -1, 0, -1, 1, -1, 0, 1, 1, 0};  // column-major
    const double b[] = {-3, 1, -1, 0};
    double z[4];

    perp_mcp lcp = perp_mcp_from_lcp(4, perp_matrix_dense(4, 4, A), b);
    perp_comp_info info;
    perp_status status = perp_mcp_solve("auto", &lcp, NULL, NULL, z, &info);
    if (status < 0) {
        fprintf(stderr, "hello: %s: %s\n", perp_status_text(status), info.error.text);
        return 1;
    }
    printf("%s: p_n = %.3f  p_f = %.3f  sigma = %.3f\n", perp_status_word(status), z[0],
           z[1] - z[2], z[3]);
    printf("certified: %s\n", info.residual <= 1e-8 ? "yes, to 1e-8" : "no");
    return 0;
}

// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Sobol's sequence.                              Sobol, USSR Comput. Math. Math. Phys. 7 (1967) 86
//
// Dimension d has a primitive polynomial of degree s over GF(2) and direction numbers v_j = m_j / 2^j; point k is the
// exclusive or of the v_j of the bits j of k. The first s of the odd m_j < 2^j are free; they are chosen in the way of
// Joe and Kuo (SIAM J. Sci. Comput. 30, 2008), by low t of all projections to two dimensions: tools/sobol_numbers makes
// the table. The others follow from the polynomial x^s + a_1 x^(s-1) + ... + a_(s-1) x + 1:
//
//   m_j = 2 a_1 m_(j-1) ^ ... ^ 2^(s-1) a_(s-1) m_(j-s+1) ^ 2^s m_(j-s) ^ m_(j-s)
#include "sweep/own.h"

enum { DEGREE_MOST = 7, BITS = 32 };

// a: the bits a_1 .. a_(s-1), the first the highest.
typedef struct direction {
    int s;
    unsigned a;
    uint32_t m[DEGREE_MOST];
} direction;

// Of dimensions 1, 2, ...; dimension 0 is van der Corput's sequence.
static const direction table[PP_SOBOL_MOST - 1] = {
    {1, 0, {1}},
    {2, 1, {1, 3}},
    {3, 1, {1, 3, 3}},
    {3, 2, {1, 1, 7}},
    {4, 1, {1, 3, 3, 7}},
    {4, 4, {1, 1, 3, 7}},
    {5, 2, {1, 3, 7, 7, 29}},
    {5, 4, {1, 1, 3, 15, 19}},
    {5, 7, {1, 1, 1, 15, 7}},
    {5, 11, {1, 3, 3, 5, 27}},
    {5, 13, {1, 1, 5, 9, 13}},
    {5, 14, {1, 3, 5, 3, 5}},
    {6, 1, {1, 3, 3, 9, 11, 39}},
    {6, 13, {1, 3, 5, 13, 13, 23}},
    {6, 16, {1, 3, 1, 13, 11, 27}},
    {6, 19, {1, 3, 1, 3, 5, 55}},
    {6, 22, {1, 3, 1, 15, 17, 45}},
    {6, 25, {1, 3, 5, 1, 11, 39}},
    {7, 1, {1, 3, 5, 7, 13, 57, 17}},
    {7, 4, {1, 1, 1, 11, 17, 63, 17}},
    {7, 7, {1, 1, 5, 1, 13, 21, 47}},
    {7, 8, {1, 1, 3, 11, 29, 1, 27}},
    {7, 14, {1, 1, 7, 15, 21, 9, 19}},
    {7, 19, {1, 3, 7, 11, 7, 59, 99}},
    {7, 21, {1, 3, 1, 15, 1, 29, 43}},
    {7, 28, {1, 3, 7, 9, 31, 53, 25}},
    {7, 31, {1, 1, 7, 9, 11, 55, 59}},
    {7, 32, {1, 1, 7, 5, 23, 59, 107}},
    {7, 37, {1, 1, 7, 1, 1, 59, 9}},
    {7, 41, {1, 1, 3, 5, 23, 15, 19}},
    {7, 42, {1, 3, 7, 5, 19, 61, 65}},
};

uint32_t pp_sobol(int d, uint32_t k)
{
    uint32_t m[BITS], x = 0;
    const direction *t = d > 0 ? &table[d - 1] : NULL;
    // Bit j of k adds m_j / 2^(j+1). Points far into the sequence need more of the recurrence.
    for (int j = 0; j < BITS && k >> j; j++) {
        if (!t) {
            m[j] = 1;
        } else if (j < t->s) {
            m[j] = t->m[j];
        } else {
            m[j] = m[j - t->s] ^ (m[j - t->s] << t->s);
            for (int i = 1; i < t->s; i++) {
                uint32_t a = t->a >> (t->s - 1 - i) & 1u;
                m[j] ^= a * (m[j - i] << i);
            }
        }
        if (k >> j & 1u) {
            x ^= m[j] << (BITS - 1 - j);
        }
    }
    return x;
}

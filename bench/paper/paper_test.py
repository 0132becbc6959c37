#!/usr/bin/env python3
# SPDX-FileCopyrightText: the perp authors
# SPDX-License-Identifier: Apache-2.0
"""The scenes of bench/paper have the published geometry, and the driver runs, measures and reports violations.

    paper_test.py PERP_BENCH_PAPER PERP_BENCH_PROBLEM"""
import contextlib
import io
import json
import math
import os
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, '..', 'problems')]
import collect  # noqa: E402
import run  # noqa: E402
import scenes  # noqa: E402

PROGRAM = DUMP = ''


def polygon_area(ends):
    corners = [ends[0], ends[2], ends[3], ends[1]]
    return 0.5 * abs(sum(p[0] * q[1] - q[0] * p[1] for p, q in zip(corners, corners[1:] + corners[:1])))


class Geometry(unittest.TestCase):
    def test_arch_has_the_published_height_and_volume(self):
        # top of the 25 stones with their gaps in the authors' files, and volumes that a port of them states [cm^3]
        top = max(corner[1] for ends, _ in scenes.arch_sections(25, True) for corner in ends)
        self.assertAlmostEqual(top, 65.273375, delta=1e-6)
        for count, volume in ((25, 10370.091752708812), (101, 10190.617578954031)):
            sections = scenes.arch_sections(count, False)
            self.assertEqual(len(sections), count)
            self.assertAlmostEqual(sum(polygon_area(ends) * width for ends, width in sections), volume, delta=1e-6)

    def test_arch_in_touch_shares_its_joints(self):
        sections = scenes.arch_sections(25, False)
        for (left, _), (right, _) in zip(sections, sections[1:]):
            for a, b in ((2, 0), (3, 1)):
                # the lines of both faces are the same; widths differ
                middle = [0.5 * (left[2][k] + left[3][k]) - 0.5 * (right[0][k] + right[1][k]) for k in (0, 1)]
                self.assertLess(max(map(abs, middle)), 1e-6)
                self.assertNotEqual(left[a], right[b])

    def test_card_house_has_the_published_numbers(self):
        for levels, cards in ((4, 26), (5, 40), (10, 155)):
            house = scenes.card_house(levels, 1.0)
            self.assertEqual(len(house['bodies']), cards + 4)
        five = scenes.card_house(5, 1.0)['bodies']
        self.assertAlmostEqual(five[-1]['position'][2], 13.0830308488593, delta=1e-12)
        self.assertAlmostEqual(five[0]['position'][2], 0.5 * 2.41660616977186, delta=1e-12)

    def test_kapla_has_102_blocks(self):
        self.assertEqual(len(scenes.kapla(1.0)['bodies']), 102)


class Driver(unittest.TestCase):
    def entry(self, name):
        return next(e for _, entries in run.rows() for e in entries if e[0] == name)

    def test_rows_have_different_names(self):
        names = [entry[0] for _, entries in run.rows() for entry in entries]
        self.assertEqual(len(names), len(set(names)))

    def test_small_rows_are_certified_and_measured(self):
        for name, seen in (('incline, μ = 0.5', 'slides 0.0005 m'), ('Painlevé box, μ = 0.5', 'stays upright'),
                           ('Painlevé box, μ = 0.55', 'tumbles'), ('turntable, μ = 0.5, ω = 2', 'stays'),
                           ('turntable, μ = 0.5, ω = 5', 'leaves'), ('four-bar, 2.5 ms, exact positions', 'closure')):
            row = run.row_of(PROGRAM, self.entry(name), 20.0)
            self.assertEqual(row['certified'], row['planned'], name)
            self.assertLess(row['residual'], 1e-9, name)
            self.assertIn(seen, row['seen'])

    def test_cpu_limit_ends_a_row(self):
        row = run.row_of(PROGRAM, self.entry('kapla, 102 blocks, 10 ms'), 0.05)
        self.assertLess(row['steps'], row['planned'])
        self.assertIn('planned', run.cells(self.entry('kapla, 102 blocks, 10 ms'), row)[2])

    def test_a_violation_is_reported(self):
        scene = scenes.painleve(0.5)
        scene['limits'] = {'motion': 1e-300}
        result = run.run_scene(PROGRAM, scene, {}, 5.0)
        self.assertLess(result.row['certified'], result.row['steps'])
        self.assertEqual(result.row['violated'][0][1], 'motion')

    def test_a_bad_scene_is_an_error(self):
        scene = scenes.painleve(0.5)
        scene['bodies'][0]['shapes'][0]['mu'] = -1.0
        self.assertIn('mu', run.run_scene(PROGRAM, scene, {}, 5.0).row['error'])

    def test_the_exit_code_shows_a_violation(self):
        def rows():
            def build():
                scene = scenes.painleve(0.5)
                scene['limits'] = {'motion': 1e-300}
                return scene
            return (('m', [('bad', build, run.tipped, '', '', {})]),)
        old, words, run.rows = run.rows, sys.argv, rows
        sys.argv = ['run.py', PROGRAM]
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                self.assertEqual(run.main(), 1)
        finally:
            run.rows, sys.argv = old, words


class Problems(unittest.TestCase):
    def laws(self, problem, solution):
        """The worst errors of a solution by the file alone: of M v = f + H r, and of the natural map of the law."""
        def product(matrix, x, transposed=False):
            y = [0.0] * matrix['cols' if transposed else 'rows']
            for i, j, value in matrix['entries']:
                row, column = (j, i) if transposed else (i, j)
                y[row] += value * x[column]
            return y

        nv = len(problem['f'])
        v, r = solution[:nv], solution[nv:]
        balance = max(abs(a - f - b) for a, f, b in zip(product(problem['M'], v), problem['f'],
                                                        product(problem['H'], r)))
        u = [a + b for a, b in zip(product(problem['H'], v, True), problem['w'])]
        law = 0.0
        for c, mu in enumerate(problem['mu']):
            n, t = 3 * c, slice(3 * c + 1, 3 * c + 3)
            law = max(law, abs(min(r[n], u[n])))
            force = [x - y for x, y in zip(r[t], u[t])]
            size, most = math.hypot(*force), mu * max(r[n], 0.0)
            held = [x * min(1.0, most / size) if size > 0.0 else 0.0 for x in force]
            law = max(law, math.dist(r[t], held))
        return balance, law

    def read(self, folder, name):
        with open(os.path.join(folder, f'{name}.json')) as file:
            problem = json.load(file)
        with open(os.path.join(folder, f'{name}.solution.csv')) as file:
            return problem, [float(line) for line in file]

    def test_the_solution_beside_a_problem_solves_it(self):
        with tempfile.TemporaryDirectory() as folder:
            with contextlib.redirect_stdout(io.StringIO()):
                rows = collect.collect(DUMP, folder, 'kapla-first')
            self.assertEqual([row['passed'] for row in rows], [True])
            problem, solution = self.read(folder, 'kapla-first')
            balance, law = self.laws(problem, solution)
            self.assertLess(balance, 1e-11)
            self.assertLess(law, 1e-9)
            # and another answer does not
            solution[-3] += 1e-3
            self.assertGreater(max(self.laws(problem, solution)), 1e-4)


if __name__ == '__main__':
    PROGRAM, DUMP = sys.argv.pop(1), sys.argv.pop(1)
    unittest.main()

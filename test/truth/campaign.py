#!/usr/bin/env python3
# SPDX-FileCopyrightText: the perp authors
# SPDX-License-Identifier: Apache-2.0
"""Runs random scenes through `perp run` and compares its verdict with that of judge.py.

    campaign.py PERP [--count 2000] [--seed 1] [--first 0] [--jobs 2] [--out DIR] [--seconds 20] [--strict]
    campaign.py PERP --hostile ...           the same of the families of hostile.py
    campaign.py PERP --scenes FILE...        the same for scenes of one's own
    campaign.py PERP --stepper implicit ...  time-stepping scenes with this stepper in place of their own; others are left out

Classes: agreed pass, agreed refusal (judged wrong, or beyond right in a row that perp found violated), FALSE PASS (exit 0, judged wrong), false refusal (exit 3 or 4, judged right, with perp's
reason), unsure pass and unsure refusal (the judge does not decide), refused input (exit 2), time out, crash. Scenes of all
classes but the agreed ones are kept in DIR/<class>/, DIR/table.md has the counts and a line for each of them. Runs that end are
also judged by `perp check`; those where it reaches another verdict are kept in DIR/check/.
--strict: exit 1 when there is a false pass, a crash, or another verdict of `perp check`.
"""
import argparse
import json
import multiprocessing
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback

import hostile
import judge as judging
import scenes

CLASSES = ['agreed pass', 'agreed refusal', 'false pass', 'false refusal', 'unsure pass', 'unsure refusal', 'refused input',
           'time out', 'crash', 'judge failed']
KEPT = set(CLASSES) - {'agreed pass', 'agreed refusal'}


def reason(text, folder):
    """What perp said: the violated rows, or why the run ended."""
    lines = [re.sub(r'\s+', ' ', l).strip() for l in text.splitlines() if 'VIOLATED' in l or
             l.startswith('perp:') and 'unsolved.json' not in l]
    try:
        with open(os.path.join(folder, 'events.jsonl')) as f:
            for line in f:
                e = json.loads(line)
                if e['event'] in ('jam', 'unsolved'):
                    lines.append('%s: %s' % (e.get('status', e['event']), e.get('reason', '')))
    except (OSError, ValueError, KeyError):
        pass
    return '; '.join(lines)[:300]


# Rows of the certificate, and what the judge measures of the same kind: its limits there are wider than those of the certificate,
# so that a value beyond what it calls right says that the certificate's limit was passed.
SAME = {'gap': ('penetration', 'overlap', 'path'), 'path': ('path', 'penetration'), 'joints': ('joint', 'limit'), 'motion': ('motion', 'turning'),
        'momentum': ('momentum', 'turning'), 'energy created': ('energy', 'energy step', 'island'),
        'complementarity': ('rebound', 'restitution', 'afar', 'pull', 'slip'), 'residual': ('rebound', 'restitution', 'afar', 'slip', 'effort'),
        'friction cone': ('cone', 'pull')}


def confirms(why, beyond):
    """Whether a row that perp found violated is one in which the judge sees something as well."""
    named = [row for row in SAME if re.search(r'(^|[:;] )%s [0-9.e+-]+ ' % row, why)]
    return any(r in beyond for row in named for r in SAME[row])


def check_differs(perp, out, code, seconds):
    """What `perp check` says of a run that ended, where it is not what the run said; '' otherwise."""
    try:
        p = subprocess.run([perp, 'check', out], capture_output=True, text=True, timeout=10 * seconds, errors='replace')
    except subprocess.TimeoutExpired:
        return 'check: no end'
    if code not in (0, 4) or p.returncode == code:
        return ''
    return 'run exit %d, check exit %d; %s' % (code, p.returncode, '; '.join(
        re.sub(r'\s+', ' ', l).strip() for l in (p.stdout + p.stderr).splitlines() if 'VIOLATED' in l or l.startswith('perp:')))


# Settings of one stepper that others do not have.
OWN = ('theta', 'positions')


def replaced(scene, stepper):
    """The scene with another stepper; None for those that move otherwise between frames or have no velocities."""
    if scene.get('stepper', 'stewart-trinkle') in ('event', 'quasistatic'):
        return None
    return {**{k: v for k, v in scene.items() if k not in OWN}, 'stepper': stepper}


def one(task):
    perp, seed, k, seconds, work, maker, stepper = task
    if isinstance(k, str):
        with open(k) as f:
            text = f.read()
        name = os.path.basename(k).removesuffix('.json')
    else:
        scene = (hostile if maker else scenes).make(seed, k)
        if stepper:
            scene = replaced(scene, stepper)
        if not scene:
            return None
        text, name = scenes.text(scene), scene['name']
    folder = tempfile.mkdtemp(dir=work)
    path = os.path.join(folder, 'scene.json')
    with open(path, 'w') as f:
        f.write(text)
    out = os.path.join(folder, 'run')
    result = {'k': k, 'name': name, 'text': text, 'why': '', 'rows': '', 'skipped': {}}
    begin = time.monotonic()
    def limit():
        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds) + 1))
    try:   # seconds of the processor, whatever else the machine does
        p = subprocess.run([perp, 'run', path, '-o', out, '--no-figures', '--no-replay'], capture_output=True, text=True, timeout=10 * seconds,
                           errors='replace', preexec_fn=limit)
        code = p.returncode
        result['why'] = ('exit %d: ' % code if code else '') + reason(p.stdout + '\n' + p.stderr, out)
    except subprocess.TimeoutExpired:
        shutil.rmtree(folder, ignore_errors=True)
        return {**result, 'class': 'time out', 'seconds': seconds}
    result['seconds'] = time.monotonic() - begin
    if code in (-signal.SIGXCPU, -signal.SIGKILL):
        shutil.rmtree(folder, ignore_errors=True)
        return {**result, 'class': 'time out'}
    if code < 0 or code not in (0, 2, 3, 4):
        shutil.rmtree(folder, ignore_errors=True)
        return {**result, 'class': 'crash', 'why': 'exit %d; ' % code + result['why']}
    if code == 2 or not os.path.exists(os.path.join(out, 'summary.json')):
        shutil.rmtree(folder, ignore_errors=True)
        return {**result, 'class': 'refused input'}
    try:
        verdict, beyond, rows, skipped = judging.judge(text, out)
    except Exception:
        shutil.rmtree(folder, ignore_errors=True)
        return {**result, 'class': 'judge failed', 'why': traceback.format_exc().strip().replace('\n', ' | ')[-400:]}
    result['check'] = check_differs(perp, out, code, seconds)
    shutil.rmtree(folder, ignore_errors=True)
    kind = {('right', 0): 'agreed pass', ('wrong', 0): 'false pass', ('cannot judge', 0): 'unsure pass', ('right', 1): 'false refusal',
            ('wrong', 1): 'agreed refusal', ('cannot judge', 1): 'unsure refusal'}[(verdict, int(code != 0))]
    if kind == 'unsure refusal' and confirms(result['why'], beyond):
        kind = 'agreed refusal'
    result['rows'] = ', '.join('%s %.3g (%s)' % (r, v, where) for r, (v, where) in sorted(beyond.items(), key=lambda i: -i[1][0]))
    return {**result, 'class': kind, 'exit': code, 'skipped': skipped}


def write_table(results, args, folder, seconds):
    count = {c: [r for r in results if r['class'] == c] for c in CLASSES}
    with open(os.path.join(folder, 'table.md'), 'w') as f:
        f.write('# %d random scenes, seed %d\n\n| class | scenes |\n| --- | --- |\n' % (len(results), args.seed))
        for c in CLASSES:
            f.write('| %s | %d |\n' % (c, len(count[c])))
        f.write('\n%.0f s on %d processes.\n' % (seconds, args.jobs))
        for c in CLASSES:
            if c in KEPT and count[c]:
                f.write('\n## %s\n\n| scene | what the judge found | what perp says |\n| --- | --- | --- |\n' % c)
                for r in count[c]:
                    found = r['rows'] or ', '.join('%s not judged: %s' % s for s in r['skipped'].items())
                    if c.startswith('unsure'):
                        first = r['rows'].split(' (')[0].rsplit(' ', 1)[0]
                        found += '; undecided: ' + (judging.UNDECIDED.get(first) or 'the scene is not understood')
                    f.write('| %s | %s | %s |\n' % (r['name'], found, r['why'].replace('|', '/')))
        differ = [r for r in results if r.get('check')]
        f.write('\n`perp check` reaches another verdict in %d.\n' % len(differ))
        if differ:
            f.write('\n| scene | verdicts | what perp run says |\n| --- | --- | --- |\n')
            for r in differ:
                f.write('| %s | %s | %s |\n' % (r['name'], r['check'].replace('|', '/'), r['why'].replace('|', '/')))
    return count


def main():
    p = argparse.ArgumentParser()
    p.add_argument('perp')
    p.add_argument('--count', type=int, default=2000)
    p.add_argument('--seed', type=int, default=1)
    p.add_argument('--first', type=int, default=0)
    p.add_argument('--jobs', type=int, default=2)
    p.add_argument('--out', default='truth')
    p.add_argument('--seconds', type=float, default=20)
    p.add_argument('--strict', action='store_true')
    p.add_argument('--hostile', action='store_true')
    p.add_argument('--scenes', nargs='+', default=[])
    p.add_argument('--stepper')
    args = p.parse_args()
    os.nice(10)
    os.makedirs(args.out, exist_ok=True)
    for c in KEPT | {'check'}:
        shutil.rmtree(os.path.join(args.out, c.replace(' ', '-')), ignore_errors=True)
    begin = time.monotonic()
    results = []
    with tempfile.TemporaryDirectory() as work:
        tasks = [(os.path.abspath(args.perp), args.seed, k, args.seconds, work, args.hostile, args.stepper)
                 for k in args.scenes or range(args.first, args.first + args.count)]
        with multiprocessing.Pool(min(2, args.jobs)) as pool:
            for r in pool.imap(one, tasks, chunksize=4):
                if not r:
                    continue
                results.append(r)
                for c in [r['class']] * (r['class'] in KEPT) + ['check'] * bool(r.get('check')):
                    d = os.path.join(args.out, c.replace(' ', '-'))
                    os.makedirs(d, exist_ok=True)
                    with open(os.path.join(d, r['name'] + '.json'), 'w') as f:
                        f.write(r['text'])
    count = write_table(results, args, args.out, time.monotonic() - begin)
    for c in CLASSES:
        print('%-15s %d' % (c, len(count[c])))
    for r in count['false pass']:
        print('false pass: %s: %s' % (r['name'], r['rows']))
    for c in ('crash', 'time out', 'judge failed'):
        for r in count[c]:
            print('%s: %s %s' % (c, r['name'], r['why']))
    differ = [r for r in results if r.get('check')]
    print('%-15s %d' % ('check differs', len(differ)))
    for r in differ:
        print('check differs: %s: %s' % (r['name'], r['check']))
    print('table and scenes: %s' % args.out)
    bad = count['false pass'] or count['crash'] or count['judge failed'] or differ
    return 1 if args.strict and bad else 0


if __name__ == '__main__':
    sys.exit(main())

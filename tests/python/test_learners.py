#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Scripts as learners bring them, on Tapedeck's engine and on PyTorch 2.13: what they print, and the order of nodes.

    test_learners.py [--half] [--table=FILE] [NAME...]

Each script of tests/learners is rebuilt from a published one, whose name is its docstring; its data is made up. The test fails if a
script prints something else than on PyTorch, or if its nodes run in another order, unless ORDERS says so. If all scripts ran,
--table writes what came out, of which the site makes a table.
"""
import ast
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

import table
import together
import torches

TAPEDECK = os.environ['TAPEDECK']
SCRIPTS = os.path.join(torches.SOURCE, 'tests', 'learners')
PRINTED = re.compile(r'[-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?')
# What comes of a script's order, if it is not "same".
ORDERS = {**dict.fromkeys(('basics_build', 'basics_data', 'basics_tensors', 'examples_numpy', 'examples_tensors'), 'no pass'),
          'double_backward': '104 of 234 passes the same; 369 and 345 nodes alone'}


def title(path):
    with open(path) as file:
        return ast.get_docstring(ast.parse(file.read()))


def unit(text):
    """Of the last digit behind the point."""
    mantissa, _, exponent = text.lower().partition('e')
    return 10.0 ** (int(exponent or 0) - len(mantissa.partition('.')[2])) if '.' in mantissa else 0.0


def is_whole(text):
    return not re.search('[.eE]', text)


def are_alike(a, b):
    if float(a) == float(b):
        return True
    if is_whole(a) and is_whole(b):
        return False
    size = max(abs(float(a)), abs(float(b)))
    return abs(float(a) - float(b)) <= max(1e-5 * size, 1.5 * max(unit(a), unit(b)))


def lines_agree(a, b):
    numbers_a, numbers_b = PRINTED.findall(a), PRINTED.findall(b)
    return (len(numbers_a) == len(numbers_b) and PRINTED.sub('#', a).split() == PRINTED.sub('#', b).split() and
            all(are_alike(x, y) for x, y in zip(numbers_a, numbers_b)))


def short(text):
    text = ' '.join(text.split()).replace('|', '/')
    return text if len(text) <= 90 else text[:89] + '…'


def compare_text(own, other):
    if own.returncode:
        return f'stops: {short((own.stderr.strip() or "?").splitlines()[-1])}'
    if own.stdout == other.stdout:
        return 'same'
    lines = list(zip((own.stdout + '\n').split('\n'), (other.stdout + '\n').split('\n')))
    for a, b in lines:
        if not lines_agree(a, b):
            return f'`{short(a)}` for `{short(b)}`'
    return 'rounded' if own.stdout.count('\n') == other.stdout.count('\n') else 'another number of lines'


def compare_order(own, other):
    done = subprocess.run([TAPEDECK, 'diff', own, other, '--json'], capture_output=True, text=True)
    if done.returncode == 2:
        return done.stderr.strip()
    found = json.loads(done.stdout)
    nodes, tasks = found['nodes'], found['graph_tasks']
    if found['equal_order'] and not found['names']:
        return 'same' if found['a']['nodes'] else 'no pass'
    if found['names']:
        return '; '.join(f"{name['a']} for {name['b']}" for name in found['names'][:2])
    return f"{tasks['equal']} of {tasks['paired']} passes the same; {len(nodes['only_a'])} and {len(nodes['only_b'])} nodes alone"


def run_own(path, folder):
    tape = os.path.join(folder, os.path.basename(path) + '.tape')
    done = subprocess.run([TAPEDECK, 'run', '--force', '-o', tape, '--semantics', '2.13', path], cwd=folder, capture_output=True,
                          text=True, timeout=600)
    done.stderr = '\n'.join(line for line in done.stderr.splitlines() if not line.startswith('tapedeck: '))
    return done, tape


def results(paths, python, folder):
    """{name: (title, prints, order)}"""
    plain = {name: value for name, value in os.environ.items() if name != 'PYTHONPATH'}
    others = together.run(python, {path: [path] for path in paths}, folder, {**plain, 'OMP_NUM_THREADS': '1'},
                          [TAPEDECK, 'record', '--force'])
    found = {}
    for path in paths:
        other = others[path]
        assert other.returncode == 0, (path, other.stderr)
        own, tape = run_own(path, folder)
        has_tapes = not own.returncode and other.tape
        order = compare_order(tape, other.tape) if has_tapes else 'no pass' if not own.returncode else '–'
        found[os.path.basename(path)[:-3]] = (title(path), compare_text(own, other), order)
        print(*found[os.path.basename(path)[:-3]], sep=' | ', flush=True)
    return found


def summary(found):
    printed = [row[1] for row in found.values()]
    agree = sum(text in ('same', 'rounded') for text in printed)
    return f'Of {len(found)} scripts {agree} print the same, {printed.count("same")} of them to the last digit.'


def check(found):
    wrong = [(name, *row) for name, row in found.items() if row[1] not in ('same', 'rounded') or row[2] != ORDERS.get(name, 'same')]
    for row in wrong:
        print('not as on PyTorch:', *row)
    assert not wrong


def main(words):
    names = [word for word in words if not word.startswith('--')]
    files = [word.partition('=')[2] for word in words if word.startswith('--table=')]
    everything = sorted(glob.glob(os.path.join(SCRIPTS, '*.py')))[::2 if '--half' in words else 1]
    paths = [path for path in everything if not names or os.path.basename(path)[:-3] in names]
    python = torches.python_of('2.13.0', 'numpy')
    with tempfile.TemporaryDirectory() as folder:
        found = results(paths, python, folder)
    print(summary(found))
    if files and paths == everything:
        table.write(files[0], ['script', 'rebuilt from', 'prints', 'order'], [[f'`{name}`', *row] for name, row in sorted(found.items())])
    check(found)


main(sys.argv[1:])

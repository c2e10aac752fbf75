#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Scripts as learners bring them, on Tapedeck's engine and on PyTorch 2.13: what they print, and the order of nodes.

    test_learners.py [--write] [NAME...]

Each script of tests/learners is rebuilt from a published one, whose name is its docstring; its data is made up. --write writes
engine/LEARNERS.md, which says what came out. Without it the test fails if a script no longer does what the table says.
"""
import ast
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

import together
import torches

TAPEDECK = os.environ['TAPEDECK']
SCRIPTS = os.path.join(torches.SOURCE, 'tests', 'learners')
TABLE = os.path.join(torches.SOURCE, 'engine', 'LEARNERS.md')
PRINTED = re.compile(r'[-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?')
HEAD = """# Scripts that learners bring

`tests/python/test_learners.py --write` makes this table. Do not edit it. It runs the scripts of
[tests/learners](../tests/learners) on Tapedeck's engine and on PyTorch 2.13.0, with the same seeds, each on one thread. A script is
rebuilt from the published one that the table names: its steps and its way of writing, with data that is made up.

- *prints*: *same* if both print the same text. *rounded* if numbers differ by at most one in the last digit that is printed, or by a
  share of 1e-5. Else the first line that differs, or why the script ended.
- *order*: *same* if both ran the same nodes in the same order, in all passes.

| script | rebuilt from | prints | order |
| --- | --- | --- | --- |
"""


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


def rows(found):
    return [f'| [{name}](../tests/learners/{name}.py) | {row[0]} | {row[1]} | {row[2]} |' for name, row in sorted(found.items())]


def summary(found):
    printed = [row[1] for row in found.values()]
    agree = sum(text in ('same', 'rounded') for text in printed)
    return f'Of {len(found)} scripts {agree} print the same, {printed.count("same")} of them to the last digit.'


def is_as_good(now, then):
    return now == then or then in ('rounded',) and now == 'same' or then == 'same' and now == 'rounded'


def check(found):
    with open(TABLE) as file:
        then = {cells[1].strip(' []').partition(']')[0]: [cell.strip() for cell in cells[2:5]]
                for cells in (line.split(' | ') for line in file.read().replace('| [', ' | [').splitlines())
                if len(cells) == 5 and '.py)' in cells[1]}
    worse = [(name, row, then.get(name)) for name, row in found.items()
             if name not in then or not is_as_good(row[1], then[name][1]) or row[2] != then[name][2].rstrip(' |')]
    for row in worse:
        print('not as the table says:', *row)
    assert not worse


def main(words):
    names = [word for word in words if not word.startswith('--')]
    paths = [path for path in sorted(glob.glob(os.path.join(SCRIPTS, '*.py'))) if not names or os.path.basename(path)[:-3] in names]
    paths = paths if names or '--write' in words else torches.some(paths, 2)
    python = torches.python_of('2.13.0', 'numpy')
    with tempfile.TemporaryDirectory() as folder:
        found = results(paths, python, folder)
    print(summary(found))
    if '--write' in words:
        with open(TABLE, 'w') as file:
            file.write(HEAD + '\n'.join(rows(found)) + f'\n\n{summary(found)}\n')
    elif not names:
        check(found)


main(sys.argv[1:])

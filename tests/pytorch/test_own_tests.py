#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""PyTorch's own tests of autograd on Tapedeck's engine. outcomes.json has what came out, and the site makes a table of it.

    test_own_tests.py                   fails if a method fails that outcomes.json says passes
    test_own_tests.py --write           runs every method here, and writes outcomes.json
    test_own_tests.py --write --oracle  runs every method on PyTorch 2.13 too; otherwise that column stays
    test_own_tests.py METHOD...         prints what came out of these, with what they print
    test_own_tests.py --missing         prints how many methods wait for each missing name

source.py fetches the tests. If it cannot, this test prints the reason and is skipped.
"""
import collections
import json
import os
import subprocess
import sys
import tempfile

import source

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'fixtures'))
import table  # noqa: E402
import torches  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.environ.get('BUILD_ROOT', os.path.join(source.SOURCE, 'build'))
TAPEDECK = os.environ.get('TAPEDECK', os.path.join(BUILD, 'app', 'tapedeck'))
OUTCOMES = os.path.join(HERE, 'outcomes.json')
COLUMNS = ['method', '2.13', 'Tapedeck', 'why']
SKIPPED, AT_ONCE, SECONDS = 77, 2, 60


def run_part(engine, folder, methods, place, loud):
    """Starts a process that runs these methods. Returns it, and the file that it writes."""
    out = os.path.join(place, f'{engine}-{len(os.listdir(place))}.jsonl')
    open(out, 'w').close()
    begin = [TAPEDECK, 'run', '-o', out + '.tape'] if engine == 'tapedeck' else [torches.python_of('2.13.0')]
    environment = {**os.environ, 'OMP_NUM_THREADS': '1', **({'LOUD': '1'} if loud else {})}
    quiet = None if loud else subprocess.DEVNULL
    command = [*begin, os.path.join(HERE, 'run_methods.py'), folder, out, str(SECONDS), *methods]
    return subprocess.Popen(command, env=environment, stdout=quiet, stderr=quiet, cwd=place), out


def run(engine, folder, methods, loud=False):
    """{method: [outcome, why, seconds]}. The methods are shared among a few processes."""
    with tempfile.TemporaryDirectory() as place:
        parts = [methods[i::AT_ONCE] for i in range(AT_ONCE)] if methods else [[]]
        started = [run_part(engine, folder, part, place, loud) for part in parts if part or not methods]
        for process, _ in started:
            process.wait()
        lines = [json.loads(line) for _, out in started for line in open(out, encoding='utf-8')]
    return {line[0]: line[1:] for line in lines}


def read_outcomes():
    """{method: (outcome on 2.13, outcome here, why)}"""
    return {row[0]: tuple(row[1:]) for row in table.read(OUTCOMES)}


def short(text):
    text = text.strip()
    return text if len(text) <= 110 else text[:107] + '...'


def write(folder, with_oracle):
    methods = list(run('tapedeck', folder, []))
    ours = run('tapedeck', folder, methods)
    theirs = run('2.13', folder, methods) if with_oracle else read_outcomes()
    rows = [[name, theirs.get(name, ['not run'])[0], ours[name][0], '' if ours[name][0] == 'passes' else short(ours[name][1])]
            for name in sorted(ours)]
    table.write(OUTCOMES, COLUMNS, rows)
    on_both = [row[2] for row in rows if row[1] == 'passes']
    print(f'{on_both.count("passes")} of the {len(on_both)} methods that pass on PyTorch 2.13 pass here')
    return 0


def check(folder):
    """Fails for each method that outcomes.json has as passing here and that does not pass, not even a second time."""
    rows = read_outcomes()
    wanted = [method for method, row in rows.items() if row[1] == 'passes']
    seen = run('tapedeck', folder, wanted)
    failed = [method for method in wanted if seen.get(method, ['no outcome'])[0] != 'passes']
    again = run('tapedeck', folder, failed) if failed else {}
    worse = [method for method in failed if again.get(method, ['no outcome'])[0] != 'passes']
    for method in worse:
        print(f'{method}: passed once, and now: ' + ' '.join(map(str, again.get(method, ['no outcome'])[:2])))
    print(f'{len(wanted) - len(worse)} of {len(wanted)} methods pass that {os.path.basename(OUTCOMES)} says pass'
          + (f'; {len(failed) - len(worse)} of them at the second try' if len(failed) > len(worse) else ''))
    return 1 if worse or not wanted else 0


def show_missing():
    names = collections.Counter(row[2] for row in read_outcomes().values()
                                if row[0] == 'passes' and row[1] == 'misses')
    for name, count in names.most_common():
        print(f'{count:4} {name}')
    return 0


def main(arguments):
    if arguments == ['--missing']:
        return show_missing()
    try:
        folder = source.find()
    except source.Absent as why:
        print(f"skipped: PyTorch's tests cannot be had: {why}")
        return SKIPPED
    if '--write' in arguments:
        return write(folder, '--oracle' in arguments)
    if arguments:
        for method, row in run('tapedeck', folder, arguments, loud=True).items():
            print(method, *row)
        return 0
    return check(folder)


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))

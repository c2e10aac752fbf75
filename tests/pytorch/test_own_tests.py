#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""PyTorch's own tests of autograd on Tapedeck's engine, and the table of what came out: engine/OWN_TESTS.md.

    test_own_tests.py                   fails if a method fails that the table says passes
    test_own_tests.py --write           runs every method here, and writes the table
    test_own_tests.py --write --oracle  runs every method on PyTorch 2.13 too; otherwise that column stays
    test_own_tests.py METHOD...         prints what came out of these, with what they print
    test_own_tests.py --missing         prints how many methods wait for each missing name

source.py fetches the tests. If it cannot, this test prints the reason and is skipped.
"""
import collections
import json
import os
import re
import subprocess
import sys
import tempfile

import source

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'fixtures'))
import torches  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.environ.get('BUILD_ROOT', os.path.join(source.SOURCE, 'build'))
TAPEDECK = os.environ.get('TAPEDECK', os.path.join(BUILD, 'app', 'tapedeck'))
TABLE = os.path.join(source.SOURCE, 'engine', 'OWN_TESTS.md')
SKIPPED, AT_ONCE, SECONDS = 77, 2, 60
IMPORTED = ('TestAutogradComplex', 'TestAutogradFunctional')
HEAD = """# PyTorch's own tests

`tests/pytorch/test_own_tests.py --write` makes this table. Do not edit it. It has every method of the tests of
autograd of PyTorch {version}, and of two files that they import. None of their text is in this repository: the test fetches
them from Debian's source package.

Each method ran in a process of its own, on Tapedeck's engine and on PyTorch 2.13. A small module in `tests/pytorch/`
takes the place of `torch.testing._internal` for both.

*misses*: a name is not there. *differs*: the method sees something else than it expects. *dies*: its process crashed.
*too long*: it took more than {seconds} seconds. *skipped*: the method said so itself.

Of the methods that pass on PyTorch 2.13, {own} pass here. Of those of the two imported files,
{imported} pass.

| class | pass on 2.13 | of these here | miss a name | differ | die or take too long |
| --- | ---: | ---: | ---: | ---: | ---: |
"""
SECTIONS = {'both': 'Pass on both', 'here': 'Pass on 2.13, not here', 'rest': 'Do not pass on 2.13'}


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


def read_table():
    """{method: (outcome on 2.13, outcome here, why)}"""
    with open(TABLE, encoding='utf-8') as file:
        rows = re.findall(r'^\| `(\w+\.\w+)` \| ([^|]*) \| ([^|]*) \| (.*) \|$', file.read(), re.M)
    return {row[0]: tuple(row[1:]) for row in rows}


def cell(text):
    """A reason as one cell of a table."""
    text = text if len(text) <= 110 else text[:107] + '...'
    return '`' + text.replace('|', '\\|').replace('`', "'").strip() + '`' if text else ''


def counts(rows):
    """The lines of the small table."""
    classes = collections.defaultdict(collections.Counter)
    for method, (theirs, ours, _) in rows.items():
        if theirs == 'passes':
            classes[method.partition('.')[0]][ours] += 1
    for name, seen in sorted(classes.items()):
        ends = seen['dies'] + seen['too long']
        yield (f'| {name} | {sum(seen.values())} | {seen["passes"]} | {seen["misses"]} | '
               f'{seen["differs"] + seen["skipped"]} | {ends} |\n')


def section_of(theirs, ours):
    return 'rest' if theirs != 'passes' else 'both' if ours == 'passes' else 'here'


def share(rows, imported):
    """How many pass of those that pass on 2.13: '12 of 15, 80 %'."""
    seen = [ours for method, (theirs, ours, _) in rows.items()
            if theirs == 'passes' and (method.partition('.')[0] in IMPORTED) == imported]
    passing = sum(ours == 'passes' for ours in seen)
    return f'**{passing} of {len(seen)}**, {100 * passing / max(len(seen), 1):.0f} %,'


def write_table(rows):
    with open(TABLE, 'w', encoding='utf-8') as file:
        file.write(HEAD.format(version=source.VERSION, seconds=SECONDS, own=share(rows, False), imported=share(rows, True)))
        file.writelines(counts(rows))
        for section in ('here', 'both', 'rest'):
            file.write(f'\n## {SECTIONS[section]}\n\n| method | 2.13 | Tapedeck | why |\n| --- | --- | --- | --- |\n')
            for method, (theirs, ours, why) in sorted(rows.items()):
                if section_of(theirs, ours) == section:
                    file.write(f'| `{method}` | {theirs} | {ours} | {why} |\n')
    print(f'of the methods that pass on PyTorch 2.13, {share(rows, False)} pass here; of the imported files '
          f'{share(rows, True)}')


def write(folder, with_oracle):
    methods = list(run('tapedeck', folder, []))
    ours = run('tapedeck', folder, methods)
    theirs = run('2.13', folder, methods) if with_oracle else {name: row for name, row in read_table().items()}
    write_table({name: (theirs.get(name, ['not run'])[0], ours[name][0],
                        cell('' if ours[name][0] == 'passes' else ours[name][1])) for name in methods if name in ours})
    return 0


def check(folder):
    """Fails for each method that the table has as passing here and that does not pass, not even a second time."""
    rows = read_table()
    wanted = [method for method, row in rows.items() if row[1] == 'passes']
    seen = run('tapedeck', folder, wanted)
    failed = [method for method in wanted if seen.get(method, ['no outcome'])[0] != 'passes']
    again = run('tapedeck', folder, failed) if failed else {}
    worse = [method for method in failed if again.get(method, ['no outcome'])[0] != 'passes']
    for method in worse:
        print(f'{method}: passed once, and now: ' + ' '.join(map(str, again.get(method, ['no outcome'])[:2])))
    print(f'{len(wanted) - len(worse)} of {len(wanted)} methods pass that {os.path.basename(TABLE)} says pass'
          + (f'; {len(failed) - len(worse)} of them at the second try' if len(failed) > len(worse) else ''))
    return 1 if worse or not wanted else 0


def show_missing():
    names = collections.Counter(re.sub(r"^`|`$", '', row[2]) for row in read_table().values()
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

#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Records the cases of cases.py with each PyTorch, and prints what `findings` says first of each.

    tests/cases/run_cases.py [--given FOLDER] [--write] [NAME...]

The given cases want the folder that has them. --write writes outcomes.json, which the site shows; what is not run keeps its rows.
The verdict: `yes` if the first finding has what it must say, `partly` if it has less, `no` if there is none, and `other` if the
first finding says something else. Of a program that hangs, `attach` is asked: its first line about the program counts."""
import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [HERE, os.path.join(SOURCE, 'tests', 'fixtures')]
import cases  # noqa: E402
import together  # noqa: E402
import torches  # noqa: E402

TAPEDECK = os.environ.get('TAPEDECK', os.path.join(SOURCE, 'build', 'app', 'tapedeck'))
SECONDS = 600
ALONE_SECONDS = 150  # of a program that is given
HANG_SECONDS = 150  # until `attach` says what it must
TITLES = {}


def titles():
    """{kind: its words for people}."""
    if not TITLES:
        with open(os.path.join(SOURCE, 'engine', 'profile', 'findings', 'finding.def')) as file:
            TITLES.update(re.findall(r'^TD_FINDING\((\w+), \w+, "([^"]+)"\)', file.read(), re.MULTILINE))
    return TITLES


def said(finding):
    return f'{titles()[finding["kind"]]}: {finding["text"]} {finding["advice"] or ""} {finding["line"] or ""}'


def findings_of(tape):
    done = subprocess.run([TAPEDECK, 'findings', tape, '--json'], capture_output=True, text=True, timeout=SECONDS)
    return json.loads(done.stdout)['findings']


def environment(rest=1):
    return {name: value for name, value in os.environ.items() if name != 'PYTHONPATH'} | {'REST': str(rest)}


def start(command, folder, rest=1):
    """A process, in a group of its own."""
    return subprocess.Popen(command, cwd=folder, env=environment(rest), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)


def end_group(process):
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


def record_alone(python, script, folder, options):
    """The findings of one program, which may take too long: then of what it did until then."""
    tape = os.path.join(folder, 'one.tape')
    process = start([TAPEDECK, 'record', '--force', *options, '-o', tape, '--', python, *script], folder)
    try:
        process.wait(ALONE_SECONDS)
    except subprocess.TimeoutExpired:
        pass
    end_group(process)
    return findings_of(tape) if os.path.exists(tape) else []


def record(python, wanted, given, options=()):
    """{case: the findings of its recording}. Own programs share one import of PyTorch, as far as they are one process each."""
    with tempfile.TemporaryDirectory() as folder:
        scripts = {case: [shutil.copy(cases.path_of(case, given), folder), *case.arguments] for case in wanted}
        alike = {case: script for case, script in scripts.items() if case in cases.OWN and not case.spawns}
        ended = together.run(python, alike, folder, environment(), (TAPEDECK, 'record', *options)) if alike else {}
        found = {case: findings_of(end.tape) if end.tape else [] for case, end in ended.items()}
        return found | {case: record_alone(python, scripts[case], folder, options) for case in wanted if case not in found}


def attach(python, case, given):
    """(verdict, commands, words) of a program that hangs: what `attach` says first of it."""
    with tempfile.TemporaryDirectory() as folder:
        script = shutil.copy(cases.path_of(case, given), folder)
        processes = [start([TAPEDECK, 'record', '-o', os.path.join(folder, f'{i}.tape'), '--', python, script, *words], folder, HANG_SECONDS)
                     for i, words in enumerate(case.hangs)]
        words, end = '', time.monotonic() + HANG_SECONDS
        while time.monotonic() < end and not re.search(case.words, words):
            time.sleep(5)
            done = subprocess.run([TAPEDECK, 'attach', str(processes[0].pid)], capture_output=True, text=True, timeout=SECONDS)
            words = next(iter(re.findall('^(?!Process ).+', done.stdout, re.MULTILINE)), '')
        for process in processes:
            end_group(process)
        return 'yes' if re.search(case.words, words) else 'partly' if re.search(case.partly, words) else 'other' if words else 'no', 2, words


def verdict_of(case, found):
    first = said(found[0]) if found else ''
    has = [word for word, text in (('yes', case.words), ('partly', case.partly)) if found and re.search(text, first, re.DOTALL)]
    return has[0] if has else 'other' if found else 'no'


def leads_on(found):
    """What `findings` prints names a recording that would say more: where a value was born, or which line it was."""
    return found and (re.search('--anomaly nonfinite', found[0]['advice'] or '') or not found[0]['line'])


def try_cases(python, wanted, given=None):
    """{case: (verdict, how many commands it took, the first finding's words)}. A finding that names the command that would say more
    leads to it, as it leads its reader."""
    hanging = {case: attach(python, case, given) for case in wanted if case.hangs}
    wanted = [case for case in wanted if not case.hangs]
    found = record(python, wanted, given)
    further = [case for case in wanted if verdict_of(case, found[case]) != 'yes' and leads_on(found[case])]
    if further:
        found |= record(python, further, given, ('--anomaly', 'nonfinite', '--stacks'))
    return hanging | {case: (verdict_of(case, found[case]), 4 if case in further else 2, said(found[case][0]).strip() if found[case] else '')
                      for case in wanted}


def can_run(case, version):
    def number(words):
        return [int(part) for part in words.split('.')[:2]]
    return (not case.least or number(case.least) <= number(version)) and (not case.most or number(version) <= number(case.most))


def rows_of(wanted, given):
    """A row of each case and PyTorch, as soon as it is known."""
    own = [case for case in wanted if case in cases.OWN]
    for group in (*([own] if own else []), *([case] for case in wanted if case in cases.GIVEN)):
        told = {version: try_cases(python, [case for case in group if can_run(case, version)], given)
                for version, python in torches.installed().items()}
        for case in group:
            for version in (version for version in told if case in told[version]):
                verdict, n_commands, words = told[version][case]
                yield [os.path.basename(case.name), version, verdict, n_commands, words[:700]]


def write(rows, path):
    """Rows of cases that were not run stay."""
    with open(path) as file:
        old = json.load(file)['rows']
    new = {tuple(row[:2]): row for row in old} | {tuple(row[:2]): row for row in rows}
    order = [os.path.basename(case.name) for case in (*cases.OWN, *cases.GIVEN)]
    lines = ',\n'.join(json.dumps(row) for row in sorted(new.values(), key=lambda row: (order.index(row[0]), row[1])) if row[0] in order)
    with open(path, 'w') as file:
        file.write('{"columns": ["case", "PyTorch", "verdict", "commands", "the first finding"], "rows": [\n' + lines + '\n]}\n')


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--given', metavar='FOLDER')
    parser.add_argument('--write', action='store_true')
    parser.add_argument('names', nargs='*')
    options = parser.parse_args()
    every = (*(cases.GIVEN if options.given else ()), *cases.OWN)
    rows = []
    for row in rows_of([case for case in every if not options.names or os.path.basename(case.name) in options.names], options.given):
        rows.append(row)
        print(*row, sep='\t', flush=True)
    if options.write:
        write(rows, os.path.join(HERE, 'outcomes.json'))
    verdicts = [row[2] for row in rows]
    print(*(f'{verdict} {verdicts.count(verdict)}' for verdict in ('yes', 'partly', 'no', 'other')), sep=', ')


if __name__ == '__main__':
    main()

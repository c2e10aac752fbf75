#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Records the cases of cases.py with each PyTorch, and prints what `findings` says first of each.

    tests/cases/run_cases.py [--given FOLDER] [--write] [NAME...]

The given cases want the folder that has them. --write writes outcomes.json, which the site shows. The verdict: `yes` if the first
finding has what it must say, `partly` if it has less, `no` if there is none, and `other` if the first finding says something else."""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [HERE, os.path.join(SOURCE, 'tests', 'fixtures')]
import cases  # noqa: E402
import together  # noqa: E402
import torches  # noqa: E402

TAPEDECK = os.environ.get('TAPEDECK', os.path.join(SOURCE, 'build', 'app', 'tapedeck'))
SECONDS = 600
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


def record(python, wanted, given, options=()):
    """{case: the findings of its recording}. The programs share one import of PyTorch, as far as they are one process each."""
    environment = {name: value for name, value in os.environ.items() if name != 'PYTHONPATH'} | {'REST': '1'}
    with tempfile.TemporaryDirectory() as folder:
        scripts = {case: [shutil.copy(cases.path_of(case, given), folder), *case.arguments] for case in wanted}
        alike = {case: script for case, script in scripts.items() if not case.spawns}
        ended = together.run(python, alike, folder, environment, (TAPEDECK, 'record', *options)) if alike else {}
        found = {case: findings_of(end.tape) if end.tape else [] for case, end in ended.items()}
        for case in (case for case in wanted if case.spawns):
            tape = os.path.join(folder, 'one.tape')
            subprocess.run([TAPEDECK, 'record', '--force', *options, '-o', tape, '--', python, *scripts[case]], cwd=folder, env=environment,
                           capture_output=True, text=True, timeout=SECONDS)
            found[case] = findings_of(tape) if os.path.exists(tape) else []
        return found


def verdict_of(case, found):
    first = said(found[0]) if found else ''
    has = [word for word, text in (('yes', case.words), ('partly', case.partly)) if found and re.search(text, first, re.DOTALL)]
    return has[0] if has else 'other' if found else 'no'


def try_cases(python, wanted, given=None):
    """{case: (verdict, how many commands it took, the first finding's words)}. A finding that names the command that would say more
    leads to it, as it leads its reader."""
    found = record(python, wanted, given)
    further = [case for case in wanted
               if verdict_of(case, found[case]) != 'yes' and found[case] and '--anomaly nonfinite' in (found[case][0]['advice'] or '')]
    if further:
        found |= record(python, further, given, ('--anomaly', 'nonfinite'))
    return {case: (verdict_of(case, found[case]), 4 if case in further else 2, said(found[case][0]).strip() if found[case] else '')
            for case in wanted}


def can_run(case, version):
    return not case.least or [int(part) for part in version.split('.')[:2]] >= [int(part) for part in case.least.split('.')]


def rows_of(wanted, given):
    told = {version: try_cases(python, [case for case in wanted if can_run(case, version)], given)
            for version, python in torches.installed().items()}
    for case in wanted:
        for version in (version for version in told if case in told[version]):
            verdict, n_commands, words = told[version][case]
            yield [case.name, version, verdict, n_commands, words[:700]]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--given', metavar='FOLDER')
    parser.add_argument('--write', action='store_true')
    parser.add_argument('names', nargs='*')
    options = parser.parse_args()
    every = (*(cases.GIVEN if options.given else ()), *cases.OWN)
    rows = []
    for row in rows_of([case for case in every if not options.names or case.name in options.names], options.given):
        rows.append(row)
        print(*row, sep='\t', flush=True)
    if options.write:
        with open(os.path.join(HERE, 'outcomes.json'), 'w') as file:
            lines = ',\n'.join(json.dumps(row) for row in rows)
            file.write('{"columns": ["case", "PyTorch", "verdict", "commands", "the first finding"], "rows": [\n' + lines + '\n]}\n')
    verdicts = [row[2] for row in rows]
    print(*(f'{verdict} {verdicts.count(verdict)}' for verdict in ('yes', 'partly', 'no', 'other')), sep=', ')


if __name__ == '__main__':
    main()

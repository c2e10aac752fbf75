#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Every row of rows.py on Tapedeck and on each PyTorch.

    test_semantics.py               all rows; fails if one fails or has no test
    test_semantics.py --table=FILE  the same, and writes what came out, of which the site makes a table
    test_semantics.py --write       the same, and writes what PyTorch 2.15 showed: newest.json
    test_semantics.py A-01 C-0 H    only rows whose ids start so; prints what each engine showed

If a PyTorch is absent, the rows that only that PyTorch judges are "not run", and the exit status is 77 unless something
else fails. TEST_PYTHONS says where the PyTorchs are (torches.py). Without PyTorch 2.15, newest.json stands for it.
"""
import json
import os
import sys

import engines
import harness
import table
import torches
from rows import ROWS

STORED = os.path.join(engines.HERE, 'newest.json')
SKIPPED = 77
NEWEST = '2.15.0'
LABELS = {'tapedeck': 'Tapedeck', '1.11': 'Tapedeck as 1.11', '2.13': 'Tapedeck as 2.13',
          **{version: f'PyTorch {version}' for version in harness.VERSIONS}}


class Verdict:
    """What the engines showed for one row function, and what is wrong with that. `judged`: something was expected of
    Tapedeck, a value or what a PyTorch that is here showed."""

    def __init__(self, row, seen):
        self.row, self.seen, self.problems, self.judged = row, seen, [], bool(row.only)
        for engine, outcome in seen.items():
            if 'failed' in outcome:
                self.problems.append(f'{LABELS[engine]}: {outcome["failed"]}')
        if not self.problems:
            self.check_expected()
            self.check_equal()

    def saw(self, engine):
        return {name: value for name, value in self.seen[engine].items() if name in ('value', 'raised', 'tape')}

    def expect(self, engine, expected):
        outcome = self.seen.get(engine)
        if outcome is not None and expected is not None:
            self.judged = True
            values = [outcome[name] for name in ('value', 'raised', 'tape') if name in outcome]
            if not any(harness.same(value, harness.as_json(expected)) for value in values):
                self.problems.append(f'{LABELS[engine]}: not what is expected, {expected!r}')

    def check_expected(self):
        row = self.row
        self.judged |= row.expect_tape is not None
        for engine, outcome in self.seen.items():
            if row.expect_tape is not None and not harness.same(outcome.get('tape'), harness.as_json(row.expect_tape)):
                self.problems.append(f'{LABELS[engine]}: on tape not what is expected, {row.expect_tape!r}')
        for engine in self.seen:
            if row.differs and engine in harness.VERSIONS:
                continue
            oldest, older = engine in ('1.13.1', '1.11'), engine in ('2.13.0', '2.13')
            self.expect(engine, row.expect_1_13 if row.in_1_13 and oldest else
                        row.expect_2_13 if row.in_2_13 and older else row.expect)
        if all(outcome.get('value', 0) is None and outcome.get('tape') is None for outcome in self.seen.values()):
            if not row.only:
                self.problems.append('nothing was returned to compare')

    def equal(self, a, b, must=True):
        if a not in self.seen or b not in self.seen:
            return
        self.judged |= a not in harness.VERSIONS
        if harness.same(self.saw(a), self.saw(b)) != must:
            self.problems.append(f'{LABELS[a]} and {LABELS[b]} {"differ" if must else "are equal"}')

    def check_equal(self):
        row = self.row
        if row.differs:
            return
        self.equal('tapedeck', NEWEST)
        for version, semantics in (('2.13.0', '2.13'), ('1.13.1', '1.11')):
            if row.differs_in(version):
                self.equal('tapedeck', version, must=False)
                self.equal(semantics, version)
            else:
                self.equal('tapedeck', version)

    def word(self, version):
        """The cell of a PyTorch in the table."""
        row = self.row
        if row.only:
            return '–'
        if not row.is_there(version):
            return 'not there'
        if version not in self.seen:
            return 'not run'
        if self.problems:
            return 'FAILED'
        if row.differs or row.differs_in(version):
            return 'differs'
        return 'same'

    def remarks(self):
        row = self.row
        said = [(row.in_1_13, '1.13.1: {}'), (row.in_2_13, '2.13.0: {}'), (row.since, 'since {}'), (row.only, '{}'), (row.differs, '{}')]
        return [text.format(value) for value, text in said if value]


class Conformance:
    """All that was seen for the wanted rows."""

    def __init__(self, wanted, versions):
        self.problems, self.wanted = harness.load_groups(), wanted
        rows = [row for row in harness.TESTS if wanted(row.id)]
        seen, of_tapes = engines.run(rows, ['tapedeck', '1.11', '2.13', *versions])
        self.problems += of_tapes
        self.stored = {row.key: seen[row.key, NEWEST] for row in rows if row.is_stored() and (row.key, NEWEST) in seen}
        self.measured = set(versions)
        if NEWEST not in versions:
            seen.update({(key, NEWEST): outcome for key, outcome in load_stored(rows).items()})
        self.verdicts = [Verdict(row, {engine: seen[row.key, engine] for engine in row.engines()
                                       if (row.key, engine) in seen}) for row in rows]
        self.c_tests = engines.run_c_tests(wanted)

    def of(self, name):
        return [verdict for verdict in self.verdicts if name == verdict.row.id]

    def result(self, name):
        """What became of the row's tests, in a word."""
        results = {'FAILED' if verdict.problems else 'passed' if verdict.judged else 'not run' for verdict in self.of(name)}
        results |= {'FAILED' if problem else 'passed' for _, problem in self.c_tests.get(name, ())}
        if results == {'passed', 'not run'}:
            return 'in part not run'
        return 'FAILED' if 'FAILED' in results else results.pop() if results else 'no test yet'

    def cell(self, name, version):
        compared = [verdict for verdict in self.of(name) if not verdict.row.only]
        if compared and version not in self.measured and not any(version in verdict.seen for verdict in compared):
            return 'not run'
        words = {verdict.word(version) for verdict in self.of(name)} or {'–'}
        return ', '.join(word for word in ('same', 'differs', 'not there', 'not run', 'FAILED', '–')
                         if word in words - {'–'} or words == {word})

    def line(self, name):
        remarks = [text for verdict in self.of(name) for text in verdict.remarks()]
        remarks += [f'C: `{test}`' for test, _ in self.c_tests.get(name, ())]
        return [name, ROWS[name], self.result(name), *(self.cell(name, version) for version in harness.VERSIONS), '; '.join(dict.fromkeys(remarks))]

    def write_table(self, path):
        table.write(path, ['row', 'behaviour', 'Tapedeck', *harness.VERSIONS, 'remark'], map(self.line, ROWS))

    def failures(self):
        lines = list(self.problems)
        for verdict in self.verdicts:
            lines += [f'{verdict.row.key}: {problem}' for problem in verdict.problems]
        for name, tests in self.c_tests.items():
            lines += [f'{name}: {test}: {problem}' for test, problem in tests if problem]
        return lines

    def missing(self):
        return [name for name in ROWS if self.wanted(name) and self.result(name) == 'no test yet']

    def not_run(self):
        return [name for name in ROWS if self.wanted(name) and 'not run' in self.result(name)]

    def show(self):
        """What each engine showed, side by side."""
        for verdict in self.verdicts:
            print(f'{verdict.row.key}  {self.result(verdict.row.id)}')
            if verdict.row.expect is not None:
                print(f'  {"expected":18}{json.dumps(verdict.row.expect)}')
            if verdict.row.expect_tape is not None:
                print(f'  {"expected":18}tape: {json.dumps(verdict.row.expect_tape)}')
            for engine, outcome in verdict.seen.items():
                for name, value in outcome.items():
                    print(f'  {LABELS[engine]:18}{"" if name == "value" else name + ": "}'
                          f'{value if isinstance(value, str) else json.dumps(value)}')
        for name, tests in self.c_tests.items():
            for test, problem in tests:
                print(f'{name} {test}  {problem or "passed"}')


def ids_starting(words):
    return lambda name: not words or any(name.startswith(word) for word in words)


def load_stored(rows):
    """{key: what the newest PyTorch showed} of these rows, as far as the file has them."""
    with open(STORED, encoding='utf-8') as file:
        stored = json.load(file)
    return {row.key: stored[row.key] for row in rows if row.key in stored}


def store(stored):
    with open(STORED, 'w', encoding='utf-8') as file:
        lines = ',\n'.join(f'{json.dumps(key)}: {json.dumps(outcome)}' for key, outcome in sorted(stored.items()))
        file.write(f'{{\n{lines}\n}}\n')


def main(arguments):
    words = [word for word in arguments if not word.startswith('--')]
    files = [word.partition('=')[2] for word in arguments if word.startswith('--table=')]
    versions = list(torches.with_newest())
    absent = torches.missing()
    conformance = Conformance(ids_starting(words), versions)
    problems, missing = conformance.failures(), conformance.missing()
    if words:
        conformance.show()
    else:
        problems += [f'{name}: no test' for name in missing]
    for path in files:
        conformance.write_table(path)
    if '--write' in arguments and NEWEST in versions and not words:
        store(conformance.stored)
    print('\n'.join(problem.splitlines()[0] if words else problem for problem in problems))
    tested = sum(map(conformance.wanted, ROWS)) - len(missing)
    not_run = conformance.not_run()
    print(f'{tested} rows tested, {len(problems)} problems, no test yet: {" ".join(missing) or "none"}')
    if absent:
        print(f'{len(not_run)} rows not run, or not all of their tests: {" ".join(not_run)}')
    return 1 if problems else SKIPPED if absent else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))

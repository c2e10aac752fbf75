# SPDX-License-Identifier: LGPL-2.1-or-later
"""A plugin of pytest: `pytest -p tapedeck.pytest_plugin --tapedeck` records each test that runs a backward pass, and keeps
the tape of a test that fails. The report of that test says where its tape is and what it shows."""
import contextlib
import hashlib
import os
import re
import shlex

import pytest

from tapedeck import inside, tape

FOLDER = 'tapedeck-tapes'
LONGEST_NAME = 120  # bytes


def pytest_addoption(parser):
    group = parser.getgroup('tapedeck', 'tapes of backward passes')
    group.addoption('--tapedeck', action='store_true', help='record backward passes, and keep the tape of each failing test')
    group.addoption('--tapedeck-dir', metavar='DIR', default=FOLDER, help=f'where the tapes go (default: {FOLDER})')
    group.addoption('--tapedeck-level', type=int, choices=(1, 2), metavar='LEVEL',
                    help='1, inside the engine, or 2, hooks of PyTorch')
    group.addoption('--tapedeck-all', action='store_true', help='keep the tapes of tests that pass, too')


def pytest_configure(config):
    if not config.getoption('--tapedeck'):
        return
    try:
        inside.need_torch()
        inside.refuse_second()
        tape.program()
        os.makedirs(config.getoption('--tapedeck-dir'), exist_ok=True)
    except (inside.RecordError, tape.TapeError, OSError) as problem:
        raise pytest.UsageError(f'--tapedeck: {problem}') from None
    config.pluginmanager.register(Recorder(config), 'tapedeck-recorder')


def file_name(nodeid):
    """Of a test: a name that every file system takes, and that no other test has."""
    plain = nodeid.replace('::', '-')
    name = re.sub(r'[^\w.\[\]-]+', '-', plain, flags=re.ASCII)
    if name != plain or len(name) > LONGEST_NAME:
        name = f'{name[:LONGEST_NAME]}-{hashlib.sha256(nodeid.encode("utf-8", "backslashreplace")).hexdigest()[:8]}'
    return name + '.tape'


def remove(path):
    """A tape that nobody wants. If the test had several processes, each has one beside it: NAME.1.tape."""
    folder, name = os.path.split(path)
    one_of_them = re.compile(re.escape(name.removesuffix('.tape')) + r'(\.\d+)?\.tape')
    for each in filter(one_of_them.fullmatch, os.listdir(folder)):
        os.remove(os.path.join(folder, each))


def words_about(recorded):
    """What the report of a failed test says."""
    lines = [f'the backward passes of this test: {recorded.path}',
             *[f'- {finding["text"]}' for finding in recorded.findings()],
             f'see them with: tapedeck open {shlex.quote(recorded.path)}']
    return '\n'.join(lines)


class Recorder:
    """The tests matter more than their tapes: what goes wrong with a tape is told at the end. A test that records itself
    does so instead."""

    def __init__(self, config):
        self.folder = os.path.abspath(config.getoption('--tapedeck-dir'))
        self.level = config.getoption('--tapedeck-level')
        self.keeps_all = config.getoption('--tapedeck-all')
        self.own, self.kept, self.trouble = None, [], None

    def begin(self, item):
        path = os.path.join(self.folder, file_name(item.nodeid))
        try:
            self.own = inside.begin(path, anomaly='nonfinite', stacks=True, level=self.level, force=True)
            self.own.yields = True
        except (inside.RecordError, tape.TapeError, OSError) as problem:
            self.own, self.trouble = None, f'{item.nodeid}: not recorded: {problem}'

    def end(self):
        """The tape, or None: there was no pass, this is a child of the test, or the test records itself."""
        own, self.own = self.own, None
        try:
            return inside.stop() if own and inside.session is own else None
        except (inside.RecordError, tape.TapeError, OSError) as problem:
            self.trouble = str(problem)
            return None

    def tell(self, recorded, report):
        self.kept.append(recorded.path)
        try:
            report.sections.append(('tape', words_about(recorded)))
        except (tape.TapeError, OSError) as problem:
            self.trouble = str(problem)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item):
        self.begin(item)
        yield
        recorded = self.end()
        if recorded and self.keeps_all:
            self.kept.append(recorded.path)
        elif recorded:
            with contextlib.suppress(OSError):
                remove(recorded.path)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item, call):
        outcome = yield
        report = outcome.get_result()
        recorded = self.end() if report.failed else None
        if recorded:
            self.tell(recorded, report)

    def pytest_terminal_summary(self, terminalreporter):
        if self.trouble:
            terminalreporter.write_line(f'tapedeck: {self.trouble}')
        if self.kept:
            n = len(self.kept)
            terminalreporter.write_line(f'tapedeck: {n} {"tape" if n == 1 else "tapes"} in {self.folder}')

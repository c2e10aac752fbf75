# SPDX-License-Identifier: LGPL-2.1-or-later
"""A plugin of pytest: `pytest -p tapedeck.pytest_plugin --tapedeck` records each test that runs a backward pass, and keeps
the tape of a test that fails. The report of that test says where its tape is and what it shows."""
import hashlib
import os
import re

import pytest

from tapedeck import inside, tape

FOLDER = 'tapedeck-tapes'
LONGEST_NAME = 120
recorded_key = pytest.StashKey()  # {'failed': bool, 'path': where the tape is while it is recorded}


def pytest_addoption(parser):
    group = parser.getgroup('tapedeck', 'tapes of backward passes')
    group.addoption('--tapedeck', nargs='?', const=FOLDER, metavar='DIR',
                    help=f'record backward passes, and keep the tape of each failing test in DIR (default: {FOLDER})')
    group.addoption('--tapedeck-level', type=int, choices=(1, 2), metavar='LEVEL',
                    help='1, inside the engine, or 2, hooks of PyTorch')
    group.addoption('--tapedeck-all', action='store_true', help='keep the tapes of tests that pass, too')


def pytest_configure(config):
    if config.getoption('--tapedeck') is None:
        return
    try:
        inside.need_torch()
        inside.refuse_second()
        tape.program()
    except (inside.RecordError, tape.TapeError) as problem:
        raise pytest.UsageError(f'--tapedeck: {problem}') from None
    config.pluginmanager.register(Recorder(config), 'tapedeck-recorder')


def file_name(nodeid):
    """Of a test: a name that every file system takes, and that no other test has."""
    name = re.sub(r'[^\w.\[\]-]+', '-', nodeid.replace('::', '-'))
    if name != nodeid.replace('::', '-') or len(name) > LONGEST_NAME:
        name = f'{name[:LONGEST_NAME]}-{hashlib.sha256(nodeid.encode()).hexdigest()[:8]}'
    return name + '.tape'


def words_about(recorded):
    """What the report of a failed test says."""
    lines = [f'the backward passes of this test: {recorded.path}',
             *[f'- {finding["text"]}' for finding in recorded.findings()],
             f'see them with: tapedeck open {recorded.path}']
    return '\n'.join(lines)


class Recorder:
    def __init__(self, config):
        self.folder = os.path.abspath(config.getoption('--tapedeck'))
        self.level = config.getoption('--tapedeck-level')
        self.keeps_all = config.getoption('--tapedeck-all')
        self.kept, self.trouble = [], None

    def begin(self, item):
        path = os.path.join(self.folder, file_name(item.nodeid))
        os.makedirs(self.folder, exist_ok=True)
        try:
            inside.start(path, anomaly='nonfinite', stacks=True, level=self.level, overwrite=True)
        except (inside.RecordError, tape.TapeError) as problem:  # the tests matter more than their tapes
            self.trouble = f'{item.nodeid}: not recorded: {problem}'

    def end(self):
        """The tape, or None: there was no pass, or the test ended the recording."""
        return inside.stop() if inside.session else None

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item):
        self.begin(item)
        yield
        recorded = self.end()
        if recorded and self.keeps_all:
            self.kept.append(recorded.path)
        elif recorded:
            os.remove(recorded.path)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item, call):
        outcome = yield
        report = outcome.get_result()
        if not report.failed:
            return
        recorded = self.end()
        if recorded:
            self.kept.append(recorded.path)
            report.sections.append(('tape', words_about(recorded)))

    def pytest_terminal_summary(self, terminalreporter):
        if self.trouble:
            terminalreporter.write_line(f'tapedeck: {self.trouble}')
        if self.kept:
            terminalreporter.write_line(f'tapedeck: {len(self.kept)} tapes in {self.folder}')

#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
# The plugin of pytest: a tape of each failing test, a word about it in the report, and no change of the verdicts.
import os
import pathlib
import re

import skipping
import torches
from commands import VIEWER
from record_case import TAPEDECK, RecordCase

PACKAGE = str(pathlib.Path(os.environ['BUILD_ROOT']) / 'engine' / 'python')

TESTS = """
import pytest, torch
def loss(x):
    return (x * 2).exp().sum()
@pytest.fixture
def graph():
    yield loss(torch.ones(2, requires_grad=True))
def test_fine(graph):
    graph.backward()
def test_wrong(graph):
    graph.backward()
    assert False, "on purpose"
def test_nan():
    x = torch.zeros(2, requires_grad=True)
    (x.sqrt() * 0).sum().backward()
    assert not x.grad.isnan().any()
def test_no_pass():
    assert 1 == 2
@pytest.mark.parametrize("name", ["a/b", "c d", "é"])
def test_names(name):
    loss(torch.ones(2, requires_grad=True)).backward()
    assert name == "c d"
@pytest.mark.xfail
def test_expected(graph):
    graph.backward()
    assert False
@pytest.fixture
def broken():
    yield
    loss(torch.ones(2, requires_grad=True)).backward()
    raise ValueError("teardown")
def test_teardown(broken):
    pass
@pytest.fixture
def no_setup():
    loss(torch.ones(2, requires_grad=True)).backward()
    raise ValueError("setup")
def test_setup(no_setup):
    pass
"""


class Plugin(RecordCase):
    def setUp(self):
        super().setUp()
        self.environment |= {'PYTHONPATH': PACKAGE, 'TAPEDECK': TAPEDECK}
        self.project = self.folder / 'project'
        self.project.mkdir()
        (self.project / 'test_it.py').write_text(TESTS)

    def pytest(self, *options, **more):
        return self.run_in(torches.python_of('2.13.0', 'pytest'), '-m', 'pytest', '-q', '-p', 'no:cacheprovider', *options, cwd=self.project, **more)

    def outcomes(self, done):
        return re.findall(r'(\d+) (\w+)', done.stdout.splitlines()[-1].split(' in ')[0])

    def kept(self, folder='tapedeck-tapes'):
        return sorted(path.name for path in (self.project / folder).glob('*'))

    def test_failing_tests(self):
        plain = self.pytest()
        done = self.pytest('-p', 'tapedeck.pytest_plugin', '--tapedeck')
        self.assertEqual(self.outcomes(done), self.outcomes(plain), done.stdout + done.stderr)
        self.assertEqual((done.returncode, self.outcomes(done)),
                         (1, [('5', 'failed'), ('3', 'passed'), ('1', 'xfailed'), ('2', 'errors')]))
        kept = self.kept()
        self.assertEqual(len(kept), 6, kept)
        for part in ('test_wrong', 'test_nan', 'test_teardown', 'test_setup', 'test_names[a-b]', 'test_names['):
            self.assertTrue(any(part in name for name in kept), part)
        for name in kept:
            self.assertEqual(len(self.info(f'project/tapedeck-tapes/{name}')['graph_tasks']), 1)
        self.assertIn(f'tapedeck {VIEWER} {self.project}/tapedeck-tapes/test_it.py-test_wrong.tape', done.stdout)
        self.assertRegex(done.stdout, 'NaN was born .*MulBackward0|NaN was born .*SqrtBackward0')
        self.assertIn('tapedeck: 6 tapes in', done.stdout)

    def test_all(self):
        self.pytest('-p', 'tapedeck.pytest_plugin', '--tapedeck', '--tapedeck-dir=out', '--tapedeck-all', '--tapedeck-level=2')
        self.assertEqual(len(self.kept('out')), 9)

    def test_tests_that_record_themselves(self):
        """Their tapes are theirs: the plugin neither fails them nor removes what they made. Nor is a child of theirs hurt."""
        (self.project / 'test_own.py').write_text(TESTS.split('@pytest')[0] + """
import os, tapedeck
def test_own(tmp_path):
    with tapedeck.record(tmp_path / "a.tape") as recording:
        loss(torch.ones(2, requires_grad=True)).backward()
    assert len(recording.tape.passes) == 1
def test_both():
    loss(torch.ones(2, requires_grad=True)).backward()
    test_child()
def test_left_open():
    tapedeck.start("mine.tape")
    loss(torch.ones(2, requires_grad=True)).backward()
def test_child():
    if os.fork() == 0:
        loss(torch.ones(2, requires_grad=True)).backward()
        os._exit(7)
    assert os.waitstatus_to_exitcode(os.wait()[1]) == 7
""")
        done = self.pytest('-p', 'tapedeck.pytest_plugin', '--tapedeck', 'test_own.py')
        self.assertEqual((done.returncode, self.outcomes(done)), (0, [('4', 'passed')]), done.stdout + done.stderr)
        self.assertEqual((self.kept(), (self.project / 'mine.tape').exists()), ([], True), done.stdout)

    def test_no_folder(self):
        (self.project / 'file').touch()
        done = self.pytest('-p', 'tapedeck.pytest_plugin', '--tapedeck', '--tapedeck-dir=file')
        self.assertEqual((done.returncode, done.stdout), (4, ''), done.stderr)
        self.assertIn("ERROR: --tapedeck: [Errno 17] File exists: 'file'", done.stderr)

    def test_without_the_option(self):
        done = self.pytest('-p', 'tapedeck.pytest_plugin')
        self.assertEqual((self.kept(), done.stdout.count('tapedeck')), ([], 0), done.stdout)

    def test_refusals(self):
        done = self.pytest('-p', 'tapedeck.pytest_plugin', '--tapedeck', env={**self.environment, 'TAPEDECK': '/nonexistent', 'PATH': '/bin',
                           'PYTHONPATH': str(self.copy_of_package())})
        self.assertEqual((done.returncode, done.stdout), (4, ''))
        self.assertIn('ERROR: --tapedeck: the program tapedeck is not in PATH', done.stderr)
        done = self.record(torches.python_of('2.13.0', 'pytest'), '-m', 'pytest', '-q', '-p', 'tapedeck.pytest_plugin', '--tapedeck', cwd=self.project)
        self.assertIn('`tapedeck record` records this program already', done.stdout + done.stderr)

    def copy_of_package(self):
        """Away from the build folder, in which it finds its program."""
        (self.folder / 'package').mkdir()
        (self.folder / 'package' / 'tapedeck').symlink_to(PACKAGE + '/tapedeck')
        copied = self.folder / 'copied'
        self.run_in('cp', '-rL', self.folder / 'package', copied)
        return copied


if __name__ == '__main__':
    torches.python_of('2.13.0', 'pytest')
    skipping.main()

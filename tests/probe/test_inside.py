#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
# A program that asks to be recorded while it runs: the same tape as under `tapedeck record`, the same results, and clear
# errors.
import os
import pathlib
import signal
import unittest

import torches
from record_case import TAPEDECK, RecordCase

PACKAGE = str(pathlib.Path(os.environ['BUILD_ROOT']) / 'engine' / 'python')

TRAIN = """
import sys, threading, torch
from torch import nn
torch.manual_seed(3)
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))
optimizer = torch.optim.SGD(net.parameters(), lr=.1)
data = torch.randn(5, 4)
def train(n):
    for _ in range(n):
        optimizer.zero_grad()
        net(data).pow(2).sum().backward()
        optimizer.step()
def result():
    print([parameter.tolist() for parameter in net.parameters()])
"""

# Whatever the moment and the process, not the program, decides.
ELSEWHERE = ('seq', 't', 'thread', 'pid', 'tid', 'name', 'program', 'address', 'expected', 'holder')
ABOUT_THE_TAPE = ('setting', 'known', 'thread_new', 'thread_name', 'thread_state', 'process_new', 'string', 'probe_level', 'lock_wait',
                  'lock_acquired', 'lock_released', 'lock_held', 'left_out')


class Inside(RecordCase):
    def setUp(self):
        super().setUp()
        self.environment |= {'PYTHONPATH': PACKAGE, 'TAPEDECK': TAPEDECK}

    def start(self, python, text, *arguments, status=0, **more):
        done = self.run_in(python, self.script(text), *arguments, **more)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def order(self, tape):
        return [(event['event'], *((key, value) for key, value in event.items() if key not in ELSEWHERE and key != 'event'))
                for event in self.events(tape) if event['event'] not in ABOUT_THE_TAPE]

    def for_each(self, *levels):
        for version, python in torches.installed().items():
            for level in levels:
                with self.subTest(version=version, level=level):
                    for old in self.folder.glob('*.tape'):
                        old.unlink()
                    yield python, level

    def test_same_tape(self):
        """What the engine did stands on both tapes, in the same order, with the same names."""
        for python, level in self.for_each(1, 2):
            self.start(python, TRAIN + f'import tapedeck\nwith tapedeck.record("inside.tape", level={level}):\n    train(2)\n')
            outside = self.record(python, self.script(TRAIN + 'train(2)\n'), options=['-o', 'outside.tape', f'--level={level}'])
            self.assertEqual(outside.returncode, 0, outside.stderr)
            inside, outside = self.order('inside.tape'), self.order('outside.tape')
            self.assertGreater(len(inside), 100)
            self.assertEqual(inside, outside)
            self.assertIn('0.weight', str(inside))
            self.assert_checked('inside.tape')

    def test_same_results(self):
        """Not a bit of the parameters changes, and the program goes on after stop()."""
        for python, level in self.for_each(1, 2):
            plain = self.start(python, TRAIN + 'train(6)\nresult()\n').stdout
            recorded = self.start(python, TRAIN + f"""
import tapedeck
train(1)
with tapedeck.record("a.tape", level={level}, anomaly="nonfinite", stats="full", stacks=True): train(2)
train(2)
tapedeck.start("b.tape"); train(1); tapedeck.stop()
result()
""").stdout
            self.assertEqual(recorded, plain)
            self.assertEqual([len(self.info(name)['graph_tasks']) for name in ('a.tape', 'b.tape')], [2, 1])

    def test_one_after_the_other(self):
        """Each tape has its own options, numbers and passes."""
        for python, level in self.for_each(1, 2):
            self.start(python, TRAIN + f"""
import tapedeck
for i in range(6):
    with tapedeck.record(f"{{i}}.tape", level={level}, stacks=i % 2 == 1, anomaly=("off", "nan")[i % 2]) as recording:
        train(i + 1)
        tapedeck.mark(f"mark {{i}}")
    assert recording.tape.path.endswith(f"{{i}}.tape"), recording.tape
    assert len(recording.tape.passes) == i + 1
    assert [event["text"] for event in recording.tape.events(kind="mark")] == [f"mark {{i}}"]
    train(1)
""")
            for i in range(6):
                events = self.events(f'{i}.tape')
                stacks = [event for event in events if event['event'] == 'node_new' and event.get('stack')]
                self.assertEqual(bool(stacks), i % 2 == 1, f'{i}.tape')
                self.assertEqual(min(event['node'] for event in events if event['event'] == 'node_new'), 0)
                self.assert_checked(f'{i}.tape')

    def test_graph_made_before(self):
        """A graph that was there before start() is on the tape once a pass meets it."""
        for python, level in self.for_each(1, 2):
            self.start(python, TRAIN + f"""
import tapedeck
loss = net(data).sum()
with tapedeck.record("a.tape", level={level}): loss.backward()
""")
            names = [event['name'] for event in self.events('a.tape') if event['event'] == 'node_new']
            self.assertEqual(names.count('AddmmBackward0'), 2)
            self.assert_checked('a.tape')

    def test_ends(self):
        """A block that raises, a program without stop(), sys.exit() and a signal all leave a whole tape."""
        begin = TRAIN + 'import tapedeck, os, signal\ntapedeck.start("a.tape")\ntrain(2)\n'
        for python, (text, status) in torches.in_turns([
                (TRAIN + 'import tapedeck\nwith tapedeck.record("a.tape"):\n    train(2)\n    raise KeyError(3)\n', 1),
                (begin, 0), (begin + 'sys.exit(7)\n', 7), (begin + 'os._exit(5)\n', 5),
                (begin + 'os.kill(os.getpid(), signal.SIGTERM)\n', -signal.SIGTERM)]):
            with self.subTest(text=text.splitlines()[-1]):
                done = self.start(python, text, status=status)
                self.assertEqual(done.stderr.count('KeyError: 3'), 1 if 'KeyError' in text else 0)
                self.wait_for('a.tape')
                self.assertEqual(len(self.info('a.tape')['graph_tasks']), 2)
                self.assertTrue(self.info('a.tape')['complete'])
                (self.folder / 'a.tape').unlink()

    def wait_for(self, name):
        """The session writes the tape's last name after the program has gone."""
        for _ in range(200):
            if (self.folder / name).exists() and not list(self.folder.glob('tapedeck-*')):
                return
            self.run_in('sleep', '0.05')
        self.fail(f'no {name}: {self.tapes()}')

    def test_forks(self):
        """A child has a tape of its own, and the joined one has both. A child of the time after stop() has none."""
        for python, level in self.for_each(1, 2):
            self.start(python, TRAIN + f"""
import os, tapedeck
def in_child(n):
    if os.fork() == 0:
        train(n)
        os._exit(0)
    os.wait()
with tapedeck.record("a.tape", level={level}) as recording:
    train(1)
    in_child(2)
in_child(1)
assert len(recording.tape.passes) == 3, recording.tape.passes
""")
            self.assertEqual(self.tapes(), ['a.1.tape', 'a.2.tape', 'a.tape'])

    def test_while_threads_train(self):
        """Recordings begin and end in the middle of other threads' passes."""
        for python, level in self.for_each(1, 2):
            self.start(python, TRAIN + f"""
import tapedeck
done = False
def work():
    own = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))
    while not done:
        own(data).sum().backward()
threads = [threading.Thread(target=work) for _ in range(3)]
for thread in threads: thread.start()
for i in range(12):
    with tapedeck.record("a.tape", level={level}, overwrite=True) as recording:
        train(3)
    assert len(recording.tape.passes) >= 3
done = True
for thread in threads: thread.join()
""")

    def test_refusals(self):
        """Each is one line that says what is wrong; the program goes on."""
        (self.folder / 'there.tape').write_text('mine')
        python = next(iter(torches.installed().values()))
        text = TRAIN + """
import tapedeck
def refused(words, **options):
    try:
        tapedeck.start(**{"path": "a.tape", **options})
    except tapedeck.RecordError as problem:
        assert words in str(problem) and "\\n" not in str(problem), problem
    else:
        raise AssertionError(f"{words}: no error")
refused("exists already; overwrite=True", path="there.tape")
refused("No such file", path="nowhere/a.tape")
refused("is a directory", path="/tmp", overwrite=True)
refused("anomaly='foo'", anomaly="foo")
refused("level='3'", level=3)
refused("steps='x'", steps="x")
try:
    tapedeck.stop()
except tapedeck.RecordError as problem:
    assert "no recording" in str(problem)
with tapedeck.record("a.tape", level=2) as recording:
    refused("under way", path="b.tape")
    train(1)
assert len(recording.tape.passes) == 1
refused("keeps it to its end", path="b.tape", level=1)
result()
"""
        self.assertEqual(self.start(python, text).stderr, '')
        self.assertEqual((self.folder / 'there.tape').read_text(), 'mine')

    def test_recorded_already(self):
        """`tapedeck record` and `tapedeck run` keep their recording; mark() and step() speak to them."""
        python = next(iter(torches.installed().values()))
        text = TRAIN + """
import tapedeck
try:
    tapedeck.start("b.tape")
except tapedeck.RecordError as problem:
    print(problem)
train(1)
tapedeck.mark("here")
"""
        done = self.record(python, self.script(text), options=['-o', 'a.tape'])
        self.assertIn('records this program already', done.stdout, done.stderr)
        self.assertEqual(self.tapes(), ['a.tape'])
        self.assertEqual([event['text'] for event in self.events('a.tape') if event['event'] == 'mark'], ['here'])
        (self.folder / 'own.py').write_text('import tapedeck\ntry:\n    tapedeck.start("b.tape")\nexcept tapedeck.RecordError as '
                                            'problem:\n    print(problem)\ntapedeck.ones(1, requires_grad=True).exp().backward()\n')
        done = self.ask('run', 'own.py')
        self.assertEqual((done.returncode, self.tapes()), (0, ['a.tape', 'own.tape']), done.stderr)
        self.assertTrue(done.stdout.strip(), 'start() raised nothing')

    def test_no_torch(self):
        """A Python without PyTorch."""
        done = self.start('/usr/bin/python3', 'import sys\nsys.modules["torch"] = None\nimport tapedeck\ntapedeck.start()\n', status=1)
        self.assertIn('RecordError: there is no PyTorch to record', done.stderr.splitlines()[-1])

    def test_without_engine(self):
        """In another version of Python the package has no engine of its own, and records all the same."""
        copied = self.folder / 'copied'
        self.run_in('cp', '-rL', PACKAGE, copied)
        for library in (copied / 'tapedeck').glob('_C.*.so'):
            library.unlink()
        for version, python in torches.installed().items():
            self.start(python, TRAIN + """
import tapedeck
tapedeck.mark("nobody records")
with tapedeck.record("a.tape", overwrite=True) as recording:
    train(2)
    tapedeck.mark("here")
    tapedeck.step()
assert [event["text"] for event in recording.tape.events(kind="mark")] == ["here"]
try:
    tapedeck.ones(1)
except AttributeError as problem:
    assert "not built for this Python" in str(problem), problem
""", env={**self.environment, 'PYTHONPATH': str(copied)})

    def test_program_killed(self):
        """What SIGKILL leaves is a tape without its last moments."""
        python = next(iter(torches.installed().values()))
        text = TRAIN + 'import os, signal, tapedeck, time\ntapedeck.start("a.tape")\ntrain(3)\ntime.sleep(.5)\n' \
                       'os.kill(os.getpid(), signal.SIGKILL)\n'
        self.start(python, text, status=-signal.SIGKILL)
        self.wait_for('a.tape')
        self.assertEqual(len(self.info('a.tape')['graph_tasks']), 3)


if __name__ == '__main__':
    unittest.main()

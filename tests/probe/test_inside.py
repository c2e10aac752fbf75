#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
# A program that asks to be recorded while it runs: the same tape as under `tapedeck record`, the same results, and clear
# errors.
import os
import pathlib
import signal
import sys

import skipping
import together
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

# The recorder writes behind the program. Until the end, the name of the tape has the number of the process.
WAIT_FOR_PASSES = """
import glob, json, os, subprocess, time
def wait_for_passes(folder, n):
    while True:
        tapes = glob.glob(f"{folder}/*.{os.getpid()}.tape")
        told = tapes and subprocess.run([os.environ["TAPEDECK"], "info", *tapes, "--json"], capture_output=True, text=True).stdout
        if told and len(json.loads(told)["graph_tasks"]) >= n:
            return
        time.sleep(.02)
"""

# Whatever the moment and the process, not the program, decides.
ELSEWHERE = ('seq', 't', 'thread', 'pid', 'tid', 'name', 'program', 'address', 'expected', 'holder')
ABOUT_THE_TAPE = ('setting', 'known', 'thread_new', 'thread_name', 'thread_state', 'process_new', 'string', 'probe_level', 'lock_wait',
                  'lock_acquired', 'lock_released', 'lock_held', 'left_out', 'recorder_took', 'core_wait', 'source_line')


class Inside(RecordCase):
    def setUp(self):
        super().setUp()
        self.environment |= {'PYTHONPATH': PACKAGE, 'TAPEDECK': TAPEDECK}

    def start(self, python, text, *arguments, status=0, alone=False, **more):
        """One process imports PyTorch for all that begin with TRAIN, but for those that must be started by themselves."""
        words = [self.script(text), *arguments]
        if text.startswith(TRAIN) and not alone and not more:
            done = together.run_one(python, words, self.folder, self.environment)
        else:
            done = self.run_in(python, *words, **more)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def order(self, tape):
        return [(event['event'], *((key, value) for key, value in event.items() if key not in ELSEWHERE and key != 'event'))
                for event in self.events(tape) if event['event'] not in ABOUT_THE_TAPE]

    def for_each(self, *levels):
        for version, python, level in torches.crossed(self, levels):
            with self.subTest(version=version, level=level):
                if level == 1:
                    torches.need_compiler()
                for old in self.folder.glob('*.tape'):
                    old.unlink()
                yield python, level

    def test_same_tape(self):
        """What the engine did stands on both tapes, in the same order, with the same names."""
        for python, level in self.for_each(1, 2):
            self.start(python, TRAIN + f'import tapedeck\nwith tapedeck.record("inside.tape", level={level}):\n    train(2)\n', alone=True)
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
for i in range(25):
    with tapedeck.record("a.tape", level={level}, overwrite=True) as recording:
        train(3)
    assert i % 5 or len(recording.tape.passes) >= 3
done = True
for thread in threads: thread.join()
""")

    def test_children_that_live_on(self):
        """A child of a fork has its parent's pipes, and may live long: nobody waits for it."""
        for python, sleeper in torches.in_turns([
                'child = os.fork() or (train(1), live_on(), os._exit(0))',
                'sleeper = multiprocessing.get_context("fork").Process(target=live_on, daemon=True)\n'
                'sleeper.start(); child = sleeper.pid']):
            self.start(python, TRAIN + f"""
import multiprocessing, os, tapedeck, time
reader, writer = os.pipe()
def live_on():
    os.write(writer, b".")
    time.sleep(100)
tapedeck.start("a.tape", overwrite=True)
train(2)
{sleeper}
os.read(reader, 1)
recorded = tapedeck.stop()
lives = os.waitpid(child, os.WNOHANG) == (0, 0)
os.kill(child, 9)
assert lives and len(recorded.passes) >= 2
os._exit(0)
""")

    def test_child_of_a_fork(self):
        """It may leave the block, or record itself once it has trained for its parent's tape."""
        for python, level in self.for_each(1, 2):
            self.start(python, TRAIN + f"""
import os, tapedeck
def leave():
    with tapedeck.record("a.tape", level={level}) as recording:
        train(1)
        child = os.fork()
        if child == 0:
            train(1)
            return 7
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    assert len(recording.tape.passes) == 2
    return 0
def record_in_child():
    with tapedeck.record("b.tape", level={level}) as recording:
        train(1)
        if os.fork() == 0:
            train(1)
            with tapedeck.record("child.tape", level={level}) as own:
                train(3)
            assert len(own.tape.passes) == 3, own.tape
            os._exit(0)
        assert os.wait()[1] == 0
    assert len(recording.tape.passes) == 2, recording.tape.passes
    return 0
status = leave()
if status: os._exit(status)
record_in_child()
""")

    def test_recorder_gone(self):
        """Somebody kills the recorder, or takes the folder away: that is said, and the program goes on."""
        for python, (harm, words) in torches.in_turns([
                ('os.kill(tapedeck.inside.session.child.pid, signal.SIGKILL)', 'was ended from outside'),
                ('os.rename("folder", "moved")', None)]):
            (self.folder / 'folder').mkdir()
            done = self.start(python, TRAIN + WAIT_FOR_PASSES + f"""
import os, signal, tapedeck
tapedeck.start("folder/a.tape")
train(2)
wait_for_passes("folder", 2)
{harm}
train(1)
try:
    assert tapedeck.stop() is None
except tapedeck.RecordError as problem:
    print(problem)
train(1)
""")
            self.assertIn(words or 'it was moved or removed', done.stdout + done.stderr)
            self.run_in('rm', '-rf', 'folder', 'moved')
            for left in self.folder.glob('tapedeck-*'):
                self.run_in('rm', '-r', left)  # of the recorder that was killed

    def test_names(self):
        """Any name that a file can have; the others are refused at once, and so is what is no file."""
        os.mkfifo(self.folder / 'fifo')
        python = torches.pythons()[0]
        self.start(python, TRAIN + r"""
import tapedeck
for name in (b"by\xff.tape", "line\nbreak.tape", "a b%20.tape", "\u2028\u00e9.tape", "-o", "x" * 230 + ".tape"):
    with tapedeck.record(name) as recording: train(1)
    assert len(recording.tape.passes) == 1, name
for name, words in (("x" * 250, "File name too long"), ("fifo", "no regular file"), ("/dev/null", "no regular file")):
    try:
        tapedeck.start(name, overwrite=True)
    except tapedeck.RecordError as problem:
        assert words in str(problem), problem
    else:
        raise AssertionError(name)
""")

    def test_interrupt(self):
        """Ctrl+C while the recorder is slow: start() ends, and nothing is recorded. The next one works."""
        for python, _ in torches.in_turns([1, 2]):
            self.start(python, TRAIN + """
import os, signal, tapedeck, time
made = tapedeck.inside.Session.__init__
def slow(self, *arguments):
    made(self, *arguments)
    os.kill(self.child.pid, signal.SIGSTOP)
tapedeck.inside.Session.__init__ = slow
threading.Timer(1, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
begin = time.monotonic()
try:
    tapedeck.start("a.tape")
except KeyboardInterrupt:
    pass
else:
    raise AssertionError("no KeyboardInterrupt")
assert time.monotonic() - begin < 15 and not tapedeck.inside.session and "TAPEDECK_SESSION" not in os.environ
tapedeck.inside.Session.__init__ = made
with tapedeck.record("a.tape") as recording: train(2)
assert len(recording.tape.passes) == 2
assert len(list(recording.tape.events(kind="step"))) == 2
""")
            (self.folder / 'a.tape').unlink()
            for left in self.folder.glob('tapedeck-*'):
                self.run_in('rm', '-r', left)

    def test_exec(self):
        """A program that becomes another leaves a whole tape."""
        python = torches.pythons()[0]
        for call in ('os.execv("/bin/true", ["true"])', 'os.execvpe("true", ["true"], dict(os.environ))'):
            self.start(python, TRAIN + f'import os, tapedeck\ntapedeck.start("a.tape")\ntrain(3)\n{call}\n')
            self.wait_for('a.tape')
            self.assertEqual((len(self.info('a.tape')['graph_tasks']), self.info('a.tape')['complete']), (3, True))
            (self.folder / 'a.tape').unlink()

    def test_flight_recorder(self):
        """keep and dump, and `tapedeck dump` from outside."""
        for python, level in self.for_each(1, 2):
            self.start(python, TRAIN + f"""
import os, subprocess, tapedeck, time
def wait_for(name):
    end = time.monotonic() + 30
    while not os.path.exists(name):
        assert time.monotonic() < end, name
        time.sleep(.02)
with tapedeck.record("a.tape", level={level}, keep="3steps") as recording:
    train(9)
    tapedeck.dump()
    wait_for("a.program.tape")
    said = subprocess.run([{TAPEDECK!r}, "dump", str(os.getpid())], capture_output=True, text=True)
    assert said.stdout == os.path.abspath("a.asked.tape") + "\\n", said
    train(9)
assert 0 < len(recording.tape.passes) < 9, recording.tape.passes
""")

    def test_keep_from_inside(self):
        """A limit is for one recording, and no recording is changed by what is no limit."""
        for python, level in self.for_each(1, 2):
            done = self.start(python, TRAIN + f"""
import tapedeck
def record(keep, error=None):
    with tapedeck.record("a.tape", level={level}, overwrite=True) as recording:
        train(9)
        try:
            keep and tapedeck.keep(keep)
        except Exception as problem:
            assert type(problem) is error, problem
        else:
            assert not error, keep
        train(9)
    return len(recording.tape.passes)
assert record("junk", ValueError) == record(5, TypeError) == record("3steps\\0", ValueError) == 18
assert record("3steps") < 9
assert record(None) == 18
""")
            self.assertEqual([line for line in done.stderr.splitlines() if 'junk' in line],
                             ["tapedeck: keep 'junk': must be a number and KB, MB, GB, steps, s, min or h"])

    def test_decorator(self):
        python = torches.pythons()[0]
        self.start(python, TRAIN + """
import tapedeck
@tapedeck.record("a.tape", overwrite=True)
def twice(n):
    train(n)
    return n
assert twice(1) == 1 and twice(2) == 2
assert len(tapedeck.Tape("a.tape").passes) == 2
try:
    @tapedeck.record("b.tape")
    async def later(): pass
except TypeError as problem:
    assert "plain functions" in str(problem)
else:
    raise AssertionError
try:
    tapedeck.record("b.tape", stack=True)
except TypeError as problem:
    assert "stack" in str(problem)
else:
    raise AssertionError
""")

    def test_refusals(self):
        """Each is one line that says what is wrong; the program goes on."""
        (self.folder / 'there.tape').write_text('mine')
        python = torches.pythons()[0]
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
        python = torches.pythons()[0]
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
                                            'problem:\n    print(problem)\nimport torch\ntorch.ones(1, requires_grad=True).exp().backward()\n')
        done = self.ask('run', 'own.py')
        self.assertEqual((done.returncode, self.tapes()), (0, ['a.tape', 'own.tape']), done.stderr)
        self.assertTrue(done.stdout.strip(), 'start() raised nothing')

    def test_no_torch(self):
        """A Python without PyTorch."""
        done = self.start(sys.executable, 'import sys\nsys.modules["torch"] = None\nimport tapedeck\ntapedeck.start()\n', status=1)
        self.assertIn('RecordError: there is no PyTorch to record', done.stderr.splitlines()[-1])

    def test_without_engine(self):
        """The package does without Tapedeck's own engine, which is for one version of Python."""
        copied = self.folder / 'copied'
        self.run_in('cp', '-rL', PACKAGE, copied)
        for version, python in torches.each():
            self.start(python, TRAIN + """
import tapedeck
tapedeck.mark("nobody records")
with tapedeck.record("a.tape", overwrite=True) as recording:
    train(2)
    tapedeck.mark("here")
    tapedeck.step()
assert [event["text"] for event in recording.tape.events(kind="mark")] == ["here"]
""", env={**self.environment, 'PYTHONPATH': str(copied)})

    def test_program_killed(self):
        """What SIGKILL leaves is a tape without its last moments."""
        python = torches.pythons()[0]
        self.start(python, TRAIN + WAIT_FOR_PASSES + """
import os, signal, tapedeck
tapedeck.start("a.tape")
train(3)
wait_for_passes(".", 3)
os.kill(os.getpid(), signal.SIGKILL)
""", status=-signal.SIGKILL)
        self.wait_for('a.tape')
        self.assertEqual(len(self.info('a.tape')['graph_tasks']), 3)


if __name__ == '__main__':
    skipping.main()

#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
# `tapedeck attach` on programs that hang: in a node, in a backward pass inside another one, with the GIL, and at a late rank.
# It names the thread, its line, the missing gradient and from whom; and the program goes on.
import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import threading
import time

import reentrant
import skipping
import torches
from record_case import TAPEDECK, RecordCase

PACKAGE = str(pathlib.Path(os.environ['BUILD_ROOT']) / 'engine' / 'python')

BEGIN = """
import os, sys, threading, time, torch
def wait_for_file(name):
    while not os.path.exists(name):
        time.sleep(.05)
class Wait(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()
    @staticmethod
    def backward(ctx, gradient):
        hangs()
        hang()
        return gradient
def hangs():
    open('hangs', 'w').close()
x = torch.ones(3, requires_grad=True)
"""

IN_A_NODE = BEGIN + """
def hang():
    wait_for_file('go')
a = x.exp()
b = Wait.apply(a)
def train():
    (a * b + b.sin()).sum().backward()
threading.Thread(target=train, name='trainer').start()
"""

# Two threads, each with a pass inside a pass, wait for each other's lock.
REENTRANT_DEADLOCK = BEGIN + """
PATIENCE = 60
""" + reentrant.NESTED + """
wait_for_file('go')
os._exit(0)
"""

# ctypes.PyDLL keeps the GIL.
WITH_THE_GIL = BEGIN + """
import ctypes
def hang():
    while not os.path.exists('go'):
        ctypes.PyDLL(None).sleep(8)
x = x.exp()
Wait.apply(x).sum().backward()
"""

RANKS = BEGIN + """
import torch.distributed as dist
rank = int(os.environ['RANK'])
os.environ.update(MASTER_ADDR='127.0.0.1', WORLD_SIZE='2')
dist.init_process_group('gloo', rank=rank, world_size=2, init_method=f'file://{os.getcwd()}/meeting')
net = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(3, 3))
def hang():
    wait_for_file('go')
def late(x):
    return Wait.apply(x) if rank else x
late(net(torch.ones(2, 3))).sum().backward()
"""

# Nobody but the program itself knows the ranks.
SPAWN = """
import os, sys, torch
import torch.distributed as dist, torch.multiprocessing
def train(rank):
    dist.init_process_group('gloo', rank=rank, world_size=2, init_method=f'file://{os.getcwd()}/meeting')
    net = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(3, 3))
    for step in range(3):
        if rank and step == 2:
            open('hangs', 'w').close()
            while not os.path.exists('go'):
                pass
        net(torch.ones(2, 3)).sum().backward()
if __name__ == '__main__':
    torch.multiprocessing.spawn(train, nprocs=2)
"""

# Rank 1 makes one pass, or two. Then it waits before the next, or ends. In the second forward pass all ranks meet.
BETWEEN_PASSES = RANKS[:RANKS.index('def hang()')] + """
for step in range(3):
    if rank and step == int(sys.argv[1]):
        open('hangs', 'w').close()
        if sys.argv[2:]: os._exit(3)
        wait_for_file('go')
    try:
        net(torch.ones(2, 3)).sum().backward()
    except RuntimeError:  # gloo hears that the other rank has gone
        wait_for_file('go')
        os._exit(0)
"""

LAUNCH = """
import os, subprocess, sys
children = [subprocess.Popen([sys.executable, 'rank.py', *sys.argv[1:]], env={**os.environ, 'RANK': str(rank)}) for rank in range(2)]
sys.exit(max(child.wait() for child in children))
"""


class Attach(RecordCase):
    def begin(self, python, text, name='hang.py'):
        self.script(text, name)
        for old in ('hangs', 'go', 'meeting'):
            (self.folder / old).unlink(missing_ok=True)
        self.addCleanup((self.folder / 'go').touch)
        child = subprocess.Popen([TAPEDECK, 'record', '-o', 'a.tape', '--force', '--', python, name], cwd=self.folder, env=self.environment,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.addCleanup(child.kill)
        self.wait(lambda: (self.folder / 'hangs').exists() or child.poll() is not None)
        return child

    def wait(self, condition, seconds=120):
        end = time.monotonic() + seconds
        while not condition():
            self.assertLess(time.monotonic(), end, 'waited in vain')
            time.sleep(.05)

    def attach(self, pid, *patterns):
        """What `attach` says once the recorder has brought to the file what the patterns want."""
        said = []

        def has_all():
            done = self.ask('attach', pid)
            self.assertEqual((done.returncode, done.stderr), (0, ''), done.stdout)
            said.append(done.stdout)
            return all(re.search(pattern, done.stdout) for pattern in patterns)
        try:
            self.wait(has_all, 20)
        except AssertionError as problem:
            raise AssertionError(f'{problem}: {patterns} in {said[-1:]}') from None
        return said[-1]

    def end(self, child, status=0):
        (self.folder / 'go').touch()
        _, said = child.communicate(timeout=120)
        self.assertEqual(child.returncode, status, said)

    def lines_of(self, text, thread):
        """What a thread does in Python."""
        after = re.split(f'\n  {thread}(?:: .*)?\n', text)[1]
        return re.match(r'(    .*\n)+', after)[0]

    def test_in_a_node(self):
        for python, _ in torches.in_turns([1, 2]):
            child = self.begin(python, IN_A_NODE)
            said = self.attach(child.pid, 'ExpBackward0 #\\d+ still waits for 1 of 2 gradients, from WaitBackward #\\d+ [(]running[)]',
                               'trainer: processing WaitBackward')
            self.assertRegex(self.lines_of(said, 'trainer'), 'hang.py:\\d+ wait_for_file\n.*hang.py:\\d+ hang\n')
            self.assertIn('hang.py', self.ask('attach').stdout)
            self.attach(child.pid, 'Process \\d+: .*\nTrainer processes WaitBackward #\\d+, at hang.py:\\d+[.] No event has come for \\d')
            pid = int(re.match('Process (\\d+):', said)[1])
            os.kill(pid, signal.SIGSTOP)
            self.attach(pid, f'unknown: it is stopped, as by Ctrl[+]Z: `kill -CONT {pid}` lets it run on')
            os.kill(pid, signal.SIGCONT)
            self.end(child)
            self.assertEqual(len(self.info('a.tape')['graph_tasks']), 1)

    def test_reentrant_deadlock(self):
        for python, _ in torches.in_turns([1, 2]):
            child = self.begin(python, REENTRANT_DEADLOCK)
            said = self.attach(child.pid, *[f'trainer {i}: processing InnerBackward' for i in range(2)])
            for i in range(2):
                self.assertRegex(self.lines_of(said, f'trainer {i}'), 'hang.py:\\d+ backward\n')
            self.assertEqual(len(re.findall(r'running, depth 1', said)), 2, said)
            self.attach(child.pid, '2 threads have done nothing for .*, each in a backward pass inside another one: '
                                   'trainer [01] at hang.py:\\d+, trainer [01] at hang.py:\\d+[.] If each has what another wants, '
                                   'this is a deadlock[.]')
            self.end(child)

    def test_gil(self):
        """The thread that has the GIL answers nobody; its lines are told all the same."""
        for python in torches.of_test(self):
            child = self.begin(python, WITH_THE_GIL)
            self.attach(child.pid, 'One of its threads holds the GIL', 'hang.py:\\d+ hang\n')
            self.end(child)

    def test_late_rank(self):
        python = torches.pythons()[-1]
        self.script(RANKS, 'rank.py')
        child = self.begin(python, LAUNCH, 'launch.py')
        listed = self.ask('attach').stdout
        pids = [line.split()[0] for line in listed.splitlines() if 'rank.py' in line]
        self.assertEqual(len(pids), 2, listed)
        both = self.attach(child.pid, 'processing WaitBackward')  # of `record`, which started who started them
        said = both.split('Process ')[1:]
        self.assertEqual(sorted(text.split(':')[0] for text in said), sorted(pids), both)
        late = [text for text in said if 'processing WaitBackward' in text]
        sentence = self.attach(child.pid, '^Rank 1 is late: ').splitlines()[0]
        self.assertRegex(sentence, '^Rank 1 is late: it is in its 1st pass, and processes WaitBackward #\\d+[.] It is at rank.py:\\d+[.] '
                                   'Rank 0 is in its 1st pass, and waits for other ranks[.] Its last event came .* ago[.] The tapes and threads of the ranks show this[.]')
        document = json.loads(self.ask('attach', child.pid, '--json').stdout)
        self.assertEqual([(rank['rank'], rank['late'], rank['ended']) for rank in document['ranks']], [(0, False, False), (1, True, False)])
        self.assertEqual(sorted(str(process['pid']) for process in document['processes']), sorted(pids))
        self.assertEqual(len(late), 1, both)
        self.assertRegex(late[0], 'rank.py:\\d+ hang')
        self.end(child)

    def test_own_engine(self):
        """A program under `tapedeck run`, with a gate and without one."""
        self.script("""
import os, threading, time, torch
def hang(gradient):
    open('hangs', 'w').close()
    while not os.path.exists('go'):
        time.sleep(.05)
x = torch.ones(3, requires_grad=True)
y = x.exp()
y.register_hook(hang)
trainer = threading.Thread(target=lambda: (y * 2).sum().backward(), name='trainer')
trainer.start()
trainer.join()
""")
        for options, words in ((['--keep', '50steps'], 'has no gate: nothing holds it.'),
                               (['--live'], 'did not stand still. It runs on, and nothing stops it now.')):
            for old in ('hangs', 'go'):
                (self.folder / old).unlink(missing_ok=True)
            plain = {name: value for name, value in self.environment.items() if name not in ('DISPLAY', 'WAYLAND_DISPLAY')}
            child = subprocess.Popen([TAPEDECK, 'run', *options, '--force', '-o', 'a.tape', 'script.py'], cwd=self.folder, env=plain,
                                     stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            self.addCleanup(child.kill)
            self.wait(lambda: (self.folder / 'hangs').exists() or child.poll() is not None)
            said = self.attach(child.pid, 'trainer: processes ExpBackward0')
            self.assertRegex(self.lines_of(said, 'trainer'), 'script.py:\\d+ hang\n')
            self.assertRegex(self.lines_of(said, 'main'), 'script.py:\\d+ <module>\n')
            self.assertIn(words, self.ask('attach', child.pid, '--let-go').stdout)
            self.end(child)

    def test_many_threads(self):
        """Names that lie, and more threads than fit: those that matter are there."""
        python = torches.pythons()[0]
        child = self.begin(python, IN_A_NODE.replace("name='trainer').start()", "name='a\\nthread main\\n  evil:1 f\\udcff\\x1b').start()") + """
for i in range(400):
    threading.Thread(target=wait_for_file, args=['go']).start()
""")
        said = self.attach(child.pid, ' and 39\\d more at the same line')
        self.assertIn('  a?thread main?  evil:1 f??', said)
        self.assertNotIn('    evil:1', said)
        self.end(child)

    def test_strange_hubs(self):
        """Hubs that say nothing, nonsense or too much, and a tape that is gone."""
        place = self.folder / 'tapedeck-AAAAAA'
        place.mkdir(mode=0o700)
        hub = socket.socket(socket.AF_UNIX)
        self.addCleanup(hub.close)
        hub.bind(str(place / 'session'))
        hub.listen()
        target = f'target pid={os.getpid()} path={self.folder}/gone.tape live=1 stopped=1\nlisted\n'.encode()
        answers = []

        def serve():
            while True:
                try:
                    peer, _ = hub.accept()
                except OSError:
                    return
                answer = target if peer.recv(4096).startswith(b'list') else answers[0]
                if answer is None:
                    kept.append(peer)
                    continue
                with contextlib.suppress(OSError):  # it may have hung up
                    peer.sendall(answer)
                peer.close()
        kept = []
        threading.Thread(target=serve, daemon=True).start()
        for answer, words in ((None, 'unknown: the program does not answer'), (b'', 'unknown: the program does not answer'),
                              (b'what=\n', 'unknown: the program does not answer'), (b'where problem=a%FFb\n', 'unknown: a\ufffdb'),
                              (b'where text=%FF%0A\n', 'the innermost line first\n'), (b'x' * 100000, 'unknown: the program does not answer'),
                              (b'where text=thread%20a%0A%20%20no%20line\n', '  a\n    no line\n')):
            answers[:] = [answer]
            done = self.ask('attach', os.getpid())
            self.assertEqual((done.returncode, done.stderr), (2, f'tapedeck: {self.folder}/gone.tape: No such file or directory\n'))
            self.assertIn(words, done.stdout)
            document = json.loads(self.ask('attach', os.getpid(), '--json').stdout)
            self.assertEqual((document['processes'][0]['event'], document['processes'][0]['rank']), (None, None))
        done = self.ask('attach', os.getpid(), '--let-go')
        self.assertEqual((done.returncode, done.stdout), (1, f'Process {os.getpid()} does not answer.\n'))
        for peer in kept:
            peer.close()
        shutil.rmtree(place)

    def test_rank_between_passes(self):
        """A rank that waits before its backward pass."""
        waits = ('^Rank 1 is late: it has ended 1 pass and begun no other[.] It is at rank.py:\\d+[.] '
                 'Rank 0 has ended 1 pass and begun no other, and waits in PyTorch\'s distributed.py:\\d+[.]',
                 '^Rank 1 is late: it has ended 2 passes and begun no other[.] It is at rank.py:\\d+[.] '
                 'Rank 0 is in its 3rd pass, and waits for other ranks[.]')
        for python, (step, pattern) in torches.in_turns(enumerate(waits, 1)):
            self.script(BETWEEN_PASSES, 'rank.py')
            child = self.begin(python, LAUNCH.replace('*sys.argv[1:]', f"'{step}'"), 'launch.py')
            self.attach(child.pid, pattern)
            self.end(child)

    def test_spawned_ranks(self):
        for python in torches.of_test(self):
            child = self.begin(python, SPAWN)
            self.attach(child.pid, '^Rank 1 is late: it has ended 2 passes and begun no other[.] It is at hang.py:\\d+[.] '
                                   'Rank 0 is in its 3rd pass, and waits for other ranks[.]')
            self.end(child)

    def test_rank_that_died(self):
        python = torches.pythons()[-1]
        self.script(BETWEEN_PASSES, 'rank.py')
        child = self.begin(python, LAUNCH.replace('*sys.argv[1:]', "'2', 'dies'"), 'launch.py')
        self.attach(child.pid, '^Rank 1 has ended, process \\d+[.] Its tape stops after 2 passes[.] Rank 0 ')
        document = json.loads(self.ask('attach', child.pid, '--json').stdout)
        self.assertEqual([(rank['rank'], rank['ended']) for rank in document['ranks']], [(0, False), (1, True)])
        self.end(child, 3)

    def test_refusals(self):
        done = self.ask('attach')
        self.assertEqual((done.returncode, done.stdout), (0, 'no program of yours is being recorded\n'))
        for words, *arguments in (('has not loaded PyTorch', os.getpid()), ('no such process', 99999999), ("'x' is not the number", 'x'),
                                  ('is not the number', '0'), ('is not the number', '9' * 30), ('is not the number', ''),
                                  ('Unknown option -1', '-1'), ('one argument too many', '1', '2'), ('give the number of a process', '--json'),
                                  ('give the number of a process', '--let-go'), ('do not go together', '--json', '--let-go', '1')):
            done = self.ask('attach', *arguments)
            self.assertEqual((done.returncode, done.stdout, len(done.stderr.splitlines())), (2, '', 1), done.stderr)
            self.assertIn(words, done.stderr)

    def test_from_inside(self):
        """A program that records itself, and one that stands at its gate."""
        python = torches.pythons()[0]
        self.environment |= {'PYTHONPATH': PACKAGE, 'TAPEDECK': TAPEDECK}
        self.script(IN_A_NODE.replace('x = torch', 'import tapedeck\ntapedeck.start("a.tape")\nx = torch', 1))
        child = subprocess.Popen([python, 'script.py'], cwd=self.folder, env=self.environment)
        self.addCleanup(child.kill)
        self.wait((self.folder / 'hangs').exists)
        self.assertRegex(self.lines_of(self.attach(child.pid, 'processing WaitBackward'), 'trainer'), 'script.py:\\d+ hang\n')
        (self.folder / 'go').touch()
        child.wait(timeout=60)
        self.wait(lambda: not list(self.folder.glob('tapedeck-*')))
        self.assertEqual(child.returncode, 0)


if __name__ == '__main__':
    torches.need_compiler()
    skipping.main()

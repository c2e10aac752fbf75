#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
# `tapedeck attach` on programs that nobody records: gdb looks into them. It says what each thread waits for and at which line of
# Python, it names a deadlock, and the program goes on, whatever happens to gdb.
import ctypes
import json
import os
import re
import shutil
import signal
import subprocess
import time
import unittest

import reentrant
import skipping
import torches
from record_case import TAPEDECK, RecordCase

BEGIN = """
import ctypes, os, threading, time, torch
def wait():
    while not os.path.exists('go'):
        time.sleep(.05)
class Wait(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()
    @staticmethod
    def backward(ctx, gradient):
        hang()
        return gradient
def hangs():
    open('hangs', 'w').close()
keeps_gil, gives_gil = ctypes.PyDLL(None), ctypes.CDLL(None)
x = torch.ones(3, requires_grad=True)
"""

SLEEP = BEGIN + """
lock = threading.Lock()
lock.acquire()
other = threading.Thread(target=lock.acquire, name='other', daemon=True)
other.start()
def Füße_等():
    hangs()
    wait()
hang = Füße_等
Wait.apply(x.exp()).sum().backward()
lock.release()
other.join()
assert x.grad.tolist() == x.exp().tolist(), x.grad
print('went on')
"""

GIL = BEGIN + """
def hang():
    hangs()
    while not os.path.exists('go'):
        keeps_gil.sleep(4)
def other():
    while not os.path.exists('go'):
        time.sleep(.001)
threading.Thread(target=other, daemon=True).start()
Wait.apply(x.exp()).sum().backward()
print('went on')
"""

# One thread has a mutex and wants the GIL, the other has the GIL and wants the mutex. The first one comes back from C when a
# byte comes. The other one sends it, and does not give the GIL away between that and its wait for the mutex.
DEADLOCK = BEGIN + """
import sys
mutex, byte = ctypes.create_string_buffer(64), ctypes.create_string_buffer(1)
has_it, ends = threading.Event(), os.pipe()
def has_mutex():
    gives_gil.pthread_mutex_lock(mutex)
    has_it.set()
    gives_gil.read(ends[0], byte, 1)
threading.Thread(target=has_mutex, daemon=True).start()
has_it.wait()
hangs()
sys.setswitchinterval(1000)
keeps_gil.write(ends[1], byte, 1)
keeps_gil.pthread_mutex_lock(mutex)
"""

NESTED = BEGIN + """
PATIENCE = -1
""" + reentrant.NESTED + """
wait()
print('went on', flush=True)
os._exit(0)
"""

# Each thread is in a function that the table of waits does not have: one sleeps, one computes.
UNKNOWN = BEGIN + """
def compute():
    while True:
        sum(range(100000))
threading.Thread(target=compute, daemon=True).start()
PAUSE = 34 if os.uname().machine == 'x86_64' else None
def hang():
    hangs()
    gives_gil.syscall(PAUSE)
Wait.apply(x.exp()).sum().backward()
"""

FORK = BEGIN + """
torch.set_num_threads(4)
def compute():
    torch.ones(1000000, requires_grad=True).exp().sum().backward()
compute()
child = os.fork()
if child == 0:
    hangs()
    compute()
print(child, flush=True)
os.waitpid(child, 0)
"""

MANY = BEGIN + """
for i in range(300):
    threading.Thread(target=wait, daemon=True).start()
hangs()
wait()
print('went on', flush=True)
os._exit(0)
"""

# A function of this library is on the stack.
CALLS_BACK = BEGIN + """
expat = ctypes.CDLL(LIBRARY)
expat.XML_ParserCreate.restype = ctypes.c_void_p
parser = ctypes.c_void_p(expat.XML_ParserCreate(None))
begins = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)(lambda *_: (hangs(), wait()))
expat.XML_SetStartElementHandler(parser, begins)
expat.XML_Parse(parser, b'<a/>', 4, 1)
print('went on')
"""

PTRACE_SEIZE, PTRACE_DETACH = 0x4206, 17


# Rank 0 waits in the final callback of its third pass: before, rank 1 has rebuilt its buckets with it.
RANKS = """
import os, subprocess, sys, time, torch
import torch.distributed as dist
other = None if sys.argv[1:] else subprocess.Popen([sys.executable, 'script.py', '1'])
dist.init_process_group('gloo', rank=0 if other else 1, world_size=2, init_method=f'file://{os.getcwd()}/meeting')
net = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(3, 3))
for step in range(3):
    if step == 2 and other:
        open('hangs', 'w').close()
    while step == 2 and not other and not os.path.exists('go'):
        time.sleep(.05)
    net(torch.ones(2, 3)).sum().backward()
if other:
    other.wait()
    print('went on')
"""


class Look(RecordCase):
    def begin(self, text, python=None):
        self.script(text)
        for old in ('hangs', 'go'):
            (self.folder / old).unlink(missing_ok=True)
        python = python or torches.pythons()[0]
        child = subprocess.Popen([python, 'script.py'], cwd=self.folder, env=self.environment, stdout=subprocess.PIPE, text=True)
        self.addCleanup(child.communicate)
        self.addCleanup(child.kill)
        self.addCleanup((self.folder / 'go').touch)  # what it started has its output, and must end too
        self.wait(lambda: (self.folder / 'hangs').exists() or child.poll() is not None)
        return child

    def wait(self, condition, seconds=120):
        end = time.monotonic() + seconds
        while not condition():
            self.assertLess(time.monotonic(), end, 'waited in vain')
            time.sleep(.05)

    def look(self, pid, *options):
        done = self.ask('attach', pid, *options)
        self.assertEqual((done.returncode, done.stderr), (0, ''), done.stdout)
        return done.stdout

    def look_until(self, pid, pattern):
        """A thread that is about to wait may be seen just before."""
        said = self.look(pid)
        end = time.monotonic() + 60
        while not re.search(pattern, said) and time.monotonic() < end:
            said = self.look(pid)
        self.assertRegex(said, pattern)
        return said

    def goes_on(self, child):
        self.assertEqual(self.tracer(child.pid), 0)
        (self.folder / 'go').touch()
        said, _ = child.communicate(timeout=120)
        self.assertEqual((child.returncode, said), (0, 'went on\n'))

    def status(self, pid, name):
        with open(f'/proc/{pid}/status', encoding='utf-8') as status:
            return re.search(name + r':\s*(\w+)', status.read())[1]

    def tracer(self, pid):
        return int(self.status(pid, 'TracerPid'))

    def stand_in(self, text):
        """A gdb that does something else."""
        folder = self.folder / 'bin'
        folder.mkdir(exist_ok=True)
        (folder / 'gdb').write_text('#!/bin/sh\n' + text)
        (folder / 'gdb').chmod(0o755)
        self.environment['PATH'] = f'{folder}:{os.environ["PATH"]}'

    def refused(self, pid, words):
        done = self.ask('attach', pid)
        self.assertEqual((done.returncode, done.stdout, len(done.stderr.splitlines())), (2, '', 1), done.stderr)
        self.assertIn(words, done.stderr)

    def test_waits(self):
        for python in torches.of_test(self):
            child = self.begin(SLEEP, python)
            said = self.look_until(child.pid, 'Main waits for the end of a sleep at script.py:\\d+\\.')
            self.assertRegex(said, '  main: waits for the end of a sleep\n    .*script.py:\\d+ wait\n    .*script.py:\\d+ Füße_等\n')
            self.assertRegex(said, '  thread \\d+: waits for a lock\n    .*threading.py:\\d+ run\n')
            document = json.loads(self.look(child.pid, '--json'))
            process, = document['processes']
            self.assertEqual((process['pid'], process['recorded'], process['tape']), (child.pid, False, None))
            waits = {thread['tid']: thread['waits_for'] for thread in process['threads']}
            self.assertIn(waits[child.pid], ('sleep', None))
            self.assertIn('lock', waits.values())
            self.assertEqual({thread['passes'] for thread in process['threads'] if thread['tid'] == child.pid}, {1})
            self.goes_on(child)

    def path_of(self, library):
        """Of one that this process has."""
        ctypes.CDLL(library)
        with open('/proc/self/maps', encoding='utf-8') as maps:
            return next(line.split(maxsplit=5)[5].strip() for line in maps if f'/{library}' in line)

    def test_a_library_with_letters_in_its_path(self):
        """As in the folder of a person whose name is not of ASCII alone."""
        library = self.folder / 'für alle' / 'libexpat.so.1'
        library.parent.mkdir()
        shutil.copy(self.path_of('libexpat.so.1'), library)
        child = self.begin(CALLS_BACK.replace('LIBRARY', repr(str(library))))
        self.look_until(child.pid, 'Main waits for the end of a sleep at script.py:\\d+\\.')
        self.goes_on(child)

    def test_gil(self):
        for python in torches.of_test(self):
            child = self.begin(GIL, python)
            said = self.look_until(child.pid, 'Main keeps the GIL at script.py:\\d+ while it waits for the end of a sleep')
            self.assertIn('1 other thread waits for the GIL.', said)
            self.goes_on(child)

    def test_final_callback(self):
        for python in torches.of_test(self):
            (self.folder / 'meeting').unlink(missing_ok=True)
            child = self.begin(RANKS, python)
            self.look_until(child.pid, 'Main waits for other ranks at script.py:\\d+[.]\n')
            self.goes_on(child)

    def test_deadlock(self):
        child = self.begin(DEADLOCK)
        self.look_until(child.pid, 'Deadlock: main at script.py:\\d+ waits for a lock, which thread \\d+ has; '
                                   'thread \\d+ at script.py:\\d+ waits for the GIL, which main has[.]\n')

    def test_nested(self):
        for python in torches.of_test(self):
            child = self.begin(NESTED, python)
            self.look_until(child.pid, '2 threads wait for locks, each in a backward pass inside another one: '
                                       'thread \\d+ at script.py:\\d+, thread \\d+ at script.py:\\d+[.] If each has')
            self.goes_on(child)

    @unittest.skipUnless(os.uname().machine == 'x86_64', 'the number of pause(2) is that of x86_64')
    def test_sleeping_and_computing(self):
        """A thread without time of a processor does not compute, whatever is on its stack."""
        child = self.begin(UNKNOWN)
        said = self.look_until(child.pid, 'Main sleeps at script.py:\\d+; what it waits for is not known[.]\n')
        self.assertRegex(said, '  thread \\d+: (has the GIL, )?(computes|waits for the GIL)\n')
        motions = {thread['tid']: thread['motion'] for thread in json.loads(self.look(child.pid, '--json'))['processes'][0]['threads']}
        self.assertEqual(motions[child.pid], 'sleeps')
        self.assertIn('runs', motions.values())

    def test_openmp_after_fork(self):
        """The child waits for threads that the fork did not copy."""
        parent = self.begin(FORK)
        child = int(parent.stdout.readline())
        self.addCleanup(os.kill, child, signal.SIGKILL)
        self.look_until(child, 'Main at script.py:\\d+ waits for the other threads of its OpenMP team, but the process has no other thread[.]')

    def test_many_threads(self):
        child = self.begin(MANY)
        said = self.look(child.pid)
        self.assertGreater(len(re.findall('^  thread \\d+.*: ', said, re.MULTILINE)), 299)
        self.assertRegex(said, '  main: .*\n    .*script.py:\\d+ wait\n    .*script.py:\\d+ <module>\n')
        self.goes_on(child)

    def test_launcher(self):
        """A process without PyTorch that has started one with it."""
        child = self.begin("""
import subprocess, sys
open('rank.py', 'w').write(%r)
sys.exit(subprocess.call([sys.executable, 'rank.py']))
""" % SLEEP)
        said = self.look_until(child.pid, 'Main waits for the end of a sleep at rank.py:\\d+')
        self.assertNotIn(f'Process {child.pid}:', said)
        self.goes_on(child)

    def test_none_of_several(self):
        child = self.begin("""
import subprocess, sys
open('rank.py', 'w').write(%r)
ranks = [subprocess.Popen([sys.executable, 'rank.py']) for _ in range(2)]
sys.exit(max(rank.wait() for rank in ranks))
""" % SLEEP.replace("print('went on')", ''))
        self.addCleanup((self.folder / 'go').touch)
        self.stand_in('exit 1')
        pattern = '(Process \\d+: .* rank.py\nTapedeck does not record the process, and gdb cannot look into it: gdb gave no reason[.]\n\n?){2}$'
        self.assertRegex(self.look(child.pid), '^' + pattern)

    def test_obstacles(self):
        child = self.begin(SLEEP)
        path = os.environ['PATH']
        self.environment['PATH'] = str(self.folder)
        self.refused(child.pid, 'gdb, which is not installed: install the package gdb')
        for words, text in (('this gdb has no Python in it', 'echo "Python scripting is not supported in this copy of GDB."'),
                            ('gdb says: ptrace: Operation not permitted.', 'echo "ptrace: Operation not permitted."'),
                            ('gdb gave no reason', 'echo "@tapedeck thread lwp=x frame=%"; exit 3'),
                            ('gdb gave no reason', 'head -c 1000000 /dev/urandom')):
            self.stand_in(text)
            self.refused(child.pid, words)
        self.environment['PATH'] = path
        libc = ctypes.CDLL(None, use_errno=True)
        self.assertEqual(libc.ptrace(PTRACE_SEIZE, child.pid, None, None), 0, os.strerror(ctypes.get_errno()))
        self.refused(child.pid, f'process {os.getpid()} traces it already: ')
        os.kill(child.pid, signal.SIGSTOP)
        self.wait(lambda: libc.waitpid(child.pid, None, os.WNOHANG) == child.pid)
        self.assertEqual(libc.ptrace(PTRACE_DETACH, child.pid, None, None), 0)
        os.kill(child.pid, signal.SIGCONT)
        self.goes_on(child)

    def test_stopped(self):
        """By Ctrl+Z, and by a gdb that was interrupted while it attached."""
        child = self.begin(SLEEP)
        os.kill(child.pid, signal.SIGSTOP)
        self.wait(lambda: self.status(child.pid, 'State') == 'T')
        self.refused(child.pid, f'it is stopped, as by Ctrl+Z: `kill -CONT {child.pid}` lets it run on')
        os.kill(child.pid, signal.SIGCONT)
        self.stand_in(f'kill -STOP {child.pid}; exit 1')
        self.refused(child.pid, 'gdb gave no reason')
        self.wait(lambda: self.status(child.pid, 'State') != 'T', 5)
        self.goes_on(child)

    def test_it_ends_meanwhile(self):
        child = self.begin(SLEEP)
        self.stand_in(f'kill -9 {child.pid}; while grep -q python /proc/{child.pid}/cmdline; do sleep .1; done; exit 1')
        self.refused(child.pid, 'the process has ended')

    def test_interrupted(self):
        """Ctrl+C while gdb looks: it lets go."""
        child = self.begin(SLEEP)
        for moment in range(3):
            attach = subprocess.Popen([TAPEDECK, 'attach', str(child.pid)], cwd=self.folder, env=self.environment, stdout=subprocess.PIPE,
                                      stderr=subprocess.PIPE, text=True)
            self.wait(lambda: self.tracer(child.pid) or attach.poll() is not None)
            time.sleep(moment * .7)  # anywhere in its work
            attach.send_signal(signal.SIGINT)
            said, problem = attach.communicate(timeout=60)
            self.assertIn(attach.returncode, (0, 130), said + problem)
            self.assertEqual(self.tracer(child.pid), 0)
            self.wait(lambda: self.status(child.pid, 'State') != 'T', 5)
        self.goes_on(child)

    def test_let_go(self):
        child = self.begin(SLEEP)
        self.assertEqual(self.look(child.pid, '--let-go'), f'Process {child.pid} is not recorded: nothing holds it.\n')
        self.goes_on(child)


if __name__ == '__main__':
    if not shutil.which('gdb'):
        raise skipping.Missing('gdb is not here')
    torches.need_compiler()
    skipping.main()

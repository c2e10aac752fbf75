#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A tape of which every rule holds contradicts itself nowhere, whole and cut into segments: random programs of threads
that share a graph, threads that train one model, passes inside nodes that share leaves, and the shipped examples. So no
window opens such a tape with a banner."""
import json
import os
import shutil
import subprocess
import tempfile
import unittest

import commands
import fuzz
import fuzz_programs
import skipping
import torches

CUT_TAPE = os.path.join(os.environ['BUILD_ROOT'], 'tests', 'cut_tape')
N_PROGRAMS = torches.n_rounds('20:300')

# Threads train one model, and every other step of theirs calls backward inside a node that uses the same leaves.
TRAINING = """
import sys, threading, torch

model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1))

class Again(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        with torch.enable_grad():
            model(torch.ones(2, 8)).sum().backward()
        return gradient

def train(start):
    start.wait()
    for step in range(12):
        loss = model(torch.ones(4, 8)).sum()
        (Again.apply(loss) if step % 2 else loss).backward()

n = int(sys.argv[1])
start = threading.Barrier(n)
threads = [threading.Thread(target=train, args=(start,)) for _ in range(n)]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""


def contradictions(tape):
    n_events = json.loads(commands.run(commands.TAPEDECK, 'info', tape, '--json'))['n_events']
    return json.loads(commands.run(commands.TAPEDECK, 'state', tape, '--at', str(n_events - 1), '--json'))['contradictions']


class Runner(fuzz.Runner):
    """A runner that compares nothing, and keeps each tape of a process that ended well."""

    def __init__(self, folder, *how):
        super().__init__(*how)
        self.folder, self.tapes = folder, []

    def read_tape(self, tape, status, found):
        if status == 0:
            self.tapes.append(shutil.move(tape, os.path.join(self.folder, f'{len(self.tapes)}.tape')))


class Contradictions(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def assert_none(self, tape):
        """As it is, and cut into as many segments as there can be."""
        self.assertEqual(subprocess.run([commands.TAPEDECK, 'check', tape], capture_output=True, timeout=300).returncode, 0)
        self.assertEqual(contradictions(tape), {'n': 0}, fuzz.keep(tape))
        n_segments = int(commands.run(CUT_TAPE, tape, '300'))
        self.assertEqual(contradictions(tape), {'n': 0}, fuzz.keep(tape))
        return n_segments

    def assert_programs(self, *how):
        runner = Runner(self.folder, *how)
        for first in range(0, N_PROGRAMS, 20):
            programs = [{**fuzz_programs.concurrent(seed), 'number': seed} for seed in range(first, first + 20)]
            runner.run(programs)
        self.assertGreater(len(runner.tapes), 0)
        self.assertGreater(sum(map(self.assert_none, runner.tapes)), len(runner.tapes))

    def test_programs_of_threads(self):
        for devices in ('cpu,sim:2,virtual', 'cpu,sim:2'):
            with self.subTest(devices):
                self.assert_programs('tapedeck', '2.15', devices)

    def assert_training(self, *command):
        script = os.path.join(self.folder, 'train.py')
        with open(script, 'w', encoding='utf-8') as file:
            file.write(TRAINING)
        for n_threads in ('2', '8'):
            tape = os.path.join(self.folder, f'{n_threads}.tape')
            commands.run(commands.TAPEDECK, command[0], '-o', tape, *command[1:], script, n_threads)
            self.assertGreater(self.assert_none(tape), 1)

    def test_training(self):
        self.assert_training('run')

    def test_training_on_pytorch(self):
        for version, python in torches.each():
            with self.subTest(version):
                self.assert_training('record', '--force', '--', python)

    def test_examples(self):
        for example in json.loads(commands.run(commands.TAPEDECK, 'examples', '--json')):
            with self.subTest(example['name']):
                tape = os.path.join(self.folder, f'{example["name"]}.tape')
                subprocess.run([commands.TAPEDECK, 'run', '-o', tape, example['name']], capture_output=True, timeout=300)
                self.assert_none(tape)


if __name__ == '__main__':
    skipping.main()

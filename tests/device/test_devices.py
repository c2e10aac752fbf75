#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Simulated devices from Python: streams in time, virtual time, missing waits that are found and none that are not there."""
import glob
import json
import os
import subprocess
import tempfile
import textwrap
import unittest

EXAMPLES = sorted(glob.glob(os.path.join(os.environ['EXAMPLES'], '*.py')))

# Every tensor of a script that asks for no device is made on sim:0.
ON_SIM = '''
import runpy, sys, torch
def on_sim(make):
    def made(*args, **named):
        try:
            return make(*args, **{**named, 'device': named.get('device') or 'sim:0'})
        except TypeError:  # it takes no device
            return make(*args, **named).to('sim:0')
    return made
for module in [module for name, module in list(sys.modules.items()) if name.split('.')[0] == 'torch']:
    for name in 'arange empty full ones rand randn randperm tensor zeros'.split():
        if callable(getattr(module, name, None)):
            setattr(module, name, on_sim(getattr(module, name)))
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name='__main__')
'''
READS_FILES = ['digits.py']  # its data come from a file, to the CPU


class Devices(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def run_script(self, code, devices, *arguments, status=0, kinds=()):
        """What it prints, its events and its warnings."""
        script, tape = os.path.join(self.folder, 'script.py'), os.path.join(self.folder, 'it.tape')
        with open(script, 'w', encoding='utf-8') as file:
            file.write(textwrap.dedent(code))
        done = subprocess.run([os.environ['TAPEDECK'], 'run', '--force', '-o', tape, '--devices', devices, script, *arguments],
                              capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, status, done.stderr)
        if status:
            return done.stderr
        lines = subprocess.run([os.environ['TAPEDECK'], 'events', '--json', *kinds, tape], capture_output=True, text=True).stdout
        checked = subprocess.run([os.environ['TAPEDECK'], 'check', tape], capture_output=True, text=True)
        self.assertEqual(checked.returncode, 0, checked.stdout)
        self.assertEqual(checked.stdout.count('touch one buffer'), lines.count('"event": "stream_conflict"'))
        return done.stdout.strip(), [json.loads(line) for line in lines.splitlines()], done.stderr

    def conflicts(self, code, devices='cpu,sim:1,virtual', *arguments):
        _, found, warnings = self.run_script(code, devices, *arguments, kinds=['--kind', 'stream_conflict'])
        self.assertEqual(len(found), warnings.count('UserWarning: two streams'))
        return found

    def test_no_conflict_that_is_not_there(self):
        for path in EXAMPLES:
            name = os.path.basename(path)
            if name in READS_FILES or name == 'ddp.py':  # one device has one thread, and there ddp's ranks wait for each other
                continue
            with self.subTest(name):
                expected = 1 if name == 'missing_wait.py' else 0
                self.assertEqual(len(self.conflicts(ON_SIM, 'cpu,sim:2,virtual', path)), expected)
        path = next(path for path in EXAMPLES if path.endswith('missing_wait.py'))
        self.assertEqual(self.conflicts(ON_SIM, 'cpu,sim:1', path, 'wait'), [])

    def test_conflicts(self):
        """Who touches what on two streams, without and with something between that orders them."""
        code = '''
            import sys
            import tapedeck
            import torch
            from torch import sim
            side = torch.Stream('sim:0')
            for case in sys.argv[1:]:
                first, order, second = case.split(';')
                a, b = torch.ones(8, device='sim:0'), torch.ones(8, device='sim:0')
                torch.accelerator.synchronize()
                tapedeck.mark(case)
                exec(first)
                exec(order)
                with side:
                    exec(second)
                torch.accelerator.synchronize()
            '''
        kinds = {('a.fill_(2)', 'b.copy_(a)'): [False],     # read what is being written
                 ('b.copy_(a)', 'a.fill_(2)'): [True],      # write what is being read
                 ('a.fill_(2)', 'a.fill_(3)'): [True],
                 ('b.copy_(a)', 'c = a * 2'): [],           # both read
                 ('a[:4].fill_(2)', 'a[4:].fill_(3)'): [],  # halves of one storage
                 ('a[:5].fill_(2)', 'a[4:].fill_(3)'): [True]}
        orders = ['pass', 'side.wait_stream(sim.current_stream())', 'torch.accelerator.synchronize()', 'a.tolist()',
                  'side.wait_event(sim.current_stream().record_event())']
        cases = {f'{first};{order};{second}': [] if order != 'pass' else expected
                 for (first, second), expected in kinds.items() for order in orders}
        found, now = {case: [] for case in cases}, None
        for event in self.run_script(code, 'cpu,sim:1,virtual', *cases)[1]:
            if event['event'] == 'mark':
                now = found[event['text']]
            elif event['event'] == 'stream_conflict':
                now.append(event['is_write'])
                self.assertEqual([event['first_stream'], event['second_stream']], [0, 1])
        self.assertEqual(found, cases)

    def test_streams_come_from_a_pool(self):
        """PyTorch has 32 of a device, and gives them in turns: a program that asks again and again needs no more memory."""
        code = '''
            import torch
            print([torch.Stream('sim:1').stream_id for i in range(70)])
            side = torch.Stream('sim:0')
            print(side.stream_id, len({torch.Stream('sim:0') for i in range(70)} - {side}))
            '''
        turns = [1 + i % 32 for i in range(70)]
        self.assertEqual(self.run_script(code, 'cpu,sim:2')[0].splitlines(), [str(turns), '1 31'])

    def test_a_wait_for_another_event_does_not_help(self):
        code = '''
            import torch
            from torch import sim
            a = torch.ones(8, device='sim:0')
            side = torch.Stream('sim:0')
            torch.accelerator.synchronize()
            early = sim.current_stream().record_event()
            a.fill_(2)
            side.wait_event(early)
            with side:
                b = a * 2
            '''
        self.assertEqual(len(self.conflicts(code)), 1)

    def test_both_nodes_are_named(self):
        """In a backward pass, what two nodes' kernels do: a leaf's gradient is written on two streams by two passes."""
        code = '''
            import torch
            from torch import sim
            side = torch.Stream('sim:0')
            x = torch.ones(8, device='sim:0', requires_grad=True)
            torch.accelerator.synchronize()
            x.grad = torch.zeros(8, device='sim:0')
            with side:
                (x * 2).sum().backward()
            '''
        found = self.conflicts(code)
        self.assertEqual(len(found), 1)
        self.assertIsNone(found[0]['first'])
        self.assertIsNotNone(found[0]['second'])

    def test_virtual_time_is_the_models(self):
        code = '''
            import torch
            from torch import sim
            x = torch.ones(1000, device='sim:0')  # 4,000 bytes
            sim.synchronize()
            side, begin = torch.Stream('sim:0'), sim.now_ns()
            start, end = torch.Event('sim:0', enable_timing=True), torch.Event('sim:0', enable_timing=True)
            start.record()
            y = x * 2  # 1,000 + 8,004 bytes at one a nanosecond
            with side:
                z = x * 3  # at the same time
            sim.current_stream().wait_stream(side)
            w = y + z  # 12,000 bytes
            end.record()
            print(sim.now_ns() - begin, end.query(), side.query())
            sim.synchronize()
            print(sim.now_ns() - begin, start.elapsed_time(end), end.query())
            '''
        wanted = '0 False False\n22004 0.022004 True'
        runs = [self.run_script(code, 'cpu,sim:1,latency=1us,bandwidth=1GB,virtual') for _ in range(2)]
        self.assertEqual([out for out, _, _ in runs], [wanted] * 2)
        kernels = [[(e['name'], e['queued'], e['took']) for e in events if e['event'] == 'kernel'] for _, events, _ in runs]
        self.assertEqual(kernels[0][-3:], [('mul', 0, 9004), ('mul', 0, 9004), ('add', 9004, 13000)])
        self.assertEqual(kernels[0], kernels[1])

    def test_virtual_time_of_a_pass_is_the_same_in_every_run(self):
        code = '''
            import torch
            from torch import sim
            w0 = torch.ones(64, 64, device='sim:0', requires_grad=True)
            w1 = torch.ones(64, 64, device='sim:1', requires_grad=True)
            x = torch.ones(64, 64)
            loss = ((x.to('sim:0') @ w0).to('cpu') * (x.to('sim:1') @ w1).to('cpu')).mean()
            loss.backward()
            sim.synchronize('sim:0')
            sim.synchronize('sim:1')
            print(sim.now_ns())
            '''
        times = {self.run_script(code, 'cpu,sim:2,virtual')[0] for _ in range(5)}
        self.assertEqual(len(times), 1)
        self.assertGreater(int(times.pop()), 100000)

    def test_a_launch_returns_at_once(self):
        code = '''
            import time
            import torch
            from torch import sim
            x = torch.ones(10, device='sim:0')
            sim.synchronize()
            begin = time.monotonic()
            for _ in range(4):
                x = x * 2
            launched = time.monotonic()
            sim.synchronize()
            print(launched - begin, time.monotonic() - begin)
            '''
        launched, synchronized = map(float, self.run_script(code, 'cpu,sim:1,latency=500ms')[0].split())
        self.assertLess(launched, 1.5)
        self.assertGreaterEqual(synchronized, 1.99)

    def test_waits_of_the_host_are_on_the_tape(self):
        """A wait for a stream, one for an event, one for what the host reads. No wait, no events."""
        code = '''
            import torch
            sim, x = torch.accelerator, torch.ones(2, device='sim:0')
            side = torch.Stream('sim:0')
            def work():
                with side:
                    x * 2
            sim.synchronize()
            work()
            side.synchronize()
            side.synchronize()
            work()
            event = side.record_event()
            event.synchronize()
            work()
            x.tolist()
            class Wait(torch.autograd.Function):
                @staticmethod
                def forward(ctx, x):
                    return x * 1
                @staticmethod
                def backward(ctx, g):
                    g = g * 1
                    sim.current_stream().synchronize()
                    return g
            Wait.apply(torch.ones(2, requires_grad=True, device='sim:0')).sum().backward()
            '''
        names = ('kernel', 'stream_record', 'synchronize_begin', 'synchronize_end', 'node_begin', 'node_end')
        _, events, _ = self.run_script(code, 'cpu,sim:1,latency=100ms', kinds=[f'--kind={name}' for name in names])
        begins = [e for e in events if e['event'] == 'synchronize_begin']
        ends = [e for e in events if e['event'] == 'synchronize_end']
        marks = [e['stream_event'] for e in events if e['event'] == 'stream_record' and e['stream'] == 1]
        self.assertEqual([(e['stream'], e['stream_event']) for e in begins[:3]], [(0, None), (1, None), (1, marks[-1])])
        self.assertEqual([(e['thread'], e['device'], e['stream'], e['node']) for e in begins],
                         [(e['thread'], e['device'], e['stream'], e['node']) for e in ends])
        for begin, end in zip(begins, ends):
            self.assertAlmostEqual(end['t'] - begin['t'], end['waited'], delta=2)
        self.assertGreater(sum(e['waited'] for e in ends[:3]), 250_000_000)
        inside = [e for e in begins if e['node'] is not None]
        self.assertEqual(len(inside), 1)
        between = [e for e in events if e['event'] in ('node_begin', 'node_end') and e.get('node') == inside[0]['node']]
        self.assertTrue(between[0]['t'] <= inside[0]['t'] <= between[1]['t'])
        self.assertEqual(inside[0]['thread'], between[0]['thread'])

    def test_virtual_time_has_no_waits(self):
        code = '''
            import torch
            torch.ones(2, device='sim:0') * 2
            torch.accelerator.synchronize()
            '''
        _, events, _ = self.run_script(code, 'cpu,sim:1,virtual')
        self.assertFalse([e for e in events if e['event'].startswith('synchronize')])
        self.assertEqual([e['value'] for e in events if e['event'] == 'setting' and e['name'] == 'streams'], ['virtual'])

    def test_what_is_no_device_is_bad_usage(self):
        for devices, words in [('cpu,gpu', "unknown device 'gpu'"), ('cpu,latency=1us', "'latency=1us'"),
                               ('sim:1,latency=1', "'latency=1'"), ('sim:1,bandwidth=0GB', "'bandwidth=0GB'"),
                               ('sim:40,sim:40', '64'), ('sim:1,bandwidth=fast', "'bandwidth=fast'")]:
            with self.subTest(devices):
                self.assertIn(words, self.run_script('', devices, status=2))


if __name__ == '__main__':
    unittest.main()

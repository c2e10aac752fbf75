#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""CUDA devices: a program gives on them what it gives on the CPU, its kernels are on the tape, and where there are none
the program says so.

    test_cuda.py fake    by a module without CUDA (fake_cuda.c): what the engine makes of a module, on any machine
    test_cuda.py real    by the module that nvcc compiled, on a machine with a device; else it is skipped
"""
import json
import os
import subprocess
import sys
import tempfile
import textwrap
import unittest
import unittest.mock

import skipping

BUILD, TAPEDECK = os.environ['BUILD_ROOT'], os.environ['TAPEDECK']
FAKE = os.path.join(BUILD, 'tests', 'libfake_cuda.so')
WHICH = sys.argv.pop(1) if len(sys.argv) > 1 else 'fake'
REAL = os.path.join(os.environ['OWN_ENGINE'], 'torch', 'libtapedeck-cuda.so')
SKIPPED = 77


def run_on(devices, code, folder, module=FAKE if WHICH == 'fake' else REAL):
    script, tape = os.path.join(folder, 'script.py'), os.path.join(folder, 'it.tape')
    with open(script, 'w', encoding='utf-8') as file:
        file.write(textwrap.dedent(code))
    return subprocess.run([TAPEDECK, 'run', '--force', '-o', tape, '--devices', devices, script], capture_output=True,
                          text=True, timeout=120, env={**os.environ, 'TAPEDECK_CUDA_MODULE': module})


# Each prints numbers; DEVICE is 'cpu' or 'cuda'.
PROGRAMS = {
    'elementwise': '''
        x = torch.linspace(-2, 2, 24).reshape(2, 3, 4).to(DEVICE).requires_grad_()
        y = torch.sigmoid(x) * torch.tanh(x.transpose(0, 2)[:, :, :1].sum()) + torch.relu(x) / (x * x + 1) - x.exp().neg()
        z = (y.abs() + 1).log().sqrt() + torch.sin(y) * torch.cos(y) + torch.sign(y) + 1 / (y + 9)
        z.sum().backward()
        say(z, x.grad)
        ''',
    'strides and broadcasting': '''
        a = torch.arange(12.).reshape(3, 4).to(DEVICE).requires_grad_()
        b = torch.arange(4.).to(DEVICE).requires_grad_()
        c = (a.t()[1:3] * 2).t() + b[:2] * a[:, ::2][:, :2]
        (c * c).sum(0).sum().backward()
        say(c, a.grad, b.grad, a.sum(1), a.mean(), a.sum(0, keepdim=True))
        ''',
    'products': '''
        a = torch.linspace(0, 1, 12).reshape(3, 4).to(DEVICE).requires_grad_()
        b = torch.linspace(1, 2, 20).reshape(4, 5).to(DEVICE).requires_grad_()
        c = (a @ b).t() @ a.detach()[:, :2]
        d = torch.bmm(a.reshape(1, 3, 4).expand(2, 3, 4), b.reshape(1, 4, 5).expand(2, 4, 5))
        (c.sum() + (d * d).sum()).backward()
        say(c, d, a.grad, b.grad)
        ''',
    'dtypes': '''
        x = torch.arange(6).to(DEVICE)
        y = x.double() * 2 + 1
        say(x + x, y, y.float(), (y > 3), x.float() / 2, y.to('cpu').to(DEVICE))
        ''',
    'what the host computes': '''
        x = torch.linspace(-1, 1, 64).reshape(1, 1, 8, 8).to(DEVICE).requires_grad_()
        w = torch.linspace(0, 1, 9).reshape(1, 1, 3, 3).to(DEVICE).requires_grad_()
        y = torch.nn.functional.max_pool2d(torch.nn.functional.conv2d(x, w), 2).flatten(1)
        loss = torch.nn.functional.cross_entropy(y * 3, torch.tensor([4]).to(DEVICE))
        loss.backward()
        say(loss, x.grad, w.grad, y.argmax(), torch.cat([y, y]).max())
        ''',
    'a step of training': '''
        w = [torch.full(s, 0.1).to(DEVICE).requires_grad_() for s in ((4, 8), (8, 2))]
        x = torch.linspace(0, 1, 12).reshape(3, 4).to(DEVICE)
        for step in range(5):
            loss = (torch.relu(x @ w[0]) @ w[1] - 1).pow(2).mean()
            loss.backward()
            with torch.no_grad():
                for p in w:
                    p -= 0.1 * p.grad
                    p.grad = None
        say(loss, *w)
        ''',
    'streams': '''
        x = torch.ones(1000).to(DEVICE).requires_grad_()
        if DEVICE == 'cuda':
            side, main = torch.Stream('cuda'), torch.accelerator.current_stream()
            side.wait_stream(main)
            with side:
                y = x * 3
            main.wait_stream(side)
        else:
            y = x * 3
        (y * y).sum().backward()
        say(y.sum(), x.grad.sum())
        ''',
}
HEAD = '''
import torch
def say(*tensors):
    print([[round(v, 4) for v in t.detach().to('cpu').double().flatten().tolist()] for t in tensors])
if not hasattr(torch, 'linspace'):
    torch.linspace = lambda a, b, n: torch.arange(float(n)) * ((b - a) / (n - 1)) + a
DEVICE = {!r}
'''


class Cuda(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def output(self, devices, code):
        done = run_on(devices, code, self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn('UserWarning', done.stderr)
        return [[float(v) for v in row] for row in json.loads(done.stdout)]

    def events(self):
        tape = os.path.join(self.folder, 'it.tape')
        self.assertEqual(subprocess.run([TAPEDECK, 'check', tape], capture_output=True).returncode, 0)
        lines = subprocess.run([TAPEDECK, 'events', '--json', tape], capture_output=True, text=True).stdout
        return [json.loads(line) for line in lines.splitlines()]

    def test_programs(self):
        """Equal within what another order of sums may do."""
        for name, code in PROGRAMS.items():
            with self.subTest(name):
                wanted = self.output('cpu', HEAD.format('cpu') + textwrap.dedent(code))
                found = self.output('cpu,cuda', HEAD.format('cuda') + textwrap.dedent(code))
                self.assertEqual([len(row) for row in found], [len(row) for row in wanted])
                for a, b in zip(found, wanted):
                    for x, y in zip(a, b):
                        self.assertLessEqual(abs(x - y), 2e-3 * max(1, abs(y)))

    def test_kernels_are_on_the_tape(self):
        self.output('cpu,cuda', HEAD.format('cuda') + textwrap.dedent(PROGRAMS['streams']))
        events = self.events()
        kernels = [e for e in events if e['event'] == 'kernel']
        self.assertEqual({e['stream'] for e in kernels}, {0, 1})
        self.assertIn(('mul', 1), {(e['name'], e['stream']) for e in kernels})
        self.assertTrue(all(e['took'] < 10 ** 9 for e in kernels))
        self.assertTrue(any(e['node'] is not None for e in kernels))
        self.assertTrue(any(e['event'] == 'stream_wait' for e in events))
        self.assertEqual([e['name'] for e in events if e['event'] == 'device_new'][:2], ['cpu', 'cuda:0'])


    @unittest.skipIf(WHICH == 'real', 'a real device may have done its work before the host looks')
    def test_waits_of_the_host(self):
        """The host looks at memory of a device, computes what the module cannot, and waits for a stream."""
        code = HEAD.format('cuda') + textwrap.dedent(PROGRAMS['what the host computes']) + 'torch.accelerator.synchronize()\n'
        with unittest.mock.patch.dict(os.environ, FAKE_CUDA_IS_BUSY='1'):
            self.output('cpu,cuda', code)
        waits = [e for e in self.events() if e['event'] in ('synchronize_begin', 'synchronize_end')]
        self.assertEqual({(e['device'], e['stream']) for e in waits}, {(0, 0), (0, -1)})
        self.assertTrue(any(e['node'] is not None for e in waits))
        self.output('cpu,cuda', code)
        self.assertFalse([e for e in self.events() if e['event'].startswith('synchronize')])


class Missing(unittest.TestCase):
    def test_without_a_module(self):
        with tempfile.TemporaryDirectory() as folder:
            done = run_on('cpu,cuda', 'print("never")', folder, module=os.path.join(folder, 'nothing.so'))
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("device 'cuda': this build has no CUDA module", done.stderr)

    def test_more_than_there_are(self):
        with tempfile.TemporaryDirectory() as folder:
            done = run_on('cpu,cuda:60', 'print("never")', folder)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("device 'cuda': there are", done.stderr)


if __name__ == '__main__':
    if WHICH == 'real':
        if not os.path.exists(REAL):
            print('no CUDA module: nvcc was not found when this build was configured')
            sys.exit(SKIPPED)
        with tempfile.TemporaryDirectory() as probe:
            there = run_on('cpu,cuda', '', probe)
        if there.returncode:
            print(there.stderr.strip())
            sys.exit(SKIPPED)
    skipping.main()

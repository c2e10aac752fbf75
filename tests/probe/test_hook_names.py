# SPDX-License-Identifier: LGPL-2.1-or-later
# Each hook of Python's goes by the function that the program wrote, and its line: on both PyTorchs and on Tapedeck's
# engine. Python's own `inspect` says where a function stands.
import collections

import skipping
import torches
from record_case import TAPEDECK, RecordCase

HOOKS = """import functools, math, os, torch
def clip(gradient, *_):
    return None
def outer():
    def inner(gradient, *_):
        return None
    return inner
class Clipper:
    def bound(self, gradient, *_):
        return None
    @staticmethod
    def static(gradient, *_):
        return None
    @classmethod
    def of_class(cls, gradient, *_):
        return None
    def __call__(self, gradient, *_):
        return None
class Inherits(Clipper):
    __slots__ = ()
@torch.no_grad()
def decorated(gradient, *_):
    return None
def keeps_name(function):
    @functools.wraps(function)
    def wrapper(*given):
        return function(*given)
    return wrapper
@keeps_name
def wrapped(gradient, *_):
    return None
def with_keyword(gradient, *_, factor):
    return None
class Trap:
    def __getattr__(self, name):
        if name.startswith("__q") or name.startswith("__m"): os.write(2, b"asked for " + name.encode())
        raise AttributeError(name)
    def __call__(self, gradient, *_):
        return None
seen = []
hooks = [clip, outer(), lambda gradient, *_: None, Clipper().bound, Clipper.static, Clipper.of_class, Clipper(), Inherits(),
         decorated, wrapped, functools.partial(with_keyword, factor=2), functools.partial(functools.partial(clip)),
         functools.partial(Clipper().bound), seen.append, Trap()]
for place in range(3):
    x = torch.ones(2, requires_grad=True)
    y = x.exp()
    for hook in hooks:
        if place == 0: y.register_hook(hook)
        if place == 1 and hook != seen.append: y.grad_fn.register_hook(hook)
        if place == 2 and hasattr(x, "register_post_accumulate_grad_hook"): x.register_post_accumulate_grad_hook(hook)
    y.sum().backward()
"""
PLACES = {'clip': 2, 'outer.<locals>.inner': 5, '<lambda>': 41, 'Clipper.bound': 9, 'Clipper.static': 11,
          'Clipper.of_class': 14, 'Clipper.__call__': 17, 'Inherits.__call__': 17, 'decorated': 21, 'wrapped': 29,
          'with_keyword': 32, 'Trap.__call__': 38}
NAMES = [f'{name} (hooks.py:{line})' for name, line in PLACES.items()]
TWICE = ['clip', 'Clipper.bound']  # once inside a partial

SEVERAL_THREADS = """import threading, torch
def slow(gradient):
    return gradient * 2
def train():
    for _ in range(200):
        x = torch.ones(2, requires_grad=True)
        x.exp().register_hook(lambda gradient: None)
        x.register_hook(slow)
        (x * 2).sum().backward()
threads = [threading.Thread(target=train) for _ in range(4)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
"""

RAISES = """import torch
def fails(gradient):
    raise ValueError("on purpose")
x = torch.ones(2, requires_grad=True)
x.register_hook(lambda gradient: None)
x.register_hook(fails)
try:
    x.exp().sum().backward()
except ValueError as problem:
    print(problem)
"""

BIRTH = """import torch
def harmless(gradient):
    return gradient * 1
def spoils(gradient):
    return gradient * float("nan")
x = torch.ones(2, requires_grad=True)
y = x.exp()
y.register_hook(harmless)
z = y.sin()
z.register_hook(spoils)
z.sum().backward()
"""


INSIDE_TORCH = """import torch
from torch.autograd import graph
def on_module(module, inputs, outputs):
    return None
def before_module(module, outputs):
    return None
def of_several(gradients):
    return None
net = torch.nn.Linear(2, 2)
net.register_full_backward_hook(on_module)
if hasattr(net, "register_full_backward_pre_hook"): net.register_full_backward_pre_hook(before_module)
x, y = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
if hasattr(graph, "register_multi_grad_hook"): graph.register_multi_grad_hook((x, y), of_several)
net(x * y).sum().backward()
"""


class HookNames(RecordCase):
    maxDiff = None

    def begun(self, tape):
        return [event for event in self.events(tape) if event['event'] == 'hook_begin']

    def on_each(self, text, name='hooks.py', options=()):
        """(what ran, its tape) for the PyTorchs of the test and Tapedeck's engine."""
        self.script(text, name)
        for version, python in torches.each_of_test(self) if torches.has_compiler() else ():
            done = self.record(python, name, options=('-o', f'{version}.tape', *options))
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertNotIn('asked for', done.stderr)
            yield version, f'{version}.tape', done
        if not options:
            done = self.run_in(TAPEDECK, 'run', '--force', '-o', 'own.tape', name)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertNotIn('asked for', done.stderr)
            yield 'own', 'own.tape', done

    def test_kinds_of_callables(self):
        for version, tape, _ in self.on_each(HOOKS):
            with self.subTest(version):
                by_kind = collections.defaultdict(list)
                for event in self.begun(tape):
                    by_kind[event['kind']].append(event['owner'])
                whole = collections.Counter(NAMES)
                whole.update(name for name in NAMES if name.split(' ')[0] in TWICE)
                whole['list.append'] += 1
                without = whole - collections.Counter(['list.append'])
                expected = {'tensor_pre': whole, 'post': without}
                if version == '1.13.1':
                    expected['pre'] = expected.pop('tensor_pre')
                else:
                    expected['post_accumulate_grad'] = whole
                self.assertEqual({kind: collections.Counter(names) for kind, names in by_kind.items()}, expected)
                self.assert_checked(tape)

    def test_report_by_hook(self):
        for version, tape, _ in self.on_each(RAISES):
            with self.subTest(version):
                done = self.ask('report', tape, '--by', 'hook')
                self.assertIn('fails (hooks.py:2)', done.stdout, done.stderr)

    def test_threads(self):
        for version, tape, _ in self.on_each(SEVERAL_THREADS):
            with self.subTest(version):
                owners = collections.Counter(event['owner'] for event in self.begun(tape))
                self.assertEqual(owners, {'slow (hooks.py:2)': 800})

    def test_a_hook_that_raises(self):
        for version, tape, done in self.on_each(RAISES):
            with self.subTest(version):
                self.assertEqual(done.stdout, 'on purpose\n')
                self.assertEqual([event['owner'] for event in self.begun(tape)],
                                 ['<lambda> (hooks.py:5)', 'fails (hooks.py:2)'])
                self.assert_checked(tape)

    def test_inside_functions_of_torch(self):
        for version, tape, _ in self.on_each(INSIDE_TORCH):
            with self.subTest(version):
                owners = collections.Counter(event['owner'] for event in self.begun(tape))
                if version == '1.13.1':  # which has neither of the others; PyTorch's own function stores the gradients
                    self.assertEqual(owners['on_module (hooks.py:3)'], 1)
                elif version == '2.13.0':
                    self.assertEqual(owners, {'on_module (hooks.py:3)': 1, 'before_module (hooks.py:5)': 1,
                                              'of_several (hooks.py:7)': 2})

    def test_birth_in_a_hook(self):
        for version, tape, _ in self.on_each(BIRTH, options=('--anomaly', 'nan')):
            with self.subTest(version):
                births = [event for event in self.events(tape) if event['event'] == 'anomaly' and event['born'] == 'hook']
                self.assertEqual([event['hook'] for event in births], ['spoils (hooks.py:4)'])


if __name__ == '__main__':
    skipping.main()

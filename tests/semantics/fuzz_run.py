# SPDX-License-Identifier: LGPL-2.1-or-later
"""Interprets random programs (fuzz_programs.py) on the engine that `import torch` gives here.

    fuzz_run.py OUT.jsonl PROGRAMS.jsonl

A program is {"threads": [steps, ...], "shared": steps}: the shared steps run first, then each list in a thread of its own
(one list: in the program's own). A step is a dict: "do" names what is done, "in" the variables it is done to, "out" what
the result is called, the rest are its parameters. A step whose variables are missing is left out, so that a program
stays one when steps are taken out of it. What is seen is a list of observations per thread: for each step the error, or
what kind of result there is; gradients; calls of hooks.
"""
import contextlib
import faulthandler
import gc
import json
import os
import sys
import threading
import traceback
import warnings

import torch

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from fuzz_functions import FUNCTIONS  # noqa: E402
from run_rows import mark  # noqa: E402

SECONDS = 20
SWITCH_INTERVAL = sys.getswitchinterval()
RESULTS = {  # from the tensors and the step to a tensor or a tuple of tensors
    'add': lambda s, a, b: a + b, 'sub': lambda s, a, b: a - b, 'mul': lambda s, a, b: a * b,
    'div': lambda s, a, b: a / b, 'safe_div': lambda s, a, b: a / (b * b + 1),
    'add_scalar': lambda s, a: a + s['value'], 'mul_scalar': lambda s, a: a * s['value'],
    'rsub': lambda s, a: s['value'] - a, 'div_scalar': lambda s, a: a / s['value'], 'square': lambda s, a: a ** 2,
    'neg': lambda s, a: -a, 'sin': lambda s, a: a.sin(), 'cos': lambda s, a: a.cos(), 'tanh': lambda s, a: a.tanh(),
    'sigmoid': lambda s, a: a.sigmoid(), 'relu': lambda s, a: a.relu(), 'abs': lambda s, a: a.abs(),
    'exp': lambda s, a: a.tanh().exp(), 'sqrt': lambda s, a: (a * a + 1).sqrt(), 'log': lambda s, a: (a * a + 1).log(),
    'sum': lambda s, a: a.sum(), 'mean': lambda s, a: a.mean(),
    'sum_dim': lambda s, a: a.sum(s['dim'], keepdim=s['keep']), 'mean_dim': lambda s, a: a.mean(s['dim']),
    'softmax': lambda s, a: a.softmax(s['dim']), 'clone': lambda s, a: a.clone(), 'detach': lambda s, a: a.detach(),
    'contiguous': lambda s, a: a.contiguous(), 'view': lambda s, a: a.view(s['shape']),
    'reshape': lambda s, a: a.reshape(s['shape']), 't': lambda s, a: a.t(),
    'transpose': lambda s, a: a.transpose(0, 1), 'unsqueeze': lambda s, a: a.unsqueeze(s['dim']),
    'squeeze': lambda s, a: a.squeeze(), 'expand': lambda s, a: a.expand(s['shape']),
    'select': lambda s, a: a[s['index']], 'slice': lambda s, a: a[s['from']:s['to']],
    'narrow': lambda s, a: a.narrow(s['dim'], s['start'], s['length']), 'mm': lambda s, a, b: a @ b,
    'cat': lambda s, *a: torch.cat(a), 'stack': lambda s, *a: torch.stack(a),
    'where': lambda s, a, b: torch.where(a > 0, a, b), 'chunk': lambda s, a: a.chunk(2),
    'split': lambda s, a: a.split(1), 'unbind': lambda s, a: a.unbind(0),
    'float': lambda s, a: a.float(), 'double': lambda s, a: a.double(), 'to': lambda s, a: a.to(s['device']),
    'grad_of': lambda s, a: a.grad,  # None where there is none: nothing to bind
}
WRITES = {  # in place, into the first tensor
    'add_': lambda s, a, b: a.add_(b), 'mul_': lambda s, a, b: a.mul_(b), 'sub_': lambda s, a, b: a.sub_(b),
    'add_scalar_': lambda s, a: a.add_(s['value']), 'mul_scalar_': lambda s, a: a.mul_(s['value']),
    'zero_': lambda s, a: a.zero_(), 'fill_': lambda s, a: a.fill_(s['value']), 'copy_': lambda s, a, b: a.copy_(b),
    'relu_': lambda s, a: a.relu_(), 'tanh_': lambda s, a: a.tanh_(), 'exp_': lambda s, a: a.exp_(),
    'set_item': lambda s, a, b: a.__setitem__(s['index'], b), 'detach_': lambda s, a: a.detach_(),
}


def rounded(tensor):
    return None if tensor is None else tensor.detach().tolist()


class Thread:
    """One list of steps at work: its variables, and what it saw."""

    def __init__(self, variables):
        self.variables, self.hooks, self.seen = dict(variables), {}, []

    def run(self, steps):
        for step in steps:
            tensors = [self.variables.get(name) for name in step.get('in', ())]
            if any(tensor is None for tensor in tensors):
                continue
            try:
                with torch.no_grad() if step.get('no_grad') else contextlib.nullcontext():
                    said = self.do(step, tensors)
            except Exception as problem:
                said = f'{type(problem).__name__}: {problem}'
            self.seen.append([step['do'], said])

    def do(self, step, tensors):
        what = step['do']
        if what in RESULTS:
            return self.bind(step, RESULTS[what](step, *tensors))
        if what in WRITES:
            WRITES[what](step, *tensors)
            return [tensors[0]._version, self.kind(tensors[0])]
        if what in FUNCTIONS:
            return self.bind(step, FUNCTIONS[what](self.note).apply(*tensors))
        return getattr(self, 'do_' + what)(step, tensors)

    def note(self, *what):
        self.seen.append(list(what))

    @staticmethod
    def kind(tensor):
        name = None if tensor.grad_fn is None else tensor.grad_fn.name().replace('torch::autograd::', '')
        return [tensor.requires_grad, tensor.is_leaf, name, list(tensor.shape)]

    def bind(self, step, result):
        if isinstance(result, (tuple, list)):
            for i, tensor in enumerate(result):
                self.variables[f'{step["out"]}.{i}'] = tensor
            return [self.kind(tensor) for tensor in result if tensor is not None]
        self.variables[step['out']] = result
        return None if result is None else self.kind(result)

    def do_leaf(self, step, tensors):
        dtype = torch.float32 if step.get('single') else torch.float64
        leaf = torch.tensor(step['data'], dtype=dtype)
        leaf.requires_grad_(step.get('requires_grad', True))
        return self.bind(step, leaf)

    def do_requires_grad_(self, step, tensors):
        tensors[0].requires_grad_(step['value'])
        return self.kind(tensors[0])

    def do_retain_grad(self, step, tensors):
        tensors[0].retain_grad()

    def do_clear_grad(self, step, tensors):
        tensors[0].grad = None

    def change(self, step):
        """A function for hooks: notes what it got and returns what the step says."""
        def hook(g):
            self.note('hook', step['out'], rounded(g))
            if step['returns'] == 'raise':
                raise ValueError(f'hook {step["out"]}')
            return {'none': None, 'twice': g if g is None else g * 2, 'same': g, 'wrong': 3}[step['returns']]
        return hook

    def do_tensor_hook(self, step, tensors):
        self.hooks[step['out']] = tensors[0].register_hook(self.change(step))

    def do_post_hook(self, step, tensors):
        self.hooks[step['out']] = tensors[0].grad_fn.register_hook(
            lambda outputs, inputs: self.note('post', step['out'], [rounded(g) for g in outputs],
                                              [rounded(g) for g in inputs]))

    def do_pre_hook(self, step, tensors):
        change = self.change(step)
        self.hooks[step['out']] = tensors[0].grad_fn.register_prehook(
            lambda gradients: None if step['returns'] == 'none' else tuple(map(change, gradients)))

    def do_accumulate_hook(self, step, tensors):
        self.hooks[step['out']] = tensors[0].register_post_accumulate_grad_hook(
            lambda leaf: self.note('accumulated', step['out'], rounded(leaf.grad)))

    def do_multi_hook(self, step, tensors):
        self.hooks[step['out']] = torch.autograd.graph.register_multi_grad_hook(
            tensors, lambda gradients: self.note('multi', step['out'], [rounded(g) for g in gradients]))

    def do_remove_hook(self, step, tensors):
        if step['hook'] in self.hooks:
            self.hooks[step['hook']].remove()

    def do_leaf_hook_backward(self, step, tensors):
        """A hook that runs a pass of its own."""
        def hook(g):
            x = torch.ones(2, dtype=g.dtype)
            with torch.enable_grad():
                (x.requires_grad_() * 3).sum().backward()
            self.note('hook', step['out'], rounded(x.grad))
        self.hooks[step['out']] = tensors[0].register_hook(hook)

    @staticmethod
    def gradients_for(step, tensors):
        """Ones, or twos, for every root; None asks the engine for its own."""
        return [None if value is None else torch.ones_like(tensor) * value
                for value, tensor in zip(step['gradients'], tensors)]

    def wanted(self, step):
        return [self.variables[name] for name in step['inputs'] if self.variables.get(name) is not None]

    def do_backward(self, step, tensors):
        keep = {'retain_graph': step.get('retain'), 'create_graph': step.get('create', False)}
        inputs = {'inputs': self.wanted(step)} if 'inputs' in step else {}
        torch.autograd.backward(tensors, self.gradients_for(step, tensors), **keep, **inputs)

    def do_grad(self, step, tensors):
        found = torch.autograd.grad(tensors, self.wanted(step), self.gradients_for(step, tensors),
                                    retain_graph=step.get('retain'), create_graph=step.get('create', False),
                                    allow_unused=step.get('unused', False))
        for i, gradient in enumerate(found):
            if gradient is not None and gradient.requires_grad:
                self.variables[f'{step["out"]}.{i}'] = gradient
        return [rounded(g) for g in found]

    def do_checkpoint(self, step, tensors):
        from torch.utils.checkpoint import checkpoint
        return self.bind(step, checkpoint(lambda a: (a * 2).tanh(), tensors[0], use_reentrant=step['reentrant']))

    def finish(self):
        """Gradients of all variables, in the order of their names."""
        for name, tensor in sorted(self.variables.items()):
            try:
                has_grad = tensor is not None and (tensor.is_leaf or tensor.retains_grad)
                self.seen.append(['grad', name, rounded(tensor.grad) if has_grad else None])
            except RuntimeError as problem:  # a view may be out of use
                self.seen.append(['grad', name, str(problem)])

    def cut_cycles(self):
        """A gradient with a history may lead back to its tensor. In PyTorch too, both then live for ever."""
        for tensor in self.variables.values():
            if tensor is not None:
                with contextlib.suppress(RuntimeError):  # a view may be out of use
                    tensor.grad = None


def run_program(program):
    """[observations of each thread], the shared steps' first."""
    first = Thread({})
    sys.setswitchinterval(program.get('switch_interval', SWITCH_INTERVAL))
    first.run(program['shared'])
    threads = [Thread(first.variables) for _ in program['threads']]
    if len(threads) == 1:
        threads[0].run(program['threads'][0])
    else:
        started = [threading.Thread(target=thread.run, args=[steps]) for thread, steps in zip(threads, program['threads'])]
        for thread in started:
            thread.start()
        for thread in started:
            thread.join()
    for thread in threads:
        thread.finish()
    for thread in threads:
        thread.cut_cycles()
    return [first.seen, *(thread.seen for thread in threads)]


def run(number, program, say):
    seen = {}

    def body():
        try:
            seen['seen'] = run_program(program)
        except Exception:
            seen['failed'] = traceback.format_exc(limit=-3)
    say({'begin': number})
    faulthandler.dump_traceback_later(SECONDS, exit=True)  # also where whoever hangs has the GIL
    mark(f'begin of {number}')
    thread = threading.Thread(target=body, daemon=True)
    thread.start()
    thread.join()
    faulthandler.cancel_dump_traceback_later()
    gc.collect(0)
    mark(f'end of {number}')
    say({'end': number, **seen})


def main(out, programs):
    faulthandler.enable()
    warnings.simplefilter('ignore')
    mark('start')  # a recording may have to compile an observer at the first pass, which no program's seconds pay for
    with open(programs, encoding='utf-8') as file, open(out, 'a', encoding='utf-8') as results:
        def say(what):
            results.write(json.dumps(what) + '\n')
            results.flush()
        for line in file:
            program = json.loads(line)
            run(program['number'], program, say)


if __name__ == '__main__':
    main(sys.argv[1], sys.argv[2])

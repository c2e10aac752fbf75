# SPDX-License-Identifier: LGPL-2.1-or-later
"""The script that test_alike.py runs on each engine: what small programs return, warn of, or are refused with.

    alike_cases.py OUT.json

A case is a function. `since='2.13'`: PyTorch 1.13 lacks it, or has other words for it.
"""
import copy
import json
import pickle
import re
import sys
import warnings

import torch
from torch.autograd import functional, gradcheck, gradgradcheck
from torch.nn import functional as F

CASES = {}


def case(since=None):
    def add(function):
        CASES[function.__name__] = function, since
        return function
    return add


def said(call):
    """What a call returns, as text, or its error; and its warnings. Without addresses, and places in PyTorch's sources."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter('always')
        try:
            result = str(call())
        except Exception as problem:
            result = f'{type(problem).__name__}: {problem}'
    texts = [f'{warning.category.__name__}: {warning.message}' for warning in caught]
    return [re.sub(r' at 0x\w+|\s*\(Triggered internally.*\)', '', text)
            for text in [result, *texts] if 'Sparse invariant checks' not in text]


def leaf(*values, dtype=torch.float32):
    return torch.tensor(values or [1., 2.], dtype=dtype, requires_grad=True)


def function(backward, forward=lambda ctx, x: x * x):
    class Made(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return forward(ctx, x)

        @staticmethod
        def backward(ctx, gradient):
            return backward(ctx, gradient)
    return Made.apply


# Views whose history a write has made unknown.

def lost_views():
    y = leaf(1., 2., 3.) * 1
    with torch.no_grad():
        without_mode = y[:2]
    parts = y.unbind()
    with torch.no_grad():
        y.mul_(2)
    y.mul_(2)
    return without_mode, parts[0]


@case()
def repr_of_lost_views():
    return [said(lambda: ask(view)) for view in lost_views()
            for ask in (repr, str, lambda v: v.requires_grad_(), lambda v: v.retain_grad(), lambda v: v.detach(), lambda v: v.is_leaf,
                        lambda v: v.grad_fn, lambda v: v.output_nr, lambda v: v.requires_grad, lambda v: v * 2, lambda v: v.grad)]


# Gradients.

@case(since='2.13')
def materialized_gradients():
    x, other = leaf(), leaf()
    return [said(lambda: torch.autograd.grad((x * 1).sum(), [x, other], create_graph=create_graph, materialize_grads=True))
            for create_graph in (False, True)]


@case()
def grad_of_non_leaves():
    x = leaf()
    y, kept, written = x * 2, x * 2, x * 2
    kept.retain_grad()
    written.grad = torch.ones(2)
    return [said(lambda: tensor.grad) for tensor in (x, y, y, y[0], y.detach(), kept, written, torch.ones(2))]


# The ctx of a custom function.

def kept_contexts(after):
    contexts = []

    def forward(ctx, x):
        contexts.append(ctx)
        return x * x
    y = function(lambda ctx, gradient: gradient, forward)(leaf() if after != 'inside' else leaf() * 1)
    if after == 'retained':
        y.sum().backward(retain_graph=True)
    elif after == 'released':
        y.sum().backward()
    del y
    return contexts[0].saved_tensors


@case()
def saved_tensors_after_the_graph():
    return [said(lambda: kept_contexts(after)) for after in ('nothing', 'retained', 'released', 'inside')]


# What is refused.

@case()
def data_of_another_layout():
    def sparse():
        return torch.sparse_coo_tensor([[0, 1]], [1., 2.], (3,))

    def assign(tensor, data):
        tensor.data = data
        return tensor
    return [said(lambda: assign(*pair)) for pair in ((sparse(), sparse()), (sparse(), torch.ones(3)), (torch.ones(3), sparse()))]


@case()
def strategies_of_jacobians():
    def square(x):
        return x * x

    def total(x):
        return (x ** 3).sum()
    return [said(lambda: call()) for call in (
        lambda: functional.jacobian(square, leaf(), strict=True, vectorize=True),
        lambda: functional.hessian(total, leaf(), strict=True, vectorize=True),
        lambda: functional.jacobian(square, leaf(), strategy='other'),
        lambda: functional.hessian(total, leaf(), outer_jacobian_strategy='other'),
        lambda: functional.jacobian(square, leaf(), strategy='forward-mode'),
        lambda: functional.jacobian(square, leaf(), strategy='forward-mode', vectorize=True, create_graph=True),
        lambda: functional.jacobian(square, leaf(), vectorize=True), lambda: functional.hessian(total, leaf(), strict=True))]


# Nodes.

@case()
def nodes_that_are_called():
    x = leaf()
    y, ones = x * 2, torch.ones(2)
    custom = function(lambda ctx, gradient: gradient * 3)(x)

    def released():
        z = x * x
        z.sum().backward()
        return z.grad_fn(ones)

    def accumulated():
        a = leaf()
        node = a.view_as(a).grad_fn.next_functions[0][0]
        result, kept = node(ones), a.grad
        ones.mul_(5)
        return result, kept
    return [said(call) for call in (
        lambda: y.grad_fn(ones), lambda: y.grad_fn(None), lambda: y.grad_fn(1), lambda: y.grad_fn(), lambda: y.grad_fn(ones, ones),
        lambda: y.grad_fn(ones, a=1), lambda: (x * x.exp()).grad_fn(ones), lambda: x.unbind()[0].grad_fn(torch.ones(()), None),
        lambda: custom.grad_fn(ones), released, accumulated)]


@case()
def names_of_nodes():
    x = leaf()
    changed = x * 1
    changed[:1].mul_(2)
    nodes = [(x * 1).grad_fn, (x * 1).grad_fn.next_functions[0][0], changed.grad_fn, changed[:1].grad_fn]
    return [[node.name(), type(node).__name__, said(lambda: node)] for node in nodes] + [said(lambda: changed)]


# Arguments.

@case()
def lists_as_indices():
    def write(index):
        a = torch.zeros(2, 3, 4)
        a[index] = 1
        return a.sum()
    a, one = torch.arange(24.).view(2, 3, 4), slice(0, 1)
    indices = ([one, slice(1, 2)], [slice(None), 1], [0, one], [None, 0], [Ellipsis, 0], [torch.tensor([0]), torch.tensor([1])],
               [[0, 1], [1, 0]], [one], [True, False], [1, 0], [[0], slice(None)], [0] * 40)
    return [said(lambda: ask(index)) for index in indices for ask in (lambda index: a[index], write)]


@case()
def embedding_bags_the_old_way():
    table, numbers = torch.arange(10.).view(5, 2), torch.tensor([[0, 1], [2, 3]])
    return [said(lambda: F.embedding_bag(table, numbers)), said(lambda: F.embedding_bag(numbers, table))]


# gradcheck.

@case()
def functions_that_gradcheck_refuses():
    def double(*values):
        return leaf(*values or (.3, .7), dtype=torch.float64)
    calls = []

    def unsteady(ctx, gradient):
        calls.append(1)
        return 2 * ctx.saved_tensors[0] * gradient * (1 + 1e-7 * len(calls))

    def undefined(ctx, x):
        ctx.set_materialize_grads(False)
        return x * x

    def slope(ctx, gradient):
        return 2 * ctx.saved_tensors[0] * gradient
    never_zero = function(lambda ctx, g: torch.where(g != 0, g, torch.ones_like(g)), lambda ctx, x: x * 1)
    without = function(lambda ctx, g: ctx.saved_tensors[0] if g is None else slope(ctx, g), undefined)
    fine = function(lambda ctx, g: None if g is None else slope(ctx, g), undefined)
    return [said(call) for call in (
        lambda: gradcheck(torch.sin, double()), lambda: gradcheck(lambda a, b: (a * b, a.exp()), (double(), double(.5, .1))),
        lambda: gradcheck(lambda a: a.detach() * 2, (double(),)), lambda: gradcheck(lambda a: torch.ones(2), (double(),)),
        lambda: gradcheck(lambda a: (a.detach() * 2, a * 2), (double(),)), lambda: gradcheck(function(unsteady), (double(),)),
        lambda: gradcheck(function(unsteady), (double(),), nondet_tol=1e-4),
        lambda: gradcheck(function(unsteady), (double(),), raise_exception=False), lambda: gradcheck(never_zero, (double(),)),
        lambda: gradcheck(without, (double(),)), lambda: gradcheck(without, (double(),), check_undefined_grad=False),
        lambda: gradcheck(fine, (double(),)), lambda: gradcheck(function(lambda ctx, g: g * 3), (double(),)),
        lambda: gradcheck(torch.sin, (double(),), 1e-6, 1e-5), lambda: gradcheck(lambda a: (), (double(),)),
        lambda: gradcheck(lambda a: 3., (double(),)), lambda: gradcheck(lambda a: (a * 2, None), (double(),)),
        lambda: gradgradcheck(lambda a: a ** 3, (double(),)), lambda: gradgradcheck(function(slope), (double(),)))]


# What learners write.
EXPRESSIONS = """
changed(torch.arange(6), '//=', 2); changed(torch.arange(6), '%=', 4); changed(torch.arange(6), '<<=', 1)
changed(torch.arange(6), '>>=', 1); changed(torch.arange(6.), '//=', 2); changed(torch.arange(6.), '%=', 1.5)
torch.tensor(-0.0); 1 / torch.tensor(-0.0); torch.tensor([0.0, -0.0]); int(torch.tensor(2 ** 60 + 1)); float(torch.tensor(1j))
[3] * torch.tensor(2); int(torch.tensor(1 + 0j)); torch.full((2,), 2 ** 60 + 1); torch.arange(2 ** 60, 2 ** 60 + 2); torch.arange(1, 0, 3)
torch.tensor([2 ** 40], dtype=torch.int32); torch.tensor([1e20], dtype=torch.long); torch.tensor(float('nan'), dtype=torch.int)
torch.zeros(2, dtype=torch.int32).fill_(2 ** 40); torch.full((1,), 1e20, dtype=torch.long)
a[True]; a[False].shape; a[torch.tensor(True)].shape; a[0, True].shape; a[True, 0].shape; a[..., True].shape; a[True, [0, 1]].shape
put(0, 1j); put(torch.tensor([0]), 1j); put(torch.arange(6.).view(2, 3) > 4, 1j); put(0, 1 + 0j); torch.tensor([1j], dtype=torch.float)
torch.tensor([1 + 0j], dtype=torch.long); torch.tensor([1j], dtype=torch.bool); torch.Tensor([1j]); torch.as_tensor(1j, dtype=torch.double)
put(True); put(False); put(torch.tensor(True)); torch.tensor(3.)[True]; a[[]].shape; a[1.0]
+torch.tensor(True); +torch.tensor([1.]); reversed(torch.arange(3)); 3 in torch.arange(4); 'a' in torch.arange(4)
f'{torch.ones(2):.2f}'; f'{torch.ones(2)}'; f'{torch.tensor(1.5):.2f}'; float(torch.ones(2)); torch.tensor(range(3))
torch.tensor(None); torch.tensor('a'); torch.tensor([1, 'a']); torch.tensor({1}); torch.tensor([torch.ones(2)]); torch.tensor(bytearray(b'ab'))
torch.tensor([1], dtype=float); torch.tensor([1.5], dtype=int); torch.zeros(2, dtype=bool); kept(torch.float, copy=True)
kept(torch.float); kept(torch.float, False, True); kept(torch.float, True); kept(torch.long)
torch.tensor(data=[1]); torch.full(size=(2,), fill_value=3); torch.randperm(n=1); torch.zeros_like(input=a).shape; torch.arange(end=3)
torch.arange(start=1, end=3); torch.arange(1, 7, step=2); a.size(dim=1); a.stride(dim=0); torch.ones(1).requires_grad_(requires_grad=True)
torch.sum(input=a, dim=0); torch.softmax(input=a.float(), dim=1).shape; torch.exp(input=torch.zeros(2)); torch.exp(torch.zeros(2), out=torch.ones(2))
torch.zeros(2).fill_(value=3); torch.ones(2).mul_(other=2); torch.ones(2).div_(3, rounding_mode='floor'); torch.ones(2).copy_(torch.zeros(2), True)
a.nonzero(as_tuple=True); torch.nonzero(a, as_tuple=True); torch.tensor(5).nonzero(as_tuple=True); torch.tensor([2.567]).round(decimals=2)
torch.ones(3).index_copy_(0, torch.tensor([1]), torch.zeros(1)); torch.ones(3).masked_scatter_(torch.tensor([True, False, True]), torch.arange(3.))
torch.ones(2).atan2_(torch.ones(2)); torch.ones(2).logical_not_(); torch.tensor([True]).logical_and_(torch.tensor([False]))
torch.cat([torch.tensor([]), torch.ones(2, 2)]); torch.cat([torch.ones(2, 2), torch.tensor([])], 1); torch.typename(torch.ones(1))
F.mse_loss(leaf(), torch.tensor([1, 2])); F.mse_loss(leaf(), torch.ones(2).double()); F.l1_loss(leaf(), torch.tensor([1, 3]))
F.smooth_l1_loss(leaf(), torch.tensor([1, 4]))
F.binary_cross_entropy(torch.ones(2), torch.ones(2).long()); F.binary_cross_entropy_with_logits(torch.ones(2), torch.ones(2).long())
F.binary_cross_entropy_with_logits(torch.ones(2), torch.ones(2).double()); F.cross_entropy(torch.ones(2, 3), torch.zeros(2, 1).long())
F.cross_entropy(torch.ones(2, 3), torch.zeros(2)); F.nll_loss(torch.ones(2, 3), torch.zeros(2).int()); torch.nn.Linear(3, 2)(torch.ones(2, 3).long())
torch.nn.Linear(3, 2)(torch.ones(3).double()); torch.ones(2, 3) @ torch.ones(4); torch.arange(5, 0); torch.arange(0, 5, 0)
torch.tensor(leaf()); float(leaf(2.)); int(leaf(3.)); torch.ones(2).item(); torch.cat([]); torch.pow(2, torch.arange(3)); torch.normal(0, 0, size=(2, 1), requires_grad=True)
torch.add(1, torch.ones(2)); torch.mul(2, torch.ones(2)); torch.sub(1, leaf(), alpha=2); torch.div(1, torch.tensor([2, 4])); torch.mul(2., 3)
torch.remainder(7, torch.tensor(4)); torch.exp(1); torch.exp(); torch.sum([1, 2]); torch.multiply(input=a, other=2)
copy.deepcopy(torch.exp) is torch.exp; pickle.loads(pickle.dumps(torch.exp)) is torch.exp
"""
# PyTorch 1.13 refuses these.
NEWER = """
slope(F.mse_loss, torch.tensor([3, 3])); slope(F.mse_loss, torch.ones(2).double()); torch.zeros(2).to(complex).dtype
torch.pow(2, leaf()); torch.stack(torch.ones(2))
torch.pow(a, 2, out=torch.empty(2, 3)); torch.pow(2, a, out=torch.empty(2, 3)); torch.pow(2, exponent=a); torch.pow(input=a, exponent=2)
torch.add(1, other=a); torch.add(1, a, out=torch.empty(2, 3)); torch.add(1, other=a, alpha=2, out=torch.empty(0)); torch.exp(out=a)
torch.add(s, other=leaf(), out=torch.empty(2, 2)); torch.add(input=leaf(), other=s, out=torch.empty(2, 2)); torch.exp(1, out=a)
torch.where(s > 2, s, s, out=torch.empty(2, 2)); torch.cat(tensors=[s, s], dim=1, out=torch.empty(0)); torch.add(s, s, out=None)
linalg.solve_triangular(s, b.mT, upper=False); linalg.solve_triangular(s, b, upper=False); linalg.solve_triangular(s, s[0], upper=False)
linalg.solve_triangular(s, torch.stack([s, s]), upper=False); linalg.solve_triangular(torch.stack([s, s]), s, upper=False, left=False)
linalg.solve_triangular(b, s, upper=False); linalg.solve_triangular(torch.stack([s] * 3), torch.stack([s] * 2), upper=False)
linalg.solve(s, s[0], left=False); linalg.solve(s, torch.tensor(1.)); linalg.solve(s, s.double()); linalg.solve(torch.stack([s, s]), s[0])
linalg.lu_solve(s, one, s[0]); linalg.lu_solve(s, one, b); linalg.lu_solve(s, one, b.mT); linalg.lu_solve(s, one.long(), s)
linalg.lu_solve(s, one[:1], s); linalg.lu_solve(torch.stack([s, s]), one, s); linalg.lu_solve(s, one, torch.stack([s, s]))
linalg.lu_solve(s, one, s.double()); linalg.lu_solve(s, one, b, left=False); torch.lu_unpack(s, one); torch.lu_unpack(s, one + 2)
torch.lu_unpack(s, one - 1); torch.lu_unpack(s, one.long()); torch.lu_unpack(s[0], one); torch.cholesky_solve(s[0], s)
torch.cholesky_solve(s, s[0]); torch.cholesky_solve(s, b); torch.cholesky_solve(b, s); torch.cholesky_solve(s.double(), s)
torch.cholesky_solve(s, torch.stack([s, s])); torch.cholesky_inverse(b); torch.cholesky_inverse(s[0]); linalg.lstsq(s[0], s[0])
linalg.lstsq(b, torch.ones(2)); linalg.lstsq(s, torch.stack([s, s])); linalg.lstsq(s, s.double()); linalg.lstsq(s, torch.tensor(1.))
"""


def changed(tensor, operator, number):
    """What another name of the tensor sees."""
    names = {'x': tensor, 'n': number}
    exec(f'x {operator} n', names)
    return tensor


def kept(*args, **options):
    x = torch.ones(2)
    return x.to(*args, **options) is x


def put(index, value=9):
    a = torch.arange(6.).view(2, 3)
    a[index] = value
    return a


def slope(loss, target):
    x = leaf()
    loss(x, target).backward()
    return x.grad


def evaluated(lines):
    names = {**globals(), 'linalg': torch.linalg, 'a': torch.arange(6).view(2, 3), 'b': torch.ones(3, 2),
             's': torch.tensor([[2., 0.], [4., 2.]]), 'one': torch.tensor([1, 2], dtype=torch.int32)}
    return {line: said(lambda: eval(line, names)) for line in lines.strip().replace('\n', '; ').split('; ')}


@case()
def expressions_of_learners():
    return evaluated(EXPRESSIONS)


@case(since='2.13')
def newer_expressions_of_learners():
    return evaluated(NEWER)


def main(out):
    with open(out, 'w') as file:
        json.dump({name: [since, call()] for name, (call, since) in CASES.items()
                   if not since or not torch.__version__.startswith('1.')}, file)


main(*sys.argv[1:])

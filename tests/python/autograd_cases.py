# SPDX-License-Identifier: LGPL-2.1-or-later
"""What names of torch.autograd do, as JSON: test_autograd_names.py runs this on two engines."""
import json
import sys
import warnings

import torch
import torch.autograd.forward_ad as forward_ad
from torch.autograd import functional
from torch.autograd.profiler import profile, record_function
from torch.utils.checkpoint import CheckpointPolicy, checkpoint, create_selective_checkpoint_contexts

CASES = {}


def case(function):
    CASES[function.__name__] = function
    return function


def text_of(function, *args, **kwargs):
    """The first line of the error of a call, or what it returned."""
    try:
        result = function(*args, **kwargs)
        return result.tolist() if isinstance(result, torch.Tensor) else result
    except Exception as problem:
        return f'{type(problem).__name__}: {problem}'.splitlines()[0]


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        ctx.save_for_forward(x)
        return x ** 3

    @staticmethod
    def backward(ctx, grad):
        x, = ctx.saved_tensors
        return 3 * x * x * grad

    @staticmethod
    def jvp(ctx, tangent):
        x, = ctx.saved_tensors
        return 3 * x * x * tangent


@case
def tangents():
    w = torch.tensor([3., 4.], requires_grad=True)
    found = []
    with forward_ad.dual_level():
        x = forward_ad.make_dual(torch.tensor([1., 2.]), torch.tensor([1., .5]))
        for y in (x * x, (x * w).sin(), x.exp().sum(), Cube.apply(x) * x, x[1:] * 2, torch.ones(2) * 3):
            primal, tangent = forward_ad.unpack_dual(y)
            found.append([primal.tolist(), primal.requires_grad, None if tangent is None else tangent.tolist()])
        gradient, = torch.autograd.grad(forward_ad.unpack_dual(x * w * w).tangent.sum(), w)
        y = torch.zeros(2)
        y[0] = x[1]
        found += [gradient.tolist(), forward_ad.unpack_dual(y).tangent.tolist()]
    return found + [forward_ad.unpack_dual(y).tangent is None]


class Doubled(Cube):
    @staticmethod
    def jvp(ctx, tangent):
        return Doubled.answer(tangent, *ctx.saved_tensors)


@case
def tangents_have_no_tangents():
    x = torch.tensor([1., 2.], requires_grad=True)
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, torch.ones(2))
        primal, tangent = forward_ad.unpack_dual(dual ** 3)
        found = [forward_ad.unpack_dual(t * 2).tangent is None for t in (primal, tangent)]
        found += [torch.autograd.grad(tangent.sum(), x)[0].tolist(), 'tangent=' in repr(tangent)]
        for Doubled.answer in (lambda t, x: x * t, lambda t, x: torch.ones(3)):
            found.append(text_of(lambda: forward_ad.unpack_dual(Doubled.apply(dual)).tangent))
        plain = forward_ad.make_dual(torch.ones(2), torch.ones(2))
        Doubled.answer = lambda t, x: x * t
        tangent = forward_ad.unpack_dual(Doubled.apply(plain)).tangent
    return found + [tangent.requires_grad, repr(tangent)]


@case
def refusals_of_forward_mode():
    found = [text_of(forward_ad.make_dual, torch.ones(2), torch.ones(2))]
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(torch.ones(2), torch.ones(2))
        found += [text_of(forward_ad.make_dual, torch.ones(2), torch.ones(3)), text_of(forward_ad.enter_dual_level),
                  text_of(forward_ad.make_dual, dual, torch.ones(2)),
                  text_of(forward_ad.make_dual, torch.ones(2, dtype=torch.int64), torch.ones(2))]
    return found


@case
def products():
    def f(x, y):
        return (x * y).sin(), x.exp() * y
    x, y = torch.tensor([.1, .2]), torch.tensor([.3, .4])

    def plain(value):
        return value.tolist() if isinstance(value, torch.Tensor) else [plain(one) for one in value]
    one = (torch.ones(2), torch.ones(2))
    return plain([functional.vjp(f, (x, y), one), functional.jvp(f, (x, y), one), functional.jacobian(f, (x, y)),
                  functional.jacobian(f, (x, y), vectorize=True, strategy='forward-mode'),
                  functional.hessian(lambda a: (a ** 3).sum(), x), functional.vhp(lambda a: (a ** 3).sum(), x, x),
                  functional.hessian(lambda a: (a ** 3).sum(), x, vectorize=True, outer_jacobian_strategy='forward-mode')])


@case
def refusals_of_functional():
    x = torch.ones(2)
    return [text_of(functional.vjp, lambda a: a.detach(), x, x, strict=True),
            text_of(functional.jvp, lambda a: a * 2, x, x, create_graph=True, strict=True),
            text_of(functional.hessian, lambda a: a.sum(), x, strict=True),
            text_of(functional.hvp, lambda a: (a, a), x, x), text_of(functional.vhp, lambda a: a, x, x),
            text_of(functional.jacobian, lambda a: a * 2, x, strict=True, vectorize=True),
            text_of(functional.jacobian, lambda a: a * 2, x, strategy='forward-mode'),
            text_of(functional.vjp, lambda a: a * 2, (x, 2), x)]


class Wrong(torch.autograd.Function):
    """Its backward is wrong in a way that `how` names."""

    @staticmethod
    def forward(ctx, x, how):
        ctx.how = how
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        ways = {'factor': lambda: grad * 3, 'random': lambda: grad * 2 + torch.rand_like(grad) * 1e-5 * grad,
                'constant': lambda: grad * 2 + 1e-7}
        return ways[ctx.how](), None


@case
def gradcheck():
    x = torch.tensor([.5, 1.5], dtype=torch.float64, requires_grad=True)
    check = torch.autograd.gradcheck
    found = [text_of(check, Wrong.apply, (x, how))[:60] for how in ('factor', 'random', 'constant')]
    return found + [check(torch.sin, x, check_forward_ad=True, check_batched_grad=True), text_of(check, torch.sin, x.detach()),
                    text_of(check, lambda a: torch.tensor([a.sum().item()]), x),
                    text_of(check, torch.sin, x.sum().expand(2)), text_of(check, torch.sin, x, check_backward_ad=False)]


@case
def writes_into_saved_tensors():
    x = torch.tensor([1., 2.], requires_grad=True)
    with torch.autograd.graph.allow_mutation_on_saved_tensors() as context:
        y = x.clone()
        z = (y ** 2).sum()
        n_before = len(context.cloned)
        y.sin_()
        n_after = len(context.cloned)
        z.backward()
        outside = (x.clone() ** 2).sum()
    return [x.grad.tolist(), n_before, n_after, len(context.cloned), text_of(outside.backward)]


@case
def a_profile():
    x = torch.ones(2, 2)
    with profile(record_shapes=True) as measured:
        with record_function('outer'):
            y = torch.mm(x, x).exp()
        y.relu()
    names = [e.name for e in measured.function_events if e.name in ('outer', 'aten::mm', 'aten::exp', 'aten::relu')]
    mm = next(e for e in measured.key_averages() if e.key == 'aten::mm')
    outer = measured.function_events[0]
    return [names, mm.count, outer.cpu_time_total >= mm.cpu_time_total > 0, [c.name for c in outer.cpu_children][:2]]


@case
def selective_checkpoint():
    calls = []

    def policy(context, operation, *args, **kwargs):
        calls.append([context.is_recompute, str(operation)])
        keeps = operation == torch.ops.aten.mm.default
        return CheckpointPolicy.MUST_SAVE if keeps else CheckpointPolicy.PREFER_RECOMPUTE
    x = torch.tensor([[1., 2.], [3., 4.]], requires_grad=True)
    out = checkpoint(lambda a: torch.mm(a.sin(), a).exp().sum(), x, use_reentrant=False,
                     context_fn=lambda: create_selective_checkpoint_contexts(policy))
    out.backward()
    return [x.grad.tolist(), [call for call in calls if 'mm' in call[1]],
            text_of(create_selective_checkpoint_contexts, [torch.ops.aten.sin])]


@case
def odd_names():
    x = torch.ones(2, requires_grad=True)
    node = (x * 2).grad_fn
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter('always')
        was_volatile = x.volatile
    with torch.inference_mode():
        inside = torch.is_inference(torch.ones(1))
    return [text_of(torch.autograd.SavedTensor), text_of(delattr, x, 'data'), text_of(setattr, x, 'requires_grad', None),
            isinstance(node, torch.autograd.graph.Node), torch.autograd.graph.Node in type(node).mro(), was_volatile,
            [str(warning.message) for warning in seen], inside, torch.is_inference(x),
            isinstance(node.next_functions[0][0], torch._C._functions.AccumulateGrad), torch.is_warn_always_enabled(),
            text_of(torch.testing.assert_close, torch.ones(2), torch.tensor([1., 2.]))]


if __name__ == '__main__':
    with open(sys.argv[1], 'w', encoding='utf-8') as file:
        json.dump({name: function() for name, function in CASES.items()}, file)

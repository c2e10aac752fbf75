# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checkpoints without reentry, in detail."""
import contextlib
import warnings

from harness import row, text_of


def leaf(torch, *values):
    return torch.tensor(values or [1., 2.], requires_grad=True)


def again(torch, function, *args, **options):
    from torch.utils.checkpoint import checkpoint
    return checkpoint(function, *args, use_reentrant=False, **options)


@row('R-07', since='2.0')
def gradients_inside_a_checkpoint(torch):
    """The function asks for gradients itself. So it runs again before it has saved everything."""
    def gradient(early_stop, create_graph):
        x, runs = leaf(torch), []

        def function(a):
            runs.append(1)
            inner, = torch.autograd.grad(a.sin().sum(), a, create_graph=create_graph)
            return inner.exp() * a.cos()
        again(torch, function, x, early_stop=early_stop).sum().backward()
        return [x.grad.tolist(), len(runs)]
    return [gradient(early_stop, create_graph) for early_stop in (True, False) for create_graph in (True, False)]


@row('R-07', since='2.0')
def the_setting_goes_before_the_argument(torch):
    from torch.utils.checkpoint import set_checkpoint_early_stop

    def ends(early_stop, setting):
        x, seen = leaf(torch), []

        def function(a):
            b = a.sin().exp()
            seen.append('end')
            return b
        with set_checkpoint_early_stop(setting):
            y = again(torch, function, x, early_stop=early_stop)
        y.sum().backward()
        return len(seen)
    return [ends(early_stop, setting) for early_stop in (True, False) for setting in (True, False, None)]


@row('R-07', since='2.0', in_2_13='has no respect_saved_tensors_hooks')
def contexts_of_both_runs(torch):
    log = []

    @contextlib.contextmanager
    def noted(name):
        log.append(name)
        try:
            yield
        finally:
            log.append('end of ' + name)
    x = leaf(torch)

    def function(a):
        log.append('run')
        return a.sin().exp()
    y = again(torch, function, x, context_fn=lambda: (noted('first'), noted('second')))
    log.append('backward')
    y.sum().backward()
    from torch.utils.checkpoint import checkpoint
    refused = [text_of(lambda: checkpoint(torch.sin, x, use_reentrant=True, context_fn=lambda: (noted('a'), noted('b')))),
               text_of(lambda: checkpoint(torch.sin, x, use_reentrant=True, debug=True)),
               text_of(lambda: again(torch, torch.sin, x, determinism_check='so so'))]
    return [log, refused]


@row('R-07', since='2.15')
def kept_results_and_hooks(torch):
    """The hooks around a selective checkpoint see what it keeps only if respect_saved_tensors_hooks says so."""
    from torch.autograd.graph import saved_tensors_hooks
    from torch.utils.checkpoint import create_selective_checkpoint_contexts

    def contexts():
        return create_selective_checkpoint_contexts([torch.ops.aten.mm.default])

    def show(respects, function):
        seen, x = [], torch.tensor([[1., 2.], [3., 4.]], requires_grad=True)

        def pack(tensor):
            seen.append(['pack', tensor.tolist()])
            return tensor

        def unpack(tensor):
            seen.append(['unpack', tensor.tolist()])
            return tensor
        with warnings.catch_warnings(record=True) as caught, saved_tensors_hooks(pack, unpack):
            warnings.simplefilter('always')
            out = function(lambda a: torch.mm(a.sin(), a).exp(), x, respects)
        out.sum().backward()
        return [seen, x.grad.tolist(), [str(warning.message) for warning in caught]]

    def once(function, x, respects):
        return again(torch, function, x, context_fn=contexts, respect_saved_tensors_hooks=respects)

    def nested(function, x, respects):
        return again(torch, lambda y: once(function, y, respects), x)
    return [show(respects, function) for respects in (None, False, True) for function in (once, nested)]


@row('R-07', since='2.0')
def objects_that_come_back(torch):
    """A tensor without gradient comes back as itself; so do arguments, whose versions are checked."""
    seen = []

    class Keep(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a, b):
            ctx.save_for_backward(b)
            return a * 1

        @staticmethod
        def backward(ctx, g):
            seen.append(ctx.saved_tensors[0])
            return g, None
    x, results = leaf(torch), []
    for other in (torch.ones(2), leaf(torch), leaf(torch) * 1):
        again(torch, Keep.apply, x, other).sum().backward()
        results.append([seen[-1] is other, seen[-1].requires_grad, seen[-1].is_leaf])
    argument = x * 2
    y = again(torch, lambda a: a.sin().exp(), argument)
    argument.mul_(2)
    return [results, text_of(y.sum().backward)]


@row('R-07', since='2.0')
def hooks_outside_a_checkpoint(torch):
    """They get its arguments."""
    log, x = [], leaf(torch)
    hooks = torch.autograd.graph.saved_tensors_hooks(lambda t: (log.append('pack'), t)[1], lambda t: (log.append('unpack'), t)[1])
    with hooks:
        y = again(torch, lambda a, n: a.sin().exp(), x * 2, 3)
    log.append('backward')
    y.sum().backward()
    return [log, x.grad.tolist()]


@row('R-07', since='2.0')
def what_changed_in_the_second_run(torch):
    def told(first, second, **options):
        x, runs = leaf(torch), []

        def function(a):
            runs.append(1)
            return (first if len(runs) == 1 else second)(a)
        return text_of(again(torch, function, x, **options).sum().backward)
    usual = [lambda a: a.sin().exp()]
    return [told(*usual, other, early_stop=early_stop, determinism_check=check)
            for other in (lambda a: a.sin(), lambda a: a.sin().exp().cos(), lambda a: a[:1].sin().exp())
            for early_stop in (True, False) for check in ('default', 'none')]


@row('R-07')
def unpacked_outside_of_backward(torch):
    """Each time is a pass of its own in PyTorch 2; in 1.13 values stay as long as their places."""
    x = leaf(torch)
    y = again(torch, lambda a: a.sin().exp(), x)
    first, second = y.grad_fn._saved_result, y.grad_fn._saved_result
    y.sum().backward(retain_graph=True)
    y.sum().backward()
    return [first.tolist() == second.tolist(), x.grad.tolist()]

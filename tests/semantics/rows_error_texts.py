# SPDX-License-Identifier: LGPL-2.1-or-later
"""J: what Python functions may do wrong, in PyTorch's words, and that the engine works on afterwards."""
import gc
import threading
import traceback
import warnings

from harness import row, text_of


def function(torch, backward, name='Bad'):
    """apply of a Function of two arguments whose backward is given; forward is x * 2."""
    forward = staticmethod(lambda ctx, x, other: x * 2)
    return type(name, (torch.autograd.Function,), {'forward': forward, 'backward': staticmethod(backward)}).apply


def after(torch):
    """The next pass is right."""
    x = torch.tensor([2.], requires_grad=True)
    (x * x).backward()
    return x.grad.item() == 4.


def texts(torch, cases, other=None):
    """The error of a pass through each backward, and whether the engine is usable then."""
    seen = []
    for backward in cases:
        x = torch.tensor([1., 2.], requires_grad=True)
        y = function(torch, backward)(x, torch.ones(2) if other is None else other)
        seen.append([text_of(lambda: y.sum().backward()), x.grad is None, after(torch)])
    return seen


class Own(Exception):
    pass


def raise_own(ctx, g):
    raise Own('mine')


@row('J-06')
def exceptions_keep_type_and_traceback(torch):
    """Also where the thread is another one."""
    seen = []

    def run():
        y = function(torch, raise_own)(torch.ones(1, requires_grad=True), 3)
        try:
            y.exp().backward()
        except Exception as problem:
            last = traceback.extract_tb(problem.__traceback__)[-1]
            seen.append([type(problem) is Own, str(problem), last.name, last.line])
    run()
    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return seen


@row('J-06')
def exceptions_of_forward(torch):
    def fail(ctx, x):
        raise Own('forward')
    apply = type('F', (torch.autograd.Function,), {'forward': staticmethod(fail)}).apply
    return [text_of(lambda: apply(torch.ones(1, requires_grad=True))), text_of(lambda: apply(torch.ones(1))), after(torch)]


@row('J-07')
def wrong_gradients_of_a_function(torch):
    return texts(torch, [lambda ctx, g: (g, g, g), lambda ctx, g: (), lambda ctx, g: g, lambda ctx, g: None,
                         lambda ctx, g: (g, 'a'), lambda ctx, g: ('a', None), lambda ctx, g: [g, None]])


@row('J-07', expect=[['RuntimeError: function BadBackward returned a gradient different than None at position 2, but the '
                      'corresponding forward input was not a Variable', True, True]])
def gradient_of_what_is_no_tensor(torch):
    return texts(torch, [lambda ctx, g: (g, g)], other=3)


@row('J-07')
def gradients_of_other_kinds(torch):
    """Shapes are checked by the engine; dtypes are cast."""
    return texts(torch, [lambda ctx, g: (torch.ones(10), None), lambda ctx, g: (torch.ones(3, 2), None),
                         lambda ctx, g: (g.double(), None), lambda ctx, g: (torch.ones(2, dtype=torch.int64), None),
                         lambda ctx, g: (torch.tensor(1.), None)])


@row('J-08', expect=[[None, False, True]])
def trailing_nones(torch):
    return texts(torch, [lambda ctx, g: (g, None, None, None)])


@row('J-07')
def no_backward(torch):
    class Nothing(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

    class Both(Nothing):
        backward = staticmethod(lambda ctx, g: g)
        vjp = staticmethod(lambda ctx, g: g)
    x = torch.ones(1, requires_grad=True)
    return [text_of(Nothing.apply(x).backward), text_of(Both.apply(x).backward), after(torch)]


@row('J-07')
def hooks_that_return_the_wrong_thing(torch):
    seen = []
    for value in (3, torch.ones(5), 'a'):
        x = torch.ones(2, requires_grad=True)
        y = x * 2
        y.register_hook(lambda g: value)
        text = text_of(y.sum().backward)
        seen.append([text and text.split('but hook')[-1], x.grad is None, after(torch)])
    return seen


@row('J-09')
def no_derivative(torch):
    """The error comes when the node runs, and only then."""
    x = torch.tensor([-1., 0., 2.], requires_grad=True)
    y = torch.heaviside(x, torch.tensor([.5, .5, .5]))
    g, = torch.autograd.grad(y.sum() + x.sum(), y)
    return [y.tolist(), type(y.grad_fn).__name__, [edge[0] is not None for edge in y.grad_fn.next_functions], g.tolist(),
            text_of(y.sum().backward), text_of(lambda: y.sum().backward(inputs=[x])), x.grad is None, after(torch)]


@row('J-17', expect=['RuntimeError: Boom!', True, [1., 1.], 'RuntimeError: Boom!', [True, False, 'Error'], True])
def delayed_error(torch):
    """It fails where it is needed alone."""
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    e = torch._C._functions.DelayedError(b'Boom!', 1)(y)
    seen = [text_of(e.sum().backward), x.grad is None]
    g, = torch.autograd.grad(e.sum() + (x * 2).sum(), e)
    constant = torch._C._functions.DelayedError(b'Boom!', 1)(torch.ones(1))
    seen += [g.tolist(), text_of(lambda: (e.sum() + y.sum()).backward(inputs=[x]))]
    return seen + [[e.requires_grad, constant.requires_grad, type(e.grad_fn).__name__], after(torch)]


def looking(torch, seen):
    """A function whose backward notes its gradient and gives it on."""
    class Look(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(False)
            return x * 1

        @staticmethod
        def backward(ctx, g):
            seen.append(g if g is None else g.tolist())
            return g
    return Look.apply


@row('J-17')
def undefined_gradients(torch):
    """UndefinedGrad satisfies dependencies: nodes that wait for it run, and leave nothing at leaves."""
    seen, x, z = [], torch.ones(1, requires_grad=True), torch.ones(1, requires_grad=True)
    look = looking(torch, seen)
    torch._C._functions.UndefinedGrad()(look(x)).backward()
    middle = look(z)
    (torch._C._functions.UndefinedGrad()(middle) + middle * 3).backward()
    return [seen, x.grad, z.grad.tolist(), after(torch)]


@row('E-03')
def undefined_from_a_function(torch):
    seen, y = [], torch.ones(1, requires_grad=True)
    function(torch, lambda ctx, g: (None, None))(looking(torch, seen)(y), 3).backward()
    return [seen, y.grad, after(torch)]


@row('J-18')
def warnings_of_backward(torch):
    """In the calling thread, also when an error follows."""
    def warn(ctx, g):
        warnings.warn('careful')
        return g, None

    def warn_and_fail(ctx, g):
        warnings.warn('careful')
        raise Own('then this')
    seen = []
    for backward in (warn, warn_and_fail):
        y = function(torch, backward)(torch.ones(1, requires_grad=True), 3)
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter('always')
            seen.append(text_of(y.backward))
        seen.append([str(w.message) for w in found])
    return seen


@row('J-19', seconds=60)
def destructors_run_backward(torch):
    """The object that dies with a node may start a pass of its own, or fail."""
    seen = []

    class Last:
        def __init__(self, fails):
            self.fails = fails

        def __del__(self):
            seen.append(after(torch))
            if self.fails:
                raise Own('in a destructor')

    class Keep(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, fails):
            ctx.last = Last(fails)
            return x * 1

        @staticmethod
        def backward(ctx, g):
            ctx.other = Last(False)
            return g, None
    import sys
    hook, sys.unraisablehook = sys.unraisablehook, lambda problem: seen.append(str(problem.exc_value))
    try:
        for fails in (False, True):
            y = Keep.apply(torch.ones(1, requires_grad=True), fails)
            y.exp().backward()
            del y
            gc.collect()
    finally:
        sys.unraisablehook = hook
    return sorted(map(str, seen))


@row('J-20')
def checkpoint_after_an_error(torch):
    from torch.utils.checkpoint import checkpoint
    x = torch.ones(2, requires_grad=True)

    def twice(a):
        return a * 2
    refused = text_of(lambda: torch.autograd.grad(checkpoint(twice, x, use_reentrant=True).sum(), x))
    checkpoint(twice, x, use_reentrant=True).sum().backward()
    return [refused is not None, x.grad.tolist(), torch.autograd.Variable._execution_engine.is_checkpoint_valid()]

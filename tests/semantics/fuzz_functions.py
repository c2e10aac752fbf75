# SPDX-License-Identifier: LGPL-2.1-or-later
"""Custom Functions for random programs: from a function that notes what they see to the class."""
import torch


def simple(forward, backward, name):
    """A Function whose context has the inputs' values as ctx.x, with a way to note."""
    def make(note):
        class Simple(torch.autograd.Function):
            pass
        Simple.forward = staticmethod(forward)
        Simple.backward = staticmethod(lambda ctx, *g: backward(ctx, note, *g))
        Simple.__name__ = Simple.__qualname__ = name
        return type(name, (Simple,), {})
    return make


def save(ctx, x):
    ctx.save_for_backward(x)
    return x * 2


def product(ctx, a, b):
    ctx.save_for_backward(a, b)
    return a * b


def of_product(ctx, note, g):
    a, b = ctx.saved_tensors
    note('needs', list(ctx.needs_input_grad))
    return g * b, g * a


def two(ctx, x):
    return x * 2, x * 3


def two_plain(ctx, x):
    ctx.set_materialize_grads(False)
    return x * 2, x * 3


def of_two(ctx, note, a, b):
    note('two', a is None, b is None)
    if a is None or b is None:
        return (0 if a is None else a * 2) + (0 if b is None else b * 3) if a is not b else None
    return a * 2 + b * 3


def nested(ctx, note, g):
    x, = ctx.saved_tensors
    with torch.enable_grad():
        inner = x.detach().requires_grad_()
        (inner.sin() * inner).sum().backward()
    note('nested', inner.grad.tolist())
    return g * inner.grad


def nested_grad(ctx, note, g):
    x, = ctx.saved_tensors
    with torch.enable_grad():
        inner = x.detach().requires_grad_()
        found, = torch.autograd.grad((inner * inner).sum(), inner)
    return g * found


def nested_deep(ctx, note, g):
    """Four levels, each inside the one before."""
    x, = ctx.saved_tensors

    class Level(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, depth):
            ctx.save_for_backward(x)
            ctx.depth = depth
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            inner, = ctx.saved_tensors
            note('level', ctx.depth)
            if ctx.depth:
                with torch.enable_grad():
                    inner = inner.detach().requires_grad_()
                    Level.apply(inner * 2, ctx.depth - 1).sum().backward()
            return g, None
    with torch.enable_grad():
        inner = x.detach().requires_grad_()
        (Level.apply(inner, 3) + inner).sum().backward()
    return g * inner.grad


def nested_failing(ctx, note, g):
    """The inner pass fails; the outer one goes on."""
    with torch.enable_grad():
        inner = torch.ones(1, dtype=g.dtype, requires_grad=True)
        try:
            FUNCTIONS['fail'](note).apply(inner * 2).sum().backward()
        except ValueError as problem:
            note('caught', str(problem))
    return g * 2


def fail(ctx, note, g):
    raise ValueError('a Function fails')


def write(ctx, x):
    ctx.mark_dirty(x)
    return x.mul_(2)


def constant(ctx, x):
    y = x * 2
    ctx.mark_non_differentiable(y)
    return y


def callback(ctx, note, g):
    torch.autograd.Variable._execution_engine.queue_callback(lambda: note('callback'))
    return g * 2


FUNCTIONS = {
    'double': simple(save, lambda ctx, note, g: g * 2, 'Double'),
    'product': simple(product, of_product, 'Product'),
    'two': simple(two, of_two, 'Two'), 'two_plain': simple(two_plain, of_two, 'TwoPlain'),
    'nested': simple(save, nested, 'Nested'), 'nested_grad': simple(save, nested_grad, 'NestedGrad'),
    'nested_deep': simple(save, nested_deep, 'NestedDeep'),
    'nested_failing': simple(save, nested_failing, 'NestedFailing'),
    'fail': simple(save, fail, 'Fail'), 'none': simple(save, lambda ctx, note, g: None, 'None_'),
    'too_many': simple(save, lambda ctx, note, g: (g, g), 'TooMany'),
    'wrong_shape': simple(save, lambda ctx, note, g: torch.ones(7, dtype=g.dtype), 'WrongShape'),
    'wrong_class': simple(save, lambda ctx, note, g: 'text', 'WrongClass'),
    'single': simple(save, lambda ctx, note, g: g.float() * 2, 'Single'),
    'write': simple(write, lambda ctx, note, g: g * 2, 'Write'),
    'constant': simple(constant, lambda ctx, note, g: g, 'Constant'),
    'callback': simple(save, callback, 'Callback'),
}

# SPDX-License-Identifier: LGPL-2.1-or-later
"""Functions written in Python whose nodes have PyTorch's names: where PyTorch has one kernel, and the engine none."""
from torch import _C
from torch.autograd.function import BackwardCFunction, Function


def node(name):
    """Decorates a Function: its node is called `name`, such as "GluBackward0"."""
    def decorate(function):
        function._backward_cls = type(name, (BackwardCFunction,), {'_forward_cls': function, '__module__': 'builtins'})
        return function
    return decorate


def linear_map(name, back_name=None):
    return linear_maps(name, back_name)[0]


def linear_maps(name, back_name=None):
    """Two Functions, a map and its adjoint. The map is of (tensor, sizes, *taps): the sum, over pairs of numbers and weights, of weight times the elements with
    these numbers. Each element of the result has one number in each pair. A weight may be None, for 1. The adjoint is of (tensor, sizes of the map's operand, sizes of its
    result, taps)."""
    @node(name)
    class Map(Function):
        @staticmethod
        def forward(ctx, input, sizes, taps):
            ctx.taps, ctx.sizes, ctx.of = taps, input.shape, sizes
            flat, total = input.reshape(-1), None
            for numbers, weight in taps:
                part = flat.index_select(0, numbers)
                part = part if weight is None else part * weight
                total = part if total is None else total + part
            return total.reshape(sizes)

        @staticmethod
        def backward(ctx, grad):
            return Back.apply(grad, ctx.sizes, ctx.of, ctx.taps), None, None

    @node(back_name or name.replace('Backward0', 'BackwardBackward0'))
    class Back(Function):
        @staticmethod
        def forward(ctx, grad, sizes, of, taps):
            ctx.taps, ctx.of = taps, of
            flat, total = grad.reshape(-1), _C.zeros(sizes.numel(), dtype=grad.dtype)
            for numbers, weight in taps:
                total = total.index_add(0, numbers, flat if weight is None else flat * weight)
            return total.reshape(sizes)

        @staticmethod
        def backward(ctx, grad):
            return Map.apply(grad, ctx.of, ctx.taps), None, None, None
    Map.__name__ = Map.__qualname__ = name
    return Map.apply, Back.apply

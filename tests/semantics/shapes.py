# SPDX-License-Identifier: LGPL-2.1-or-later
"""Graphs that rows of several groups begin with."""


def leaf(torch, n=2):
    return torch.ones(n, requires_grad=True)


def accumulator(tensor):
    """The AccumulateGrad below a tensor that was made of a leaf alone."""
    return tensor.grad_fn.next_functions[0][0]


def nested(torch, n, visit=lambda depth: None):
    """A pass with n passes nested in it, one in the other; visit(depth) is called in each."""
    class Nest(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, depth):
            ctx.depth = depth
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            visit(ctx.depth)
            if ctx.depth < n:
                with torch.enable_grad():
                    Nest.apply(torch.ones(1, requires_grad=True), ctx.depth + 1).backward()
            return g, None
    x = torch.ones(1, requires_grad=True)
    Nest.apply(x, 0).backward()
    return x.grad.tolist()

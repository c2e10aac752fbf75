# SPDX-License-Identifier: LGPL-2.1-or-later
"""Ways for a NaN to be born, one each, for test_numerics.py: on any engine.

    python3 numeric_cases.py CASE... [detect]

`detect` turns PyTorch's anomaly mode on. On standard output is a line for each case: x.grad, or the error."""
import sys
import warnings

import torch

INF, NAN = float('inf'), float('nan')


def leaf(value):
    return torch.tensor([value], requires_grad=True)


def sum_at_node():
    """+Inf and -Inf meet in the input buffer of sin's node."""
    x = leaf(2.)
    z = x.sin()
    ((z * INF).sum() + (z * -INF).sum()).backward()
    return x


def sum_at_leaf():
    """They meet in the input buffer of the leaf."""
    x = leaf(2.)
    ((x * INF).sum() + (x * -INF).sum()).backward()
    return x


def sum_of_many():
    """Four contributions, of which two are to blame: not the last two, nor the first."""
    x = leaf(2.)
    z = x.sin()
    (z.cos().sum() + (z * INF).sum() + z.exp().sum() + (z * -INF).sum() + z.tanh().sum()).backward()
    return x


def stored():
    """Two passes: each leaves an infinity, the sum of both in .grad is none."""
    x = leaf(2.)
    (x * INF).sum().backward()
    (x * -INF).sum().backward()
    return x


def node():
    """0 times the derivative of the square root at 0."""
    x = leaf(0.)
    (x.sqrt() * 0).sum().backward()
    return x


def forward():
    """The logarithm of a negative number: the loss is a NaN, the gradient none."""
    x = leaf(-1.)
    (x.log() * 2).sum().backward()
    return x


def data():
    """What the program was given has a NaN."""
    x = leaf(1.)
    (x * torch.tensor([NAN])).sum().backward()
    return x


def hook():
    """A hook on the node writes a NaN into what the node returned."""
    x = leaf(1.)
    y = x.sin()

    def spoil(grad_inputs, grad_outputs):
        with torch.no_grad():
            grad_inputs[0].fill_(NAN)

    y.grad_fn.register_hook(spoil)
    y.sum().backward()
    return x


def given():
    """backward is called with a NaN."""
    x = leaf(1.)
    x.sin().backward(torch.tensor([NAN]))
    return x


def fine():
    """Nothing: infinities of the forward pass that nobody's gradient depends on."""
    x = leaf(1.)
    y = x.exp()
    (y * 3).sum().backward()
    return x


def tensor_hook():
    """A hook on a tensor returns another gradient. (PyTorch alone.)"""
    x = leaf(1.)
    y = x.sin()
    y.register_hook(lambda grad: grad * NAN)
    y.exp().sum().backward()
    return x


def custom():
    """The forward of a custom function makes it, out of sight of history. (PyTorch alone.)"""
    class Root(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.sqrt()

        @staticmethod
        def backward(ctx, grad):
            return grad

    x = leaf(-1.)
    (Root.apply(x) * 2).sum().backward()
    return x


def overflow():
    """Two finite gradients whose sum is none. (Looked for by nonfinite alone.)"""
    x = leaf(2.)
    z = x.sin()
    ((z * 3e38).sum() + (z * 2e38).sum()).backward()
    return x


def in_order():
    """Five births in the forward pass. The backward pass meets them in another order."""
    x = torch.tensor([0., 1.], requires_grad=True)
    low = torch.log(x)
    nothing = low - low
    root = torch.sqrt(x - 2)
    high = torch.exp(x * 1000)
    torch.stack([nothing, root, high * 0]).sum().backward()
    return x


def fails():
    """A node raises while a NaN is on its way to it."""
    class Fails(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, grad):
            raise ValueError('it fails')

    x = leaf(2.)
    try:
        (Fails.apply(x).sin() * INF).sum().backward()
    except ValueError:
        pass
    x.grad = torch.zeros(1)
    return x


def nested():
    """A pass within a node, with the birth inside it."""
    class Nested(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, grad):
            with torch.enable_grad():
                node()
            return grad

    x = leaf(2.)
    Nested.apply(x).sum().backward()
    return x


def sparse():
    """A gradient that is not dense. (PyTorch alone.)"""
    x = torch.ones(5, 2, requires_grad=True)
    torch.nn.functional.embedding(torch.tensor([1, 3]), x, sparse=True).sum().backward()
    return x


def meta():
    """Gradients without memory: nothing to look at. (PyTorch alone.)"""
    x = torch.ones(3, requires_grad=True, device='meta')
    x.sin().sum().backward()
    return x


def values(grad):
    if getattr(grad, 'is_meta', False) or grad is None:
        return str(grad)
    return (grad.to_dense() if getattr(grad, 'is_sparse', False) else grad).tolist()


def main():
    warnings.simplefilter('ignore')
    cases = sys.argv[1:]
    if cases[-1] == 'detect':
        torch.autograd.set_detect_anomaly(True)
        cases.pop()
    for case in cases:
        try:
            print(values(globals()[case]().grad))
        except RuntimeError as error:
            print(error)


main()

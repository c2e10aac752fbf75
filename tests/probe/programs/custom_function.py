"""Functions of Python's own: several outputs, arguments that are no tensors, gradients that are None, double backward."""
import torch
from torch.autograd import Function
from torch.autograd.function import once_differentiable


class Exp(Function):
    @staticmethod
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, gradient):
        y, = ctx.saved_tensors
        return gradient * y


class ScaleAndShift(Function):
    @staticmethod
    def forward(ctx, x, scale, shift, note=None):
        ctx.scale, ctx.note = scale, note
        ctx.mark_non_differentiable(shift)
        return x * scale, x + shift, shift

    @staticmethod
    @once_differentiable
    def backward(ctx, scaled, shifted, _):
        return scaled * ctx.scale + shifted, None, None, None


class AddInPlace(Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.mark_dirty(x)
        return x.add_(y)

    @staticmethod
    def backward(ctx, gradient):
        return (gradient if ctx.needs_input_grad[0] else None), (gradient if ctx.needs_input_grad[1] else None)


torch.manual_seed(5)
x = torch.randn(4, requires_grad=True)
y = torch.randn(4, requires_grad=True)

a, b, _ = ScaleAndShift.apply(Exp.apply(x), 3.0, torch.ones(4), 'a note')
(a * b).sum().backward()
print('several outputs', x.grad)

first, = torch.autograd.grad(Exp.apply(x * 2).sum(), x, create_graph=True)
second, = torch.autograd.grad(first.pow(2).sum(), x)
print('second', second)

AddInPlace.apply(x * 1, y.sin()).prod().backward()
print('in place', x.grad, y.grad)

AddInPlace.apply(torch.ones(4), y).sum().backward()
print('not needed', y.grad)

"""Checkpoints inside checkpoints: forty backward passes lie inside one another."""
import torch


class Checkpoint(torch.autograd.Function):
    """Runs its function again in the backward pass, as torch.utils.checkpoint does."""

    @staticmethod
    def forward(ctx, function, x):
        ctx.function = function
        ctx.save_for_backward(x)
        with torch.no_grad():
            return function(x)

    @staticmethod
    def backward(ctx, gradient):
        x = ctx.saved_tensors[0].detach().requires_grad_()
        with torch.enable_grad():
            y = ctx.function(x)
        y.backward(gradient)
        return None, x.grad


def inside(depth):
    return lambda x: x * 1.01 if depth == 0 else Checkpoint.apply(inside(depth - 1), x) * 1.01


x = torch.ones(2, requires_grad=True)
inside(40)(x).sum().backward()
print('x.grad', x.grad)

"""Backward passes inside a backward pass: first one, then sixty-one inside one another."""
import torch

w = torch.tensor([0.5], requires_grad=True)
inner = w.exp().cos()


class CallsBackward(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        inner.backward()
        return gradient


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


def nested(depth):
    """A function with so many checkpoints inside one another."""
    return lambda x: x.tanh() if depth == 0 else Checkpoint.apply(nested(depth - 1), x)


x = torch.tensor([0.5], requires_grad=True)
early = x.sin()
(CallsBackward.apply(x) * early).backward()
nested(61)(x).backward()
print('w.grad', w.grad, 'x.grad', x.grad)

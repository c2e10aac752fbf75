"""Backward inside backward, 150 deep: beyond the sixtieth the engine hands inner passes to threads of a pool."""
import torch
from torch.autograd import Function


class Deep(Function):
    @staticmethod
    def forward(ctx, x, depth):
        ctx.depth = depth
        with torch.enable_grad():
            ctx.x = x.detach().requires_grad_()
            ctx.y = (ctx.x * 1.01).sin() if depth == 0 else Deep.apply(ctx.x * 1.01, depth - 1)
        return ctx.y.detach()

    @staticmethod
    def backward(ctx, gradient):
        torch.autograd.backward(ctx.y, gradient)
        return ctx.x.grad, None


for depth in (3, 150):
    x = torch.tensor([0.5, 0.25], requires_grad=True)
    Deep.apply(x, depth - 1).sum().backward()
    print(depth, x.grad)

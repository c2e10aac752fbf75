# SPDX-License-Identifier: LGPL-2.1-or-later
"""A penalty on the gradient of a Function that is differentiable once. As reported in https://github.com/NVlabs/tiny-cuda-nn/issues/50"""
import torch
from torch.autograd.function import once_differentiable

class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    @once_differentiable
    def backward(ctx, grad):
        x, = ctx.saved_tensors
        return 2 * x * grad

x = torch.randn(5, requires_grad=True)
w = torch.randn(5, requires_grad=True)
y = Square.apply(x * w).pow(2).sum()
g, = torch.autograd.grad(y, x, create_graph=True)
penalty = (g.norm() - 1) ** 2
penalty.backward()

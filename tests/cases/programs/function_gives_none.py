# SPDX-License-Identifier: LGPL-2.1-or-later
"""The backward of a Function returns None for a parameter. As reported in https://github.com/pytorch/pytorch/issues/45405"""
import torch
from torch import nn

class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor):
        ctx.save_for_backward(x, factor)
        return x * factor

    @staticmethod
    def backward(ctx, grad):
        x, factor = ctx.saved_tensors
        return grad * factor, None

torch.manual_seed(0)
net = nn.Linear(4, 4)
factor = nn.Parameter(torch.ones(4))
optimizer = torch.optim.SGD([*net.parameters(), factor], lr=0.1)
x = torch.randn(8, 4)
for _ in range(5):
    optimizer.zero_grad()
    Scale.apply(net(x), factor).pow(2).mean().backward()
    optimizer.step()

# SPDX-License-Identifier: LGPL-2.1-or-later
"""A custom Function keeps its result in its context. As reported in https://github.com/pytorch/pytorch/issues/25340"""
import torch
from torch import nn

class Exp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.result = torch.exp(x)
        return ctx.result

    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.result

torch.manual_seed(0)
net = nn.Linear(256, 256)
optimizer = torch.optim.SGD(net.parameters(), lr=0.001)
x = torch.randn(64, 256)
for _ in range(20):
    optimizer.zero_grad()
    loss = Exp.apply(net(x)).mean()
    loss.backward()
    optimizer.step()

# SPDX-License-Identifier: LGPL-2.1-or-later
"""A cross-entropy by hand, of a sigmoid that is 0 or 1. As reported in https://github.com/hwalsuklee/tensorflow-mnist-VAE/issues/4"""
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(3, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=1.0)
x = torch.cat([torch.randn(20, 3) + 40, torch.randn(20, 3) - 40])
y = torch.cat([torch.ones(20, 1), torch.zeros(20, 1)])
for _ in range(6):
    optimizer.zero_grad()
    p = torch.sigmoid(net(x))
    loss = -(y * torch.log(p) + (1 - y) * torch.log(1 - p)).mean()
    loss.backward()
    optimizer.step()
    print(loss.item())

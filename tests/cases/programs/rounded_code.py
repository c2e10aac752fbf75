# SPDX-License-Identifier: LGPL-2.1-or-later
"""A code is rounded before the loss. As reported in https://github.com/itayhubara/BinaryNet.pytorch/issues/25"""
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 4))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(32, 8), torch.randint(0, 3, (32, 4)).float()
for _ in range(6):
    optimizer.zero_grad()
    code = torch.round(net(x))
    loss = (code - y).pow(2).mean()
    loss.backward()
    optimizer.step()

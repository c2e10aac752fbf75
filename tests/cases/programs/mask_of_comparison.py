# SPDX-License-Identifier: LGPL-2.1-or-later
"""A mask is a comparison of what is to be learned. As reported in https://github.com/cwmok/DIRAC/issues/13"""
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 1))
scale = nn.Parameter(torch.ones(1))
optimizer = torch.optim.SGD([*net.parameters(), scale], lr=0.1)
x, y = torch.randn(32, 8), torch.randint(0, 2, (32, 1)).float()
for _ in range(6):
    optimizer.zero_grad()
    mask = (torch.sigmoid(net(x)) > 0.5).float()
    loss = (scale * mask - y).pow(2).mean()
    loss.backward()
    optimizer.step()

# SPDX-License-Identifier: LGPL-2.1-or-later
"""The optimizer never makes a step. As reported in https://github.com/tedlasai/learn2refocus/issues/5"""
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
x = torch.randn(40, 6)
y = x.sum(1, keepdim=True)
for epoch in range(6):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(net(x), y)
    loss.backward()
    print(epoch, loss.item())

# SPDX-License-Identifier: LGPL-2.1-or-later
"""Results are a column, targets a line. As reported in https://github.com/pytorch/pytorch/issues/19699"""
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
x = torch.randn(50, 3)
y = x.sum(1)
for _ in range(8):
    optimizer.zero_grad()
    loss = nn.MSELoss()(net(x), y)
    loss.backward()
    optimizer.step()
    print(loss.item())

# SPDX-License-Identifier: LGPL-2.1-or-later
"""A vector of zeros is divided by its norm. As reported in https://github.com/CorentinJ/Real-Time-Voice-Cloning/pull/678"""
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(6, 3), nn.ReLU())
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
x = torch.randn(16, 6)
goal = torch.randn(16, 3)
for _ in range(4):
    optimizer.zero_grad()
    z = net(x)
    z = z / z.norm(dim=1, keepdim=True)
    loss = 1 - (z * goal).sum(1).mean()
    loss.backward()
    optimizer.step()
    print(loss.item())

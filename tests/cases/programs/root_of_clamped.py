# SPDX-License-Identifier: LGPL-2.1-or-later
"""A distance is the root of what clamp() made 0. As reported in https://github.com/open-mmlab/mmrotate/issues/205"""
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(6, 4)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
x = torch.randn(8, 6)
x[5] = x[4]
for _ in range(4):
    optimizer.zero_grad()
    z = net(x)
    squared = z.pow(2).sum(1)
    distance2 = squared[:, None] + squared[None, :] - 2 * z @ z.t()
    distance = torch.sqrt(distance2.clamp(min=0))
    loss = distance.mean()
    loss.backward()
    optimizer.step()
    print(loss.item())

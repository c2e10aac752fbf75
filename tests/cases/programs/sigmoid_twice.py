# SPDX-License-Identifier: LGPL-2.1-or-later
"""A sigmoid before a loss that has one of its own. As reported in https://github.com/cvg/glue-factory/issues/89"""
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1), nn.Sigmoid())
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(32, 8), torch.randint(0, 2, (32, 1)).float()
for _ in range(6):
    optimizer.zero_grad()
    loss = nn.BCEWithLogitsLoss()(net(x), y)
    loss.backward()
    optimizer.step()
    print(loss.item())

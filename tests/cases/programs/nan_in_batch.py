# SPDX-License-Identifier: LGPL-2.1-or-later
"""A batch has a NaN. As reported in https://github.com/prs-eth/Marigold/issues/111"""
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
data = torch.randn(40, 4)
data[17, 2] = float('nan')
for step in range(5):
    x = data[8 * step:8 * step + 8]
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(net(x), x[:, :1])
    loss.backward()
    optimizer.step()
    print(loss.item())

# SPDX-License-Identifier: LGPL-2.1-or-later
"""A learning rate at which training diverges. As reported in https://github.com/NVlabs/Deep_Object_Pose/issues/74"""
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=5.0)
x = torch.randn(64, 10)
y = 3 * x[:, :1] + 1
for step in range(12):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(net(x), y)
    loss.backward()
    optimizer.step()
    print(step, loss.item())

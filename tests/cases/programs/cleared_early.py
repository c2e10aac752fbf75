# SPDX-License-Identifier: LGPL-2.1-or-later
"""Zero_grad() stands between backward() and step(). As reported in https://github.com/cloneofsimo/lora/issues/263"""
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
x = torch.randn(40, 6)
y = x.sum(1, keepdim=True)
for epoch in range(6):
    loss = nn.functional.mse_loss(net(x), y)
    loss.backward()
    optimizer.zero_grad()
    optimizer.step()
    print(epoch, loss.item())

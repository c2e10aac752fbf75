# SPDX-License-Identifier: LGPL-2.1-or-later
"""The mean of a selection that is empty in one batch. As reported in https://github.com/Deci-AI/super-gradients/issues/912"""
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for step in range(6):
    x = torch.randn(8, 4)
    target = torch.rand(8) if step != 3 else torch.zeros(8)
    optimizer.zero_grad()
    out = net(x).squeeze(1)
    positive = target > 0
    loss = (out[positive] - target[positive]).abs().mean()
    loss.backward()
    optimizer.step()
    print(loss.item())

# SPDX-License-Identifier: LGPL-2.1-or-later
"""The standard deviation of a single sample. As reported in https://github.com/digantamisra98/EvoNorm/pull/5"""
import torch

torch.manual_seed(0)
net = torch.nn.Linear(4, 3)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
data = torch.randn(9, 4)
for batch in data.split(4):              # the last batch has one row
    optimizer.zero_grad()
    h = net(batch)
    loss = ((h - h.mean(0)) / (h.std(0) + 1e-5)).square().mean()
    loss.backward()
    optimizer.step()
    print(len(batch), loss.item())

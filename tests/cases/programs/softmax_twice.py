# SPDX-License-Identifier: LGPL-2.1-or-later
"""A softmax before a cross-entropy, which has one of its own. As reported in https://github.com/bkitano/llama-from-scratch/issues/5"""
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 5), nn.Softmax(dim=1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(32, 8), torch.randint(0, 5, (32,))
for _ in range(6):
    optimizer.zero_grad()
    loss = nn.CrossEntropyLoss()(net(x), y)
    loss.backward()
    optimizer.step()
    print(loss.item())

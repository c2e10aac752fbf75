# SPDX-License-Identifier: LGPL-2.1-or-later
"""Layers are in a Python list, so parameters() lacks them. As reported in https://github.com/pytorch/pytorch/issues/715"""
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self, depth):
        super().__init__()
        self.first = nn.Linear(4, 8)
        self.layers = [nn.Linear(8, 8) for _ in range(depth)]
        self.last = nn.Linear(8, 2)

    def forward(self, x):
        x = torch.relu(self.first(x))
        for layer in self.layers:
            x = torch.relu(layer(x))
        return self.last(x)

torch.manual_seed(0)
net = Net(3)
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
x, y = torch.randn(32, 4), torch.randint(0, 2, (32,))
for _ in range(8):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(net(x), y)
    loss.backward()
    optimizer.step()

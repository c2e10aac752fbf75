# SPDX-License-Identifier: LGPL-2.1-or-later
"""A layer is frozen, and the optimizer changes it still. As reported in https://github.com/facebookresearch/fairseq/issues/4702"""
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9, weight_decay=0.01)
x, y = torch.randn(32, 4), torch.randint(0, 2, (32,))
for epoch in range(8):
    if epoch == 3:
        for p in net[0].parameters():
            p.requires_grad = False
    optimizer.zero_grad(set_to_none=False)
    loss = nn.functional.cross_entropy(net(x), y)
    loss.backward()
    optimizer.step()
    print(net[0].weight.sum().item())

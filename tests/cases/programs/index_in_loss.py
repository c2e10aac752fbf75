# SPDX-License-Identifier: LGPL-2.1-or-later
"""The loss is computed of the index of the greatest score. As reported in https://github.com/LZGMatrix/BOP19_CDPN_2019ICCV/issues/4"""
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(5, 8), nn.ReLU(), nn.Linear(8, 3))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(20, 5), torch.randint(0, 3, (20,)).float()
for _ in range(5):
    optimizer.zero_grad()
    predicted = torch.argmax(net(x), dim=1).float()
    loss = nn.functional.mse_loss(predicted, y)
    loss.backward()
    optimizer.step()

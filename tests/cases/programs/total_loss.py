# SPDX-License-Identifier: LGPL-2.1-or-later
"""Losses are added up with their graphs. As reported in https://github.com/google/brax/pull/152"""
import torch

torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(6, 12), torch.nn.Tanh(), torch.nn.Linear(12, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
total_loss = 0
for step in range(10):
    optimizer.zero_grad()
    loss = net(torch.randn(8, 6)).square().mean()
    loss.backward()
    optimizer.step()
    total_loss += loss
print(float(total_loss))

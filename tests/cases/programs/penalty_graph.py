# SPDX-License-Identifier: LGPL-2.1-or-later
"""Backward(create_graph=True) in each step. As reported in https://github.com/pytorch/pytorch/issues/4661"""
import torch

import warnings
warnings.simplefilter("ignore")
torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(3, 6), torch.nn.Tanh(), torch.nn.Linear(6, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for step in range(8):
    optimizer.zero_grad()
    net(torch.randn(5, 3)).square().mean().backward(create_graph=True)
    optimizer.step()

# SPDX-License-Identifier: LGPL-2.1-or-later
"""A penalty on the gradient at points, by backward(create_graph=True). As reported in https://github.com/pytorch/pytorch/issues/7343"""
import torch

import warnings
warnings.simplefilter("ignore")
torch.manual_seed(0)
critic = torch.nn.Sequential(torch.nn.Linear(3, 6), torch.nn.Tanh(), torch.nn.Linear(6, 1))
optimizer = torch.optim.SGD(critic.parameters(), lr=0.01)
for step in range(8):
    points = torch.randn(5, 3, requires_grad=True)
    critic(points).sum().backward(create_graph=True)
    penalty = (points.grad.norm(dim=1) - 1).square().mean()
    optimizer.zero_grad()
    penalty.backward()
    optimizer.step()

# SPDX-License-Identifier: LGPL-2.1-or-later
"""A policy's probability enters the loss as a number. As reported in https://github.com/isayev/ReLeaSE/issues/39"""
import torch

torch.manual_seed(0)
class Agent(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.policy, self.value = torch.nn.Linear(4, 3), torch.nn.Linear(4, 1)
net = Agent()
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
for step in range(3):
    optimizer.zero_grad()
    seen = torch.randn(4)
    chances = net.policy(seen).log_softmax(0)
    loss = (net.value(seen) - 1).square().sum()
    loss = loss - chances[0].item() * 0.9
    loss.backward()
    optimizer.step()

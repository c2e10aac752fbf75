# SPDX-License-Identifier: LGPL-2.1-or-later
"""A batch whose labels are all ignored. As reported in https://github.com/pytorch/pytorch/issues/75181"""
import torch

torch.manual_seed(0)
net = torch.nn.Linear(5, 3)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
labels = [torch.tensor([0, 2, 1, 1]), torch.tensor([2, -100, 0, 1]), torch.full((4,), -100)]
for step in range(3):
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(net(torch.randn(4, 5)), labels[step])
    loss.backward()
    optimizer.step()
    print(step, loss.item())

# SPDX-License-Identifier: LGPL-2.1-or-later
"""Validation without no_grad(), whose predictions are kept. As reported in https://github.com/skorch-dev/skorch/issues/218"""
import torch

torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(20, 40), torch.nn.ReLU(), torch.nn.Linear(40, 3))
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
predictions = []
for step in range(4):
    optimizer.zero_grad()
    torch.nn.functional.cross_entropy(net(torch.randn(16, 20)), torch.randint(3, (16,))).backward()
    optimizer.step()
net.eval()
for batch in range(12):
    predictions.append(net(torch.randn(64, 20)).softmax(1))
print(sum(len(p) for p in predictions))

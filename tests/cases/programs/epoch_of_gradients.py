# SPDX-License-Identifier: LGPL-2.1-or-later
"""Zero_grad() stands outside of the loop. As reported in https://github.com/salesforce/corr_based_prediction/issues/1"""
import torch

torch.manual_seed(0)
net = torch.nn.Linear(6, 2)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
optimizer.zero_grad()
for batch in range(12):
    loss = torch.nn.functional.cross_entropy(net(torch.randn(8, 6)), torch.randint(2, (8,)))
    loss.backward()
    optimizer.step()
print(loss.item())

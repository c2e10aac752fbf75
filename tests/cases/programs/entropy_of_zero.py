# SPDX-License-Identifier: LGPL-2.1-or-later
"""P log p with a probability of zero. As reported in https://github.com/huggingface/trl/issues/7221"""
import torch

torch.manual_seed(0)
policy = torch.nn.Linear(4, 3)
optimizer = torch.optim.SGD(policy.parameters(), lr=0.1)
allowed = torch.tensor([True, True, False])
for step in range(2):
    optimizer.zero_grad()
    scores = policy(torch.randn(6, 4)).masked_fill(~allowed, float("-inf"))
    logs = scores.log_softmax(1)
    loss = (logs.exp() * logs).sum(1).mean()
    loss.backward()
    optimizer.step()
    print(step, loss.item())

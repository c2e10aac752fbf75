# SPDX-License-Identifier: LGPL-2.1-or-later
"""Adam changes parameters in half precision. As reported in https://github.com/pytorch/pytorch/issues/8860"""
import torch

torch.manual_seed(0)
w = torch.nn.Parameter(torch.randn(16).half())
optimizer = torch.optim.Adam([w], lr=1e-3)
x = torch.randn(16).half()
x[3] = 0
for step in range(5):
    optimizer.zero_grad()
    loss = (w * x).float().pow(2).mean()
    loss.backward()
    optimizer.step()
    print(step, loss.item())

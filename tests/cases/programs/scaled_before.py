# SPDX-License-Identifier: LGPL-2.1-or-later
"""The optimizer gets a tensor that was scaled. As reported in https://github.com/pytorch/pytorch/issues/140469"""
import torch

torch.manual_seed(0)
w = torch.randn(5, requires_grad=True) * 0.1
x, y = torch.randn(20, 5), torch.randn(20)
loss = (x @ w - y).pow(2).mean()
loss.backward()
optimizer = torch.optim.SGD([w], lr=0.1)

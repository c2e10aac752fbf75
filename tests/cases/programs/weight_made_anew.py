# SPDX-License-Identifier: LGPL-2.1-or-later
"""A weight is replaced by what its update made, which has no .grad. As reported in https://github.com/BaiTheBest/SparseLLM/issues/13"""
import torch

w = torch.zeros(4, requires_grad=True)
x, y = torch.randn(30, 4), torch.randn(30)
for _ in range(5):
    loss = ((x @ w - y) ** 2).mean()
    loss.backward()
    w = w - 0.1 * w.grad

# SPDX-License-Identifier: LGPL-2.1-or-later
"""A branch that where() does not take has a logarithm of zero. As reported in https://github.com/pytorch/pytorch/issues/108618"""
import torch

torch.manual_seed(0)
rate = torch.nn.Linear(3, 3)
torch.nn.init.zeros_(rate.bias)
h = rate(torch.zeros(2, 3)).square()     # zeros
out = torch.where(h > 0.5, h.log2(), 2 * h)
out.sum().backward()
print(rate.bias.grad)

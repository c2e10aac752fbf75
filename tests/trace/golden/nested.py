# SPDX-License-Identifier: LGPL-2.1-or-later
"""A write in place, and a hook that runs a pass of its own: what nested.tape records."""
import torch

x = torch.ones(2, requires_grad=True)
y = x * 2
y.mul_(3)


def hook(gradient):
    with torch.enable_grad():
        (torch.ones(1, requires_grad=True) * 2).backward()


y.register_hook(hook)
y.sum().backward()

# SPDX-License-Identifier: LGPL-2.1-or-later
"""A skip connection is added in place to the result of a ReLU. As reported in https://github.com/lyongo/NWPU-MOC/issues/4"""
import torch

class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = torch.nn.Conv2d(2, 2, 3, padding=1), torch.nn.Conv2d(2, 2, 3, padding=1)
    def forward(self, x):
        h = self.first(x).relu()
        g = self.second(h)
        h += g
        return h
torch.manual_seed(0)
Block()(torch.randn(1, 2, 6, 6)).mean().backward()

# SPDX-License-Identifier: LGPL-2.1-or-later
"""A loss for each sample, not their mean. As reported in https://github.com/WisconsinAIVision/MaskPoint/issues/7"""
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(5, 3)
x, y = torch.randn(20, 5), torch.randint(0, 3, (20,))
loss = nn.CrossEntropyLoss(reduction='none')(net(x), y)
loss.backward()

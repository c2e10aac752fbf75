# SPDX-License-Identifier: LGPL-2.1-or-later
"""Features were computed under inference_mode(). As reported in https://github.com/facebookresearch/dinov2/issues/399"""
import torch
from torch import nn

torch.manual_seed(0)
teacher, student = nn.Linear(4, 4), nn.Linear(4, 4)
optimizer = torch.optim.SGD(student.parameters(), lr=0.1)
x = torch.randn(8, 4)
with torch.inference_mode():
    goal = teacher(x)
for _ in range(3):
    optimizer.zero_grad()
    loss = (student(x) * goal).sum()
    loss.backward()
    optimizer.step()

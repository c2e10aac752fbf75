# SPDX-License-Identifier: LGPL-2.1-or-later
"""A power with an exponent below one, of values that are zero. As reported in https://github.com/tensorflow/mesh/issues/6"""
import torch

image = torch.nn.Parameter(torch.tensor([0.0, 0.3, 0.9]))
optimizer = torch.optim.SGD([image], lr=0.01)
for step in range(2):
    optimizer.zero_grad()
    loss = (image ** 0.45 - 0.5).square().sum()
    loss.backward()
    optimizer.step()
    print(step, loss.item(), image.grad)

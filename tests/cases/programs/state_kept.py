# SPDX-License-Identifier: LGPL-2.1-or-later
"""The hidden state goes to the next step with its graph. As reported in https://github.com/MorvanZhou/PyTorch-Tutorial/issues/57"""
import torch

torch.manual_seed(0)
cell, head = torch.nn.GRU(2, 8, batch_first=True), torch.nn.Linear(8, 1)
optimizer = torch.optim.Adam([*cell.parameters(), *head.parameters()])
state = None
for step in range(3):
    optimizer.zero_grad()
    out, state = cell(torch.randn(1, 5, 2), state)
    head(out).square().mean().backward()
    optimizer.step()

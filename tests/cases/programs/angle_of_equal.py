# SPDX-License-Identifier: LGPL-2.1-or-later
"""The angle between two equal vectors: acos of 1. As reported in https://github.com/pytorch/pytorch/issues/8069"""
import torch

turn = torch.nn.Linear(3, 3, bias=False)
torch.nn.init.eye_(turn.weight)
a = torch.tensor([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
cosine = torch.nn.functional.cosine_similarity(turn(a), a).clamp(-1, 1)
loss = cosine.acos().mean()
loss.backward()
print(loss.item(), turn.weight.grad.isnan().any().item())

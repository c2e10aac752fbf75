# SPDX-License-Identifier: LGPL-2.1-or-later
"""PyTorch recipes: memory for time with checkpoints, accumulated gradients"""
import torch
import torch.nn as nn
from torch.utils.checkpoint import checkpoint, checkpoint_sequential

torch.manual_seed(0)
model = nn.Sequential(*[nn.Sequential(nn.Linear(8, 8), nn.Tanh()) for _ in range(4)])
x = torch.randn(6, 8, requires_grad=True)
plain = model(x).sum()
plain.backward()
expected = [p.grad.clone() for p in model.parameters()]
model.zero_grad()
out = checkpoint_sequential(model, 2, x, use_reentrant=False)
out.sum().backward()
print(all(torch.equal(p.grad, e) for p, e in zip(model.parameters(), expected)))
model.zero_grad()
y = x
for block in model:
    y = checkpoint(block, y, use_reentrant=True)
y.sum().backward()
print(all(torch.equal(p.grad, e) for p, e in zip(model.parameters(), expected)))
model.zero_grad()
for part in x.detach().chunk(3):
    (model(part).sum()).backward()
print([torch.allclose(p.grad, e, atol=1e-6) for p, e in zip(model.parameters(), expected)][:4])
drop = nn.Sequential(nn.Linear(8, 8), nn.Dropout(0.5))
torch.manual_seed(7)
a = checkpoint(drop, x, use_reentrant=False).sum()
a.backward()
print(f'{a.item():.4f} {drop[0].bias.grad.sum().item():.4f}')

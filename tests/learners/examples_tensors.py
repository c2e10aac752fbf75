# SPDX-License-Identifier: LGPL-2.1-or-later
"""PyTorch tutorials, Learning PyTorch with Examples: tensors"""
import math

import torch

torch.manual_seed(0)
dtype, device = torch.float, torch.device('cpu')
x = torch.linspace(-math.pi, math.pi, 200, device=device, dtype=dtype)
y = torch.sin(x)
a, b, c, d = (torch.randn((), device=device, dtype=dtype) for _ in range(4))
for t in range(200):
    y_pred = a + b * x + c * x ** 2 + d * x ** 3
    loss = (y_pred - y).pow(2).sum().item()
    if t % 50 == 49:
        print(t, f'{loss:.4f}')
    grad = 2.0 * (y_pred - y)
    a -= 1e-6 * grad.sum()
    b -= 1e-6 * (grad * x).sum()
    c -= 1e-6 * (grad * x ** 2).sum()
    d -= 1e-6 * (grad * x ** 3).sum()
print(f'y = {a.item():.4f} + {b.item():.4f} x + {c.item():.4f} x^2 + {d.item():.4f} x^3')

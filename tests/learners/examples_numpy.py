# SPDX-License-Identifier: LGPL-2.1-or-later
"""PyTorch tutorials, Learning PyTorch with Examples: numpy"""
import math

import numpy as np

np.random.seed(0)
x = np.linspace(-math.pi, math.pi, 200)
y = np.sin(x)
a, b, c, d = np.random.randn(4)
for t in range(200):
    y_pred = a + b * x + c * x ** 2 + d * x ** 3
    loss = np.square(y_pred - y).sum()
    if t % 50 == 49:
        print(t, f'{loss:.4f}')
    grad = 2.0 * (y_pred - y)
    a -= 1e-6 * grad.sum()
    b -= 1e-6 * (grad * x).sum()
    c -= 1e-6 * (grad * x ** 2).sum()
    d -= 1e-6 * (grad * x ** 3).sum()
print(f'y = {a:.4f} + {b:.4f} x + {c:.4f} x^2 + {d:.4f} x^3')

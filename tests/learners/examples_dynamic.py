# SPDX-License-Identifier: LGPL-2.1-or-later
"""PyTorch tutorials, Learning PyTorch with Examples: control flow and weight sharing"""
import math
import random

import torch


class DynamicNet(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.a = torch.nn.Parameter(torch.randn(()))
        self.b = torch.nn.Parameter(torch.randn(()))
        self.c = torch.nn.Parameter(torch.randn(()))
        self.d = torch.nn.Parameter(torch.randn(()))
        self.e = torch.nn.Parameter(torch.randn(()))

    def forward(self, x):
        y = self.a + self.b * x + self.c * x ** 2 + self.d * x ** 3
        for exp in range(4, random.randint(4, 6)):
            y = y + self.e * x ** exp
        return y

    def string(self):
        return f'y = {self.a.item():.3f} + {self.b.item():.3f} x + {self.e.item():.3f} x^4 ?'


random.seed(0)
torch.manual_seed(0)
x = torch.linspace(-math.pi, math.pi, 200)
y = torch.sin(x)
model = DynamicNet()
criterion = torch.nn.MSELoss(reduction='sum')
optimizer = torch.optim.SGD(model.parameters(), lr=1e-8, momentum=0.9)
for t in range(60):
    loss = criterion(model(x), y)
    if t % 20 == 19:
        print(t, f'{loss.item():.2f}')
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(model.string())

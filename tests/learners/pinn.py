# SPDX-License-Identifier: LGPL-2.1-or-later
"""Small programs: a differential equation as a loss"""
import torch
import torch.nn as nn

torch.manual_seed(123)
net = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 16), nn.Tanh(), nn.Linear(16, 1))
t_boundary = torch.tensor(0.).view(-1, 1).requires_grad_(True)
t_physics = torch.linspace(0, 1, 20).view(-1, 1).requires_grad_(True)
d, w0 = 2, 8
mu, k = 2 * d, w0 ** 2
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
for i in range(12):
    optimizer.zero_grad()
    u = net(t_boundary)
    loss1 = (torch.squeeze(u) - 1) ** 2
    dudt = torch.autograd.grad(u, t_boundary, torch.ones_like(u), create_graph=True)[0]
    loss2 = (torch.squeeze(dudt) - 0) ** 2
    u = net(t_physics)
    dudt = torch.autograd.grad(u, t_physics, torch.ones_like(u), create_graph=True)[0]
    d2udt2 = torch.autograd.grad(dudt, t_physics, torch.ones_like(dudt), create_graph=True)[0]
    loss3 = torch.mean((d2udt2 + mu * dudt + k * u) ** 2)
    loss = loss1 + 1e-1 * loss2 + 1e-4 * loss3
    loss.backward()
    optimizer.step()
    if i % 4 == 0:
        print(i, f'{loss1.item():.4f} {loss2.item():.4f} {loss3.item():.3f}')

# SPDX-License-Identifier: LGPL-2.1-or-later
"""Small programs: a Wasserstein GAN with a gradient penalty"""
import torch
import torch.autograd as autograd
import torch.nn as nn

torch.manual_seed(0)
G = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
D = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
opt_G = torch.optim.Adam(G.parameters(), lr=1e-3, betas=(0.5, 0.9))
opt_D = torch.optim.Adam(D.parameters(), lr=1e-3, betas=(0.5, 0.9))


def compute_gradient_penalty(D, real, fake):
    alpha = torch.rand(real.size(0), 1)
    interpolates = (alpha * real + (1 - alpha) * fake).requires_grad_(True)
    d_interpolates = D(interpolates)
    gradients = autograd.grad(outputs=d_interpolates, inputs=interpolates, grad_outputs=torch.ones(real.size(0), 1),
                              create_graph=True, retain_graph=True, only_inputs=True)[0]
    return ((gradients.norm(2, dim=1) - 1) ** 2).mean()


for i in range(6):
    real = torch.randn(16, 2) * 0.5 + 1
    fake = G(torch.randn(16, 4))
    opt_D.zero_grad()
    d_loss = -D(real).mean() + D(fake.detach()).mean() + 10 * compute_gradient_penalty(D, real.data, fake.data)
    d_loss.backward()
    opt_D.step()
    if i % 2 == 1:
        opt_G.zero_grad()
        g_loss = -D(G(torch.randn(16, 4))).mean()
        g_loss.backward()
        opt_G.step()
        print(i, f'{d_loss.item():.4f} {g_loss.item():.4f}')

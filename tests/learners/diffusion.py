# SPDX-License-Identifier: LGPL-2.1-or-later
"""Small programs: denoising diffusion of points"""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
T = 20
betas = torch.linspace(1e-4, 0.02, T)
alphas = 1. - betas
alphas_cumprod = torch.cumprod(alphas, dim=0)
alphas_cumprod_prev = F.pad(alphas_cumprod[:-1], (1, 0), value=1.0)
posterior_variance = betas * (1. - alphas_cumprod_prev) / (1. - alphas_cumprod)


def embed(t, dim=8):
    half = dim // 2
    freqs = torch.exp(-math.log(10000) * torch.arange(half) / (half - 1))
    args = t[:, None] * freqs[None, :]
    return torch.cat((args.sin(), args.cos()), dim=-1)


model = nn.Sequential(nn.Linear(2 + 8, 32), nn.SiLU(), nn.Linear(32, 32), nn.SiLU(), nn.Linear(32, 2))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
x0 = torch.stack([torch.linspace(-1, 1, 32), torch.linspace(-1, 1, 32) ** 2], 1)
for step in range(12):
    t = torch.randint(0, T, (32,))
    noise = torch.randn_like(x0)
    a = alphas_cumprod.gather(0, t).sqrt()[:, None]
    s = (1 - alphas_cumprod.gather(0, t)).sqrt()[:, None]
    loss = F.smooth_l1_loss(model(torch.cat([a * x0 + s * noise, embed(t)], 1)), noise)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 4 == 3:
        print(step, f'{loss.item():.4f}')
with torch.no_grad():
    x = torch.randn(4, 2)
    for i in reversed(range(T)):
        eps = model(torch.cat([x, embed(torch.full((4,), i))], 1))
        mean = (x - betas[i] / (1 - alphas_cumprod[i]).sqrt() * eps) / alphas[i].sqrt()
        x = mean if i == 0 else mean + posterior_variance[i].sqrt() * torch.randn_like(x)
print(x.abs().mean() < 10, x.shape, posterior_variance[:3])

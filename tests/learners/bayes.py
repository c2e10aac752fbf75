# SPDX-License-Identifier: LGPL-2.1-or-later
"""Small programs: Bayes by backprop with distributions"""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Normal, kl_divergence

torch.manual_seed(0)


class BayesLinear(nn.Module):
    def __init__(self, n_in, n_out):
        super().__init__()
        self.mu = nn.Parameter(torch.empty(n_out, n_in).normal_(0, 0.1))
        self.rho = nn.Parameter(torch.full((n_out, n_in), -3.0))

    def forward(self, x):
        posterior = Normal(self.mu, F.softplus(self.rho))
        self.kl = kl_divergence(posterior, Normal(torch.zeros_like(self.mu), torch.ones_like(self.mu))).sum()
        return F.linear(x, posterior.rsample())


net = nn.Sequential(BayesLinear(1, 16), nn.Tanh(), BayesLinear(16, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=0.02)
x = torch.linspace(-1, 1, 24).unsqueeze(1)
y = x ** 3 + 0.05 * torch.randn(24, 1)
for epoch in range(6):
    loss = -Normal(net(x), 0.1).log_prob(y).mean() + (net[0].kl + net[2].kl) / 1000
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(epoch, f'{loss.item():.4f}')

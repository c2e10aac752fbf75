# SPDX-License-Identifier: LGPL-2.1-or-later
"""Neural networks, zero to hero, makemore: a tree of pairs as in WaveNet"""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(42)


class FlattenConsecutive(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.n = n

    def forward(self, x):
        B, T, C = x.shape
        x = x.view(B, T // self.n, C * self.n)
        return x.squeeze(1) if x.shape[1] == 1 else x


class BatchNorm(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.gamma, self.beta = nn.Parameter(torch.ones(dim)), nn.Parameter(torch.zeros(dim))

    def forward(self, x):
        dim = 0 if x.ndim == 2 else (0, 1)
        xmean, xvar = x.mean(dim, keepdim=True), x.var(dim, keepdim=True)
        return self.gamma * (x - xmean) / torch.sqrt(xvar + 1e-5) + self.beta


n_hidden = 16
model = nn.Sequential(nn.Embedding(27, 8),
                      FlattenConsecutive(2), nn.Linear(16, n_hidden, bias=False), BatchNorm(n_hidden), nn.Tanh(),
                      FlattenConsecutive(2), nn.Linear(2 * n_hidden, n_hidden, bias=False), BatchNorm(n_hidden), nn.Tanh(),
                      FlattenConsecutive(2), nn.Linear(2 * n_hidden, n_hidden, bias=False), BatchNorm(n_hidden), nn.Tanh(),
                      nn.Linear(n_hidden, 27))
with torch.no_grad():
    model[-1].weight *= 0.1
print(sum(p.nelement() for p in model.parameters()))
X, Y = torch.randint(0, 27, (64, 8)), torch.randint(0, 27, (64,))
lossi = []
for i in range(10):
    ix = torch.randint(0, 64, (16,))
    loss = F.cross_entropy(model(X[ix]), Y[ix])
    for p in model.parameters():
        p.grad = None
    loss.backward()
    for p in model.parameters():
        p.data += -0.1 * p.grad
    lossi.append(loss.log10().item())
print(torch.tensor(lossi).view(-1, 5).mean(1))

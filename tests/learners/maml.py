# SPDX-License-Identifier: LGPL-2.1-or-later
"""Small programs: learning to learn, gradients through updates"""
import torch
import torch.nn.functional as F

torch.manual_seed(0)
params = [torch.randn(8, 1) * 0.5, torch.zeros(8), torch.randn(1, 8) * 0.5, torch.zeros(1)]
for p in params:
    p.requires_grad_()


def net(x, params):
    return F.linear(torch.tanh(F.linear(x, params[0], params[1])), params[2], params[3])


outer = torch.optim.Adam(params, lr=1e-2)
for iteration in range(5):
    outer.zero_grad()
    meta_loss = 0
    for task in range(2):
        phase, amplitude = torch.rand(1) * 3.14, torch.rand(1) * 4 + 0.1
        x = torch.rand(10, 1) * 10 - 5
        y = amplitude * torch.sin(x + phase)
        fast = params
        for _ in range(2):
            grads = torch.autograd.grad(F.mse_loss(net(x[:5], fast), y[:5]), fast, create_graph=True)
            fast = [w - 0.05 * g for w, g in zip(fast, grads)]
        meta_loss = meta_loss + F.mse_loss(net(x[5:], fast), y[5:])
    meta_loss.backward()
    outer.step()
    print(iteration, f'{meta_loss.item():.4f} {params[0].grad.norm().item():.4f}')

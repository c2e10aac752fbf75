# SPDX-License-Identifier: LGPL-2.1-or-later
"""PyTorch tutorials and recipes: learning rates, clipping, weight decay and averages"""
import torch
from torch import nn
from torch.optim import SGD, Adam, lr_scheduler

torch.manual_seed(0)
for name, make in (('lambda', lambda o: lr_scheduler.LambdaLR(o, lambda epoch: 0.65 ** epoch)),
                   ('step', lambda o: lr_scheduler.StepLR(o, 2, 0.1)),
                   ('multi', lambda o: lr_scheduler.MultiStepLR(o, [1, 3], 0.5)),
                   ('exp', lambda o: lr_scheduler.ExponentialLR(o, 0.9)),
                   ('cosine', lambda o: lr_scheduler.CosineAnnealingLR(o, 5)),
                   ('one cycle', lambda o: lr_scheduler.OneCycleLR(o, 0.1, total_steps=10)),
                   ('warm', lambda o: lr_scheduler.LinearLR(o, 0.5, total_iters=3)),
                   ('restarts', lambda o: lr_scheduler.CosineAnnealingWarmRestarts(o, 3))):
    model = nn.Linear(2, 1)
    optimizer = SGD(model.parameters(), lr=0.1, momentum=0.9)
    scheduler, rates = make(optimizer), []
    for epoch in range(5):
        optimizer.step()
        scheduler.step()
        rates.append(f'{scheduler.get_last_lr()[0]:.5f}')
    print(name, rates)
plateau_optimizer = Adam(model.parameters(), lr=0.1)
plateau = lr_scheduler.ReduceLROnPlateau(plateau_optimizer, 'min', patience=1)
for loss in (1.0, 0.9, 0.9, 0.9, 0.9):
    plateau.step(loss)
    print(plateau_optimizer.param_groups[0]['lr'])
ema = [p.detach().clone() for p in model.parameters()]
for p, e in zip(model.parameters(), ema):
    e.mul_(0.9).add_(p.detach(), alpha=0.1)
model(torch.ones(3, 2)).pow(2).sum().backward()
print(f'{torch.nn.utils.clip_grad_norm_(model.parameters(), 0.1).item():.4f}', torch.nn.utils.parameters_to_vector(ema).shape)

"""Activation checkpointing, both ways: re-entrant (a node that calls backward), also nested, and by hooks."""
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint, checkpoint_sequential

torch.manual_seed(4)
blocks = nn.ModuleList(nn.Sequential(nn.Linear(12, 12), nn.Tanh(), nn.Linear(12, 12)) for _ in range(4))


def nested(x):
    return blocks[1](checkpoint(blocks[0], x, use_reentrant=True))


def gradients():
    norms = [round(p.grad.norm().item(), 6) for p in blocks.parameters() if p.grad is not None]
    for parameter in blocks.parameters():
        parameter.grad = None
    return norms


x = torch.randn(5, 12, requires_grad=True)
y = x
for block in blocks:
    y = checkpoint(block, y, use_reentrant=True)
y.sum().backward()
print('re-entrant', gradients())

checkpoint(nested, x, use_reentrant=True).sum().backward()
print('nested', gradients())

checkpoint(blocks[2], x, use_reentrant=False).sum().backward()
print('by hooks', gradients())

torch.nn.functional.mse_loss(blocks[3](nested(x)), x.detach()).backward()
print('in the middle', gradients(), round(x.grad.norm().item(), 6))

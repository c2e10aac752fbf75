"""Checkpoints of both kinds: one runs a backward pass inside the other, the other one runs forward again when a tensor is missing."""
import torch
from torch.utils.checkpoint import checkpoint

torch.manual_seed(0)
first, second = torch.nn.Linear(4, 4), torch.nn.Linear(4, 4)
x = torch.randn(3, 4, requires_grad=True)

h = checkpoint(lambda x: first(x).tanh(), x, use_reentrant=True)
y = checkpoint(lambda h: second(h).tanh(), h, use_reentrant=False)
y.sum().backward()
print('x.grad', x.grad.shape, 'first', first.weight.grad is not None, 'second', second.weight.grad is not None)

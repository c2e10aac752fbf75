"""Ties: seven leaves are ready at once, and nothing tells them apart. The heap of the ready queue pops them in an order of its own."""
import torch

leaves = [torch.tensor([float(i)], requires_grad=True) for i in range(7)]
torch.cat(leaves).sum().backward()
print('all have gradients:', all(leaf.grad is not None for leaf in leaves))

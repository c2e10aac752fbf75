"""exp(x).sum(): a chain, the smallest backward pass there is."""
import torch

x = torch.tensor([0.0, 1.0, 2.0], requires_grad=True)
torch.exp(x).sum().backward()

print('x.grad', x.grad)

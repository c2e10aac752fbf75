"""A diamond: two branches part in the forward pass and meet again in one input buffer."""
import torch

x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
y = x * 2
z = y * 3 + y.sin()
z.backward(torch.ones(3))

print('x.grad', x.grad)

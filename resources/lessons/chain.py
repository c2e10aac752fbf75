"""Three operations, one after the other: the backward pass goes the way back."""
import torch

x = torch.tensor([0.5], requires_grad=True)
loss = x.sin().exp() * 3
loss.backward()
print('x.grad', x.grad)

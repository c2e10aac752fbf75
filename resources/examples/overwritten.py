"""A tensor that exp saved for its backward function is written into in place: the backward pass refuses it."""
import torch

x = torch.ones(3, requires_grad=True)
y = torch.exp(x)
y.add_(1)  # exp needs y as it was
try:
    y.sum().backward()
except RuntimeError as error:
    print(str(error).split(':')[0])

"""One value used four times: the engine counts the edges of the pass, not the uses."""
import torch

x = torch.tensor([0.5], requires_grad=True)
h = x.sin()
square = h * h
power = h.exp()
unused = h.cos()  # not part of the loss
loss = square + power
loss.backward()
print('x.grad', x.grad)

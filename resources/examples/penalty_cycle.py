"""A gradient penalty with create_graph=True: each step's gradient keeps the graph that made it, and so all earlier ones."""
import torch

w = torch.tensor([1.0, 2.0], requires_grad=True)
for step in range(6):
    x = torch.tensor([0.5, 0.25 * step])
    loss = (w * x).square().sum()
    loss.backward(create_graph=True)  # torch.autograd.grad(loss, w, create_graph=True) makes no such circle
    penalty = w.grad.square().sum()

print(f'penalty {penalty.item():.3f}')
w.grad = None  # breaks the circle; without it the graphs stay until the program ends

"""A where mask hides a NaN in the forward pass, but the backward pass still finds it."""
# anomaly: nonfinite
import torch

x = torch.tensor([0.0, 1.0, 4.0], requires_grad=True)
safe = torch.where(x > 0, torch.sqrt(x), torch.zeros(3))
safe.sum().backward()

print('result', safe.detach())
print('x.grad', x.grad)

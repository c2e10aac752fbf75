"""The gradient of sqrt at zero is infinite, and 0 * inf is NaN: where was it born?"""
# anomaly: nonfinite
import torch

x = torch.tensor([0.0, 4.0], requires_grad=True)
y = torch.sqrt(x)
z = torch.sqrt(y)
(z * torch.tensor([0.0, 1.0])).sum().backward()

print('x.grad', x.grad)

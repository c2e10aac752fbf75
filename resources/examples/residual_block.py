"""x + relu(x @ w): the gradient of the shortcut waits for the one from the long way."""
import torch

torch.manual_seed(1)
x = torch.randn(4, 8, requires_grad=True)
w = torch.randn(8, 8, requires_grad=True)
r = x + torch.relu(x @ w)
r.sum().backward()

print('x.grad sums to', round(x.grad.sum().item(), 3))
print('w.grad sums to', round(w.grad.sum().item(), 3))

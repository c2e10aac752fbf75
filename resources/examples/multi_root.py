"""Two roots at once: the GraphRoot gives each its gradient."""
import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
a = 2 * x
b = torch.sin(x)
torch.autograd.backward([a, b], [torch.ones(2), torch.ones(2)])

print('x.grad', x.grad)

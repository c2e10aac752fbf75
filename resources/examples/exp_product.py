"""exp(x*y).sum() with inputs=[x]: the engine does not compute the gradient of y."""
import torch

x = torch.tensor([0.1, 0.8], requires_grad=True)
y = torch.tensor([0.5, 1.2], requires_grad=True)
torch.exp(x * y).sum().backward(inputs=[x])

print('x.grad', x.grad)
print('y.grad', y.grad)

"""Gradients of chosen inputs: grad() and backward(inputs=), unused ones, several roots, graphs kept and derived again."""
import torch

torch.manual_seed(7)
x, y, z = (torch.randn(3, requires_grad=True) for _ in range(3))
unused = torch.randn(1, requires_grad=True)

h = (x * y).tanh()
loss = (h * z).sum() + h.pow(2).mean()
print('one', torch.autograd.grad(loss, x, retain_graph=True))
print('inner', torch.autograd.grad(loss, [h, z], retain_graph=True))
print('unused', torch.autograd.grad(loss, [y, unused], retain_graph=True, allow_unused=True))
loss.backward(inputs=[y])
print('inputs', x.grad, y.grad, z.grad)

a, b = (x * 2).exp(), (y - z).sin()
print('several roots', torch.autograd.grad([a, b], [x, y], [torch.ones(3), torch.arange(3.)]))

a, b = x.exp() * y, y.cos()
torch.autograd.backward([a, b], [torch.ones(3), torch.ones(3)])
print('accumulated', x.grad, y.grad)

energy = (x.pow(3) * y).sum()
first, = torch.autograd.grad(energy, x, create_graph=True)
second, = torch.autograd.grad(first.sum(), x, create_graph=True)
penalty = first.norm() + second.sum()
penalty.backward()
print('penalty', x.grad, y.grad)

kept = (x * y * z).sum()
for _ in range(3):
    kept.backward(retain_graph=True)
print('kept', z.grad)

leaf = torch.ones((), requires_grad=True)
leaf.backward()
print('a leaf as root', leaf.grad)

pairs = torch.autograd.grad(x * y, x, torch.eye(3), is_grads_batched=True)
print('batched', pairs)

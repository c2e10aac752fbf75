"""Hooks of every kind: around a node, and around a leaf."""
import torch

x = torch.tensor([0.0], requires_grad=True)
y = -x
y.register_hook(lambda gradient: gradient * 10)
y.retain_grad()
y.grad_fn.register_prehook(lambda gradients: (gradients[0] + 1,))
y.grad_fn.register_hook(lambda results, gradients: (results[0] - 2,))

x.register_hook(lambda gradient: gradient + 3)
leaf = y.grad_fn.next_functions[0][0]
leaf.register_prehook(lambda gradients: None)
leaf.register_hook(lambda results, gradients: None)
if hasattr(x, 'register_post_accumulate_grad_hook'):  # PyTorch 2.1 and newer
    x.register_post_accumulate_grad_hook(lambda tensor: None)

loss = y * 3 + x.exp()
loss.backward()
print('y.grad', y.grad)
print('x.grad', x.grad)

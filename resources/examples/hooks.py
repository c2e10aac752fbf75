"""Hooks of every kind, around a node and around a leaf. Each of them prints when it is called."""
import torch


def says(name, change=lambda gradient: None):
    def hook(*gradients):
        print(name)
        return change(gradients[0])
    return hook


x = torch.tensor([2.0], requires_grad=True)
y = x * x
node, leaf = y.grad_fn, y.grad_fn.next_functions[0][0]

y.register_hook(says('tensor hook of y: doubles its gradient', lambda gradient: gradient * 2))
y.retain_grad()
node.register_prehook(says('pre-hook of the node that made y'))
node.register_hook(says('hook of the node that made y'))
x.register_hook(says('tensor hook of the leaf x'))
leaf.register_prehook(says("pre-hook of the leaf's node"))
leaf.register_hook(says("hook of the leaf's node"))
if hasattr(x, 'register_post_accumulate_grad_hook'):  # PyTorch 2.1 and newer
    x.register_post_accumulate_grad_hook(says('post-accumulate hook of x: its gradient is stored'))

y.exp().backward()
print('y.grad', y.grad)
print('x.grad', x.grad)

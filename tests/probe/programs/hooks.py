"""Hooks of every kind that this PyTorch has, each printing what it is given."""
import torch
from torch import nn

torch.manual_seed(10)


def size(gradients):
    return [None if g is None else round(g.norm().item(), 5) for g in gradients]


x = torch.randn(3, requires_grad=True)
inner = x.exp()
inner.register_hook(lambda g: print('tensor', size([g])))
inner.register_hook(lambda g: g * 2)
inner.retain_grad()
x.register_hook(lambda g: print('leaf', size([g])))
y = (inner * x).sin()
y.grad_fn.register_hook(lambda inputs, outputs: print('node', size(inputs), size(outputs)))
if hasattr(y.grad_fn, 'register_prehook'):
    y.grad_fn.register_prehook(lambda gradients: print('before the node', size(gradients)))
if hasattr(x, 'register_post_accumulate_grad_hook'):
    x.register_post_accumulate_grad_hook(lambda leaf: print('after the leaf', size([leaf.grad])))
y.sum().backward()
print('retained', inner.grad)

net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
net[1].register_full_backward_hook(lambda module, inputs, outputs: print('module', size(inputs), size(outputs)))
if hasattr(net[1], 'register_full_backward_pre_hook'):
    net[1].register_full_backward_pre_hook(lambda module, outputs: print('before the module', size(outputs)))
handle = net[0].weight.register_hook(lambda g: g.clamp(-0.1, 0.1))
net(torch.randn(5, 3)).pow(2).sum().backward()
handle.remove()
print('clamped', net[0].weight.grad.abs().max().item() <= 0.2)

multi = getattr(torch.autograd.graph, 'register_multi_grad_hook', None)
a, b = torch.randn(2, requires_grad=True), torch.randn(2, requires_grad=True)
if multi:
    multi((a, b), lambda gradients: print('both', size(gradients)))
(a.exp() * b.exp()).sum().backward()

with torch.autograd.graph.saved_tensors_hooks(lambda t: t.numpy().copy(), lambda n: torch.from_numpy(n)):
    z = (a.detach().requires_grad_() ** 2).exp()
z.sum().backward()
print('packed', a.grad, b.grad)

done = []
c = torch.randn(2, requires_grad=True)
d = c * 3
d.register_hook(lambda g: torch.autograd.Variable._execution_engine.queue_callback(lambda: done.append('final')))
d.sum().backward()
print('callback', done)

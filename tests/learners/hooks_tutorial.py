# SPDX-License-Identifier: LGPL-2.1-or-later
"""PyTorch tutorials, forward and backward hooks of modules and tensors"""
import torch
import torch.nn as nn

torch.manual_seed(0)
activation, gradients = {}, []


def getActivation(name):
    def hook(model, input, output):
        activation[name] = output.detach()
    return hook


model = nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2))
h1 = model[1].register_forward_hook(getActivation('relu'))
h2 = model[0].register_full_backward_hook(lambda m, gi, go: gradients.append([g if g is None else g.shape for g in gi + go]))
h3 = model[2].register_forward_pre_hook(lambda m, args: (args[0] * 2,))
x = torch.randn(2, 4, requires_grad=True)
out = model(x)
handle = out.register_hook(lambda grad: grad * 3)
model[2].weight.register_post_accumulate_grad_hook(lambda p: print('accumulated', p.shape))
out.sum().backward()
print(activation['relu'], gradients)
print(model[2].bias.grad, x.grad)
for h in (h1, h2, h3, handle):
    h.remove()
print(model(x).shape, len(model[1]._forward_hooks))


class Printer(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, name):
        ctx.name = name
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        print(ctx.name, grad)
        return grad, None


w = torch.ones(2, requires_grad=True)
(Printer.apply(w, 'first') * Printer.apply(w, 'second')).sum().backward()
w.retain_grad()
m = w * 2
m.retain_grad()
m.sum().backward()
print(m.grad, w.grad)

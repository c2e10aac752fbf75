# SPDX-License-Identifier: LGPL-2.1-or-later
"""PyTorch tutorials, hooks for saved tensors"""
import torch
import torch.nn as nn

torch.manual_seed(0)
x = torch.randn(5, requires_grad=True)
y = x.pow(2)
print(x.equal(y.grad_fn._saved_self), x is y.grad_fn._saved_self)
y = x.exp()
print(y.equal(y.grad_fn._saved_result), y is y.grad_fn._saved_result)
storage = []


def pack(tensor):
    storage.append(tensor)
    return len(storage) - 1


def unpack(index):
    return storage[index]


x = torch.randn(5, requires_grad=True)
with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
    y = x ** 2
print(len(storage), torch.allclose(y.grad_fn._saved_self, x))
y.sum().backward()
print(torch.allclose(x.grad, 2 * x))


class Model(nn.Module):
    def forward(self, x):
        with torch.autograd.graph.saved_tensors_hooks(lambda t: t * 1, lambda t: t):
            return x * x.sin()


x.grad = None
z = Model()(x).sum()
z.backward()
print(x.grad)
try:
    with torch.autograd.graph.saved_tensors_hooks(lambda x: x, lambda x: x):
        a = torch.ones(5, requires_grad=True)
        b = a ** 2
    a.data  # noqa: B018
    with torch.no_grad():
        a += 1
    b.sum().backward()
except RuntimeError as problem:
    print(str(problem)[:80])

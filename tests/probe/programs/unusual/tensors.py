# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tensors that are not the usual kind: a storage that was shrunk, elements that lie on each other, nested ones, those of
functorch, conjugates, long targets of short writes."""
import warnings

import torch

warnings.simplefilter("ignore")
x = torch.ones(1000, requires_grad=True)
y = x * 1
y[:3].sum().backward(retain_graph=True)
with torch.no_grad():
    y[0] = 2
storage = y.untyped_storage() if hasattr(y, "untyped_storage") else y.storage()._storage if hasattr(y.storage(), "_storage") \
    else y.storage()
storage.resize_(16)
print(y.view(1, -1).shape)
z = torch.ones(10000, requires_grad=True)
print(z.unfold(0, 500, 1).sum().item(), z[:1].expand(10**9).shape)
z.unfold(0, 500, 1)[::400].sum().backward()
print(z.grad.sum().item())
if hasattr(torch, "nested") and hasattr(torch.nested, "as_nested_tensor"):
    a, b = torch.ones(2, 3, requires_grad=True), torch.ones(4, 3, requires_grad=True)
    layer = torch.nn.Linear(3, 2)
    with torch.no_grad():
        layer.weight.fill_(1)
    torch.nested.to_padded_tensor(layer(torch.nested.as_nested_tensor([a, b])), 0.).sum().backward()
    print(layer.weight.grad.sum().item())
if hasattr(torch, "func"):
    print(torch.func.vmap(torch.func.grad(lambda t: (t ** 2).sum()))(torch.ones(2, 3)).sum().item())
c = torch.ones(3, dtype=torch.complex64, requires_grad=True)
(c.conj() * torch.view_as_real(c).sum()).abs().sum().backward()
print(c.grad.abs().sum().item())
long = torch.zeros(100000)
index = torch.arange(3)
long.index_copy_(0, index, x[:3].detach())
long.index_add_(0, index, (x[:3] * float("inf")).detach())
print(long[:4])
(torch.ones(3).to_sparse() * 2).to_dense().requires_grad_().sum().backward()

# SPDX-License-Identifier: LGPL-2.1-or-later
"""Subclasses of tensors and optimizers whose own attributes raise, or that hold generators where lists are usual."""
import torch


class Raises(torch.nn.Parameter):
    @property
    def requires_grad(self):
        raise ValueError("asked for requires_grad")

    @property
    def device(self):
        raise ValueError("asked for device")

    def numel(self):
        raise ValueError("asked for numel")


class Lazy(torch.optim.SGD):
    def step(self):
        pass


x = torch.ones(3, requires_grad=True)
x.exp().sum().backward()
optimizer = torch.optim.SGD([x], 0.1)
odd = Raises(torch.ones(3))
optimizer.param_groups[0]["params"].append(odd)
lazy = Lazy([torch.ones(1, requires_grad=True)], 0.1)
for group in lazy.param_groups:
    group["params"] = (each for each in (x, x * 2))
for _ in range(3):
    x.exp().sum().backward()
    lazy.step()
print(len(list(lazy.param_groups[0]["params"])), x.grad is not None)
try:
    optimizer.step()
except ValueError as error:
    print(error)
optimizer.param_groups[0]["params"] = None
y = (x * 2).as_subclass(Raises)
torch.autograd.backward([y], [torch.ones(3).as_subclass(Raises)])
print("done")

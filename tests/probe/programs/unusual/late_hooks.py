# SPDX-License-Identifier: LGPL-2.1-or-later
"""Hooks that come while their node runs, the first of their kind in the process: from a pre hook, from an unpack hook, from
a custom function's backward, from another hook."""
import torch

seen = []


def from_pre_hook():
    x = torch.rand(3, requires_grad=True)
    y = x.exp()
    node = y.grad_fn
    y.register_hook(lambda gradient: node.register_hook(lambda outputs, inputs: seen.append("pre")) and None)
    y.sum().backward()


def from_unpack_hook():
    def unpack(tensor):
        if hasattr(torch._C, "_current_autograd_node"):
            torch._C._current_autograd_node().register_hook(lambda outputs, inputs: seen.append(("unpack", len(inputs))))
        return tensor
    x = torch.rand(3, requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(lambda tensor: tensor, unpack):
        x.exp().sum().backward()


class Late(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, gradient):
        ctx.register_hook(lambda outputs, inputs: None)
        return gradient * 2


x = torch.ones(3, requires_grad=True)
Late.apply(x).sum().backward()
print(x.grad)
from_pre_hook()
from_unpack_hook()
print([each for each in seen if each == "pre"])

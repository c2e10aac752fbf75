# SPDX-License-Identifier: LGPL-2.1-or-later
"""Hooks that come while their node runs, the first of their kind in the process: from a pre hook, from an unpack hook, from
a custom function's backward, from another hook. What they are given depends on whether there was a hook before."""
import torch

seen = []


def hook(outputs, inputs):
    seen.append((len(outputs), [each is None for each in inputs]))


def tell(name):
    print(name, seen)
    seen.clear()


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
tell("the first")


class Unpacked:
    """y = make(x), and what runs when y's node wants what it saved."""
    def __init__(self, make, on_unpack):
        self.on_unpack, self.n = on_unpack, 0
        with torch.autograd.graph.saved_tensors_hooks(lambda tensor: tensor, self.unpack):
            self.y = make(torch.rand(4, 4, requires_grad=True))
        self.node = (self.y if isinstance(self.y, torch.Tensor) else self.y[0]).grad_fn

    def unpack(self, tensor):
        self.n += 1
        self.on_unpack(self)
        return tensor

    def backward(self, times=2):
        loss = self.y.sum() if isinstance(self.y, torch.Tensor) else sum(each.sum() for each in self.y if each.is_floating_point())
        for _ in range(times):
            loss.backward(retain_graph=True)


for make in (torch.exp, torch.sin, lambda x: torch.matmul(x, x), lambda x: torch.svd(x.detach().requires_grad_()), lambda x: x.max(0)):
    Unpacked(make, lambda self: self.node.register_hook(hook)).backward()
    tell("a hook")


def add_two(self):
    self.node.register_hook(hook)
    self.node.register_hook(lambda outputs, inputs: seen.append(f"second {len(inputs)}"))


Unpacked(torch.exp, add_two).backward()
tell("two hooks")

handles = []
removing = Unpacked(torch.exp, lambda self: handles.append(self.node.register_hook(hook)))
for _ in range(3):
    removing.backward(1)
    for handle in handles:
        handle.remove()
tell("removed after each pass")

removed = Unpacked(torch.exp, lambda self: self.node.register_hook(hook))
removed.node.register_hook(lambda outputs, inputs: None).remove()
removed.backward()
tell("removed before")

between = Unpacked(torch.exp, lambda self: self.n == 2 and self.node.register_hook(hook))
between.backward(1)
between.node.register_hook(lambda outputs, inputs: None).remove()
between.backward()
tell("removed between passes")


def go_deeper(self):
    if self.n == 1:
        self.node.register_hook(hook)
        self.node.register_hook(lambda outputs, inputs: self.deeper.backward(retain_graph=True) if self.n == 1 else None)


deeper = Unpacked(torch.exp, go_deeper)
deeper.deeper = deeper.y.sum()
deeper.backward()
tell("the node again, within itself")


def fail_first(self):
    if self.n == 1:
        raise ValueError("the first time")
    self.node.register_hook(hook)


failing = Unpacked(torch.exp, fail_first)
try:
    failing.backward()
except (RuntimeError, ValueError):  # PyTorch 1.13 makes a RuntimeError of it
    print("it fails")
failing.backward()
tell("after an error")

x = torch.rand(3, requires_grad=True)
y = (x * 2).exp()
z = y * 3
z.grad_fn.register_prehook(lambda gradients: y.grad_fn.register_prehook(
    lambda gradients: y.grad_fn.register_hook(hook) and None) and None)
z.sum().backward()
tell("from a pre hook that came in the pass")

x = torch.rand(3, requires_grad=True)
leaf = x.view_as(x).grad_fn.next_functions[0][0]
if hasattr(x, "register_post_accumulate_grad_hook"):
    x.register_post_accumulate_grad_hook(lambda tensor: leaf.register_hook(hook) and None)
(x * 2).sum().backward()
tell("of a leaf")

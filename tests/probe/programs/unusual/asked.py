# SPDX-License-Identifier: LGPL-2.1-or-later
"""Classes, modules, threads and mappings that count what they are asked; custom functions whose ctx has attributes of nodes."""
import collections
import sys
import threading
import types

import torch

asked = collections.Counter()


class Meta(type):
    def __getattribute__(cls, name):
        asked["class", name] += 1
        return super().__getattribute__(name)


class Module(torch.nn.Module, metaclass=Meta):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Linear(2, 2)

    def forward(self, x):
        return self.inner(x)


class Hook(metaclass=Meta):
    def __call__(self, gradient):
        return gradient


class Mapping:
    """As a module of TorchScript has one."""

    def items(self):
        asked["items"] += 1
        return []


class Odd(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.__dict__["_buffers"], self.__dict__["_mapping"] = {}, Mapping()

    def forward(self, x):
        self.__dict__["_modules"], before = self.__dict__["_mapping"], self._modules
        try:
            return x * 2
        finally:
            self.__dict__["_modules"] = before


class Worker(threading.Thread):
    @property
    def _native_id(self):
        asked["thread"] += 1
        return self.__dict__.get("kept")

    @_native_id.setter
    def _native_id(self, value):
        self.__dict__["kept"] = value


class RecursiveScriptModule(torch.nn.Module):
    @property
    def original_name(self):
        asked["original_name"] += 1
        return "pretended"

    def forward(self, x):
        return x * 3


class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.name, ctx.variable = "a text", torch.ones(1)
        return x * 2

    @staticmethod
    def backward(ctx, gradient):
        return gradient * len(ctx.name)


class Fails(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, gradient):
        raise ValueError("no Unicode: \ud800")


def work():
    x = torch.ones(2, requires_grad=True)
    (x * 2).sum().backward()


class Package(types.ModuleType):
    def __getattr__(self, name):
        asked["package", name] += 1
        raise AttributeError(name)


package = Package("threading")
package.__dict__.update({key: value for key, value in vars(threading).items() if key != "_active"})
sys.modules["threading"] = package
module, odd, scripted, hook = Module(), Odd(), RecursiveScriptModule(), Hook()
x = torch.ones(2, requires_grad=True)
asked.clear()
for _ in range(3):
    y = Scale.apply(scripted(odd(module(x))))
    y.register_hook(hook)
    y.register_hook(Hook)
    try:
        y.sum().backward()
    except TypeError:
        print("a class is no hook")
    threads = [Worker(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
try:
    Fails.apply(x).sum().backward()
except ValueError as error:
    print(ascii(error))
print(sorted(asked.items(), key=str), x.grad)

"""Errors inside nodes, in Python and in C++, in a hook, and far down; after each the engine goes on."""
import torch
from torch.autograd import Function


class Fails(Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, gradient):
        raise ValueError('no gradient today')


def refuse(gradient):
    raise KeyError('a hook says no')


def attempt(name, work):
    try:
        work()
        print(name, 'went well')
    except Exception as problem:
        print(name, type(problem).__name__, str(problem).splitlines()[0][:60])


torch.manual_seed(8)
x = torch.randn(4, requires_grad=True)
y = torch.randn(4, requires_grad=True)

attempt('in Python', lambda: (Fails.apply(x.exp()).sin() + y.cos()).sum().backward())

changed = x.exp()
loss = changed.sum() + y.tanh().sum()
with torch.no_grad():
    changed.mul_(2)
attempt('in C++', loss.backward)

hooked = x.sin()
hooked.register_hook(refuse)
attempt('in a hook', lambda: (hooked * y).sum().backward())

again = (x * y).sum()
attempt('once', again.backward)
attempt('twice', again.backward)

with torch.autograd.set_detect_anomaly(True, check_nan=False):
    attempt('with anomaly mode', lambda: Fails.apply(y).sum().backward())

x.grad = y.grad = None
attempt('afterwards', lambda: (x * y).sum().backward())
print(x.grad, y.grad)

# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a new observer is tried on, in a process of its own. engine/probe/trial.txt has what the tape must say."""
import os
import sys
import threading

try:
    import torch
except ImportError as problem:
    print(problem, file=sys.stderr)
    sys.exit(77)  # the observer is not to blame: app/session/observer/observer_trial.c


class Inner(torch.autograd.Function):
    """Calls backward inside backward, and saves."""
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx, gradient):
        assert len(ctx.saved_tensors) == 1
        with torch.enable_grad():
            y = torch.ones(2, requires_grad=True)
            y.exp().sum().backward()
        return gradient * y.grad


class Broken(torch.autograd.Function):
    """Raises."""
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        raise ValueError("as it should be")


def join():
    """Two ways lead to one leaf; hooks of several kinds."""
    x = torch.ones(2, requires_grad=True)
    x.register_hook(lambda gradient: gradient * 2)
    y = x * 3
    y.retain_grad()
    z = (Inner.apply(y) + x.exp()).sum()
    z.grad_fn.register_hook(lambda inputs, outputs: None)
    z.backward()


def choose():
    """Of two leaves, the gradient of one is wanted: the other's branch is skipped."""
    x, y = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    torch.autograd.grad((x.exp() * y.sin()).sum(), [x])


def fail():
    """A pass that ends in an error."""
    try:
        Broken.apply(torch.ones(2, requires_grad=True).exp()).sum().backward()
    except ValueError:
        pass


for work in (join, choose, fail):
    work()
thread = threading.Thread(target=choose)
thread.start()
thread.join()
os._exit(0)  # some versions of PyTorch abort now and then while the interpreter ends, unrecorded too

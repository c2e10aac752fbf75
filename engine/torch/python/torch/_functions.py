# SPDX-License-Identifier: LGPL-2.1-or-later
"""torch._C._functions: functions whose nodes fail if a backward pass needs them, or let no gradient through."""
from torch import _C
from torch.autograd._node import Node

__all__ = ['AccumulateGrad', 'DelayedError', 'UndefinedGrad']


def __getattr__(name):
    """The class of the nodes that add to .grad. It is made with the first such node."""
    if name != 'AccumulateGrad':
        raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
    leaf = _C.zeros((), requires_grad=True)
    return type(_C.gradient_edge(leaf)[0])


class DelayedError:
    """DelayedError(text, n)(*tensors) returns the n tensors. A backward pass that needs them raises the text."""

    def __init__(self, text, num_inputs):
        self.text = text.decode() if isinstance(text, bytes) else text
        self.num_inputs = num_inputs

    def __call__(self, *tensors):
        if len(tensors) != self.num_inputs:
            raise TypeError(f'expected {self.num_inputs} arguments, got {len(tensors)} instead')
        return _C.delayed_error(self.text, tensors)


Node.register(DelayedError)


class UndefinedGrad:
    """UndefinedGrad()(*tensors) returns the tensors. Gradients end there."""

    def __call__(self, *tensors):
        return _C.undefined_grad(tensors)

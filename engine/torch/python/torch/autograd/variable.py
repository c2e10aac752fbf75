# SPDX-License-Identifier: LGPL-2.1-or-later
"""Variable, PyTorch's old name of a tensor, and the engine as PyTorch's Python shows it."""
from torch import _C

__all__ = ['Variable']


class Engine:
    """The one engine. run_backward takes tuples, and checks them before the pass."""
    run_backward = staticmethod(_C.run_backward)
    queue_callback = staticmethod(_C.queue_callback)
    is_checkpoint_valid = staticmethod(_C.is_checkpoint_valid)


class _VariableMeta(type):
    def __instancecheck__(cls, object):
        return isinstance(object, _C.Tensor)


class Variable(metaclass=_VariableMeta):
    """Variable(data): the same elements, without history. Every tensor is an instance."""
    _execution_engine = Engine()

    def __new__(cls, data, requires_grad=False):
        return data.detach().requires_grad_(requires_grad)

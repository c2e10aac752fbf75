# SPDX-License-Identifier: LGPL-2.1-or-later
"""Parameters, which a module learns, and buffers, which it keeps."""
from torch import _C
from torch._C import Tensor


class Parameter(Tensor):
    """A leaf that requires grad."""

    def __new__(cls, data=None, requires_grad=True):
        return _C._make_subclass(cls, _C.empty(0) if data is None else data, requires_grad)

    def __repr__(self):
        return 'Parameter containing:\n' + super().__repr__()

    def __deepcopy__(self, memo):
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.detach().clone(), self.requires_grad)
        return memo[id(self)]


class Buffer(Tensor):
    """A tensor that becomes a buffer of the module to which it is assigned."""

    def __new__(cls, data=None, *, persistent=True):
        buffer = _C._make_subclass(cls, _C.empty(0) if data is None else data.detach(), False)
        buffer.persistent = persistent
        return buffer

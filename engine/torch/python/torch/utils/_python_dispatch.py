# SPDX-License-Identifier: LGPL-2.1-or-later
"""Modes: objects that get the calls of operations that this thread makes from Python. PyTorch's get them below autograd.
These get them above it: tensors have their history, and what backward calls is not among them."""
import threading

from torch import _C, ops

__all__ = ['TorchDispatchMode']

_here = threading.local()


def _modes():
    """The modes of this thread, the innermost last."""
    if not hasattr(_here, 'modes'):
        _here.modes = []
    return _here.modes


def _get_current_dispatch_mode():
    return _modes()[-1] if _modes() else None


def _dispatch(name, args, kwargs):
    modes = _modes()
    mode = modes.pop()
    operation = ops.overload(name, args)
    _C._intercept(_dispatch if modes else mode._outer)  # until this call is over
    try:
        types = tuple({type(a) for a in args if isinstance(a, _C.Tensor)})
        return mode.__torch_dispatch__(operation, types, args, kwargs or {})
    finally:
        modes.append(mode)


class TorchDispatchMode:
    """Base class of modes. A subclass has __torch_dispatch__(self, func, types, args, kwargs), which calls func."""

    def __enter__(self):
        self._outer = _C._intercept(_dispatch)
        _modes().append(self)
        return self

    def __exit__(self, *exception):
        _modes().remove(self)
        _C._intercept(self._outer)
        self._outer = None

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        raise NotImplementedError

# SPDX-License-Identifier: LGPL-2.1-or-later
"""record_function: a part of the program, by name, as a mark on the tape. What else PyTorch's profiler measures is on the
tape anyway."""
from tapedeck import _C
from tapedeck.autograd.grad_mode import Mode

__all__ = ['record_function']


class record_function(Mode):
    """A context manager and decorator; the tape, if there is one, gets a mark with the name where it begins."""
    _get, _set = staticmethod(lambda: False), staticmethod(lambda wanted: _C.mark(wanted) if wanted else None)

    def __init__(self, name, args=None):
        super().__init__()
        self.name = self._wanted = name

    def clone(self):
        return record_function(self.name)

# SPDX-License-Identifier: LGPL-2.1-or-later
"""record_function marks a part of the program on the tape, by name. The other measurements of PyTorch's profiler are
on the tape anyway."""
from tapedeck import _C
from tapedeck.autograd.grad_mode import Mode

__all__ = ['record_function']


class record_function(Mode):
    """A context manager and decorator. If there is a tape, it gets a mark with the name at the beginning."""
    _get, _set = staticmethod(lambda: False), staticmethod(lambda wanted: _C.mark(wanted) if wanted else None)

    def __init__(self, name, args=None):
        super().__init__()
        self.name = self._wanted = name

    def clone(self):
        return record_function(self.name)

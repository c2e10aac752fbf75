# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a checkpoint with debug=True remembers: the operations of both runs of its function, and where they were called."""
import os
import traceback

from torch.utils._python_dispatch import TorchDispatchMode

_OWN = os.path.dirname(os.path.dirname(__file__)) + os.sep
_TEXT = """ An error happened while unpacking tensors; dumping logs of latest computation
because you passed `debug=True` to `torch.utils.checkpoint.checkpoint()`.

Operations executed during the original forward:

{forward}
Operations executed during recomputation:

{again}
ERROR: Detected non-determinism while running activation checkpointing

You are seeing this error because you passed `debug=True` to checkpoint and the function saved other tensors when it ran
again than in the original forward. Look above for the first line where the two lists differ."""


def _caller():
    """The innermost line of the program itself."""
    frames = [frame for frame in traceback.extract_stack(limit=30) if not frame.filename.startswith(_OWN)]
    return f'{frames[-1].filename}:{frames[-1].lineno}' if frames else '?'


class OperationLog(TorchDispatchMode):
    """Notes each operation that is called inside."""

    def __init__(self):
        self.lines = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.lines.append(f'{func}, called in {_caller()}\n')
        return func(*args, **(kwargs or {}))


def explain(forward, again):
    """The text of the error, from the logs of both runs."""
    return _TEXT.format(forward=''.join(forward.lines), again=''.join(again.lines))

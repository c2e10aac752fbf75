# SPDX-License-Identifier: LGPL-2.1-or-later
"""Anomaly mode. A node remembers the forward call that made it, and an error in a backward pass warns of that call.
A NaN is an error. The mode holds for the whole process."""
import os
import sys
import traceback
import warnings

from torch import _C

__all__ = ['detect_anomaly', 'set_detect_anomaly']

_RUNNER = os.path.join(os.path.dirname(os.path.dirname(__file__)), 'runner.py')


class set_detect_anomaly:
    """Switches at once; as a context manager, for the length of the block."""

    def __init__(self, mode, check_nan=True):
        self._note()
        _C.set_anomaly_enabled(mode, check_nan)

    def _note(self):
        self._before = _C.is_anomaly_enabled(), _C.is_anomaly_check_nan_enabled()

    def __enter__(self):
        pass

    def __exit__(self, *exception):
        _C.set_anomaly_enabled(*self._before)


class detect_anomaly(set_detect_anomaly):
    """On for the length of a with block."""

    def __init__(self, check_nan=True):
        self._note()
        self._check_nan = check_nan
        warnings.warn('Anomaly Detection has been enabled. This mode will increase the runtime and should only be enabled '
                      'for debugging.', stacklevel=2)

    def __enter__(self):
        _C.set_anomaly_enabled(True, self._check_nan)


def _is_ours(frame):
    return frame.filename == _RUNNER or frame.filename.startswith('<frozen ')


def forward_stack():
    """The stack of the program without the frames that started it: a traceback.StackSummary. The engine calls this."""
    try:
        frames = traceback.extract_stack(sys._getframe(1))
    except ValueError:  # a thread of the engine's own: nobody called
        frames = traceback.StackSummary()
    while frames and _is_ours(frames[0]):
        del frames[0]
    return frames


def stack_text(frames):
    """The stack as tapes have it: a frame a line, the innermost last."""
    return '\n'.join(f'{frame.filename}:{frame.lineno} {frame.name}' for frame in frames)

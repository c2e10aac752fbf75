# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tapedeck's own engine, with PyTorch's names; and what records the real PyTorch from inside.

`tapedeck run` makes `import torch` in a script mean this module, so one script runs on both.

In a program with the real PyTorch, `with record("step.tape"):` records what is inside; start() and stop() do the same.
mark(text) and step() annotate the tape. keep("50steps") keeps only the end of it, and dump() writes what was kept. These
four do nothing if there is no recording. Tape(path) reads a tape.

The engine is built for one version of Python. In any other one, the package has no more than the names above.
"""
from importlib import util as _util

from tapedeck.inside import RecordError, dump, keep, mark, record, start, step, stop

_has_engine = _util.find_spec('tapedeck._C') is not None

if _has_engine:
    from tapedeck.names import *  # noqa: F403
    from tapedeck.names import __version__, _C
    from tapedeck.autograd import enable_grad, inference_mode, no_grad, set_grad_enabled
    from tapedeck.accelerator import Event, Stream
    from tapedeck import accelerator, autograd, linalg, nn, optim, sim  # (they use the names above)
    from tapedeck import copies, distributed, functions, session, utils

    _C._functions = functions


def __getattr__(name):
    """Tape and TapeError come when they are needed: few programs that run also read tapes."""
    if name in ('Tape', 'TapeError'):
        from tapedeck import tape
        return getattr(tape, name)
    why = '' if _has_engine else ": Tapedeck's own engine is not built for this Python"
    raise AttributeError(f'module {__name__!r} has no attribute {name!r}{why}')


def load_ipython_extension(shell):
    """%load_ext tapedeck in Jupyter."""
    from tapedeck.notebook import TapedeckMagics
    shell.register_magics(TapedeckMagics)


if _has_engine:
    session.begin()

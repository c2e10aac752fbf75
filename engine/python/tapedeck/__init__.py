# SPDX-License-Identifier: LGPL-2.1-or-later
"""Records what the real PyTorch does, from inside a program, and reads tapes.

`with record("step.tape"):` records what is inside; start() and stop() do the same. mark(text) and step() annotate the tape.
keep("50steps") keeps only the end of it, and dump() writes what was kept. These four do nothing if there is no recording; in a
script of `tapedeck run` they speak of its tape. Tape(path) reads a tape.
"""
from tapedeck.inside import RecordError, dump, keep, mark, record, start, step, stop
from tapedeck.tape import Tape, TapeError
from tapedeck._version import __version__

__all__ = ['RecordError', 'Tape', 'TapeError', 'dump', 'keep', 'mark', 'record', 'start', 'step', 'stop']


def load_ipython_extension(shell):
    """%load_ext tapedeck in Jupyter."""
    from tapedeck.notebook import TapedeckMagics
    shell.register_magics(TapedeckMagics)

# SPDX-License-Identifier: LGPL-2.1-or-later
"""How Tapedeck records this engine. The package `tapedeck` looks for this module to find out on which engine a program runs.

A program that imports this package itself, and runs under `tapedeck record`, is recorded as a program of PyTorch is. `tapedeck run`
records from outside, and takes TAPEDECK_SESSION away before it imports the package.
"""
import atexit
import os
import sys

from torch import _C, version
from torch._C import dump, keep, mark, step  # noqa: F401 (for the package `tapedeck`)


def set_semantics(words):
    """Behaves as that version of PyTorch, and says that it is that version."""
    _C.set_semantics(words)
    sys.modules['torch'].__version__ = version.__version__ = f'{words}.0+tapedeck'


def ask():
    """Asks the session's hub whether to record this process. If so, the recording begins. An error is printed, and
    the program runs on."""
    program = os.path.basename(sys.argv[0] if sys.argv and sys.argv[0] else sys.executable)
    try:
        return _C.record_for_session(os.environ['TAPEDECK_SESSION'], program)
    except Exception as problem:
        print(f'tapedeck: not recorded: {problem}', file=sys.stderr)
        return False


def begin():
    """At the end of the program the engine's threads end, and then the tape."""
    if os.environ.get('TAPEDECK_SESSION') and ask():
        atexit.register(_C.record_end, 0)
        os.register_at_fork(after_in_child=begin_again)
    atexit.register(_C.stop_engine)


def begin_again():
    """The child of a fork has a tape of its own."""
    _C.record_abandon()
    ask()

# SPDX-License-Identifier: LGPL-2.1-or-later
"""Recording of a program that imports this package and runs under `tapedeck record`.

`tapedeck run` records from outside, and takes TAPEDECK_SESSION away before it imports the package.
"""
import atexit
import os
import sys

from tapedeck import _C


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

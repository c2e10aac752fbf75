# SPDX-License-Identifier: LGPL-2.1-or-later
"""`python -m tapedeck` is the command `tapedeck`, for this Python: pip may put that command where no shell looks."""
import os
import sys

from tapedeck import tape

os.environ.setdefault('TAPEDECK_PYTHON', sys.executable)  # for `tapedeck run`
try:
    os.execv(tape.program(), ['tapedeck', *sys.argv[1:]])
except (OSError, tape.TapeError) as problem:
    sys.exit(f'tapedeck: {problem}')

# SPDX-License-Identifier: LGPL-2.1-or-later
"""run_in_display.py PROGRAM [ARGUMENTS]: runs a C test of widgets in a display of its own."""
import os
import sys

import display

display.ensure(animated=True)
os.execv(sys.argv[1], sys.argv[1:])

#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Stands in for the window of `--live`: writes down what it was started with, and stays. The test itself connects."""
import os
import signal
import sys

with open(os.environ["LIVE_VIEWER_FILE"] + ".part", "w") as file:
    file.write("\0".join([str(os.getpid()), *sys.argv[1:]]))
os.rename(file.name, os.environ["LIVE_VIEWER_FILE"])
signal.pause()

# SPDX-License-Identifier: LGPL-2.1-or-later
"""Becomes the program in the package `tapedeck`, without importing the package: that would take longer."""
import os
import sys


def main():
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'tapedeck', '_program', 'bin', 'tapedeck')
    os.environ.setdefault('TAPEDECK_PYTHON', sys.executable)  # for `tapedeck run`
    try:
        os.execv(program, ['tapedeck', *sys.argv[1:]])
    except OSError as problem:
        sys.exit(f'tapedeck: {program}: {problem.strerror}. This wheel is for @MACHINE@, with glibc @GLIBC@ or later')

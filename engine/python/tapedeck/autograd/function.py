# SPDX-License-Identifier: LGPL-2.1-or-later
"""Custom functions."""
from tapedeck._C import Function

__all__ = ['Function']

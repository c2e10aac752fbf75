# SPDX-License-Identifier: LGPL-2.1-or-later
"""Nodes and edges of the backward graph."""
from tapedeck._C import Node

__all__ = ['Node']

# SPDX-License-Identifier: LGPL-2.1-or-later
"""Nodes and edges of the backward graph."""
from typing import NamedTuple, Optional

from tapedeck import _C
from tapedeck._C import Node

__all__ = ['GradientEdge', 'Node', 'get_gradient_edge']


class GradientEdge(NamedTuple):
    """Where a gradient goes: the input number output_nr of a node, which is the forward output of that number.
    backward and grad take it for a tensor."""
    node: Node
    output_nr: int
    ownership_token: Optional[Node] = None


def get_gradient_edge(tensor):
    """The edge that the tensor's gradient takes now; an in-place operation gives the tensor another."""
    return GradientEdge(*_C.gradient_edge(tensor))

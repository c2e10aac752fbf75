# SPDX-License-Identifier: LGPL-2.1-or-later
"""The class of all nodes. Nodes have other base classes, but count as its objects."""
import abc

from torch import _C

__all__ = ['Node']


class _AnyNode(abc.ABCMeta):
    def __instancecheck__(cls, node):
        return cls is Node and isinstance(node, _C.Node) or super().__instancecheck__(node)

    def __subclasscheck__(cls, kind):
        return cls is Node and issubclass(kind, _C.Node) or super().__subclasscheck__(kind)


class Node(metaclass=_AnyNode):
    """A function of the backward graph."""
    name, metadata, next_functions = _C.Node.name, _C.Node.metadata, _C.Node.next_functions
    register_hook, register_prehook = _C.Node.register_hook, _C.Node.register_prehook

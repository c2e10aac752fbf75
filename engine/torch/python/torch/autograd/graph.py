# SPDX-License-Identifier: LGPL-2.1-or-later
"""Nodes and edges of the backward graph, and hooks on the tensors that nodes save."""
import contextlib
from typing import NamedTuple, Optional

from torch import _C
from torch.autograd._multi_grad_hook import register_multi_grad_hook
from torch.autograd._node import Node
from torch.autograd._saved_mutation import allow_mutation_on_saved_tensors

__all__ = ['GradientEdge', 'Node', 'allow_mutation_on_saved_tensors', 'disable_saved_tensors_hooks', 'get_gradient_edge',
           'increment_version', 'node_creation_hook', 'queue_callback', 'register_multi_grad_hook', 'save_on_cpu',
           'saved_tensors_hooks',
           'set_warn_on_accumulate_grad_stream_mismatch']


def queue_callback(callback):
    """Calls callback() at the end of the backward pass that now runs on this thread, if the pass succeeds."""
    _C.queue_callback(callback)


def set_warn_on_accumulate_grad_stream_mismatch(enabled):
    """Sets whether to warn, once, if a leaf's node was made on another stream than its gradient."""
    _C.set_warn_on_accumulate_grad_stream_mismatch(enabled)


class GradientEdge(NamedTuple):
    """Where a gradient goes: input number output_nr of a node. The forward output of that number has this gradient.
    backward and grad take an edge in place of a tensor."""
    node: Node
    output_nr: int
    ownership_token: Optional[Node] = None


def get_gradient_edge(tensor):
    """The edge that the tensor's gradient takes now. An in-place operation gives the tensor another edge."""
    return GradientEdge(*_C.gradient_edge(tensor))


class saved_tensors_hooks:
    """Nodes that are made inside save pack_hook(tensor) in place of the tensor. unpack_hook makes the tensor of it
    again."""

    def __init__(self, pack_hook, unpack_hook):
        self.pack_hook, self.unpack_hook = pack_hook, unpack_hook

    def __enter__(self):
        _C._push_saved_tensors_default_hooks(self.pack_hook, self.unpack_hook)

    def __exit__(self, *exception):
        _C._pop_saved_tensors_default_hooks()


class node_creation_hook:
    """Calls hook(node) with each node that is made inside, and in the passes called there, when the node is whole."""

    def __init__(self, hook):
        self.hook = hook

    def __enter__(self):
        _C._push_node_creation_hook(self.hook)

    def __exit__(self, *exception):
        _C._pop_node_creation_hook()


class save_on_cpu(saved_tensors_hooks):
    """Saved tensors wait for backward in the CPU's memory. pin_memory has no effect."""

    def __init__(self, pin_memory=False, device_type='cuda'):
        super().__init__(lambda tensor: (tensor.device, tensor.cpu()),
                         lambda packed: packed[1].to(packed[0]))


@contextlib.contextmanager
def disable_saved_tensors_hooks(error_message):
    """Refuses hooks on saved tensors inside, with this message. It also refuses to begin if there are such hooks."""
    before = _C._disable_saved_tensors_hooks(error_message)
    try:
        yield
    finally:
        _C._disable_saved_tensors_hooks(before)


def increment_version(tensor):
    """Counts up the version of a tensor, or of each of several, as a write would."""
    for one in (tensor,) if isinstance(tensor, _C.Tensor) else tensor:
        _C.increment_version(one)

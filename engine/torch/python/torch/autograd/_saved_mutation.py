# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes in place into tensors that a graph has saved: the saved ones are copied before the first write."""
import contextlib
import threading
import weakref

from torch import _C
from torch.autograd.grad_mode import no_grad

__all__ = ['allow_mutation_on_saved_tensors']

_here = threading.local()


class _Handle:
    """Stands in the graph for a saved tensor."""


def _version_of(tensor):
    """What is equal for tensors that share their elements and version. Inference tensors have no version."""
    return _C._place(tensor)[0], 0 if tensor.is_inference() else tensor._version


def _key(tensor):
    return (*_version_of(tensor), _C._place(tensor)[1], tuple(tensor.shape), tensor.stride())


class _Context:
    """What allow_mutation_on_saved_tensors gives. The dicts are by handle, and forget a handle that no graph has."""

    def __init__(self):
        self.original = weakref.WeakKeyDictionary()
        self.cloned = weakref.WeakKeyDictionary()
        self.tid_to_weakhandle = weakref.WeakValueDictionary()
        self.by_version = {}

    def pack(self, tensor):
        key = _key(tensor)
        handle = self.tid_to_weakhandle.get(key)
        if handle is None or handle in self.cloned:
            handle = self.tid_to_weakhandle[key] = _Handle()
            self.original[handle] = tensor
            self.by_version.setdefault(_version_of(tensor), weakref.WeakSet()).add(handle)
        return handle

    def unpack(self, handle):
        assert getattr(_here, 'context', None) is self and (handle in self.cloned or handle in self.original), (
            "Trying to backward outside of the 'allow_mutation_on_saved_tensors' context"
            'in which the graph was originally recorded.')
        return self.cloned[handle] if handle in self.cloned else self.original[handle]

    def before_write(self, tensor):
        for handle in list(self.by_version.pop(_version_of(tensor), ())):
            with no_grad():
                self.cloned[handle] = self.original.pop(handle).clone()

    def clear(self):
        for table in (self.original, self.cloned, self.tid_to_weakhandle, self.by_version):
            table.clear()


@contextlib.contextmanager
def allow_mutation_on_saved_tensors():
    """Inside, a tensor that was saved for backward may be written into. Backward uses a copy from before the write,
    and must be inside too."""
    if getattr(_here, 'context', None):
        raise RuntimeError('allow_mutation_on_saved_tensors contexts cannot be nested')
    context = _here.context = _Context()
    _C._push_saved_tensors_default_hooks(context.pack, context.unpack)
    before = _C._watch_writes(context.before_write)
    try:
        yield context
    finally:
        _C._watch_writes(before)
        _C._pop_saved_tensors_default_hooks()
        context.clear()
        _here.context = None

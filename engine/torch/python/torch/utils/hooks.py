# SPDX-License-Identifier: LGPL-2.1-or-later
"""torch.utils.hooks: the handle that removes a hook."""
import collections
import itertools
import weakref

__all__ = ['RemovableHandle']

_ids = itertools.count()


class RemovableHandle:
    """Removes a hook from its dictionary, and what extra_dict keeps under the same id; also as a context manager."""

    def __init__(self, hooks_dict, *, extra_dict=None):
        extra = extra_dict if isinstance(extra_dict, (list, tuple)) else () if extra_dict is None else (extra_dict,)
        self._dicts = [weakref.ref(d) for d in (hooks_dict, *extra)]
        self.id = next(_ids)

    def remove(self):
        for reference in self._dicts:
            hooks = reference()
            if hooks is not None:
                hooks.pop(self.id, None)

    def __getstate__(self):
        return [reference() for reference in self._dicts], self.id

    def __setstate__(self, state):
        """A copy is of the hooks that were copied with it. New handles get other numbers."""
        global _ids
        dicts, self.id = state
        self._dicts = [weakref.ref(d) for d in dicts if d is not None]
        _ids = itertools.count(max(next(_ids), self.id + 1))

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.remove()


def handle_of_nothing(id_):
    """The copy of a tensor's or a node's handle: hooks of these are not copied."""
    handle = RemovableHandle.__new__(RemovableHandle)
    handle.__setstate__(([], id_))
    return handle


def new_hooks():
    """A dictionary of hooks by the id of their handle. Weak references need a subclass of dict."""
    return collections.OrderedDict()


def add_hook(hooks, hook, prepend=False, extra_dict=None):
    """Puts the hook behind all others, or in front of them. Returns its handle."""
    handle = RemovableHandle(hooks, extra_dict=extra_dict)
    hooks[handle.id] = hook
    if prepend:
        hooks.move_to_end(handle.id, last=False)
    return handle

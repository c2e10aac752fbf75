# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a module is called in the names of its parameters: nothing if it is the only one, so that they are those of its
state_dict. Of several modules, each has the name of a variable, as when PyTorch is recorded."""
import sys
import weakref

_roots = weakref.WeakValueDictionary()  # by name


def _has_parameters(module):
    return any(True for _ in module.parameters())


def _is_other(value, module, kind):
    if not isinstance(value, kind) or value is module:
        return False
    apart = value not in module.modules() and module not in value.modules()
    return apart and _has_parameters(value)


def _look_around(module, kind, frame):
    """The variable that holds the module, in the innermost function that has one, and whether there are others."""
    while frame:
        variables = list(frame.f_locals.items())
        for name, value in variables:
            if value is module and name != 'self':
                return name, any(_is_other(other, module, kind) for _, other in variables)
        frame = frame.f_back
    return type(module).__name__, False


def _is_free(name, module):
    """A part of the module that was called alone gives its name back."""
    owner = _roots.get(name)
    return owner is None or owner in module.modules()


def prefix_of(module, kind):
    """'' or 'encoder.', for the caller's caller. `kind` is the class of all modules. No two modules share a prefix while both live."""
    name, has_others = _look_around(module, kind, sys._getframe(2))
    if not has_others and _is_free('', module):
        name = ''
    free, number = name, 1
    while not _is_free(free, module):
        number += 1
        free = f'{name}_{number}'
    _roots[free] = module
    return free and free + '.'

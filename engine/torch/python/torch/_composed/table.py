# SPDX-License-Identifier: LGPL-2.1-or-later
"""The tables of composed operations, and the decorators that fill them."""
from torch._refused import checked

FUNCTIONS, METHODS = {}, {}


def function(operation):
    FUNCTIONS[operation.__name__] = operation = checked(operation)
    return operation


def method(operation):
    METHODS[operation.__name__] = operation = checked(operation)
    return operation


def both(operation):
    """A function of the package that is a method too."""
    METHODS[operation.__name__] = operation = function(operation)
    return operation


def alias(operation, *names, also_method=True):
    for name in names:
        FUNCTIONS[name] = operation
        if also_method:
            METHODS[name] = operation

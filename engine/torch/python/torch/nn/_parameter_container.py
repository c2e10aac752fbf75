# SPDX-License-Identifier: LGPL-2.1-or-later
"""Modules that hold parameters."""
import collections
import collections.abc
import operator

from torch._C import Tensor
from torch.nn._container import pairs_of
from torch.nn._module import Module
from torch.nn.parameter import Parameter
from torch._typename import typename


def _as_parameter(value):
    return Parameter(value) if isinstance(value, Tensor) and not isinstance(value, Parameter) else value


def _shown(key, value, type_name):
    """A line of the text of a list or dictionary of parameters."""
    if not isinstance(value, Tensor):
        return f'  ({key}): Object of type: {type(value).__name__}'
    kind = 'Parameter' if isinstance(value, Parameter) else 'Tensor'
    size = 'x'.join(map(str, value.shape))
    return f'  ({key}): {kind} containing: [{type_name} of size {size}]'


class ParameterList(Module):
    def __init__(self, values=None):
        super().__init__()
        self._size = 0
        if values is not None:
            self += values

    def _at(self, i):
        i = operator.index(i)
        if not -self._size <= i < self._size:
            raise IndexError(f'index {i} is out of range')
        return str(i % self._size)

    def __getitem__(self, i):
        if isinstance(i, slice):
            return type(self)(self[j] for j in range(*i.indices(self._size)))
        return getattr(self, self._at(i))

    def __setitem__(self, i, value):
        setattr(self, self._at(i), _as_parameter(value))

    def __len__(self):
        return self._size

    def __iter__(self):
        return iter([self[i] for i in range(self._size)])

    def __iadd__(self, values):
        return self.extend(values)

    def __dir__(self):
        return [name for name in super().__dir__() if not name.isdigit()]

    def append(self, value):
        self._size += 1
        self[self._size - 1] = value
        return self

    def extend(self, values):
        if not isinstance(values, collections.abc.Iterable) or isinstance(values, Tensor):
            raise TypeError('ParameterList.extend should be called with an iterable, but got ' + type(values).__name__)
        for value in values:
            self.append(value)
        return self

    def extra_repr(self):
        return '\n'.join(_shown(i, value, getattr(value, 'dtype', '')) for i, value in enumerate(self))


class ParameterDict(Module):
    def __init__(self, parameters=None):
        super().__init__()
        self._keys = {}
        if parameters is not None:
            self.update(parameters)

    def __getitem__(self, key):
        return getattr(self, str(key))

    def __setitem__(self, key, value):
        self._keys[key] = None
        setattr(self, str(key), _as_parameter(value))

    def __delitem__(self, key):
        del self._keys[key]
        delattr(self, str(key))

    def __len__(self):
        return len(self._keys)

    def __iter__(self):
        return iter(self._keys)

    def __reversed__(self):
        return reversed(list(self._keys))

    def __contains__(self, key):
        return key in self._keys

    def __or__(self, other):
        result = self.copy()
        result.update(other)
        return result

    def __ior__(self, other):
        self.update(other)
        return self

    def copy(self):
        return ParameterDict({key: self[key] for key in self._keys})

    def clear(self):
        for key in list(self._keys):
            del self[key]

    def get(self, key, default=None):
        return self[key] if key in self else default

    def setdefault(self, key, default=None):
        if key not in self:
            self[key] = default
        return self[key]

    def pop(self, key):
        value = self[key]
        del self[key]
        return value

    def popitem(self):
        key = list(self._keys)[-1]
        return key, self.pop(key)

    def fromkeys(self, keys, default=None):
        return ParameterDict((key, default) for key in keys)

    def keys(self):
        return self._keys.keys()

    def values(self):
        return (self[key] for key in self._keys)

    def items(self):
        return ((key, self[key]) for key in self._keys)

    def update(self, parameters):
        pairs = pairs_of('ParametersDict', parameters)
        ordered = isinstance(parameters, (collections.OrderedDict, ParameterDict)) or not hasattr(parameters, 'items')
        for key, value in pairs if ordered else sorted(pairs, key=lambda pair: pair[0]):
            self[key] = value

    def extra_repr(self):
        return '\n'.join(_shown(key, value, typename(value)) for key, value in self.items())

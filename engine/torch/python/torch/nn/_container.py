# SPDX-License-Identifier: LGPL-2.1-or-later
"""Modules that hold modules."""
import collections
import collections.abc
import operator

from torch import _C
from torch.nn._module import Module


class _Numbered(Module):
    """Children named 0, 1, 2, ..."""

    def _at(self, i):
        i, n = operator.index(i), len(self)
        if not -n <= i < n:
            raise IndexError(f'index {i} is out of range')
        return list(self._modules)[i % n]

    def _set_all(self, modules):
        self._modules.clear()
        self._modules.update((str(i), module) for i, module in enumerate(modules))

    def __iter__(self):
        return iter(self._modules.values())

    def __len__(self):
        return len(self._modules)

    def __dir__(self):
        return [name for name in super().__dir__() if not name.isdigit()]

    def __setitem__(self, i, module):
        setattr(self, self._at(i), module)

    def __delitem__(self, i):
        gone = list(self._modules)[i] if isinstance(i, slice) else [self._at(i)]
        self._set_all([module for name, module in self._modules.items() if name not in gone])

    def append(self, module):
        self.add_module(str(len(self)), module)
        return self

    def pop(self, i):
        module = self[i]
        del self[i]
        return module


class Sequential(_Numbered):
    def __init__(self, *layers):
        super().__init__()
        if len(layers) == 1 and isinstance(layers[0], dict):
            for name, layer in layers[0].items():
                self.add_module(name, layer)
        else:
            for i, layer in enumerate(layers):
                self.add_module(str(i), layer)

    def __getitem__(self, i):
        if isinstance(i, slice):
            return type(self)(collections.OrderedDict(list(self._modules.items())[i]))
        return self._modules[self._at(i)]

    def __add__(self, other):
        if not isinstance(other, Sequential):
            raise ValueError('add operator supports only objects of Sequential class, but '
                             f'{type(other)} is given.')
        return Sequential(*self, *other)

    def __iadd__(self, other):
        if not isinstance(other, Sequential):
            raise ValueError('add operator supports only objects of Sequential class, but '
                             f'{type(other)} is given.')
        return self.extend(other)

    def _repeated(self, n):
        if not isinstance(n, int):
            raise TypeError(f'unsupported operand type(s) for *: {type(self)} and {type(n)}')
        if n <= 0:
            raise ValueError(f'Non-positive multiplication factor {n} for {type(self)}')
        return [*self] * n

    def __mul__(self, n):
        return Sequential(*self._repeated(n))

    __rmul__ = __mul__

    def __imul__(self, n):
        for layer in self._repeated(n)[len(self):]:
            self.append(layer)
        return self

    def insert(self, index, module):
        if not isinstance(module, Module):
            raise AssertionError(f'module should be of type: {Module}')
        n = len(self)
        if not -n <= index <= n:
            raise IndexError(f'Index out of range: {index}')
        layers = list(self)
        layers.insert(index, module)
        self._set_all(layers)
        return self

    def extend(self, sequential):
        for layer in sequential:
            self.append(layer)
        return self

    def forward(self, input):
        for layer in self:
            input = layer(input)
        return input


class ModuleList(_Numbered):
    def __init__(self, modules=None):
        super().__init__()
        if modules is not None:
            self += modules

    def __getitem__(self, i):
        if isinstance(i, slice):
            return type(self)(list(self._modules.values())[i])
        return self._modules[self._at(i)]

    def __iadd__(self, modules):
        return self.extend(modules)

    def __add__(self, other):
        result = ModuleList()
        for i, module in enumerate((*self, *other)):
            result.add_module(str(i), module)
        return result

    def insert(self, index, module):
        modules = list(self)
        modules.insert(index, module)
        self._set_all(modules)

    def extend(self, modules):
        if not isinstance(modules, collections.abc.Iterable):
            raise TypeError('ModuleList.extend should be called with an iterable, but got ' + type(modules).__name__)
        for module in list(modules):
            self.append(module)
        return self

    def __repr__(self):
        """Equal neighbours are one line, in PyTorch 2."""
        if not _C.policy('gradient_edges'):
            return super().__repr__()
        runs = []
        for i, text in enumerate(map(repr, self)):
            if runs and runs[-1][2] == text:
                runs[-1][1] = i
            else:
                runs.append([i, i, text])
        if not runs:
            return self._get_name() + '()'
        lines = [f'({first}): {text}' if first == last else f'({first}-{last}): {last - first + 1} x {text}'
                 for first, last, text in runs]
        return self._get_name() + '(\n' + ''.join('  ' + line.replace('\n', '\n  ') + '\n' for line in lines) + ')'


def pairs_of(name, given):
    """Pairs of a mapping, or of a list of pairs."""
    if not isinstance(given, collections.abc.Iterable):
        raise TypeError(f'{name}.update should be called with an iterable of key/value pairs, but got '
                        + type(given).__name__)
    if hasattr(given, 'items'):
        return list(given.items())
    for i, pair in enumerate(given):
        if not isinstance(pair, collections.abc.Iterable):
            raise TypeError(f'{name} update sequence element #{i} should be Iterable; is {type(pair).__name__}')
        if len(pair) != 2:
            raise ValueError(f'{name} update sequence element #{i} has length {len(pair)}; 2 is required')
    return list(given)


class ModuleDict(Module):
    def __init__(self, modules=None):
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key):
        return self._modules[key]

    def __setitem__(self, key, module):
        self.add_module(key, module)

    def __delitem__(self, key):
        del self._modules[key]

    def __len__(self):
        return len(self._modules)

    def __iter__(self):
        return iter(self._modules)

    def __contains__(self, key):
        return key in self._modules

    def clear(self):
        self._modules.clear()

    def pop(self, key):
        module = self[key]
        del self[key]
        return module

    def keys(self):
        return self._modules.keys()

    def values(self):
        return self._modules.values()

    def items(self):
        return self._modules.items()

    def update(self, modules):
        for key, module in pairs_of('ModuleDict', modules):
            self[key] = module

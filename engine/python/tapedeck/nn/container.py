# SPDX-License-Identifier: LGPL-2.1-or-later
"""Modules that hold modules."""
import collections

from tapedeck.nn.module import Module
from tapedeck.nn.parameter import Parameter


class _Numbered(Module):
    """Children named 0, 1, 2, ..."""

    def __iter__(self):
        return iter(self._modules.values())

    def __len__(self):
        return len(self._modules)

    def __getitem__(self, i):
        children = list(self._modules.values())
        if isinstance(i, slice):
            return type(self)(*children[i]) if isinstance(self, Sequential) else type(self)(children[i])
        return children[i]

    def __setitem__(self, i, module):
        self.add_module(list(self._modules)[i], module)

    def append(self, module):
        self.add_module(str(len(self)), module)
        return self

    def extend(self, modules):
        for module in modules:
            self.append(module)
        return self


class Sequential(_Numbered):
    def __init__(self, *layers):
        super().__init__()
        if len(layers) == 1 and isinstance(layers[0], collections.OrderedDict):
            for name, layer in layers[0].items():
                self.add_module(name, layer)
        else:
            self.extend(layers)

    def forward(self, input):
        for layer in self:
            input = layer(input)
        return input


class ModuleList(_Numbered):
    def __init__(self, modules=()):
        super().__init__()
        self.extend(modules)


class ModuleDict(Module):
    def __init__(self, modules=None):
        super().__init__()
        for name, module in (modules or {}).items():
            self.add_module(name, module)

    def __getitem__(self, name):
        return self._modules[name]

    def __setitem__(self, name, module):
        self.add_module(name, module)

    def __len__(self):
        return len(self._modules)

    def __iter__(self):
        return iter(self._modules)

    def __contains__(self, name):
        return name in self._modules

    def keys(self):
        return self._modules.keys()

    def values(self):
        return self._modules.values()

    def items(self):
        return self._modules.items()


class ParameterList(Module):
    def __init__(self, parameters=()):
        super().__init__()
        for p in parameters:
            self.append(p)

    def append(self, p):
        self.register_parameter(str(len(self)), p if isinstance(p, Parameter) else Parameter(p))
        return self

    def __len__(self):
        return len(self._parameters)

    def __iter__(self):
        return iter(self._parameters.values())

    def __getitem__(self, i):
        return list(self._parameters.values())[i]

# SPDX-License-Identifier: LGPL-2.1-or-later
"""Modules: parameters with names, in a tree."""
from tapedeck import _C
from tapedeck._C import Tensor


class Parameter(Tensor):
    """A leaf that wants a gradient."""

    def __new__(cls, data, requires_grad=True):
        return _C._make_subclass(cls, data, requires_grad)

    def __repr__(self):
        return 'Parameter containing:\n' + super().__repr__()


class Module:
    """Base of all layers and models."""

    def __init__(self):
        object.__setattr__(self, '_parameters', {})
        object.__setattr__(self, '_modules', {})
        self.training = True
        self._named = False

    def __setattr__(self, name, value):
        if isinstance(value, (Parameter, Module)) and '_modules' not in self.__dict__:
            what = 'parameters' if isinstance(value, Parameter) else 'module'
            raise AttributeError(f'cannot assign {what} before Module.__init__() call')
        table = {Parameter: '_parameters', Module: '_modules'}
        for kind, where in table.items():
            if isinstance(value, kind):
                self.__dict__.pop(name, None)
                self.__dict__[where][name] = value
                return
            self.__dict__.get(where, {}).pop(name, None)
        object.__setattr__(self, name, value)

    def __getattr__(self, name):
        for where in ('_parameters', '_modules'):
            if name in self.__dict__.get(where, ()):
                return self.__dict__[where][name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __call__(self, *args, **kwargs):
        if not self._named:
            self._name_parameters()
        return self.forward(*args, **kwargs)

    def forward(self, *args, **kwargs):
        raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')

    def _name_parameters(self):
        """Tells the engine the parameters' names, so that the tape has them: from the root, the first module
        of a tree that is called."""
        for name, p in self.named_parameters():
            _C.set_name(p, name)
        for module in self.modules():
            module._named = True

    def register_parameter(self, name, parameter):
        setattr(self, name, parameter)

    def add_module(self, name, module):
        setattr(self, name, module)

    def named_children(self):
        return iter(self._modules.items())

    def children(self):
        return iter(self._modules.values())

    def modules(self):
        yield self
        for child in self._modules.values():
            yield from child.modules()

    def _walk_parameters(self, prefix):
        for name, p in self._parameters.items():
            yield prefix + name, p
        for name, child in self._modules.items():
            yield from child._walk_parameters(f'{prefix}{name}.')

    def named_parameters(self, prefix=''):
        """Pairs of a name such as "conv1.weight" and a parameter; a shared one is named once."""
        seen = set()
        for name, p in self._walk_parameters(prefix and prefix + '.'):
            if id(p) not in seen:
                seen.add(id(p))
                yield name, p

    def parameters(self):
        return (p for _, p in self.named_parameters())

    def state_dict(self):
        return {name: p.detach() for name, p in self.named_parameters()}

    def zero_grad(self, set_to_none=False):
        for p in self.parameters():
            if p.grad is not None and set_to_none:
                p.grad = None
            elif p.grad is not None:
                p.grad.zero_()

    def requires_grad_(self, requires_grad=True):
        for p in self.parameters():
            p.requires_grad_(requires_grad)
        return self

    def to(self, *target):
        """Moves all parameters; they are new leaves afterwards, so make the optimizer later."""
        for module in self.modules():
            for name, p in list(module._parameters.items()):
                module._parameters[name] = Parameter(p.detach().to(*target), p.requires_grad)
            module._named = False
        return self

    def train(self, mode=True):
        for module in self.modules():
            module.training = mode
        return self

    def eval(self):
        return self.train(False)

    def extra_repr(self):
        return ''

    def __repr__(self):
        lines = [f'  ({name}): ' + repr(child).replace('\n', '\n  ') for name, child in self._modules.items()]
        inside = '\n' + '\n'.join(lines) + '\n' if lines else self.extra_repr()
        return f'{type(self).__name__}({inside})'

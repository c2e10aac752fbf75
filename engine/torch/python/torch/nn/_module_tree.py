# SPDX-License-Identifier: LGPL-2.1-or-later
"""Modules as a tree: names of what is in it, and walks over it."""
from torch.nn.parameter import Parameter


class Tree:
    """What Module has of it."""

    def named_children(self):
        seen = set()
        for name, module in self._modules.items():
            if module is not None and id(module) not in seen:
                seen.add(id(module))
                yield name, module

    def children(self):
        for _, module in self.named_children():
            yield module

    def named_modules(self, memo=None, prefix='', remove_duplicate=True):
        memo = set() if memo is None else memo
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self
        for name, child in self._modules.items():
            if child is not None:
                yield from child.named_modules(memo, f'{prefix}.{name}' if prefix else name, remove_duplicate)

    def modules(self, remove_duplicate=True):
        for _, module in self.named_modules(remove_duplicate=remove_duplicate):
            yield module

    def _named_members(self, get_members_fn, prefix='', recurse=True, remove_duplicate=True):
        """Pairs of a full name and a member. A shared member appears once."""
        seen = set()
        walk = self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate) if recurse else [(prefix, self)]
        for path, module in walk:
            for name, member in get_members_fn(module):
                if member is not None and id(member) not in seen:
                    if remove_duplicate:
                        seen.add(id(member))
                    yield f'{path}.{name}' if path else name, member

    def named_parameters(self, prefix='', recurse=True, remove_duplicate=True):
        """Pairs of a name such as "conv1.weight" and a parameter. A shared parameter has one name."""
        yield from self._named_members(lambda module: module._parameters.items(), prefix, recurse, remove_duplicate)

    def parameters(self, recurse=True):
        for _, p in self.named_parameters(recurse=recurse):
            yield p

    def named_buffers(self, prefix='', recurse=True, remove_duplicate=True):
        yield from self._named_members(lambda module: module._buffers.items(), prefix, recurse, remove_duplicate)

    def buffers(self, recurse=True):
        for _, b in self.named_buffers(recurse=recurse):
            yield b

    # By name.

    def _member(self, name):
        if not hasattr(self, name):
            raise AttributeError(f'{self._get_name()} has no attribute `{name}`')
        return getattr(self, name)

    def get_submodule(self, target):
        module = self
        for name in target.split('.') if target else ():
            module = module._member(name)
            if not isinstance(module, Tree):
                raise AttributeError(f'`{name}` is not an nn.Module')
        return module

    def set_submodule(self, target, module, strict=False):
        if target == '':
            raise ValueError('Cannot set the submodule without a target name!')
        if not isinstance(module, Tree):
            raise ValueError(f'`module` is not an nn.Module, found {type(module)}')
        path, _, name = target.rpartition('.')
        parent = self.get_submodule(path)
        if (strict or hasattr(parent, name)) and not isinstance(parent._member(name), Tree):
            raise AttributeError(f'`{name}` is not an nn.Module')
        setattr(parent, name, module)

    def get_parameter(self, target):
        path, _, name = target.rpartition('.')
        found = self.get_submodule(path)._member(name)
        if not isinstance(found, Parameter):
            raise AttributeError(f'`{name}` is not an nn.Parameter')
        return found

    def get_buffer(self, target):
        path, _, name = target.rpartition('.')
        module = self.get_submodule(path)
        found = module._member(name)
        if name not in module._buffers:
            raise AttributeError(f'`{name}` is not a buffer')
        return found

    # For all.

    def apply(self, fn):
        """fn(module) for every module, children first."""
        for child in self.children():
            child.apply(fn)
        fn(self)
        return self

    def train(self, mode=True):
        if not isinstance(mode, bool):
            raise ValueError('training mode is expected to be boolean')
        self.training = mode
        for child in self.children():
            child.train(mode)
        return self

    def eval(self):
        return self.train(False)

    def requires_grad_(self, requires_grad=True):
        for p in self.parameters():
            p.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none=True):
        for p in self.parameters():
            if p.grad is not None and set_to_none:
                p.grad = None
            elif p.grad is not None:
                if p.grad.requires_grad:
                    p.grad = p.grad.detach()
                p.grad.zero_()

    # As text.

    def extra_repr(self):
        return ''

    def _get_name(self):
        return type(self).__name__

    def __repr__(self):
        lines = self.extra_repr().split('\n') if self.extra_repr() else []
        children = [f'({name}): ' + repr(child).replace('\n', '\n  ') for name, child in self._modules.items()]
        if len(lines) == 1 and not children:
            return f'{self._get_name()}({lines[0]})'
        inside = ''.join(f'\n  {line}' for line in lines + children)
        return f'{self._get_name()}({inside}{chr(10) if inside else ""})'

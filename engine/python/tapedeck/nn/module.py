# SPDX-License-Identifier: LGPL-2.1-or-later
"""Modules: parameters and buffers with names, in a tree, and hooks around their forward and backward."""
import collections
import functools

from tapedeck import _C
from tapedeck._C import Tensor
from tapedeck.autograd import no_grad
from tapedeck.nn.backward_hook import call_with_backward_hooks
from tapedeck.nn.parameter import Parameter
from tapedeck.nn.root_names import prefix_of

_TABLES = ('_parameters', '_buffers', '_modules')
_Incompatible = collections.namedtuple('IncompatibleKeys', ['missing_keys', 'unexpected_keys'])


class _Handle:
    """Removes a hook; also as a context manager."""

    def __init__(self, hooks):
        self._hooks = hooks

    def remove(self):
        self._hooks.pop(self, None)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.remove()


def _add_hook(hooks, hook):
    handle = _Handle(hooks)
    hooks[handle] = hook
    return handle


class Module:
    """Base of all layers and models."""

    def __init__(self):
        for table in (*_TABLES, '_forward_pre_hooks', '_forward_hooks', '_backward_pre_hooks', '_backward_hooks'):
            object.__setattr__(self, table, {})
        object.__setattr__(self, '_non_persistent', set())
        self.training = True
        self._named = False

    def __setattr__(self, name, value):
        if isinstance(value, (Parameter, Module)) and '_modules' not in self.__dict__:
            what = 'parameters' if isinstance(value, Parameter) else 'module'
            raise AttributeError(f'cannot assign {what} before Module.__init__() call')
        for kind, table in ((Parameter, '_parameters'), (Module, '_modules')):
            if isinstance(value, kind):
                self._forget(name)
                self.__dict__[table][name] = value
                return
        table = next((t for t in _TABLES if name in self.__dict__.get(t, ())), None)
        if table is None:
            object.__setattr__(self, name, value)
        elif value is None or (table == '_buffers' and isinstance(value, Tensor)):
            self.__dict__[table][name] = value
        else:
            kind, wanted = {'_parameters': ('parameter', 'nn.Parameter'), '_buffers': ('buffer', 'Tensor'),
                            '_modules': ('child module', 'nn.Module')}[table]
            origin = '' if type(value).__module__ == 'builtins' else type(value).__module__ + '.'
            raise TypeError(f"cannot assign '{origin}{type(value).__name__}' as {kind} '{name}' (torch.{wanted} or None "
                            'expected)')

    def _forget(self, name):
        self.__dict__.pop(name, None)
        for table in _TABLES:
            self.__dict__[table].pop(name, None)

    def __getattr__(self, name):
        for table in _TABLES:
            if name in self.__dict__.get(table, ()):
                return self.__dict__[table][name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __delattr__(self, name):
        if not any(name in self.__dict__[table] for table in _TABLES):
            object.__delattr__(self, name)
        self._forget(name)

    def __dir__(self):
        return sorted({*super().__dir__(), *(name for table in _TABLES for name in self.__dict__[table])})

    # Calls and hooks.

    def __call__(self, *args, **kwargs):
        if not self._named:
            self._name_parameters()
        for hook in list(self._forward_pre_hooks.values()):
            changed = hook(self, args)
            if changed is not None:
                args = changed if isinstance(changed, tuple) else (changed,)
        if self._backward_hooks or self._backward_pre_hooks:
            result = call_with_backward_hooks(self, args, kwargs)
        else:
            result = self.forward(*args, **kwargs)
            result = self._after_forward(args, result)
        return result

    def _after_forward(self, args, result):
        for hook in list(self._forward_hooks.values()):
            changed = hook(self, args, result)
            result = result if changed is None else changed
        return result

    def forward(self, *args, **kwargs):
        raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')

    def register_forward_pre_hook(self, hook):
        """hook(module, args) runs before each forward. Its result replaces args."""
        return _add_hook(self._forward_pre_hooks, hook)

    def register_forward_hook(self, hook):
        """hook(module, args, output) runs after each forward. Its result replaces the output."""
        return _add_hook(self._forward_hooks, hook)

    def register_full_backward_hook(self, hook):
        """hook(module, grad_input, grad_output) runs when the gradients of the inputs are there. Its result replaces
        them."""
        return _add_hook(self._backward_hooks, hook)

    def register_full_backward_pre_hook(self, hook):
        """hook(module, grad_output) runs when the gradients of the outputs are there. Its result replaces them."""
        return _add_hook(self._backward_pre_hooks, hook)

    def _name_parameters(self):
        """Gives the engine the names of parameters, so that the tape has them. The first module of a tree that is
        called is the root of the names."""
        prefix = prefix_of(self, Module)
        for name, p in self.named_parameters():
            _C.set_name(p, prefix + name)
        for module in self.modules():
            module._named = True

    # The tree.

    def register_parameter(self, name, param):
        self._forget(name)
        self._parameters[name] = param

    def register_buffer(self, name, tensor, persistent=True):
        """A tensor of the module that does not learn. A persistent one is in its state_dict too."""
        self._forget(name)
        self._buffers[name] = tensor
        (self._non_persistent.discard if persistent else self._non_persistent.add)(name)

    def add_module(self, name, module):
        self._forget(name)
        self._modules[name] = module

    register_module = add_module

    def named_children(self):
        return ((name, module) for name, module in self._modules.items() if module is not None)

    def children(self):
        return (module for _, module in self.named_children())

    def named_modules(self, memo=None, prefix=''):
        memo = set() if memo is None else memo
        if id(self) in memo:
            return
        memo.add(id(self))
        yield prefix, self
        for name, child in self.named_children():
            yield from child.named_modules(memo, f'{prefix}.{name}' if prefix else name)

    def modules(self):
        return (module for _, module in self.named_modules())

    def _walk(self, table, prefix, recurse=True):
        """Pairs of a full name and a member, in PyTorch's order. A shared member appears once."""
        seen = set()
        for path, module in self.named_modules(prefix=prefix) if recurse else ((prefix, self),):
            for name, member in module.__dict__[table].items():
                if member is not None and id(member) not in seen:
                    seen.add(id(member))
                    yield f'{path}.{name}' if path else name, member

    def named_parameters(self, prefix='', recurse=True):
        """Pairs of a name such as "conv1.weight" and a parameter. A shared parameter has one name."""
        return self._walk('_parameters', prefix, recurse)

    def parameters(self, recurse=True):
        return (p for _, p in self.named_parameters(recurse=recurse))

    def named_buffers(self, prefix='', recurse=True):
        return self._walk('_buffers', prefix, recurse)

    def buffers(self, recurse=True):
        return (b for _, b in self.named_buffers(recurse=recurse))

    def get_submodule(self, target):
        return functools.reduce(getattr, target.split('.') if target else [], self)

    get_parameter = get_buffer = get_submodule

    def apply(self, fn):
        """fn(module) for every module, children first."""
        for child in self.children():
            child.apply(fn)
        fn(self)
        return self

    # What is in it.

    def _members(self, prefix=''):
        """Every parameter and every persistent buffer by its full name. A shared one appears under each of its
        names."""
        for name, p in self._parameters.items():
            if p is not None:
                yield prefix + name, p
        for name, b in self._buffers.items():
            if b is not None and name not in self._non_persistent:
                yield prefix + name, b
        for name, child in self.named_children():
            yield from child._members(f'{prefix}{name}.')

    def state_dict(self, prefix=''):
        return collections.OrderedDict((name, member.detach()) for name, member in self._members(prefix))

    @no_grad()
    def load_state_dict(self, state_dict, strict=True):
        """Copies values into parameters and buffers."""
        mine = dict(self._members())
        missing = [name for name in mine if name not in state_dict]
        unexpected = [name for name in state_dict if name not in mine]
        errors = []
        if strict and unexpected:
            errors.append('Unexpected key(s) in state_dict: ' + ', '.join(f'"{k}"' for k in unexpected) + '. ')
        if strict and missing:
            errors.append('Missing key(s) in state_dict: ' + ', '.join(f'"{k}"' for k in missing) + '. ')
        for name, member in mine.items():
            if name in state_dict and state_dict[name].shape != member.shape:
                errors.append(f'size mismatch for {name}: copying a param with shape {state_dict[name].shape} from '
                              f'checkpoint, the shape in current model is {member.shape}.')
            elif name in state_dict:
                member.copy_(state_dict[name])
        if errors:
            raise RuntimeError(f'Error(s) in loading state_dict for {type(self).__name__}:\n\t' + '\n\t'.join(errors))
        return _Incompatible(missing, unexpected)

    def zero_grad(self, set_to_none=True):
        for p in self.parameters():
            if p.grad is not None and set_to_none:
                p.grad = None
            elif p.grad is not None:
                p.grad.zero_()

    def requires_grad_(self, requires_grad=True):
        for p in self.parameters():
            p.requires_grad_(requires_grad)
        return self

    def _convert(self, convert):
        """A parameter that changes is a new leaf. So make the optimizer later."""
        for module in self.modules():
            for name, p in list(module._parameters.items()):
                if p is not None:
                    module._parameters[name] = Parameter(convert(p.detach()), p.requires_grad)
            for name, b in list(module._buffers.items()):
                if b is not None:
                    module._buffers[name] = convert(b)
            module._named = False
        return self

    def to(self, *args, **kwargs):
        """Moves parameters and buffers. A dtype applies only to those with a floating dtype."""
        device, dtype = args[:1] if args and not isinstance(args[0], _C.dtype) else (), kwargs.pop('dtype', None)
        dtype = next((a for a in args if isinstance(a, _C.dtype)), dtype)
        device = kwargs.pop('device', *device) if device else kwargs.pop('device', None)

        def convert(tensor):
            tensor = tensor if device is None else tensor.to(device)
            return tensor.to(dtype) if dtype is not None and tensor.is_floating_point() else tensor
        return self._convert(convert)

    def float(self):
        return self.to(_C.float32)

    def double(self):
        return self.to(_C.float64)

    def cpu(self):
        return self.to('cpu')

    def train(self, mode=True):
        self.training = mode
        for child in self.children():
            child.train(mode)
        return self

    def eval(self):
        return self.train(False)

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

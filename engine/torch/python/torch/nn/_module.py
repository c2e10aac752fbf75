# SPDX-License-Identifier: LGPL-2.1-or-later
"""Modules: parameters and buffers with names, in a tree, and hooks around their forward and backward."""
import warnings

from torch import _C
from torch._C import Tensor
from torch.nn import _module_hooks as module_hooks
from torch.nn._backward_hook import call_with_backward_hooks
from torch.nn._module_hooks import Hooks, registered
from torch.nn._module_state import State
from torch.nn._module_tree import Tree
from torch.nn.parameter import Buffer, Parameter
from torch.nn._root_names import prefix_of
from torch._typename import typename

_TABLES = ('_parameters', '_buffers', '_modules')


class Module(Tree, State, Hooks):
    """Base of all layers and models."""
    dump_patches = False
    call_super_init = False

    def __init__(self, *args, **kwargs):
        if kwargs and not self.call_super_init:
            raise TypeError(f"{type(self).__name__}.__init__() got an unexpected keyword argument "
                            f"'{next(iter(kwargs))}'")
        if args and not self.call_super_init:
            raise TypeError(f'{type(self).__name__}.__init__() takes 1 positional argument but {len(args) + 1} were '
                            'given')
        for table in _TABLES:
            object.__setattr__(self, table, {})
        self._begin_hooks()
        object.__setattr__(self, '_non_persistent_buffers_set', set())
        object.__setattr__(self, 'training', True)
        object.__setattr__(self, '_named', False)
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    # Attributes.

    def __setattr__(self, name, value):
        tables = self.__dict__
        if isinstance(value, Parameter):
            if '_parameters' not in tables:
                raise AttributeError('cannot assign parameters before Module.__init__() call')
            self._forget(name, '_parameters')
            self.register_parameter(name, value)
        elif isinstance(value, Module):
            if '_modules' not in tables:
                raise AttributeError('cannot assign module before Module.__init__() call')
            self._forget(name, '_modules')
            self._modules[name] = registered('module', self, name, value)
        elif isinstance(value, Buffer):
            self._forget(name, '_buffers')
            self.register_buffer(name, value, value.persistent)
        elif name in tables.get('_parameters', ()):
            self._want(value is None, value, 'parameter', name, 'torch.nn.Parameter')
            self.register_parameter(name, None)
        elif name in tables.get('_modules', ()):
            self._want(value is None, value, 'child module', name, 'torch.nn.Module')
            self._modules[name] = registered('module', self, name, None)
        elif name in tables.get('_buffers', ()):
            self._want(value is None or isinstance(value, Tensor), value, 'buffer', name,
                       'torch.nn.Buffer, torch.Tensor')
            self.register_buffer(name, value, name not in self._non_persistent_buffers_set)
        else:
            object.__setattr__(self, name, value)

    @staticmethod
    def _want(right, value, kind, name, wanted):
        if not right:
            raise TypeError(f"cannot assign '{typename(value)}' as {kind} '{name}' ({wanted} or None expected)")

    def _forget(self, name, but=None):
        """The name may go from one table to another."""
        self.__dict__.pop(name, None)
        for table in _TABLES:
            if table != but:
                self.__dict__[table].pop(name, None)
        if but != '_buffers':
            self._non_persistent_buffers_set.discard(name)

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
        names = {*super().__dir__(), *(name for table in _TABLES for name in self.__dict__[table])}
        return sorted(name for name in names if not name[0].isdigit())

    def _check_name(self, kind, table, name):
        if table not in self.__dict__:
            raise AttributeError(f'cannot assign {kind} before Module.__init__() call')
        if not isinstance(name, str):
            raise TypeError(f'{kind} name should be a string. Got {typename(name)}')
        if '.' in name:
            raise KeyError(f'{kind} name can\'t contain "."' + (f', got: {name}' if kind == 'module' else ''))
        if name == '':
            raise KeyError(f'{kind} name can\'t be empty string ""')
        if hasattr(self, name) and name not in self.__dict__[table]:
            raise KeyError(f"attribute '{name}' already exists")

    def register_parameter(self, name, param):
        self._check_name('parameter', '_parameters', name)
        if param is not None and not isinstance(param, Parameter):
            raise TypeError(f"cannot assign '{typename(param)}' object to parameter '{name}' (torch.nn.Parameter or "
                            'None required)')
        if param is not None and param.grad_fn is not None:
            raise ValueError(f"Cannot assign non-leaf Tensor to parameter '{name}'. Model parameters must be created "
                             f"explicitly. To express '{name}' as a function of another Tensor, compute the value in "
                             'the forward() method.')
        self._parameters[name] = param if param is None else registered('parameter', self, name, param)

    def register_buffer(self, name, tensor, persistent=True):
        """A tensor of the module that does not learn. A persistent one is in its state_dict too."""
        self._check_name('buffer', '_buffers', name)
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(f"cannot assign '{typename(tensor)}' object to buffer '{name}' (torch Tensor or None "
                            'required)')
        self._buffers[name] = registered('buffer', self, name, tensor)
        kept = self._non_persistent_buffers_set
        (kept.discard if persistent else kept.add)(name)

    def add_module(self, name, module):
        if module is not None and not isinstance(module, Module):
            raise TypeError(f'{typename(module)} is not a Module subclass')
        self._check_name('module', '_modules', name)
        self._modules[name] = registered('module', self, name, module)

    def register_module(self, name, module):
        self.add_module(name, module)

    # Calls.

    def __call__(self, *args, **kwargs):
        if not self._named:
            self._name_parameters()
        if not (self._forward_pre_hooks or self._forward_hooks or self._backward_hooks or self._backward_pre_hooks
                or module_hooks.FORWARD_PRE or module_hooks.FORWARD or module_hooks.BACKWARD
                or module_hooks.BACKWARD_PRE):
            return self.forward(*args, **kwargs)
        called = set()
        try:
            return self._call_with_hooks(args, kwargs, called)
        except Exception:
            self._call_the_rest(args, kwargs, called)
            raise

    def _call_with_hooks(self, args, kwargs, called):
        for hook in list(module_hooks.FORWARD_PRE.values()):
            args = self._changed(args, hook(self, args))
        for id_, hook in list(self._forward_pre_hooks.items()):
            if id_ not in self._forward_pre_hooks_with_kwargs:
                args = self._changed(args, hook(self, args))
                continue
            changed = hook(self, args, kwargs)
            if changed is not None:
                if not isinstance(changed, tuple) or len(changed) != 2:
                    raise RuntimeError('forward pre-hook must return None or a tuple of (new_args, new_kwargs), but '
                                       f'got {changed}.')
                args, kwargs = changed
        full = [] if self._is_full_backward_hook is False else list(self._backward_hooks.values())
        full = [*module_hooks.BACKWARD.values(), *full]
        before = [*module_hooks.BACKWARD_PRE.values(), *self._backward_pre_hooks.values()]
        if full or before:
            result = call_with_backward_hooks(self, args, kwargs, full, before, called)
        else:
            result = self._after_forward(args, kwargs, self.forward(*args, **kwargs), called)
        if self._backward_hooks and self._is_full_backward_hook is False:
            self._hook_last_node(result)
        return result

    @staticmethod
    def _changed(args, changed):
        return args if changed is None else changed if isinstance(changed, tuple) else (changed,)

    def _after_forward(self, args, kwargs, result, called):
        with_kwargs = {*module_hooks.FORWARD_WITH_KWARGS, *self._forward_hooks_with_kwargs}
        for id_, hook in [*module_hooks.FORWARD.items(), *self._forward_hooks.items()]:
            called.add(id_)
            changed = hook(self, args, kwargs, result) if id_ in with_kwargs else hook(self, args, result)
            result = result if changed is None else changed
        return result

    def _call_the_rest(self, args, kwargs, called):
        """After an error, the hooks that are always called."""
        always = {*module_hooks.FORWARD_ALWAYS, *self._forward_hooks_always_called}
        with_kwargs = {*module_hooks.FORWARD_WITH_KWARGS, *self._forward_hooks_with_kwargs}
        for hooks, whose in ((module_hooks.FORWARD, 'global module'), (self._forward_hooks, 'module')):
            for id_, hook in [item for item in hooks.items() if item[0] in always - called]:
                try:
                    hook(self, args, kwargs, None) if id_ in with_kwargs else hook(self, args, None)
                except Exception as error:
                    warnings.warn(f'{whose} forward hook with ``always_call=True`` raised an exception that was '
                                  f'silenced as another error was raised in forward: {error}', stacklevel=2)

    def _hook_last_node(self, result):
        while not isinstance(result, Tensor):
            result = next(v for v in result.values() if isinstance(v, Tensor)) if isinstance(result, dict) else result[0]
        for hook in self._backward_hooks.values() if result.grad_fn is not None else ():
            result.grad_fn.register_hook(lambda grads_in, grads_out, hook=hook: hook(self, grads_in, grads_out))

    def forward(self, *args, **kwargs):
        raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')

    def compile(self, *args, **kwargs):
        """PyTorch's compiler is not here. The module runs as it is."""

    def _name_parameters(self):
        """Gives the engine the names of parameters, so that the tape has them. The first module of a tree that is
        called is the root of the names."""
        prefix = prefix_of(self, Module)
        for name, p in self.named_parameters():
            _C.set_name(p, prefix + name)
        for module in self.modules():
            object.__setattr__(module, '_named', True)

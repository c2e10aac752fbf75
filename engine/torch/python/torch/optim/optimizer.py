# SPDX-License-Identifier: LGPL-2.1-or-later
"""Base of all optimizers: groups of parameters with settings, a state for each parameter, and hooks around a step."""
import collections
import copy
import functools
import itertools
import warnings

from torch import _C
from torch._C import Tensor
from torch._typename import typename
from torch.utils.hooks import add_hook, new_hooks

_HOOKS = ('_optimizer_step_pre_hooks', '_optimizer_step_post_hooks', '_optimizer_state_dict_pre_hooks',
          '_optimizer_state_dict_post_hooks', '_optimizer_load_state_dict_pre_hooks',
          '_optimizer_load_state_dict_post_hooks')
_global_pre_hooks, _global_post_hooks = new_hooks(), new_hooks()


class _Required:
    def __repr__(self):
        return '<required parameter>'


required = _Required()


def register_optimizer_step_pre_hook(hook):
    """hook(optimizer, args, kwargs) runs before each step of every optimizer."""
    return add_hook(_global_pre_hooks, hook)


def register_optimizer_step_post_hook(hook):
    """hook(optimizer, args, kwargs) runs after each step of every optimizer."""
    return add_hook(_global_post_hooks, hook)


def _with_hooks(step):
    """The step of a class, with what runs before and after it. The tape learns which parameters have no gradient."""
    @functools.wraps(step)
    def hooked(self, *args, **kwargs):
        args = (self, *args)
        for hook in (*_global_pre_hooks.values(), *self._optimizer_step_pre_hooks.values()):
            changed = hook(self, args, kwargs)
            if changed is not None:
                if not isinstance(changed, tuple) or len(changed) != 2:
                    raise RuntimeError(f'{step} must return None or a tuple of (new_args, new_kwargs), but got '
                                       f'{changed}.')
                args, kwargs = changed
        if '_opt_called' in self.__dict__:
            self._opt_called = True  # a scheduler asks
        result = step(*args, **kwargs)
        self._tell_missing()
        for hook in (*self._optimizer_step_post_hooks.values(), *_global_post_hooks.values()):
            hook(self, args, kwargs)
        return result
    hooked.hooked = True
    return hooked


class Optimizer:
    """A subclass has step(closure=None)."""
    _has_stepped = False

    def __init__(self, params, defaults):
        self.defaults = defaults
        self._prepare()
        if isinstance(params, Tensor):
            raise TypeError('params argument given to the optimizer should be an iterable of Tensors or dicts, but got '
                            + typename(params))
        self.state, self.param_groups = collections.defaultdict(dict), []
        groups = list(params)
        if not groups:
            raise ValueError('optimizer got an empty parameter list')
        for group in groups if isinstance(groups[0], dict) else [{'params': groups}]:
            self.add_param_group(group)

    def _prepare(self):
        for name in _HOOKS:
            self.__dict__.setdefault(name, new_hooks())
        if not getattr(type(self).step, 'hooked', False):
            type(self).step = _with_hooks(type(self).step)

    def __getstate__(self):
        return {'defaults': self.defaults, 'state': self.state, 'param_groups': self.param_groups}

    def __setstate__(self, state):
        self.__dict__.update(state)
        self._prepare()
        self.defaults.setdefault('differentiable', False)

    def __repr__(self):
        text = type(self).__name__ + ' ('
        for i, group in enumerate(self.param_groups):
            settings = (f'    {key}: {group[key]}\n' for key in sorted(group) if key != 'params')
            text += f'\nParameter Group {i}\n' + ''.join(settings)
        return text + ')'

    def step(self, closure=None):
        raise NotImplementedError

    def zero_grad(self, set_to_none=True):
        for p in self._params():
            if p.grad is not None and set_to_none:
                p.grad = None
            elif p.grad is not None:
                if p.grad.requires_grad:
                    p.grad = p.grad.detach()
                p.grad.zero_()

    def _params(self):
        return itertools.chain.from_iterable(group['params'] for group in self.param_groups)

    def _tell_missing(self):
        """At the first step after a backward pass."""
        if self._has_stepped or not _C.has_run_backward():
            return
        self._has_stepped = True
        for number, p in enumerate(self._params()):
            if p.requires_grad and p.grad is None:
                _C.no_gradient(p, number)

    # Groups.

    def add_param_group(self, param_group):
        """Fills the dictionary with defaults and keeps it."""
        if not isinstance(param_group, dict):
            raise TypeError(f'param_group must be a dict, but got {type(param_group)}')
        params = param_group['params']
        if isinstance(params, set):
            raise TypeError('optimizer parameters need to be organized in ordered collections, but the ordering of '
                            'tensors in sets will change between runs. Please use a list instead.')
        param_group['params'] = [params] if isinstance(params, Tensor) else list(params)
        self._take_names(param_group)
        for p in param_group['params']:
            self._check_parameter(p)
        for name, default in self.defaults.items():
            if default is required and name not in param_group:
                raise ValueError("parameter group didn't specify a value of required optimization parameter " + name)
            param_group.setdefault(name, default)
        self._check_group(param_group)
        self.param_groups.append(param_group)

    @staticmethod
    def _take_names(group):
        """Parameters may be pairs of a name and a tensor."""
        names = [p[0] for p in group['params'] if isinstance(p, tuple)]
        if names and len(names) != len(group['params']):
            raise ValueError('all optimizer params should be with/without names. Some param names are missing')
        if names:
            group['params'], group['param_names'] = [p[1] for p in group['params']], names

    def _check_parameter(self, p):
        if not isinstance(p, Tensor):
            raise TypeError('optimizer can only optimize Tensors, but one of the params is ' + typename(p))
        if not self.defaults.get('differentiable') and not (p.is_leaf or p.retains_grad):
            raise ValueError("can't optimize a non-leaf Tensor")

    def _check_group(self, group):
        ids = {id(p) for p in group['params']}
        if len(ids) != len(group['params']):
            warnings.warn('optimizer contains a parameter group with duplicate parameters; in future, this will cause '
                          'an error; see github.com/pytorch/pytorch/issues/40967 for more information', stacklevel=4)
        named = 'param_names' in group
        if any(named != ('param_names' in other) for other in self.param_groups):
            raise ValueError('all optimizer param groups should be with/without names. cannot add param group '
                             f"{'with' if named else 'without'} names to the optimizer")
        if not ids.isdisjoint(map(id, self._params())):
            raise ValueError('some parameters appear in more than one parameter group')

    # The state as a dictionary, in which a parameter is a number.

    def state_dict(self):
        for hook in self._optimizer_state_dict_pre_hooks.values():
            hook(self)
        numbers, groups, n = {}, [], 0
        for group in self.param_groups:
            for i, p in enumerate(group['params'], n):
                numbers.setdefault(id(p), i)
            n += len(group['params'])
            packed = {name: value for name, value in group.items() if name != 'params'}
            groups.append({**packed, 'params': [numbers[id(p)] for p in group['params']]})
        result = {'state': {numbers[id(p)] if isinstance(p, Tensor) else p: state for p, state in self.state.items()},
                  'param_groups': groups}
        for hook in self._optimizer_state_dict_post_hooks.values():
            changed = hook(self, result)
            result = result if changed is None else changed
        return result

    def load_state_dict(self, state_dict):
        state_dict = state_dict.copy()
        for hook in self._optimizer_load_state_dict_pre_hooks.values():
            changed = hook(self, state_dict)
            state_dict = state_dict if changed is None else changed
        groups = copy.deepcopy(state_dict['param_groups'])
        if len(groups) != len(self.param_groups):
            raise ValueError('loaded state dict has a different number of parameter groups')
        if [len(g['params']) for g in groups] != [len(g['params']) for g in self.param_groups]:
            raise ValueError("loaded state dict contains a parameter group that doesn't match the size of "
                             "optimizer's group")
        params = dict(zip((i for group in groups for i in group['params']), self._params()))
        state = collections.defaultdict(dict)
        for i, value in state_dict['state'].items():
            if i in params:
                state[params[i]] = _fitted(value, params[i])
            else:
                state[i] = value
        for mine, loaded in zip(self.param_groups, groups):
            loaded['params'] = mine['params']
            if 'param_names' in mine:
                loaded.setdefault('param_names', mine['param_names'])
        self.__setstate__({'state': state, 'param_groups': groups})
        for hook in self._optimizer_load_state_dict_post_hooks.values():
            hook(self)

    # Hooks.

    def register_step_pre_hook(self, hook):
        """hook(optimizer, args, kwargs) runs before each step. Its result replaces args and kwargs."""
        return add_hook(self._optimizer_step_pre_hooks, hook)

    def register_step_post_hook(self, hook):
        """hook(optimizer, args, kwargs) runs after each step."""
        return add_hook(self._optimizer_step_post_hooks, hook)

    def register_state_dict_pre_hook(self, hook, prepend=False):
        return add_hook(self._optimizer_state_dict_pre_hooks, hook, prepend)

    def register_state_dict_post_hook(self, hook, prepend=False):
        """hook(optimizer, state_dict): its result replaces the dictionary."""
        return add_hook(self._optimizer_state_dict_post_hooks, hook, prepend)

    def register_load_state_dict_pre_hook(self, hook, prepend=False):
        """hook(optimizer, state_dict): its result replaces the dictionary."""
        return add_hook(self._optimizer_load_state_dict_pre_hooks, hook, prepend)

    def register_load_state_dict_post_hook(self, hook, prepend=False):
        return add_hook(self._optimizer_load_state_dict_post_hooks, hook, prepend)


def _fitted(value, param, key=None):
    """The loaded value with the dtype and device of the parameter. A number of steps stays as it is."""
    if isinstance(value, Tensor):
        if key == 'step':
            return value
        return value.to(param.device).to(param.dtype) if param.is_floating_point() else value.to(param.device)
    if isinstance(value, dict):
        return {name: _fitted(member, param, name) for name, member in value.items()}
    if isinstance(value, (list, tuple, set)):
        return type(value)(_fitted(member, param) for member in value)
    return value

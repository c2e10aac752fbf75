# SPDX-License-Identifier: LGPL-2.1-or-later
"""Base of all optimizers: groups of parameters with settings, and a state for each parameter."""
import collections

from tapedeck import _C
from tapedeck._C import Tensor
from tapedeck.autograd import enable_grad, no_grad


class Optimizer:
    """A subclass has _update(p, grad, state, group), which updates one parameter."""

    def __init__(self, params, defaults):
        self.defaults, self.state, self.param_groups = defaults, collections.defaultdict(dict), []
        self._has_stepped = False
        if isinstance(params, Tensor):
            raise TypeError('params argument given to the optimizer should be an iterable of Tensors or dicts, but got '
                            + type(params).__name__)
        groups = list(params)
        if not groups:
            raise ValueError('optimizer got an empty parameter list')
        for group in groups if isinstance(groups[0], dict) else [{'params': groups}]:
            self.add_param_group(group)

    def add_param_group(self, param_group):
        params = param_group['params']
        params = [params] if isinstance(params, Tensor) else list(params)
        for p in params:
            if not isinstance(p, Tensor):
                raise TypeError(f'optimizer can only optimize Tensors, but one of the params is {type(p).__name__}')
            if not p.is_leaf:
                raise ValueError("can't optimize a non-leaf Tensor")
        known = {id(p) for group in self.param_groups for p in group['params']}
        if any(id(p) in known for p in params):
            raise ValueError('some parameters appear in more than one parameter group')
        self.param_groups.append({**self.defaults, **param_group, 'params': params})

    def zero_grad(self, set_to_none=True):
        for group in self.param_groups:
            for p in group['params']:
                if p.grad is not None and set_to_none:
                    p.grad = None
                elif p.grad is not None:
                    if p.grad.requires_grad:
                        p.grad = p.grad.detach()
                    p.grad.zero_()

    @no_grad()
    def step(self, closure=None):
        """Updates every parameter that has a gradient. First it calls closure(), which computes the gradients."""
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        for group in self.param_groups:
            for p in group['params']:
                if p.grad is not None:
                    self._update(p, p.grad, self.state[p], group)
        if not self._has_stepped and _C.has_run_backward():
            self._tell_missing()
        return loss

    def _tell_missing(self):
        """The tape then has which parameters no gradient reached."""
        self._has_stepped = True
        for number, p in enumerate(p for group in self.param_groups for p in group['params']):
            if p.requires_grad and p.grad is None:
                _C.no_gradient(p, number)

    def state_dict(self):
        numbers = {id(p): i for i, p in enumerate(p for group in self.param_groups for p in group['params'])}
        groups = [{**group, 'params': [numbers[id(p)] for p in group['params']]} for group in self.param_groups]
        return {'state': {numbers[id(p)]: state for p, state in self.state.items()}, 'param_groups': groups}

    def load_state_dict(self, state_dict):
        params = [p for group in self.param_groups for p in group['params']]
        if [len(g['params']) for g in state_dict['param_groups']] != [len(g['params']) for g in self.param_groups]:
            raise ValueError("loaded state dict contains a parameter group that doesn't match the size of "
                             "optimizer's group")
        for number, state in state_dict['state'].items():
            self.state[params[number]] = {name: value.clone() if isinstance(value, Tensor) else value
                                          for name, value in state.items()}
        for mine, theirs in zip(self.param_groups, state_dict['param_groups']):
            mine.update({name: value for name, value in theirs.items() if name != 'params'})

    def __repr__(self):
        lines = [f'{type(self).__name__} (']
        for i, group in enumerate(self.param_groups):
            lines += [f'Parameter Group {i}', *(f'    {key}: {group[key]}' for key in sorted(group) if key != 'params')]
        return '\n'.join(lines) + '\n)'


def check_not_negative(**settings):
    for name, value in settings.items():
        if value < 0.0:
            raise ValueError(f'Invalid {name}: {value}')

# SPDX-License-Identifier: LGPL-2.1-or-later
"""Optimizers that update one parameter after the other, with the operations of PyTorch's loop over single tensors."""
from torch import _C
from torch._C import Tensor
from torch.autograd import enable_grad, set_grad_enabled
from torch.optim.optimizer import Optimizer

# The devices on which PyTorch has steps that a graph of CUDA can capture. None of them is here.
_CAPTURABLE = ['cuda', 'xpu', 'hpu', 'privateuseone', 'xla']


class ByParameter(Optimizer):
    """A subclass has _update(p, grad, state, group), which updates one parameter; and _first(p, group), its first state."""
    _takes_sparse = False
    _capturable_what, _capturable_devices = 'params and state_steps must be', _CAPTURABLE

    def __init__(self, params, defaults):
        super().__init__(params, defaults)
        if defaults.get('fused'):
            if defaults['differentiable']:
                raise RuntimeError('`fused` does not support `differentiable`')
            if defaults['foreach']:
                raise RuntimeError('`fused` and `foreach` cannot be `True` together.')

    def __setstate__(self, state):
        """Checkpoints of earlier versions lack settings, and count steps with a number."""
        super().__setstate__(state)
        for group in self.param_groups:
            for name, default in self.defaults.items():
                group.setdefault(name, default)
        for member in self.state.values():
            if 'step' in member and not isinstance(member['step'], Tensor):
                member['step'] = scalar(float(member['step']))

    def step(self, closure=None):
        """Updates every parameter that has a gradient. First it calls closure(), which computes the gradients."""
        with set_grad_enabled(bool(self.defaults.get('differentiable'))):
            loss = None
            if closure is not None:
                with enable_grad():
                    loss = closure()
            for group in self.param_groups:
                for p, state in self._with_states(group):
                    self._update(p, -p.grad if group.get('maximize') else p.grad, state, group)
        return loss

    def _with_states(self, group):
        members = [p for p in group['params'] if p.grad is not None]
        for p in members:
            if p.grad.is_sparse and not self._takes_sparse:
                raise RuntimeError(self._sparse_text())
            state = self.state[p] if self._has_state(group) else {}
            if not state and self._has_state(group):
                state.update(self._first(p, group))
            if group.get('capturable'):
                raise AssertionError(f'If capturable=True, {self._capturable_what} on supported devices: '
                                     f'{self._capturable_devices}.')
        return [(p, self.state[p] if self._has_state(group) else {}) for p in members]

    def _has_state(self, group):
        return True

    def _sparse_text(self):
        return f'{type(self).__name__} does not support sparse gradients'

    def _first(self, p, group):
        return {}

    def _counted(self, state):
        """One more step; returns how many."""
        state['step'].add_(1)
        return state['step'].item()


def scalar(value):
    return _C.tensor(value, dtype=_C.float32)


def zeros_like(p):
    return _C.zeros_like(p.detach())


def decayed(p, grad, group):
    """The gradient of the loss with weight_decay / 2 |p|^2 added."""
    return grad.add(p, alpha=group['weight_decay']) if group['weight_decay'] else grad


def average_squares(average, grad, weight):
    """average = weight average + (1 - weight) grad^2"""
    return average.mul_(weight).addcmul_(grad, grad, value=1 - weight)


def check_rate(lr):
    if isinstance(lr, Tensor) and lr.numel() != 1:
        raise ValueError('Tensor lr must be 1-element')
    check_not_negative(**{'learning rate': lr})


def check_not_negative(**settings):
    for name, value in settings.items():
        if not value >= 0.0:
            raise ValueError(f'Invalid {name}: {value}')


def check_betas(betas):
    for i, beta in enumerate(betas[:2]):
        if not 0.0 <= beta < 1.0:
            raise ValueError(f'Invalid beta parameter at index {i}: {beta}')


def rate_of(group):
    """The learning rate, a number or a tensor without dimensions."""
    lr = group['lr']
    return lr.reshape(()) if isinstance(lr, Tensor) and lr.dim() else lr


def number(value):
    """A tensor of one element as a number."""
    return value.item() if isinstance(value, Tensor) else value

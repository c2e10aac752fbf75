# SPDX-License-Identifier: LGPL-2.1-or-later
"""Base of all schedules of learning rates. A schedule is chainable: a rate follows from the one before."""
import contextlib
import types
import warnings

from torch._C import Tensor
from torch.optim.optimizer import Optimizer

_DEPRECATED_EPOCH = (
    'The epoch parameter in `scheduler.step()` was not necessary and is being deprecated where possible. Please use '
    '`scheduler.step()` to step the scheduler. During the deprecation, if epoch is different from None, the closed form '
    'is used instead of the new chainable form, where available. Please open an issue if you are unable to replicate '
    'your use case: https://github.com/pytorch/pytorch/issues/new/choose.')
_MORE = 'See more details at https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate'


def check_optimizer(optimizer):
    if not isinstance(optimizer, Optimizer):
        raise TypeError(f'{type(optimizer).__name__} is not an Optimizer')


def per_group(name, optimizer, value):
    """One value per group: a list of them, or one for all."""
    groups = optimizer.param_groups
    if not isinstance(value, (list, tuple)):
        return [value for _ in groups]
    if len(value) != len(groups):
        raise ValueError(f'{name} must have the same length as optimizer.param_groups. {name} has {len(value)} values, '
                         f'param_groups has {len(groups)}.')
    return list(value)


def _copy(value):
    return value.clone() if isinstance(value, Tensor) else value


def values_of(optimizer, name):
    return [_copy(group[name]) for group in optimizer.param_groups]


def set_rate(group, rate):
    """A rate that is a tensor stays the same tensor."""
    if isinstance(group['lr'], Tensor):
        group['lr'].fill_(rate.item() if isinstance(rate, Tensor) else rate)
    else:
        group['lr'] = rate


def warn_epoch():
    warnings.warn(_DEPRECATED_EPOCH, UserWarning, stacklevel=3)


class LRScheduler:
    """A subclass has get_lr(), the rates of all groups at last_epoch."""
    _get_lr_called_within_step = False
    _is_initial = False

    def __init__(self, optimizer, last_epoch=-1):
        check_optimizer(optimizer)
        self.optimizer = optimizer
        for i, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault('initial_lr', _copy(group['lr']))
            elif 'initial_lr' not in group:
                raise KeyError(
                    f"param 'initial_lr' is not specified in param_groups[{i}] when resuming scheduler with last_epoch "
                    ">= 0.\nThis typically happens when:\n1. You're trying to resume training from a checkpoint but "
                    "haven't properly loaded the optimizer state\n2. You're using last_epoch >= 0 for a fresh training "
                    'run (not recommended)')
        self.base_lrs = values_of(optimizer, 'initial_lr')
        self.last_epoch = last_epoch
        optimizer.__dict__.setdefault('_opt_called', False)
        self._initial_step()

    def _initial_step(self):
        self._step_count = 0
        self._is_initial = True
        try:
            self.step()
        finally:
            self._is_initial = False

    def state_dict(self):
        return {name: value for name, value in self.__dict__.items() if name != 'optimizer'}

    def load_state_dict(self, state_dict):
        self.__dict__.update(state_dict)

    def get_last_lr(self):
        return self._last_lr

    def get_lr(self):
        raise NotImplementedError

    def step(self, epoch=None):
        if self._step_count == 1:
            self._warn_order()
        self._step_count += 1
        if epoch is not None:
            warn_epoch()
        self._update_lr(epoch)

    def _warn_order(self):
        if not hasattr(self.optimizer.step, 'hooked'):
            warnings.warn('Seems like `optimizer.step()` has been overridden after learning rate scheduler '
                          'initialization. Please, make sure to call `optimizer.step()` before `lr_scheduler.step()`. '
                          + _MORE, UserWarning, stacklevel=3)
        elif not self.optimizer._opt_called:
            warnings.warn('Detected call of `lr_scheduler.step()` before `optimizer.step()`. In PyTorch 1.1.0 and '
                          'later, you should call them in the opposite order: `optimizer.step()` before '
                          '`lr_scheduler.step()`.  Failure to do this will result in PyTorch skipping the first value '
                          'of the learning rate schedule. ' + _MORE, UserWarning, stacklevel=3)

    def _update_lr(self, epoch=None):
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        with self._asking():
            rates = self.get_lr() if epoch is None or self._closed_form() is None else self._closed_form()
        self._set_rates(rates)

    def _closed_form(self):
        """The rates at last_epoch from the first ones alone, if there is such a formula."""
        return self._get_closed_form_lr() if hasattr(self, '_get_closed_form_lr') else None

    def _set_rates(self, rates):
        for group, rate in zip(self.optimizer.param_groups, rates):
            set_rate(group, rate)
        self._last_lr = values_of(self.optimizer, 'lr')

    @contextlib.contextmanager
    def _asking(self):
        self._get_lr_called_within_step = True
        try:
            yield
        finally:
            self._get_lr_called_within_step = False

    def _rates(self):
        """The rates now, at the beginning of get_lr(), which only step() should call."""
        if not self._get_lr_called_within_step:
            warnings.warn('To get the last learning rate computed by the scheduler, please use `get_last_lr()`.',
                          UserWarning, stacklevel=3)
        return values_of(self.optimizer, 'lr')


def without_functions(scheduler, name):
    """The state of a scheduler with a list of callables: only of objects there is something to keep."""
    kept = [None if isinstance(f, types.FunctionType) else f.__dict__.copy() for f in getattr(scheduler, name)]
    return {**{key: value for key, value in scheduler.__dict__.items() if key not in ('optimizer', name)}, name: kept}


def load_with_functions(scheduler, name, state_dict):
    scheduler.__dict__.update({key: value for key, value in state_dict.items() if key != name})
    for function, kept in zip(getattr(scheduler, name), state_dict[name]):
        if kept is not None:
            function.__dict__.update(kept)

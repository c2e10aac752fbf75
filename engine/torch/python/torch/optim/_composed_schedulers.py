# SPDX-License-Identifier: LGPL-2.1-or-later
"""Schedules made of others, and the one that looks at a measure."""
import bisect
import math

from torch.optim._scheduler import LRScheduler, check_optimizer, set_rate, values_of, warn_epoch


class _Composed(LRScheduler):
    def _check(self, schedulers, optimizer):
        name = type(self).__name__
        for i, scheduler in enumerate(schedulers):
            if not hasattr(scheduler, 'optimizer'):
                raise TypeError(f'{name} at index {i} should have `optimizer` as its attribute.')
            if isinstance(scheduler, ReduceLROnPlateau):
                raise ValueError(f'{name} does not support `ReduceLROnPlateau` scheduler as it requires additional '
                                 f'kwargs to be specified when calling `step`, but got one at index {i} in the given '
                                 'schedulers sequence.')
            if optimizer != scheduler.optimizer:
                raise ValueError(f'{name} expects all schedulers to belong to the same optimizer, but got scheduler '
                                 f'{type(scheduler).__name__} at index {i} has {scheduler.optimizer}, which is '
                                 f'different from {type(optimizer).__name__}.')

    def state_dict(self):
        own = {key: value for key, value in self.__dict__.items() if key not in ('optimizer', '_schedulers')}
        return {**own, '_schedulers': [scheduler.state_dict() for scheduler in self._schedulers]}

    def load_state_dict(self, state_dict):
        self.__dict__.update({key: value for key, value in state_dict.items() if key != '_schedulers'})
        for scheduler, state in zip(self._schedulers, state_dict['_schedulers']):
            scheduler.load_state_dict(state)


def _undo(scheduler):
    """Takes back the step that each scheduler made when it was made."""
    for inner in getattr(scheduler, '_schedulers', ()):
        _undo(inner)
    if not hasattr(scheduler, '_schedulers') and hasattr(scheduler, 'last_epoch'):
        scheduler.last_epoch -= 1


class SequentialLR(_Composed):
    """One scheduler after the other, each from its milestone on."""

    def __init__(self, optimizer, schedulers, milestones, last_epoch=-1):
        if len(schedulers) < 1:
            raise ValueError(f'{type(self).__name__} expects at least one scheduler, but got no scheduler.')
        self._check(schedulers, optimizer)
        if len(milestones) != len(schedulers) - 1:
            raise ValueError('Sequential Schedulers expects number of schedulers provided to be one more than the '
                             f'number of milestone points, but got number of schedulers {len(schedulers)} and the '
                             f'number of milestones to be equal to {len(milestones)}')
        self._schedulers, self._milestones = schedulers, milestones
        self.last_epoch, self.optimizer = last_epoch + 1, optimizer
        for group in optimizer.param_groups:
            set_rate(group, group['initial_lr'])
        _undo(self)
        first = schedulers[bisect.bisect_right(milestones, 0)]
        first._initial_step()
        self._last_lr = first.get_last_lr()

    def step(self):
        self.last_epoch += 1
        i = bisect.bisect_right(self._milestones, self.last_epoch)
        scheduler = self._schedulers[i]
        if i > 0 and self._milestones[i - 1] == self.last_epoch:
            scheduler._update_lr(0)
        else:
            scheduler.step()
        self._last_lr = scheduler.get_last_lr()


class ChainedScheduler(_Composed):
    """All schedulers at each step."""

    def __init__(self, schedulers, optimizer=None):
        if len(schedulers) < 1:
            raise ValueError(f'{type(self).__name__} expects at least one scheduler to be chained, but got no '
                             'scheduler.')
        optimizer = optimizer or schedulers[0].optimizer
        self._check(schedulers, optimizer)
        self._schedulers, self.optimizer = schedulers, optimizer
        self._last_lr = values_of(optimizer, 'lr')

    def step(self):
        for scheduler in self._schedulers:
            scheduler.step()
        self._last_lr = values_of(self.optimizer, 'lr')


class ReduceLROnPlateau(LRScheduler):
    """Lower rates if a measure has not become better for `patience` epochs."""

    def __init__(self, optimizer, mode='min', factor=0.1, patience=10, threshold=1e-4, threshold_mode='rel', cooldown=0,
                 min_lr=0, eps=1e-8):
        if factor >= 1.0:
            raise ValueError('Factor should be < 1.0.')
        check_optimizer(optimizer)
        n, several = len(optimizer.param_groups), isinstance(min_lr, (list, tuple))
        if several and len(min_lr) != n:
            raise ValueError(f'expected {n} min_lrs, got {len(min_lr)}')
        self.factor, self.optimizer = factor, optimizer
        self.default_min_lr, self.min_lrs = (None, list(min_lr)) if several else (min_lr, [min_lr] * n)
        self.patience, self.cooldown, self.eps, self.last_epoch = patience, cooldown, eps, 0
        self._last_lr = values_of(optimizer, 'lr')
        self._init_is_better(mode, threshold, threshold_mode)
        self._reset()

    def _init_is_better(self, mode, threshold, threshold_mode):
        if mode not in ('min', 'max'):
            raise ValueError('mode ' + mode + ' is unknown!')
        if threshold_mode not in ('rel', 'abs'):
            raise ValueError('threshold mode ' + threshold_mode + ' is unknown!')
        self.mode_worse = math.inf if mode == 'min' else -math.inf
        self.mode, self.threshold, self.threshold_mode = mode, threshold, threshold_mode

    def _reset(self):
        self.best, self.cooldown_counter, self.num_bad_epochs = self.mode_worse, 0, 0

    def step(self, metrics, epoch=None):
        current = float(metrics)
        if epoch is not None:
            warn_epoch()
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        if self._is_better(current, self.best):
            self.best, self.num_bad_epochs = current, 0
        else:
            self.num_bad_epochs += 1
        if self.in_cooldown:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            self._reduce_lr(self.last_epoch)
            self.cooldown_counter, self.num_bad_epochs = self.cooldown, 0
        self._last_lr = values_of(self.optimizer, 'lr')

    def _reduce_lr(self, epoch):
        n = len(self.optimizer.param_groups)
        if n != len(self.min_lrs) and self.default_min_lr is None:
            raise RuntimeError(f'The number of param groups in the `optimizer` ({n}) differs from when '
                               f'`ReduceLROnPlateau` was initialized ({len(self.min_lrs)}), usually due to a new param '
                               'group being added to the optimizer. Please modify the `min_lrs` field to match the '
                               'length of the `optimizer` param groups.')
        if n != len(self.min_lrs):
            self.min_lrs = [self.default_min_lr] * n
        for group, lowest in zip(self.optimizer.param_groups, self.min_lrs):
            rate = float(group['lr'])
            lower = max(rate * self.factor, lowest)
            if rate - lower > self.eps:
                set_rate(group, lower)

    @property
    def in_cooldown(self):
        return self.cooldown_counter > 0

    def _is_better(self, value, best):
        sign = -1 if self.mode == 'min' else 1
        border = best * (1.0 + sign * self.threshold) if self.threshold_mode == 'rel' else best + sign * self.threshold
        return value < border if self.mode == 'min' else value > border

    def load_state_dict(self, state_dict):
        self.__dict__.update(state_dict)
        self._init_is_better(self.mode, self.threshold, self.threshold_mode)

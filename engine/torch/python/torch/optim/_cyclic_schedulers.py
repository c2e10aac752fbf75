# SPDX-License-Identifier: LGPL-2.1-or-later
"""Schedules that go up and down, and may move the momentum the other way."""
import math
import types

from torch.optim._scheduler import LRScheduler, check_optimizer, per_group, set_rate


def _set_momentum(group, value, is_beta):
    if is_beta:
        group['betas'] = (value, *group['betas'][1:])
    else:
        group['momentum'] = value


class _WithMomentum(LRScheduler):
    def _begin_momentum(self, base, largest, last_epoch):
        optimizer = self.optimizer
        if 'momentum' not in optimizer.defaults and 'betas' not in optimizer.defaults:
            raise ValueError('optimizer must support momentum or beta1 with `cycle_momentum` option enabled')
        self.use_beta1 = 'betas' in optimizer.defaults
        bases, tops = per_group('base_momentum', optimizer, base), per_group('max_momentum', optimizer, largest)
        for group, low, high in zip(optimizer.param_groups, bases, tops) if last_epoch == -1 else ():
            _set_momentum(group, high, self.use_beta1)
            group['max_momentum'], group['base_momentum'] = high, low
        return bases, tops


class CyclicLR(_WithMomentum):
    """Smith, Cyclical Learning Rates for Training Neural Networks."""

    def __init__(self, optimizer, base_lr, max_lr, step_size_up=2000, step_size_down=None, mode='triangular', gamma=1.0,
                 scale_fn=None, scale_mode='cycle', cycle_momentum=True, base_momentum=0.8, max_momentum=0.9,
                 last_epoch=-1):
        check_optimizer(optimizer)
        self.optimizer = optimizer
        base_lrs = per_group('base_lr', optimizer, base_lr)
        for group, rate in zip(optimizer.param_groups, base_lrs) if last_epoch == -1 else ():
            set_rate(group, rate)
        self.max_lrs = per_group('max_lr', optimizer, max_lr)
        up = float(step_size_up)
        self.total_size = up + (up if step_size_down is None else float(step_size_down))
        self.step_ratio = up / self.total_size
        if mode not in ('triangular', 'triangular2', 'exp_range') and scale_fn is None:
            raise ValueError('mode is invalid and scale_fn is None')
        self.mode, self.gamma, self._scale_fn_custom, self.scale_mode = mode, gamma, scale_fn, scale_mode
        if scale_fn is None:
            self.scale_mode = 'iterations' if mode == 'exp_range' else 'cycle'
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self.base_momentums, self.max_momentums = self._begin_momentum(base_momentum, max_momentum, last_epoch)
        super().__init__(optimizer, last_epoch)
        self.base_lrs = base_lrs

    def scale_fn(self, x):
        if self._scale_fn_custom is not None:
            return self._scale_fn_custom(x)
        return {'triangular': lambda: 1.0, 'triangular2': lambda: 1 / 2.0 ** (x - 1),
                'exp_range': lambda: self.gamma ** x}[self.mode]()

    def get_lr(self):
        self._rates()
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        x = 1.0 + self.last_epoch / self.total_size - cycle
        height = x / self.step_ratio if x <= self.step_ratio else (x - 1) / (self.step_ratio - 1)
        scale = lambda: self.scale_fn(cycle if self.scale_mode == 'cycle' else self.last_epoch)  # noqa: E731
        rates = [low + (high - low) * height * scale() for low, high in zip(self.base_lrs, self.max_lrs)]
        if self.cycle_momentum:
            for group, low, high in zip(self.optimizer.param_groups, self.base_momentums, self.max_momentums):
                _set_momentum(group, high - (high - low) * height * scale(), self.use_beta1)
        return rates

    def state_dict(self):
        custom = self._scale_fn_custom
        kept = None if custom is None or isinstance(custom, types.FunctionType) else custom.__dict__.copy()
        return {**super().state_dict(), '_scale_fn_custom': kept}

    def load_state_dict(self, state_dict):
        custom, kept = self._scale_fn_custom, state_dict.pop('_scale_fn_custom')
        super().load_state_dict(state_dict)
        if kept is not None:
            custom.__dict__.update(kept)


class CosineAnnealingWarmRestarts(LRScheduler):
    """Loshchilov and Hutter, SGDR. A period is T_mult times as long as the one before."""

    def __init__(self, optimizer, T_0, T_mult=1, eta_min=0.0, last_epoch=-1):
        if T_0 <= 0 or not isinstance(T_0, int):
            raise ValueError(f'Expected positive integer T_0, but got {T_0}')
        if T_mult < 1 or not isinstance(T_mult, int):
            raise ValueError(f'Expected integer T_mult >= 1, but got {T_mult}')
        if not isinstance(eta_min, (float, int)):
            raise ValueError(f'Expected float or int eta_min, but got {eta_min} of type {type(eta_min)}')
        self.T_0, self.T_i, self.T_mult, self.eta_min, self.T_cur = T_0, T_0, T_mult, eta_min, last_epoch
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        self._rates()
        return [self.eta_min + (base - self.eta_min) * (1 + math.cos(math.pi * self.T_cur / self.T_i)) / 2
                for base in self.base_lrs]

    def step(self, epoch=None):
        """epoch may have a fraction."""
        if epoch is None and self.last_epoch >= 0:
            epoch = self.last_epoch + 1
            self.T_cur += 1
            if self.T_cur >= self.T_i:
                self.T_cur %= self.T_i
                self.T_i *= self.T_mult
        else:
            epoch = 0 if epoch is None else epoch
            if epoch < 0:
                raise ValueError(f'Expected non-negative epoch, but got {epoch}')
            self._go_to(epoch)
        self.last_epoch = math.floor(epoch)
        with self._asking():
            rates = self.get_lr()
        self._set_rates(rates)

    def _go_to(self, epoch):
        if epoch < self.T_0:
            self.T_i, self.T_cur = self.T_0, epoch
        elif self.T_mult == 1:
            self.T_cur = epoch % self.T_0
        else:
            n = int(math.log(epoch / self.T_0 * (self.T_mult - 1) + 1, self.T_mult))
            self.T_cur = epoch - self.T_0 * (self.T_mult ** n - 1) / (self.T_mult - 1)
            self.T_i = self.T_0 * self.T_mult ** n


def _cosine(start, end, part):
    return end + (start - end) / 2.0 * (math.cos(math.pi * part) + 1)


def _linear(start, end, part):
    return (end - start) * part + start


def _phase(end_step, *names):
    return dict(zip(('end_step', 'start_lr', 'end_lr', 'start_momentum', 'end_momentum'), (end_step, *names)))


class OneCycleLR(_WithMomentum):
    """Smith and Topin, Super-Convergence: up, down, and then far down."""

    def __init__(self, optimizer, max_lr, total_steps=None, epochs=None, steps_per_epoch=None, pct_start=0.3,
                 anneal_strategy='cos', cycle_momentum=True, base_momentum=0.85, max_momentum=0.95, div_factor=25.0,
                 final_div_factor=1e4, three_phase=False, last_epoch=-1):
        check_optimizer(optimizer)
        self.optimizer = optimizer
        self.total_steps = self._n_steps(total_steps, epochs, steps_per_epoch)
        self._schedule_phases = self._phases(pct_start, three_phase)
        if pct_start < 0 or pct_start > 1 or not isinstance(pct_start, float):
            raise ValueError(f'Expected float between 0 and 1 pct_start, but got {pct_start}')
        if anneal_strategy not in ('cos', 'linear'):
            raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        self._anneal_func_type = anneal_strategy
        tops = per_group('max_lr', optimizer, max_lr)
        for group, top in zip(optimizer.param_groups, tops) if last_epoch == -1 else ():
            group['initial_lr'], group['max_lr'] = top / div_factor, top
            group['min_lr'] = group['initial_lr'] / final_div_factor
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self._begin_momentum(base_momentum, max_momentum, last_epoch)
        super().__init__(optimizer, last_epoch)

    @staticmethod
    def _n_steps(total_steps, epochs, steps_per_epoch):
        if total_steps is None and (epochs is None or steps_per_epoch is None):
            raise ValueError('You must define either total_steps OR (epochs AND steps_per_epoch)')
        given = (('total_steps', total_steps),) if total_steps is not None else (
            ('epochs', epochs), ('steps_per_epoch', steps_per_epoch))
        for name, value in given:
            if value <= 0 or not isinstance(value, int):
                raise ValueError(f'Expected positive integer {name}, but got {value}')
        return math.prod(value for _, value in given)

    def _phases(self, part, three):
        n = self.total_steps
        up = _phase(float(part * n) - 1, 'initial_lr', 'max_lr', 'max_momentum', 'base_momentum')
        if not three:
            return [up, _phase(n - 1, 'max_lr', 'min_lr', 'base_momentum', 'max_momentum')]
        return [up, _phase(float(2 * part * n) - 2, 'max_lr', 'initial_lr', 'base_momentum', 'max_momentum'),
                _phase(n - 1, 'initial_lr', 'min_lr', 'max_momentum', 'max_momentum')]

    def get_lr(self):
        self._rates()
        at, start = self.last_epoch, 0.0
        if at > self.total_steps:
            raise ValueError(f'Tried to step {at} times. The specified number of total steps is {self.total_steps}')
        for phase in self._schedule_phases:
            if at <= phase['end_step'] or phase is self._schedule_phases[-1]:
                break
            start = phase['end_step']
        part = (at - start) / (phase['end_step'] - start)
        between = _cosine if self._anneal_func_type == 'cos' else _linear
        rates = []
        for group in self.optimizer.param_groups:
            rates.append(between(group[phase['start_lr']], group[phase['end_lr']], part))
            if self.cycle_momentum:
                _set_momentum(group, between(group[phase['start_momentum']], group[phase['end_momentum']], part),
                              self.use_beta1)
        return rates

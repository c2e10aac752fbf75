# SPDX-License-Identifier: LGPL-2.1-or-later
"""Schedules whose rate is the one before, times something. Rounding follows from that, so it is as in PyTorch."""
import bisect
import collections
import math

from torch.optim._scheduler import LRScheduler, load_with_functions, without_functions


class LambdaLR(LRScheduler):
    """The first rate times lr_lambda(epoch), one function for all groups or one for each."""

    def __init__(self, optimizer, lr_lambda, last_epoch=-1):
        self.optimizer = optimizer
        n = len(optimizer.param_groups)
        if isinstance(lr_lambda, (list, tuple)) and len(lr_lambda) != n:
            raise ValueError(f'Expected {n} lr_lambdas, but got {len(lr_lambda)}')
        self.lr_lambdas = list(lr_lambda) if isinstance(lr_lambda, (list, tuple)) else [lr_lambda] * n
        self._check_functions()
        super().__init__(optimizer, last_epoch)

    def _check_functions(self):
        pass

    def state_dict(self):
        return without_functions(self, 'lr_lambdas')

    def load_state_dict(self, state_dict):
        load_with_functions(self, 'lr_lambdas', state_dict)

    def get_lr(self):
        self._rates()
        return [base * function(self.last_epoch) for function, base in zip(self.lr_lambdas, self.base_lrs)]


class MultiplicativeLR(LambdaLR):
    """The rate before times lr_lambda(epoch)."""

    def _check_functions(self):
        for function in self.lr_lambdas:
            if not callable(function):
                raise TypeError(f'lr_lambda should be a function, but got {type(function).__name__}')

    def get_lr(self):
        rates = self._rates()
        return rates if self._is_initial else [r * f(self.last_epoch) for r, f in zip(rates, self.lr_lambdas)]


class StepLR(LRScheduler):
    def __init__(self, optimizer, step_size, gamma=0.1, last_epoch=-1):
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        rates = self._rates()
        return rates if self.last_epoch == 0 or self.last_epoch % self.step_size else [r * self.gamma for r in rates]

    def _get_closed_form_lr(self):
        return [base * self.gamma ** (self.last_epoch // self.step_size) for base in self.base_lrs]


class MultiStepLR(LRScheduler):
    def __init__(self, optimizer, milestones, gamma=0.1, last_epoch=-1):
        self.milestones, self.gamma = collections.Counter(milestones), gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        rates, times = self._rates(), self.milestones[self.last_epoch]
        return [r * self.gamma ** times for r in rates] if times else rates

    def _get_closed_form_lr(self):
        passed = bisect.bisect_right(sorted(self.milestones.elements()), self.last_epoch)
        return [base * self.gamma ** passed for base in self.base_lrs]


class ConstantLR(LRScheduler):
    """factor times the first rate, until total_iters."""

    def __init__(self, optimizer, factor=1.0 / 3, total_iters=5, last_epoch=-1):
        if factor > 1.0 or factor < 0:
            raise ValueError('Constant multiplicative factor expected to be between 0 and 1.')
        self.factor, self.total_iters = factor, total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        rates = self._rates()
        if self.last_epoch == 0:
            return [r * self.factor for r in rates]
        return [r * (1.0 / self.factor) for r in rates] if self.last_epoch == self.total_iters else rates

    def _get_closed_form_lr(self):
        return [base * (self.factor + (self.last_epoch >= self.total_iters) * (1 - self.factor))
                for base in self.base_lrs]


class LinearLR(LRScheduler):
    """From start_factor to end_factor times the first rate, at total_iters."""

    def __init__(self, optimizer, start_factor=1.0 / 3, end_factor=1.0, total_iters=5, last_epoch=-1):
        if start_factor > 1.0 or start_factor <= 0:
            raise ValueError('Starting multiplicative factor expected to be greater than 0 and less or equal to 1.')
        if end_factor > 1.0 or end_factor < 0:
            raise ValueError('Ending multiplicative factor expected to be between 0 and 1.')
        self.start_factor, self.end_factor, self.total_iters = start_factor, end_factor, total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        rates, way = self._rates(), self.end_factor - self.start_factor
        if self.last_epoch == 0:
            return [r * self.start_factor for r in rates]
        if self._is_initial or self.last_epoch > self.total_iters:
            return rates
        growth = 1.0 + way / (self.total_iters * self.start_factor + (self.last_epoch - 1) * way)
        return [r * growth for r in rates]

    def _get_closed_form_lr(self):
        way = self.end_factor - self.start_factor
        return [base * (self.start_factor + way * min(self.total_iters, self.last_epoch) / self.total_iters)
                for base in self.base_lrs]


class ExponentialLR(LRScheduler):
    def __init__(self, optimizer, gamma, last_epoch=-1):
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        rates = self._rates()
        return rates if self._is_initial else [r * self.gamma for r in rates]

    def _get_closed_form_lr(self):
        return [base * self.gamma ** self.last_epoch for base in self.base_lrs]


class PolynomialLR(LRScheduler):
    """To zero at total_iters, as a power of what is left."""

    def __init__(self, optimizer, total_iters=5, power=1.0, last_epoch=-1):
        self.total_iters, self.power = total_iters, power
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        rates, at, n = self._rates(), self.last_epoch, self.total_iters
        if self._is_initial or at > n:
            return rates
        decay = ((1.0 - at / n) / (1.0 - (at - 1) / n)) ** self.power
        return [r * decay for r in rates]

    def _get_closed_form_lr(self):
        return [base * (1.0 - min(self.total_iters, self.last_epoch) / self.total_iters) ** self.power
                for base in self.base_lrs]


class CosineAnnealingLR(LRScheduler):
    """Half a cosine from the first rate to eta_min at T_max, and back."""

    def __init__(self, optimizer, T_max, eta_min=0.0, last_epoch=-1):
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        rates, at, n, low = self._rates(), self.last_epoch, self.T_max, self.eta_min
        if self._is_initial:
            return rates
        if self._step_count == 1 and at > 0:
            return [low + (base - low) * (1 + math.cos(at * math.pi / n)) / 2 for base in self.base_lrs]
        if (at - 1 - n) % (2 * n) == 0:
            return [r + (base - low) * (1 - math.cos(math.pi / n)) / 2 for r, base in zip(rates, self.base_lrs)]
        ratio = (1 + math.cos(math.pi * at / n)) / (1 + math.cos(math.pi * (at - 1) / n))
        return [ratio * (r - low) + low for r in rates]

    def _get_closed_form_lr(self):
        return [self.eta_min + (base - self.eta_min) * (1 + math.cos(math.pi * self.last_epoch / self.T_max)) / 2
                for base in self.base_lrs]

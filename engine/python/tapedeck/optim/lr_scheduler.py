# SPDX-License-Identifier: LGPL-2.1-or-later
"""Learning rates that change from epoch to epoch. They are functions of the epoch and of the group's first rate."""
import math


class LRScheduler:
    """A subclass has _rate(initial, group), the rate after so many steps."""

    def __init__(self, optimizer, last_epoch=-1):
        self.optimizer, self.last_epoch = optimizer, last_epoch
        self.base_lrs = [group.setdefault('initial_lr', group['lr']) for group in optimizer.param_groups]
        self.step()

    def step(self):
        self.last_epoch += 1
        for group, initial in zip(self.optimizer.param_groups, self.base_lrs):
            group['lr'] = self._rate(initial)

    def get_last_lr(self):
        return [group['lr'] for group in self.optimizer.param_groups]


class StepLR(LRScheduler):
    def __init__(self, optimizer, step_size, gamma=0.1, last_epoch=-1):
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer, last_epoch)

    def _rate(self, initial):
        return initial * self.gamma ** (self.last_epoch // self.step_size)


class ExponentialLR(StepLR):
    def __init__(self, optimizer, gamma, last_epoch=-1):
        super().__init__(optimizer, 1, gamma, last_epoch)


class LambdaLR(LRScheduler):
    def __init__(self, optimizer, lr_lambda, last_epoch=-1):
        self.lr_lambda = lr_lambda
        super().__init__(optimizer, last_epoch)

    def _rate(self, initial):
        return initial * self.lr_lambda(self.last_epoch)


class CosineAnnealingLR(LRScheduler):
    def __init__(self, optimizer, T_max, eta_min=0.0, last_epoch=-1):
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(optimizer, last_epoch)

    def _rate(self, initial):
        return self.eta_min + (initial - self.eta_min) * (1 + math.cos(math.pi * self.last_epoch / self.T_max)) / 2

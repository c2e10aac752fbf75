# SPDX-License-Identifier: LGPL-2.1-or-later
"""torch.optim.swa_utils: averages of a model's parameters over training, and the schedule that goes with them."""
import copy
import itertools
import math

from torch import _C
from torch.autograd import no_grad
from torch.nn import Module
from torch.nn._normalization import _BatchNorm
from torch.optim._scheduler import LRScheduler, per_group

__all__ = ['AveragedModel', 'update_bn', 'SWALR', 'get_ema_multi_avg_fn', 'get_swa_multi_avg_fn', 'get_ema_avg_fn',
           'get_swa_avg_fn']


def _check_decay(decay):
    if decay < 0.0 or decay > 1.0:
        raise ValueError(f'Invalid decay value {decay} provided. Please provide a value in [0,1] range.')


def get_ema_multi_avg_fn(decay=0.999):
    _check_decay(decay)

    @no_grad()
    def update(averages, params, _):
        for average, p in zip(averages, params):
            if average.is_floating_point():
                average.lerp_(p, 1 - decay)
            else:
                average.copy_(average * decay + p * (1 - decay))
    return update


def get_swa_multi_avg_fn():
    @no_grad()
    def update(averages, params, n):
        for average, p in zip(averages, params):
            if average.is_floating_point():
                average.lerp_(p, (1 / (n + 1)).item() if isinstance(n, _C.Tensor) else 1 / (n + 1))
            else:
                average.add_((p - average) // (n + 1))
    return update


def get_ema_avg_fn(decay=0.999):
    _check_decay(decay)

    @no_grad()
    def update(average, p, n):
        return decay * average + (1 - decay) * p
    return update


def get_swa_avg_fn():
    @no_grad()
    def update(average, p, n):
        return average + (p - average) / (n + 1)
    return update


def _members(model, with_buffers):
    return list(itertools.chain(model.parameters(), model.buffers() if with_buffers else ()))


class AveragedModel(Module):
    """A copy of a model, whose parameters are averages: equal ones, or what the function given makes of them."""

    def __init__(self, model, device=None, avg_fn=None, multi_avg_fn=None, use_buffers=False):
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError('Only one of avg_fn and multi_avg_fn should be provided')
        self.module = copy.deepcopy(model) if device is None else copy.deepcopy(model).to(device)
        self.register_buffer('n_averaged', _C.tensor(0))
        self.avg_fn, self.multi_avg_fn, self.use_buffers = avg_fn, multi_avg_fn, use_buffers

    def forward(self, *args, **kwargs):
        return self.module(*args, **kwargs)

    @no_grad()
    def update_parameters(self, model):
        mine = [p.detach() for p in _members(self.module, self.use_buffers)]
        theirs = [p.detach() for p in _members(model, self.use_buffers)]
        if self.n_averaged.item() == 0:
            for average, p in zip(mine, theirs):
                average.copy_(p)
        elif self.avg_fn is None:
            (self.multi_avg_fn or get_swa_multi_avg_fn())(mine, theirs, self.n_averaged)
        else:
            for average, p in zip(mine, theirs):
                average.copy_(self.avg_fn(average, p, self.n_averaged))
        if not self.use_buffers:
            for buffer, b in zip(self.module.buffers(), model.buffers()):
                buffer.detach().copy_(b.detach())
        self.n_averaged.add_(1)


@no_grad()
def update_bn(loader, model, device=None):
    """Computes the running statistics of all batch norms anew, as averages over all batches of the loader."""
    norms = [module for module in model.modules() if isinstance(module, _BatchNorm)]
    if not norms:
        return
    momenta, was_training = [norm.momentum for norm in norms], model.training
    model.train()
    for norm in norms:
        norm.reset_running_stats()
        norm.momentum = None
    for input in loader:
        input = input[0] if isinstance(input, (list, tuple)) else input
        model(input if device is None else input.to(device))
    for norm, momentum in zip(norms, momenta):
        norm.momentum = momentum
    model.train(was_training)


class SWALR(LRScheduler):
    """From the rate that is there to swa_lr, in anneal_epochs steps."""

    def __init__(self, optimizer, swa_lr, anneal_epochs=10, anneal_strategy='cos', last_epoch=-1):
        for rate, group in zip(per_group('swa_lr', optimizer, swa_lr), optimizer.param_groups):
            group['swa_lr'] = rate
        if anneal_strategy not in ('cos', 'linear'):
            raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(f'anneal_epochs must be equal or greater than 0, got {anneal_epochs}')
        self._anneal_strategy, self.anneal_epochs = anneal_strategy, anneal_epochs
        super().__init__(optimizer, last_epoch)

    def _part(self, step):
        t = max(0, min(1, step / max(1, self.anneal_epochs)))
        return t if self._anneal_strategy == 'linear' else (1 - math.cos(math.pi * t)) / 2

    def get_lr(self):
        rates, step = self._rates(), self._step_count - 1
        if self.anneal_epochs == 0:
            step = max(1, step)
        before, now, new = self._part(step - 1), self._part(step), []
        for group, rate in zip(self.optimizer.param_groups, rates):
            swa = group['swa_lr']
            first = swa if before == 1 else (rate - before * swa) / (1 - before)
            new.append(swa * now + first * (1 - now))
        return new

# SPDX-License-Identifier: LGPL-2.1-or-later
"""Cases of learning rate schedules, and of averages of models, for test_optim.py."""
from cases import case, main, plain, text_of

import torch
from torch import nn, optim
from torch.optim import lr_scheduler as lr, swa_utils


def optimizer_of(kind='SGD', rate=0.5):
    p, q = (torch.ones(2, requires_grad=True) for _ in range(2))
    if kind == 'SGD':
        return optim.SGD([{'params': [p]}, {'params': [q], 'lr': 0.125}], lr=rate, momentum=0.9)
    return optim.Adam([{'params': [p]}, {'params': [q], 'lr': 0.125}], lr=rate)


class Half:
    def __init__(self):
        self.factor = 0.5

    def __call__(self, epoch):
        return self.factor ** epoch


SCHEDULES = {
    'LambdaLR': lambda o: lr.LambdaLR(o, lambda epoch: 0.95 ** epoch),
    'LambdaLR two': lambda o: lr.LambdaLR(o, [lambda epoch: 1 / (epoch + 1), Half()]),
    'MultiplicativeLR': lambda o: lr.MultiplicativeLR(o, lambda epoch: 0.9 + epoch / 100),
    'StepLR': lambda o: lr.StepLR(o, 3, gamma=0.3),
    'MultiStepLR': lambda o: lr.MultiStepLR(o, [2, 5, 5, 9], gamma=0.3),
    'ConstantLR': lambda o: lr.ConstantLR(o, factor=0.3, total_iters=4),
    'LinearLR': lambda o: lr.LinearLR(o, start_factor=0.3, end_factor=0.9, total_iters=7),
    'ExponentialLR': lambda o: lr.ExponentialLR(o, 0.9),
    'PolynomialLR': lambda o: lr.PolynomialLR(o, total_iters=8, power=1.7),
    'CosineAnnealingLR': lambda o: lr.CosineAnnealingLR(o, T_max=5, eta_min=0.01),
    'CosineAnnealingWarmRestarts': lambda o: lr.CosineAnnealingWarmRestarts(o, T_0=3, T_mult=2, eta_min=0.01),
    'CyclicLR': lambda o: lr.CyclicLR(o, base_lr=0.01, max_lr=[0.1, 0.3], step_size_up=3, step_size_down=4),
    'CyclicLR triangular2': lambda o: lr.CyclicLR(o, 0.01, 0.1, step_size_up=2, mode='triangular2', cycle_momentum=False),
    'CyclicLR exp_range': lambda o: lr.CyclicLR(o, 0.01, 0.1, step_size_up=2, mode='exp_range', gamma=0.9),
    'CyclicLR own': lambda o: lr.CyclicLR(o, 0.01, 0.1, step_size_up=2, scale_fn=Half(), scale_mode='iterations'),
    'OneCycleLR': lambda o: lr.OneCycleLR(o, max_lr=0.3, total_steps=14),
    'OneCycleLR three': lambda o: lr.OneCycleLR(o, max_lr=[0.3, 0.1], epochs=2, steps_per_epoch=7, three_phase=True,
                                                anneal_strategy='linear'),
    'SequentialLR': lambda o: lr.SequentialLR(o, [lr.ConstantLR(o, 0.1, total_iters=2), lr.ExponentialLR(o, 0.9),
                                                  lr.StepLR(o, 2)], milestones=[3, 8]),
    'ChainedScheduler': lambda o: lr.ChainedScheduler([lr.ConstantLR(o, 0.1, total_iters=4), lr.ExponentialLR(o, 0.9)]),
    'warm up, then a cosine': lambda o: lr.SequentialLR(o, [lr.LinearLR(o, 0.1, total_iters=3), lr.CosineAnnealingLR(o, 8)], [3]),
    'SWALR': lambda o: swa_utils.SWALR(o, swa_lr=0.05, anneal_epochs=5),
    'SWALR linear': lambda o: swa_utils.SWALR(o, swa_lr=0.05, anneal_epochs=4, anneal_strategy='linear'),
}


def groups_of(optimizer):
    return [{name: value for name, value in group.items() if name != 'params'} for group in optimizer.param_groups]


def state_of(schedule):
    """What is kept, but for functions and what PyTorch keeps of its own hooks."""
    def words(value):
        if isinstance(value, dict):
            return {name: words(member) for name, member in value.items() if not str(name).startswith('_get_lr_called')}
        if isinstance(value, list):
            return [words(member) for member in value]
        return value
    return dict(sorted(words(schedule.state_dict()).items()))


def followed(make, kind):
    optimizer = optimizer_of(kind)
    schedule = make(optimizer)
    seen = [schedule.get_last_lr(), groups_of(optimizer)]
    for _ in range(13):
        optimizer.step()
        schedule.step()
        seen.append([schedule.get_last_lr(), [g.get('momentum', g.get('betas')) for g in optimizer.param_groups]])
    other = make(optimizer_of(kind))
    other.load_state_dict(schedule.state_dict())
    return [seen, groups_of(optimizer), state_of(schedule), state_of(other)]


for NAME, MAKE in SCHEDULES.items():
    for KIND in 'SGD', 'Adam':
        case(lambda make=MAKE, kind=KIND: followed(make, kind), f'{NAME}: {KIND}')


@case
def plateaus():
    seen = []
    for settings in (dict(), dict(mode='max', patience=1), dict(factor=0.5, patience=0, cooldown=2, min_lr=[0.1, 0.01]),
                     dict(patience=1, threshold=0.1, threshold_mode='abs'), dict(mode='max', patience=0, threshold_mode='abs', eps=0.2)):
        optimizer = optimizer_of()
        schedule = lr.ReduceLROnPlateau(optimizer, **settings)
        for i in range(16):
            schedule.step(torch.tensor(1.0 - 0.2 * i if i < 4 else 0.4 + (i % 3) * 0.01))
            seen.append([schedule.get_last_lr(), schedule.num_bad_epochs, schedule.best])
        seen.append(dict(sorted(schedule.state_dict().items())))
    return seen


@case
def order_of_steps():
    """Warnings."""
    optimizer = optimizer_of()
    schedule = lr.StepLR(optimizer, 2)
    schedule.step()
    schedule.step()
    return schedule.get_lr()


@case
def with_epoch():
    seen = []
    for name in 'StepLR', 'ExponentialLR', 'MultiStepLR', 'CosineAnnealingLR', 'LinearLR', 'PolynomialLR', 'ConstantLR', 'LambdaLR':
        optimizer = optimizer_of()
        schedule = SCHEDULES[name](optimizer)
        optimizer.step()
        schedule.step(4)
        seen.append([name, schedule.get_last_lr(), schedule.last_epoch])
    optimizer = optimizer_of()
    schedule = SCHEDULES['CosineAnnealingWarmRestarts'](optimizer)
    for i in range(9):
        schedule.step(i + 0.5)
        seen.append(schedule.get_last_lr())
    return seen


@case
def resumed():
    optimizer = optimizer_of()
    for group in optimizer.param_groups:
        group['initial_lr'] = 0.5
    seen = []
    for make in (lambda: lr.StepLR(optimizer, 2, last_epoch=3), lambda: lr.CosineAnnealingLR(optimizer, 7, last_epoch=3),
                 lambda: lr.LambdaLR(optimizer, lambda e: 0.5 ** e, last_epoch=3)):
        schedule = make()
        optimizer.step()
        schedule.step()
        seen.append(schedule.get_last_lr())
    return seen


@case
def rate_as_tensor():
    optimizer = optimizer_of()
    rate = torch.tensor(0.5)
    optimizer.param_groups[0]['lr'] = rate
    schedule = lr.StepLR(optimizer, 1, gamma=0.5)
    optimizer.step()
    schedule.step()
    return [optimizer.param_groups[0]['lr'] is rate, rate, schedule.get_last_lr(), schedule.base_lrs]


@case
def own_schedule():
    class Own(lr.LRScheduler):
        def get_lr(self):
            return [base / (1 + self.last_epoch) for base in self.base_lrs]

    class Older(lr._LRScheduler):
        def get_lr(self):
            return [group['lr'] * 0.5 for group in self.optimizer.param_groups]
    seen = []
    for kind in Own, Older:
        optimizer = optimizer_of()
        schedule = kind(optimizer)
        for _ in range(3):
            optimizer.step()
            schedule.step()
            seen.append(schedule.get_last_lr())
    return seen


@case
def texts():
    o, other = optimizer_of(), optimizer_of()
    plain_rate = optim.Adagrad([torch.ones(1, requires_grad=True)])
    return [text_of(call) for call in (
        lambda: lr.StepLR(3, 1), lambda: lr.LambdaLR(o, [abs]), lambda: lr.MultiplicativeLR(o, 3), lambda: lr.ConstantLR(o, 2),
        lambda: lr.LinearLR(o, 0), lambda: lr.LinearLR(o, 0.5, 2), lambda: lr.SequentialLR(o, [], []),
        lambda: lr.SequentialLR(o, [lr.StepLR(o, 1)], [1]), lambda: lr.SequentialLR(o, [3], []),
        lambda: lr.SequentialLR(o, [lr.ReduceLROnPlateau(o)], []), lambda: lr.SequentialLR(o, [lr.StepLR(other, 1)], []),
        lambda: lr.ChainedScheduler([]), lambda: lr.ChainedScheduler([lr.StepLR(o, 1), lr.StepLR(other, 1)]),
        lambda: lr.ReduceLROnPlateau(o, factor=1.0), lambda: lr.ReduceLROnPlateau(o, mode='a'),
        lambda: lr.ReduceLROnPlateau(o, threshold_mode='a'), lambda: lr.ReduceLROnPlateau(o, min_lr=[1]), lambda: lr.ReduceLROnPlateau(3),
        lambda: lr.CyclicLR(o, [1], 2), lambda: lr.CyclicLR(o, 1, 2, mode='a'), lambda: lr.CyclicLR(plain_rate, 1, 2),
        lambda: lr.CosineAnnealingWarmRestarts(o, 0), lambda: lr.CosineAnnealingWarmRestarts(o, 1, 0),
        lambda: lr.CosineAnnealingWarmRestarts(o, 1).step(-1), lambda: lr.OneCycleLR(o, 1), lambda: lr.OneCycleLR(o, 1, total_steps=-1),
        lambda: lr.OneCycleLR(o, 1, epochs=1.5, steps_per_epoch=2), lambda: lr.OneCycleLR(o, 1, epochs=1, steps_per_epoch=0),
        lambda: lr.OneCycleLR(o, 1, total_steps=3, pct_start=1), lambda: lr.OneCycleLR(o, 1, total_steps=3, anneal_strategy='a'),
        lambda: lr.OneCycleLR(plain_rate, 1, total_steps=3), lambda: lr.StepLR(optimizer_of(), 1, last_epoch=2),
        lambda: lr.LRScheduler(optimizer_of()), lambda: swa_utils.SWALR(o, [1]), lambda: swa_utils.SWALR(o, 1, anneal_strategy='a'),
        lambda: swa_utils.get_ema_avg_fn(2), lambda: [lr.OneCycleLR(o, 1, total_steps=1).step() for _ in range(3)])]


def averaged(**settings):
    net = nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2))
    with torch.no_grad():
        for p in net.parameters():
            p.copy_(torch.arange(p.numel()).view(p.shape) / 7)
    mean = swa_utils.AveragedModel(net, **settings)
    for i in range(4):
        with torch.no_grad():
            for p in net.parameters():
                p.add_(p, alpha=0.1 * (i - 1))
        net(torch.tensor([[1.0, 2, 3], [4, 5, 7]]))
        mean.update_parameters(net)
    before = plain(mean.state_dict())
    swa_utils.update_bn([torch.tensor([[1.0, 2, 3], [4, 5, 7]]), torch.tensor([[1.0, 0, 3], [4, 5, 7]])], mean)
    return [before, mean.state_dict(), mean.training]


case(averaged)
case(lambda: averaged(use_buffers=True), 'averaged with buffers')
case(lambda: averaged(multi_avg_fn=swa_utils.get_ema_multi_avg_fn(0.9)), 'averaged, ema')
case(lambda: averaged(avg_fn=swa_utils.get_ema_avg_fn(0.9)), 'averaged one by one, ema')
case(lambda: averaged(avg_fn=swa_utils.get_swa_avg_fn()), 'averaged one by one')


if __name__ == '__main__':
    main()

# SPDX-License-Identifier: LGPL-2.1-or-later
"""Cases of optimizers for test_optim.py."""
import copy
import itertools

from cases import case, main, plain, text_of

import torch
from torch import nn, optim

SETTINGS = {
    'SGD': [dict(lr=0.1), dict(lr=0.1, momentum=0.9, weight_decay=0.01, nesterov=True),
            dict(lr=0.1, momentum=0.5, dampening=0.3, maximize=True)],
    'Adam': [dict(), dict(lr=0.05, weight_decay=0.1, amsgrad=True, betas=(0.8, 0.95), maximize=True),
             dict(decoupled_weight_decay=True, weight_decay=0.1)],
    'AdamW': [dict(), dict(lr=0.05, amsgrad=True)],
    'RMSprop': [dict(), dict(lr=0.02, momentum=0.5, centered=True, weight_decay=0.1, maximize=True)],
    'Adagrad': [dict(), dict(lr=0.1, lr_decay=0.1, initial_accumulator_value=0.5, weight_decay=0.1)],
    'Adadelta': [dict(), dict(lr=0.5, rho=0.8, weight_decay=0.1, maximize=True)],
    'Adafactor': [dict(), dict(lr=0.05, weight_decay=0.1, d=1.5, maximize=True)],
    'Adamax': [dict(), dict(lr=0.05, weight_decay=0.1, maximize=True)],
    'NAdam': [dict(), dict(lr=0.05, weight_decay=0.1), dict(weight_decay=0.1, decoupled_weight_decay=True)],
    'RAdam': [dict(), dict(lr=0.05, weight_decay=0.1, betas=(0.8, 0.9)), dict(weight_decay=0.1, decoupled_weight_decay=True)],
    'ASGD': [dict(), dict(lr=0.1, t0=2, weight_decay=0.1, lambd=0.01)],
    'Rprop': [dict(), dict(lr=0.05, etas=(0.4, 1.3), step_sizes=(1e-3, 0.2), maximize=True)],
    'LBFGS': [dict(max_iter=4), dict(lr=0.5, line_search_fn='strong_wolfe', history_size=2, max_iter=6)],
}


def parameters(dtype=torch.float32):
    """Of sizes that fill vectors and leave a rest; numbers that both engines have."""
    def some(*shape):
        n = torch.Size(shape).numel()
        return torch.tensor([((7 * i) % 23 - 11) / 8 + 0.01 * i for i in range(n)], dtype=dtype).reshape(shape)
    return [nn.Parameter(some(5, 7)), nn.Parameter(some(13)), nn.Parameter(some(1)), nn.Parameter(some(2, 3, 9))]


def trained(make, dtype=torch.float32, n=6):
    """Parameters and state after n steps of a loss whose gradient both engines compute to the last bit."""
    params = parameters(dtype)
    optimizer = make(params)

    def closure():
        optimizer.zero_grad()
        loss = sum((p * p * 0.25 + p * 0.125).sum() for p in params[:3])
        loss.backward()
        return loss.detach()
    losses = []
    for _ in range(n):
        if isinstance(optimizer, optim.LBFGS):
            losses.append(optimizer.step(closure))
        else:
            for i, p in enumerate(params[:3]):
                p.grad = (p.detach() * 0.5 + 0.25 * (i + 1)) * (1 if _ % 3 else -1)
            optimizer.step()
    state = optimizer.state_dict()
    for member in state['state'].values():
        member.pop('al', None)  # of LBFGS: small differences of sums
    return [params, losses, state]


def one(name, settings, dtype):
    return lambda: trained(lambda params: getattr(optim, name)(params, **settings), dtype)


for NAME, LIST in SETTINGS.items():
    for I, SETTING in enumerate(LIST):
        case(one(NAME, SETTING, torch.float32), f'{NAME}: {SETTING}')
        case(one(NAME, SETTING, torch.float64), f'{NAME} double: {SETTING}')


@case
def muon():
    """It takes matrices alone: wide, tall and square ones."""
    def matrices():
        wide, cube = parameters()[0], parameters()[3]
        return [wide, nn.Parameter(wide.detach().t().contiguous()), nn.Parameter(cube.detach().reshape(6, 9)[:, :6].contiguous())]

    def steps(**settings):
        params = matrices()
        optimizer = optim.Muon(params, **settings)
        for n in range(5):
            for i, p in enumerate(params):
                p.grad = (p.detach() * 0.5 + 0.25 * (i + 1)) * (1 if n % 3 else -1)
            optimizer.step()
        return [params, optimizer.state_dict(), optimizer.defaults, repr(optimizer)]
    wrong = [dict(lr=-1), dict(momentum=-1), dict(weight_decay=-1), dict(adjust_lr_fn='x')]
    return [steps(), steps(lr=0.05, nesterov=False, momentum=0.5, weight_decay=0.0),
            steps(adjust_lr_fn='match_rms_adamw', ns_steps=3),
            [text_of(lambda settings=settings: steps(**settings)) for settings in wrong], text_of(lambda: optim.Muon(parameters())),
            text_of(lambda: steps(ns_steps=100)), text_of(lambda: steps(ns_coefficients=(1, 2)))]


@case
def reprs():
    return [repr(getattr(optim, name)(parameters())) for name in SETTINGS]


@case
def defaults():
    return [getattr(optim, name)(parameters()).defaults for name in SETTINGS]


@case
def resumed():
    """A state that another optimizer loads, and both go on."""
    seen = []
    for name, settings in SETTINGS.items():
        for setting in settings:
            if name == 'LBFGS':
                continue
            first, second = parameters(), parameters()
            a, b = (getattr(optim, name)(params, **setting) for params in (first, second))
            for p in first:
                p.grad = p.detach() * 0.5
            a.step()
            with torch.no_grad():
                for p, q in zip(first, second):
                    q.copy_(p)
            b.load_state_dict(copy.deepcopy(a.state_dict()))
            for optimizer, params in ((a, first), (b, second)):
                for p in params:
                    p.grad = p.detach() * 0.5
                optimizer.step()
            seen.append([name, plain(first) == plain(second), plain(b.state_dict())])
    return seen


@case
def groups():
    w, v, b = parameters()[:3]
    optimizer = optim.SGD([{'params': [w], 'lr': 0.5}, {'params': v}], lr=0.1, momentum=0.9)
    optimizer.add_param_group({'params': [b], 'weight_decay': 0.5, 'name': 'last'})
    seen = [repr(optimizer), plain(optimizer.state_dict())]
    for p in (w, v, b):
        p.grad = torch.ones_like(p)
    optimizer.step()
    other = optim.SGD([{'params': [w]}, {'params': [v]}, {'params': [b]}], lr=1.0, momentum=0.1)
    other.load_state_dict(optimizer.state_dict())
    return [*seen, [w, v, b], optimizer.state_dict(), repr(other), len(other.state)]


@case
def named_parameters():
    net = nn.Linear(2, 2)
    optimizer = optim.Adam(net.named_parameters())
    other = optim.Adam(nn.Linear(2, 2).named_parameters())
    other.load_state_dict(optimizer.state_dict())
    return [optimizer.param_groups[0]['param_names'], optimizer.state_dict()['param_groups'],
            other.param_groups[0]['param_names']]


@case
def zero_grad():
    p, q = parameters()[:2]
    optimizer, seen = optim.SGD([p, q], lr=0.1), []
    p.grad = torch.ones_like(p)
    grad = p.grad
    optimizer.zero_grad(set_to_none=False)
    seen += [p.grad is grad, p.grad.sum(), q.grad]
    optimizer.zero_grad()
    return [*seen, p.grad]


@case
def closures():
    p = parameters()[0]
    seen = []
    for name in SETTINGS:
        optimizer = getattr(optim, name)([p])

        def closure():
            optimizer.zero_grad()
            loss = (p * p).sum()
            loss.backward()
            return loss * 2
        with torch.no_grad():
            loss = optimizer.step(closure)
        seen.append([name, loss.requires_grad, loss.shape])
    return seen


@case
def hooks():
    p = parameters()[1]
    optimizer, seen = optim.SGD([p], lr=0.1), []
    handles = [optimizer.register_step_pre_hook(lambda o, args, kwargs: seen.append(['before', len(args), list(kwargs)])),
               optimizer.register_step_post_hook(lambda o, args, kwargs: seen.append(['after', len(args)])),
               optimizer.register_state_dict_pre_hook(lambda o: seen.append('state')),
               optimizer.register_state_dict_post_hook(lambda o, d: {**d, 'more': 1}),
               optimizer.register_load_state_dict_pre_hook(lambda o, d: seen.append(sorted(d))),
               optimizer.register_load_state_dict_post_hook(lambda o: seen.append('loaded'))]
    optimizer.step()
    optimizer.step(closure=lambda: torch.ones(1))
    optimizer.load_state_dict(optimizer.state_dict())
    for handle in handles:
        handle.remove()
    optimizer.step()
    return [seen, sorted(optimizer.state_dict())]


@case
def own_optimizer():
    """A class of a script."""
    class Plain(optim.Optimizer):
        def __init__(self, params, lr=0.5):
            super().__init__(params, {'lr': lr})

        @torch.no_grad()
        def step(self, closure=None):
            for group in self.param_groups:
                for p in group['params']:
                    state = self.state[p]
                    state['n'] = state.get('n', 0) + 1
                    p -= group['lr'] * p.grad
    p = parameters()[0]
    optimizer, seen = Plain([p]), []
    optimizer.register_step_post_hook(lambda *args: seen.append('after'))
    p.grad = torch.ones_like(p)
    optimizer.step()
    return [p, seen, repr(optimizer), optimizer.state_dict()]


@case
def tensor_rate():
    seen = []
    for name in 'SGD', 'Adam', 'AdamW', 'RMSprop', 'Adagrad', 'Adadelta', 'Adamax', 'NAdam', 'RAdam':
        seen.append([name, trained(lambda params: getattr(optim, name)(params, lr=torch.tensor(0.1)))[0]])
    return seen


@case
def copied():
    p = parameters()[0]
    optimizer = optim.Adam([p])
    p.grad = torch.ones_like(p)
    optimizer.step()
    other = copy.deepcopy(optimizer)
    return [repr(other), other.state_dict(), other.param_groups[0]['params'][0] is p]


@case
def texts():
    p, leaf = parameters()[0], torch.ones(2, requires_grad=True)
    p.grad = torch.ones_like(p)
    seen = [text_of(lambda: optim.SGD(p)), text_of(lambda: optim.SGD([])), text_of(lambda: optim.SGD([leaf * 2])),
            text_of(lambda: optim.SGD([3])), text_of(lambda: optim.SGD(['a'])),
            text_of(lambda: optim.SGD([{'params': {p}}])), text_of(lambda: optim.SGD([{'params': [p]}, {'params': [p]}])),
            text_of(lambda: optim.SGD([('a', p), leaf])), text_of(lambda: optim.SGD([('a', p)]).add_param_group({'params': [leaf]})),
            text_of(lambda: optim.SGD([p]).add_param_group([leaf])), text_of(lambda: optim.SGD([p, p])),
            text_of(lambda: optim.SGD([p]).load_state_dict({'state': {}, 'param_groups': []})),
            text_of(lambda: optim.SGD([p]).load_state_dict({'state': {}, 'param_groups': [{'params': [0, 1]}]})),
            text_of(lambda: optim.Optimizer([p], {}).step()), text_of(lambda: optim.Adam([p], fused=True, foreach=True)),
            text_of(lambda: optim.Adam([p], fused=True, differentiable=True)),
            text_of(lambda: optim.Adam([p], lr=torch.tensor([1.0, 2.0]))),
            text_of(lambda: optim.Adam([p], lr=torch.tensor(1.0), foreach=True)),
            text_of(lambda: optim.SGD([p], nesterov=True)), text_of(lambda: optim.LBFGS([{'params': [p]}, {'params': [leaf]}])),
            text_of(lambda: optim.LBFGS([p], line_search_fn='other').step(lambda: (p * p).sum())),
            text_of(lambda: optim.LBFGS([p]).step())]
    for name, settings in itertools.product(SETTINGS, (dict(lr=-1.0), dict(eps=-1.0), dict(weight_decay=-1.0), dict(betas=(1.0, 0.9)),
                                                       dict(betas=(0.9, 2.0)), dict(rho=2), dict(momentum=-1), dict(alpha=-1),
                                                       dict(etas=(2, 3)), dict(lr_decay=-1), dict(momentum_decay=-1),
                                                       dict(capturable=True))):
        if text_of(lambda: getattr(optim, name)([p], **settings)) and next(iter(settings)) not in getattr(optim, name)([p]).defaults:
            continue
        seen.append([name, str(settings), text_of(lambda: getattr(optim, name)([p], **settings).step())])
    return seen


if __name__ == '__main__':
    main()

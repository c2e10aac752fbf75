# SPDX-License-Identifier: LGPL-2.1-or-later
"""Stochastic gradient descent, and its average over steps."""
from torch.optim._by_parameter import ByParameter, check_not_negative, check_rate, decayed, number, rate_of, scalar, \
    zeros_like


class SGD(ByParameter):
    """Stochastic gradient descent, with momentum."""
    _takes_sparse = True

    def __init__(self, params, lr=1e-3, momentum=0, dampening=0, weight_decay=0, nesterov=False, *, maximize=False,
                 foreach=None, differentiable=False, fused=None):
        check_rate(lr)
        check_not_negative(**{'momentum value': momentum, 'weight_decay value': weight_decay})
        defaults = dict(lr=lr, momentum=momentum, dampening=dampening, weight_decay=weight_decay, nesterov=nesterov,
                        maximize=maximize, foreach=foreach, differentiable=differentiable, fused=fused)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError('Nesterov momentum requires a momentum and zero dampening')
        super().__init__(params, defaults)

    def _has_state(self, group):
        return group['momentum'] != 0

    def _update(self, p, grad, state, group):
        d, momentum = decayed(p, grad, group), group['momentum']
        if momentum != 0:
            buffer = state.get('momentum_buffer')
            if buffer is None:
                buffer = state['momentum_buffer'] = d.detach().clone()
            else:
                buffer.mul_(momentum).add_(d, alpha=1 - group['dampening'])
            d = d.add(buffer, alpha=momentum) if group['nesterov'] else buffer
        p.add_(d, alpha=number(-rate_of(group)))


class ASGD(ByParameter):
    """Polyak and Juditsky's average of all positions, from step t0 on: state['ax']."""
    _capturable_what = 'params, mus, etas, and state_steps must be'

    def __init__(self, params, lr=1e-2, lambd=1e-4, alpha=0.75, t0=1e6, weight_decay=0, foreach=None, maximize=False,
                 differentiable=False, capturable=False):
        check_rate(lr)
        check_not_negative(**{'weight_decay value': weight_decay})
        super().__init__(params, dict(lr=lr, lambd=lambd, alpha=alpha, t0=t0, weight_decay=weight_decay,
                                      foreach=foreach, maximize=maximize, differentiable=differentiable,
                                      capturable=capturable))

    def _first(self, p, group):
        return {'step': scalar(0.0), 'eta': scalar(number(group['lr'])), 'mu': scalar(1.0), 'ax': zeros_like(p)}

    def _update(self, p, grad, state, group):
        grad, step, lambd, lr = decayed(p, grad, group), self._counted(state), group['lambd'], number(group['lr'])
        eta, mu, mean = state['eta'], state['mu'], state['ax']
        p.mul_(1 - lambd * eta.item())
        p.add_(grad, alpha=-eta.item())
        if mu.item() != 1:
            mean.add_(p.sub(mean).mul_(mu))
        else:
            mean.copy_(p)
        eta.fill_(lr / (1 + lambd * lr * step) ** group['alpha'])
        mu.fill_(1 / max(1, step - group['t0']))

# SPDX-License-Identifier: LGPL-2.1-or-later
"""Optimizers."""
from tapedeck.autograd import no_grad


class SGD:
    """Stochastic gradient descent, with momentum."""

    def __init__(self, params, lr, momentum=0, weight_decay=0, nesterov=False):
        self.param_groups = [{'params': list(params), 'lr': lr, 'momentum': momentum,
                              'weight_decay': weight_decay, 'nesterov': nesterov}]
        if not self.param_groups[0]['params']:
            raise ValueError('optimizer got an empty parameter list')
        self.state = {}

    def zero_grad(self, set_to_none=False):
        for group in self.param_groups:
            for p in group['params']:
                if p.grad is not None and set_to_none:
                    p.grad = None
                elif p.grad is not None:
                    if p.grad.requires_grad:
                        p.grad = p.grad.detach()
                    p.grad.zero_()

    @no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group['params']:
                if p.grad is not None:
                    p.add_(self._direction(p, group), alpha=-group['lr'])

    def _direction(self, p, group):
        d, momentum = p.grad, group['momentum']
        if group['weight_decay']:
            d = d.add(p, alpha=group['weight_decay'])
        if not momentum:
            return d
        if p not in self.state:
            self.state[p] = d.detach().clone()
        else:
            self.state[p].mul_(momentum).add_(d)
        return d.add(self.state[p], alpha=momentum) if group['nesterov'] else self.state[p]

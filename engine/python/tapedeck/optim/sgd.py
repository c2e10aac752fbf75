# SPDX-License-Identifier: LGPL-2.1-or-later
from tapedeck.optim.optimizer import Optimizer, check_not_negative


class SGD(Optimizer):
    """Stochastic gradient descent, with momentum."""

    def __init__(self, params, lr=1e-3, momentum=0, dampening=0, weight_decay=0, nesterov=False, *, maximize=False,
                 foreach=None, differentiable=False, fused=None):
        check_not_negative(**{'learning rate': lr, 'momentum value': momentum, 'weight_decay value': weight_decay})
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError('Nesterov momentum requires a momentum and zero dampening')
        super().__init__(params, dict(lr=lr, momentum=momentum, dampening=dampening, weight_decay=weight_decay,
                                      nesterov=nesterov, maximize=maximize))

    def _update(self, p, grad, state, group):
        d, momentum = -grad if group['maximize'] else grad, group['momentum']
        if group['weight_decay']:
            d = d.add(p, alpha=group['weight_decay'])
        if momentum:
            buffer = state.get('momentum_buffer')
            if buffer is None:
                buffer = state['momentum_buffer'] = d.detach().clone()
            else:
                buffer.mul_(momentum).add_(d, alpha=1 - group['dampening'])
            d = d.add(buffer, alpha=momentum) if group['nesterov'] else buffer
        p.add_(d, alpha=-group['lr'])

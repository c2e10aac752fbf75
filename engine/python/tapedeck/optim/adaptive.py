# SPDX-License-Identifier: LGPL-2.1-or-later
"""Optimizers that scale the step of each element by the size of its past gradients."""
import math

from tapedeck import _C
from tapedeck.optim.optimizer import Optimizer, check_not_negative


def _decayed(p, grad, group):
    """The gradient of the loss with weight_decay / 2 |p|^2 added."""
    grad = -grad if group.get('maximize') else grad
    return grad.add(p, alpha=group['weight_decay']) if group['weight_decay'] else grad


def _move(average, towards, weight):
    """average = weight average + (1 - weight) towards"""
    return average.mul_(weight).add_(towards, alpha=1 - weight)


class Adam(Optimizer):
    """Kingma and Ba, Adam: A Method for Stochastic Optimization."""

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, amsgrad=False, *, maximize=False,
                 foreach=None, capturable=False, differentiable=False, fused=None):
        check_not_negative(**{'learning rate': lr, 'epsilon value': eps, 'weight_decay value': weight_decay})
        for i, beta in enumerate(betas):
            if not 0.0 <= beta < 1.0:
                raise ValueError(f'Invalid beta parameter at index {i}: {beta}')
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, amsgrad=amsgrad,
                                      maximize=maximize))

    def _update(self, p, grad, state, group):
        self._adam(p, _decayed(p, grad, group), state, group)

    def _adam(self, p, grad, state, group):
        (beta1, beta2), t = group['betas'], state.get('step', 0) + 1
        if t == 1:
            state['exp_avg'], state['exp_avg_sq'] = _C.zeros_like(p), _C.zeros_like(p)
        state['step'] = t
        mean, square = _move(state['exp_avg'], grad, beta1), _move(state['exp_avg_sq'], grad * grad, beta2)
        if group['amsgrad']:
            square = state['max_exp_avg_sq'] = square.maximum(state.get('max_exp_avg_sq', square))
        scale = (square.sqrt() / math.sqrt(1 - beta2 ** t)).add_(group['eps'])
        p.add_(mean / scale, alpha=-group['lr'] / (1 - beta1 ** t))


class AdamW(Adam):
    """Adam with a weight decay that is not part of the gradient (Loshchilov and Hutter)."""

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=1e-2, amsgrad=False, **settings):
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, **settings)

    def _update(self, p, grad, state, group):
        p.mul_(1 - group['lr'] * group['weight_decay'])
        self._adam(p, -grad if group['maximize'] else grad, state, group)


class RMSprop(Optimizer):
    def __init__(self, params, lr=1e-2, alpha=0.99, eps=1e-8, weight_decay=0, momentum=0, centered=False, **settings):
        check_not_negative(**{'learning rate': lr, 'epsilon value': eps, 'momentum value': momentum,
                              'weight_decay value': weight_decay, 'alpha value': alpha})
        super().__init__(params, dict(lr=lr, momentum=momentum, alpha=alpha, eps=eps, centered=centered,
                                      weight_decay=weight_decay))

    def _update(self, p, grad, state, group):
        grad = _decayed(p, grad, group)
        if not state:
            for name in ('square_avg', 'momentum_buffer', 'grad_avg'):
                state[name] = _C.zeros_like(p)
        scale = _move(state['square_avg'], grad * grad, group['alpha'])
        if group['centered']:
            mean = _move(state['grad_avg'], grad, group['alpha'])
            scale = scale - mean * mean
        d = grad / scale.sqrt().add_(group['eps'])
        if group['momentum']:
            d = state['momentum_buffer'].mul_(group['momentum']).add_(d)
        p.add_(d, alpha=-group['lr'])


class Adagrad(Optimizer):
    def __init__(self, params, lr=1e-2, lr_decay=0, weight_decay=0, initial_accumulator_value=0, eps=1e-10, **settings):
        check_not_negative(**{'learning rate': lr, 'lr_decay value': lr_decay, 'weight_decay value': weight_decay,
                              'initial_accumulator_value value': initial_accumulator_value, 'epsilon value': eps})
        super().__init__(params, dict(lr=lr, lr_decay=lr_decay, eps=eps, weight_decay=weight_decay,
                                      initial_accumulator_value=initial_accumulator_value))

    def _update(self, p, grad, state, group):
        grad, t = _decayed(p, grad, group), state.get('step', 0) + 1
        if t == 1:
            state['sum'] = _C.zeros_like(p).fill_(group['initial_accumulator_value'])
        state['step'] = t
        scale = state['sum'].add_(grad * grad).sqrt().add_(group['eps'])
        p.add_(grad / scale, alpha=-group['lr'] / (1 + (t - 1) * group['lr_decay']))

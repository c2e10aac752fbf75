# SPDX-License-Identifier: LGPL-2.1-or-later
"""Optimizers that scale the step of each element by the size of its past gradients."""
from torch import _C
from torch.optim._by_parameter import ByParameter, average_squares, check_not_negative, check_rate, decayed, number, \
    rate_of, scalar, zeros_like


class RMSprop(ByParameter):
    def __init__(self, params, lr=1e-2, alpha=0.99, eps=1e-8, weight_decay=0, momentum=0, centered=False,
                 capturable=False, foreach=None, maximize=False, differentiable=False):
        check_rate(lr)
        check_not_negative(**{'epsilon value': eps, 'momentum value': momentum, 'weight_decay value': weight_decay,
                              'alpha value': alpha})
        super().__init__(params, dict(lr=lr, momentum=momentum, alpha=alpha, eps=eps, centered=centered,
                                      weight_decay=weight_decay, capturable=capturable, foreach=foreach,
                                      maximize=maximize, differentiable=differentiable))

    def _first(self, p, group):
        names = ['square_avg'] + ['momentum_buffer'] * (group['momentum'] > 0) + ['grad_avg'] * bool(group['centered'])
        return {'step': scalar(0.0), **{name: zeros_like(p) for name in names}}

    def _update(self, p, grad, state, group):
        grad, lr = decayed(p, grad, group), number(rate_of(group))
        self._counted(state)
        scale = average_squares(state['square_avg'], grad, group['alpha'])
        if group['centered']:
            mean = state['grad_avg'].lerp_(grad, 1 - group['alpha'])
            scale = scale.addcmul(mean, mean, value=-1)
        scale = scale.sqrt().add(group['eps'])
        if group['momentum'] > 0:
            p.add_(state['momentum_buffer'].mul_(group['momentum']).addcdiv_(grad, scale), alpha=-lr)
        else:
            p.addcdiv_(grad, scale, value=-lr)


class Adagrad(ByParameter):
    """The state is there from the beginning."""
    _takes_sparse = True

    def __init__(self, params, lr=1e-2, lr_decay=0, weight_decay=0, initial_accumulator_value=0, eps=1e-10,
                 foreach=None, *, maximize=False, differentiable=False, fused=None):
        check_rate(lr)
        check_not_negative(**{'lr_decay value': lr_decay, 'weight_decay value': weight_decay,
                              'initial_accumulator_value value': initial_accumulator_value, 'epsilon value': eps})
        super().__init__(params, dict(lr=lr, lr_decay=lr_decay, eps=eps, weight_decay=weight_decay,
                                      initial_accumulator_value=initial_accumulator_value, foreach=foreach,
                                      maximize=maximize, differentiable=differentiable, fused=fused))
        for group in self.param_groups:
            for p in group['params']:
                self.state[p].update(self._first(p, group))

    def share_memory(self):
        """PyTorch moves the sums into memory that processes share. Here they stay."""

    def _first(self, p, group):
        return {'step': scalar(0.0), 'sum': zeros_like(p).fill_(self.defaults['initial_accumulator_value'])}

    def _update(self, p, grad, state, group):
        step = self._counted(state)
        if group['weight_decay'] and grad.is_sparse:
            raise RuntimeError('weight_decay option is not compatible with sparse gradients')
        size = number(-(rate_of(group) / (1 + (step - 1) * group['lr_decay'])))
        if grad.is_sparse:
            grad = grad.coalesce()
            rows, values = grad.indices()[0], grad.values()
            state['sum'].index_add_(0, rows, values.pow(2))
            p.index_add_(0, rows, values / state['sum'][rows].sqrt().add(group['eps']) * size)
            return
        grad = decayed(p, grad, group)
        state['sum'].addcmul_(grad, grad, value=1)
        p.addcdiv_(grad, state['sum'].sqrt().add(group['eps']), value=size)


class Adadelta(ByParameter):
    """Zeiler: the size of a step follows from the sizes of past steps and gradients."""
    _capturable_devices = ByParameter._capturable_devices[:-1]

    def __init__(self, params, lr=1.0, rho=0.9, eps=1e-6, weight_decay=0, foreach=None, *, capturable=False,
                 maximize=False, differentiable=False):
        check_rate(lr)
        if not 0.0 <= rho <= 1.0:
            raise ValueError(f'Invalid rho value: {rho}')
        check_not_negative(**{'epsilon value': eps, 'weight_decay value': weight_decay})
        super().__init__(params, dict(lr=lr, rho=rho, eps=eps, weight_decay=weight_decay, maximize=maximize,
                                      capturable=capturable, foreach=foreach, differentiable=differentiable))

    def _first(self, p, group):
        return {'step': scalar(0.0), 'square_avg': zeros_like(p), 'acc_delta': zeros_like(p)}

    def _update(self, p, grad, state, group):
        grad, rho, eps = decayed(p, grad, group), group['rho'], group['eps']
        self._counted(state)
        scale = average_squares(state['square_avg'], grad, rho).add(eps).sqrt()
        d = state['acc_delta'].add(eps).sqrt().div(scale).mul(grad)
        average_squares(state['acc_delta'], d, rho)
        p.add_(d, alpha=number(-rate_of(group)))


class Rprop(ByParameter):
    """Riedmiller and Braun: only the signs of gradients count."""

    def __init__(self, params, lr=1e-2, etas=(0.5, 1.2), step_sizes=(1e-6, 50), *, capturable=False, foreach=None,
                 maximize=False, differentiable=False):
        check_rate(lr)
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise ValueError(f'Invalid eta values: {etas[0]}, {etas[1]}')
        super().__init__(params, dict(lr=lr, etas=etas, step_sizes=step_sizes, foreach=foreach, maximize=maximize,
                                      differentiable=differentiable, capturable=capturable))

    def _first(self, p, group):
        return {'step': scalar(0.0), 'prev': zeros_like(p), 'step_size': zeros_like(p).fill_(number(group['lr']))}

    def _update(self, p, grad, state, group):
        self._counted(state)
        slower, faster = group['etas']
        sign = grad.mul(state['prev']).sign()
        factor = _C.ones_like(sign).masked_fill_(sign.gt(0), faster).masked_fill_(sign.lt(0), slower)
        sizes = state['step_size'].mul_(factor).clamp_(*group['step_sizes'])
        grad.masked_fill_(sign.lt(0), 0)  # in the caller's gradient, as PyTorch does
        p.addcmul_(grad.sign(), sizes, value=-1)
        state['prev'].copy_(grad)

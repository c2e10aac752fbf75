# SPDX-License-Identifier: LGPL-2.1-or-later
"""Adam and its kin: averages of the gradient and of its square."""
from torch._C import Tensor
from torch.optim._by_parameter import ByParameter, average_squares, check_betas, check_not_negative, check_rate, \
    decayed, number, rate_of, scalar, zeros_like


def _check(lr, betas, eps, weight_decay):
    check_rate(lr)
    check_not_negative(**{'epsilon value': eps})
    check_betas(betas)
    check_not_negative(**{'weight_decay value': weight_decay})


class _Moments(ByParameter):
    """The state has the averages."""

    def _first(self, p, group):
        return {'step': scalar(0.0), 'exp_avg': zeros_like(p), 'exp_avg_sq': zeros_like(p)}

    def _decay(self, p, grad, group):
        """The decay of weights is part of the gradient, or apart from it."""
        if group['weight_decay'] and group['decoupled_weight_decay']:
            p.mul_(number(1 - rate_of(group) * group['weight_decay']))
            return grad
        return decayed(p, grad, group)

    def _average(self, grad, state, betas):
        state['exp_avg'].lerp_(grad, 1 - betas[0])
        return state['exp_avg'], average_squares(state['exp_avg_sq'], grad, betas[1])


class Adam(_Moments):
    """Kingma and Ba, Adam: A Method for Stochastic Optimization."""

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, amsgrad=False, *, foreach=None,
                 maximize=False, capturable=False, differentiable=False, fused=None, decoupled_weight_decay=False):
        if isinstance(lr, Tensor) and foreach and not capturable:
            raise ValueError('lr as a Tensor is not supported for capturable=False and foreach=True')
        _check(lr, betas, eps, weight_decay)
        if [type(beta) for beta in betas[:2]] != [float, float] and not all(isinstance(b, Tensor) for b in betas[:2]):
            raise ValueError('betas must be either both floats or both Tensors')
        super().__init__(params, dict(lr=lr, betas=tuple(betas), eps=eps, weight_decay=weight_decay, amsgrad=amsgrad,
                                      maximize=maximize, foreach=foreach, capturable=capturable,
                                      differentiable=differentiable, fused=fused,
                                      decoupled_weight_decay=decoupled_weight_decay))

    def _sparse_text(self):
        return 'Adam does not support sparse gradients, please consider SparseAdam instead'

    def _first(self, p, group):
        largest = {'max_exp_avg_sq': zeros_like(p)} if group['amsgrad'] else {}
        return {**super()._first(p, group), **largest}

    def _update(self, p, grad, state, group):
        step, grad, (beta1, beta2) = self._counted(state), self._decay(p, grad, group), map(number, group['betas'])
        mean, square = self._average(grad, state, (beta1, beta2))
        if group['amsgrad']:
            square = state['max_exp_avg_sq'].copy_(state['max_exp_avg_sq'].maximum(square))
        scale = (square.sqrt() / (1 - beta2 ** step) ** 0.5).add(group['eps'])
        p.addcdiv_(mean, scale, value=number(-(rate_of(group) / (1 - beta1 ** step))))


class AdamW(Adam):
    """Adam with a weight decay that is not part of the gradient (Loshchilov and Hutter)."""

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=1e-2, amsgrad=False, *,
                 maximize=False, foreach=None, capturable=False, differentiable=False, fused=None):
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, foreach=foreach, maximize=maximize,
                         capturable=capturable, differentiable=differentiable, fused=fused,
                         decoupled_weight_decay=True)

    def __setstate__(self, state):
        super().__setstate__(state)
        for group in self.param_groups:
            group['decoupled_weight_decay'] = True


class Adamax(ByParameter):
    """Adam with the largest gradient instead of the average of squares."""

    def __init__(self, params, lr=2e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, foreach=None, *, maximize=False,
                 differentiable=False, capturable=False):
        _check(lr, betas, eps, weight_decay)
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, foreach=foreach,
                                      maximize=maximize, differentiable=differentiable, capturable=capturable))

    def _first(self, p, group):
        return {'step': scalar(0.0), 'exp_avg': zeros_like(p), 'exp_inf': zeros_like(p)}

    def _update(self, p, grad, state, group):
        step, grad, (beta1, beta2) = self._counted(state), decayed(p, grad, group), group['betas']
        mean, largest = state['exp_avg'].lerp_(grad, 1 - beta1), state['exp_inf'].mul_(beta2)
        largest.copy_(largest.maximum(grad.abs().add_(group['eps'])))
        p.addcdiv_(mean, largest, value=number(-(rate_of(group) / (1 - beta1 ** step))))


class NAdam(_Moments):
    """Dozat, Incorporating Nesterov Momentum into Adam."""
    _capturable_what = 'params, mu_products and state_steps must be'

    def __init__(self, params, lr=2e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, momentum_decay=4e-3,
                 decoupled_weight_decay=False, *, foreach=None, maximize=False, capturable=False,
                 differentiable=False):
        _check(lr, betas, eps, weight_decay)
        check_not_negative(**{'momentum_decay value': momentum_decay})
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay,
                                      momentum_decay=momentum_decay, decoupled_weight_decay=decoupled_weight_decay,
                                      maximize=maximize, foreach=foreach, capturable=capturable,
                                      differentiable=differentiable))

    def _first(self, p, group):
        return {'step': scalar(0.0), 'mu_product': scalar(1.0), 'exp_avg': zeros_like(p), 'exp_avg_sq': zeros_like(p)}

    def _update(self, p, grad, state, group):
        step, (beta1, beta2), lr = self._counted(state), group['betas'], rate_of(group)
        grad = self._decay(p, grad, group)
        mu, next_mu = (beta1 * (1.0 - 0.5 * 0.96 ** (n * group['momentum_decay'])) for n in (step, step + 1))
        product = state['mu_product'].mul_(mu).item()
        mean, square = self._average(grad, state, (beta1, beta2))
        scale = square.div(1 - beta2 ** step).sqrt().add(group['eps'])
        p.addcdiv_(grad, scale, value=number(-lr * (1.0 - mu) / (1.0 - product)))
        p.addcdiv_(mean, scale, value=number(-lr * next_mu / (1.0 - product * next_mu)))


class RAdam(_Moments):
    """Liu and others, On the Variance of the Adaptive Learning Rate and Beyond."""

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, decoupled_weight_decay=False, *,
                 foreach=None, maximize=False, capturable=False, differentiable=False):
        _check(lr, betas, eps, weight_decay)
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, maximize=maximize,
                                      foreach=foreach, capturable=capturable,
                                      decoupled_weight_decay=decoupled_weight_decay, differentiable=differentiable))

    def _update(self, p, grad, state, group):
        step, (beta1, beta2) = self._counted(state), group['betas']
        mean, square = self._average(self._decay(p, grad, group), state, (beta1, beta2))
        correction = 1 - beta2 ** step
        move = mean / (1 - beta1 ** step) * rate_of(group)
        rho = 2 / (1 - beta2) - 1
        rho_t = rho - 2 * step * beta2 ** step / correction
        if rho_t > 5.0:
            rectified = ((rho_t - 4) * (rho_t - 2) * rho / ((rho - 4) * (rho - 2) * rho_t)) ** 0.5
            move = move * (correction ** 0.5 / square.sqrt().add(group['eps'])) * rectified
        p.add_(move, alpha=-1.0)


class SparseAdam(ByParameter):
    """Adam that touches only the rows that a sparse gradient has."""
    _takes_sparse = True

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, maximize=False):
        check_rate(lr)
        if not lr > 0.0:
            raise ValueError(f'Invalid learning rate: {lr}')
        if not eps > 0.0:
            raise ValueError(f'Invalid epsilon value: {eps}')
        check_betas(betas)
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps, maximize=maximize))

    def _first(self, p, group):
        return {'step': 0, 'exp_avg': zeros_like(p), 'exp_avg_sq': zeros_like(p)}

    def _update(self, p, grad, state, group):
        if not grad.is_sparse:
            raise RuntimeError('SparseAdam does not support dense gradients, please consider Adam instead')
        state['step'] += 1
        grad, (beta1, beta2), step = grad.coalesce(), group['betas'], state['step']
        rows, values = grad.indices()[0], grad.values()
        mean, square = state['exp_avg'][rows], state['exp_avg_sq'][rows]
        d_mean, d_square = (values - mean) * (1 - beta1), (values * values - square) * (1 - beta2)
        state['exp_avg'].index_add_(0, rows, d_mean)
        state['exp_avg_sq'].index_add_(0, rows, d_square)
        scale = (d_square + square).sqrt_().add_(group['eps'])
        size = number(rate_of(group)) * (1 - beta2 ** step) ** 0.5 / (1 - beta1 ** step)
        p.index_add_(0, rows, (d_mean + mean).div_(scale) * -size)

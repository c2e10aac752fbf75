# SPDX-License-Identifier: LGPL-2.1-or-later
"""Shazeer and Stern 2018, Adafactor: the squares of a matrix's gradients are kept as one row and one column."""
from torch.optim._by_parameter import ByParameter, number, rate_of, scalar, zeros_like


class Adafactor(ByParameter):
    def __init__(self, params, lr=1e-2, beta2_decay=-0.8, eps=(None, 1e-3), d=1.0, weight_decay=0.0, *, foreach=None,
                 maximize=False):
        for what, wrong, value in (('Learning rate should be >= 0', lr < 0, lr),
                                   ('beta2_decay should be <= 0', beta2_decay > 0, beta2_decay),
                                   ('epsilon1 should be >= 0', eps[0] is not None and eps[0] < 0, eps[0]),
                                   ('epsilon2 should be >= 0', eps[1] < 0, eps[1]),
                                   ('Clipping threshold d should be >= 1', d < 1, d),
                                   ('weight_decay should be >= 0', weight_decay < 0, weight_decay)):
            if wrong:
                raise ValueError(f'{what} but is: {value}')
        super().__init__(params, dict(lr=lr, beta2_decay=beta2_decay, eps=eps, d=d, weight_decay=weight_decay, foreach=foreach,
                                      maximize=maximize))

    def __setstate__(self, state):
        """Groups do not have the setting that all other optimizers have."""
        super().__setstate__(state)
        for group in self.param_groups:
            group.pop('differentiable', None)

    def _first(self, p, group):
        if p.dim() < 2:
            return {'step': scalar(0.0), 'variance': zeros_like(p)}
        row, column = list(p.shape), list(p.shape)
        row[-1] = column[-2] = 1
        return {'step': scalar(0.0), 'row_var': p.grad.new_zeros(row), 'col_var': p.grad.new_zeros(column)}

    def _update(self, p, grad, state, group):
        step, lr, (eps1, eps2) = self._counted(state), number(rate_of(group)), group['eps']
        if eps1 is None:
            eps1 = 2.0 ** -52 if p.element_size() == 8 else 2.0 ** -23
        share = step ** group['beta2_decay']
        size = max(eps2, p.norm(2).item() / p.numel() ** 0.5) * min(lr, 1 / step ** 0.5)
        if group['weight_decay']:
            p.mul_(1 - lr * group['weight_decay'])
        update = _squares(grad, state, share, eps1).clamp_(min=eps1 * eps1).rsqrt_().mul_(grad)
        p.add_(update, alpha=-size / max(1.0, update.norm(2).item() / (update.numel() ** 0.5 * group['d'])))


def _squares(grad, state, share, eps):
    """An estimate of the average squares of the gradients."""
    if grad.dim() < 2:
        return state['variance'].lerp_(grad * grad, share).clone()
    for name, dim in (('row_var', -1), ('col_var', -2)):
        mean = grad.norm(dim=dim, keepdim=True)
        state[name].lerp_((mean * mean).div_(grad.size(dim)), share)
    return (state['row_var'] @ state['col_var']).div_(state['row_var'].mean(-2, True).clamp_(min=eps))

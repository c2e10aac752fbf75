# SPDX-License-Identifier: LGPL-2.1-or-later
"""Jordan 2024, Muon: the averaged gradient of a matrix, with all its singular values near 1."""
import math

from torch.optim._by_parameter import ByParameter, number, rate_of, zeros_like

_COEFFICIENTS = (3.4445, -4.7750, 2.0315)
# What the rate is multiplied with, for a matrix of these sizes.
_SCALES = {None: lambda rows, columns: math.sqrt(max(1, rows / columns)),
           'original': lambda rows, columns: math.sqrt(max(1, rows / columns)),
           'match_rms_adamw': lambda rows, columns: 0.2 * math.sqrt(max(rows, columns))}


class Muon(ByParameter):
    def __init__(self, params, lr=1e-3, weight_decay=0.1, momentum=0.95, nesterov=True, ns_coefficients=_COEFFICIENTS, eps=1e-7,
                 ns_steps=5, adjust_lr_fn=None):
        for what, value in (('Learning rate', number(lr)), ('momentum', momentum), ('weight decay', weight_decay)):
            if not value >= 0.0:
                raise ValueError(f'{what} should be >= 0 but is: {value}')
        if adjust_lr_fn not in _SCALES:
            raise ValueError(f'Adjust learning rate function {adjust_lr_fn} is not supported')
        super().__init__(params, dict(lr=lr, weight_decay=weight_decay, momentum=momentum, nesterov=nesterov,
                                      ns_coefficients=ns_coefficients, eps=eps, ns_steps=ns_steps, adjust_lr_fn=adjust_lr_fn))
        for p in (p for group in self.param_groups for p in group['params']):
            if p.dim() != 2:
                raise ValueError(f'Muon only supports 2D parameters whereas we found a parameter with size: {p.size()}')

    def _first(self, p, group):
        return {'momentum_buffer': zeros_like(p.grad)}

    def _update(self, p, grad, state, group):
        lr, momentum, average = number(rate_of(group)), group['momentum'], state['momentum_buffer']
        average.lerp_(grad, 1 - momentum)
        update = _orthogonal(grad.lerp(average, momentum) if group['nesterov'] else average, group)
        p.mul_(1 - lr * group['weight_decay'])
        p.add_(update, alpha=-lr * _SCALES[group['adjust_lr_fn']](*p.shape))


def _orthogonal(matrix, group):
    """The Newton-Schulz iteration x = a x + (b g + c g g) x with g = x x^T. It brings singular values near 1, in bfloat16."""
    if group['ns_steps'] >= 100:
        raise ValueError('Number of steps must be less than 100 for computational efficiency')
    if len(group['ns_coefficients']) != 3:
        raise ValueError('Coefficients must be a tuple of exactly 3 values')
    (a, b, c), is_tall = group['ns_coefficients'], matrix.size(0) > matrix.size(1)
    x = matrix.bfloat16()
    x = x.T if is_tall else x
    x = x / x.norm().clamp(min=group['eps'])
    for _ in range(group['ns_steps']):
        gram = x @ x.T
        x = x.addmm(gram.addmm(gram, gram, beta=b, alpha=c), x, beta=a)
    return x.T if is_tall else x


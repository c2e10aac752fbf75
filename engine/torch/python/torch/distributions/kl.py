# SPDX-License-Identifier: LGPL-2.1-or-later
"""How far a distribution is from another one."""
from torch import _names
from torch.distributions.bernoulli import Bernoulli
from torch.distributions.categorical import Categorical
from torch.distributions.distribution import sum_rightmost
from torch.distributions.independent import Independent
from torch.distributions.normal import Normal
from torch.distributions.uniform import Uniform
from torch.nn.functional import softplus

_functions = {}  # by a pair of classes
_INFINITY = float('inf')


def _set(result, where, value):
    """A tensor without dimensions takes no index of truths."""
    if result.dim():
        result[where] = value
    else:
        result.masked_fill_(where, value)


def register_kl(type_p, type_q):
    """A decorator: the function computes the divergence of these two classes."""
    def register(function):
        _functions[type_p, type_q] = function
        return function
    return register


def kl_divergence(p, q):
    """The Kullback-Leibler divergence of p from q."""
    for kind in type(p).__mro__:
        for other in type(q).__mro__:
            if (kind, other) in _functions:
                return _functions[kind, other](p, q)
    raise NotImplementedError(f'No KL(p || q) is implemented for p type {type(p).__name__} and q type '
                              f'{type(q).__name__}')


@register_kl(Normal, Normal)
def _normal(p, q):
    var_ratio = (p.scale / q.scale).pow(2)
    distance = ((p.loc - q.loc) / q.scale).pow(2)
    return 0.5 * (var_ratio + distance - 1 - var_ratio.log())


@register_kl(Bernoulli, Bernoulli)
def _bernoulli(p, q):
    of_one = p.probs * (softplus(-q.logits) - softplus(-p.logits))
    _set(of_one, q.probs == 0, _INFINITY)
    _set(of_one, p.probs == 0, 0)
    of_zero = (1 - p.probs) * (softplus(q.logits) - softplus(p.logits))
    _set(of_zero, q.probs == 1, _INFINITY)
    _set(of_zero, p.probs == 1, 0)
    return of_one + of_zero


@register_kl(Categorical, Categorical)
def _categorical(p, q):
    parts = p.probs * (p.logits - q.logits)
    _set(parts, (q.probs == 0).expand_as(parts), _INFINITY)
    _set(parts, (p.probs == 0).expand_as(parts), 0)
    return parts.sum(-1)


@register_kl(Uniform, Uniform)
def _uniform(p, q):
    result = _names.log((q.high - q.low) / (p.high - p.low))
    _set(result, q.low > p.low, _INFINITY)
    _set(result, q.high < p.high, _INFINITY)
    return result


@register_kl(Independent, Independent)
def _independent(p, q):
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError
    return sum_rightmost(kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)

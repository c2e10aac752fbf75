# SPDX-License-Identifier: LGPL-2.1-or-later
"""Elementwise functions that are made of others."""
import math

from torch import _C
from torch._C import Tensor
from torch._composed.dtypes import finfo
from torch._composed.table import alias, both, function, method

for _names in ('abs absolute', 'acos arccos', 'acosh arccosh', 'asin arcsin', 'asinh arcsinh', 'atan arctan', 'atanh arctanh',
               'atan2 arctan2', 'div divide', 'trunc fix', 'gt greater', 'ge greater_equal', 'lt less', 'le less_equal',
               'ne not_equal', 'clamp clip', 'mul multiply', 'sub subtract', 'neg negative'):
    _name, _other = _names.split()
    alias(getattr(Tensor, _name), _other)
    if hasattr(Tensor, _name + '_'):
        alias(getattr(Tensor, _name + '_'), _other + '_')


@both
def nan_to_num(input, nan=None, posinf=None, neginf=None):
    if not input.is_floating_point():
        return input.clone()
    limit = finfo(input.dtype).max
    return _C.replace_nan(input, nan or 0.0, limit if posinf is None else posinf, -limit if neginf is None else neginf)


_round = Tensor.round


@both
def round(input, *, decimals=0):
    if not decimals:
        return _round(input)
    scale = 10.0 ** abs(decimals)
    return _round(input * scale) / scale if decimals > 0 else _round(input / scale) * scale


@both
def positive(input):
    return input


@both
def float_power(input, exponent):
    def wide(number):
        if not isinstance(number, Tensor):
            return number
        return number.to(_C.complex128 if number.is_complex() else _C.float64)
    return wide(input) ** wide(exponent)


@both
def polygamma(n, input):
    if isinstance(n, Tensor):
        n, input = input, n
    if n > 1:
        raise NotImplementedError('polygamma: only of n = 0 and 1')
    return _C.trigamma(input) if n else input.digamma()


@both
def hypot(input, other):
    return (input * input + other * other).sqrt()


@both
def logaddexp(input, other):
    largest = _finite(input.detach().maximum(other.detach()))
    return ((input - largest).exp() + (other - largest).exp()).log() + largest


def _finite(tensor):
    return tensor.masked_fill(tensor.isinf(), 0)


@both
def logcumsumexp(input, dim):
    largest = _finite(input.detach().max(dim, keepdim=True)[0])
    return (input - largest).exp().cumsum(dim).log() + largest


@method
def where(self, condition, other):
    return _C.where(condition, self, other)


@both
def fmax(input, other):
    return _C.where(input.isnan().logical_or((other > input)), other, input)


@both
def fmin(input, other):
    return _C.where(input.isnan().logical_or((other < input)), other, input)


@both
def copysign(input, other):
    other = other if isinstance(other, Tensor) else _C.tensor(float(other))
    input = input if input.is_floating_point() else input.to(_C.default_dtype())
    return input.abs() * _C.where(signbit(other), -1.0, 1.0).to(input.dtype)


@both
def signbit(input):
    return (input.detach() < 0).logical_or((input.detach() == 0).logical_and(1 / input.detach() < 0))


@both
def ldexp(input, other):
    return input * (2.0 ** other)


@both
def sinc(input):
    scaled = input * math.pi
    return _C.where(input == 0, 1.0, scaled.sin() / scaled.masked_fill(input == 0, 1.0))


@both
def renorm(input, p, dim, maxnorm):
    others = [d for d in range(input.dim()) if d != dim % input.dim()]
    norms = input.norm(p, others, True)
    return input * _C.where(norms > maxnorm, maxnorm / (norms + 1e-7), _C.ones_like(norms))


@both
def take(input, index):
    return input.reshape(-1).gather(0, index.reshape(-1) % input.numel()).reshape(index.shape)


@function
def cdist(x1, x2, p=2.0, compute_mode=None):
    return (x1.unsqueeze(-2) - x2.unsqueeze(-3)).norm(p, -1)


@method
def square_(self):
    return self.pow_(2)


@method
def nan_to_num_(self, nan=None, posinf=None, neginf=None):
    return self.copy_(nan_to_num(self, nan, posinf, neginf))

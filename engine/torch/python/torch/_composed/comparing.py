# SPDX-License-Identifier: LGPL-2.1-or-later
"""Comparisons of whole tensors, and what elements are."""
import math
import numbers

from torch import _C
from torch._C import Tensor
from torch._composed.table import both, function
from torch._refused import scalar_name


def _contains(self, element):
    if not isinstance(element, (Tensor, numbers.Number)):
        raise RuntimeError('Tensor.__contains__ only supports Tensor or scalar, but you passed in a '
                           f'{type(element)}.')
    return (element == self).any().item()


def _reversed(self):
    return self.flip(0) if self.dim() else self


Tensor.__contains__, Tensor.__reversed__ = _contains, _reversed


@both
def isfinite(input):
    if input.is_complex():
        return isfinite(input.real).logical_and(isfinite(input.imag))
    if not input.is_floating_point():
        return _C.ones_like(input, dtype=_C.bool)
    return (input == input) * (input.abs() != math.inf)


@both
def isposinf(input):
    return input == math.inf


@both
def isneginf(input):
    return input == -math.inf


@both
def isreal(input):
    if input.is_complex():
        return input.imag == 0
    return _C.ones_like(input, dtype=_C.bool)


@both
def isclose(input, other, rtol=1e-05, atol=1e-08, equal_nan=False):
    if input.dtype != other.dtype:
        raise RuntimeError(f'{scalar_name(input)} did not match {scalar_name(other)}')
    if rtol < 0:
        raise RuntimeError(f'rtol must be greater than or equal to zero, but got {rtol:g}')
    if atol < 0:
        raise RuntimeError(f'atol must be greater than or equal to zero, but got {atol:g}')
    close = input == other
    has_fractions = input.is_floating_point() or input.is_complex()
    if equal_nan and has_fractions:
        close = close.logical_or((input != input).logical_and(other != other))
    if rtol == 0 and atol == 0:
        return close
    if not has_fractions:
        input, other = input.double(), other.double()
    allowed = atol + (rtol * other).abs()
    actual = (input - other).abs()
    return close.logical_or(isfinite(actual).logical_and(actual <= allowed))


@both
def allclose(input, other, rtol=1e-05, atol=1e-08, equal_nan=False):
    return bool(isclose(input, other, rtol, atol, equal_nan).all())


@both
def equal(input, other):
    """Whether sizes and elements are equal."""
    return input.shape == other.shape and bool((input.detach() == other.detach()).all())


@both
def is_same_size(input, other):
    return input.shape == other.shape


@both
def is_nonzero(input):
    if input.numel() != 1:
        many = 'more than one value' if input.numel() else 'no values'
        raise RuntimeError(f'Boolean value of Tensor with {many} is ambiguous')
    return bool(input)


@both
def count_nonzero(input, dim=None):
    is_there = input.detach() != 0
    return is_there.sum() if dim is None else is_there.sum(dim)


@function
def isin(elements, test_elements, *, assume_unique=False, invert=False):
    like = elements if isinstance(elements, Tensor) else test_elements
    elements, tests = (x if isinstance(x, Tensor) else _C.tensor(x, dtype=like.dtype) for x in (elements, test_elements))
    found = (elements.detach().unsqueeze(-1) == tests.detach().reshape(-1)).any(-1)
    return ~found if invert else found

# SPDX-License-Identifier: LGPL-2.1-or-later
"""What torch.linalg takes, matrices [..., m, n] whose batches fit each other, or PyTorch's errors; and what it gives."""
import collections

from torch import _C
from torch._refused import scalar_name


def result(name, *fields):
    """A named tuple that prints as PyTorch's do."""
    kind = collections.namedtuple(name, fields)
    kind.__module__ = 'torch.return_types'
    kind.__repr__ = lambda self: (f'torch.return_types.{name}(\n'
                                  + ',\n'.join(f'{f}={v!r}' for f, v in zip(fields, self)) + ')')
    return kind


def check(name, a, square=False, takes_complex=False, letter='A'):
    if a.dim() < 2:
        raise RuntimeError(f'linalg.{name}: The input tensor {letter} must have at least 2 dimensions.')
    if square and a.size(-1) != a.size(-2):
        raise RuntimeError(f'linalg.{name}: A must be batches of square matrices, but they are {a.size(-2)} by {a.size(-1)} '
                           'matrices')
    if a.is_complex() and not takes_complex:
        raise RuntimeError(f'linalg.{name} of complex matrices is not there yet')
    if not a.is_floating_point() and not a.is_complex():
        raise RuntimeError(f'linalg.{name}: Expected a floating point or complex tensor as input. Got {scalar_name(a)}')


def check_dtypes(name, a, b, first='A'):
    if a.dtype != b.dtype:
        raise RuntimeError(f'linalg.{name}: Expected {first} and B to have the same dtype, but found {first} of type '
                           f'{scalar_name(a)} and B of type {scalar_name(b)} instead')


def is_vector(a, b):
    """Whether B is a column for each A, instead of a matrix."""
    return b.dim() == 1 or (a.dim() - 1 == b.dim() and a.shape[:-1] == b.shape)


def match(a, b):
    """Both matrices with the batch that they have in common."""
    if a.shape[:-2] == b.shape[:-2]:
        return a, b
    batch = (_C.zeros(b.shape[:-2]) + _C.zeros(a.shape[:-2])).shape
    return a.expand(*batch, *a.shape[-2:]), b.expand(*batch, *b.shape[-2:])


def solvable(name, a, b, left=True, first='A'):
    """Both sides of A X = B, or of X A = B, checked and with one batch."""
    check(name, a, True, True)
    check_dtypes(name, a, b, first)
    check(name, b, takes_complex=True, letter='B')
    if (b.size(-2) if left else b.size(-1)) != a.size(-1):
        raise RuntimeError(f'linalg.{name}: Incompatible shapes of A and B for the equation {"AX = B" if left else "XA = B"} '
                           f'({a.size(-2)}x{a.size(-1)} and {b.size(-2)}x{b.size(-1)})')
    return match(a, b)

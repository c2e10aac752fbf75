# SPDX-License-Identifier: LGPL-2.1-or-later
"""torch.autograd._functions: old functions that are classes."""
from functools import reduce
from operator import mul

from torch.autograd.function import Function

__all__ = ['Resize']


class Resize(Function):
    """Other sizes for the same elements."""

    @staticmethod
    def forward(ctx, tensor, sizes):
        total = reduce(mul, sizes, 1)
        if total != tensor.numel():
            wanted, there = ('x'.join(map(str, one)) for one in (sizes, tensor.shape))
            raise RuntimeError(f'requested resize to {wanted} ({total} elements in total), but the given tensor has a size '
                               f"of {there} ({tensor.numel()} elements). autograd's resize can only change the shape of a "
                               'given tensor, while preserving the number of elements. ')
        ctx.sizes = tensor.shape
        return tensor.contiguous().view(sizes)

    @staticmethod
    def backward(ctx, gradient):
        return gradient.contiguous().view(ctx.sizes), None

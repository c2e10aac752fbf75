# SPDX-License-Identifier: LGPL-2.1-or-later
"""Products of torch.linalg, and the diagonal."""
from torch import _equations


def cross(input, other, *, dim=-1):
    return _equations.cross(input, other, dim)


def _cross(input, other, dim=None):
    """In the first dimension of 3 elements, if none is given."""
    return _equations.cross(input, other, list(input.shape).index(3) if dim is None else dim)


def diagonal(A, *, offset=0, dim1=-2, dim2=-1):
    return A.diagonal(offset, dim1, dim2)


def vecdot(x, y, *, dim=-1):
    return ((x.conj() if x.is_complex() else x) * y).sum(dim)


def _cheapest(sizes):
    """Where to split the chain of matrices sizes[i] by sizes[i + 1], for each part of it."""
    n = len(sizes) - 1
    cost, split = {(i, i): 0 for i in range(n)}, {}
    for length in range(1, n):
        for i in range(n - length):
            j = i + length
            cost[i, j], split[i, j] = min((cost[i, k] + cost[k + 1, j] + sizes[i] * sizes[k + 1] * sizes[j + 1], k)
                                          for k in range(i, j))
    return split


def multi_dot(tensors):
    tensors = list(tensors)
    first, last = tensors[0].dim() == 1, tensors[-1].dim() == 1
    tensors[0] = tensors[0].unsqueeze(0) if first else tensors[0]
    tensors[-1] = tensors[-1].unsqueeze(-1) if last else tensors[-1]
    split = _cheapest([t.size(0) for t in tensors] + [tensors[-1].size(1)])

    def product(i, j):
        return tensors[i] if i == j else product(i, split[i, j]) @ product(split[i, j] + 1, j)
    result = product(0, len(tensors) - 1)
    result = result.squeeze(-1) if last else result
    return result.squeeze(0) if first else result

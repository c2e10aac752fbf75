# SPDX-License-Identifier: LGPL-2.1-or-later
"""Norms of vectors."""
from tapedeck import _C


def vector_norm(x, ord=2, dim=None, keepdim=False):
    return _C.vector_norm(x, ord, dim, keepdim)


def norm(A, ord=None, dim=None, keepdim=False):
    """Of a vector, or of all elements: no norms of matrices but Frobenius'."""
    return _C.vector_norm(A, 2 if ord in (None, 'fro') else ord, dim, keepdim)

# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tensors in copy.copy, copy.deepcopy and pickle: by value, and only leaves of a graph."""
import copyreg

from tapedeck import _C


def _rebuild(kind, values, shape, dtype, requires_grad):
    tensor = _C.tensor(values, dtype=dtype).reshape(shape)
    return _C._make_subclass(kind, tensor, requires_grad) if kind is not _C.Tensor else tensor.requires_grad_(
        requires_grad)


def _reduce(tensor):
    if not tensor.is_leaf:
        raise RuntimeError('Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol '
                           'at the moment')
    return _rebuild, (type(tensor), tensor.detach().tolist(), tuple(tensor.shape), tensor.dtype, tensor.requires_grad)


def _dtype(name):
    return getattr(_C, name)


def _reduce_dtype(dtype):
    return _dtype, (str(dtype).split('.')[-1],)


copyreg.pickle(_C.Tensor, _reduce)
copyreg.pickle(_C.dtype, _reduce_dtype)

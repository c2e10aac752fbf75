# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tensors in copy.copy, copy.deepcopy and pickle.

A copy shares memory with its original. Deep copies share memory among each other if their originals do. What is pickled
has the part of the memory that the tensor needs, with its strides.
"""
import copy
import copyreg

from torch import _C
from torch._C import Tensor

_NO_LEAF = 'Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the moment'


def _dressed(tensor, like, state):
    """The tensor as an object of the class, with requires_grad and attributes of another one."""
    kind, requires_grad = like
    if kind is not Tensor:
        tensor = _C._make_subclass(kind, tensor, requires_grad)
    elif requires_grad:
        tensor.requires_grad_()
    tensor.__dict__.update(state)
    return tensor


def _like(tensor):
    return type(tensor), tensor.requires_grad


def _rebuild(data, dtype, size, stride, like, state):
    memory = _C.UntypedStorage(len(data))
    memoryview(memory)[:] = data
    return _dressed(memory.tensor(dtype, 0, size, stride), like, state)


def _needed(tensor):
    """The bytes of its memory from the first to the last element."""
    size = tensor.element_size()
    last = sum((n - 1) * stride for n, stride in zip(tensor.shape, tensor.stride()))
    begin = tensor.storage_offset() * size
    end = begin + (last + 1) * size if tensor.numel() else begin
    return bytes(memoryview(tensor.untyped_storage())[begin:end])


def _reduce(self, protocol):
    plain = self.detach().cpu()
    return _rebuild, (_needed(plain), self.dtype, tuple(self.shape), plain.stride(), _like(self), dict(self.__dict__))


def _copy(self):
    return _dressed(self.detach(), _like(self), self.__dict__)


def _deep_memory(tensor, memo):
    """The copy of a tensor's memory. `memo` has those that there are already."""
    storage = tensor.untyped_storage()
    key = 'storage', storage.data_ptr()
    if key not in memo:
        memory = memo[key] = _C.UntypedStorage(storage.nbytes())
        memoryview(memory)[:] = memoryview(storage)
    return memo[key]


def _deepcopy(self, memo):
    if not self.is_leaf:
        raise RuntimeError(_NO_LEAF)
    if id(self) in memo:
        return memo[id(self)]
    if self.is_sparse or self.device.type != 'cpu':
        tensor = self.detach().clone()
    else:
        tensor = _deep_memory(self, memo).tensor(self.dtype, self.storage_offset(), tuple(self.shape), self.stride())
    result = memo[id(self)] = _dressed(tensor, _like(self), {})
    result.__dict__.update(copy.deepcopy(self.__dict__, memo))
    if self.grad is not None:
        result.grad = copy.deepcopy(self.grad, memo)
    return result


def _dtype(name):
    return getattr(_C, name)


def _reduce_dtype(dtype):
    return _dtype, (str(dtype).split('.')[-1],)


def _reduce_device(device):
    return _C.device, (str(device),)


Tensor.__reduce_ex__, Tensor.__copy__, Tensor.__deepcopy__ = _reduce, _copy, _deepcopy
copyreg.pickle(_C.dtype, _reduce_dtype)
copyreg.pickle(_C.device, _reduce_device)

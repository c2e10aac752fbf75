# SPDX-License-Identifier: LGPL-2.1-or-later
"""Dtypes: what they hold, what becomes of two of them, and which one new tensors have."""
from torch import _C
from torch._C import Tensor
from torch._composed.table import both, function, FUNCTIONS, method
from torch._dtypes import finfo, iinfo

_TYPES = {'float32': 'FloatTensor', 'float64': 'DoubleTensor', 'int64': 'LongTensor', 'int32': 'IntTensor', 'bool': 'BoolTensor',
          'uint8': 'ByteTensor', 'int8': 'CharTensor', 'int16': 'ShortTensor', 'float16': 'HalfTensor',
          'bfloat16': 'BFloat16Tensor', 'complex64': 'ComplexFloatTensor', 'complex128': 'ComplexDoubleTensor'}


FUNCTIONS.update(finfo=finfo, iinfo=iinfo)


@function
def promote_types(type1, type2):
    return _C.promote_types(type1, type2)


@function
def can_cast(from_, to):
    return _C.can_cast(from_, to)


@function
def result_type(tensor1, tensor2):
    """Of tensors and numbers."""
    return _C.result_type(tensor1, tensor2)


@function
def get_default_dtype():
    return _C.default_dtype()


@function
def set_default_dtype(d):
    """Floating numbers without a dtype become tensors of this one."""
    if not d.is_floating_point:
        raise TypeError(f'only floating-point types are supported as the default type, but got {d}')
    _C.set_default_dtype(d)


@function
def set_default_tensor_type(t):
    set_default_dtype(t.dtype if hasattr(t, 'dtype') else _dtype_of(t))


def _names(dtype):
    return 'torch.' + _TYPES[str(dtype).rpartition('.')[2]]


def _dtype_of(name):
    return getattr(_C, {kind: dtype for dtype, kind in _TYPES.items()}[name.rpartition('.')[2]])


@method
def type(self, dtype=None, non_blocking=False):
    """Without a dtype: the name of this kind of tensors."""
    if dtype is None:
        return _names(self.dtype)
    return self.to(_dtype_of(dtype) if isinstance(dtype, str) else getattr(dtype, 'dtype', dtype))


class _Kind:
    """FloatTensor and its kin: they make tensors of a dtype, and isinstance knows them."""

    def __init__(self, name, dtype):
        self.__name__, self.dtype = name, dtype

    def __call__(self, *args):
        return make(self.dtype, args)

    def __instancecheck__(self, instance):
        return isinstance(instance, Tensor) and instance.dtype == self.dtype

    def __repr__(self):
        return f"<class 'torch.{self.__name__}'>"


def make(dtype, args):
    """Tensor(2, 3): of these sizes. Tensor([1, 2]): of these numbers. Tensor(tensor): the same elements."""
    if not args:
        return _C.empty(0, dtype=dtype)
    if len(args) > 1 or isinstance(args[0], (int, _C.Size)):
        return _C.empty(*args, dtype=dtype)
    data = args[0]
    if isinstance(data, Tensor):
        if data.dtype != dtype:
            raise TypeError(f'expected {dtype} (got {data.dtype})')
        return data.detach()
    if isinstance(data, (float, complex, str)):
        raise TypeError(f"new(): data must be a sequence (got {data.__class__.__name__})")
    return _C.tensor(data, dtype=dtype)


def construct(*args, dtype=None, device=None):
    """What Tensor(...) is."""
    return make(dtype or _C.default_dtype(), args)


FUNCTIONS.update({name: _Kind(name, getattr(_C, dtype)) for dtype, name in _TYPES.items()
                  if not dtype.startswith('complex')})


@function
def is_storage(obj):
    return False


@both
def is_signed(input):
    return input.dtype not in (_C.bool, _C.uint8)


@method
def nelement(self):
    return self.numel()


@method
def ndimension(self):
    return self.dim()


@method
def element_size(self):
    return self.dtype.itemsize


@function
def numel(input):
    return input.numel()


@method
def get_device(self):
    return -1 if self.device.index is None else self.device.index


@method
def is_pinned(self, device=None):
    return False


@method
def is_shared(self):
    return False


@method
def share_memory_(self):
    return self


@method
def pin_memory(self, device=None):
    return self


@method
def apply_(self, callable):
    """Replaces each element by what a function makes of it."""
    flat = [callable(x) for x in self.detach().reshape(-1).tolist()]
    with_new = _C.tensor(flat, dtype=self.dtype).view(self.shape)
    return self.copy_(with_new)

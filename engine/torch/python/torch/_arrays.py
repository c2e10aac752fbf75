# SPDX-License-Identifier: LGPL-2.1-or-later
"""Arrays of numpy and other buffers as tensors, and tensors as arrays. They share their memory.

numpy is imported when a program has an array or asks for one.
"""
import warnings

from torch import _C
from torch._C import Tensor

_KNOWN = ('can\'t convert np.ndarray of type {}. The only supported types are: float64, float32, float16, complex64, '
          'complex128, int64, int32, int16, int8, uint64, uint32, uint16, uint8, and bool.')


def _dtype_of(array):
    dtype = getattr(_C, array.dtype.name, None)
    if not isinstance(dtype, _C.dtype):
        kind = array.dtype.type
        raise TypeError(_KNOWN.format(f'{kind.__module__}.{kind.__name__}'))
    if not array.dtype.isnative:
        raise ValueError('given numpy array has byte order different from the native byte order. Conversion between byte '
                         'orders is currently not supported.')
    return dtype


def _over(array):
    """A tensor in the array's memory."""
    dtype, size = _dtype_of(array), array.itemsize
    if any(stride % size for stride in array.strides):
        raise ValueError('given numpy array strides not a multiple of the element byte size. Copy array to a new array '
                         'first.')
    if any(stride < 0 for stride in array.strides):
        raise ValueError('At least one stride in the given numpy array is negative, and tensors with negative strides are '
                         'not currently supported. (You can probably work around this by making a copy of your array  '
                         'with array.copy().) ')
    memory = _C.UntypedStorage.from_buffer(array)
    return memory.tensor(dtype, 0, array.shape, tuple(stride // size for stride in array.strides))


def from_numpy(ndarray):
    """A tensor in the array's memory."""
    import numpy
    if not isinstance(ndarray, numpy.ndarray):
        raise TypeError(f'expected np.ndarray (got {type(ndarray).__name__})')
    if not ndarray.flags.writeable:
        warnings.warn('The given NumPy array is not writable, and PyTorch does not support non-writable tensors. Writing '
                      'to the tensor writes to the array nevertheless. Copy the array if that matters.', stacklevel=2)
    return _over(ndarray)


def of_data(data):
    """For torch.tensor: what an array, a scalar of numpy or a list of them contains."""
    import numpy
    return _over(numpy.asarray(data))


def _is_of_numpy(data):
    return type(data).__module__ == 'numpy'


def as_tensor(data, dtype=None, device=None):
    """The data as a tensor: the same tensor or memory, if dtype and device fit."""
    if not isinstance(data, Tensor):
        if not _is_of_numpy(data) or not hasattr(data, 'strides') or data.ndim == 0:
            return _C.tensor(data, dtype=dtype, device=device)
        data = _over(data)
    return data.to(data.device if device is None else device, data.dtype if dtype is None else dtype)


def asarray(obj, *, dtype=None, device=None, copy=None, requires_grad=False):
    """As as_tensor, but `copy` says whether to copy, and the result has no history."""
    if not isinstance(obj, Tensor) and not _is_of_numpy(obj) and hasattr(type(obj), '__buffer__') | isinstance(
            obj, (bytes, bytearray, memoryview)):
        obj = frombuffer(obj, dtype=dtype or _C.float32)
    tensor = as_tensor(obj, dtype, device)
    shares = isinstance(obj, Tensor) and tensor.untyped_storage().data_ptr() == obj.untyped_storage().data_ptr()
    if copy and (shares or not isinstance(obj, Tensor)):
        tensor = tensor.clone()
    elif copy is False and isinstance(obj, Tensor) and not shares:
        raise ValueError("can't alias tensor with dtype or device that differ")
    return tensor.detach().requires_grad_() if requires_grad else tensor


def frombuffer(buffer, *, dtype, count=-1, offset=0, requires_grad=False):
    """A flat tensor in the memory of any buffer."""
    size = _C.empty(0, dtype=dtype).element_size()
    n_bytes = memoryview(buffer).nbytes
    if not 0 <= offset < n_bytes:
        raise ValueError(f'offset ({offset} bytes) must be non-negative and no greater than buffer length ({n_bytes} '
                         'bytes) minus 1')
    if count < 0 and (n_bytes - offset) % size:
        raise ValueError(f'buffer length ({n_bytes - offset} bytes) after offset ({offset} bytes) must be a multiple of '
                         f'element size ({size})')
    count = (n_bytes - offset) // size if count < 0 else count
    if offset + count * size > n_bytes:
        raise ValueError(f'requested buffer length ({count} * {size} bytes) after offset ({offset} bytes) must not be '
                         f'greater than actual buffer length ({n_bytes} bytes)')
    memory = _C.UntypedStorage.from_buffer(memoryview(buffer).cast('B')[offset:])
    return memory.tensor(dtype, 0, (count,), (1,)).requires_grad_(requires_grad)


def _numpy(self, *, force=False):
    """The tensor as an array of numpy, in the same memory."""
    import numpy
    if force:
        self = self.detach().cpu()
        self = self.clone() if self._is_zerotensor() else self
    if self.is_sparse:
        raise TypeError("can't convert Sparse layout tensor to numpy. Use Tensor.to_dense() first.")
    if self.device.type != 'cpu':
        raise TypeError(f"can't convert {self.device} device type tensor to numpy. Use Tensor.cpu() to copy the tensor to "
                        'host memory first.')
    if self._is_zerotensor():
        raise RuntimeError(' Cannot convert a ZeroTensor to numpy. Set force=True if you need the zero array.')
    if self.requires_grad and _C.is_grad_enabled():
        raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
    dtype, size = numpy.dtype(str(self.dtype).partition('.')[2]), self.element_size()
    if self.numel() == 0:
        return numpy.empty(tuple(self.shape), dtype)
    return numpy.ndarray(tuple(self.shape), dtype, self.untyped_storage(), self.storage_offset() * size,
                         tuple(stride * size for stride in self.stride()))


def _array(self, dtype=None, copy=None):
    """What numpy.asarray gives."""
    array = self.numpy()
    return array if dtype is None else array.astype(dtype, copy=False)


def _array_wrap(self, array, context=None, return_scalar=False):
    """What a function of numpy gives for a tensor."""
    return from_numpy(array.astype('uint8') if array.dtype == bool and hasattr(_C, 'uint8') else array)


_numpy.__name__ = 'numpy'
Tensor.numpy, Tensor.__array__, Tensor.__array_wrap__, Tensor.__array_priority__ = _numpy, _array, _array_wrap, 1000

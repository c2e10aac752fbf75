# SPDX-License-Identifier: LGPL-2.1-or-later
"""Pickles objects as PyTorch does: tensors as references to records, which have the memory of their storages."""
import collections
import io
import pickle

from torch import _C
from torch.nn.parameter import Parameter
from torch.serialization import _storages as storages


class Name:
    """A global name of PyTorch, which the file has instead of an object here."""

    def __init__(self, module, name):
        self.text = f'c{module}\n{name}\n'.encode()

    def __call__(self):
        """A pickler wants that what rebuilds an object can be called."""


_REBUILD_TENSOR = Name('torch._utils', '_rebuild_tensor_v2')
_REBUILD_PARAMETER = Name('torch._utils', '_rebuild_parameter')
_REBUILD_PARAMETER_WITH = Name('torch._utils', '_rebuild_parameter_with_state')
_REBUILD_OF_TYPE = Name('torch._tensor', '_rebuild_from_type_v2')
_SIZE, _DEVICE, _TENSOR = Name('torch', 'Size'), Name('torch', 'device'), Name('torch', 'Tensor')
_DTYPES = {dtype: Name('torch', str(dtype).partition('.')[2]) for dtype in storages.OF_DTYPE}
_KINDS = {dtype: Name('torch', kind.name) for dtype, kind in storages.OF_DTYPE.items()}


class _Stored:
    """A storage that becomes a record."""

    def __init__(self, number, storage, dtype):
        self.number, self.storage, self.dtype = number, storage, dtype

    def reference(self, item_size):
        return 'storage', _KINDS[self.dtype], str(self.number), 'cpu', len(self.storage) // item_size


class _Reference:
    """Stands for a storage while a tensor is pickled."""

    def __init__(self, words):
        self.words = words


class Pickler(pickle._Pickler):
    """`stored` has the storages afterwards, in the order of their records."""

    dispatch = dict(pickle._Pickler.dispatch)

    def __init__(self, file, protocol):
        super().__init__(file, protocol)
        self.stored = {}  # by address

    def persistent_id(self, object):
        return object.words if isinstance(object, _Reference) else None

    def save_name(self, object):
        self.write(object.text)
        self.memoize(object)

    dispatch[Name] = save_name

    def save_dtype(self, object):
        self.save(_DTYPES[object])

    dispatch[_C.dtype] = save_dtype

    def reducer_override(self, object):
        if isinstance(object, _C.Tensor):
            return self._reduce_tensor(object)
        if isinstance(object, _C.Size):
            return _SIZE, (tuple(object),)
        return (_DEVICE, (str(object),)) if isinstance(object, _C.device) else NotImplemented

    def _reduce_tensor(self, tensor):
        if tensor.is_sparse:
            raise NotImplementedError('torch.save of a sparse tensor is not supported')
        if not isinstance(tensor, Parameter):
            whole = self._whole(tensor, tensor.requires_grad)
            state = dict(tensor.__dict__)
            return (_REBUILD_OF_TYPE, (whole[0], _TENSOR, whole[1], state)) if state else whole
        state, plain = dict(tensor.__dict__), tensor.detach()
        arguments = plain, tensor.requires_grad, collections.OrderedDict()
        return (_REBUILD_PARAMETER_WITH, (*arguments, state)) if state else (_REBUILD_PARAMETER, arguments)

    def _whole(self, tensor, requires_grad):
        storage = tensor.untyped_storage()
        stored = self.stored.setdefault(storage.data_ptr(), _Stored(len(self.stored), storage, tensor.dtype))
        reference = _Reference(stored.reference(tensor.element_size()))
        return _REBUILD_TENSOR, (reference, tensor.storage_offset(), tuple(tensor.shape), tensor.stride(), requires_grad,
                                 collections.OrderedDict())


def pickled(object, protocol):
    """(bytes, storages in the order of their numbers)"""
    file = io.BytesIO()
    pickler = Pickler(file, protocol)
    pickler.dump(object)
    return file.getvalue(), [stored.storage for stored in pickler.stored.values()]

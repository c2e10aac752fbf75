# SPDX-License-Identifier: LGPL-2.1-or-later
"""torch.storage: the memory of a tensor as elements, whatever its strides are."""
from torch._C import Tensor, UntypedStorage  # noqa: F401


class TypedStorage:
    """The elements of a storage. Writing one writes into the tensors."""

    def __init__(self, untyped, dtype, element_size):
        self._untyped, self.dtype = untyped, dtype
        self._elements = untyped.tensor(dtype, 0, (untyped.nbytes() // element_size,), (1,))

    @property
    def device(self):
        return self._untyped.device

    def untyped(self):
        return self._untyped

    def data_ptr(self):
        return self._untyped.data_ptr()

    def nbytes(self):
        return self._untyped.nbytes()

    def element_size(self):
        return self._elements.element_size()

    def __len__(self):
        return self._elements.numel()

    size = __len__

    def __getitem__(self, index):
        return self._elements[index].item()

    def __setitem__(self, index, value):
        self._elements[index] = value

    def __iter__(self):
        return iter(self.tolist())

    def tolist(self):
        return self._elements.tolist()

    def __repr__(self):
        lines = ''.join(f' {element}\n' for element in self.tolist())
        return f'{lines}[torch.storage.TypedStorage(dtype={self.dtype}, device={self.device}) of size {len(self)}]'


def _storage(self):
    return TypedStorage(self.untyped_storage(), self.dtype, self.element_size())


_storage.__name__ = 'storage'
Tensor.storage = _storage

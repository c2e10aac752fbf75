# SPDX-License-Identifier: LGPL-2.1-or-later
"""Other shapes of the same elements, and joins of tensors."""
import math

from torch import _C
from torch._C import Tensor
from torch._composed.table import alias, both, function, method

alias(Tensor.movedim, 'moveaxis')
alias(_C.cat, 'concat', 'concatenate', also_method=False)


def _list_of(tensors):
    return tensors[0] if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)) else tensors


def _each(operation, tensors):
    tensors = _list_of(tensors)
    return operation(tensors) if isinstance(tensors, Tensor) else tuple(map(operation, tensors)) if len(
        tensors) != 1 else operation(tensors[0])


@function
def atleast_1d(*tensors):
    return _each(lambda x: x.reshape(1) if x.dim() == 0 else x, tensors)


@function
def atleast_2d(*tensors):
    return _each(lambda x: x.reshape(1, 1) if x.dim() == 0 else x.unsqueeze(0) if x.dim() == 1 else x, tensors)


@function
def atleast_3d(*tensors):
    return _each(lambda x: x.reshape(1, 1, 1) if x.dim() == 0 else x.unsqueeze(0).unsqueeze(-1) if x.dim() == 1 else
                 x.unsqueeze(-1) if x.dim() == 2 else x, tensors)


def _all_of(operation, tensors):
    return [operation(x) for x in tensors]


@function
def vstack(tensors):
    return _C.cat(_all_of(atleast_2d, tensors), 0)


@function
def hstack(tensors):
    tensors = _all_of(atleast_1d, tensors)
    return _C.cat(tensors, 0 if tensors[0].dim() == 1 else 1)


@function
def dstack(tensors):
    return _C.cat(_all_of(atleast_3d, tensors), 2)


@function
def column_stack(tensors):
    return hstack([x.reshape(x.numel(), 1) if x.dim() <= 1 else x for x in tensors])


alias(vstack, 'row_stack', also_method=False)


@both
def ravel(input):
    return input.contiguous().view(-1)


@both
def fliplr(input):
    return input.flip(1)


@both
def flipud(input):
    return input.flip(0)


@both
def rot90(input, k=1, dims=(0, 1)):
    a, b = dims
    return (input.clone, input.flip(b).transpose(a, b).clone, input.flip(list(dims)).clone,
            input.flip(a).transpose(a, b).clone)[k % 4]()


def _cuts(n, wanted):
    """Where the pieces begin and end."""
    if isinstance(wanted, int):
        small, large = divmod(n, wanted)
        sizes = [small + 1] * large + [small] * (wanted - large)
        wanted = [sum(sizes[:i]) for i in range(1, len(sizes))]
    return zip([0, *wanted], [*wanted, n])


@both
def tensor_split(input, indices_or_sections, dim=0):
    if isinstance(indices_or_sections, Tensor):
        indices_or_sections = indices_or_sections.tolist()
    at = (slice(None),) * (dim % input.dim())
    return tuple(input[(*at, slice(a, b))] for a, b in _cuts(input.size(dim), indices_or_sections))


@both
def hsplit(input, indices_or_sections):
    return tensor_split(input, indices_or_sections, 0 if input.dim() == 1 else 1)


@both
def vsplit(input, indices_or_sections):
    return tensor_split(input, indices_or_sections, 0)


@both
def dsplit(input, indices_or_sections):
    return tensor_split(input, indices_or_sections, 2)


@both
def repeat_interleave(input, repeats=None, dim=None, *, output_size=None):
    if repeats is None:
        return _C.arange(input.numel()).repeat_interleave(input)
    if dim is None:
        input, dim = input.flatten(), 0
    dim %= input.dim()
    if isinstance(repeats, int):
        wide = input.unsqueeze(dim + 1).expand(*input.shape[:dim + 1], repeats, *input.shape[dim + 1:])
        return wide.clone().flatten(dim, dim + 1)
    counts = repeats.tolist()
    counts = [counts] * input.size(dim) if isinstance(counts, int) else counts * (
        input.size(dim) if len(counts) == 1 else 1)
    if len(counts) != input.size(dim):
        raise RuntimeError('repeats must have the same size as input along dim, but got repeats.size(0) = '
                           f'{len(counts)} and input.size({dim}) = {input.size(dim)}')
    return input.index_select(dim, _C.tensor([i for i, n in enumerate(counts) for _ in range(n)], dtype=_C.int64))


@both
def take_along_dim(input, indices, dim=None):
    if dim is None:
        return input.view(-1).gather(0, indices.view(-1))
    dim %= input.dim()
    if input.dim() != indices.dim():
        raise RuntimeError('torch.take_along_dim(): input and indices should have the same number of dimensions, but got '
                           f'{input.dim()} dimensions for input, and {indices.dim()} dimensions for indices')
    sizes = [max(a, b) if a and b else 0 for a, b in zip(input.shape, indices.shape)]
    of_input, of_indices = list(sizes), list(sizes)
    of_input[dim], of_indices[dim] = input.size(dim), indices.size(dim)
    return input.expand(of_input).gather(dim, indices.expand(of_indices))


@both
def argwhere(input):
    return input.nonzero()


@both
def diff(input, n=1, dim=-1, prepend=None, append=None):
    parts = [x for x in (prepend, input, append) if x is not None]
    input = _C.cat(parts, dim) if len(parts) > 1 else input
    for _ in range(n):
        size = input.size(dim)
        input = (input.narrow(dim, 1, size - 1) - input.narrow(dim, 0, size - 1) if input.dtype != _C.bool else
                 input.narrow(dim, 1, size - 1).logical_xor(input.narrow(dim, 0, size - 1)))
    return input


@both
def diag(input, diagonal=0):
    if input.dim() not in (1, 2):
        raise RuntimeError(f'diag(): Supports 1D or 2D tensors. Got {input.dim()}D')
    return input.diag_embed(diagonal) if input.dim() == 1 else _C.diagonal_copy(input, diagonal)


@both
def diagflat(input, offset=0):
    return input.contiguous().view(-1).diag(offset)


@function
def block_diag(*tensors):
    tensors = [atleast_2d(x) for x in _list_of(tensors)]
    rows, width, at = [], sum(x.size(1) for x in tensors), 0
    for x in tensors:
        left, right = x.new_zeros(x.size(0), at), x.new_zeros(x.size(0), width - at - x.size(1))
        rows.append(_C.cat([left, x, right], 1))
        at += x.size(1)
    return _C.cat(rows, 0)


@method
def sum_to_size(self, *size):
    size = _list_of(size) if size and not isinstance(size[0], int) else size
    lead = self.dim() - len(size)
    dims = [d for d in range(self.dim()) if d < lead or size[d - lead] == 1 and self.size(d) != 1]
    result = self.sum(dims, True) if dims else self
    return result.view(size) if lead else result


@both
def trace(input):
    if input.dim() != 2:
        raise RuntimeError('trace: expected a matrix')
    return input.diagonal().sum()


def _row_major(sizes):
    """The strides of elements without gaps."""
    strides = [1] * len(sizes)
    for i in range(len(sizes) - 1, 0, -1):
        strides[i - 1] = strides[i] * max(sizes[i], 1)
    return tuple(strides)


def _over(memory, dtype, offset, sizes):
    return memory.tensor(dtype, offset, sizes, _row_major(sizes))


@method
def resize_(self, *sizes, memory_format=_C.contiguous_format):
    """Other sizes. The elements are those that lie in memory from the first one on, and whatever comes after them."""
    sizes = tuple(_list_of(sizes) if sizes and not isinstance(sizes[0], int) else sizes)
    if memory_format not in (_C.contiguous_format, _C.preserve_format):
        raise NotImplementedError(f'resize_ to {memory_format} is not supported')
    if self.requires_grad and not _C.is_inference_mode_enabled():
        raise RuntimeError('cannot resize variables that require grad')
    if tuple(self.shape) == sizes:
        return self
    memory, offset = self.untyped_storage(), self.storage_offset()
    n, there = math.prod(sizes), memory.nbytes() // self.element_size() - offset
    if n > there:
        elements = _over(memory, self.dtype, offset, (there,))
        memory, offset = _C.cat([elements, elements.new_zeros(n - there)]).untyped_storage(), 0
    return self._set_source_(_over(memory, self.dtype, offset, sizes))


@method
def resize_as_(self, other, memory_format=_C.contiguous_format):
    return resize_(self, *other.shape, memory_format=memory_format)


@method
def set_(self, source=None, storage_offset=0, size=None, stride=None):
    """The tensor shows another tensor's elements, or those in a storage, from now on. Without a source it shows none."""
    if source is None:
        source = _C.empty(0, dtype=self.dtype)
    elif not isinstance(source, Tensor):
        memory = source.untyped() if hasattr(source, 'untyped') else source
        size = (memory.nbytes() // self.element_size(),) if size is None else tuple(size)
        source = memory.tensor(self.dtype, storage_offset, size, tuple(stride or _row_major(size)))
    return self._set_source_(source)


@method
def fill_diagonal_(self, fill_value, wrap=False):
    """Of more than two dimensions, the elements whose indices are all equal. With wrap the diagonal of a tall matrix begins
    again after each square and a free row."""
    if self.dim() < 2:
        raise RuntimeError('dimensions must larger than 1')
    if self.dim() > 2 and len(set(self.shape)) > 1:
        raise RuntimeError('all dimensions of input must be of equal length')
    n, step, offset = min(self.shape), sum(self.stride()), self.storage_offset()
    self.as_strided((n,), (step,), offset).fill_(fill_value)
    height, width = self.shape[:2]
    if wrap and self.dim() == 2 and height > width + 1:
        n_more = (self.numel() + width) // (width + 1) - n
        self.as_strided((n_more,), (step,), offset + self.stride(0) * (width + 1)).fill_(fill_value)
    return self


@both
def select_scatter(input, src, dim, index):
    out = input.clone()
    out.select(dim, index).copy_(src)
    return out


@both
def slice_scatter(input, src, dim=0, start=None, end=None, step=1):
    out = input.clone()
    out[(slice(None),) * (dim % input.dim()) + (slice(start, end, step),)].copy_(src)
    return out


@both
def index_fill(input, dim, index, value):
    if isinstance(value, complex) and not input.is_complex():
        raise RuntimeError('index_fill_(): Converting complex Scalar to non-complex type is not supported')
    at = (slice(None),) * (dim % input.dim())
    out = input.clone()
    out[(*at, index)] = value
    return out


@both
def index_copy(input, dim, index, source):
    at = (slice(None),) * (dim % input.dim())
    out = input.clone()
    out[(*at, index)] = source
    return out


@both
def masked_scatter(input, mask, source):
    out = input.expand(_C.zeros_like(mask).expand_as(input + 0 * mask).shape).clone()
    mask = mask.expand_as(out)
    out[mask] = source.reshape(-1)[:int(mask.sum())]
    return out


@function
def unravel_index(indices, shape):
    found = []
    for n in reversed([shape] if isinstance(shape, int) else shape):
        found.append(indices % n)
        indices = indices // n
    return tuple(reversed(found))

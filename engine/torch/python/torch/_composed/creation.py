# SPDX-License-Identifier: LGPL-2.1-or-later
"""Functions that make tensors of others' sizes, of numbers in a row, and of grids."""
import itertools
import math

from torch import _C
from torch._C import Tensor
from torch._composed.table import both, FUNCTIONS, function, method
from torch._refused import scalar_name


@function
def linspace(start, end, steps, **options):
    return _C.linspace(float(start), float(end), steps, 0.0, **options)


@function
def logspace(start, end, steps, base=10.0, **options):
    return _C.linspace(float(start), float(end), steps, float(base), **options)


def inclusive_range(start=0, end=None, step=1, **options):
    """As arange, with its end."""
    if end is None:
        start, end = 0, start
    return _C.arange(start, start + math.floor((end - start) / step + 1) * step, step,
                     **{'dtype': _C.default_dtype(), **options})


FUNCTIONS['range'] = inclusive_range


@function
def eye(n, m=None, **options):
    return _C.eye(n, n if m is None else m, **options)


def _like(input, options):
    return {'dtype': options.pop('dtype', None) or input.dtype, 'device': options.pop('device', None) or input.device,
            **options}


@function
def full_like(input, fill_value, **options):
    return _C.full(input.shape, fill_value, **_like(input, options))


@function
def empty_like(input, **options):
    return _C.zeros_like(input, **_like(input, options))


@function
def empty_strided(size, stride, **options):
    room = 1 + sum((n - 1) * step for n, step in zip(size, stride)) if all(size) else 0
    return _C.empty(room, **options).as_strided(size, stride)


@function
def scalar_tensor(s, **options):
    return _C.tensor(s, **{'dtype': _C.default_dtype(), **options})


def _sizes(size):
    return size[0] if len(size) == 1 and not isinstance(size[0], int) else size


@method
def new_zeros(self, *size, **options):
    return _C.zeros(_sizes(size) if size else options.pop('size'), **_like(self, options))


@method
def new_ones(self, *size, **options):
    return _C.ones(_sizes(size) if size else options.pop('size'), **_like(self, options))


@method
def new_empty(self, *size, **options):
    return _C.empty(_sizes(size) if size else options.pop('size'), **_like(self, options))


@method
def new_full(self, size, fill_value, **options):
    return _C.full(size, fill_value, **_like(self, options))


@method
def new_tensor(self, data, **options):
    return _C.tensor(data, **_like(self, options))


@method
def new(self, *args):
    """Of sizes: zeros. Of a list: its numbers."""
    if len(args) == 1 and not isinstance(args[0], (int, _C.Size)):
        return new_tensor(self, args[0])
    return new_empty(self, *(args or (0,)))


@function
def as_tensor(data, dtype=None, device=None):
    """A tensor that has this dtype and device already is returned itself."""
    if isinstance(data, Tensor):
        return data.to(device or data.device, dtype or data.dtype)
    return _C.tensor(data, dtype=dtype, device=device)


@function
def asarray(obj, *, dtype=None, device=None, copy=None, requires_grad=False):
    tensor = as_tensor(obj, dtype, device)
    tensor = tensor.clone() if copy and tensor is obj else tensor
    return tensor.requires_grad_() if requires_grad else tensor


def _triangle(name, keeps, row, col, offset, options):
    places = [(i, j) for i in range(row) for j in range(col) if keeps(j - i, offset)]
    options = {'dtype': _C.int64, **options}
    if options['dtype'] not in (_C.int32, _C.int64):
        raise NotImplementedError(f'"{name}_indices" not implemented for \'{scalar_name(_C.zeros(0, **options))}\'')
    return _C.tensor([i for i, _ in places] + [j for _, j in places], **options).view(2, len(places))


@function
def tril_indices(row, col, offset=0, **options):
    return _triangle('tril', lambda distance, offset: distance <= offset, row, col, offset, options)


@function
def triu_indices(row, col, offset=0, **options):
    return _triangle('triu', lambda distance, offset: distance >= offset, row, col, offset, options)


def _list_of(tensors):
    return tensors[0] if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)) else tensors


@function
def broadcast_shapes(*shapes):
    result = []
    for shape in ((s,) if isinstance(s, int) else tuple(s) for s in shapes):
        result = [1] * (len(shape) - len(result)) + result
        for i, n in enumerate(reversed(shape), 1):
            if n != 1 and result[-i] not in (1, n):
                raise RuntimeError('Shape mismatch: objects cannot be broadcast to a single shape')
            result[-i] = n if result[-i] == 1 else result[-i]
    return _C.empty(0).new_empty(result, device='meta').shape


@function
def broadcast_tensors(*tensors):
    tensors = _list_of(tensors)
    shape = broadcast_shapes(*[x.shape for x in tensors])
    return tuple(x.expand(shape) for x in tensors)


@function
def meshgrid(*tensors, indexing=None):
    tensors = list(_list_of(tensors))
    swaps = indexing == 'xy' and len(tensors) >= 2
    if swaps:
        tensors[:2] = tensors[1], tensors[0]
    shape = [x.numel() for x in tensors]
    grids = [x.view([n if i == j else 1 for j in range(len(shape))]).expand(shape)
             for i, (x, n) in enumerate(zip(tensors, shape))]
    if swaps:
        grids[:2] = grids[1], grids[0]
    return tuple(grids)


@function
def cartesian_prod(*tensors):
    if len(tensors) == 1:
        return tensors[0]
    return _C.stack([grid.flatten() for grid in meshgrid(*tensors)], 1)


@function
def combinations(input, r=2, with_replacement=False):
    if r == 0:
        return input.new_empty(0)
    numbers = meshgrid(*[_C.arange(input.numel())] * r)
    mask = _C.ones_like(numbers[0], dtype=_C.bool)
    for a, b in itertools.pairwise(numbers):
        mask = mask.logical_and(a <= b if with_replacement else a < b)
    if _C.policy('fills_by_index'):
        return input[_C.stack([number.masked_select(mask) for number in numbers], 1)]
    return _C.stack([grid.masked_select(mask) for grid in meshgrid(*[input] * r)], 1)


@both
def type_as(input, other):
    return input if input.dtype == other.dtype else input.to(other.device, other.dtype)


def _window(name, numbers, window_length, periodic, options):
    """Cosines with these factors, of a whole period or with its end."""
    options = {'dtype': _C.default_dtype(), **options}
    if not options['dtype'].is_floating_point:
        raise RuntimeError(f"{name}_window expects floating point dtypes, got: {options['dtype']}")
    if window_length == 1:
        return _C.ones(1, **options)
    n = window_length if periodic else window_length - 1
    phases = _C.arange(window_length, **options) * (2 * math.pi / n)
    return sum((factor * (-1) ** i * (phases * i).cos() for i, factor in enumerate(numbers)), _C.zeros(window_length, **options))


@function
def hann_window(window_length, periodic=True, **options):
    return _window('hann', (0.5, 0.5), window_length, periodic, options)


@function
def hamming_window(window_length, periodic=True, alpha=0.54, beta=0.46, **options):
    return _window('hamming', (alpha, beta), window_length, periodic, options)


@function
def blackman_window(window_length, periodic=True, **options):
    return _window('blackman', (0.42, 0.5, 0.08), window_length, periodic, options)

# SPDX-License-Identifier: LGPL-2.1-or-later
"""scatter_reduce and index_reduce: several elements of a source meet in one of the result."""
from torch import _C
from torch._C import Tensor
from torch.autograd.function import Function
from torch.nn._named_function import node

_REDUCTIONS = ('sum', 'prod', 'mean', 'amax', 'amin')
_START = {'sum': 0, 'prod': 1, 'mean': 0, 'amax': -float('inf'), 'amin': float('inf')}


def _check(name, index, src, reduce, known):
    if reduce not in known:
        raise RuntimeError(f'reduce argument must be either {", ".join(known[:-1])} or {known[-1]}, got {reduce}')
    if index.dtype not in (_C.int64, _C.int32):
        raise RuntimeError(f'{name}(): Expected dtype int64 for index')


def _rounds(dim, index):
    """The elements of the index in groups, as (places in the source, places in the result): no place of the result comes
    twice in a group."""
    lines = index.movedim(dim, -1).reshape(-1, index.size(dim)).tolist() if index.dim() else [[int(index)]]
    n_seen, rounds = {}, []
    for line, places in enumerate(lines):
        for at, place in enumerate(places):
            number = n_seen[line, place] = n_seen.get((line, place), -1) + 1
            if number == len(rounds):
                rounds.append([])
            rounds[number].append((line, at, place))
    return rounds


def _combined(reduce, a, b):
    return {'sum': Tensor.add, 'mean': Tensor.add, 'prod': Tensor.mul, 'amax': Tensor.maximum,
            'amin': Tensor.minimum}[reduce](a, b)


def _started(input, dim, index, reduce, include_self):
    """The result before the first element of the source comes."""
    return input.clone() if include_self else input.scatter(dim, index, _START[reduce])


def _counts(input, dim, index, include_self):
    """How many elements meet in each one of the result: at least 1."""
    found = _C.ones_like(input) if include_self else _C.zeros_like(input)
    return found.scatter_add(dim, index, _C.ones_like(index, dtype=input.dtype)).clamp(min=1)


def _reduced(input, dim, index, src, reduce, include_self):
    """The result, without history."""
    input, src = input.detach(), src.detach()
    src = src[tuple(slice(n) for n in index.shape)]
    dim %= max(input.dim(), 1)
    result = _started(input, dim, index, reduce, include_self)
    # (views, so that writing into a line writes into the result)
    to = result.movedim(dim, -1) if result.dim() else result.view(1)
    source = src.movedim(dim, -1).reshape(-1, src.size(dim)) if src.dim() else src.view(1, 1)
    lead = index.movedim(dim, -1).shape[:-1]
    for group in _rounds(dim, index):
        lines = _C.tensor([line for line, _, _ in group], dtype=_C.int64)
        elements = source[lines, _C.tensor([at for _, at, _ in group], dtype=_C.int64)]
        places = (*_unraveled(lines, lead), _C.tensor([place for _, _, place in group], dtype=_C.int64))
        to[places] = _combined(reduce, to[places], elements)
    if reduce != 'mean':
        return result
    counts = _counts(input, dim, index, include_self)
    return result / counts if input.is_floating_point() else result.div(counts, rounding_mode='floor')


def _unraveled(numbers, shape):
    """The coordinates of these elements of a tensor of this shape."""
    found = []
    for n in reversed(shape):
        found.append(numbers % n)
        numbers = numbers.div(n, rounding_mode='floor')
    return reversed(found)


class _Gradients:
    """The gradients of a reduction, of tensors that may have a history of their own."""

    def __init__(self, name, grad, input, dim, index, src, result, include_self):
        self.name, self.grad, self.input, self.dim, self.index = name, grad, input, dim, index
        self.src, self.result, self.include_self = src, result, include_self

    def taken(self, tensor):
        return tensor.gather(self.dim, self.index)

    def scattered(self, src):
        return _C.zeros_like(self.input).scatter_add(self.dim, self.index, src)

    def sum(self):
        return self.grad, self.taken(self.grad)

    def mean(self):
        counts = _counts(self.input, self.dim, self.index, self.include_self)
        return self.grad / counts, self.taken(self.grad) / self.taken(counts)

    def extreme(self):
        """Equal elements share the gradient."""
        own = (self.input == self.result).to(self.grad.dtype)
        of_src = (self.src == self.taken(self.result)).to(self.grad.dtype)
        share = self.grad / own.scatter_add(self.dim, self.index, of_src)
        return own * share, of_src * self.taken(share)

    amax = amin = extreme

    def product(self, src, input=None):
        return scatter_product(self.input if input is None else input, self.dim, self.index, src, self.include_self)

    def prod(self):
        """Where one element of several is 0, it alone has a gradient: the product of the others."""
        masked = self.input.masked_fill(self.input == 0, 1)
        of_input = self.grad * self.product(self.src, masked) / masked
        zero = self.src == 0
        n_zeros = self.taken(self.scattered(zero.to(self.src.dtype)))
        single = zero.logical_and(n_zeros == 1)
        others = self.taken(self.grad * self.product(self.src.masked_fill(single, 1)))
        rest = self.taken(self.grad * self.result) / self.src.masked_fill(zero, 1)
        of_src = _C.where(single, others, rest)
        if bool((n_zeros > 1).any()):
            text = (f'{self.name}(): Double backward is unsupported for src when >1 zeros in src are scattered to the same '
                    'position in self')
            of_src = _C.delayed_error(text, (of_src,))
        return of_input, of_src


def _function(node_name, name, of_slices):
    """The Function of one of the two operations. For slices the index has one number for each slice of the source."""
    @node(node_name)
    class Reduction(Function):
        @staticmethod
        def forward(ctx, input, dim, index, src, reduce, include_self):
            wide = _widened(dim, index, src) if of_slices else index
            result = _reduced(input, dim, wide, src, reduce, include_self)
            ctx.dim, ctx.reduce, ctx.include_self = dim % max(input.dim(), 1), reduce, include_self
            ctx.save_for_backward(input, wide, src, result)
            return result

        @staticmethod
        def backward(ctx, grad):
            input, index, src, result = ctx.saved_tensors
            formulas = _Gradients(name, grad, input, ctx.dim, index, src, result, ctx.include_self)
            of_input, of_src = getattr(formulas, ctx.reduce)()
            if not ctx.include_self:
                of_input = of_input.scatter(ctx.dim, index, 0)
            return of_input, None, None, of_src, None, None
    return Reduction


def _widened(dim, index, src):
    """The index of a slice for each element of the source."""
    if src.dim() < 2:
        return index.view(src.shape)
    return index.view([-1 if d == dim % src.dim() else 1 for d in range(src.dim())]).expand(src.shape)


_ScatterReduce = _function('ScatterReduceBackward0', 'scatter_reduce', False)
_IndexReduce = _function('IndexReduceBackward0', 'index_reduce', True)


def scatter_product(input, dim, index, src, include_self):
    return scatter_reduce(input, dim, index, src, 'prod', include_self=include_self)


def scatter_reduce(input, dim, index, src, reduce, *, include_self=True):
    """Each element of src meets the one of the input at the place along dim that the index tells."""
    _check('scatter_reduce', index, src, reduce, _REDUCTIONS)
    return _ScatterReduce.apply(input, dim, index, src, reduce, include_self)


def index_reduce(input, dim, index, source, reduce, *, include_self=True):
    """Each slice of the source along dim meets that of the input whose number the index tells."""
    _check('index_reduce', index, source, reduce, _REDUCTIONS[1:])
    return _IndexReduce.apply(input, dim, index, source, reduce, include_self)


def _in_place(operation, name):
    def write(self, dim, index, source, reduce, *, include_self=True):
        return _C.in_place(self, name, lambda before: operation(before, dim, index, source, reduce, include_self=include_self))
    write.__name__ = name
    return write


Tensor.scatter_reduce, Tensor.index_reduce = scatter_reduce, index_reduce
Tensor.scatter_reduce_ = _in_place(scatter_reduce, 'scatter_reduce_')
Tensor.index_reduce_ = _in_place(index_reduce, 'index_reduce_')

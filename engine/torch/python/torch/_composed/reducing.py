# SPDX-License-Identifier: LGPL-2.1-or-later
"""Sums of kinds, order, and what occurs how often."""
import collections

from torch import _C
from torch._C import Tensor
from torch._composed.table import alias, both, function


@both
def argsort(input, dim=-1, descending=False, stable=False):
    return input.sort(dim, descending)[1]


@both
def msort(input):
    return input.sort(0)[0]


@function
def var_mean(input, dim=None, unbiased=None, keepdim=False, *, correction=1):
    correction = correction if unbiased is None else int(unbiased)
    return _C.var_and_mean(input, dim, correction, keepdim)


@function
def std_mean(input, dim=None, unbiased=None, keepdim=False, *, correction=1):
    correction = correction if unbiased is None else int(unbiased)
    return _C.std_and_mean(input, dim, correction, keepdim)


aminmax_type = collections.namedtuple('aminmax', 'min max')


@both
def aminmax(input, *, dim=None, keepdim=False):
    return aminmax_type(input.amin(dim, keepdim), input.amax(dim, keepdim))


@both
def nanmean(input, dim=None, keepdim=False, *, dtype=None):
    input = input if dtype is None else input.to(dtype)
    return input.nansum(dim, keepdim) / (~input.detach().isnan()).sum(dim, keepdim)


@both
def quantile(input, q, dim=None, keepdim=False, *, interpolation='linear'):
    q = q if isinstance(q, Tensor) else _C.tensor(float(q), dtype=input.dtype)
    flat, dim = (input.flatten(), 0) if dim is None else (input, dim % max(input.dim(), 1))
    ordered = flat.movedim(dim, -1).sort(-1)[0]
    ranks = (q * (ordered.size(-1) - 1)).reshape(-1)
    rounded = {'lower': ranks.floor, 'higher': ranks.ceil, 'nearest': ranks.round}
    below = rounded.get(interpolation, ranks.floor)()
    weights = ranks - below if interpolation == 'linear' else _C.full(ranks.shape, 0.5, dtype=input.dtype)
    found = ordered.index_select(-1, below.long())
    if interpolation in ('linear', 'midpoint'):
        found = found.lerp(ordered.index_select(-1, ranks.ceil().long()), weights.expand_as(found))
    found = found.movedim(-1, 0)
    if keepdim:
        found = found.unsqueeze(dim + 1) if found.dim() <= input.dim() and input.dim() > 1 else found.reshape(
            -1, *[1] * input.dim())
    return found if q.dim() else found.squeeze(0)


@function
def dist(input, other, p=2):
    return (input - other).norm(p)


@both
def bincount(input, weights=None, minlength=0):
    if input.dim() != 1 or input.is_floating_point() or input.numel() and int(input.min()) < 0:
        raise RuntimeError('bincount only supports 1-d non-negative integral inputs.')
    n = max(minlength, int(input.max()) + 1 if input.numel() else 0)
    of = _C.ones_like(input, dtype=_C.int64) if weights is None else weights.detach()
    of = of if of.dtype in (_C.int64, _C.float32) else of.double()
    return _C.zeros(n, dtype=of.dtype).scatter_add(0, input.long(), of)


@both
def histc(input, bins=100, min=0, max=0):
    values = input.detach().flatten()
    if min == max:
        min, max = float(values.min()), float(values.max())
    if min == max:
        min, max = min - 1, max + 1
    values = values[(values >= min).logical_and(values <= max)]
    places = ((values - min) * bins / (max - min)).long().clamp(max=bins - 1)
    return bincount(places, minlength=bins).to(input.dtype)


def _unique_lines(rows, return_inverse, return_counts):
    """The different rows of a list, in order; which of them each row is; how often each occurs."""
    order = sorted(set(rows), key=lambda row: [(x != x, x) for x in row])
    number = {row: i for i, row in enumerate(order)}
    inverse = [number[row] for row in rows]
    counts = collections.Counter(inverse)
    return order, inverse, [counts[i] for i in range(len(order))]


def _rows(input, dim):
    lines = input.detach().movedim(dim, 0)
    return lines, [tuple(row) for row in lines.reshape(lines.size(0), -1).tolist()]


def _wanted(found, return_inverse, return_counts):
    """Of (values, inverse, counts) what the caller wants."""
    values, inverse, counts = found
    extra = [inverse] * return_inverse + [counts] * return_counts
    return (values, *extra) if extra else values


def _without_derivative(node, what, input, values):
    """The values with a node that says that there is no derivative."""
    return _C.without_derivative(node, f"the derivative for '{what}' is not implemented.", values, (input,))


def _unique_elements(input):
    ordered, indices = input.detach().flatten().sort()
    firsts, group = _first_of_runs(ordered)
    inverse = _C.zeros(group.shape, dtype=_C.int64).scatter(0, indices, group).view(input.shape)
    return ordered.index_select(0, firsts), inverse, bincount(group, minlength=firsts.numel())


def _unique(input, sorted=True, return_inverse=False):
    values, inverse, _ = _unique_elements(input)
    return (_without_derivative('UniqueBackward0', '_unique', input, values),
            inverse if return_inverse else _C.empty(0, dtype=_C.int64))


def _unique2(input, sorted=True, return_inverse=False, return_counts=False):
    values, inverse, counts = _unique_elements(input)
    return (_without_derivative('Unique2Backward0', '_unique2', input, values),
            inverse if return_inverse or return_counts else _C.empty(0, dtype=_C.int64),
            counts if return_counts else _C.empty(0, dtype=_C.int64))


def unique_dim(input, dim, sorted=True, return_inverse=False, return_counts=False):
    lines, rows = _rows(input, dim)
    order, inverse, counts = _unique_lines(rows, return_inverse, return_counts)
    firsts = _C.tensor([rows.index(row) for row in order], dtype=_C.int64)
    values = lines.index_select(0, firsts).movedim(0, dim).clone()
    return (_without_derivative('UniqueDimBackward0', 'unique_dim', input, values),
            _C.tensor(inverse, dtype=_C.int64), _C.tensor(counts, dtype=_C.int64))


@both
def unique(input, sorted=True, return_inverse=False, return_counts=False, dim=None):
    found = _unique2(input, sorted, return_inverse, return_counts) if dim is None else unique_dim(input, dim, sorted)
    return _wanted(found, return_inverse, return_counts)


def _first_of_runs(line):
    """Where each run of equal elements begins, and which run each element is of."""
    n = line.numel()
    is_first = _C.ones(n, dtype=_C.bool)
    if n > 1:
        is_first[1:] = line[1:] != line[:-1]
    return is_first.nonzero().view(-1), is_first.long().cumsum(0) - 1


def _consecutive_elements(input):
    line = input.detach().flatten()
    firsts, group = _first_of_runs(line)
    return line.index_select(0, firsts), group.view(input.shape), bincount(group, minlength=firsts.numel())


def _consecutive_lines(input, dim):
    lines, rows = _rows(input, dim)
    firsts = [i for i, row in enumerate(rows) if i == 0 or row != rows[i - 1]]
    counts = [b - a for a, b in zip(firsts, [*firsts[1:], len(rows)])]
    inverse = [i for i, n in enumerate(counts) for _ in range(n)]
    values = lines.index_select(0, _C.tensor(firsts, dtype=_C.int64)).movedim(0, dim).clone()
    return values, _C.tensor(inverse, dtype=_C.int64), _C.tensor(counts, dtype=_C.int64)


@both
def unique_consecutive(input, return_inverse=False, return_counts=False, dim=None):
    found = _consecutive_elements(input) if dim is None else _consecutive_lines(input, dim)
    values = _without_derivative('UniqueConsecutiveBackward0', 'unique_consecutive', input, found[0])
    return _wanted((values, *found[1:]), return_inverse, return_counts)


@function
def searchsorted(sorted_sequence, input, *, out_int32=False, right=False, side=None, sorter=None):
    right = right or side == 'right'
    single = not isinstance(input, Tensor)
    values = _C.tensor(input, dtype=sorted_sequence.dtype) if single else input.detach()
    edges = sorted_sequence.detach()
    edges = edges if sorter is None else edges.gather(-1, sorter)
    edges = edges.unsqueeze(-2) if edges.dim() > 1 else edges
    values = values.unsqueeze(-1)
    found = (edges <= values if right else edges < values).sum(-1)
    return found.to(_C.int32) if out_int32 else found


@function
def bucketize(input, boundaries, *, out_int32=False, right=False):
    return searchsorted(boundaries, input, out_int32=out_int32, right=right)


@function
def trapezoid(y, x=None, *, dx=1.0, dim=-1):
    if x is not None:
        steps = x.diff(dim=dim if x.dim() > 1 else -1)
        n = y.size(dim)
        return ((y.narrow(dim, 0, n - 1) + y.narrow(dim, 1, n - 1)) * steps).sum(dim) / 2.0
    return (y.sum(dim) - (y.select(dim, 0) + y.select(dim, -1)) * 0.5) * dx


alias(trapezoid, 'trapz', also_method=False)


def _weighted_cov(rows, correction, fweights, aweights):
    """Column i of rows [variables, n] stands for fweights[i] observations, each of the importance aweights[i]."""
    if fweights is not None and fweights.is_floating_point():
        raise RuntimeError('cov(): expected fweights to have integral dtype but got fweights with '
                           f'{str(fweights.dtype)[len("torch."):].capitalize()} dtype')
    if aweights is not None and not aweights.is_floating_point():
        raise RuntimeError('cov(): expected aweights to have floating point dtype but got aweights with '
                           f'{str(aweights.dtype)[len("torch."):].capitalize()} dtype')
    weights = fweights if aweights is None else aweights if fweights is None else fweights * aweights
    weights = weights.to(rows.dtype)
    total = weights.sum()
    centred = rows - ((rows * weights).sum(1) / total).unsqueeze(1)
    lost = correction if aweights is None else correction * (weights * aweights).sum() / total
    return (centred.mm((centred * weights).t().conj()) / (total - lost).clamp(min=0)).squeeze()


@both
def cov(input, *, correction=1, fweights=None, aweights=None):
    rows = input if input.dim() == 2 else input.view(1, -1)
    if fweights is not None or aweights is not None:
        return _weighted_cov(rows, correction, fweights, aweights)
    n = rows.size(1)
    centred = rows - (rows.sum(1) / _C.tensor(n, dtype=rows.dtype)).unsqueeze(1)
    return (centred.mm(centred.t().conj()) / _C.tensor(max(n - correction, 0), dtype=rows.dtype)).squeeze()


@both
def corrcoef(input):
    c = cov(input)
    if c.dim() == 0:
        return c / c
    d = (c.real if c.is_complex() else c).diagonal().sqrt()
    c = c / d.view(-1, 1) / d.view(1, -1)
    return _C.complex(c.real.clip(-1.0, 1.0), c.imag.clip(-1.0, 1.0)) if c.is_complex() else c.clip(-1.0, 1.0)

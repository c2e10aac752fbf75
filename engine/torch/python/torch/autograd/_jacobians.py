# SPDX-License-Identifier: LGPL-2.1-or-later
"""Jacobians for gradcheck: of finite differences, of backward passes, and of forward mode. Each is a list of rows, one for
each element of an input, with a number for each element of the output."""
import warnings

from torch import _C
from torch._C import Tensor
from torch.autograd import enable_grad, grad

__all__ = ['analytical', 'as_tuple', 'differentiable', 'forward_mode', 'get_analytical_jacobian', 'get_numerical_jacobian',
           'numerical']


def as_tuple(value):
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


def differentiable(values):
    """The tensors among them that require grad."""
    return [v for v in as_tuple(values) if isinstance(v, Tensor) and v.requires_grad]


def numbers(tensor):
    """The elements, row by row."""
    dense = tensor.to_dense() if tensor.is_sparse else tensor
    return dense.detach().reshape(-1).tolist()


def _check_like(first, other, index):
    """The function must return the same kind of output wherever it is computed."""
    for what, a, b in (('shape', first.shape, other.shape), ('dtype', first.dtype, other.dtype)):
        if a != b:
            raise AssertionError(f'Expected `func` to return outputs with the same {what} when inputs are perturbed on '
                                 f'index {index} , but got:\n {a} and {b} ')


def _elements(tensor):
    """The places of a tensor's elements: of a sparse tensor, those of its values."""
    return tensor._values().data if tensor.is_sparse else tensor.data


def _places(shape):
    """The index of each element, row by row."""
    places = [()]
    for size in shape:
        places = [(*place, i) for place in places for i in range(size)]
    return places


def _differences(outputs_at, before, step, index):
    """For each output its change for each unit of the change of one element."""
    high, low = outputs_at(before + step), outputs_at(before - step)
    for a, b in zip(high, low):
        _check_like(a, b, index)
    return [[(x - y) / (2 * abs(step)) for x, y in zip(numbers(a), numbers(b))] for a, b in zip(high, low)]


def _wirtinger(real, imaginary):
    """The gradient of real outputs by a complex element, as backward gives it."""
    return [[x + 1j * y for x, y in zip(a, b)] for a, b in zip(real, imaginary)]


def numerical(func, inputs, tensor, eps):
    """[output][element of tensor][element of output], by changing each element."""
    elements, columns = _elements(tensor), []

    def outputs():
        return [o.detach().clone() for o in as_tuple(func(*inputs)) if isinstance(o, Tensor)]
    n_outputs = len(outputs())
    for place in _places(elements.shape):
        before = elements[place].item()

        def outputs_at(value):
            elements[place] = value
            found = outputs()
            elements[place] = before
            return found
        now = _differences(outputs_at, before, eps, place)
        if isinstance(before, complex):
            now = _wirtinger(now, _differences(outputs_at, before, eps * 1j, place))
        columns.append(now)
    return [[column[k] for column in columns] for k in range(n_outputs)]


def _unit(like, place, dtype=None):
    unit = _C.zeros_like(like, dtype=dtype or like.dtype)
    unit[place] = 1
    return unit


def analytical(output, inputs):
    """(for each input the rows, or None if it is unrelated; whether all gradients have their inputs' sizes and dtypes)"""
    columns, sizes, kinds = [[] for _ in inputs], True, True
    for place in _places(output.shape):
        found = grad(output, inputs, _unit(output, place), retain_graph=True, allow_unused=True)
        for column, gradient, tensor in zip(columns, found, inputs):
            if gradient is None:
                column.append([0] * tensor.numel())
                continue
            sizes, kinds = sizes and gradient.shape == tensor.shape, kinds and gradient.dtype == tensor.dtype
            column.append(numbers(gradient))
    turned = [[list(row) for row in zip(*column)] or [[] for _ in range(i.numel())] for column, i in zip(columns, inputs)]
    return turned, sizes, kinds


def forward_mode(func, inputs, tensor):
    """[output][element of tensor][element of output], by forward mode. None of the inputs requires grad there."""
    from torch.autograd import forward_ad
    rows = []
    for place in _places(tensor.shape):
        for unit in (1, 1j) if tensor.is_complex() else (1,):
            with forward_ad.dual_level():
                given = [i if not isinstance(i, Tensor) else i.detach() if not i.requires_grad
                         else forward_ad.make_dual(i.detach(), _unit(i, place) * unit if i is tensor else _C.zeros_like(i))
                         for i in inputs]
                outputs = [o for o in as_tuple(func(*given)) if isinstance(o, Tensor)]
                tangents = [forward_ad.unpack_dual(o)[1] for o in outputs]
                rows.append([[0] * o.numel() if t is None else numbers(t) for o, t in zip(outputs, tangents)])
    if tensor.is_complex():
        rows = [_wirtinger(a, b) for a, b in zip(rows[::2], rows[1::2])]
    return [[row[k] for row in rows] for k in range(len(rows[0]) if rows else 0)]


_PRIVATE = ("`get_{}_jacobian` was part of PyTorch's private API and not meant to be exposed. We are deprecating it and it "
            'will be removed in a future version of PyTorch. If you have a specific use for this or feature request for '
            'this to be a stable API, please file us an issue at https://github.com/pytorch/pytorch/issues/new')


def _warn_private(kind, grad_out):
    warnings.warn(_PRIVATE.format(kind), FutureWarning, stacklevel=3)
    if grad_out != 1.0:
        raise ValueError(f'Expected grad_out to be 1.0. get_{kind}_jacobian no longer supports values of grad_out != 1.0.')


def get_numerical_jacobian(fn, inputs, target=None, eps=1e-3, grad_out=1.0):
    """The Jacobians of the first output, which is fn(inputs), by the inputs that require grad, or by those in target."""
    _warn_private('numerical', grad_out)
    wanted = differentiable(inputs if target is None else target)
    return tuple(_C.tensor(numerical(lambda *given: fn(given), inputs, tensor, eps)[0], dtype=tensor.dtype)
                 for tensor in wanted)


@enable_grad()
def get_analytical_jacobian(inputs, output, nondet_tol=0.0, grad_out=1.0):
    """(the Jacobians, whether a second pass gives the same, whether sizes are right, whether dtypes are)"""
    _warn_private('analytical', grad_out)
    wanted = differentiable(inputs)
    rows, sizes, kinds = analytical(output, wanted)
    again = analytical(output, wanted)[0]
    reentrant = all(abs(x - y) <= nondet_tol for a, b in zip(rows, again) for p, q in zip(a, b) for x, y in zip(p, q))
    return tuple(_C.tensor(a, dtype=i.dtype) for a, i in zip(rows, wanted)), reentrant, sizes, kinds

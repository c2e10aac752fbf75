# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compares gradients with finite differences."""
import warnings

from tapedeck import _C
from tapedeck._C import Tensor
from tapedeck.autograd import enable_grad, grad, no_grad

__all__ = ['GradcheckError', 'gradcheck', 'gradgradcheck']


class GradcheckError(RuntimeError):
    """A gradient is wrong."""


def _tuple(value):
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


def _differentiable(values):
    return [v for v in _tuple(values) if isinstance(v, Tensor) and v.requires_grad]


def _check_inputs(inputs):
    wanted = _differentiable(inputs)
    if not wanted:
        raise ValueError('gradcheck expects at least one input tensor to require gradient, but none of them have '
                         'requires_grad=True.')
    for i, value in enumerate(inputs):
        if isinstance(value, Tensor) and value.requires_grad and value.dtype != _C.float64:
            warnings.warn(f'Input #{i} requires gradient and is not a double precision floating point or complex. This '
                          'check will likely fail if all the inputs are not of double precision floating point or '
                          'complex. ')
    return wanted


def _numerical(func, inputs, tensor, n_outputs, eps):
    """[output][element of tensor]: the change of each output with that element."""
    elements, columns = tensor.data.view(-1), []

    def outputs_at(i, value):
        elements[i] = value
        return [o.detach().clone() for o in _tuple(func(*inputs)) if isinstance(o, Tensor)][:n_outputs]
    with no_grad():
        for i in range(elements.numel()):
            before = elements[i].item()
            high, low = outputs_at(i, before + eps), outputs_at(i, before - eps)
            elements[i] = before
            columns.append([((h - l) / (2 * eps)).reshape(-1).tolist() for h, l in zip(high, low)])
    return [[column[k] for column in columns] for k in range(n_outputs)]


def _analytical(output, tensor):
    """[element of tensor][element of output]"""
    rows = []
    for i in range(output.numel()):
        unit = _C.zeros_like(output)
        unit.view(-1)[i] = 1
        found, = grad(output, [tensor], unit, retain_graph=True, allow_unused=True)
        rows.append([0.] * tensor.numel() if found is None else found.reshape(-1).tolist())
    return [list(column) for column in zip(*rows)] if rows else [[] for _ in range(tensor.numel())]


def _shown(rows):
    return _C.tensor(rows, dtype=_C.float64)


def _close(a, b, atol, rtol):
    return all(abs(x - y) <= atol + rtol * abs(y) for row, other in zip(a, b) for x, y in zip(row, other))


def _check(func, inputs, eps, atol, rtol):
    wanted = _check_inputs(inputs)
    outputs = [o for o in _tuple(func(*inputs)) if isinstance(o, Tensor)]
    for i, tensor in enumerate(wanted):
        if not tensor.is_contiguous():
            raise NotImplementedError(f'gradcheck: input {i} is not contiguous')
        numerical = _numerical(func, inputs, tensor, len(outputs), eps)
        for k, output in enumerate(outputs):
            if not output.requires_grad:
                continue
            analytical = _analytical(output, tensor)
            if not _close(analytical, numerical[k], atol, rtol):
                raise GradcheckError(f'Jacobian mismatch for output {k} with respect to input {i},\n'
                                     f'numerical:{_shown(numerical[k])}\nanalytical:{_shown(analytical)}\n')


def gradcheck(func, inputs, eps=1e-6, atol=1e-5, rtol=1e-3, raise_exception=True):
    """Compares the gradients of func, by the inputs that require one, with finite differences of step eps. Returns
    True if they agree; if not, raises GradcheckError or returns False."""
    try:
        _check(func, _tuple(inputs), eps, atol, rtol)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def gradgradcheck(func, inputs, grad_outputs=None, eps=1e-6, atol=1e-5, rtol=1e-3, raise_exception=True):
    """gradcheck of the gradients themselves, by the inputs and by the gradients of the outputs. Without grad_outputs
    these are random."""
    inputs = _tuple(inputs)
    if grad_outputs is None:
        outputs = _differentiable(func(*inputs))
        grad_outputs = [_C.randn_like(o).detach().requires_grad_() for o in outputs]
    grad_outputs = _tuple(grad_outputs)
    n = len(grad_outputs)

    @enable_grad()  # gradcheck computes differences without grad mode
    def gradients(*args):
        given, vectors = args[:-n], args[-n:]
        found = grad(_differentiable(func(*given)), _differentiable(given), vectors, create_graph=True, allow_unused=True)
        return tuple(g for g in found if g is not None)
    return gradcheck(gradients, inputs + grad_outputs, eps, atol, rtol, raise_exception)

# SPDX-License-Identifier: LGPL-2.1-or-later
"""Jacobians, Hessians, and their products with vectors, of functions of one tensor or several.

If an argument or the function's result is a single tensor, its part of the answer is one too; a tuple gives a tuple.
With create_graph=True results can be differentiated again. strict=True refuses inputs that an output does not depend
on. Otherwise their part is zero.
"""
from torch import _C
from torch.autograd import enable_grad, forward_ad, grad
from torch.autograd._functional_checks import as_tuple, check_vector, fill, want_grad

__all__ = ['hessian', 'hvp', 'jacobian', 'jvp', 'vhp', 'vjp']

_OUTPUTS = 'outputs of the user-provided function'


def _fresh(tensors, create_graph):
    """The tensors as inputs of a graph of their own. It hangs on their graph only if the caller wants that."""
    return tuple(t.view(t.shape) if create_graph and t.requires_grad else t.detach().requires_grad_() for t in tensors)


def _finish(values, was_tuple, create_graph):
    values = tuple(values if create_graph else (v.detach() for v in values))
    return values if was_tuple else values[0]


def _vector_for_inputs(v, inputs, is_tuple, name):
    if v is None:
        if len(inputs) != 1 or inputs[0].numel() != 1:
            raise RuntimeError('The vector v can only be None if the input to the user-provided function is a single Tensor '
                               'with a single element.')
        return (_C.ones_like(inputs[0]),)
    v, _ = as_tuple(v, 'v', name)
    check_vector(v, inputs, is_tuple)
    return v


def _vector_for_outputs(v, outputs, is_tuple, name):
    if v is None:
        if len(outputs) != 1 or outputs[0].numel() != 1:
            raise RuntimeError('The vector v can only be None if the user-provided function returns a single Tensor with a '
                               'single element.')
        return (_C.ones_like(outputs[0]),)
    v, _ = as_tuple(v, 'v', name)
    check_vector(v, outputs, is_tuple)
    return v


def _grad(outputs, inputs, vectors, create_graph, keep=False):
    """The gradients of the inputs, None for inputs without a path."""
    pairs = [(o, v) for o, v in zip(outputs, vectors) if o is not None and o.requires_grad]
    if not pairs:
        return (None,) * len(inputs)
    return grad([o for o, _ in pairs], inputs, [v for _, v in pairs], allow_unused=True, create_graph=create_graph,
                retain_graph=create_graph or keep)


@enable_grad()
def vjp(func, inputs, v=None, create_graph=False, strict=False):
    """(func(*inputs), v times its Jacobian)"""
    inputs, inputs_tuple = as_tuple(inputs, 'inputs', 'vjp')
    inputs = _fresh(inputs, create_graph)
    outputs, outputs_tuple = as_tuple(func(*inputs), _OUTPUTS, 'vjp')
    want_grad(outputs, 'outputs', strict)
    v = _vector_for_outputs(v, outputs, outputs_tuple, 'vjp')
    products = fill(_grad(outputs, inputs, v, create_graph), inputs, strict, create_graph, 'back')
    return _finish(outputs, outputs_tuple, create_graph), _finish(products, inputs_tuple, create_graph)


@enable_grad()
def jvp(func, inputs, v=None, create_graph=False, strict=False):
    """(func(*inputs), its Jacobian times v). This takes two passes: vjp is linear in its vector, and the second pass
    differentiates by that vector."""
    inputs, inputs_tuple = as_tuple(inputs, 'inputs', 'jvp')
    v = _vector_for_inputs(v, inputs, inputs_tuple, 'jvp')
    inputs = _fresh(inputs, create_graph)
    outputs, outputs_tuple = as_tuple(func(*inputs), _OUTPUTS, 'jvp')
    want_grad(outputs, 'outputs', strict)
    dummies = tuple(_C.zeros_like(o).requires_grad_() for o in outputs)
    pulled = _grad(outputs, inputs, dummies, True)
    want_grad(pulled, 'grad_inputs', strict)
    products = fill(_grad(pulled, dummies, v, create_graph), outputs, strict, create_graph, 'back_trick')
    return _finish(outputs, outputs_tuple, create_graph), _finish(products, outputs_tuple, create_graph)


def _construct_standard_basis_for(tensors, tensor_numels):
    """For each tensor a matrix with its part of each unit vector of all elements of all tensors."""
    total, first, basis = sum(tensor_numels), 0, []
    for tensor, n in zip(tensors, tensor_numels):
        part = _C.zeros((total, n), dtype=tensor.dtype, device=tensor.device)
        for i in range(n):
            part[first + i, i] = 1
        basis.append(part)
        first += n
    return tuple(basis)


def _unit(like, i):
    unit = _C.zeros_like(like)
    unit.view(-1)[i] = 1
    return unit


def _row(output, i, j, inputs, create_graph, strict):
    """The gradients of element j of output number i."""
    found = _grad([output], inputs, [_unit(output, j)], create_graph, keep=True)
    for k, gradient in enumerate(found if strict else ()):
        if gradient is None:
            raise RuntimeError(f'Output {i} of the user-provided function is independent of input {k}. This is not allowed in '
                               'strict mode.')
        if create_graph and not gradient.requires_grad:
            raise RuntimeError(f'The jacobian of the user-provided function is independent of input {i}. This is not allowed '
                               'in strict mode when create_graph=True.')
    return fill(found, inputs, False, create_graph, 'back')


def _rows(output, i, inputs, create_graph, strict):
    """For each input the gradients of every element of an output, stacked."""
    rows = [_row(output, i, j, inputs, create_graph, strict) for j in range(output.numel())]
    if not rows:
        return tuple(_C.zeros((*output.shape, *t.shape), dtype=t.dtype) for t in inputs)
    return tuple(_C.stack(list(column)).reshape((*output.shape, *t.shape)) for column, t in zip(zip(*rows), inputs))


def _forward_column(func, inputs, k, j):
    """(the outputs, whether they are a tuple, their tangents for element j of input k)"""
    with forward_ad.dual_level():
        duals = [forward_ad.make_dual(t.detach(), _unit(t, j)) if i == k else t.detach() for i, t in enumerate(inputs)]
        outputs, is_tuple = as_tuple(func(*duals), 'outputs', 'jacobian')
        tangents = [forward_ad.unpack_dual(o).tangent for o in outputs]
        return outputs, is_tuple, [_C.zeros_like(o) if t is None else t.detach() for o, t in zip(outputs, tangents)]


def _forward_jacobian(func, inputs, strict, vectorize):
    """The Jacobian column by column."""
    if strict:
        raise RuntimeError('torch.autograd.functional.jacobian: `strict=True` and `strategy="forward-mode"` are not supported '
                           'together (yet). Please either set `strict=False` or `strategy="reverse-mode"`.')
    if not vectorize:
        raise NotImplementedError('Computing Jacobian using forward-AD or forward-over-reverse Hessian isonly implemented for '
                                  '`vectorize=True`.')
    inputs, inputs_tuple = as_tuple(inputs, 'inputs', 'jacobian')
    by_input, outputs_tuple = [], False
    for k, tensor in enumerate(inputs):
        columns = [_forward_column(func, inputs, k, j) for j in range(tensor.numel())]
        outputs, outputs_tuple, _ = columns[0]
        by_input.append([_C.stack([tangents[i] for _, _, tangents in columns], -1).reshape((*o.shape, *tensor.shape))
                         for i, o in enumerate(outputs)])
    by_output = [_finish(row, inputs_tuple, True) for row in zip(*by_input)]
    return tuple(by_output) if outputs_tuple else by_output[0]


@enable_grad()
def jacobian(func, inputs, create_graph=False, strict=False, vectorize=False, strategy='reverse-mode'):
    """The Jacobian: for each output and each input a tensor of both their sizes. Always row by row, or column by column in
    forward mode."""
    if strategy not in ('forward-mode', 'reverse-mode'):
        raise AssertionError('Expected strategy to be either "forward-mode" or "reverse-mode". Hint: If your function has more '
                             'outputs than inputs, "forward-mode" tends to be more performant. Otherwise, prefer to use '
                             '"reverse-mode".')
    if strategy == 'forward-mode':
        if create_graph:
            raise NotImplementedError('torch.autograd.functional.jacobian: `create_graph=True` and `strategy="forward-mode"` '
                                      'are not supported together (yet). Please either set `create_graph=False` or '
                                      '`strategy="reverse-mode"`.')
        return _forward_jacobian(func, inputs, strict, vectorize)
    inputs, inputs_tuple = as_tuple(inputs, 'inputs', 'jacobian')
    inputs = _fresh(inputs, create_graph)
    outputs, outputs_tuple = as_tuple(func(*inputs), _OUTPUTS, 'jacobian')
    want_grad(outputs, 'outputs', strict)
    if strict and vectorize:
        raise RuntimeError('torch.autograd.functional.jacobian: `strict=True` and `vectorized=True` are not supported together. '
                           'Please either set `strict=False` or `vectorize=False`.')
    rows = [_finish(_rows(o, i, inputs, create_graph, strict), inputs_tuple, create_graph) for i, o in enumerate(outputs)]
    return tuple(rows) if outputs_tuple else rows[0]


def _single(output, name, strict):
    """The function's only output, which must have one element."""
    outputs, is_tuple = as_tuple(output, _OUTPUTS, name)
    want_grad(outputs, 'outputs', strict)
    if is_tuple:
        raise RuntimeError(f'The function given to {name} should return a single Tensor')
    if output.numel() != 1:
        raise RuntimeError(f'The Tensor returned by the function given to {name} should contain a single element')
    return output.squeeze()


def hessian(func, inputs, create_graph=False, strict=False, vectorize=False, outer_jacobian_strategy='reverse-mode'):
    """The Hessian of a function with one element: for each two inputs a tensor of both their sizes."""
    _, inputs_tuple = as_tuple(inputs, 'inputs', 'hessian')
    if outer_jacobian_strategy not in ('forward-mode', 'reverse-mode'):
        raise AssertionError('Expected strategy to be either "forward-mode" or "reverse-mode".')

    def gradient(*inner):
        if outer_jacobian_strategy == 'forward-mode':
            inner = tuple(t.view_as(t) if t.requires_grad else t.detach().requires_grad_() for t in inner)
        found = jacobian(lambda *given: _single(func(*given), 'hessian', strict), inner, create_graph=True)
        want_grad(found, 'jacobian', strict)
        return found if inputs_tuple else found[0]
    return jacobian(gradient, inputs, create_graph, strict, vectorize, outer_jacobian_strategy)


def _gradient_for(func, inputs, v, name, create_graph, strict):
    """(inputs, whether they are a tuple, v, output, gradients)"""
    inputs, inputs_tuple = as_tuple(inputs, 'inputs', name)
    v = _vector_for_inputs(v, inputs, inputs_tuple, name)
    inputs = _fresh(inputs, create_graph)
    output = func(*inputs)
    scalar = _single(output, name, strict)
    gradients = _grad([scalar], inputs, [_C.ones_like(scalar)], True)
    want_grad(gradients, 'jacobian', strict)
    return inputs, inputs_tuple, v, output, gradients


@enable_grad()
def vhp(func, inputs, v=None, create_graph=False, strict=False):
    """(func(*inputs), v times its Hessian)"""
    inputs, inputs_tuple, v, output, gradients = _gradient_for(func, inputs, v, 'vhp', create_graph, strict)
    products = fill(_grad(gradients, inputs, v, create_graph), inputs, strict, create_graph, 'double_back')
    return _finish([output], False, create_graph), _finish(products, inputs_tuple, create_graph)


@enable_grad()
def hvp(func, inputs, v=None, create_graph=False, strict=False):
    """(func(*inputs), its Hessian times v)"""
    inputs, inputs_tuple, v, output, gradients = _gradient_for(func, inputs, v, 'hvp', create_graph, strict)
    dummies = tuple(_C.zeros_like(i).requires_grad_() for i in inputs)
    pulled = _grad(gradients, inputs, dummies, True)
    want_grad(pulled, 'hessian', strict)
    products = fill(_grad(pulled, dummies, v, create_graph), inputs, strict, create_graph, 'double_back_trick')
    return _finish([output], False, create_graph), _finish(products, inputs_tuple, create_graph)

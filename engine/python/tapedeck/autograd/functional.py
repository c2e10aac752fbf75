# SPDX-License-Identifier: LGPL-2.1-or-later
"""Jacobians, Hessians, and their products with vectors, of functions of one tensor or several.

If an argument or the function's result is a single tensor, its part of the answer is one too; a tuple gives a tuple.
With create_graph=True results can be differentiated again. strict=True refuses inputs that an output does not depend
on. Otherwise their part is zero.
"""
from tapedeck import _C
from tapedeck._C import Tensor
from tapedeck.autograd import enable_grad, grad

__all__ = ['hessian', 'hvp', 'jacobian', 'jvp', 'vhp', 'vjp']


def _as_tuple(value, what, function):
    """(a tuple, whether it was one)"""
    values = value if isinstance(value, tuple) else (value,)
    for i, one in enumerate(values):
        if not isinstance(one, Tensor):
            where = f'value at index {i}' if isinstance(value, tuple) else f'given {what}'
            raise TypeError(f'The {what} given to {function} must be either a Tensor or a tuple of Tensors but the '
                            f'{where} has type {type(one)}.')
    return values, isinstance(value, tuple)


def _fresh(tensors, create_graph):
    """The tensors as inputs of a graph of their own. It hangs on their graph only if the caller wants that."""
    return tuple(t.view(t.shape) if create_graph and t.requires_grad else t.detach().requires_grad_() for t in tensors)


def _finish(values, was_tuple, create_graph):
    values = tuple(values if create_graph else (v.detach() for v in values))
    return values if was_tuple else values[0]


def _call(function, inputs, name, create_graph):
    """(inputs, whether they are a tuple, outputs, whether they are)"""
    inputs, inputs_tuple = _as_tuple(inputs, 'inputs', name)
    inputs = _fresh(inputs, create_graph)
    outputs, outputs_tuple = _as_tuple(function(*inputs), 'outputs of the user-provided function', name)
    return inputs, inputs_tuple, outputs, outputs_tuple


def _vector(v, like, what, name):
    """v as a tuple like `like`. None means one, if there is a single element."""
    if v is None:
        if len(like) != 1 or like[0].numel() != 1:
            raise RuntimeError(f'The vector v can only be None if the user-provided function {what} a single Tensor with '
                               'a single element.')
        return (_C.ones_like(like[0]),)
    v, _ = _as_tuple(v, 'v', name)
    if len(v) != len(like) and len(like) == 1:
        raise RuntimeError('The given v should contain a single Tensor.')
    if len(v) != len(like):
        raise RuntimeError(f'v is a tuple of invalid length: should be {len(like)} but got {len(v)}.')
    for i, (a, b) in enumerate(zip(v, like)):
        if a.shape != b.shape:
            entry = f'Entry {i} in ' if len(like) > 1 else ''
            raise RuntimeError(f'{entry}v has invalid size: should be {b.shape} but got {a.shape}.')
    return v


def _grad(outputs, inputs, vectors, create_graph, strict, keep=False):
    """The gradients of the inputs; zeros for inputs without a path."""
    pairs = [(o, v) for o, v in zip(outputs, vectors) if o.requires_grad]
    if strict and len(pairs) < len(outputs):
        raise RuntimeError('An output of the user-provided function does not require gradients. The outputs must be '
                           'computed in a differentiable manner from the input when running in strict mode.')
    found = [None] * len(inputs)
    if pairs:
        found = grad([o for o, _ in pairs], inputs, [v for _, v in pairs], allow_unused=True, create_graph=create_graph,
                     retain_graph=create_graph or keep)
    if strict and None in found:
        raise RuntimeError(f'The output of the user-provided function is independent of input {found.index(None)}. This '
                           'is not allowed in strict mode.')
    return tuple(_C.zeros_like(i) if g is None else g for g, i in zip(found, inputs))


@enable_grad()
def vjp(func, inputs, v=None, create_graph=False, strict=False):
    """(func(*inputs), v times its Jacobian)"""
    inputs, inputs_tuple, outputs, outputs_tuple = _call(func, inputs, 'vjp', create_graph)
    v = _vector(v, outputs, 'returns', 'vjp')
    products = _grad(outputs, inputs, v, create_graph, strict)
    return _finish(outputs, outputs_tuple, create_graph), _finish(products, inputs_tuple, create_graph)


@enable_grad()
def jvp(func, inputs, v=None, create_graph=False, strict=False):
    """(func(*inputs), its Jacobian times v). This takes two passes: vjp is linear in its vector, and the second pass
    differentiates by that vector."""
    inputs, _, outputs, outputs_tuple = _call(func, inputs, 'jvp', create_graph)
    v = _vector(v, inputs, 'has', 'jvp')
    dummies = tuple(_C.zeros_like(o).requires_grad_() for o in outputs)
    pulled = _grad(outputs, inputs, dummies, True, strict)
    products = _grad(pulled, dummies, v, create_graph, False)
    return _finish(outputs, outputs_tuple, create_graph), _finish(products, outputs_tuple, create_graph)


def _unit(like, i):
    unit = _C.zeros_like(like)
    unit.view(-1)[i] = 1
    return unit


def _rows(output, inputs, create_graph, strict):
    """For each input the gradients of every element of the output, stacked."""
    rows = [_grad([output], inputs, [_unit(output, i)], create_graph, strict, keep=True) for i in range(output.numel())]
    if not rows:
        return tuple(_C.zeros((*output.shape, *i.shape), dtype=i.dtype) for i in inputs)
    return tuple(_C.stack(list(column)).reshape((*output.shape, *i.shape)) for column, i in zip(zip(*rows), inputs))


@enable_grad()
def jacobian(func, inputs, create_graph=False, strict=False, vectorize=False, strategy='reverse-mode'):
    """The Jacobian: for each output and each input a tensor of both their sizes. Always row by row."""
    if strategy != 'reverse-mode':
        raise NotImplementedError('jacobian: there is no forward mode; use strategy="reverse-mode"')
    inputs, inputs_tuple, outputs, outputs_tuple = _call(func, inputs, 'jacobian', create_graph)
    rows = [_finish(_rows(o, inputs, create_graph, strict), inputs_tuple, create_graph) for o in outputs]
    return tuple(rows) if outputs_tuple else rows[0]


def _scalar(func, name):
    """func, which must return one element."""
    def checked(*inputs):
        output = func(*inputs)
        if not isinstance(output, Tensor):
            raise RuntimeError(f'The function given to {name} should return a single Tensor')
        if output.numel() != 1:
            raise RuntimeError(f'The Tensor returned by the function given to {name} should contain a single element')
        return output.squeeze()
    return checked


def hessian(func, inputs, create_graph=False, strict=False, vectorize=False, outer_jacobian_strategy='reverse-mode'):
    """The Hessian of a function with one element: for each two inputs a tensor of both their sizes."""
    func = _scalar(func, 'hessian')

    def gradient(*inner):
        found = _grad([func(*inner)], inner, [_C.ones_like(inner[0].sum())], True, strict)
        return found if isinstance(inputs, tuple) else found[0]
    return jacobian(gradient, inputs, create_graph, False, vectorize, outer_jacobian_strategy)


def _gradient_for(func, inputs, name, create_graph, strict):
    inputs, inputs_tuple, outputs, _ = _call(_scalar(func, name), inputs, name, create_graph)
    gradients = _grad(outputs, inputs, [_C.ones_like(outputs[0])], True, strict)
    return inputs, inputs_tuple, outputs[0], gradients


@enable_grad()
def vhp(func, inputs, v=None, create_graph=False, strict=False):
    """(func(*inputs), v times its Hessian)"""
    inputs, inputs_tuple, output, gradients = _gradient_for(func, inputs, 'vhp', create_graph, strict)
    products = _grad(gradients, inputs, _vector(v, inputs, 'has', 'vhp'), create_graph, False)
    return _finish([output], False, create_graph), _finish(products, inputs_tuple, create_graph)


@enable_grad()
def hvp(func, inputs, v=None, create_graph=False, strict=False):
    """(func(*inputs), its Hessian times v)"""
    inputs, inputs_tuple, output, gradients = _gradient_for(func, inputs, 'hvp', create_graph, strict)
    v = _vector(v, inputs, 'has', 'hvp')
    dummies = tuple(_C.zeros_like(i).requires_grad_() for i in inputs)
    pulled = _grad(gradients, inputs, dummies, True, False)
    products = _grad(pulled, dummies, v, create_graph, False)
    return _finish([output], False, create_graph), _finish(products, inputs_tuple, create_graph)

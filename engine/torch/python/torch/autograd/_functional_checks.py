# SPDX-License-Identifier: LGPL-2.1-or-later
"""What functional refuses, in PyTorch's words."""
from torch import _C
from torch._C import Tensor

__all__ = ['as_tuple', 'check_vector', 'fill', 'want_grad']

_THRICE = ('The hessian of the user-provided function with respect to input {} is independent of the input. This is not '
           'allowed in strict mode. You should ensure that your function is thrice differentiable and that the hessian '
           'depends on the inputs.')
_TWICE = ('While computing the hessian, found that the jacobian of the user-provided function with respect to input {} is '
          'independent of the input. This is not allowed in strict mode. You should ensure that your function is twice '
          'differentiable and that the jacobian depends on the inputs (this would be violated by a linear function for '
          'example).')
# What a value without history means: of outputs, of gradients, of a Jacobian, of a Hessian.
_WITHOUT_HISTORY = {
    'outputs': 'Output {} of the user-provided function does not require gradients. The outputs must be computed in a '
               'differentiable manner from the input when running in strict mode.',
    'grad_inputs': 'The gradient with respect to input {} is independent of the inputs of the user-provided function. This '
                   'is not allowed in strict mode.',
    'jacobian': _TWICE, 'hessian': _THRICE}
# What a gradient that did not come means, at each stage.
_MISSING = {
    'back': 'The output of the user-provided function is independent of input {}. This is not allowed in strict mode.',
    'back_trick': 'The gradient with respect to the input is independent of entry {} in the grad_outputs when using the '
                  'double backward trick to compute forward mode gradients. This is not allowed in strict mode.',
    'double_back': 'The jacobian of the user-provided function is independent of input {}. This is not allowed in strict mode.',
    'double_back_trick': 'The hessian of the user-provided function is independent of entry {} in the grad_jacobian. This is '
                         'not allowed in strict mode as it prevents from using the double backward trick to replace forward '
                         'mode AD.'}


def as_tuple(value, what, function):
    """(a tuple, whether it was one)"""
    values = value if isinstance(value, tuple) else (value,)
    for i, one in enumerate(values):
        if not isinstance(one, Tensor):
            where = f'value at index {i}' if isinstance(value, tuple) else f'given {what}'
            raise TypeError(f'The {what} given to {function} must be either a Tensor or a tuple of Tensors but the '
                            f'{where} has type {type(one)}.')
    return values, isinstance(value, tuple)


def want_grad(values, kind, strict):
    """In strict mode each value must be there, and have a history."""
    for i, value in enumerate(values if strict else ()):
        if value is None:
            raise RuntimeError(_MISSING['back'].format(i))
        if not value.requires_grad:
            raise RuntimeError(_WITHOUT_HISTORY[kind].format(i))


def fill(gradients, like, strict, create_graph, stage):
    """The gradients, zeros for those that did not come."""
    for i, gradient in enumerate(gradients if strict else ()):
        if gradient is None:
            raise RuntimeError(_MISSING[stage].format(i))
        if create_graph and not gradient.requires_grad:
            what = 'hessian' if 'double' in stage else 'jacobian'
            raise RuntimeError(f'The {what} of the user-provided function is independent of input {i}. This is not allowed in '
                               'strict mode when create_graph=True.')
    return tuple(_C.zeros_like(tensor) if gradient is None else gradient for gradient, tensor in zip(gradients, like))


def check_vector(v, like, is_tuple):
    """v has the sizes of `like`."""
    if is_tuple and len(v) != len(like):
        raise RuntimeError(f'v is a tuple of invalid length: should be {len(like)} but got {len(v)}.')
    if not is_tuple and len(v) != 1:
        raise RuntimeError('The given v should contain a single Tensor.')
    for i, (a, b) in enumerate(zip(v, like)):
        if a.shape != b.shape:
            entry = f'Entry {i} in ' if is_tuple else ''
            raise RuntimeError(f'{entry}v has invalid size: should be {b.shape} but got {a.shape}.')

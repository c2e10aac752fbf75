# SPDX-License-Identifier: LGPL-2.1-or-later
"""Custom functions: subclasses of Function with static methods forward and backward."""
import functools
import inspect
import warnings

import torch
from torch import _C, _functions
from torch.autograd import forward_ad
from torch.autograd._function_jvp import apply_dual
from torch.autograd.grad_mode import no_grad
from torch.autograd._node import Node

__all__ = ['BackwardCFunction', 'Function', 'FunctionCtx', 'FunctionMeta', 'InplaceFunction', 'once_differentiable']


class FunctionCtx:
    """The methods by which forward leaves notes for backward and the engine."""

    def save_for_backward(self, *tensors):
        """Keeps tensors for backward, where they are saved_tensors."""
        self.to_save = tensors

    def save_for_forward(self, *tensors):
        """Keeps tensors for jvp, where they are saved_tensors."""
        self.saved_for_forward = tensors

    def mark_dirty(self, *args):
        """Inputs that forward changed in place, and returns."""
        self.dirty_tensors = args

    def mark_non_differentiable(self, *args):
        """Outputs that get no history."""
        self.non_differentiable = args

    @property
    def input_grad_buffers(self):
        """While backward runs: for each argument of forward the gradient that has come to it so far, or None. backward
        may add to that in place, and return None there."""
        return self._input_grad_buffers

    def set_output_grad_dtype(self, *dtypes):
        """The dtype in which backward gets each gradient: of forward's output, if nothing is said. None: as it comes."""
        if self.output_grad_dtypes is not None:
            raise RuntimeError('set_output_grad_dtype can only be called once')
        self.output_grad_dtypes = dtypes

    def set_materialize_grads(self, value):
        """Sets whether backward gets zeros in place of undefined gradients."""
        self.materialize_grads = value


class BackwardCFunction(_C._FunctionBase, FunctionCtx):
    """The ctx. Its class is made for each Function, and named after it."""

    def apply(self, *args):
        """Runs the class's backward. The engine calls it with the gradients of forward's outputs."""
        if forward_ad.ends_at(self):
            return (None,) * len(self.needs_input_grad)
        kind = self._forward_cls
        own_backward = kind.backward is not _Base.backward
        if own_backward and kind.vjp is not _Base.vjp:
            raise RuntimeError("Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You "
                               'should only implement one of them.')
        return (kind.backward if own_backward else kind.vjp)(self, *args)


Node.register(BackwardCFunction)


class FunctionMeta(type):
    def __init__(cls, name, bases, attributes):
        cls._backward_cls = type(name + 'Backward', (BackwardCFunction,), {'_forward_cls': cls, '__module__': __name__})
        super().__init__(name, bases, attributes)

    @property
    def _own_setup_context(cls):
        """The class's setup_context, or None if forward takes the ctx."""
        return None if cls.setup_context is _Base.setup_context else cls.setup_context


class _Base(_C._FunctionBase, FunctionCtx, metaclass=FunctionMeta):
    """What a subclass may replace."""
    generate_vmap_rule = False

    @staticmethod
    def forward(*args, **kwargs):
        raise NotImplementedError('You must implement the forward function for custom autograd.Function.')

    @staticmethod
    def setup_context(ctx, inputs, output):
        raise NotImplementedError('setup_context is not implemented.')

    @staticmethod
    def backward(ctx, *grad_outputs):
        raise NotImplementedError('You must implement either the backward or vjp method for your custom '
                                  'autograd.Function to use it with backward mode AD.')

    vjp = backward

    @staticmethod
    def jvp(ctx, *grad_inputs):
        raise NotImplementedError('You must implement the jvp function for custom autograd.Function to use it with '
                                  'forward mode AD.')

    @staticmethod
    def vmap(info, in_dims, *args):
        raise NotImplementedError('To use autograd.Function with vmap, you must either override the vmap staticmethod '
                                  'or set generate_vmap_rule=True.')


def _by_position(forward, args, kwargs):
    """The arguments in the order of forward's parameters after ctx. Those with a default do not get it."""
    if not _C.policy('gradient_edges'):
        raise TypeError('apply() takes no keyword arguments')
    names = forward.__code__.co_varnames[1:forward.__code__.co_argcount]
    for name in kwargs:
        if name in names[:len(args)]:
            raise TypeError(f"forward() got multiple values for argument '{name}'")
        if name not in names:
            raise TypeError(f"forward() got an unexpected keyword argument '{name}'")
    last = max(map(names.index, kwargs))
    for i, name in enumerate(names[:last]):
        if i >= len(args) and name not in kwargs:
            raise TypeError(f"forward() missing required argument: '{name}' (position {i})")
    return *args, *(kwargs[name] for name in names[len(args):last + 1])


class Function(_Base):
    """Base class of custom _functions. A subclass has static methods forward(ctx, ...) and backward(ctx, ...), or
    forward(...), setup_context(ctx, inputs, output) and backward."""

    def __init__(self, *args, **kwargs):
        warnings.warn(f'{self.__class__} should not be instantiated. Methods on autograd functions are all static, so '
                      'you should invoke them on the class itself. Instantiating an autograd function will raise an '
                      'error in a future version of PyTorch.', DeprecationWarning, stacklevel=2)

    def __call__(self, *args, **kwargs):
        raise RuntimeError('Legacy autograd function with non-static forward method is deprecated. Please use '
                           'new-style autograd function with static forward method. (Example: '
                           'https://pytorch.org/docs/stable/autograd.html#torch.autograd.Function)')

    @classmethod
    def apply(cls, *args, **kwargs):
        """Runs forward and remembers how to go back."""
        if cls._own_setup_context:
            bound = inspect.signature(cls.forward).bind(*args, **kwargs)
            bound.apply_defaults()
            args, kwargs = bound.args, {}
        if kwargs:
            args = _by_position(cls.forward, args, kwargs)
        if any(map(forward_ad.has_tangent, args)):
            return apply_dual(cls, args, lambda: super(Function, cls).apply(*args))
        return super().apply(*args)


class InplaceFunction(Function):
    """For functions that can work in place or not."""

    def __init__(self, inplace=False):
        super().__init__()
        self.inplace = inplace


def once_differentiable(function):
    """Makes of a backward one that cannot be differentiated, and says so where that is tried."""
    @functools.wraps(function)
    def wrapper(ctx, *args):
        with no_grad():
            outputs = function(ctx, *args)
        wanted = torch.is_grad_enabled() and any(isinstance(a, torch.Tensor) and a.requires_grad for a in args)
        if not wanted:
            return outputs
        outputs = outputs if isinstance(outputs, tuple) else (outputs,)
        error = _functions.DelayedError(
            'trying to differentiate twice a function that was marked with @once_differentiable', len(outputs))
        return error(*[o if o is None else o.detach().requires_grad_() for o in outputs])
    return wrapper

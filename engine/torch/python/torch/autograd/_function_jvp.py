# SPDX-License-Identifier: LGPL-2.1-or-later
"""Custom functions in forward mode: their jvp makes the tangents of what they return."""
from torch import _C
from torch._C import Tensor
from torch.autograd import forward_ad

__all__ = ['apply_dual']


class _JvpContext:
    """The ctx as jvp sees it: its saved tensors are those that were saved for forward mode."""

    def __init__(self, ctx):
        self.__dict__['_ctx'] = ctx

    def __getattr__(self, name):
        return getattr(self._ctx, name)

    def __setattr__(self, name, value):
        setattr(self._ctx, name, value)

    @property
    def saved_tensors(self):
        return getattr(self._ctx, 'saved_for_forward', None) or ()


def _check_in_place(tangent, given, version):
    if given._version == version:
        raise RuntimeError('An inplace custom Function is not modifying the forward mode gradients inplace. If the forward '
                           'is modifying an input inplace, then the jvp function must modify the corresponding gradient '
                           'inplace.')
    if tangent is not given:
        raise RuntimeError('An inplace custom Function is not returning the forward mode gradients as-is. If the forward is '
                           'modifying an input inplace, then the jvp function must modify the gradient inplace and return it '
                           'as-is.')


def _check_view(tangent, given):
    if tangent._base is None:
        raise RuntimeError("A custom Function's forward is returning a view (or an input as-is) but the jvp is not "
                           'returning a view.')
    if given is not None and given._base is not None and tangent._base is not given._base:
        raise RuntimeError('A custom Function is returning a view but the jvp is not returning a view of the same base as '
                           'the given grad input.')
    if given is not None and given._base is None and tangent._base is not given:
        raise RuntimeError('A custom Function is returning a view but the jvp is not returning a view of the given grad '
                           'input.')


def _source(output, args):
    """The number of the argument that the output is a view of, or None."""
    for i, argument in enumerate(args):
        if isinstance(argument, Tensor) and output is not argument and (
                output._base is argument or output._base is not None and output._base is argument._base):
            return i
    return None


def _give(ctx, output, tangent, i_output, args, given, versions):
    """Makes the tangent the output's, if it may be."""
    is_output = isinstance(output, Tensor) and ctx is not None and output.grad_fn is ctx
    if not is_output:
        if tangent is not None:
            raise RuntimeError(f"Function's jvp returned a gradient at position {i_output}, but  the corresponding forward "
                               'output is not a differentiable Tensor.You should return None at that position instead.')
        return
    for argument, gradient, version in zip(args, given, versions):
        if output is argument:
            _check_in_place(tangent, gradient, version)
    if tangent is not None:
        forward_ad.check_shape(output, tangent)
    source = _source(output, args)
    if source is not None and tangent is not None:
        _check_view(tangent, given[source])
    forward_ad.set_root(output, tangent)


def _zeros_for(argument, tangent):
    """jvp gets zeros for a tensor that has no tangent and could have one."""
    could = tangent is None and isinstance(argument, Tensor) and (argument.is_floating_point() or argument.is_complex())
    return _C.zeros_like(argument) if could else tangent


def _tangent_of(argument):
    """What jvp gets for an argument. The tangent of a view is a view."""
    tangent = forward_ad.unpack_dual(argument).tangent if isinstance(argument, Tensor) else None
    if tangent is None or argument._base is None or tangent._base is not None:
        return tangent
    return tangent.view_as(tangent)


def apply_dual(kind, args, apply):
    """What apply() returns, which runs forward, with the tangents that jvp computes."""
    given = [_tangent_of(a) for a in args]
    returned = apply()
    outputs = returned if isinstance(returned, tuple) else (returned,)
    ctx = next((o.grad_fn for o in outputs if isinstance(o, Tensor) and isinstance(o.grad_fn, kind._backward_cls)), None)
    if getattr(ctx, 'materialize_grads', True):
        given = list(map(_zeros_for, args, given))
    versions = [None if g is None else g._version for g in given]
    tangents = kind.jvp(_JvpContext(ctx), *given)
    tangents = tangents if isinstance(tangents, tuple) else (tangents,)
    if len(tangents) != len(outputs):
        raise RuntimeError(f"Function's jvp returned an invalid number of forward gradients (expected {len(outputs)} but got "
                           f'{len(tangents)})')
    for i, (output, tangent) in enumerate(zip(outputs, tangents)):
        _give(ctx, output, tangent, i, args, given, versions)
    return returned

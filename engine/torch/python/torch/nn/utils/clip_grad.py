# SPDX-License-Identifier: LGPL-2.1-or-later
"""Bounds for the gradients of all parameters at once."""
import functools
import inspect
import math
import types
import warnings

from torch import _C
from torch._C import Tensor
from torch.autograd import no_grad


def _list(tensors):
    return [tensors] if isinstance(tensors, Tensor) else list(tensors)


def _without_history(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        with no_grad():
            return function(*args, **kwargs)
    wrapper.__signature__ = inspect.signature(function)
    return wrapper


def _norm(tensor, p):
    if p == math.inf:
        return tensor.abs().max()
    return tensor.abs().min() if p == -math.inf else _C.vector_norm(tensor, p)


@_without_history
def get_total_norm(tensors, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    """The norm of the norms."""
    tensors, p = _list(tensors), float(norm_type)
    if not tensors:
        return _C.tensor(0.0)
    total = _norm(_C.stack([_norm(t, p) for t in tensors]), p)
    if error_if_nonfinite and not math.isfinite(total.item()):
        raise RuntimeError(f'The total norm of order {p} for gradients from `parameters` is non-finite, so it '
                           'cannot be clipped. To disable this error and scale the gradients by the non-finite norm '
                           'anyway, set `error_if_nonfinite=False`')
    return total


@_without_history
def clip_grads_with_norm_(parameters, max_norm, total_norm, foreach=None):
    """Scales all gradients, if total_norm is more than max_norm."""
    scale = (float(max_norm) / (total_norm + 1e-6)).clamp(max=1.0)
    for p in _list(parameters):
        if p.grad is not None:
            p.grad.mul_(scale)


@_without_history
def clip_grad_norm_(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    """Scales all gradients so that the norm of their norms is at most max_norm. Returns the norm before."""
    is_generator, parameters = isinstance(parameters, types.GeneratorType), _list(parameters)
    if is_generator and not parameters:
        warnings.warn('`parameters` is an empty generator, no gradient clipping will occur.', stacklevel=3)
    grads = [p.grad for p in parameters if p.grad is not None]
    total = get_total_norm(grads, norm_type, error_if_nonfinite, foreach)
    clip_grads_with_norm_(parameters, max_norm, total, foreach)
    return total


def clip_grad_norm(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    warnings.warn('`torch.nn.utils.clip_grad_norm` is now deprecated in favor of `torch.nn.utils.clip_grad_norm_`.',
                  FutureWarning, stacklevel=2)
    return clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite, foreach)


@_without_history
def clip_grad_value_(parameters, clip_value, foreach=None):
    for p in _list(parameters):
        if p.grad is not None:
            p.grad.clamp_(min=-float(clip_value), max=float(clip_value))

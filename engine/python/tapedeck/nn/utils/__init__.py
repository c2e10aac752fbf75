# SPDX-License-Identifier: LGPL-2.1-or-later
"""Functions of training loops, for all parameters at once."""
import math

from tapedeck import _C
from tapedeck._C import Tensor
from tapedeck.autograd import no_grad


@no_grad()
def clip_grad_norm_(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False):
    """Scales all gradients so that the norm of their norms is at most max_norm. Returns the norm before."""
    parameters = [parameters] if isinstance(parameters, Tensor) else parameters
    grads = [p.grad for p in parameters if p.grad is not None]
    if not grads:
        return _C.tensor(0.0)
    norms = _C.stack([g.abs().max() if norm_type == math.inf else g.norm(norm_type) for g in grads])
    total = norms.max() if norm_type == math.inf else norms.norm(norm_type)
    if error_if_nonfinite and not math.isfinite(total.item()):
        raise RuntimeError(f'The total norm of order {norm_type} for gradients from `parameters` is non-finite, so it '
                           'cannot be clipped. To disable this error and scale the gradients by the non-finite norm '
                           'anyway, set `error_if_nonfinite=False`')
    scale = (max_norm / (total + 1e-6)).clamp(max=1.0)
    for g in grads:
        g.mul_(scale)
    return total


@no_grad()
def clip_grad_value_(parameters, clip_value):
    for p in [parameters] if isinstance(parameters, Tensor) else parameters:
        if p.grad is not None:
            p.grad.clamp_(min=-clip_value, max=clip_value)


def parameters_to_vector(parameters):
    return _C.cat([p.view(-1) for p in parameters])


@no_grad()
def vector_to_parameters(vec, parameters):
    """Copies consecutive pieces of vec into the parameters."""
    at = 0
    for p in parameters:
        p.copy_(vec[at:at + p.numel()].view(p.shape))
        at += p.numel()

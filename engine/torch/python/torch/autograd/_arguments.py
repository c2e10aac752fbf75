# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks the gradients of outputs that backward and grad get, and makes those that are missing."""
from torch import _C
from torch._C import Tensor
from torch.autograd.graph import GradientEdge


def to_tuple(tensors, length):
    if tensors is None:
        return (None,) * length
    return (tensors,) if isinstance(tensors, Tensor) else tuple(tensors)


def make_grads(outputs, grads, is_batched=False):
    """The gradient of each output. It is the given one, or ones for a single element, or None if the output needs
    none. Drops gradients beyond the outputs."""
    return tuple(_make_grad(output, grad, i, is_batched) for i, (output, grad) in enumerate(zip(outputs, grads)))


def slices(gradients):
    """A list of tuples: the gradients at each place of their common first dimension."""
    for gradient in gradients:
        if gradient.dim() == 0:
            raise ValueError('vmap(vjp, in_dims=0, ...)(<inputs>): Got in_dim=0 for some input, but that input is a '
                             'Tensor of dimensionality 0 so expected in_dim to satisfy 0 <= in_dim < 0.')
    sizes = [gradient.shape[0] for gradient in gradients]
    if len(set(sizes)) > 1:
        raise ValueError('vmap: Expected all tensors to have the same size in the mapped dimension, got sizes '
                         f'{sizes} for the mapped dimension')
    return [tuple(gradient[i] for gradient in gradients) for i in range(sizes[0])]


def _like(output):
    """What has the output's shape, dtype and device."""
    if isinstance(output, GradientEdge):
        return output.node._input_metadata[output.output_nr]
    if not isinstance(output, Tensor):
        raise AssertionError('Expected output to be a torch.Tensor')
    return output


def _make_grad(output, grad, i, is_batched):
    like = _like(output)
    if grad is None:
        return _ones(like, isinstance(output, GradientEdge) or output.requires_grad)
    if not isinstance(grad, Tensor):
        raise TypeError(f'gradients can be either Tensors or None, but got {type(grad).__name__}')
    first = grad[0] if is_batched else grad
    if first.shape != like.shape:
        raise RuntimeError((_BATCHED if is_batched else _SINGLE).format(i, first.shape[is_batched:], like.shape))
    if like.dtype.is_complex != grad.dtype.is_complex:
        raise RuntimeError('For complex Tensors, both grad_output and output are required to have the same dtype. '
                           f'Mismatch in dtype: grad_output[{i}] has a dtype of {grad.dtype} and output[{i}] has a '
                           f'dtype of {like.dtype}.')
    return grad


_SINGLE = 'Mismatch in shape: grad_output[{0}] has a shape of {1} and output[{0}] has a shape of {2}.'
_BATCHED = ('If `is_grads_batched=True`, we interpret the first dimension of each grad_output as the batch dimension. '
            'The sizes of the remaining dimensions are expected to match the shape of corresponding output, but a '
            'mismatch was detected: grad_output[{0}] has a shape of {1} and output[{0}] has a shape of {2}. If you '
            'only want some tensors in `grad_output` to be considered batched, consider using vmap.')


def _ones(like, is_wanted):
    if not is_wanted:
        return None
    if like.shape.numel() != 1:
        raise RuntimeError('grad can be implicitly created only for scalar outputs')
    if not like.dtype.is_floating_point and _C.policy('gradient_edges'):
        raise RuntimeError(f'grad can be implicitly created only for real scalar outputs but got {like.dtype}')
    return _C.ones_like(like) if isinstance(like, Tensor) else _C.ones(like.shape, dtype=like.dtype, device=like.device)

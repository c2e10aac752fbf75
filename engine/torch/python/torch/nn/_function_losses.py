# SPDX-License-Identifier: LGPL-2.1-or-later
"""Losses and distances as functions, made of the same operations as in PyTorch."""
import math
import warnings

from torch import _C
from torch.autograd import Function
from torch.nn._function_activations import logsigmoid
from torch.nn._named_function import node
from torch._refused import checked


def reduction_of(size_average, reduce, reduction):
    """What the two arguments of old programs mean."""
    if size_average is None and reduce is None:
        return reduction
    meant = 'none' if reduce is False else 'sum' if size_average is False else 'mean'
    warnings.warn("size_average and reduce args will be deprecated, please use reduction='" + meant + "' instead.",
                  stacklevel=3)
    return meant


def _reduced(loss, reduction):
    if reduction not in ('none', 'mean', 'sum'):
        raise ValueError(f'{reduction} is not a valid value for reduction')
    return loss.mean() if reduction == 'mean' else loss.sum() if reduction == 'sum' else loss


def _warn_sizes(input, target, stacklevel=3):
    if target.shape != input.shape:
        warnings.warn(f'Using a target size ({target.size()}) that is different to the input size ({input.size()}). This '
                      'will likely lead to incorrect results due to broadcasting. Please ensure they have the same size.',
                      stacklevel=stacklevel)


def _alike(input, target):
    """Both as the dtype that holds both, as in arithmetic."""
    dtype = _C.promote_types(input.dtype, target.dtype)
    return input.to(dtype), target.to(dtype)


def _check_dtypes(input, target):
    if target.dtype != input.dtype:
        raise RuntimeError(f'Found dtype {_C.scalar_type(target.dtype)} but expected {_C.scalar_type(input.dtype)}')


def _weighted(loss, weight, reduction):
    if weight.shape != loss.shape:
        raise ValueError('Weights and input must have the same size.')
    loss = loss * weight
    return loss.sum() / weight.sum() if reduction == 'mean' else _reduced(loss, reduction)


def mse_loss(input, target, size_average=None, reduce=None, reduction='mean', weight=None):
    _warn_sizes(input, target)
    reduction = reduction_of(size_average, reduce, reduction)
    if weight is not None:
        return _weighted((input - target).pow(2), weight, reduction)
    return _C.mse_loss(*_alike(input, target), reduction=reduction)


def l1_loss(input, target, size_average=None, reduce=None, reduction='mean', weight=None):
    _warn_sizes(input, target)
    reduction = reduction_of(size_average, reduce, reduction)
    if weight is not None:
        return _weighted((input - target).abs(), weight, reduction)
    return _C.l1_loss(*_alike(input, target), reduction=reduction)


def smooth_l1_loss(input, target, size_average=None, reduce=None, reduction='mean', beta=1.0):
    _warn_sizes(input, target)
    reduction = reduction_of(size_average, reduce, reduction)
    if beta == 0.0:
        return _C.l1_loss(*_alike(input, target), reduction=reduction)
    return _C.smooth_l1_loss(*_alike(input, target), reduction=reduction, beta=beta)


def huber_loss(input, target, reduction='mean', delta=1.0, weight=None):
    _warn_sizes(input, target)
    if weight is not None:
        return _weighted(_C.huber_loss(input, target, 'none', delta), weight, reduction)
    return _C.huber_loss(input, target, reduction, delta)


def nll_loss(input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction='mean'):
    return _C.nll_loss(input, target, weight, ignore_index=ignore_index,
                       reduction=reduction_of(size_average, reduce, reduction))


def cross_entropy(input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction='mean',
                  label_smoothing=0.0):
    return _C.cross_entropy(input, target, weight, ignore_index=ignore_index, label_smoothing=label_smoothing,
                            reduction=reduction_of(size_average, reduce, reduction))


def binary_cross_entropy(input, target, weight=None, size_average=None, reduce=None, reduction='mean'):
    reduction = reduction_of(size_average, reduce, reduction)
    if target.shape != input.shape:
        raise ValueError(f'Using a target size ({target.size()}) that is different to the input size ({input.size()}) is '
                         'deprecated. Please ensure they have the same size.')
    _check_dtypes(input, target)
    return _C.binary_cross_entropy(input, target, weight, reduction)


def binary_cross_entropy_with_logits(input, target, weight=None, size_average=None, reduce=None, reduction='mean',
                                     pos_weight=None):
    reduction = reduction_of(size_average, reduce, reduction)
    if target.shape != input.shape:
        raise ValueError(f'Target size ({target.size()}) must be the same as input size ({input.size()})')
    if input.is_floating_point() and not target.is_floating_point():
        raise RuntimeError(f"result type {_C.scalar_type(input.dtype)} can't be cast to the desired output type "
                           f'{_C.scalar_type(target.dtype)}')
    input, target = _alike(input, target)
    return _C.binary_cross_entropy_with_logits(input, target, weight, pos_weight, reduction)


def kl_div(input, target, size_average=None, reduce=None, reduction='mean', log_target=False):
    reduction = reduction_of(size_average, reduce, reduction)
    if reduction == 'mean':
        warnings.warn("reduction: 'mean' divides the total loss by both the batch size and the support size."
                      "'batchmean' divides only by the batch size, and aligns with the KL div math definition.'mean' "
                      "will be changed to behave the same as 'batchmean' in the next major release.", stacklevel=2)
    if reduction != 'batchmean':
        return _C.kl_div(input, target, reduction, log_target)
    loss = _C.kl_div(input, target, 'sum', log_target)
    return loss / input.size(0) if input.dim() else loss


def poisson_nll_loss(input, target, log_input=True, full=False, size_average=None, eps=1e-8, reduce=None,
                     reduction='mean'):
    reduction = reduction_of(size_average, reduce, reduction)
    loss = input.exp() - target * input if log_input else input - target * _C._add_number(input, eps).log()
    if full:  # Stirling's approximation of log(target!)
        stirling = target * target.log() - target + 0.5 * (2 * math.pi * target).log()
        loss = loss + stirling.masked_fill(target <= 1, 0)
    return _reduced(loss, reduction)


def gaussian_nll_loss(input, target, var, full=False, eps=1e-6, reduction='mean'):
    if isinstance(var, (int, float)):
        if var < 0:
            raise ValueError('var has negative entry/entries')
        var = var * _C.ones_like(input)
    elif (var < 0).any():
        raise ValueError('var has negative entry/entries')
    if var.shape != input.shape:
        if input.shape[:-1] == var.shape:
            var = var.unsqueeze(-1)
        elif input.shape[:-1] != var.shape[:-1] or var.size(-1) != 1:
            raise ValueError('var is of incorrect size')
    if reduction not in ('none', 'mean', 'sum'):
        raise ValueError(reduction + ' is not valid')
    clamped = var.clone()
    clamped.detach().clamp_(min=eps)
    loss = 0.5 * (clamped.log() + (input - target) ** 2 / clamped)
    return _reduced(loss + 0.5 * math.log(2 * math.pi) if full else loss, reduction)


def _number(value, like):
    """A number as a tensor, where PyTorch's formula makes it one."""
    return _C.tensor(float(value), dtype=like.dtype)


def hinge_embedding_loss(input, target, margin=1.0, size_average=None, reduce=None, reduction='mean'):
    reduction = reduction_of(size_average, reduce, reduction)
    zeros = _C.zeros_like(input.detach())
    apart = _C.where(target != 1, (_number(margin, input) - input).clamp_min(0), zeros)
    return _reduced(apart + _C.where(target != -1, input, zeros), reduction)


def margin_ranking_loss(input1, input2, target, margin=0, size_average=None, reduce=None, reduction='mean'):
    reduction = reduction_of(size_average, reduce, reduction)
    if not input1.dim() == input2.dim() == target.dim():
        raise RuntimeError(f'margin_ranking_loss : All input tensors should have same dimension but got sizes: input1: '
                           f'{input1.size()}, input2: {input2.size()}, target: {target.size()} ')
    return _reduced(_C._add_number(-target * (input1 - input2), margin).clamp_min(0), reduction)


@checked
def soft_margin_loss(input, target, size_average=None, reduce=None, reduction='mean'):
    return _reduced_kernel(_SoftMargin, input, target, reduction_of(size_average, reduce, reduction))


def _reduced_kernel(function, input, target, reduction, *settings):
    return function.apply(input, target, reduction, *settings)


@node('SoftMarginLossBackward0')
class _SoftMargin(Function):
    @staticmethod
    def forward(ctx, input, target, reduction):
        ctx.save_for_backward(input, target)
        ctx.reduction = reduction
        return _reduced((-target * input).exp().add(1).log(), reduction)

    @staticmethod
    def backward(ctx, grad):
        input, target = ctx.saved_tensors
        return _SoftMarginBack.apply(grad, input, (target, ctx.reduction)), None, None


@node('SoftMarginLossBackwardBackward0')
class _SoftMarginBack(Function):
    @staticmethod
    def forward(ctx, grad, input, against):
        target, ctx.reduction = ctx.against = against
        ctx.save_for_backward(grad, input)
        z = (-target * input).exp()
        local = -target * z / (z + 1)
        return grad * (local / local.numel() if ctx.reduction == 'mean' else local)

    @staticmethod
    def backward(ctx, gg):
        (grad, input), target = ctx.saved_tensors, ctx.against[0]
        if ctx.reduction == 'none':
            of_grad = _SoftMarginBack.apply(gg, input, ctx.against)
        else:
            of_grad = (_SoftMarginBack.apply(_C.ones_like(grad), input, ctx.against) * gg).sum()
        z = (input * target).exp()
        below = _C._add_number(z, 1)
        of_input = gg * grad * (target * target) * z / (below * below)
        if ctx.reduction == 'mean':
            of_input = _C._div_number(of_input, input.numel())
        return of_grad, of_input, None


def multilabel_soft_margin_loss(input, target, weight=None, size_average=None, reduce=None, reduction='mean'):
    reduction = reduction_of(size_average, reduce, reduction)
    loss = -(target * logsigmoid(input) + (1 - target) * logsigmoid(-input))
    loss = loss if weight is None else loss * weight
    return _reduced(loss.sum(input.dim() - 1) / input.size(input.dim() - 1), reduction)


@node('MultiMarginLossBackward0')
class _MultiMargin(Function):
    @staticmethod
    def forward(ctx, input, target, reduction, p, margin, weight):
        rows, index = input.reshape(-1, input.size(-1)), target.reshape(-1, 1)
        right = rows.gather(1, index)
        over = (margin - right + rows).clamp(min=0).scatter(1, index, 0.0)
        scale = 1.0 / rows.size(1) if weight is None else weight[target.reshape(-1)].unsqueeze(1) / rows.size(1)
        ctx.save_for_backward(over, index)
        ctx.more = scale, p, reduction, input.shape
        loss = (over.pow(p) * scale).sum(1)
        return _reduced(loss if input.dim() > 1 else loss[0], reduction)

    @staticmethod
    def backward(ctx, grad):
        over, index = ctx.saved_tensors
        scale, p, reduction, shape = ctx.more
        local = (over > 0).to(over.dtype) if p == 1 else 2 * over
        local = local * scale
        local = local.scatter(1, index, -local.sum(1, True))
        local = local / local.size(0) if reduction == 'mean' else local
        grad = grad.reshape(-1, 1) if reduction == 'none' else grad
        return (grad * local).reshape(shape), None, None, None, None, None


@checked
def multi_margin_loss(input, target, p=1, margin=1.0, weight=None, size_average=None, reduce=None, reduction='mean'):
    if p not in (1, 2):
        raise ValueError('only p == 1 and p == 2 supported')
    return _MultiMargin.apply(input, target, reduction_of(size_average, reduce, reduction), p, margin, weight)


# Distances.

def pairwise_distance(x1, x2, p=2.0, eps=1e-6, keepdim=False):
    return _C._old_norm(_C._add_number(x1 - x2, eps), p, max(x1.dim(), x2.dim()) - 1, keepdim)


def cosine_similarity(x1, x2, dim=1, eps=1e-8):
    """Of vectors that are at least eps long."""
    def unit(x):
        length = _C.vector_norm(x, 2, dim, True).clone()
        length.detach().clamp_(min=eps)
        return x / length
    if x1.shape != x2.shape:
        both = (_C.zeros(x1.shape) + _C.zeros(x2.shape)).shape
        x1, x2 = x1.expand(both), x2.expand(both)
    return (unit(x1) * unit(x2)).sum(dim)


def cosine_embedding_loss(input1, input2, target, margin=0, size_average=None, reduce=None, reduction='mean'):
    reduction = reduction_of(size_average, reduce, reduction)
    dim = target.dim()
    product = (input1 * input2).sum(dim)
    squares = [_C._add_number((x * x).sum(dim), 1e-12) for x in (input1, input2)]
    cosine = product / squares[0].mul(squares[1]).sqrt()
    zeros = _C.zeros_like(cosine.detach())
    near = _C.where(target == 1, _number(1, cosine) - cosine, zeros)
    return _reduced(near + _C.where(target == -1, _C._sub_number(cosine, margin).clamp_min(0), zeros), reduction)


def triplet_margin_loss(anchor, positive, negative, margin=1.0, p=2, eps=1e-6, swap=False, size_average=None, reduce=None,
                        reduction='mean'):
    reduction = reduction_of(size_average, reduce, reduction)
    if margin <= 0:
        raise ValueError(f'margin must be greater than 0, got {margin}')
    near, far = pairwise_distance(anchor, positive, p, eps), pairwise_distance(anchor, negative, p, eps)
    if swap:
        far = far.minimum(pairwise_distance(positive, negative, p, eps))
    return _reduced((_C._add_number(near, margin) - far).clamp_min(0), reduction)


def triplet_margin_with_distance_loss(anchor, positive, negative, *, distance_function=None, margin=1.0, swap=False,
                                      reduction='mean'):
    distance = pairwise_distance if distance_function is None else distance_function
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = far.minimum(distance(positive, negative))
    return _reduced((margin + near - far).clamp_min(0), reduction)

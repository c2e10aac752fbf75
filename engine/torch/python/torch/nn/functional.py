# SPDX-License-Identifier: LGPL-2.1-or-later
"""Functions of layers and losses."""
import math
import warnings

from torch import _C
from torch._C import (Tensor, adaptive_avg_pool2d, avg_pool2d, conv_transpose1d,
                      conv_transpose2d, linear, max_pool2d)
from torch.autograd import no_grad
from torch.nn.attention import multi_head_attention_forward
from torch.nn._function_activations import *  # noqa: F403
from torch.nn._function_attention import scaled_dot_product_attention
from torch.nn._function_losses import *  # noqa: F403
from torch.nn._function_sampling import *  # noqa: F403
from torch.nn._function_vision import *  # noqa: F403
from torch.nn._function_ctc import ctc_loss
from torch.nn._windows import (avg_pool3d, conv_transpose3d, fold, max_pool3d, max_pool3d_with_indices, max_unpool1d,
                               max_unpool2d, tuple_of, unfold)
from torch.nn import _windows
from torch._refused import checked, scalar_name


def pair(value):
    return tuple(value) if isinstance(value, (tuple, list)) else (value, value)


# Convolutions. Padding may be a word.

def _padded(input, weight, padding, stride, dilation):
    """The input, and the padding as numbers."""
    if not isinstance(padding, str):
        return input, padding
    n = weight.dim() - 2
    if padding == 'valid':
        return input, 0
    if padding != 'same':
        raise RuntimeError(f"Invalid padding string: '{padding}'")
    if any(s != 1 for s in (stride if isinstance(stride, (tuple, list)) else (stride,))):
        raise RuntimeError("padding='same' is not supported for strided convolutions")
    steps = dilation if isinstance(dilation, (tuple, list)) else (dilation,) * n
    totals = [d * (k - 1) for d, k in zip(steps, weight.shape[2:])]
    odd = [total % 2 for total in totals]
    if any(odd):
        input = pad(input, [side for more in reversed(odd) for side in (0, more)])  # noqa: F405
    return input, tuple(total // 2 for total in totals)


def conv1d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    input, padding = _padded(input, weight, padding, stride, dilation)
    return _C.conv1d(input, weight, bias, stride, padding, dilation, groups)


def conv2d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    input, padding = _padded(input, weight, padding, stride, dilation)
    return _C.conv2d(input, weight, bias, stride, padding, dilation, groups)


def conv3d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    input, padding = _padded(input, weight, padding, stride, dilation)
    return _windows.conv3d(input, weight, bias, stride, padding, dilation, groups)


# Lines are images of height 1.

def max_pool1d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    kernel_size, stride, padding, dilation = map(_one, (kernel_size, stride or kernel_size, padding, dilation))
    result = max_pool2d(input.unsqueeze(-2), (1, kernel_size), (1, stride), (0, padding), (1, dilation), ceil_mode,
                        return_indices)
    return tuple(x.squeeze(-2) for x in result) if return_indices else result.squeeze(-2)


def _one(value):
    return value[0] if isinstance(value, (tuple, list)) else value


def avg_pool1d(input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True):
    kernel_size, stride, padding = map(_one, (kernel_size, stride or kernel_size, padding))
    return avg_pool2d(input.unsqueeze(-2), (1, kernel_size), (1, stride), (0, padding), ceil_mode,
                      count_include_pad).squeeze(-2)


def _lp_pool(average, input, norm_type, kernel_size, stride, ceil_mode, n):
    out = average(input.pow(norm_type), kernel_size, stride, 0, ceil_mode)
    return (out.sign() * out.abs().relu()).mul(n).pow(1.0 / norm_type)


def lp_pool1d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    return _lp_pool(avg_pool1d, input, norm_type, kernel_size, stride, ceil_mode, _one(kernel_size))


def lp_pool2d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    stride = kernel_size if stride is None else stride
    return _lp_pool(avg_pool2d, input, norm_type, kernel_size, stride, ceil_mode, math.prod(pair(kernel_size)))


# Normalization.

def batch_norm(input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5):
    if training and input.numel() == input.size(1):
        raise ValueError(f'Expected more than 1 value per channel when training, got input size {input.size()}')
    return _C.batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps)


def layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-5):
    return _C.layer_norm(input, normalized_shape, weight, bias, eps)


def group_norm(input, num_groups, weight=None, bias=None, eps=1e-5):
    return _C.group_norm(input, num_groups, weight, bias, eps)


def instance_norm(input, running_mean=None, running_var=None, weight=None, bias=None, use_input_stats=True,
                  momentum=0.1, eps=1e-5):
    """A batch norm in which each instance is a channel of its own."""
    n, c, *rest = input.shape
    if use_input_stats and math.prod(rest) == 1:
        raise ValueError('Expected more than 1 spatial element when training, got input size ' + str(input.size()))
    if running_mean is None and not use_input_stats:
        raise RuntimeError('Expected running_mean and running_var to be defined when use_input_stats is false')
    means, variances = (None if x is None else x.detach().repeat(n) for x in (running_mean, running_var))
    weight, bias = (None if x is None else x.repeat(n) for x in (weight, bias))
    result = _C.batch_norm(input.contiguous().view(1, n * c, *rest), weight, bias, means, variances, use_input_stats, momentum, eps)
    with no_grad():
        for kept, new in ((running_mean, means), (running_var, variances)) if use_input_stats else ():
            if kept is not None:
                kept.copy_(new.view(n, c).mean(0))
    return result.view(n, c, *rest)


@checked
def rms_norm(input, normalized_shape, weight=None, eps=None):
    dims = list(range(-len(normalized_shape), 0))
    if tuple(input.shape[-len(normalized_shape):]) != tuple(normalized_shape):
        raise RuntimeError(f'Given normalized_shape={list(normalized_shape)}, expected input with shape [*'
                           f"{', '.join(map(str, normalized_shape))}], but got input of size{list(input.shape)}")
    eps = {_C.float64: 2.220446049250313e-16}.get(input.dtype, 1.1920928955078125e-07) if eps is None else eps
    result = input * _C._add_number(input.pow(2).mean(dims, True), eps).rsqrt()
    return result if weight is None else result * weight


def local_response_norm(input, size, alpha=1e-4, beta=0.75, k=1.0):
    """Each element by a mean of squares over neighbouring channels."""
    squares, n = input.mul(input), input.size(1)
    padded = _C.cat([_C.zeros(input.size(0), size // 2, *input.shape[2:], dtype=input.dtype), squares,
                     _C.zeros(input.size(0), (size - 1) // 2, *input.shape[2:], dtype=input.dtype)], 1)
    total = sum(padded.narrow(1, i, n) for i in range(size)) / size
    return input / total.mul(alpha).add(k).pow(beta)


# Padding.

def _pad_circular(input, pad):
    """Writes the input into the middle, then from both ends of each dimension into the borders."""
    pairs = list(zip(pad[::2], pad[1::2]))
    sizes = list(input.shape)
    for i, (before, after) in enumerate(pairs, 1):
        sizes[-i] += before + after
    out = input.new_empty(sizes)
    inside, middle = out, input
    for i, (before, after) in enumerate(pairs, 1):
        inside = inside.narrow(-i, max(before, 0), sizes[-i] - max(before, 0) - max(after, 0))
        middle = middle.narrow(-i, max(-before, 0), input.size(-i) - max(-before, 0) - max(-after, 0))
    inside.copy_(middle)
    for i, (before, after) in enumerate(pairs, 1):
        n = sizes[-i]
        if before > 0:
            out.narrow(-i, 0, before).copy_(out.narrow(-i, n - before - max(after, 0), before))
        if after > 0:
            out.narrow(-i, n - after, after).copy_(out.narrow(-i, max(before, 0), after))
    return out


def pad(input, pad, mode='constant', value=None):
    if mode == 'constant':
        return _C.constant_pad_nd(input, pad, value or 0)
    if value is not None and value != 0:
        raise ValueError(f'Padding mode "{mode}" doesn\'t take in value argument')
    if mode not in ('reflect', 'replicate', 'circular'):
        raise NotImplementedError(f'Unrecognised padding mode {mode}')
    if len(pad) not in (2 * input.dim() - 2, 2 * input.dim() - 4) or not 2 <= len(pad) <= 6:
        raise NotImplementedError('Only 2D, 3D, 4D, 5D padding with non-constant padding are supported for now')
    return _pad_circular(input, pad) if mode == 'circular' else _C.pad_by(input, pad, mode)


# Embeddings.

def embedding(input, weight, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, sparse=False):
    if max_norm is not None:
        _renorm_rows(weight, input, max_norm, norm_type)
    return _C.embedding(weight, input, -1 if padding_idx is None else padding_idx % weight.size(0),
                        scale_grad_by_freq, sparse)


@no_grad()
def _renorm_rows(weight, input, max_norm, norm_type):
    """Rows that are looked up, and too long, are shortened in place."""
    for i in sorted(set(input.reshape(-1).tolist())):
        length = weight[i].norm(norm_type).item()
        if length > max_norm:
            weight[i] = weight[i] * (max_norm / (length + 1e-7))


def embedding_bag(input, weight, offsets=None, max_norm=None, norm_type=2, scale_grad_by_freq=False, mode='mean',
                  sparse=False, per_sample_weights=None, include_last_offset=False, padding_idx=None):
    if weight.dtype == _C.int64 and input.is_floating_point():
        warnings.warn('Argument order of nn.functional.embedding_bag was changed. Usage `embedding_bag(weight, input, ...)` '
                      'is deprecated, and should now be `embedding_bag(input, weight, ...)`.')
        input, weight = weight, input
    if input.dim() == 2:
        if offsets is not None:
            raise ValueError('if input is 2D, then offsets has to be None, as input is treated is a mini-batch of '
                             'fixed length sequences. However, found offsets of type '
                             f"<class 'torch.Tensor'>")
        offsets = _C.arange(0, input.numel(), input.size(1))
        input = input.reshape(-1)
        per_sample_weights = None if per_sample_weights is None else per_sample_weights.reshape(-1)
    if scale_grad_by_freq:
        raise NotImplementedError('embedding_bag with scale_grad_by_freq is not supported')
    if max_norm is not None:
        _renorm_rows(weight, input, max_norm, norm_type)
    if include_last_offset:
        offsets = offsets[:-1]
    if padding_idx is not None:
        input, offsets = _without_padding(input, offsets, padding_idx % weight.size(0), per_sample_weights)
    if not weight.is_floating_point():
        raise RuntimeError("Expected tensor for argument #1 'weight' to have one of the following scalar types: Half, BFloat16, "
                           f'Float, Double; but got CPU{scalar_name(weight)}Type instead (while checking arguments for '
                           'embedding_bag)')
    mode = {'sum': 0, 'mean': 1, 'max': 2}[mode]
    return _C.embedding_bag(weight, input, offsets, mode, sparse, per_sample_weights)


def _without_padding(input, offsets, padding_idx, per_sample_weights):
    """The rows [n] that are no padding, and where their bags begin."""
    if per_sample_weights is not None:
        raise NotImplementedError('embedding_bag with per_sample_weights and padding_idx is not supported')
    wanted = input != padding_idx
    n_before = _C.cat([_C.zeros(1, dtype=_C.int64), wanted.long().cumsum(0)])
    return input[wanted], n_before.index_select(0, offsets)


def one_hot(tensor, num_classes=-1):
    """Ones at the places that the numbers tell."""
    if tensor.dtype is not _C.int64:
        raise RuntimeError('one_hot is only applicable to index tensor of type LongTensor.')
    if tensor.numel() == 0 and num_classes <= 0:
        raise RuntimeError('Can not infer total number of classes from empty tensor.')
    largest, least = (tensor.max().item(), tensor.min().item()) if tensor.numel() else (-1, 0)
    if least < 0:
        raise RuntimeError('Class values must be non-negative.')
    if num_classes != -1 and num_classes < 1:
        raise RuntimeError('num_classes should be positive')
    if num_classes != -1 and largest >= num_classes:
        raise RuntimeError('Class values must be smaller than num_classes.')
    n = largest + 1 if num_classes == -1 else num_classes
    return _C.zeros(*tensor.shape, n, dtype=_C.int64).scatter_(-1, tensor.unsqueeze(-1), 1)


def normalize(input, p=2.0, dim=1, eps=1e-12):
    return input / input.norm(p, dim, keepdim=True).clamp_min(eps).expand_as(input)


@node('TrilinearBackward0')  # noqa: F405
class _Trilinear(Function):  # noqa: F405
    @staticmethod
    def forward(ctx, a, weight, b):
        ctx.save_for_backward(a, weight, b)
        return (_by_first(a, weight) * b.unsqueeze(1)).sum(2).to(a.dtype)

    @staticmethod
    def backward(ctx, grad):
        a, weight, b = ctx.saved_tensors
        d_b = (_by_first(a, weight) * grad.unsqueeze(2)).sum(1)
        d_a = (_by_first(b, weight.transpose(1, 2)) * grad.unsqueeze(2)).sum(1)
        pairs = (a.unsqueeze(2) * b.unsqueeze(1)).reshape(a.size(0), -1)
        return d_a, grad.t().mm(pairs).reshape(weight.shape), d_b


def _by_first(a, weight):
    """[batch, out, second]: the sums over the first of the two inputs."""
    product = a.mm(weight.permute(1, 0, 2).reshape(weight.size(1), -1))
    return product.reshape(a.size(0), weight.size(0), weight.size(2))


def bilinear(input1, input2, weight, bias=None):
    """input1 weight[i] input2 for each i."""
    outer = input1.shape[:-1]
    product = _Trilinear.apply(input1.reshape(-1, input1.size(-1)), weight, input2.reshape(-1, input2.size(-1)))
    product = product.reshape(*outer, weight.size(0))
    return product if bias is None else product + bias

# SPDX-License-Identifier: LGPL-2.1-or-later
"""Functions of layers and losses."""
from tapedeck import _C
from tapedeck._C import (Tensor, adaptive_avg_pool2d, avg_pool2d, conv1d, conv2d, conv_transpose1d,
                         conv_transpose2d, cross_entropy, hardsigmoid, hardswish, huber_loss, linear,
                         logsigmoid, max_pool2d, mish, mse_loss, nll_loss, smooth_l1_loss, softshrink)
from tapedeck.nn.attention import multi_head_attention_forward

tanh, sigmoid, hardshrink = Tensor.tanh, Tensor.sigmoid, Tensor.hardshrink


def pair(value):
    return tuple(value) if isinstance(value, (tuple, list)) else (value, value)


# Activations. Only relu writes into its input; `inplace` has no effect on the others.

def relu(input, inplace=False):
    return input.relu_() if inplace else input.relu()


def leaky_relu(input, negative_slope=0.01, inplace=False):
    return _C.leaky_relu(input, negative_slope)


def gelu(input, approximate='none'):
    return _C.gelu(input, approximate=approximate)


def silu(input, inplace=False):
    return _C.silu(input)


def elu(input, alpha=1.0, inplace=False):
    return _C.elu(input, alpha)


def softplus(input, beta=1, threshold=20):
    return _C.softplus(input, beta, threshold)


def hardtanh(input, min_val=-1.0, max_val=1.0, inplace=False):
    return _C.hardtanh(input, min_val, max_val)


def celu(input, alpha=1.0, inplace=False):
    return _C.celu(input, alpha)


def selu(input, inplace=False):
    return _C.selu(input)


def threshold(input, threshold, value, inplace=False):
    return _C.threshold(input, threshold, value)


def softsign(input):
    return input / (input.abs() + 1)


def tanhshrink(input):
    return input - input.tanh()


def softmin(input, dim, dtype=None):
    return softmax(-input, dim, dtype)


def relu6(input, inplace=False):
    return hardtanh(input, 0.0, 6.0)


def softmax(input, dim, dtype=None):
    return (input if dtype is None else input.to(dtype)).softmax(dim)


def log_softmax(input, dim, dtype=None):
    return (input if dtype is None else input.to(dtype)).log_softmax(dim)


def dropout(input, p=0.5, training=True, inplace=False):
    if p < 0.0 or p > 1.0:
        raise ValueError(f'dropout probability has to be between 0 and 1, but got {p}')
    return _C.dropout(input, p, training)


# Lines are images of height 1.

def max_pool1d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False):
    return max_pool2d(input.unsqueeze(-2), (1, kernel_size), (1, stride or kernel_size), (0, padding), (1, dilation),
                      ceil_mode).squeeze(-2)


def avg_pool1d(input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True):
    return avg_pool2d(input.unsqueeze(-2), (1, kernel_size), (1, stride or kernel_size), (0, padding), ceil_mode,
                      count_include_pad).squeeze(-2)


# Normalization.

def batch_norm(input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5):
    if training and input.numel() == input.size(1):
        raise ValueError(f'Expected more than 1 value per channel when training, got input size {input.size()}')
    return _C.batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps)


def layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-5):
    return _C.layer_norm(input, normalized_shape, weight, bias, eps)


def group_norm(input, num_groups, weight=None, bias=None, eps=1e-5):
    return _C.group_norm(input, num_groups, weight, bias, eps)


# Embeddings.

def embedding(input, weight, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, sparse=False):
    return _C.embedding(weight, input, -1 if padding_idx is None else padding_idx % weight.size(0),
                        scale_grad_by_freq, sparse)


def embedding_bag(input, weight, offsets=None, max_norm=None, norm_type=2, scale_grad_by_freq=False, mode='mean',
                  sparse=False, per_sample_weights=None, include_last_offset=False, padding_idx=None):
    if input.dim() == 2:
        if offsets is not None:
            raise ValueError('if input is 2D, then offsets has to be None, as input is treated is a mini-batch of '
                             'fixed length sequences. However, found offsets of type '
                             f"<class 'torch.Tensor'>")
        offsets = _C.arange(0, input.numel(), input.size(1))
        input = input.reshape(-1)
        per_sample_weights = None if per_sample_weights is None else per_sample_weights.reshape(-1)
    mode = {'sum': 0, 'mean': 1, 'max': 2}[mode]
    return _C.embedding_bag(weight, input, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights,
                            include_last_offset, padding_idx)


# Losses.

def binary_cross_entropy(input, target, weight=None, reduction='mean'):
    return _C.binary_cross_entropy(input, target, weight, reduction)


def binary_cross_entropy_with_logits(input, target, weight=None, reduction='mean', pos_weight=None):
    return _C.binary_cross_entropy_with_logits(input, target, weight, pos_weight, reduction)


def l1_loss(input, target, size_average=None, reduce=None, reduction='mean'):
    return _C.l1_loss(input, target, reduction=reduction)


def kl_div(input, target, size_average=None, reduce=None, reduction='mean', log_target=False):
    if reduction != 'batchmean':
        return _C.kl_div(input, target, reduction, log_target)
    loss = _C.kl_div(input, target, 'sum', log_target)
    return loss / input.size(0) if input.dim() else loss


def normalize(input, p=2.0, dim=1, eps=1e-12):
    return input / input.norm(p, dim, keepdim=True).clamp(min=eps).expand_as(input)

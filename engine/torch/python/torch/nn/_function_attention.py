# SPDX-License-Identifier: LGPL-2.1-or-later
"""Attention as one function, in the ways in which PyTorch 2 computes it on the CPU."""
import math

from torch import _C
from torch.autograd import Function
from torch.nn._named_function import node


@node('SafeSoftmaxBackward0')
class _SafeSoftmax(Function):
    """The softmax of the last dimension. A line of nothing but minus infinity gives zeros."""
    @staticmethod
    def forward(ctx, scores):
        result = scores.softmax(-1)
        result = _C.where(result != result, _C.zeros_like(result), result)
        ctx.save_for_backward(result)
        return result

    @staticmethod
    def backward(ctx, grad):
        result, = ctx.saved_tensors
        return result * (grad - (grad * result).sum(-1, True))


def _additive(mask, dtype):
    """The mask as numbers to add. A mask of booleans says what may be seen."""
    if mask is None or mask.dtype is not _C.bool:
        return mask
    return _C.zeros(mask.shape, dtype=dtype).masked_fill(mask == False, -math.inf)  # noqa: E712


# What error texts call dtypes here: as C++ does.
_TYPES = {_C.float32: 'float', _C.float64: 'double', _C.int64: 'long int', _C.int32: 'int'}


def _type(tensor):
    return _TYPES.get(tensor.dtype, str(tensor.dtype).split('.')[-1])


def _check(query, key, value, mask, is_causal):
    if min(query.dim(), key.dim(), value.dim()) < 2:
        raise RuntimeError(f'Expected query, key, and value to all be  at least 2 dimensional, but got query.dim: {query.dim()} '
                           f'key.dim: {key.dim()} and value.dim: {value.dim()} instead.')
    if not query.dtype is key.dtype is value.dtype:
        raise RuntimeError(f'Expected query, key, and value to have the same dtype, but got query.dtype: {_type(query)} '
                           f'key.dtype: {_type(key)} and value.dtype: {_type(value)} instead.')
    if mask is not None and mask.dtype not in (_C.bool, _C.float32, query.dtype):
        raise RuntimeError('Expected attn_mask dtype to be bool or float or to match query dtype, but got attn_mask.dtype: '
                           f'{_type(mask)} and  query.dtype: {_type(query)} instead.')
    if mask is not None and is_causal and _C.policy('attention_of_three'):
        raise RuntimeError('_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True')


def _mask_fits(mask, query, key):
    """A mask of two dimensions or four, that no gradient goes to."""
    if mask is None:
        return True
    shape = (1, 1, mask.size(-2), mask.size(-1)) if mask.dim() == 2 else mask.shape
    return (len(shape) == 4 and mask.dtype is query.dtype and not mask.requires_grad
            and all(a in (1, b) for a, b in zip(shape, (*query.shape[:-1], key.size(-2)))))


def _is_one_node(query, key, value, mask, dropout_p, enable_gqa):
    """Whether PyTorch has a kernel for all of it on the CPU."""
    if not query.dim() == key.dim() == value.dim() == 4 or dropout_p > 0.0 or query.dtype not in (_C.float32, _C.float64):
        return False
    (batch, heads, _, size), sharing = query.shape, key.size(1)
    return ((enable_gqa or heads == sharing) and _mask_fits(mask, query, key)
            and all((x.size(0), x.size(1), x.size(3)) == (batch, sharing, size) for x in (key, value))
            and all(x.stride(-1) == 1 and x.numel() > 0 for x in (query, key, value)))


def _repeated(x, n):
    """Each head n times, for the queries that share it."""
    return x if n == 1 else x.repeat_interleave(n, -3)


def _in_steps(query, key, value, mask, dropout_p, is_causal, scale, enable_gqa):
    root = math.sqrt(scale)
    query = _C._mul_number(query, root)
    if is_causal:
        causal = _additive(_C.ones(query.size(-2), key.size(-2)).tril() != 0, query.dtype)
        mask = causal if mask is None else mask + causal
    if enable_gqa:
        key, value = (_repeated(x, query.size(-3) // x.size(-3)) for x in (key, value))
    scores = query.matmul(_C._mul_number(key.transpose(-2, -1), root))
    weights = _SafeSoftmax.apply(scores if mask is None else scores + mask)
    return (_C.dropout(weights, dropout_p, True) if dropout_p > 0.0 else weights).matmul(value)


def _as_batch(query, key, value, mask, *others):
    """Of three dimensions: a batch of one."""
    query, key, value = (x.unsqueeze(0) for x in (query, key, value))
    while mask is not None and mask.dim() < 4:
        mask = mask.unsqueeze(0)
    return _attention(query, key, value, mask, *others).squeeze(0)


def _attention(query, key, value, mask, dropout_p, is_causal, scale, enable_gqa):
    if query.dim() == key.dim() == value.dim() == 3 and _C.policy('attention_of_three'):
        return _as_batch(query, key, value, mask, dropout_p, is_causal, scale, enable_gqa)
    if enable_gqa and (query.size(-3) % key.size(-3) or query.size(-3) % value.size(-3)):
        raise RuntimeError('Number of heads in key and value must divide the number of heads in '
                           + 'query' * _C.policy('attention_of_three'))
    if _is_one_node(query, key, value, mask, dropout_p, enable_gqa):
        return _C._attention(query, key, value, mask, is_causal, scale)
    return _in_steps(query, key, value, mask, dropout_p, is_causal, scale, enable_gqa)


def scaled_dot_product_attention(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None,
                                 enable_gqa=False):
    """softmax(scale q k^T + mask) v. With enable_gqa, several heads of the query share one of key and value."""
    _check(query, key, value, attn_mask, is_causal)
    return _attention(query, key, value, _additive(attn_mask, query.dtype), dropout_p, is_causal,
                      1 / math.sqrt(query.size(-1)) if scale is None else scale, enable_gqa)

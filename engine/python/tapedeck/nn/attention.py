# SPDX-License-Identifier: LGPL-2.1-or-later
"""Attention of many heads, with the operations of PyTorch 1.13 in its order."""
import math

from tapedeck import _C


def _in_projection(query, key, value, weight, bias):
    """The projections. A tensor that appears several times takes part in one product."""
    if query is key and key is value:
        return _C.linear(query, weight, bias).chunk(3, -1)
    size = query.size(-1)
    if key is value:
        w_q, w_kv = weight.split([size, size * 2])
        b_q, b_kv = (None, None) if bias is None else bias.split([size, size * 2])
        return (_C.linear(query, w_q, b_q), *_C.linear(key, w_kv, b_kv).chunk(2, -1))
    weights = weight.chunk(3)
    biases = (None,) * 3 if bias is None else bias.chunk(3)
    return tuple(_C.linear(x, w, b) for x, w, b in zip((query, key, value), weights, biases))


def _attend(q, k, v, mask, dropout_p):
    """softmax(q k^T / sqrt(size)) v, and the weights."""
    q = q / math.sqrt(q.size(-1))
    weights = q.bmm(k.transpose(-2, -1))
    if mask is not None:
        weights = weights + mask
    weights = weights.softmax(-1)
    if dropout_p > 0.0:
        weights = _C.dropout(weights, dropout_p, True)
    return weights.bmm(v), weights


def _additive(mask, like):
    """The mask as numbers to add. A mask of booleans forbids."""
    if mask is None or mask.is_floating_point():
        return mask
    return _C.zeros_like(mask, dtype=like.dtype).masked_fill_(mask, float('-inf'))


def _merged(attn_mask, key_padding_mask, query, n_batch, n_heads):
    attn_mask, padding = _additive(attn_mask, query), _additive(key_padding_mask, query)
    if attn_mask is not None and attn_mask.dim() == 2:
        attn_mask = attn_mask.unsqueeze(0)
    if padding is None:
        return attn_mask
    n_keys = padding.size(1)
    padding = padding.view(n_batch, 1, 1, n_keys).expand(-1, n_heads, -1, -1).reshape(n_batch * n_heads, 1, n_keys)
    return padding if attn_mask is None else attn_mask + padding


def multi_head_attention_forward(query, key, value, embed_dim_to_check, num_heads, in_proj_weight, in_proj_bias,
                                 dropout_p, out_proj_weight, out_proj_bias, training=True, key_padding_mask=None,
                                 need_weights=True, attn_mask=None, average_attn_weights=True):
    """query [target, batch, size], key and value [source, batch, size]. Returns an output like query, and the
    weights [batch, target, source] or None."""
    n_target, n_batch, size = query.shape
    if size != embed_dim_to_check:
        raise AssertionError(f'was expecting embedding dimension of {embed_dim_to_check}, but got {size}')
    head = size // num_heads
    mask = _merged(attn_mask, key_padding_mask, query, n_batch, num_heads)
    heads = [x.contiguous().view(x.size(0), n_batch * num_heads, head).transpose(0, 1)
             for x in _in_projection(query, key, value, in_proj_weight, in_proj_bias)]
    output, weights = _attend(*heads, mask, dropout_p if training else 0.0)
    output = output.transpose(0, 1).contiguous().view(n_target * n_batch, size)
    output = _C.linear(output, out_proj_weight, out_proj_bias).view(n_target, n_batch, size)
    if not need_weights:
        return output, None
    weights = weights.view(n_batch, num_heads, n_target, weights.size(-1))
    return output, weights.sum(1) / num_heads if average_attn_weights else weights

# SPDX-License-Identifier: LGPL-2.1-or-later
"""Attention of many heads, with the operations of PyTorch 1.13 in its order."""
import math

from torch import _C
from torch.nn._function_attention import scaled_dot_product_attention


def _parted(product, n, size):
    """A product for n projections, as each of them: PyTorch 2 makes them contiguous."""
    if not _C.policy('gradient_edges'):
        return product.chunk(n, -1)
    parts = product.unflatten(-1, (n, size)).unsqueeze(0).transpose(0, -2).squeeze(-2).contiguous()
    return tuple(parts[i] for i in range(n))


def _in_projection(query, key, value, weight, bias):
    """The projections. A tensor that appears several times takes part in one product."""
    size = query.size(-1)
    if query is key and key is value:
        return _parted(_C.linear(query, weight, bias), 3, size)
    if key is value:
        w_q, w_kv = weight.split([size, size * 2])
        b_q, b_kv = (None, None) if bias is None else bias.split([size, size * 2])
        return (_C.linear(query, w_q, b_q), *_parted(_C.linear(key, w_kv, b_kv), 2, size))
    weights = weight.chunk(3)
    biases = (None,) * 3 if bias is None else bias.chunk(3)
    return tuple(_C.linear(x, w, b) for x, w, b in zip((query, key, value), weights, biases))


def _attend(q, k, v, mask, dropout_p):
    """softmax(q k^T / sqrt(size)) v, and the weights."""
    if _C.policy('gradient_edges'):
        q = q * math.sqrt(1.0 / q.size(-1))
        weights = q.bmm(k.transpose(-2, -1)) if mask is None else mask.baddbmm(q, k.transpose(-2, -1))
    else:
        weights = (q / math.sqrt(q.size(-1))).bmm(k.transpose(-2, -1))
        weights = weights if mask is None else weights + mask
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


def _bias_row(x, bias, n_batch):
    return x if bias is None else _C.cat([x, bias.repeat(1, n_batch, 1)])


def _wider(mask, n):
    """The mask, with n more keys that everybody sees."""
    if mask is None:
        return None
    return _C.cat([mask, _C.zeros(*mask.shape[:-1], n, dtype=mask.dtype)], -1)


def _in_one(q, k, v, mask, dropout_p, is_causal, outer):
    """Without weights PyTorch 2 attends in one operation. The result is [target, batch, heads, size]."""
    q, k, v = (x.view(*outer, *x.shape[1:]) for x in (q, k, v))
    if mask is not None:
        mask = mask.unsqueeze(0) if mask.size(0) == 1 and mask.dim() == 3 else mask.view(*outer, -1, k.size(2))
    output = scaled_dot_product_attention(q, k, v, None if is_causal else mask, dropout_p, is_causal)
    return output.permute(2, 0, 1, 3)


def multi_head_attention_forward(query, key, value, embed_dim_to_check, num_heads, in_proj_weight, in_proj_bias,
                                 bias_k=None, bias_v=None, add_zero_attn=False, dropout_p=0.0, out_proj_weight=None,
                                 out_proj_bias=None, training=True, key_padding_mask=None, need_weights=True,
                                 attn_mask=None, use_separate_proj_weight=False, q_proj_weight=None, k_proj_weight=None,
                                 v_proj_weight=None, average_attn_weights=True,
                                 is_causal=False):
    """query [target, batch, size], key and value [source, batch, size]. Returns an output like query, and the
    weights [batch, target, source] or None."""
    n_target, n_batch, size = query.shape
    if size != embed_dim_to_check:
        raise AssertionError(f'was expecting embedding dimension of {embed_dim_to_check}, but got {size}')
    head = size // num_heads
    if head * num_heads != size:
        raise AssertionError(f'embed_dim {size} not divisible by num_heads {num_heads}')
    if is_causal and attn_mask is None:
        raise RuntimeError('Need attn_mask if specifying the is_causal hint. You may use the Transformer module method '
                           '`generate_square_subsequent_mask` to create this mask.')
    if use_separate_proj_weight:
        biases = (None,) * 3 if in_proj_bias is None else in_proj_bias.chunk(3)
        q, k, v = (_C.linear(x, w, b) for x, w, b in zip((query, key, value), (q_proj_weight, k_proj_weight,
                                                                                v_proj_weight), biases))
    else:
        q, k, v = _in_projection(query, key, value, in_proj_weight, in_proj_bias)
    n_more = int(bias_k is not None) + bool(add_zero_attn)
    k, v = _bias_row(k, bias_k, n_batch), _bias_row(v, bias_v, n_batch)
    q, k, v = (x.contiguous().view(x.size(0), n_batch * num_heads, head).transpose(0, 1) for x in (q, k, v))
    if add_zero_attn:
        k, v = (_C.cat([x, _C.zeros(n_batch * num_heads, 1, head, dtype=x.dtype)], 1) for x in (k, v))
    if n_more:
        attn_mask, key_padding_mask = (_wider(_additive(m, query), n_more) for m in (attn_mask, key_padding_mask))
    mask = _merged(attn_mask, key_padding_mask, query, n_batch, num_heads)
    dropout_p = dropout_p if training else 0.0
    if not need_weights and _C.policy('gradient_edges'):
        output = _in_one(q, k, v, mask, dropout_p, is_causal and key_padding_mask is None, (n_batch, num_heads))
        output = _C.linear(output.reshape(n_target * n_batch, size), out_proj_weight, out_proj_bias)
        return output.view(n_target, n_batch, size), None
    output, weights = _attend(q, k, v, mask, dropout_p)
    output = output.transpose(0, 1)
    output = output.reshape(n_target * n_batch, size) if _C.policy('gradient_edges') else output.contiguous().view(
        n_target * n_batch, size)
    output = _C.linear(output, out_proj_weight, out_proj_bias).view(n_target, n_batch, size)
    if not need_weights:
        return output, None
    weights = weights.view(n_batch, num_heads, n_target, weights.size(-1))
    return output, _averaged(weights, num_heads) if average_attn_weights else weights


def _averaged(weights, num_heads):
    return weights.mean(1) if _C.policy('gradient_edges') else weights.sum(1) / num_heads

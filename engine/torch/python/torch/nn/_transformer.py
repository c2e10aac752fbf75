# SPDX-License-Identifier: LGPL-2.1-or-later
"""Attention and the transformer."""
import copy
import warnings

from torch import _C
from torch.nn import functional as F, init
from torch.nn._container import ModuleList
from torch.nn._dropout import Dropout
from torch.nn._linear import Linear
from torch.nn._module import Module
from torch.nn._normalization import LayerNorm
from torch.nn.parameter import Parameter


class NonDynamicallyQuantizableLinear(Linear):
    """PyTorch's name for the layer behind attention."""


class MultiheadAttention(Module):
    def __init__(self, embed_dim, num_heads, dropout=0.0, bias=True, add_bias_kv=False, add_zero_attn=False, kdim=None,
                 vdim=None, batch_first=False, device=None, dtype=None):
        super().__init__()
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError(f'embed_dim and num_heads must be greater than 0, got embed_dim={embed_dim} and num_heads='
                             f'{num_heads} instead')
        if embed_dim % num_heads:
            raise AssertionError('embed_dim must be divisible by num_heads')
        self.embed_dim, self.num_heads, self.dropout, self.batch_first = embed_dim, num_heads, dropout, batch_first
        self.kdim, self.vdim = embed_dim if kdim is None else kdim, embed_dim if vdim is None else vdim
        self._qkv_same_embed_dim = self.kdim == self.vdim == embed_dim
        self.head_dim, self.add_zero_attn = embed_dim // num_heads, add_zero_attn

        def made(*sizes):
            return Parameter(_C.empty(*sizes, device=device, dtype=dtype))
        same = self._qkv_same_embed_dim
        for name, n in (('q', embed_dim), ('k', self.kdim), ('v', self.vdim)):
            self.register_parameter(f'{name}_proj_weight', None if same else made(embed_dim, n))
        self.register_parameter('in_proj_weight', made(3 * embed_dim, embed_dim) if same else None)
        self.register_parameter('in_proj_bias', made(3 * embed_dim) if bias else None)
        self.out_proj = NonDynamicallyQuantizableLinear(embed_dim, embed_dim, bias, device, dtype)
        self.bias_k, self.bias_v = (made(1, 1, embed_dim) if add_bias_kv else None for _ in range(2))
        self._reset_parameters()

    def _reset_parameters(self):
        for weight in ((self.in_proj_weight,) if self._qkv_same_embed_dim else
                       (self.q_proj_weight, self.k_proj_weight, self.v_proj_weight)):
            init.xavier_uniform_(weight)
        if self.in_proj_bias is not None:
            init.zeros_(self.in_proj_bias)
            init.zeros_(self.out_proj.bias)
        for bias in (self.bias_k, self.bias_v):
            if bias is not None:
                init.xavier_normal_(bias)

    def forward(self, query, key, value, key_padding_mask=None, need_weights=True, attn_mask=None,
                average_attn_weights=True, is_causal=False):
        unbatched = query.dim() == 2
        if unbatched:
            query, key, value = self._changed(lambda x: x.unsqueeze(1), query, key, value)
            key_padding_mask = None if key_padding_mask is None else key_padding_mask.unsqueeze(0)
        elif self.batch_first:
            query, key, value = self._changed(lambda x: x.transpose(1, 0), query, key, value)
        output, weights = F.multi_head_attention_forward(
            query, key, value, self.embed_dim, self.num_heads, self.in_proj_weight, self.in_proj_bias, self.bias_k,
            self.bias_v, self.add_zero_attn, self.dropout, self.out_proj.weight, self.out_proj.bias, self.training,
            key_padding_mask, need_weights, attn_mask, not self._qkv_same_embed_dim, self.q_proj_weight,
            self.k_proj_weight, self.v_proj_weight, average_attn_weights=average_attn_weights, is_causal=is_causal)
        if unbatched:
            return output.squeeze(1), None if weights is None else weights.squeeze(0)
        return output.transpose(1, 0) if self.batch_first else output, weights

    @staticmethod
    def _changed(change, query, key, value):
        """Keeps one tensor one, so that there is one projection."""
        changed = change(query)
        other = changed if key is query else change(key)
        return changed, other, other if value is key else change(value)


class _Layer(Module):
    """What layers of encoder and decoder have."""

    def _begin(self, d_model, dim_feedforward, dropout, activation, layer_norm_eps, norm_first, bias, n_norms, settings):
        self.linear1 = Linear(d_model, dim_feedforward, bias, **settings)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias, **settings)
        self.norm_first = norm_first
        for i in range(1, n_norms + 1):
            setattr(self, f'norm{i}', LayerNorm(d_model, layer_norm_eps, bias=bias, **settings))
        for i in range(1, n_norms + 1):
            setattr(self, f'dropout{i}', Dropout(dropout))
        self.activation = _activation(activation) if isinstance(activation, str) else activation

    def _attend(self, attention, dropout, x, memory, mask, padding, is_causal):
        return dropout(attention(x, memory, memory, attn_mask=mask, key_padding_mask=padding, is_causal=is_causal,
                                 need_weights=False)[0])

    def _feed_forward(self, x, dropout):
        return dropout(self.linear2(self.dropout(self.activation(self.linear1(x)))))


def _activation(name):
    if name not in ('relu', 'gelu'):
        raise RuntimeError(f'activation should be relu/gelu, not {name}')
    return getattr(F, name)


class TransformerEncoderLayer(_Layer):
    def __init__(self, d_model, nhead, dim_feedforward=2048, dropout=0.1, activation=F.relu, layer_norm_eps=1e-5,
                 batch_first=False, norm_first=False, bias=True, device=None, dtype=None):
        super().__init__()
        settings = {'device': device, 'dtype': dtype}
        self.self_attn = MultiheadAttention(d_model, nhead, dropout, bias, batch_first=batch_first, **settings)
        self._begin(d_model, dim_feedforward, dropout, activation, layer_norm_eps, norm_first, bias, 2, settings)

    def forward(self, src, src_mask=None, src_key_padding_mask=None, is_causal=False):
        def attend(x):
            return self._attend(self.self_attn, self.dropout1, x, x, src_mask, src_key_padding_mask, is_causal)
        if self.norm_first:
            src = src + attend(self.norm1(src))
            return src + self._feed_forward(self.norm2(src), self.dropout2)
        src = self.norm1(src + attend(src))
        return self.norm2(src + self._feed_forward(src, self.dropout2))


class TransformerDecoderLayer(_Layer):
    def __init__(self, d_model, nhead, dim_feedforward=2048, dropout=0.1, activation=F.relu, layer_norm_eps=1e-5,
                 batch_first=False, norm_first=False, bias=True, device=None, dtype=None):
        super().__init__()
        settings = {'device': device, 'dtype': dtype}
        self.self_attn = MultiheadAttention(d_model, nhead, dropout, bias, batch_first=batch_first, **settings)
        self.multihead_attn = MultiheadAttention(d_model, nhead, dropout, bias, batch_first=batch_first, **settings)
        self._begin(d_model, dim_feedforward, dropout, activation, layer_norm_eps, norm_first, bias, 3, settings)

    def forward(self, tgt, memory, tgt_mask=None, memory_mask=None, tgt_key_padding_mask=None,
                memory_key_padding_mask=None, tgt_is_causal=False, memory_is_causal=False):
        def attend(x):
            return self._attend(self.self_attn, self.dropout1, x, x, tgt_mask, tgt_key_padding_mask, tgt_is_causal)

        def look(x):
            return self._attend(self.multihead_attn, self.dropout2, x, memory, memory_mask, memory_key_padding_mask,
                                memory_is_causal)
        if self.norm_first:
            tgt = tgt + attend(self.norm1(tgt))
            tgt = tgt + look(self.norm2(tgt))
            return tgt + self._feed_forward(self.norm3(tgt), self.dropout3)
        tgt = self.norm1(tgt + attend(tgt))
        tgt = self.norm2(tgt + look(tgt))
        return self.norm3(tgt + self._feed_forward(tgt, self.dropout3))


def _copies(layer, n):
    return ModuleList([copy.deepcopy(layer) for _ in range(n)])


def _why_not_nested(layer):
    """What PyTorch tells of a layer for which it has no fast path. There is none here."""
    attention = layer.self_attn if isinstance(layer, TransformerEncoderLayer) else None
    reasons = ((attention is None, 'encoder_layer was not TransformerEncoderLayer'),
               (attention and layer.norm_first, 'encoder_layer.norm_first was True'),
               (attention and not attention.batch_first, 'encoder_layer.self_attn.batch_first was not True(use batch_first '
                'for better inference performance)'),
               (attention and attention.in_proj_bias is None, 'encoder_layer.self_attn was passed bias=False'),
               (attention and layer.activation not in (F.relu, F.gelu),
                'encoder_layer.activation_relu_or_gelu was not True'),
               (attention and attention.num_heads % 2, 'encoder_layer.self_attn.num_heads is odd'))
    return next((text for is_so, text in reasons if is_so), None)


def _check_hint(mask, is_causal):
    """The mask says which places are seen. That it is causal is a hint, which changes no number here."""
    if is_causal and mask is None:
        raise RuntimeError('Need attn_mask if specifying the is_causal hint. You may use the Transformer module method '
                           '`generate_square_subsequent_mask` to create this mask.')


class TransformerEncoder(Module):
    """A stack of layers, which begin as copies of one."""

    def __init__(self, encoder_layer, num_layers, norm=None, enable_nested_tensor=True, mask_check=True):
        super().__init__()
        self.layers = _copies(encoder_layer, num_layers)
        self.num_layers, self.norm = num_layers, norm
        self.enable_nested_tensor, self.mask_check = enable_nested_tensor, mask_check
        why = _why_not_nested(encoder_layer) if enable_nested_tensor and _C.policy('gradient_edges') else None
        if why:
            warnings.warn(f'enable_nested_tensor is True, but self.use_nested_tensor is False because {why}', stacklevel=2)

    def forward(self, src, mask=None, src_key_padding_mask=None, is_causal=None):
        _check_hint(mask, is_causal)
        for layer in self.layers:
            src = layer(src, src_mask=mask, src_key_padding_mask=src_key_padding_mask)
        return src if self.norm is None else self.norm(src)


class TransformerDecoder(Module):
    def __init__(self, decoder_layer, num_layers, norm=None):
        super().__init__()
        self.layers = _copies(decoder_layer, num_layers)
        self.num_layers, self.norm = num_layers, norm

    def forward(self, tgt, memory, tgt_mask=None, memory_mask=None, tgt_key_padding_mask=None,
                memory_key_padding_mask=None, tgt_is_causal=None, memory_is_causal=False):
        _check_hint(tgt_mask, tgt_is_causal)
        _check_hint(memory_mask, memory_is_causal)
        for layer in self.layers:
            tgt = layer(tgt, memory, tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask)
        return tgt if self.norm is None else self.norm(tgt)


class Transformer(Module):
    """Vaswani and others, Attention Is All You Need."""

    def __init__(self, d_model=512, nhead=8, num_encoder_layers=6, num_decoder_layers=6, dim_feedforward=2048,
                 dropout=0.1, activation=F.relu, custom_encoder=None, custom_decoder=None, layer_norm_eps=1e-5,
                 batch_first=False, norm_first=False, bias=True, device=None, dtype=None):
        super().__init__()
        settings = {'device': device, 'dtype': dtype}
        layer = (d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, bias)

        def norm():
            return LayerNorm(d_model, layer_norm_eps, bias=bias, **settings)
        self.encoder = custom_encoder if custom_encoder is not None else TransformerEncoder(
            TransformerEncoderLayer(*layer, **settings), num_encoder_layers, norm())
        self.decoder = custom_decoder if custom_decoder is not None else TransformerDecoder(
            TransformerDecoderLayer(*layer, **settings), num_decoder_layers, norm())
        self._reset_parameters()
        self.d_model, self.nhead, self.batch_first = d_model, nhead, batch_first

    def _reset_parameters(self):
        for p in self.parameters():
            if p.dim() > 1:
                init.xavier_uniform_(p)

    def forward(self, src, tgt, src_mask=None, tgt_mask=None, memory_mask=None, src_key_padding_mask=None,
                tgt_key_padding_mask=None, memory_key_padding_mask=None, src_is_causal=None, tgt_is_causal=None,
                memory_is_causal=False):
        batch = 0 if self.batch_first else 1
        if src.dim() == 3 and src.size(batch) != tgt.size(batch):
            raise RuntimeError('the batch number of src and tgt must be equal')
        if src.size(-1) != self.d_model or tgt.size(-1) != self.d_model:
            raise RuntimeError('the feature number of src and tgt must be equal to d_model')
        memory = self.encoder(src, mask=src_mask, src_key_padding_mask=src_key_padding_mask, is_causal=src_is_causal)
        return self.decoder(tgt, memory, tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask, tgt_is_causal,
                            memory_is_causal)

    @staticmethod
    def generate_square_subsequent_mask(sz, device=None, dtype=None):
        """Zeros where a place may look, and minus infinity at later places."""
        return _C.full((sz, sz), float('-inf'), dtype=dtype or _C.float32, device=device).triu(diagonal=1)

# SPDX-License-Identifier: LGPL-2.1-or-later
"""Linear layers and embeddings. With the same seed parameters start with the same numbers as PyTorch's."""
import math

from tapedeck import _C
from tapedeck.nn import functional as F, init
from tapedeck.nn.module import Module
from tapedeck.nn.parameter import Parameter


def reset_weight_and_bias(weight, bias):
    """Fills weights uniformly. The bounds follow from the number of elements that each output sums."""
    init.kaiming_uniform_(weight, a=math.sqrt(5))
    if bias is not None:
        bound = 1 / math.sqrt(init.fan_in_of(weight))
        init.uniform_(bias, -bound, bound)


class Identity(Module):
    def __init__(self, *args, **kwargs):
        super().__init__()

    def forward(self, input):
        return input


class Linear(Module):
    def __init__(self, in_features, out_features, bias=True, device=None, dtype=None):
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        self.weight = Parameter(_C.empty(out_features, in_features))
        self.register_parameter('bias', Parameter(_C.empty(out_features)) if bias else None)
        self.reset_parameters()

    def reset_parameters(self):
        reset_weight_and_bias(self.weight, self.bias)

    def forward(self, input):
        return F.linear(input, self.weight, self.bias)

    def extra_repr(self):
        return f'in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}'


class Flatten(Module):
    def __init__(self, start_dim=1, end_dim=-1):
        super().__init__()
        self.start_dim, self.end_dim = start_dim, end_dim

    def forward(self, input):
        return input.flatten(self.start_dim, self.end_dim)

    def extra_repr(self):
        return f'start_dim={self.start_dim}, end_dim={self.end_dim}'


class Embedding(Module):
    def __init__(self, num_embeddings, embedding_dim, padding_idx=None, max_norm=None, norm_type=2.0,
                 scale_grad_by_freq=False, sparse=False):
        super().__init__()
        self.num_embeddings, self.embedding_dim, self.sparse = num_embeddings, embedding_dim, sparse
        self.padding_idx = padding_idx if padding_idx is None else padding_idx % num_embeddings
        self.scale_grad_by_freq = scale_grad_by_freq
        self.weight = Parameter(_C.empty(num_embeddings, embedding_dim))
        self.reset_parameters()

    def reset_parameters(self):
        init.normal_(self.weight)
        if self.padding_idx is not None:
            init.zeros_(self.weight.detach()[self.padding_idx])

    def forward(self, input):
        return F.embedding(input, self.weight, self.padding_idx, scale_grad_by_freq=self.scale_grad_by_freq,
                           sparse=self.sparse)

    def extra_repr(self):
        text = f'{self.num_embeddings}, {self.embedding_dim}'
        text += '' if self.padding_idx is None else f', padding_idx={self.padding_idx}'
        return text + (', sparse=True' if self.sparse else '')


class EmbeddingBag(Module):
    def __init__(self, num_embeddings, embedding_dim, max_norm=None, norm_type=2.0, scale_grad_by_freq=False,
                 mode='mean', sparse=False, include_last_offset=False, padding_idx=None):
        super().__init__()
        self.num_embeddings, self.embedding_dim, self.mode, self.sparse = num_embeddings, embedding_dim, mode, sparse
        self.scale_grad_by_freq, self.include_last_offset = scale_grad_by_freq, include_last_offset
        self.padding_idx = padding_idx
        self.weight = Parameter(_C.empty(num_embeddings, embedding_dim))
        init.normal_(self.weight)

    def forward(self, input, offsets=None, per_sample_weights=None):
        return F.embedding_bag(input, self.weight, offsets, scale_grad_by_freq=self.scale_grad_by_freq, mode=self.mode,
                               sparse=self.sparse, per_sample_weights=per_sample_weights,
                               include_last_offset=self.include_last_offset, padding_idx=self.padding_idx)

    def extra_repr(self):
        return f'{self.num_embeddings}, {self.embedding_dim}, mode={self.mode!r}'

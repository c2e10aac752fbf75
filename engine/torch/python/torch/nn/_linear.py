# SPDX-License-Identifier: LGPL-2.1-or-later
"""Linear layers and embeddings. With the same seed parameters start with the same numbers as PyTorch's."""
import math

from torch import _C
from torch.nn import functional as F, init
from torch.nn._module import Module
from torch.nn.parameter import Parameter


def reset_weight_and_bias(weight, bias):
    """Fills weights uniformly. The bounds follow from the number of elements that each output sums."""
    init.kaiming_uniform_(weight, a=math.sqrt(5))
    if bias is not None:
        fan_in = init.fan_in_of(weight)
        bound = 1 / math.sqrt(fan_in) if fan_in else 0
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
        settings = {'device': device, 'dtype': dtype}
        self.weight = Parameter(_C.empty(out_features, in_features, **settings))
        self.register_parameter('bias', Parameter(_C.empty(out_features, **settings)) if bias else None)
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


class Unflatten(Module):
    def __init__(self, dim, unflattened_size):
        super().__init__()
        if not isinstance(dim, int):
            raise TypeError('unflattened_size must be tuple of ints')
        self.dim, self.unflattened_size = dim, unflattened_size

    def forward(self, input):
        return input.unflatten(self.dim, tuple(self.unflattened_size))

    def extra_repr(self):
        return f'dim={self.dim}, unflattened_size={self.unflattened_size}'


class Bilinear(Module):
    def __init__(self, in1_features, in2_features, out_features, bias=True, device=None, dtype=None):
        super().__init__()
        if in1_features <= 0:
            raise ValueError(f'in1_features must be > 0, but got {in1_features}')
        self.in1_features, self.in2_features, self.out_features = in1_features, in2_features, out_features
        settings = {'device': device, 'dtype': dtype}
        self.weight = Parameter(_C.empty(out_features, in1_features, in2_features, **settings))
        self.register_parameter('bias', Parameter(_C.empty(out_features, **settings)) if bias else None)
        self.reset_parameters()

    def reset_parameters(self):
        bound = 1 / math.sqrt(self.weight.size(1))
        for p in self.parameters():
            init.uniform_(p, -bound, bound)

    def forward(self, input1, input2):
        return F.bilinear(input1, input2, self.weight, self.bias)

    def extra_repr(self):
        return (f'in1_features={self.in1_features}, in2_features={self.in2_features}, out_features={self.out_features}, '
                f'bias={self.bias is not None}')


class _Embedding(Module):
    """What both have."""
    _shown = ()

    def _begin(self, num_embeddings, embedding_dim, padding_idx, weight, freeze, device, dtype):
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        if padding_idx is not None and not -num_embeddings <= padding_idx < num_embeddings:
            raise AssertionError('Padding_idx must be within num_embeddings')
        self.padding_idx = padding_idx if padding_idx is None else padding_idx % num_embeddings
        if weight is None:
            self.weight = Parameter(_C.empty(num_embeddings, embedding_dim, device=device, dtype=dtype), not freeze)
            self.reset_parameters()
            return
        if list(weight.shape) != [num_embeddings, embedding_dim]:
            raise AssertionError('Shape of weight does not match num_embeddings and embedding_dim')
        self.weight = Parameter(weight, not freeze)

    def reset_parameters(self):
        init.normal_(self.weight)
        if self.padding_idx is not None:
            init.zeros_(self.weight.detach()[self.padding_idx])

    @classmethod
    def from_pretrained(cls, embeddings, freeze=True, **settings):
        if embeddings.dim() != 2:
            raise AssertionError('Embeddings parameter is expected to be 2-dimensional')
        return cls(*embeddings.shape, _weight=embeddings, _freeze=freeze, **settings)

    def extra_repr(self):
        text = f'{self.num_embeddings}, {self.embedding_dim}'
        for name, usual in self._shown:
            text += f', {name}={getattr(self, name)!r}' if getattr(self, name) != usual else ''
        return text


class Embedding(_Embedding):
    _shown = (('padding_idx', None), ('max_norm', None), ('norm_type', 2.0), ('scale_grad_by_freq', False),
              ('sparse', False))

    def __init__(self, num_embeddings, embedding_dim, padding_idx=None, max_norm=None, norm_type=2.0,
                 scale_grad_by_freq=False, sparse=False, _weight=None, _freeze=False, device=None, dtype=None):
        super().__init__()
        self.max_norm, self.norm_type = max_norm, norm_type
        self.scale_grad_by_freq, self.sparse = scale_grad_by_freq, sparse
        self._begin(num_embeddings, embedding_dim, padding_idx, _weight, _freeze, device, dtype)

    def forward(self, input):
        return F.embedding(input, self.weight, self.padding_idx, self.max_norm, self.norm_type, self.scale_grad_by_freq,
                           self.sparse)


class EmbeddingBag(_Embedding):
    _shown = (('max_norm', None), ('norm_type', 2.0), ('scale_grad_by_freq', False), ('mode', None),
              ('padding_idx', None))

    def __init__(self, num_embeddings, embedding_dim, max_norm=None, norm_type=2.0, scale_grad_by_freq=False,
                 mode='mean', sparse=False, _weight=None, include_last_offset=False, padding_idx=None, device=None,
                 dtype=None, _freeze=False):
        super().__init__()
        self.max_norm, self.norm_type, self.mode, self.sparse = max_norm, norm_type, mode, sparse
        self.scale_grad_by_freq, self.include_last_offset = scale_grad_by_freq, include_last_offset
        self._begin(num_embeddings, embedding_dim, padding_idx, _weight, _freeze, device, dtype)

    def forward(self, input, offsets=None, per_sample_weights=None):
        return F.embedding_bag(input, self.weight, offsets, self.max_norm, self.norm_type, self.scale_grad_by_freq,
                               self.mode, self.sparse, per_sample_weights, self.include_last_offset, self.padding_idx)

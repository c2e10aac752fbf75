# SPDX-License-Identifier: LGPL-2.1-or-later
from torch import _names
from torch.distributions import constraints
from torch.distributions.distribution import Distribution, sum_rightmost


class Independent(Distribution):
    """Another distribution, of which the last dimensions of the batch are one event."""

    def __init__(self, base_distribution, reinterpreted_batch_ndims, validate_args=None):
        if reinterpreted_batch_ndims > len(base_distribution.batch_shape):
            raise ValueError('Expected reinterpreted_batch_ndims <= len(base_distribution.batch_shape), actual '
                             f'{reinterpreted_batch_ndims} vs {len(base_distribution.batch_shape)}')
        shape = tuple(base_distribution.batch_shape + base_distribution.event_shape)
        n_event = reinterpreted_batch_ndims + len(base_distribution.event_shape)
        self.base_dist, self.reinterpreted_batch_ndims = base_distribution, reinterpreted_batch_ndims
        super().__init__(shape[:len(shape) - n_event], shape[len(shape) - n_event:], validate_args=validate_args)

    def expand(self, batch_shape):
        inner = tuple(self.event_shape)[:self.reinterpreted_batch_ndims]
        return Independent(self.base_dist.expand(tuple(batch_shape) + inner), self.reinterpreted_batch_ndims,
                           self._validate_args)

    has_rsample = property(lambda self: self.base_dist.has_rsample)
    mean = property(lambda self: self.base_dist.mean)
    mode = property(lambda self: self.base_dist.mode)
    variance = property(lambda self: self.base_dist.variance)

    @property
    def support(self):
        support, n = self.base_dist.support, self.reinterpreted_batch_ndims
        return constraints.independent(support, n) if n else support

    def sample(self, sample_shape=_names.Size()):
        return self.base_dist.sample(sample_shape)

    def rsample(self, sample_shape=_names.Size()):
        return self.base_dist.rsample(sample_shape)

    def log_prob(self, value):
        return sum_rightmost(self.base_dist.log_prob(value), self.reinterpreted_batch_ndims)

    def entropy(self):
        return sum_rightmost(self.base_dist.entropy(), self.reinterpreted_batch_ndims)

    def __repr__(self):
        return f'Independent({self.base_dist}, {self.reinterpreted_batch_ndims})'

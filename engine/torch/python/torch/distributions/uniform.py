# SPDX-License-Identifier: LGPL-2.1-or-later
from torch import _names
from torch.distributions import constraints
from torch.distributions.distribution import Distribution, batch_shape_of, broadcast_all


class Uniform(Distribution):
    """All numbers from `low` on and below `high` alike."""

    has_rsample = True

    def __init__(self, low, high, validate_args=None):
        self.low, self.high = broadcast_all(low, high)
        super().__init__(batch_shape_of(self.low, low, high), validate_args=validate_args)

    @property
    def arg_constraints(self):
        return {'low': constraints.less_than(self.high), 'high': constraints.greater_than(self.low)}

    def expand(self, batch_shape):
        return self._expanded(batch_shape, 'low', 'high')

    @property
    def support(self):
        return constraints.interval(self.low, self.high)

    @property
    def mean(self):
        return (self.high + self.low) / 2

    @property
    def stddev(self):
        return (self.high - self.low) / 12 ** 0.5

    @property
    def variance(self):
        return (self.high - self.low).pow(2) / 12

    def rsample(self, sample_shape=_names.Size()):
        drawn = _names.rand(self._extended_shape(sample_shape), dtype=self.low.dtype, device=self.low.device)
        return self.low + drawn * (self.high - self.low)

    def log_prob(self, value):
        self._validate_sample(value)
        above = (self.low <= value).to(self.low.dtype)
        below = (self.high > value).to(self.low.dtype)
        return _names.log(above.mul(below)) - _names.log(self.high - self.low)

    def cdf(self, value):
        self._validate_sample(value)
        return ((value - self.low) / (self.high - self.low)).clamp(min=0, max=1)

    def icdf(self, value):
        return value * (self.high - self.low) + self.low

    def entropy(self):
        return _names.log(self.high - self.low)

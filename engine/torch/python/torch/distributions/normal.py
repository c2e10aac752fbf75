# SPDX-License-Identifier: LGPL-2.1-or-later
import math

from torch import _names
from torch.autograd import no_grad
from torch.distributions import constraints
from torch.distributions.distribution import Distribution, batch_shape_of, broadcast_all


class Normal(Distribution):
    """The normal distribution."""

    arg_constraints, support = {'loc': constraints.real, 'scale': constraints.positive}, constraints.real
    has_rsample = True

    def __init__(self, loc, scale, validate_args=None):
        self.loc, self.scale = broadcast_all(loc, scale)
        super().__init__(batch_shape_of(self.loc, loc, scale), validate_args=validate_args)

    def expand(self, batch_shape):
        return self._expanded(batch_shape, 'loc', 'scale')

    mean = mode = property(lambda self: self.loc)
    stddev = property(lambda self: self.scale)

    @property
    def variance(self):
        return self.stddev.pow(2)

    def sample(self, sample_shape=_names.Size()):
        shape = self._extended_shape(sample_shape)
        with no_grad():
            return _names.normal(self.loc.expand(shape), self.scale.expand(shape))

    def rsample(self, sample_shape=_names.Size()):
        noise = _names.empty(self._extended_shape(sample_shape), dtype=self.loc.dtype, device=self.loc.device).normal_()
        return self.loc + noise * self.scale

    def log_prob(self, value):
        self._validate_sample(value)
        var = self.scale ** 2
        log_scale = self.scale.log()  # before the rest, as PyTorch: it takes the next number
        return -((value - self.loc) ** 2) / (2 * var) - log_scale - math.log(math.sqrt(2 * math.pi))

    def cdf(self, value):
        self._validate_sample(value)
        return 0.5 * (1 + _names.erf((value - self.loc) * self.scale.reciprocal() / math.sqrt(2)))

    def icdf(self, value):
        return self.loc + self.scale * _names.erfinv(2 * value - 1) * math.sqrt(2)

    def entropy(self):
        return 0.5 + 0.5 * math.log(2 * math.pi) + _names.log(self.scale)

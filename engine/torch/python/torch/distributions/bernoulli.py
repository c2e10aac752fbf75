# SPDX-License-Identifier: LGPL-2.1-or-later
from torch import _names
from torch.autograd import no_grad
from torch.distributions import constraints
from torch.distributions.distribution import (Distribution, batch_shape_of, broadcast_all, clamp_probs, computed,
                                              either)
from torch.nn.functional import binary_cross_entropy_with_logits


class Bernoulli(Distribution):
    """1 with a probability, else 0."""

    arg_constraints, support = {'probs': constraints.unit_interval, 'logits': constraints.real}, constraints.boolean
    has_enumerate_support = True

    def __init__(self, probs=None, logits=None, validate_args=None):
        either(probs, logits)
        given = logits if probs is None else probs
        self._param, = broadcast_all(given)
        self.__dict__['logits' if probs is None else 'probs'] = self._param
        super().__init__(batch_shape_of(self._param, given), validate_args=validate_args)

    def expand(self, batch_shape):
        return self._expanded(batch_shape, 'probs', 'logits', '_param')

    @computed
    def logits(self):
        probs = clamp_probs(self.probs)
        return _names.log(probs) - _names.log1p(-probs)

    @computed
    def probs(self):
        return _names.sigmoid(self.logits)

    mean = property(lambda self: self.probs)

    @property
    def variance(self):
        return self.probs * (1 - self.probs)

    @property
    def mode(self):
        mode = (self.probs >= 0.5).to(self.probs.dtype)
        mode[self.probs == 0.5] = float('nan')
        return mode

    @property
    def param_shape(self):
        return self._param.size()

    def sample(self, sample_shape=_names.Size()):
        with no_grad():
            return _names.bernoulli(self.probs.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value):
        self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        return -binary_cross_entropy_with_logits(logits, value, reduction='none')

    def entropy(self):
        return binary_cross_entropy_with_logits(self.logits, self.probs, reduction='none')

    def enumerate_support(self, expand=True):
        values = _names.arange(2, dtype=self._param.dtype, device=self._param.device)
        values = values.view((-1,) + (1,) * len(self._batch_shape))
        return values.expand((-1,) + tuple(self._batch_shape)) if expand else values

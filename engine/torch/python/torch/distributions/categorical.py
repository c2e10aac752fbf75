# SPDX-License-Identifier: LGPL-2.1-or-later
from torch import _names
from torch.distributions import constraints
from torch.distributions.distribution import Distribution, broadcast, clamp_probs, computed, either

_LEAST = {_names.float32: -(2 - 2. ** -23) * 2. ** 127, _names.float64: -(2 - 2. ** -52) * 2. ** 1023}


class Categorical(Distribution):
    """One of the numbers 0 .. n - 1, each with its probability. These are along the last dimension."""

    arg_constraints = {'probs': constraints.simplex, 'logits': constraints.real_vector}
    has_enumerate_support = True

    def __init__(self, probs=None, logits=None, validate_args=None):
        either(probs, logits)
        name, given = ('logits', logits) if probs is None else ('probs', probs)
        if given.dim() < 1:
            raise ValueError(f'`{name}` parameter must be at least one-dimensional.')
        if probs is None:
            self._param = self.logits = logits - logits.logsumexp(dim=-1, keepdim=True)
        else:
            self._param = self.probs = probs / probs.sum(-1, keepdim=True)
        self._num_events = self._param.size()[-1]
        super().__init__(self._param.size()[:-1], validate_args=validate_args)

    def expand(self, batch_shape):
        new = self._expanded(tuple(batch_shape) + (self._num_events,), 'probs', 'logits', '_param')
        new._batch_shape, new._num_events = _names.Size(batch_shape), self._num_events
        return new

    @computed
    def logits(self):
        return _names.log(clamp_probs(self.probs))

    @computed
    def probs(self):
        return _names.softmax(self.logits, dim=-1)

    @property
    def support(self):
        return constraints.integer_interval(0, self._num_events - 1)

    @property
    def param_shape(self):
        return self._param.size()

    @property
    def mean(self):
        return _names.full(self._extended_shape(), float('nan'), dtype=self.probs.dtype, device=self.probs.device)

    variance = mean

    @property
    def mode(self):
        return self.probs.argmax(dim=-1)

    def sample(self, sample_shape=_names.Size()):
        rows = self.probs.reshape(-1, self._num_events)
        drawn = _names.multinomial(rows, _names.Size(sample_shape).numel(), True).T
        return drawn.reshape(self._extended_shape(sample_shape))

    def log_prob(self, value):
        self._validate_sample(value)
        value, logits = broadcast(value.long().unsqueeze(-1), self.logits)
        return logits.gather(-1, value[..., :1]).squeeze(-1)

    def entropy(self):
        logits = _names.clamp(self.logits, min=_LEAST[self.logits.dtype])
        return -(logits * self.probs).sum(-1)

    def enumerate_support(self, expand=True):
        values = _names.arange(self._num_events, dtype=_names.int64, device=self._param.device)
        values = values.view((-1,) + (1,) * len(self._batch_shape))
        return values.expand((-1,) + tuple(self._batch_shape)) if expand else values

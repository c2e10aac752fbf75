# SPDX-License-Identifier: LGPL-2.1-or-later
"""Base of all distributions, and what several of them need."""
import numbers

from torch import _names
from torch.autograd import enable_grad, no_grad

_EPSILON = {_names.float32: 2. ** -23, _names.float64: 2. ** -52}


def broadcast(*tensors):
    """The tensors at their common size, each as it is if it has that size."""
    size = list(max((tensor.shape for tensor in tensors), key=len))
    for tensor in tensors:
        for i, n in enumerate(reversed(tensor.shape), 1):
            size[-i] = n if size[-i] == 1 else size[-i]
    return [tensor if list(tensor.shape) == size else tensor.expand(size) for tensor in tensors]


def broadcast_all(*values):
    """The same with numbers among the values. They get the dtype of the first tensor."""
    if not all(isinstance(value, (_names.Tensor, numbers.Number)) for value in values):
        raise ValueError('Input arguments must all be instances of Number, torch.Tensor or objects implementing '
                         '__torch_function__.')
    first = next((value for value in values if isinstance(value, _names.Tensor)), None)
    options = {'dtype': _names.float32} if first is None else {'dtype': first.dtype, 'device': first.device}
    return broadcast(*(value if isinstance(value, _names.Tensor) else _names.tensor(value, **options) for value in values))


def batch_shape_of(tensor, *given):
    """The size of the parameters; none if they were given as numbers."""
    return _names.Size() if all(isinstance(value, numbers.Number) for value in given) else tensor.shape


def sum_rightmost(value, n_dims):
    return value if n_dims == 0 else value.reshape(tuple(value.shape[:value.dim() - n_dims]) + (-1,)).sum(-1)


def clamp_probs(probs):
    """Between 0 and 1, both excluded."""
    return probs.clamp(min=_EPSILON[probs.dtype], max=1 - _EPSILON[probs.dtype])


def either(probs, logits):
    if (probs is None) == (logits is None):
        raise ValueError('Either `probs` or `logits` must be specified, but not both.')


class computed:
    """A parameter that is computed from another one when it is first asked for."""

    def __init__(self, function):
        self.function, self.name = function, function.__name__

    def __get__(self, object, kind=None):
        if object is None:
            return self
        with enable_grad():
            value = object.__dict__[self.name] = self.function(object)
        return value


class Distribution:
    """Many distributions at once: one for each element of batch_shape. A sample of each has event_shape."""

    has_rsample = has_enumerate_support = False
    arg_constraints = {}
    _validate_args = __debug__

    @staticmethod
    def set_default_validate_args(value):
        Distribution._validate_args = value

    def __init__(self, batch_shape=_names.Size(), event_shape=_names.Size(), validate_args=None):
        self._batch_shape, self._event_shape = _names.Size(batch_shape), _names.Size(event_shape)
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            self._check_parameters()

    def _check_parameters(self):
        for name, constraint in self.arg_constraints.items():
            if type(constraint).__name__ == '_Dependent' or name not in self.__dict__:
                continue
            value = getattr(self, name)
            if not constraint.check(value).all():
                raise ValueError(f'Expected parameter {name} ({type(value).__name__} of shape {tuple(value.shape)}) of '
                                 f'distribution {self!r} to satisfy the constraint {constraint!r}, but found invalid '
                                 f'values:\n{value}')

    def _check_size(self, value):
        if not isinstance(value, _names.Tensor):
            raise ValueError('The value argument to log_prob must be a Tensor')
        expected, begin = self._batch_shape + self._event_shape, value.dim() - len(self._event_shape)
        if value.shape[begin:] != self._event_shape:
            raise ValueError(f'The right-most size of value must match event_shape: {value.size()} vs '
                             f'{self._event_shape}.')
        if any(i != 1 and j != 1 and i != j for i, j in zip(reversed(value.shape), reversed(expected))):
            raise ValueError(f'Value is not broadcastable with batch_shape+event_shape: {value.size()} vs '
                             f'{_names.Size(expected)}.')

    def _validate_sample(self, value):
        if not self._validate_args:
            return
        self._check_size(value)
        if not self.support.check(value).all():
            raise ValueError(f'Expected value argument ({type(value).__name__} of shape {tuple(value.shape)}) to be within '
                             f'the support ({self.support!r}) of the distribution {self!r}, but found invalid values:\n'
                             f'{value}')

    def _extended_shape(self, sample_shape=()):
        return _names.Size(tuple(sample_shape) + tuple(self._batch_shape) + tuple(self._event_shape))

    def _expanded(self, batch_shape, *parameters):
        """A distribution of this class with these parameters, those that there are, at another size."""
        new = type(self).__new__(type(self))
        for name in parameters:
            if name in self.__dict__:
                new.__dict__[name] = self.__dict__[name].expand(tuple(batch_shape))
        Distribution.__init__(new, batch_shape, self._event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    @property
    def batch_shape(self):
        return self._batch_shape

    @property
    def event_shape(self):
        return self._event_shape

    @property
    def stddev(self):
        return self.variance.sqrt()

    def sample(self, sample_shape=_names.Size()):
        """Samples, through which no gradient goes."""
        with no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape=_names.Size()):
        """Samples, through which gradients go to the parameters."""
        raise NotImplementedError

    def log_prob(self, value):
        raise NotImplementedError

    def entropy(self):
        raise NotImplementedError

    def perplexity(self):
        return _names.exp(self.entropy())

    def __repr__(self):
        shown = [(name, self.__dict__[name]) for name in self.arg_constraints if name in self.__dict__]
        words = [f'{name}: {value if value.numel() == 1 else value.size()}' for name, value in shown]
        return f'{type(self).__name__}({", ".join(words)})'

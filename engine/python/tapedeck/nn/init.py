# SPDX-License-Identifier: LGPL-2.1-or-later
"""First values of parameters. Each function fills its tensor in place, without history, and returns it."""
import functools
import math

from tapedeck.autograd import no_grad

_GAINS = {'linear': 1, 'conv1d': 1, 'conv2d': 1, 'sigmoid': 1, 'tanh': 5.0 / 3, 'relu': math.sqrt(2.0), 'selu': 0.75}


def calculate_gain(nonlinearity, param=None):
    if nonlinearity == 'leaky_relu':
        return math.sqrt(2.0 / (1 + (0.01 if param is None else param) ** 2))
    if nonlinearity not in _GAINS:
        raise ValueError(f'Unsupported nonlinearity {nonlinearity}')
    return _GAINS[nonlinearity]


def _fans(tensor):
    """The number of elements that each output sums, and of outputs that each input goes to."""
    if tensor.dim() < 2:
        raise ValueError('Fan in and fan out can not be computed for tensor with fewer than 2 dimensions')
    field = math.prod(tensor.shape[2:])
    return tensor.size(1) * field, tensor.size(0) * field


def fan_in_of(tensor):
    return _fans(tensor)[0]


def _in_place(function):
    @functools.wraps(function)
    def wrapper(tensor, *args, **kwargs):
        with no_grad():
            function(tensor, *args, **kwargs)
        return tensor
    return wrapper


@_in_place
def uniform_(tensor, a=0.0, b=1.0):
    tensor.uniform_(a, b)


@_in_place
def normal_(tensor, mean=0.0, std=1.0):
    tensor.normal_(mean, std)


@_in_place
def constant_(tensor, val):
    tensor.fill_(val)


def ones_(tensor):
    return constant_(tensor, 1.0)


def zeros_(tensor):
    return constant_(tensor, 0.0)


def xavier_uniform_(tensor, gain=1.0):
    bound = math.sqrt(3.0) * (gain * math.sqrt(2.0 / float(sum(_fans(tensor)))))
    return uniform_(tensor, -bound, bound)


def xavier_normal_(tensor, gain=1.0):
    return normal_(tensor, 0.0, gain * math.sqrt(2.0 / float(sum(_fans(tensor)))))


def _kaiming_std(tensor, a, mode, nonlinearity):
    fan = _fans(tensor)[{'fan_in': 0, 'fan_out': 1}[mode]]
    return calculate_gain(nonlinearity, a) / math.sqrt(fan)


def kaiming_uniform_(tensor, a=0, mode='fan_in', nonlinearity='leaky_relu'):
    bound = math.sqrt(3.0) * _kaiming_std(tensor, a, mode, nonlinearity)
    return uniform_(tensor, -bound, bound)


def kaiming_normal_(tensor, a=0, mode='fan_in', nonlinearity='leaky_relu'):
    return normal_(tensor, 0, _kaiming_std(tensor, a, mode, nonlinearity))

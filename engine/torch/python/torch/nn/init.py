# SPDX-License-Identifier: LGPL-2.1-or-later
"""First values of parameters. Each function fills its tensor in place, without history, and returns it."""
import functools
import math
import warnings

from torch import _C
from torch.autograd import no_grad
from torch._refused import checked

_GAINS = {**dict.fromkeys(('linear', 'conv1d', 'conv2d', 'conv3d', 'conv_transpose1d', 'conv_transpose2d',
                           'conv_transpose3d', 'sigmoid'), 1),
          'tanh': 5.0 / 3, 'relu': math.sqrt(2.0), 'selu': 3.0 / 4}


def calculate_gain(nonlinearity, param=None):
    if nonlinearity == 'leaky_relu':
        if param is not None and (isinstance(param, bool) or not isinstance(param, (int, float))):
            raise ValueError(f'negative_slope {param} not a valid number')
        return math.sqrt(2.0 / (1 + (0.01 if param is None else param) ** 2))
    if nonlinearity not in _GAINS:
        raise ValueError(f'Unsupported nonlinearity {nonlinearity}')
    return _GAINS[nonlinearity]


def _calculate_fan_in_and_fan_out(tensor):
    """The number of elements that each output sums, and of outputs that each input goes to."""
    if tensor.dim() < 2:
        raise ValueError('Fan in and fan out can not be computed for tensor with fewer than 2 dimensions')
    field = math.prod(tensor.shape[2:])
    return tensor.size(1) * field, tensor.size(0) * field


def fan_in_of(tensor):
    return _calculate_fan_in_and_fan_out(tensor)[0]


def _calculate_correct_fan(tensor, mode):
    modes = ['fan_in', 'fan_out']
    if mode.lower() not in modes:
        raise ValueError(f'Mode {mode.lower()} not supported, please use one of {modes}')
    return _calculate_fan_in_and_fan_out(tensor)[modes.index(mode.lower())]


def _in_place(function):
    @functools.wraps(function)
    def wrapper(tensor, *args, **kwargs):
        with no_grad():
            function(tensor, *args, **kwargs)
        return tensor
    return wrapper


def _draw(generator):
    """What the random functions of tensors get: nothing for the generator that all share."""
    return {} if generator is None else {'generator': generator}


@_in_place
def uniform_(tensor, a=0.0, b=1.0, generator=None):
    tensor.uniform_(a, b, **_draw(generator))


@_in_place
def normal_(tensor, mean=0.0, std=1.0, generator=None):
    tensor.normal_(mean, std, **_draw(generator))


@_in_place
def trunc_normal_(tensor, mean=0.0, std=1.0, a=-2.0, b=2.0, generator=None):
    """Of a normal distribution, what lies in [a, b]. What lies outside is drawn again."""
    def below(x):
        return (1.0 + math.erf(x / math.sqrt(2.0))) / 2.0
    if mean < a - 2 * std or mean > b + 2 * std:
        warnings.warn('mean is more than 2 std from [a, b] in nn.init.trunc_normal_. The distribution of values may be '
                      'incorrect.', stacklevel=3)
    draw = _draw(generator)
    if below((b - mean) / std) - below((a - mean) / std) > 0.3:
        _draw_again(tensor, mean, std, a, b, draw)
    else:
        _accept_some(tensor, mean, std, a, b, draw)


def _draw_again(tensor, mean, std, a, b, draw):
    low, high = (_C.tensor(x, dtype=tensor.dtype).item() for x in (a, b))
    result = tensor.normal_(mean, std, **draw).detach()
    while True:
        outside = (result < low) + (result > high)
        if not outside.any():
            break
        result = _C.where(outside, _C.empty(result.shape, dtype=result.dtype).normal_(mean, std, **draw), result)
    tensor.copy_(result)


def _accept_some(tensor, mean, std, a, b, draw):
    """Of uniform candidates, each with the chance that its density gives it."""
    peak = -0.5 * ((max(a, min(mean, b)) - mean) / std) ** 2
    result, chance = tensor.uniform_(a, b, **draw).detach(), _C.empty(tensor.shape, dtype=tensor.dtype)
    candidates, pending = result.clone(), None
    while True:
        density = candidates.sub(mean).div(std).pow(2).mul(-0.5).sub(peak)
        refused = chance.uniform_(**draw).log().gt(density)
        pending = refused if pending is None else _C.where(pending, refused, pending)
        if not pending.any():
            break
        candidates = candidates.uniform_(a, b, **draw)
        result = _C.where(pending, candidates, result)
    tensor.copy_(result)


@_in_place
def constant_(tensor, val):
    tensor.fill_(val)


@_in_place
def ones_(tensor):
    tensor.fill_(1.0)


@_in_place
def zeros_(tensor):
    tensor.zero_()


@_in_place
def eye_(tensor):
    if tensor.dim() != 2:
        raise ValueError('Only tensors with 2 dimensions are supported')
    tensor.zero_()
    for i in range(min(tensor.shape)):
        tensor[i, i] = 1


@_in_place
def dirac_(tensor, groups=1):
    """A convolution that passes on its input, as far as there are channels."""
    if tensor.dim() not in (3, 4, 5):
        raise ValueError('Only tensors with 3, 4, or 5 dimensions are supported')
    if tensor.size(0) % groups:
        raise ValueError('dim 0 must be divisible by groups')
    n_out, middle = tensor.size(0) // groups, tuple(size // 2 for size in tensor.shape[2:])
    tensor.zero_()
    for group in range(groups):
        for i in range(min(n_out, tensor.size(1))):
            tensor[(group * n_out + i, i, *middle)] = 1


def xavier_uniform_(tensor, gain=1.0, generator=None):
    bound = math.sqrt(3.0) * (gain * math.sqrt(2.0 / float(sum(_calculate_fan_in_and_fan_out(tensor)))))
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor, gain=1.0, generator=None):
    std = gain * math.sqrt(2.0 / float(sum(_calculate_fan_in_and_fan_out(tensor))))
    return normal_(tensor, 0.0, std, generator)


def _kaiming_std(tensor, a, mode, nonlinearity):
    """None if the tensor has no elements."""
    if 0 in tensor.shape:
        warnings.warn('Initializing zero-element tensors is a no-op', stacklevel=3)
        return None
    fan = _calculate_correct_fan(tensor, mode)
    return calculate_gain(nonlinearity, a) / math.sqrt(fan)


def kaiming_uniform_(tensor, a=0, mode='fan_in', nonlinearity='leaky_relu', generator=None):
    std = _kaiming_std(tensor, a, mode, nonlinearity)
    return tensor if std is None else uniform_(tensor, -(math.sqrt(3.0) * std), math.sqrt(3.0) * std, generator)


def kaiming_normal_(tensor, a=0, mode='fan_in', nonlinearity='leaky_relu', generator=None):
    std = _kaiming_std(tensor, a, mode, nonlinearity)
    return tensor if std is None else normal_(tensor, 0, std, generator)


def _orthonormal_columns(matrix):
    """Q of the QR decomposition whose R has a positive diagonal, by Householder's reflections."""
    n_rows, n = matrix.shape
    r, reflections = matrix.to(_C.float64), []
    q = _C.zeros(n_rows, n, dtype=_C.float64)
    for i in range(n):
        q[i, i] = 1
    for i in range(n):
        v = r[i:, i].clone()
        length = v.norm()
        v[0] += length if v[0].item() > 0 else -length
        v = v / v.norm() if length.item() else v
        r[i:] -= 2 * v.outer(v.unsqueeze(0).mm(r[i:])[0])
        reflections.append(v)
    for i, v in reversed(list(enumerate(reflections))):
        q[i:] -= 2 * v.outer(v.unsqueeze(0).mm(q[i:])[0])
    for i in range(n):
        q[:, i] *= r[i, i].sign()
    return q


@checked
@_in_place
def orthogonal_(tensor, gain=1, generator=None):
    if tensor.dim() < 2:
        raise ValueError('Only tensors with 2 or more dimensions are supported')
    if tensor.numel() == 0:
        return
    n_rows = tensor.size(0)
    drawn = _C.empty(n_rows, tensor.numel() // n_rows, dtype=tensor.dtype).normal_(0, 1, **_draw(generator))
    wide = drawn.size(0) < drawn.size(1)
    q = _orthonormal_columns(drawn.t() if wide else drawn)
    tensor.copy_((q.t() if wide else q).reshape(tensor.shape)).mul_(gain)


@_in_place
def sparse_(tensor, sparsity, std=0.01, generator=None):
    """Normal numbers, of which each column loses as many."""
    if tensor.dim() != 2:
        raise ValueError('Only tensors with 2 dimensions are supported')
    n_zeros = math.ceil(sparsity * tensor.size(0))
    tensor.normal_(0, std, **_draw(generator))
    for column in range(tensor.size(1)):
        tensor[_C.randperm(tensor.size(0))[:n_zeros], column] = 0


def _deprecated(function):
    new, old = function.__name__, function.__name__[:-1]

    def warned(*args, **kwargs):
        warnings.warn(f'`nn.init.{old}` is now deprecated in favor of `nn.init.{new}`.', FutureWarning, stacklevel=2)
        return function(*args, **kwargs)
    warned.__name__ = old
    return warned


uniform, normal, constant, eye, dirac, xavier_uniform, xavier_normal, kaiming_uniform, kaiming_normal, orthogonal, sparse = \
    map(_deprecated, (uniform_, normal_, constant_, eye_, dirac_, xavier_uniform_, xavier_normal_, kaiming_uniform_,
                      kaiming_normal_, orthogonal_, sparse_))

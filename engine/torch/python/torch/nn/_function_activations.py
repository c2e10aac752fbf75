# SPDX-License-Identifier: LGPL-2.1-or-later
"""Activations and dropout as functions. With inplace=True the result is written into the input."""
import math
import warnings

from torch import _C
from torch._C import Tensor
from torch.autograd import Function, no_grad
from torch.nn._named_function import node
from torch._refused import checked

tanh, sigmoid, hardshrink, logsigmoid, softshrink = (Tensor.tanh, Tensor.sigmoid, Tensor.hardshrink, _C.logsigmoid,
                                                     _C.softshrink)


def _either(input, inplace, name, function):
    return _C.in_place(input, name + '_', function) if inplace else function(input)


def _either_node(input, inplace, name, *numbers):
    """In place, the node is another one: it keeps the result."""
    if not inplace:
        return getattr(_C, name)(input, *numbers)
    return _C.in_place(input, name + '_', lambda x: getattr(_C, f'_{name}_in_place')(x, *numbers))


def relu(input, inplace=False):
    return input.relu_() if inplace else input.relu()


def leaky_relu(input, negative_slope=0.01, inplace=False):
    return _either_node(input, inplace, 'leaky_relu', negative_slope)


def gelu(input, approximate='none'):
    return _C.gelu(input, approximate=approximate)


def silu(input, inplace=False):
    return _either(input, inplace, 'silu', _C.silu)


def mish(input, inplace=False):
    return _either(input, inplace, 'mish', _C.mish)


def elu(input, alpha=1.0, inplace=False):
    return _either_node(input, inplace, 'elu', alpha)


def celu(input, alpha=1.0, inplace=False):
    return _either_node(input, inplace, 'celu', alpha)


def selu(input, inplace=False):
    return _either_node(input, inplace, 'selu')


def softplus(input, beta=1, threshold=20):
    return _C.softplus(input, beta, threshold)


def hardtanh(input, min_val=-1.0, max_val=1.0, inplace=False):
    if min_val > max_val:
        raise ValueError('min_val cannot be greater than max_val')
    return _either(input, inplace, 'hardtanh', lambda x: _C.hardtanh(x, min_val, max_val))


def relu6(input, inplace=False):
    return hardtanh(input, 0.0, 6.0, inplace)


def hardsigmoid(input, inplace=False):
    return _either(input, inplace, 'hardsigmoid', _C.hardsigmoid)


def hardswish(input, inplace=False):
    return _either(input, inplace, 'hardswish', _C.hardswish)


def threshold(input, threshold, value, inplace=False):
    return _either_node(input, inplace, 'threshold', threshold, value)


def relu_(input):
    return input.relu_()


def leaky_relu_(input, negative_slope=0.01):
    return leaky_relu(input, negative_slope, True)


def elu_(input, alpha=1.0):
    return elu(input, alpha, True)


def celu_(input, alpha=1.0):
    return celu(input, alpha, True)


def selu_(input):
    return selu(input, True)


def hardtanh_(input, min_val=-1.0, max_val=1.0):
    return hardtanh(input, min_val, max_val, True)


def threshold_(input, limit, value):
    return threshold(input, limit, value, True)


def rrelu_(input, lower=1.0 / 8, upper=1.0 / 3, training=False):
    return rrelu(input, lower, upper, training, True)


def softsign(input):
    return input / (input.abs() + 1)


def tanhshrink(input):
    return input - input.tanh()


@node('GluBackward0')
class _Glu(Function):
    @staticmethod
    def forward(ctx, input, dim):
        ctx.save_for_backward(input)
        ctx.dim = dim
        a, b = input.chunk(2, dim)
        return a * b.sigmoid()

    @staticmethod
    def backward(ctx, grad):
        return _GluBack.apply(grad, ctx.saved_tensors[0], ctx.dim), None


@node('GluBackwardBackward0')
class _GluBack(Function):
    @staticmethod
    def forward(ctx, grad, input, dim):
        ctx.save_for_backward(grad, input)
        ctx.dim = dim
        a, b = input.chunk(2, dim)
        gate = b.sigmoid()
        return _C.cat([grad * gate, grad * a * gate * (1 - gate)], dim)

    @staticmethod
    def backward(ctx, gg):
        """With s = sigmoid b and s' = s (1 - s): of grad, (gg_a s + gg_b a s'); of a, gg_b grad s'; of b, gg_a grad s' and
        gg_b grad a s' (1 - 2 s)."""
        grad, input = ctx.saved_tensors
        (a, b), (gg_a, gg_b) = input.chunk(2, ctx.dim), gg.chunk(2, ctx.dim)
        gate = b.sigmoid()
        slope = gate * (1 - gate)
        of_b = gg_a * grad * slope + gg_b * grad * a * slope * (1 - 2 * gate)
        return gg_a * gate + gg_b * a * slope, _C.cat([gg_b * grad * slope, of_b], ctx.dim), None


@checked
def glu(input, dim=-1):
    if input.dim() == 0:
        raise RuntimeError('glu does not support scalars because halving size must be even')
    if input.size(dim) % 2:
        raise RuntimeError(f'Halving dimension must be even, but dimension {dim % input.dim()} is size {input.size(dim)}')
    return _Glu.apply(input, dim)


@node('PreluKernelBackward0')
class _Prelu(Function):
    @staticmethod
    def forward(ctx, input, weight):
        ctx.save_for_backward(input, weight)
        return _C.where(input > 0, input, input * weight)

    @staticmethod
    def backward(ctx, grad):
        input, weight = ctx.saved_tensors
        d_input, d_weight = _PreluBack.apply(grad, input, weight)
        dims = [i for i, n in enumerate(weight.shape) if n == 1 and input.size(i) != 1]
        return d_input, d_weight.sum(dims, True) if dims else d_weight


@node('PreluKernelBackwardBackward0')
class _PreluBack(Function):
    @staticmethod
    def forward(ctx, grad, input, weight):
        ctx.save_for_backward(grad, input, weight)
        positive = input > 0
        return _C.where(positive, grad, grad * weight), _C.where(positive, _C.zeros_like(input), grad * input)

    @staticmethod
    def backward(ctx, gg_input, gg_weight):
        grad, input, weight = ctx.saved_tensors
        positive, zero = input > 0, _C.zeros_like(input)
        d_weight = _C.where(positive, zero, gg_input * grad)
        dims = [i for i, n in enumerate(weight.shape) if n == 1 and input.size(i) != 1]
        return (_C.where(positive, gg_input, gg_input * weight + gg_weight * input), _C.where(positive, zero, gg_weight * grad),
                d_weight.sum(dims, True) if dims else d_weight)


@checked
def prelu(input, weight):
    """One weight for all, or one for each channel."""
    n = weight.numel()
    if n != 1:
        channels = input.size(1) if input.dim() > 1 else 1
        if input.dim() == 0:
            raise RuntimeError('Not allow zero-dim input tensor.')
        if channels != n:
            raise RuntimeError(f'Mismatch of parameter numbers and input channel size. Found parameter numbers = {n} and '
                               f'channel size = {channels}.')
    if weight.dim() not in (0, 1):
        raise RuntimeError(f'prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = {weight.dim()}')
    shape = [1] * input.dim()
    if input.dim() > 1:
        shape[1] = n
    return _Prelu.apply(input, weight if input.dim() == 1 else weight.view(shape))


@node('RreluWithNoiseBackward0')
class _Rrelu(Function):
    @staticmethod
    def forward(ctx, input, lower, upper, training):
        slope = (lower + upper) / 2
        if training:
            slope = _slopes(input, lower, upper)
        factor = _C.where(input > 0, _C.ones_like(input), _C.ones_like(input) * slope)
        ctx.save_for_backward(input, factor)
        return input * factor

    @staticmethod
    def backward(ctx, grad):
        input, factor = ctx.saved_tensors
        return _RreluBack.apply(grad, input, (factor,)), None, None, None


@node('RreluWithNoiseBackwardBackward0')
class _RreluBack(Function):
    @staticmethod
    def forward(ctx, grad, input, factors):
        ctx.save_for_backward(input, *factors)
        return grad * factors[0]

    @staticmethod
    def backward(ctx, gg):
        input, factor = ctx.saved_tensors
        return _RreluBack.apply(gg, input, (factor,)), _C.zeros_like(gg), None


@node('RreluWithNoiseBackward1')
class _RreluInPlace(_Rrelu):
    """The node has another number."""


def _slopes(input, lower, upper):
    """Drawn for the elements that are not positive, one after the other."""
    flat = input.detach().reshape(-1)
    return _C.tensor([1.0 if x > 0 else _C.empty(1, dtype=_C.float64).uniform_(lower, upper).item()
                      for x in flat.tolist()], dtype=input.dtype).reshape(input.shape)


@checked
def rrelu(input, lower=1.0 / 8, upper=1.0 / 3, training=False, inplace=False):
    function = _RreluInPlace if inplace else _Rrelu
    return _either(input, inplace, 'rrelu', lambda x: function.apply(x, lower, upper, training))


# Along a dimension.

def _the_dim(name, n_dims, dim):
    if dim is not None:
        return dim
    warnings.warn(f'Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an '
                  'argument.', stacklevel=4)
    return 0 if n_dims in (0, 1, 3) else 1


def softmax(input, dim=None, _stacklevel=3, dtype=None):
    dim = _the_dim('softmax', input.dim(), dim)
    return (input if dtype is None else input.to(dtype)).softmax(dim)


def log_softmax(input, dim=None, _stacklevel=3, dtype=None):
    dim = _the_dim('log_softmax', input.dim(), dim)
    return (input if dtype is None else input.to(dtype)).log_softmax(dim)


def softmin(input, dim=None, _stacklevel=3, dtype=None):
    return softmax(-input, _the_dim('softmin', input.dim(), dim), dtype=dtype)


@checked
def gumbel_softmax(logits, tau=1, hard=False, eps=1e-10, dim=-1):
    """Soft or hard choices: Jang, Gu and Poole, Categorical Reparameterization with Gumbel-Softmax."""
    gumbels = -_exponential(logits).log()
    soft = ((logits + gumbels) / tau).softmax(dim)
    if not hard:
        return soft
    index = soft.detach().max(dim, keepdim=True)[1]
    return _C.zeros_like(soft.detach()).scatter_(dim, index, 1.0) - soft.detach() + soft


@no_grad()
def _exponential(like):
    drawn = _C.empty(like.shape, dtype=like.dtype)
    return drawn.exponential_() if hasattr(drawn, 'exponential_') else -(1 - drawn.uniform_()).log()


# Dropout.

def _check_probability(p):
    if p < 0.0 or p > 1.0:
        raise ValueError(f'dropout probability has to be between 0 and 1, but got {p}')


def dropout(input, p=0.5, training=True, inplace=False):
    _check_probability(p)
    if inplace and not training:
        return input
    return _either(input, inplace, 'dropout', lambda x: _C.dropout(x, p, training))


@no_grad()
def _kept(sizes, p, dtype):
    """1 / (1 - p) where something stays, 0 where it goes."""
    return _C.dropout(_C.ones(sizes, dtype=dtype), p, True)


def _drop_features(input, p, training, inplace):
    """Whole channels."""
    if not training or p == 0 or input.numel() == 0:
        return input
    if p == 1:
        return _either(input, inplace, 'mul', lambda x: x * _C.zeros((), dtype=input.dtype))
    kept = _kept((*input.shape[:2], *[1] * (input.dim() - 2)), p, input.dtype)
    return input.mul_(kept) if inplace else input * kept


def dropout1d(input, p=0.5, training=True, inplace=False):
    _check_probability(p)
    if input.dim() not in (2, 3):
        raise RuntimeError(f'dropout1d: Expected 2D or 3D input, but received a {input.dim()}D input. Note that dropout1d '
                           'exists to provide channel-wise dropout on inputs with 1 spatial dimension, a channel '
                           'dimension, and an optional batch dimension (i.e. 2D or 3D inputs).')
    batched = input.dim() == 3
    result = _drop_features(input if batched else input.unsqueeze(0), p, training, inplace)
    return result if batched else result.squeeze(0)


def _warn_dimensions(input, n):
    """Of dropout2d and dropout3d: what their input should have."""
    if input.dim() not in (n + 1, n + 2):
        warnings.warn(f'dropout{n}d: Received a {input.dim()}-D input to dropout{n}d, which is deprecated and will result in '
                      'an error in a future release. To retain the behavior and silence this warning, please use dropout '
                      f'instead. Note that dropout{n}d exists to provide channel-wise dropout on inputs with {n} spatial '
                      f'dimensions, a channel dimension, and an optional batch dimension (i.e. {n + 1}D or {n + 2}D '
                      'inputs).', stacklevel=3)


def dropout2d(input, p=0.5, training=True, inplace=False):
    _check_probability(p)
    _warn_dimensions(input, 2)
    if input.dim() == 3:
        warnings.warn('dropout2d: Received a 3D input to dropout2d and assuming that channel-wise 1D dropout behavior is '
                      'desired - input is interpreted as shape (N, C, L), where C is the channel dim. This behavior will '
                      'change in a future release to interpret the input as one without a batch dimension, i.e. shape (C, '
                      'H, W). To maintain the 1D channel-wise dropout behavior, please switch to using dropout1d instead.',
                      stacklevel=2)
    return _drop_features(input, p, training, inplace)


def dropout3d(input, p=0.5, training=True, inplace=False):
    _check_probability(p)
    _warn_dimensions(input, 3)
    batched = input.dim() == 5
    result = _drop_features(input if batched else input.unsqueeze(0), p, training, inplace)
    return result if batched else result.squeeze(0)


def _alpha_dropout(input, p, training, inplace, sizes):
    _check_probability(p)
    if not training or p == 0 or input.numel() == 0:
        return input
    alpha = 1.7580993408473766
    a = 1 / math.sqrt((alpha * alpha * p + 1) * (1 - p)) if p < 1 else 0.0
    with no_grad():
        noise = (_kept(sizes, p, input.dtype) != 0).to(input.dtype)
        shift = noise.add(-1).mul_(alpha * a).add_(alpha * a * p)
        noise.mul_(a)
    return _either(input, inplace, 'alpha_dropout', lambda x: x * noise + shift)


def alpha_dropout(input, p=0.5, training=False, inplace=False):
    """Keeps mean and variance of what SELU gives."""
    return _alpha_dropout(input, p, training, inplace, input.shape)


def feature_alpha_dropout(input, p=0.5, training=False, inplace=False):
    return _alpha_dropout(input, p, training, inplace, (*input.shape[:2], *[1] * (input.dim() - 2)))

# SPDX-License-Identifier: LGPL-2.1-or-later
"""Windows that move over images of any number of dimensions: unfold and fold, and what is made of windows over volumes."""
import math

from torch import _C
from torch.autograd import Function, no_grad
from torch.nn._named_function import linear_maps, node
from torch._refused import checked

_im2col, _col2im = linear_maps('Im2ColBackward0', 'Col2ImBackward0')


def tuple_of(value, n):
    return tuple(value) if isinstance(value, (tuple, list)) else (value,) * n


def _out_size(size, kernel, stride, padding, dilation, ceil_mode):
    room = size + 2 * padding - dilation * (kernel - 1) - 1
    n = (-(-room // stride) if ceil_mode else room // stride) + 1
    return n - 1 if ceil_mode and (n - 1) * stride >= size + padding else n


@no_grad()
def windows(shape, kernel, stride, padding, dilation, ceil_mode=False):
    """(numbers of the elements that each window has, -1 in the padding [batch, channels, *out, *kernel]; the sizes out)."""
    outs = [_out_size(*row, ceil_mode) for row in zip(shape[2:], kernel, stride, padding, dilation)]
    ends = [max((n - 1) * s + d * (k - 1) + 1 - size - p, 0)
            for n, size, k, s, p, d in zip(outs, shape[2:], kernel, stride, padding, dilation)]
    sides = [side for pair in reversed(list(zip(padding, ends))) for side in pair]
    numbers = _C.constant_pad_nd(_C.arange(1, math.prod(shape) + 1).view(*shape), sides, 0)
    for i, (n, k, s, d) in enumerate(zip(outs, kernel, stride, dilation)):
        numbers = numbers.unfold(2 + i, d * (k - 1) + 1, s)[..., ::d].narrow(2 + i, 0, n)
    return numbers - 1, outs


def _taps(numbers, dtype):
    """For a linear map: padding counts as any element, with weight 0."""
    flat = numbers.reshape(-1)
    inside = flat >= 0
    return [(flat.clamp(min=0), None if inside.all() else inside.to(dtype))]


def _columns(shape, kernel, stride, padding, dilation):
    """The numbers in the order of unfold's result [batch, channels times kernel, places]."""
    numbers, outs = windows(shape, kernel, stride, padding, dilation)
    n = len(outs)
    order = (0, 1, *range(2 + n, 2 + 2 * n), *range(2, 2 + n))
    return numbers.permute(order).reshape(shape[0], -1, math.prod(outs))


def unfold(input, kernel_size, dilation=1, padding=0, stride=1):
    if input.dim() == 3:
        return unfold(input.unsqueeze(0), kernel_size, dilation, padding, stride).squeeze(0)
    if input.dim() != 4:
        raise RuntimeError('Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions '
                           f'for input, but got: {list(input.shape)}')
    settings = (tuple_of(x, 2) for x in (kernel_size, stride, padding, dilation))
    columns = _columns(input.shape, *settings)
    return _im2col(input, columns.shape, _taps(columns, input.dtype))


@checked
def fold(input, output_size, kernel_size, dilation=1, padding=0, stride=1):
    if input.dim() == 2:
        return fold(input.unsqueeze(0), output_size, kernel_size, dilation, padding, stride).squeeze(0)
    kernel, stride, padding, dilation = (tuple_of(x, 2) for x in (kernel_size, stride, padding, dilation))
    if input.size(1) % math.prod(kernel):
        raise RuntimeError("Expected size of input's dimension 1 to be divisible by the product of kernel_size, but got "
                           f'input.size(1)={input.size(1)} and kernel_size=({kernel[0]}, {kernel[1]}).')
    shape = _C.Size((input.size(0), input.size(1) // math.prod(kernel), *tuple_of(output_size, 2)))
    columns = _columns(shape, kernel, stride, padding, dilation)
    if columns.size(2) != input.size(2):
        outs = windows(shape, kernel, stride, padding, dilation)[1]
        raise RuntimeError(f'Given output_size=({shape[2]}, {shape[3]}), kernel_size=({kernel[0]}, {kernel[1]}), dilation='
                           f'({dilation[0]}, {dilation[1]}), padding=({padding[0]}, {padding[1]}), stride=({stride[0]}, '
                           f"{stride[1]}), expected size of input's dimension 2 to match the calculated number of sliding "
                           f'blocks {outs[0]} * {outs[1]} = {columns.size(2)}, but got input.size(2)={input.size(2)}.')
    return _col2im(input, shape, input.shape, _taps(columns, input.dtype))


# Pooling of volumes.

@node('MaxPool3DWithIndicesBackward0')
class _MaxPool(Function):
    @staticmethod
    def forward(ctx, input, how):
        numbers, n_kernel = how
        flat = numbers.reshape(*numbers.shape[:-n_kernel], -1)
        values = input.reshape(-1).index_select(0, flat.clamp(min=0).reshape(-1)).reshape(flat.shape)
        best, at = values.masked_fill(flat < 0, -math.inf).max(-1)
        places = flat.gather(-1, at.unsqueeze(-1)).squeeze(-1)
        ctx.save_for_backward(input)
        ctx.places = places
        inside = places % math.prod(input.shape[2:])
        ctx.mark_non_differentiable(inside)
        return best, inside

    @staticmethod
    def backward(ctx, grad, _):
        return _MaxPoolBack.apply(grad, ctx.saved_tensors[0], [ctx.places]), None


@node('MaxPool3DWithIndicesBackwardBackward0')
class _MaxPoolBack(Function):
    @staticmethod
    def forward(ctx, grad, input, places):
        ctx.places, = places
        zeros = _C.zeros(input.numel(), dtype=grad.dtype)
        return zeros.index_add(0, ctx.places.reshape(-1), grad.reshape(-1)).reshape(input.shape)

    @staticmethod
    def backward(ctx, gg):
        return (gg.reshape(-1).index_select(0, ctx.places.reshape(-1)).reshape(ctx.places.shape), _C.zeros_like(gg), None)


def _batched(function, input, n_dims, *args):
    if input.dim() != n_dims - 1:
        return function(input, *args)
    result = function(input.unsqueeze(0), *args)
    return tuple(x.squeeze(0) for x in result) if isinstance(result, tuple) else result.squeeze(0)


@checked
def max_pool3d_with_indices(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=True):
    kernel, pads, steps = tuple_of(kernel_size, 3), tuple_of(padding, 3), tuple_of(dilation, 3)
    strides = tuple_of(kernel if stride is None or stride == () else stride, 3)

    def pool(volume):
        numbers, _ = windows(volume.shape, kernel, strides, pads, steps, ceil_mode)
        return _MaxPool.apply(volume, (numbers, 3))
    return _batched(pool, input, 5)


@checked
def max_pool3d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    result = max_pool3d_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode)
    return result if return_indices else result[0]


def _average(volume, numbers, factor):
    """factor: what each window's sum is multiplied by, [*out]."""
    flat = numbers.reshape(*factor.shape, -1)
    values = volume.reshape(-1).index_select(0, flat.clamp(min=0).reshape(-1)).reshape(flat.shape)
    return values.masked_fill(flat < 0, 0).sum(-1) * factor


@node('AvgPool3DBackward0')
class _AvgPool(Function):
    @staticmethod
    def forward(ctx, input, how):
        ctx.save_for_backward(input)
        ctx.how = how
        return _average(input, *how)

    @staticmethod
    def backward(ctx, grad):
        return _AvgPoolBack.apply(grad, ctx.saved_tensors[0], ctx.how), None


@node('AvgPool3DBackwardBackward0')
class _AvgPoolBack(Function):
    @staticmethod
    def forward(ctx, grad, input, how):
        ctx.how = numbers, factor = how
        flat = numbers.reshape(*factor.shape, -1)
        shares = (grad * factor).unsqueeze(-1).expand(flat.shape).masked_fill(flat < 0, 0)
        zeros = _C.zeros(input.numel(), dtype=grad.dtype)
        return zeros.index_add(0, flat.clamp(min=0).reshape(-1), shares.reshape(-1)).reshape(input.shape)

    @staticmethod
    def backward(ctx, gg):
        return _AvgPool.apply(gg, ctx.how), _C.zeros_like(gg), None


@no_grad()
def _divisors(shape, outs, kernel, strides, pads, count_include_pad, divisor_override):
    """How many elements each window is divided by, [*out]. Padding behind what ceil_mode needs does not count."""
    if divisor_override:
        return _C.full(tuple(outs), float(divisor_override))
    total = _C.ones(())
    for n, size, k, s, p in zip(outs, shape[2:], kernel, strides, pads):
        low, high = (-p, size + p) if count_include_pad else (0, size)
        counts = [min(i * s - p + k, high) - max(i * s - p, low) for i in range(n)]
        total = total.unsqueeze(-1) * _C.tensor(counts, dtype=_C.float32)
    return total


@checked
def avg_pool3d(input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None):
    kernel, pads = tuple_of(kernel_size, 3), tuple_of(padding, 3)
    strides = tuple_of(kernel if stride is None or stride == () else stride, 3)

    def pool(volume):
        numbers, outs = windows(volume.shape, kernel, strides, pads, (1, 1, 1), ceil_mode)
        divisors = _divisors(volume.shape, outs, kernel, strides, pads, count_include_pad, divisor_override)
        factor = (1 / divisors.to(volume.dtype)).expand(*volume.shape[:2], *outs).contiguous()
        return _AvgPool.apply(volume, (numbers, factor))
    return _batched(pool, input, 5)


# The inverse of max pooling.

def _unpooled_size(input, kernel, stride, padding, output_size):
    n = len(kernel)
    usual = [(size - 1) * s + k - 2 * p for size, k, s, p in zip(input.shape[-n:], kernel, stride, padding)]
    if output_size is None:
        return usual
    sizes = list(output_size)[2:] if len(output_size) == n + 2 else list(output_size)
    if len(sizes) != n:
        raise ValueError(f'output_size should be a sequence containing {n} or {n + 2} elements, but it has a length of '
                         f"'{len(sizes)}'")
    for i, (size, middle, s) in enumerate(zip(sizes, usual, stride)):
        if not middle - s < size < middle + s:
            raise ValueError(f'invalid output_size "{sizes}" (dim {i} must be between {middle - s} and {middle + s})')
    return sizes


def _places(input, indices, size):
    """Of the elements of input in a flat result."""
    planes = _C.arange(math.prod(input.shape[:-2])).view(*input.shape[:-2], 1, 1)
    return (planes * math.prod(size) + indices).reshape(-1)


@node('MaxUnpool2DBackward0')
class _MaxUnpool(Function):
    @staticmethod
    def forward(ctx, input, how):
        indices, size = how
        ctx.places, ctx.sizes = _places(input, indices, size), input.shape
        flat = _C.zeros(math.prod(input.shape[:-2]) * math.prod(size), dtype=input.dtype)
        flat[ctx.places] = input.reshape(-1)
        return flat.reshape(*input.shape[:-2], *size)

    @staticmethod
    def backward(ctx, grad):
        return grad.reshape(-1).index_select(0, ctx.places).reshape(ctx.sizes), None


def max_unpool2d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    kernel, stride, padding = (tuple_of(x, 2) for x in (kernel_size, kernel_size if stride is None else stride, padding))
    return _MaxUnpool.apply(input, (indices, _unpooled_size(input, kernel, stride, padding, output_size)))


def max_unpool1d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    kernel, stride, padding = (tuple_of(x, 1) for x in (kernel_size, kernel_size if stride is None else stride, padding))
    sizes = _unpooled_size(input, kernel, stride, padding, output_size)
    return _MaxUnpool.apply(input.unsqueeze(-1), (indices.unsqueeze(-1), [*sizes, 1])).squeeze(-1)


# Convolution of volumes, as products with columns. A weight is [groups, out, in times kernel] here.

class _Shape:
    """A correlation of a volume [batch, channels, *size], without history."""

    def __init__(self, volume, weight, stride, padding, dilation, groups):
        self.volume, self.weight, self.groups = _C.Size(volume), _C.Size(weight), groups
        numbers, self.outs = windows(volume, weight[2:], stride, padding, dilation)
        n = len(self.outs)
        order = (0, 1, *range(2 + n, 2 + 2 * n), *range(2, 2 + n))
        self.numbers = numbers.permute(order).reshape(volume[0], groups, -1, math.prod(self.outs))

    def _weights(self, weight):
        return weight.reshape(self.groups, weight.size(0) // self.groups, -1)

    def _columns(self, volume):
        flat = self.numbers.reshape(-1)
        values = volume.reshape(-1).index_select(0, flat.clamp(min=0)).masked_fill(flat < 0, 0)
        return values.reshape(self.numbers.shape)

    def _rows(self, out):
        return out.reshape(out.size(0), self.groups, out.size(1) // self.groups, -1)

    def apply(self, volume, weight):
        return (self._weights(weight) @ self._columns(volume)).reshape(volume.size(0), weight.size(0), *self.outs)

    def adjoint(self, out, weight):
        flat, values = self.numbers.reshape(-1), self._weights(weight).mT @ self._rows(out)
        zeros = _C.zeros(self.volume.numel(), dtype=out.dtype)
        return zeros.index_add(0, flat.clamp(min=0), values.reshape(-1).masked_fill(flat < 0, 0)).reshape(self.volume)

    def weight_gradient(self, volume, out):
        return (self._rows(out) @ self._columns(volume).mT).sum(0).reshape(self.weight)


def _forward(shape, transposed, input, weight):
    return shape.adjoint(input, weight) if transposed else shape.apply(input, weight)


def _gradients(shape, transposed, grad, input, weight):
    if transposed:
        return shape.apply(grad, weight), shape.weight_gradient(grad, input)
    return shape.adjoint(grad, weight), shape.weight_gradient(input, grad)


def _convolved(input, weight, bias, shape, transposed):
    """An empty tensor stands for no bias, which has an edge too."""
    bias = _C.empty(0, dtype=input.dtype) if bias is None else bias
    return _Convolution.apply(input, weight, bias, shape, transposed)


@node('ConvolutionBackward0')
class _Convolution(Function):
    @staticmethod
    def forward(ctx, input, weight, bias, shape, transposed):
        ctx.save_for_backward(input, weight)
        ctx.how, ctx.has_bias = (shape, transposed), bias.numel() > 0
        result = _forward(shape, transposed, input, weight)
        return result + bias.view(-1, 1, 1, 1) if ctx.has_bias else result

    @staticmethod
    def backward(ctx, grad):
        of_input, of_weight, of_bias = _ConvolutionBack.apply(grad, *ctx.saved_tensors, ctx.how)
        return of_input, of_weight, of_bias if ctx.has_bias else None, None, None


@node('ConvolutionBackwardBackward0')
class _ConvolutionBack(Function):
    @staticmethod
    def forward(ctx, grad, input, weight, how):
        ctx.save_for_backward(grad, input, weight)
        ctx.how = how
        ctx.set_materialize_grads(False)
        return *_gradients(*how, grad, input, weight), grad.sum((0, 2, 3, 4))

    @staticmethod
    def backward(ctx, gg_input, gg_weight, gg_bias):
        """Linear in each of grad, input and weight."""
        grad, input, weight = ctx.saved_tensors
        parts = [_convolved(gg_input, weight, gg_bias, *ctx.how)] if gg_input is not None else []
        if gg_weight is not None:
            parts.append(_convolved(input, gg_weight, None if parts else gg_bias, *ctx.how))
        if not parts and gg_bias is not None:
            parts = [gg_bias.view(-1, 1, 1, 1).expand(grad.shape)]
        of_input = None if gg_weight is None else _ConvolutionBack.apply(grad, input, gg_weight, ctx.how)[0]
        of_weight = None if gg_input is None else _ConvolutionBack.apply(grad, gg_input, weight, ctx.how)[1]
        return sum(parts[1:], parts[0]) if parts else None, of_input, of_weight, None


def conv3d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    stride, padding, dilation = (tuple_of(x, 3) for x in (stride, padding, dilation))

    def convolve(volume):
        if volume.dim() != 5 or volume.size(1) != weight.size(1) * groups:
            raise RuntimeError(f'Given groups={groups}, weight of size {list(weight.shape)}, expected input{list(volume.shape)} '
                               f'to have {weight.size(1) * groups} channels, but got {volume.size(1)} channels instead')
        shape = _Shape(volume.shape, weight.shape, stride, padding, dilation, groups)
        return _convolved(volume, weight, bias, shape, False)
    return _batched(convolve, input, 5)


def conv_transpose3d(input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
    stride, padding, more, dilation = (tuple_of(x, 3) for x in (stride, padding, output_padding, dilation))

    def convolve(volume):
        sizes = [(n - 1) * s - 2 * p + d * (k - 1) + 1 + m for n, s, p, d, k, m in zip(
            volume.shape[2:], stride, padding, dilation, weight.shape[2:], more)]
        shape = _Shape((volume.size(0), weight.size(1) * groups, *sizes), weight.shape, stride, padding, dilation, groups)
        return _convolved(volume, weight, bias, shape, True)
    return _batched(convolve, input, 5)

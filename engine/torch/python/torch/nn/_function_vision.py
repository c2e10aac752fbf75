# SPDX-License-Identifier: LGPL-2.1-or-later
"""Functions of images: sizes change, elements change their places."""
import math

from torch import _C
from torch.autograd import Function, no_grad
from torch.nn._named_function import linear_map, node
from torch._refused import checked

_TURNED = {'PixelShuffle': 'PixelUnshuffleBackward0', 'PixelUnshuffle': 'PixelShuffleBackward0'}
_MAPS = {name: linear_map(f'{name}Backward0', _TURNED.get(name)) for name in (
    'PixelShuffle', 'PixelUnshuffle', 'ChannelShuffle', 'UpsampleNearest1D', 'UpsampleNearest2D', 'UpsampleNearest3D',
    'UpsampleNearestExact1D', 'UpsampleNearestExact2D', 'UpsampleNearestExact3D', 'UpsampleLinear1D',
    'UpsampleBilinear2D', 'UpsampleTrilinear3D', 'UpsampleBicubic2D')}


@no_grad()
def _numbers(sizes):
    return _C.arange(math.prod(sizes)).view(*sizes)


def _moved(name, input, arrange):
    """The elements in the order in which arrange puts their numbers."""
    places = arrange(_numbers(input.shape))
    return _MAPS[name](input, tuple(places.shape), [(places.reshape(-1), None)])


def pixel_shuffle(input, upscale_factor):
    """Channels become r by r pixels."""
    r = upscale_factor
    if input.dim() < 3:
        raise RuntimeError(f'pixel_shuffle expects input to have at least 3 dimensions, but got input with {input.dim()} '
                           'dimension(s)')
    if r <= 0:
        raise RuntimeError(f'pixel_shuffle expects a positive upscale_factor, but got {r}')
    *batch, c, h, w = input.shape
    if c % (r * r):
        raise RuntimeError("pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of "
                           f"upscale_factor, but input.size(-3)={c} is not divisible by {r * r}")

    def arrange(x):
        x = x.reshape(-1, c // (r * r), r, r, h, w).permute(0, 1, 4, 2, 5, 3)
        return x.reshape(*batch, c // (r * r), h * r, w * r)
    return _moved('PixelShuffle', input, arrange)


def pixel_unshuffle(input, downscale_factor):
    r = downscale_factor
    if input.dim() < 3:
        raise RuntimeError(f'pixel_unshuffle expects input to have at least 3 dimensions, but got input with '
                           f'{input.dim()} dimension(s)')
    if r <= 0:
        raise RuntimeError(f'pixel_unshuffle expects a positive downscale_factor, but got {r}')
    *batch, c, h, w = input.shape
    for what, size in (('height', h), ('width', w)):
        if size % r:
            raise RuntimeError(f'pixel_unshuffle expects {what} to be divisible by downscale_factor, but input.size('
                               f"{-2 if what == 'height' else -1})={size} is not divisible by {r}")

    def arrange(x):
        x = x.reshape(-1, c, h // r, r, w // r, r).permute(0, 1, 3, 5, 2, 4)
        return x.reshape(*batch, c * r * r, h // r, w // r)
    return _moved('PixelUnshuffle', input, arrange)


def channel_shuffle(input, groups):
    n, c, *rest = input.shape
    return _moved('ChannelShuffle', input, lambda x: x.reshape(n, groups, c // groups, -1).transpose(1, 2).reshape(n, c, *rest))


# Other sizes. Each dimension has taps: the numbers and weights of the elements that an output element is made of.

def _single(x):
    return _C.tensor(x, dtype=_C.float32).item()


def _nearest(n_in, n_out, scale, exact):
    ratio = _single(1 / scale) if scale else _single(n_in / n_out)
    half = 0.5 if exact else 0.0
    return [([min(int(_single(_single(i + half) * ratio)), n_in - 1) for i in range(n_out)], None)]


def _source(i, n_in, n_out, scale, align):
    if align:
        return i * (n_in - 1) / (n_out - 1) if n_out > 1 else 0.0
    return (i + 0.5) * (1 / scale if scale else n_in / n_out) - 0.5


def _linear(n_in, n_out, scale, align):
    low, high, near, far = [], [], [], []
    for i in range(n_out):
        at = max(_source(i, n_in, n_out, scale, align), 0.0)
        first = min(int(at), n_in - 1)
        part = min(max(at - first, 0.0), 1.0)
        low.append(first)
        high.append(min(first + 1, n_in - 1))
        near.append(1 - part)
        far.append(part)
    return [(low, near), (high, far)]


def _cubic(n_in, n_out, scale, align, a=-0.75):
    def weight(x):
        x = abs(x)
        if x <= 1:
            return ((a + 2) * x - (a + 3)) * x * x + 1
        return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
    taps = [([], []) for _ in range(4)]
    for i in range(n_out):
        at = _source(i, n_in, n_out, scale, align)
        first = math.floor(at)
        for k in range(4):
            taps[k][0].append(min(max(first - 1 + k, 0), n_in - 1))
            taps[k][1].append(weight(at - (first - 1 + k)))
    return taps


@no_grad()
def _resized(name, input, axes):
    """axes has the taps of each dimension behind batch and channel."""
    sizes, planes, taps = input.shape[2:], input.size(0) * input.size(1), [(None, None)]
    for taps_here, size in zip(axes, sizes):
        more = []
        for numbers, weights in taps:
            for index, weight in taps_here:
                index = _C.tensor(index)
                both = index if numbers is None else (numbers.unsqueeze(-1) * size + index).reshape(-1)
                w = None if weight is None else _C.tensor(weight, dtype=_C.float64)
                if w is not None and weights is not None:
                    w = (weights.unsqueeze(-1) * w).reshape(-1)
                more.append((both, w))
        taps = more
    n_in, n_out = math.prod(sizes), taps[0][0].numel()
    begin = _C.arange(planes).unsqueeze(-1) * n_in
    return [((begin + numbers).reshape(-1),
             None if w is None else w.to(input.dtype).expand(planes, n_out).reshape(-1)) for numbers, w in taps]


_MODES = {'nearest': (3, 4, 5), 'nearest-exact': (3, 4, 5), 'linear': (3,), 'bilinear': (4,), 'trilinear': (5,),
          'bicubic': (4,), 'area': (3, 4, 5)}


@checked
def interpolate(input, size=None, scale_factor=None, mode='nearest', align_corners=None, recompute_scale_factor=None,
                antialias=False):
    n = input.dim() - 2
    if align_corners is not None and mode in ('nearest', 'area', 'nearest-exact'):
        raise ValueError('align_corners option can only be set with the interpolating modes: linear | bilinear | bicubic '
                         '| trilinear')
    if size is not None and scale_factor is not None:
        raise ValueError('only one of size or scale_factor should be defined')
    if size is None and scale_factor is None:
        raise ValueError('either size or scale_factor should be defined')
    if mode not in _MODES or input.dim() not in _MODES[mode]:
        raise NotImplementedError('Input Error: Only 3D, 4D and 5D input Tensors supported (got '
                                  f'{input.dim()}D) for the modes: nearest | linear | bilinear | bicubic | trilinear | '
                                  f'area | nearest-exact (got {mode})')
    if antialias:
        raise ValueError('Anti-alias option is restricted to bilinear, bicubic, and lanczos modes and requires a 4-D tensor '
                         'as input')
    scales = [None] * n
    if size is None:
        scales = list(scale_factor) if isinstance(scale_factor, (list, tuple)) else [scale_factor] * n
        if len(scales) != n:
            raise ValueError('Input and scale_factor must have the same number of spatial dimensions, but got input with '
                             f'spatial dimensions of {list(input.shape[2:])} and scale_factor of shape {scale_factor}. '
                             'Please provide input tensor in (N, C, d1, d2, ...,dK) format and scale_factor in (s1, s2, '
                             '...,sK) format.')
        sizes = [math.floor(float(m) * float(s)) for m, s in zip(input.shape[2:], scales)]
    else:
        sizes = list(size) if isinstance(size, (list, tuple)) else [size] * n
        if len(sizes) != n:
            raise ValueError('Input and output must have the same number of spatial dimensions, but got input with spatial '
                             f'dimensions of {list(input.shape[2:])} and output size of {size}. Please provide input tensor '
                             'in (N, C, d1, d2, ...,dK) format and output size in (o1, o2, ...,oK) format.')
    if recompute_scale_factor:
        scales = [None] * n
    if input.dtype == _C.uint8 and not mode.startswith('nearest'):
        between = _interpolated(input.float(), sizes, scales, mode, bool(align_corners))
        return between.round().clamp(0, 255).to(_C.uint8)
    return _interpolated(input, sizes, scales, mode, bool(align_corners))


def _interpolated(input, sizes, scales, mode, align):
    n = len(sizes)
    if mode == 'area':
        from torch.nn import functional
        return getattr(functional, f'adaptive_avg_pool{n}d')(input, sizes)
    if mode.startswith('nearest'):
        exact = mode == 'nearest-exact'
        axes = [_nearest(m, o, s, exact) for m, o, s in zip(input.shape[2:], sizes, scales)]
        name = f"UpsampleNearest{'Exact' if exact else ''}{n}D"
    else:
        taps = _cubic if mode == 'bicubic' else _linear
        axes = [taps(m, o, s, align) for m, o, s in zip(input.shape[2:], sizes, scales)]
        name = {'linear': 'UpsampleLinear1D', 'bilinear': 'UpsampleBilinear2D', 'trilinear': 'UpsampleTrilinear3D',
                'bicubic': 'UpsampleBicubic2D'}[mode]
    return _MAPS[name](input, (*input.shape[:2], *sizes), _resized(name, input, axes))


def upsample(input, size=None, scale_factor=None, mode='nearest', align_corners=None):
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(input, size=None, scale_factor=None):
    return interpolate(input, size, scale_factor, 'nearest')


def upsample_bilinear(input, size=None, scale_factor=None):
    return interpolate(input, size, scale_factor, 'bilinear', True)


# Adaptive pooling, but for the average over planes, which is an operation.

def adaptive_avg_pool1d(input, output_size):
    size = output_size[0] if isinstance(output_size, (list, tuple)) else output_size
    return _C.adaptive_avg_pool2d(input.unsqueeze(-2), (1, size)).squeeze(-2)


def _windows(n_in, n_out):
    return [(i * n_in // n_out, -(-(i + 1) * n_in // n_out)) for i in range(n_out)]


@node('AdaptiveMaxPool2DBackward0')
class _AdaptiveMax(Function):
    @staticmethod
    def forward(ctx, input, size):
        *outer, h, w = input.shape
        flat, columns = input.reshape(-1, h * w), []
        for top, bottom in _windows(h, size[0]):
            for left, right in _windows(w, size[1]):
                places = _C.tensor([y * w + x for y in range(top, bottom) for x in range(left, right)])
                columns.append(places[flat.index_select(1, places).max(1)[1]])
        index = _C.stack(columns, 1)
        ctx.save_for_backward(input, index)
        places = index.reshape(*outer, *size)
        ctx.mark_non_differentiable(places)
        return flat.gather(1, index).reshape(*outer, *size), places

    @staticmethod
    def backward(ctx, grad, _):
        input, index = ctx.saved_tensors
        return _AdaptiveMaxBack.apply(grad, input, (index,)), None


@node('AdaptiveMaxPool2DBackwardBackward0')
class _AdaptiveMaxBack(Function):
    @staticmethod
    def forward(ctx, grad, input, indices):
        index, = indices
        ctx.save_for_backward(index)
        ctx.sizes = grad.shape
        zeros = _C.zeros(index.size(0), input.size(-2) * input.size(-1), dtype=grad.dtype)
        return zeros.scatter_add(1, index, grad.reshape(index.shape)).reshape(input.shape)

    @staticmethod
    def backward(ctx, gg):
        index, = ctx.saved_tensors
        return gg.reshape(index.size(0), -1).gather(1, index).reshape(ctx.sizes), _C.zeros_like(gg), None


def _pair_of(size, input):
    sizes = size if isinstance(size, (list, tuple)) else (size, size)
    return tuple(n if s is None else s for s, n in zip(sizes, input.shape[-2:]))


@checked
def adaptive_max_pool2d(input, output_size, return_indices=False):
    result = _AdaptiveMax.apply(input, _pair_of(output_size, input))
    return result if return_indices else result[0]


@checked
def adaptive_max_pool1d(input, output_size, return_indices=False):
    size = output_size[0] if isinstance(output_size, (list, tuple)) else output_size
    values, places = _AdaptiveMax.apply(input.unsqueeze(-2), (1, size))
    return (values.squeeze(-2), places.squeeze(-2)) if return_indices else values.squeeze(-2)

# SPDX-License-Identifier: LGPL-2.1-or-later
"""Layers that change the size of images, and where their elements are."""
from torch.nn import functional as F
from torch.nn._module import Module


class PixelShuffle(Module):
    def __init__(self, upscale_factor):
        super().__init__()
        self.upscale_factor = upscale_factor

    def forward(self, input):
        return F.pixel_shuffle(input, self.upscale_factor)

    def extra_repr(self):
        return f'upscale_factor={self.upscale_factor}'


class PixelUnshuffle(Module):
    def __init__(self, downscale_factor):
        super().__init__()
        self.downscale_factor = downscale_factor

    def forward(self, input):
        return F.pixel_unshuffle(input, self.downscale_factor)

    def extra_repr(self):
        return f'downscale_factor={self.downscale_factor}'


class ChannelShuffle(Module):
    def __init__(self, groups):
        super().__init__()
        self.groups = groups

    def forward(self, input):
        return F.channel_shuffle(input, self.groups)

    def extra_repr(self):
        return f'groups={self.groups}'


class Upsample(Module):
    def __init__(self, size=None, scale_factor=None, mode='nearest', align_corners=None, recompute_scale_factor=None):
        super().__init__()
        self.size, self.mode, self.align_corners = size, mode, align_corners
        self.scale_factor = tuple(map(float, scale_factor)) if isinstance(scale_factor, tuple) else (
            float(scale_factor) if scale_factor else None)
        self.recompute_scale_factor = recompute_scale_factor

    def forward(self, input):
        return F.interpolate(input, self.size, self.scale_factor, self.mode, self.align_corners,
                             self.recompute_scale_factor)

    def extra_repr(self):
        which = f'scale_factor={self.scale_factor!r}' if self.scale_factor is not None else f'size={self.size!r}'
        return f'{which}, mode={self.mode!r}'


class UpsamplingNearest2d(Upsample):
    def __init__(self, size=None, scale_factor=None):
        super().__init__(size, scale_factor, 'nearest')


class UpsamplingBilinear2d(Upsample):
    def __init__(self, size=None, scale_factor=None):
        super().__init__(size, scale_factor, 'bilinear', True)


class _Pad(Module):
    """A subclass says the mode, and of how many dimensions it is."""
    _mode, _n_dims, _value = 'constant', 2, None

    def __init__(self, padding):
        super().__init__()
        self.padding = tuple(padding) if isinstance(padding, (list, tuple)) else (padding,) * (2 * self._n_dims)

    def forward(self, input):
        return F.pad(input, self.padding, self._mode, self._value)

    def extra_repr(self):
        return f'{self.padding}'


class _ConstantPad(_Pad):
    def __init__(self, padding, value):
        super().__init__(padding)
        self.value = value

    def forward(self, input):
        return F.pad(input, self.padding, 'constant', self.value)

    def extra_repr(self):
        return f'padding={self.padding}, value={self.value}'


class _ZeroPad(_ConstantPad):
    def __init__(self, padding):
        super().__init__(padding, 0.0)

    def extra_repr(self):
        return f'{self.padding}'


def _pads(base, mode=None):
    """The three classes of one, two and three dimensions."""
    for n in (1, 2, 3):
        name = f'{base.__name__.lstrip("_")}{n}d' if mode is None else f'{mode[0]}Pad{n}d'
        settings = {'_n_dims': n, '__module__': __name__} | ({} if mode is None else {'_mode': mode[1]})
        yield type(name, (base,), settings)


ConstantPad1d, ConstantPad2d, ConstantPad3d = _pads(_ConstantPad)
ZeroPad1d, ZeroPad2d, ZeroPad3d = _pads(_ZeroPad)
ReflectionPad1d, ReflectionPad2d, ReflectionPad3d = _pads(_Pad, ('Reflection', 'reflect'))
ReplicationPad1d, ReplicationPad2d, ReplicationPad3d = _pads(_Pad, ('Replication', 'replicate'))
CircularPad1d, CircularPad2d, CircularPad3d = _pads(_Pad, ('Circular', 'circular'))

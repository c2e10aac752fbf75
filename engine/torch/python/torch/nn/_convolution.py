# SPDX-License-Identifier: LGPL-2.1-or-later
"""Convolutions."""
from torch import _C
from torch.nn import functional as F
from torch.nn._linear import reset_weight_and_bias
from torch.nn._module import Module
from torch.nn.parameter import Parameter


class _Convolution(Module):
    """Base of all convolutions. A class says how many dimensions it has, and whether it is transposed."""
    _n_dims, _transposed = 2, False

    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True,
                 padding_mode='zeros', device=None, dtype=None, output_padding=0):
        super().__init__()
        if groups <= 0:
            raise ValueError('groups must be a positive integer')
        if in_channels % groups:
            raise ValueError('in_channels must be divisible by groups')
        if out_channels % groups:
            raise ValueError('out_channels must be divisible by groups')
        if isinstance(padding, str):
            if padding not in ('same', 'valid'):
                raise ValueError(f"Invalid padding string {padding!r}, should be one of {{'same', 'valid'}}")
            if padding == 'same' and any(n != 1 for n in self._tuple(stride)):
                raise ValueError("padding='same' is not supported for strided convolutions")
        modes = {'zeros', 'reflect', 'replicate', 'circular'}
        if padding_mode not in modes:
            raise ValueError(f"padding_mode must be one of {modes}, but got padding_mode='{padding_mode}'")
        self.padding_mode = padding_mode
        self.in_channels, self.out_channels, self.groups = in_channels, out_channels, groups
        self.kernel_size, self.stride, self.padding, self.dilation, self.output_padding = map(
            self._tuple, (kernel_size, stride, padding, dilation, output_padding))
        channels = (in_channels, out_channels // groups) if self._transposed else (out_channels, in_channels // groups)
        settings = {'device': device, 'dtype': dtype}
        self.weight = Parameter(_C.empty(*channels, *self.kernel_size, **settings))
        self.register_parameter('bias', Parameter(_C.empty(out_channels, **settings)) if bias else None)
        self.reset_parameters()

    def _tuple(self, value):
        if isinstance(value, str):
            return value
        return tuple(value)[-self._n_dims:] if isinstance(value, (tuple, list)) else (value,) * self._n_dims

    def reset_parameters(self):
        reset_weight_and_bias(self.weight, self.bias)

    def extra_repr(self):
        text = f'{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}'
        for name, usual in (('padding', 0), ('dilation', 1), ('output_padding', 0)):
            value = getattr(self, name)
            text += f', {name}={value}' if value != (usual,) * self._n_dims else ''
        text += f', groups={self.groups}' if self.groups != 1 else ''
        text += ', bias=False' if self.bias is None else ''
        return text + (f', padding_mode={self.padding_mode}' if self.padding_mode != 'zeros' else '')

    def _around(self, input):
        """The input with what lies around it, and the padding that is left for the convolution."""
        if self.padding_mode == 'zeros':
            return input, self.padding
        sides = [n for n in reversed(self.padding) for _ in range(2)] if not isinstance(self.padding, str) else [
            n for k, d in zip(reversed(self.kernel_size), reversed(self.dilation)) for n in (
                d * (k - 1) // 2, d * (k - 1) - d * (k - 1) // 2)] if self.padding == 'same' else [0] * 2 * self._n_dims
        return F.pad(input, sides, mode=self.padding_mode), 0


_ConvNd = _Convolution  # PyTorch's name


class Conv1d(_Convolution):
    _n_dims = 1

    def forward(self, input):
        input, padding = self._around(input)
        return F.conv1d(input, self.weight, self.bias, self.stride, padding, self.dilation, self.groups)


class Conv2d(_Convolution):
    def forward(self, input):
        input, padding = self._around(input)
        return F.conv2d(input, self.weight, self.bias, self.stride, padding, self.dilation, self.groups)


class Conv3d(_Convolution):
    _n_dims = 3

    def forward(self, input):
        input, padding = self._around(input)
        return F.conv3d(input, self.weight, self.bias, self.stride, padding, self.dilation, self.groups)


class _Transposed(_Convolution):
    _transposed = True

    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, output_padding=0, groups=1,
                 bias=True, dilation=1, padding_mode='zeros', device=None, dtype=None):
        if padding_mode != 'zeros':
            raise ValueError(f'Only "zeros" padding mode is supported for {type(self).__name__}')
        super().__init__(in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias, padding_mode,
                         device, dtype, output_padding)


    def _extra(self, input, output_size):
        """The output padding that makes the size that is wished."""
        if output_size is None:
            return self.output_padding
        least = [(n - 1) * s - 2 * p + d * (k - 1) + 1 for n, s, p, d, k in zip(
            input.shape[-self._n_dims:], self.stride, self.padding, self.dilation, self.kernel_size)]
        sizes = list(output_size)[-self._n_dims:]
        most = [n + s - 1 for n, s in zip(least, self.stride)]
        if any(not a <= n <= b for a, n, b in zip(least, sizes, most)):
            raise ValueError(f'requested an output size of {sizes}, but valid sizes range from {least} to {most} (for an '
                             f'input of {list(input.shape[2:])})')
        return tuple(n - a for n, a in zip(sizes, least))


class ConvTranspose1d(_Transposed):
    _n_dims = 1

    def forward(self, input, output_size=None):
        return F.conv_transpose1d(input, self.weight, self.bias, self.stride, self.padding, self._extra(input, output_size),
                                  self.groups, self.dilation)


class ConvTranspose2d(_Transposed):
    def forward(self, input, output_size=None):
        return F.conv_transpose2d(input, self.weight, self.bias, self.stride, self.padding, self._extra(input, output_size),
                                  self.groups, self.dilation)


class ConvTranspose3d(_Transposed):
    _n_dims = 3

    def forward(self, input, output_size=None):
        return F.conv_transpose3d(input, self.weight, self.bias, self.stride, self.padding, self._extra(input, output_size),
                                  self.groups, self.dilation)

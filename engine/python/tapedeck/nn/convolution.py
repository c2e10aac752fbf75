# SPDX-License-Identifier: LGPL-2.1-or-later
"""Convolutions and pooling."""
from tapedeck import _C
from tapedeck.nn import functional as F
from tapedeck.nn.linear import reset_weight_and_bias
from tapedeck.nn.module import Module
from tapedeck.nn.parameter import Parameter


class _Convolution(Module):
    """Base of all convolutions. A class says how many dimensions it has, and whether it is transposed."""
    _n_dims, _transposed = 2, False

    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True,
                 output_padding=0):
        super().__init__()
        if in_channels % groups:
            raise ValueError('in_channels must be divisible by groups')
        if out_channels % groups:
            raise ValueError('out_channels must be divisible by groups')
        self.in_channels, self.out_channels, self.groups = in_channels, out_channels, groups
        self.kernel_size, self.stride, self.padding, self.dilation, self.output_padding = map(
            self._tuple, (kernel_size, stride, padding, dilation, output_padding))
        channels = (in_channels, out_channels // groups) if self._transposed else (out_channels, in_channels // groups)
        self.weight = Parameter(_C.empty(*channels, *self.kernel_size))
        self.register_parameter('bias', Parameter(_C.empty(out_channels)) if bias else None)
        self.reset_parameters()

    def _tuple(self, value):
        return F.pair(value)[-self._n_dims:] if not isinstance(value, str) else value

    def reset_parameters(self):
        reset_weight_and_bias(self.weight, self.bias)

    def extra_repr(self):
        text = f'{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}'
        for name, usual in (('padding', 0), ('dilation', 1), ('output_padding', 0)):
            value = getattr(self, name)
            text += f', {name}={value}' if value != (usual,) * self._n_dims else ''
        text += f', groups={self.groups}' if self.groups != 1 else ''
        return text + (', bias=False' if self.bias is None else '')


class Conv1d(_Convolution):
    _n_dims = 1

    def forward(self, input):
        return F.conv1d(input, self.weight, self.bias, self.stride, self.padding, self.dilation, self.groups)


class Conv2d(_Convolution):
    def forward(self, input):
        return F.conv2d(input, self.weight, self.bias, self.stride, self.padding, self.dilation, self.groups)


class _Transposed(_Convolution):
    _transposed = True

    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, output_padding=0, groups=1,
                 bias=True, dilation=1):
        super().__init__(in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias,
                         output_padding)


class ConvTranspose1d(_Transposed):
    _n_dims = 1

    def forward(self, input):
        return F.conv_transpose1d(input, self.weight, self.bias, self.stride, self.padding, self.output_padding,
                                  self.groups, self.dilation)


class ConvTranspose2d(_Transposed):
    def forward(self, input):
        return F.conv_transpose2d(input, self.weight, self.bias, self.stride, self.padding, self.output_padding,
                                  self.groups, self.dilation)


class MaxPool2d(Module):
    def __init__(self, kernel_size, stride=None, padding=0, dilation=1, return_indices=False, ceil_mode=False):
        super().__init__()
        self.kernel_size, self.stride, self.padding = kernel_size, stride or kernel_size, padding
        self.dilation, self.return_indices, self.ceil_mode = dilation, return_indices, ceil_mode

    def forward(self, input):
        return F.max_pool2d(input, self.kernel_size, self.stride, self.padding, self.dilation, self.ceil_mode,
                            self.return_indices)

    def extra_repr(self):
        return (f'kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}, '
                f'dilation={self.dilation}, ceil_mode={self.ceil_mode}')


class MaxPool1d(MaxPool2d):
    def forward(self, input):
        return F.max_pool1d(input, self.kernel_size, self.stride, self.padding, self.dilation, self.ceil_mode)


class AvgPool2d(Module):
    def __init__(self, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True,
                 divisor_override=None):
        super().__init__()
        self.kernel_size, self.stride, self.padding = kernel_size, stride or kernel_size, padding
        self.ceil_mode, self.count_include_pad, self.divisor_override = ceil_mode, count_include_pad, divisor_override

    def forward(self, input):
        return F.avg_pool2d(input, self.kernel_size, self.stride, self.padding, self.ceil_mode,
                            self.count_include_pad, self.divisor_override)

    def extra_repr(self):
        return f'kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}'


class AdaptiveAvgPool2d(Module):
    def __init__(self, output_size):
        super().__init__()
        self.output_size = output_size

    def forward(self, input):
        return F.adaptive_avg_pool2d(input, self.output_size)

    def extra_repr(self):
        return f'output_size={self.output_size}'

# SPDX-License-Identifier: LGPL-2.1-or-later
"""Layers and losses. Parameters start as PyTorch's do, number for number where the seed is the same."""
import math

from tapedeck import _C
from tapedeck.autograd import no_grad
from tapedeck.nn import functional as F
from tapedeck.nn.module import Module, Parameter


def _pair(value):
    return tuple(value) if isinstance(value, (tuple, list)) else (value, value)


@no_grad()
def _reset(weight, bias, fan_in):
    """PyTorch's kaiming_uniform_(weight, a=sqrt(5)), and the bias in the same bounds."""
    gain = math.sqrt(2.0 / (1 + math.sqrt(5) ** 2))
    bound = math.sqrt(3.0) * (gain / math.sqrt(fan_in))
    weight.uniform_(-bound, bound)
    if bias is not None:
        bias.uniform_(-1 / math.sqrt(fan_in), 1 / math.sqrt(fan_in))


class Linear(Module):
    def __init__(self, in_features, out_features, bias=True):
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        self.weight = Parameter(_C.zeros(out_features, in_features))
        self.bias = Parameter(_C.zeros(out_features)) if bias else None
        _reset(self.weight, self.bias, in_features)

    def forward(self, input):
        return F.linear(input, self.weight, self.bias)

    def extra_repr(self):
        return f'in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}'


class Conv2d(Module):
    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, bias=True):
        super().__init__()
        self.in_channels, self.out_channels = in_channels, out_channels
        self.kernel_size, self.stride, self.padding = _pair(kernel_size), _pair(stride), _pair(padding)
        self.weight = Parameter(_C.zeros(out_channels, in_channels, *self.kernel_size))
        self.bias = Parameter(_C.zeros(out_channels)) if bias else None
        _reset(self.weight, self.bias, in_channels * self.kernel_size[0] * self.kernel_size[1])

    def forward(self, input):
        return F.conv2d(input, self.weight, self.bias, self.stride, self.padding)

    def extra_repr(self):
        text = f'{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}'
        if self.padding != (0, 0):
            text += f', padding={self.padding}'
        return text + (', bias=False' if self.bias is None else '')


class MaxPool2d(Module):
    def __init__(self, kernel_size, stride=None, padding=0):
        super().__init__()
        self.kernel_size, self.stride, self.padding = kernel_size, stride or kernel_size, padding

    def forward(self, input):
        return F.max_pool2d(input, self.kernel_size, self.stride, self.padding)

    def extra_repr(self):
        return (f'kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}, dilation=1, '
                'ceil_mode=False')


class ReLU(Module):
    def forward(self, input):
        return F.relu(input)


class Tanh(Module):
    def forward(self, input):
        return F.tanh(input)


class Sigmoid(Module):
    def forward(self, input):
        return F.sigmoid(input)


class Flatten(Module):
    def __init__(self, start_dim=1, end_dim=-1):
        super().__init__()
        self.start_dim, self.end_dim = start_dim, end_dim

    def forward(self, input):
        return input.flatten(self.start_dim, self.end_dim)

    def extra_repr(self):
        return f'start_dim={self.start_dim}, end_dim={self.end_dim}'


class Sequential(Module):
    def __init__(self, *layers):
        super().__init__()
        for i, layer in enumerate(layers):
            self.add_module(str(i), layer)

    def __iter__(self):
        return self.children()

    def __len__(self):
        return len(self._modules)

    def __getitem__(self, i):
        return list(self._modules.values())[i]

    def forward(self, input):
        for layer in self:
            input = layer(input)
        return input


class _Loss(Module):
    def __init__(self, reduction='mean'):
        super().__init__()
        self.reduction = reduction

    def forward(self, input, target):
        return type(self)._function(input, target, reduction=self.reduction)


class CrossEntropyLoss(_Loss):
    _function = staticmethod(F.cross_entropy)


class NLLLoss(_Loss):
    _function = staticmethod(F.nll_loss)


class MSELoss(_Loss):
    _function = staticmethod(F.mse_loss)

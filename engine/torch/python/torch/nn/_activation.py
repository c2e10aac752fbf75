# SPDX-License-Identifier: LGPL-2.1-or-later
"""Activations as modules: each is one function of functional.py with its settings."""
from torch import _C
from torch.nn import functional as F, init
from torch.nn._module import Module
from torch.nn.parameter import Parameter


def activation(name, function, *settings, shown=None):
    """A class whose instances keep `settings`, pairs of a name and a default, and pass them on by name. Its text has
    those of `shown`."""
    names = [setting for setting, _ in settings]
    shown = names if shown is None else shown

    def init(self, *args, **kwargs):
        Module.__init__(self)
        unknown = set(kwargs) - set(names)
        if len(args) > len(names):
            raise TypeError(f'{name}.__init__() takes from 1 to {len(names) + 1} positional arguments but {len(args) + 1} '
                            'were given')
        if unknown:
            raise TypeError(f"{name}.__init__() got an unexpected keyword argument '{sorted(unknown)[0]}'")
        for setting, default in settings:
            setattr(self, setting, default)
        for setting, value in (*zip(names, args), *kwargs.items()):
            setattr(self, setting, value)

    def forward(self, input):
        return function(input, **{setting: getattr(self, setting) for setting in names})

    def extra_repr(self):
        return ', '.join(f'{setting}={getattr(self, setting)!r}' for setting in shown
                         if setting != 'inplace' or self.inplace)
    return type(name, (Module,), {'__init__': init, 'forward': forward, 'extra_repr': extra_repr,
                                  '__module__': __name__})


_inplace = ('inplace', False)
ReLU = activation('ReLU', F.relu, _inplace)
Tanh = activation('Tanh', F.tanh)
Sigmoid = activation('Sigmoid', F.sigmoid)
SiLU = activation('SiLU', F.silu, _inplace)
Mish = activation('Mish', F.mish, _inplace)
GELU = activation('GELU', F.gelu, ('approximate', 'none'))
ELU = activation('ELU', F.elu, ('alpha', 1.0), _inplace)
CELU = activation('CELU', F.celu, ('alpha', 1.0), _inplace)
SELU = activation('SELU', F.selu, _inplace)
GLU = activation('GLU', F.glu, ('dim', -1))
LeakyReLU = activation('LeakyReLU', F.leaky_relu, ('negative_slope', 0.01), _inplace)
Softplus = activation('Softplus', F.softplus, ('beta', 1.0), ('threshold', 20.0))
Hardtanh = activation('Hardtanh', F.hardtanh, ('min_val', -1.0), ('max_val', 1.0), _inplace)
Hardsigmoid = activation('Hardsigmoid', F.hardsigmoid, _inplace, shown=())
Hardswish = activation('Hardswish', F.hardswish, _inplace, shown=())
Hardshrink = activation('Hardshrink', F.hardshrink, ('lambd', 0.5))
Softshrink = activation('Softshrink', F.softshrink, ('lambd', 0.5))
Softsign = activation('Softsign', F.softsign)
Tanhshrink = activation('Tanhshrink', F.tanhshrink)
LogSigmoid = activation('LogSigmoid', F.logsigmoid)
Softmax = activation('Softmax', F.softmax, ('dim', None))
Softmin = activation('Softmin', F.softmin, ('dim', None))
LogSoftmax = activation('LogSoftmax', F.log_softmax, ('dim', None))


class ReLU6(Hardtanh):
    def __init__(self, inplace=False):
        super().__init__(0.0, 6.0, inplace)

    def extra_repr(self):
        return 'inplace=True' if self.inplace else ''


def _only_lambda(self):
    return str(self.lambd)


Hardshrink.extra_repr = Softshrink.extra_repr = _only_lambda


class Threshold(Module):
    def __init__(self, threshold, value, inplace=False):
        super().__init__()
        self.threshold, self.value, self.inplace = threshold, value, inplace

    def forward(self, input):
        return F.threshold(input, self.threshold, self.value, self.inplace)

    def extra_repr(self):
        return f'threshold={self.threshold}, value={self.value}' + (', inplace=True' if self.inplace else '')


class RReLU(Module):
    def __init__(self, lower=1.0 / 8, upper=1.0 / 3, inplace=False):
        super().__init__()
        self.lower, self.upper, self.inplace = lower, upper, inplace

    def forward(self, input):
        return F.rrelu(input, self.lower, self.upper, self.training, self.inplace)

    def extra_repr(self):
        return f'lower={self.lower}, upper={self.upper}' + (', inplace=True' if self.inplace else '')


class PReLU(Module):
    def __init__(self, num_parameters=1, init=0.25, device=None, dtype=None):
        super().__init__()
        self.num_parameters, self.init = num_parameters, init
        self.weight = Parameter(_C.empty(num_parameters, dtype=dtype, device=device))
        self.reset_parameters()

    def reset_parameters(self):
        init.constant_(self.weight, self.init)

    def forward(self, input):
        return F.prelu(input, self.weight)

    def extra_repr(self):
        return f'num_parameters={self.num_parameters}'


class Softmax2d(Module):
    def forward(self, input):
        if input.dim() not in (3, 4):
            raise ValueError(f'Softmax2d: expected input to be 3D or 4D, got {input.dim()}D instead')
        return F.softmax(input, -3)

# SPDX-License-Identifier: LGPL-2.1-or-later
"""Activations and losses as modules: each is one function of functional.py with its settings."""
from tapedeck.nn import functional as F
from tapedeck.nn.module import Module


def _activation(name, function, settings=(), shown=None):
    """A class whose instances keep `settings`, pairs of a name and a default, and pass them on by name."""
    names = [setting for setting, _ in settings]

    def init(self, *args, **kwargs):
        Module.__init__(self)
        unknown = set(kwargs) - set(names)
        if unknown or len(args) > len(names):
            raise TypeError(f"{name}.__init__() got an unexpected argument {', '.join(sorted(unknown))}")
        for setting, default in settings:
            setattr(self, setting, default)
        for setting, value in (*zip(names, args), *kwargs.items()):
            setattr(self, setting, value)

    def forward(self, input):
        return function(input, **{setting: getattr(self, setting) for setting in names})

    def extra_repr(self):
        return ', '.join(f'{setting}={getattr(self, setting)!r}' for setting, default in settings
                         if setting != 'inplace' or self.inplace)
    return type(name, (Module,), {'__init__': init, 'forward': forward, 'extra_repr': extra_repr,
                                  '__module__': __name__})


_inplace = ('inplace', False)
ReLU = _activation('ReLU', F.relu, [_inplace])
ReLU6 = _activation('ReLU6', F.relu6, [_inplace])
Tanh = _activation('Tanh', F.tanh)
Sigmoid = _activation('Sigmoid', F.sigmoid)
SiLU = _activation('SiLU', F.silu, [_inplace])
GELU = _activation('GELU', F.gelu, [('approximate', 'none')])
ELU = _activation('ELU', F.elu, [('alpha', 1.0), _inplace])
LeakyReLU = _activation('LeakyReLU', F.leaky_relu, [('negative_slope', 0.01), _inplace])
Softplus = _activation('Softplus', F.softplus, [('beta', 1), ('threshold', 20)])
Hardtanh = _activation('Hardtanh', F.hardtanh, [('min_val', -1.0), ('max_val', 1.0), _inplace])
Softmax = _activation('Softmax', F.softmax, [('dim', None)])
LogSoftmax = _activation('LogSoftmax', F.log_softmax, [('dim', None)])


class _Loss(Module):
    def __init__(self, reduction='mean', **settings):
        super().__init__()
        self.reduction, self._settings = reduction, settings

    def forward(self, input, target):
        return type(self)._function(input, target, reduction=self.reduction, **self._settings)


class CrossEntropyLoss(_Loss):
    _function = staticmethod(F.cross_entropy)


class NLLLoss(_Loss):
    _function = staticmethod(F.nll_loss)


class MSELoss(_Loss):
    _function = staticmethod(F.mse_loss)


class L1Loss(_Loss):
    _function = staticmethod(F.l1_loss)


class BCELoss(_Loss):
    _function = staticmethod(F.binary_cross_entropy)


class BCEWithLogitsLoss(_Loss):
    _function = staticmethod(F.binary_cross_entropy_with_logits)

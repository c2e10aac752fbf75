# SPDX-License-Identifier: LGPL-2.1-or-later
"""torch.nn.modules: the same classes by the names of PyTorch's files."""
import sys

from torch import nn
from torch.nn import (activation, container, convolution, dropout, linear, loss, module_hooks, normalization, pooling,
                      recurrent, transformer, vision)
from torch.nn import module as _module

for _name in dir(module_hooks):
    if _name.startswith('register_module_'):
        setattr(_module, _name, getattr(module_hooks, _name))

module, conv, batchnorm, instancenorm, rnn, padding, sparse = (
    _module, convolution, normalization, normalization, recurrent, vision, linear)
pixelshuffle = upsampling = vision
distance = loss
for _name in ('activation', 'batchnorm', 'container', 'conv', 'distance', 'dropout', 'instancenorm', 'linear', 'loss',
              'module', 'normalization', 'padding', 'pixelshuffle', 'pooling', 'rnn', 'sparse', 'transformer',
              'upsampling'):
    sys.modules[f'{__name__}.{_name}'] = globals()[_name]


def __getattr__(name):
    """The classes, which stand in torch.nn."""
    return getattr(nn, name)

# SPDX-License-Identifier: LGPL-2.1-or-later
"""Optimizers."""
import sys

from torch.optim import lr_scheduler, swa_utils
from torch.optim._adafactor import Adafactor
from torch.optim.adam import Adam, Adamax, AdamW, NAdam, RAdam, SparseAdam
from torch.optim._adaptive import Adadelta, Adagrad, RMSprop, Rprop
from torch.optim.lbfgs import LBFGS
from torch.optim._muon import Muon
from torch.optim.optimizer import Optimizer
from torch.optim.sgd import ASGD, SGD

# PyTorch has a file for each, which pickles name.
for _kind in (Adadelta, Adagrad, Adam, AdamW, Adamax, ASGD, NAdam, RAdam, RMSprop, Rprop, SparseAdam):
    _name = __name__ + '.' + ('sparse_adam' if _kind is SparseAdam else _kind.__name__.lower())
    sys.modules.setdefault(_name, sys.modules[_kind.__module__])
    _kind.__module__ = _name
Adafactor.__module__ = Muon.__module__ = __name__

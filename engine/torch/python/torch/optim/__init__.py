# SPDX-License-Identifier: LGPL-2.1-or-later
"""Optimizers."""
from torch.optim import lr_scheduler, swa_utils
from torch.optim.adafactor import Adafactor
from torch.optim.adam import Adam, Adamax, AdamW, NAdam, RAdam, SparseAdam
from torch.optim.adaptive import Adadelta, Adagrad, RMSprop, Rprop
from torch.optim.lbfgs import LBFGS
from torch.optim.muon import Muon
from torch.optim.optimizer import Optimizer
from torch.optim.sgd import ASGD, SGD

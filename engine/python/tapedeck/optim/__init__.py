# SPDX-License-Identifier: LGPL-2.1-or-later
"""Optimizers."""
from tapedeck.optim import lr_scheduler, swa_utils
from tapedeck.optim.adafactor import Adafactor
from tapedeck.optim.adam import Adam, Adamax, AdamW, NAdam, RAdam, SparseAdam
from tapedeck.optim.adaptive import Adadelta, Adagrad, RMSprop, Rprop
from tapedeck.optim.lbfgs import LBFGS
from tapedeck.optim.muon import Muon
from tapedeck.optim.optimizer import Optimizer
from tapedeck.optim.sgd import ASGD, SGD

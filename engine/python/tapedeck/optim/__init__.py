# SPDX-License-Identifier: LGPL-2.1-or-later
"""Optimizers."""
from tapedeck.optim import lr_scheduler
from tapedeck.optim.adaptive import Adagrad, Adam, AdamW, RMSprop
from tapedeck.optim.optimizer import Optimizer
from tapedeck.optim.sgd import SGD

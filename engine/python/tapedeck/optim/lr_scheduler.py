# SPDX-License-Identifier: LGPL-2.1-or-later
"""torch.optim.lr_scheduler: learning rates that change from step to step."""
from tapedeck.optim.composed_schedulers import ChainedScheduler, ReduceLROnPlateau, SequentialLR
from tapedeck.optim.cyclic_schedulers import CosineAnnealingWarmRestarts, CyclicLR, OneCycleLR
from tapedeck.optim.scheduler import LRScheduler
from tapedeck.optim.simple_schedulers import (ConstantLR, CosineAnnealingLR, ExponentialLR, LambdaLR, LinearLR, MultiStepLR,
                                              MultiplicativeLR, PolynomialLR, StepLR)

_LRScheduler = LRScheduler

__all__ = ['LambdaLR', 'MultiplicativeLR', 'StepLR', 'MultiStepLR', 'ConstantLR', 'LinearLR', 'ExponentialLR',
           'SequentialLR', 'CosineAnnealingLR', 'ChainedScheduler', 'ReduceLROnPlateau', 'CyclicLR',
           'CosineAnnealingWarmRestarts', 'OneCycleLR', 'PolynomialLR', 'LRScheduler']

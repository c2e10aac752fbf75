# SPDX-License-Identifier: LGPL-2.1-or-later
"""torch.optim.lr_scheduler: learning rates that change from step to step."""
from torch.optim._composed_schedulers import ChainedScheduler, ReduceLROnPlateau, SequentialLR
from torch.optim._cyclic_schedulers import CosineAnnealingWarmRestarts, CyclicLR, OneCycleLR
from torch.optim._scheduler import LRScheduler
from torch.optim._simple_schedulers import (ConstantLR, CosineAnnealingLR, ExponentialLR, LambdaLR, LinearLR, MultiStepLR,
                                            MultiplicativeLR, PolynomialLR, StepLR)

_LRScheduler = LRScheduler

__all__ = ['LambdaLR', 'MultiplicativeLR', 'StepLR', 'MultiStepLR', 'ConstantLR', 'LinearLR', 'ExponentialLR',
           'SequentialLR', 'CosineAnnealingLR', 'ChainedScheduler', 'ReduceLROnPlateau', 'CyclicLR',
           'CosineAnnealingWarmRestarts', 'OneCycleLR', 'PolynomialLR', 'LRScheduler']

for _name in __all__:  # pickles name this file, as PyTorch's do
    globals()[_name].__module__ = __name__

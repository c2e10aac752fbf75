# SPDX-License-Identifier: LGPL-2.1-or-later
"""Layers, losses, and the modules they are made of."""
from tapedeck.nn import functional
from tapedeck.nn.layers import (Conv2d, CrossEntropyLoss, Flatten, Linear, MaxPool2d, MSELoss, NLLLoss, ReLU,
                                Sequential, Sigmoid, Tanh)
from tapedeck.nn.module import Module, Parameter

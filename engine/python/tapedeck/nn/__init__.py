# SPDX-License-Identifier: LGPL-2.1-or-later
"""Layers, losses, and the modules they are made of."""
from tapedeck.nn import functional, init
from tapedeck.nn.activation import (BCELoss, BCEWithLogitsLoss, CrossEntropyLoss, ELU, GELU, Hardtanh, L1Loss, LeakyReLU,
                                    LogSoftmax, MSELoss, NLLLoss, ReLU, ReLU6, Sigmoid, SiLU, Softmax, Softplus, Tanh)
from tapedeck.nn.container import ModuleDict, ModuleList, ParameterList, Sequential
from tapedeck.nn.convolution import (AdaptiveAvgPool2d, AvgPool2d, Conv1d, Conv2d, ConvTranspose1d, ConvTranspose2d,
                                     MaxPool1d, MaxPool2d)
from tapedeck.nn.linear import Embedding, EmbeddingBag, Flatten, Identity, Linear
from tapedeck.nn.module import Module
from tapedeck.nn.normalization import BatchNorm1d, BatchNorm2d, Dropout, GroupNorm, LayerNorm
from tapedeck.nn.parameter import Parameter
from tapedeck.nn.recurrent import GRU, GRUCell, LSTM, LSTMCell, RNN, RNNCell
from tapedeck.nn.transformer import MultiheadAttention, TransformerEncoder, TransformerEncoderLayer
from tapedeck.nn import utils

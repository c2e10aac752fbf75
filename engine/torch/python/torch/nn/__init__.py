# SPDX-License-Identifier: LGPL-2.1-or-later
"""Layers, losses, and the modules they are made of."""
from torch.nn import functional, init
from torch.nn._activation import (CELU, ELU, GELU, GLU, Hardshrink, Hardsigmoid, Hardswish, Hardtanh, LeakyReLU,
                                  LogSigmoid, LogSoftmax, Mish, PReLU, ReLU, ReLU6, RReLU, SELU, Sigmoid, SiLU, Softmax,
                                  Softmax2d, Softmin, Softplus, Softshrink, Softsign, Tanh, Tanhshrink, Threshold)
from torch.nn._container import ModuleDict, ModuleList, Sequential
from torch.nn._convolution import Conv1d, Conv2d, Conv3d, ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from torch.nn._data_parallel import DataParallel
from torch.nn._dropout import AlphaDropout, Dropout, Dropout1d, Dropout2d, Dropout3d, FeatureAlphaDropout
from torch.nn._linear import Bilinear, Embedding, EmbeddingBag, Flatten, Identity, Linear, Unflatten
from torch.nn._loss import (BCELoss, BCEWithLogitsLoss, CosineEmbeddingLoss, CosineSimilarity, CrossEntropyLoss, CTCLoss,
                            GaussianNLLLoss, HingeEmbeddingLoss, HuberLoss, KLDivLoss, L1Loss, MarginRankingLoss, MSELoss,
                            MultiLabelSoftMarginLoss, MultiMarginLoss, NLLLoss, NLLLoss2d, PairwiseDistance,
                            PoissonNLLLoss, SmoothL1Loss, SoftMarginLoss, TripletMarginLoss,
                            TripletMarginWithDistanceLoss)
from torch.nn._module import Module
from torch.nn._normalization import (BatchNorm1d, BatchNorm2d, BatchNorm3d, GroupNorm, InstanceNorm1d, InstanceNorm2d,
                                     InstanceNorm3d, LayerNorm, LocalResponseNorm, RMSNorm)
from torch.nn.parameter import Buffer, Parameter
from torch.nn._parameter_container import ParameterDict, ParameterList
from torch.nn._pooling import (AdaptiveAvgPool1d, AdaptiveAvgPool2d, AdaptiveMaxPool1d, AdaptiveMaxPool2d, AvgPool1d,
                               AvgPool2d, AvgPool3d, Fold, LPPool1d, LPPool2d, MaxPool1d, MaxPool2d, MaxPool3d,
                               MaxUnpool1d, MaxUnpool2d, Unfold)
from torch.nn._recurrent import GRU, GRUCell, LSTM, LSTMCell, RNN, RNNCell
from torch.nn._transformer import (MultiheadAttention, Transformer, TransformerDecoder, TransformerDecoderLayer,
                                   TransformerEncoder, TransformerEncoderLayer)
from torch.nn._vision import (ChannelShuffle, CircularPad1d, CircularPad2d, CircularPad3d, ConstantPad1d, ConstantPad2d,
                              ConstantPad3d, PixelShuffle, PixelUnshuffle, ReflectionPad1d, ReflectionPad2d,
                              ReflectionPad3d, ReplicationPad1d, ReplicationPad2d, ReplicationPad3d, Upsample,
                              UpsamplingBilinear2d, UpsamplingNearest2d, ZeroPad1d, ZeroPad2d, ZeroPad3d)
from torch.nn._lazy import LAZY, UninitializedBuffer, UninitializedParameter
from torch.nn import modules, utils

globals().update(LAZY)

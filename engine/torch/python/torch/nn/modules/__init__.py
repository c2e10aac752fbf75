# SPDX-License-Identifier: LGPL-2.1-or-later
"""torch.nn.modules: the same classes by the names of PyTorch's files. They are the classes' modules too, so that pickles name
them as PyTorch does."""
import sys

from torch import nn
from torch.nn import _activation, _container, _convolution, _dropout, _linear, _loss, _module, _module_hooks
from torch.nn import _normalization, _pooling, _recurrent, _transformer, _vision
from torch.nn._lazy import LAZY

for _name in dir(_module_hooks):
    if _name.startswith('register_module_'):
        setattr(_module, _name, getattr(_module_hooks, _name))

# By PyTorch's file: the one that has most of it, and its classes.
_FILES = {
    'activation': (_activation, '''CELU ELU GELU GLU Hardshrink Hardsigmoid Hardswish Hardtanh LeakyReLU LogSigmoid
        LogSoftmax Mish MultiheadAttention PReLU RReLU ReLU ReLU6 SELU SiLU Sigmoid Softmax Softmax2d Softmin Softplus
        Softshrink Softsign Tanh Tanhshrink Threshold'''),
    'batchnorm': (_normalization, '''BatchNorm1d BatchNorm2d BatchNorm3d LazyBatchNorm1d LazyBatchNorm2d
        LazyBatchNorm3d'''),
    'channelshuffle': (_vision, 'ChannelShuffle'),
    'container': (_container, 'ModuleDict ModuleList ParameterDict ParameterList Sequential'),
    'conv': (_convolution, '''Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d LazyConv1d
        LazyConv2d LazyConv3d LazyConvTranspose1d LazyConvTranspose2d LazyConvTranspose3d'''),
    'distance': (_loss, 'CosineSimilarity PairwiseDistance'),
    'dropout': (_dropout, 'AlphaDropout Dropout Dropout1d Dropout2d Dropout3d FeatureAlphaDropout'),
    'flatten': (_linear, 'Flatten Unflatten'),
    'fold': (_pooling, 'Fold Unfold'),
    'instancenorm': (_normalization, '''InstanceNorm1d InstanceNorm2d InstanceNorm3d LazyInstanceNorm1d
        LazyInstanceNorm2d LazyInstanceNorm3d'''),
    'linear': (_linear, 'Bilinear Identity LazyLinear Linear'),
    'loss': (_loss, '''BCELoss BCEWithLogitsLoss CTCLoss CosineEmbeddingLoss CrossEntropyLoss GaussianNLLLoss
        HingeEmbeddingLoss HuberLoss KLDivLoss L1Loss MSELoss MarginRankingLoss MultiLabelMarginLoss
        MultiLabelSoftMarginLoss MultiMarginLoss NLLLoss NLLLoss2d PoissonNLLLoss SmoothL1Loss SoftMarginLoss
        TripletMarginLoss TripletMarginWithDistanceLoss'''),
    'module': (_module, 'Module'),
    'normalization': (_normalization, 'CrossMapLRN2d GroupNorm LayerNorm LocalResponseNorm RMSNorm'),
    'padding': (_vision, '''CircularPad1d CircularPad2d CircularPad3d ConstantPad1d ConstantPad2d ConstantPad3d
        ReflectionPad1d ReflectionPad2d ReflectionPad3d ReplicationPad1d ReplicationPad2d ReplicationPad3d ZeroPad1d
        ZeroPad2d ZeroPad3d'''),
    'pixelshuffle': (_vision, 'PixelShuffle PixelUnshuffle'),
    'pooling': (_pooling, '''AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d AdaptiveMaxPool1d AdaptiveMaxPool2d
        AdaptiveMaxPool3d AvgPool1d AvgPool2d AvgPool3d LPPool1d LPPool2d LPPool3d MaxPool1d MaxPool2d MaxPool3d
        MaxUnpool1d MaxUnpool2d MaxUnpool3d'''),
    'rnn': (_recurrent, 'GRU GRUCell LSTM LSTMCell RNN RNNBase RNNCell RNNCellBase'),
    'sparse': (_linear, 'Embedding EmbeddingBag'),
    'transformer': (_transformer, '''Transformer TransformerDecoder TransformerDecoderLayer TransformerEncoder
        TransformerEncoderLayer'''),
    'upsampling': (_vision, 'Upsample UpsamplingBilinear2d UpsamplingNearest2d'),
}


def _settle(name, file, classes):
    globals()[name] = sys.modules[f'{__name__}.{name}'] = file
    for kind in classes.split():
        found = vars(nn).get(kind) or LAZY.get(kind) or vars(file).get(kind)
        if found:
            found.__module__ = f'{__name__}.{name}'
            setattr(file, kind, found)


for _name, (_file, _classes) in _FILES.items():
    _settle(_name, _file, _classes)


def __getattr__(name):
    """The classes, which stand in torch.nn."""
    return getattr(nn, name)

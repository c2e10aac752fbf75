# SPDX-License-Identifier: LGPL-2.1-or-later
"""Dropout layers."""
from torch.nn import functional as F
from torch.nn._module import Module


class _Dropout(Module):
    """A subclass has _function."""

    def __init__(self, p=0.5, inplace=False):
        super().__init__()
        if p < 0 or p > 1:
            raise ValueError(f'dropout probability has to be between 0 and 1, but got {p}')
        self.p, self.inplace = p, inplace

    def forward(self, input):
        return type(self)._function(input, self.p, self.training, self.inplace)

    def extra_repr(self):
        return f'p={self.p}, inplace={self.inplace}'


class Dropout(_Dropout):
    _function = staticmethod(F.dropout)


class Dropout1d(_Dropout):
    _function = staticmethod(F.dropout1d)


class Dropout2d(_Dropout):
    _function = staticmethod(F.dropout2d)


class Dropout3d(_Dropout):
    _function = staticmethod(F.dropout3d)


class AlphaDropout(_Dropout):
    @staticmethod
    def _function(input, p, training, inplace):
        return F.alpha_dropout(input, p, training)


class FeatureAlphaDropout(_Dropout):
    @staticmethod
    def _function(input, p, training, inplace):
        return F.feature_alpha_dropout(input, p, training)

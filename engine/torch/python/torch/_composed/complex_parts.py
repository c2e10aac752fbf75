# SPDX-License-Identifier: LGPL-2.1-or-later
"""The parts of complex numbers, as views."""
from torch import _C
from torch._C import Tensor
from torch._composed.table import both, function


@function
def real(input):
    """The real parts. Of real numbers: the tensor itself."""
    return _C.view_as_real(input).select(-1, 0) if input.is_complex() else input


@function
def imag(input):
    if not input.is_complex():
        raise RuntimeError('imag is not implemented for tensors with non-complex dtypes.')
    return _C.view_as_real(input).select(-1, 1)


@both
def is_conj(input):
    """Whether the elements are conjugated when they are read. conj() has done it already."""
    return False


@both
def is_neg(input):
    return False


@both
def resolve_conj(input):
    return input


@both
def resolve_neg(input):
    return input


def _set_real(self, value):
    real(self).copy_(value if isinstance(value, Tensor) else _C.tensor(value))


def _set_imag(self, value):
    imag(self).copy_(value if isinstance(value, Tensor) else _C.tensor(value))


def _complex(self):
    return complex(self.item())


Tensor.__complex__ = _complex
Tensor.real, Tensor.imag = property(real, _set_real), property(imag, _set_imag)

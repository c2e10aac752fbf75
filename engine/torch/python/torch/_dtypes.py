# SPDX-License-Identifier: LGPL-2.1-or-later
"""finfo and iinfo: the limits of a dtype."""
import math

from torch import _C

# Bits of the fraction, least and greatest exponent, digits that a decimal number keeps.
_FLOATING = {_C.float16: (10, -14, 15, 3), _C.bfloat16: (7, -126, 127, 2), _C.float32: (23, -126, 127, 6),
             _C.float64: (52, -1022, 1023, 15)}
_OF_COMPLEX = {_C.complex64: _C.float32, _C.complex128: _C.float64}
_INTEGERS = {_C.uint8: (0, 8), _C.int8: (1, 8), _C.int16: (1, 16), _C.int32: (1, 32), _C.int64: (1, 64)}


def _name(dtype):
    return str(dtype).removeprefix('torch.')


class finfo:
    """The limits of a floating dtype, or of the parts of a complex one."""

    def __init__(self, dtype=None):
        dtype = _C.default_dtype() if dtype is None else dtype
        if not isinstance(dtype, _C.dtype):
            raise TypeError('finfo(): argument \'type\' (position 1) must be torch.dtype, '
                            f'not {type(dtype).__name__}')
        dtype = _OF_COMPLEX.get(dtype, dtype)
        if dtype not in _FLOATING:
            raise TypeError("torch.finfo() requires a floating point input type. Use torch.iinfo to handle 'torch.finfo'")
        fraction, least, greatest, digits = _FLOATING[dtype]
        self.dtype, self.bits = _name(dtype), dtype.itemsize * 8
        self.eps, self.tiny = math.ldexp(1.0, -fraction), math.ldexp(1.0, least)
        self.max = math.ldexp(2.0 - self.eps, greatest)
        self.min, self.smallest_normal, self.resolution = -self.max, self.tiny, 10.0 ** -digits

    def __eq__(self, other):
        return isinstance(other, finfo) and self.dtype == other.dtype

    def __hash__(self):
        return hash(self.dtype)

    def __repr__(self):
        names = 'resolution min max eps smallest_normal tiny'.split()
        return f'finfo({", ".join(f"{name}={getattr(self, name):g}" for name in names)}, dtype={self.dtype})'


class iinfo:
    """The limits of an integer dtype."""

    def __init__(self, dtype):
        if not isinstance(dtype, _C.dtype):
            raise TypeError('iinfo(): argument \'type\' (position 1) must be torch.dtype, '
                            f'not {type(dtype).__name__}')
        if dtype == _C.bool:
            raise TypeError('torch.bool is not supported by torch.iinfo')
        if dtype not in _INTEGERS:
            raise TypeError("torch.iinfo() requires an integer input type. Use torch.finfo to handle 'torch.iinfo'")
        signed, self.bits = _INTEGERS[dtype]
        self.dtype, self.min, self.max = _name(dtype), -signed << self.bits - 1, (1 << self.bits - signed) - 1

    def __eq__(self, other):
        return isinstance(other, iinfo) and self.dtype == other.dtype

    def __hash__(self):
        return hash(self.dtype)

    def __repr__(self):
        return f'iinfo(min={self.min:g}, max={self.max:g}, dtype={self.dtype})'

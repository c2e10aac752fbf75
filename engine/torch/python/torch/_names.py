# SPDX-License-Identifier: LGPL-2.1-or-later
"""The names of Tapedeck's own engine that stand in the package itself, as PyTorch's stand in `torch`."""
import math
from types import MethodDescriptorType as _MethodDescriptor

from torch._C import (arange, bfloat16, bool, cat, celu, channels_last, channels_last_3d, complex, complex128, complex64,
                      contiguous_format, device, device_count, dropout, dtype, embedding, empty, float16, float32,
                      float64, full, int16, int32, int64, int8, is_anomaly_check_nan_enabled, is_anomaly_enabled,
                      is_grad_enabled, is_inference_mode_enabled, is_warn_always_enabled, ones, ones_like, poisson, polar,
                      preserve_format, rand, rand_like, randn, randn_like, randperm, selu, set_anomaly_enabled,
                      set_warn_always, Size, sparse_coo, sparse_coo_tensor, stack, strided, tensor, Tensor,
                      threshold, uint8, view_as_complex, view_as_real, where, zeros, zeros_like)
from torch import _C
from torch._composed import FUNCTIONS as _FUNCTIONS, METHODS as _METHODS
from torch.random import (default_generator, Generator, get_rng_state, initial_seed, manual_seed, seed,
                          set_rng_state)

inf, nan, pi, e, newaxis = math.inf, math.nan, math.pi, math.e, None
float, double, int, long = float32, float64, int32, int64
half, short = float16, int16
cfloat, cdouble = complex64, complex128

_C.add_methods(_METHODS)
globals().update(_FUNCTIONS)

# Functions that are methods too, but for out= and the name of their first argument.
_AS_METHODS = {**{name: method for name, method in _FUNCTIONS.items() if isinstance(method, _MethodDescriptor)},
               **{name: getattr(Tensor, name) for name in _C.operations}}
globals().update({name: _C.with_out(name, method) for name, method in _AS_METHODS.items() if not name.endswith('_')})
globals().update({name + '_': getattr(Tensor, name + '_') for name in (
    'abs acos acosh asin asinh atan atanh ceil clamp clamp_max clamp_min cos cosh detach erf erfc exp exp2 expm1 fill floor frac '
    'log log10 log1p log2 neg reciprocal relu round rsqrt sigmoid sin sinh sqrt tan tanh trunc zero').split()})


def set_num_threads(n):
    """Does nothing: an operation runs on the calling thread alone."""


def get_num_threads():
    return 1


def is_tensor(object):
    return isinstance(object, Tensor)


def is_inference(input):
    """Whether the tensor was made in inference mode."""
    return input.is_inference()


globals().update({function.__name__: _C.with_out(function.__name__, function) for function in (cat, stack, where)})

__all__ = [name for name in globals() if not name.startswith('_')]

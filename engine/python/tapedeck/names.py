# SPDX-License-Identifier: LGPL-2.1-or-later
"""The names of Tapedeck's own engine that stand in the package itself, as PyTorch's stand in `torch`."""
from tapedeck._C import (arange, bool, cat, celu, complex128, complex64, device, device_count, dropout, dtype,
                         embedding, empty, float32, float64, full, int32, int64,
                         is_anomaly_check_nan_enabled, is_anomaly_enabled, is_grad_enabled,
                         is_inference_mode_enabled, ones, ones_like, rand, rand_like, randn, randn_like,
                         randperm, selu, set_anomaly_enabled, Size, sparse_coo, sparse_coo_tensor, stack,
                         strided, Tensor, tensor, threshold, version as __version__, zeros, zeros_like)
from tapedeck import _C

float, double, int, long = float32, float64, int32, int64
cfloat, cdouble = complex64, complex128

# Functions that are methods too: one descriptor serves both.
globals().update({name: getattr(Tensor, name) for name in _C.operations})


get_rng_state, set_rng_state = _C.get_rng_state, _C.set_rng_state


def manual_seed(seed):
    """Restarts the random numbers. Returns None; PyTorch returns its generator."""
    _C.seed_generator(seed)


def set_num_threads(n):
    """Does nothing: an operation runs on the calling thread alone."""


def get_num_threads():
    return 1


def is_tensor(object):
    return isinstance(object, Tensor)


def get_default_dtype():
    return float32


# Functions of one result that take out=, as far as they exist.
_WITH_OUT = ('abs add addcdiv addcmul addmm bmm cat clamp cos div dot exp log log_softmax matmul mean mm mul mv neg pow '
             'reciprocal sigmoid sin softmax sqrt stack sub sum tanh').split()
globals().update({name: _C.with_out(name, globals()[name]) for name in _WITH_OUT if name in globals()})

__all__ = [name for name in globals() if not name.startswith('_')]

# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tapedeck's own engine, with PyTorch's names.

`tapedeck run` makes `import torch` in a script mean this module, so one script runs on both. mark(text) and step()
annotate the tape. keep("50steps") has `tapedeck record` keep only the end of it, and dump() has it write what it has
kept. They do nothing if there is no recording.
Tape(path) reads a tape.
"""
from tapedeck._C import (arange, bool, cat, celu, complex128, complex64, device, device_count, dropout, dtype,
                         dump, embedding, empty, float32, float64, full, int32, int64,
                         is_anomaly_check_nan_enabled, is_anomaly_enabled, is_grad_enabled,
                         is_inference_mode_enabled, keep, mark, ones, ones_like, rand, rand_like, randn, randn_like,
                         randperm, selu, set_anomaly_enabled, Size, sparse_coo, sparse_coo_tensor, stack, step,
                         strided, Tensor, tensor, threshold, version as __version__, zeros, zeros_like)
from tapedeck import _C
from tapedeck.autograd import enable_grad, inference_mode, no_grad, set_grad_enabled

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

from tapedeck.accelerator import Event, Stream  # noqa: E402
from tapedeck import accelerator, autograd, linalg, nn, optim, sim  # noqa: E402  (they use the names above)
from tapedeck import copies, distributed, functions, session, utils  # noqa: E402

_C._functions = functions


def __getattr__(name):
    """Tape and TapeError come when they are needed: few programs that run also read tapes."""
    if name in ('Tape', 'TapeError'):
        from tapedeck import tape
        return getattr(tape, name)
    raise AttributeError(f'module {__name__!r} has no attribute {name!r}')


session.begin()

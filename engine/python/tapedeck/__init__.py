# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tapedeck's own engine, with PyTorch's names; and what records the real PyTorch from inside.

`tapedeck run` makes `import torch` in a script mean this module, so one script runs on both.

In a program with the real PyTorch, `with record("step.tape"):` records what is inside; start() and stop() do the same.
mark(text) and step() annotate the tape. keep("50steps") keeps only the end of it, and dump() writes what was kept. These
four do nothing if there is no recording. Tape(path) reads a tape.

The engine is built for one version of Python. In any other one, the package has no more than the names above.
"""
from importlib import util as _util

from tapedeck.inside import RecordError, dump, keep, mark, record, start, step, stop

_has_engine = _util.find_spec('tapedeck._C') is not None

if _has_engine:
    from tapedeck.names import *  # noqa: F403
    from tapedeck.names import __version__, _C
    from tapedeck.autograd import enable_grad, inference_mode, no_grad, set_grad_enabled
    from tapedeck.accelerator import Event, Stream
    from tapedeck import accelerator, autograd, linalg, nn, ops, optim, random, sim, testing  # (they use the names above)
    from tapedeck import amp, arrays, backends, copies, cuda, functions, internals, onnx, serialization, session
    from tapedeck import distributions, subclasses, tensor_places, typed_storage, utils, version
    from tapedeck.amp import autocast
    from tapedeck.arrays import as_tensor, asarray, from_numpy, frombuffer
    from tapedeck.serialization import load, save
    from tapedeck.scattered import index_reduce, scatter_reduce
    from tapedeck.composed.reducing import _unique, _unique2
    from tapedeck.settings import *  # noqa: F403
    from tapedeck._C import UntypedStorage
    from tapedeck.typed_storage import TypedStorage
    from tapedeck.typename import typename

    globals().update(linalg.ROOT)
    # Functions of layers that stand in `torch` too, with the same arguments.
    globals().update({name: getattr(nn.functional, name) for name in (
        'adaptive_avg_pool1d adaptive_max_pool1d alpha_dropout avg_pool1d bilinear channel_shuffle conv1d conv2d conv3d '
        'conv_transpose1d conv_transpose2d conv_transpose3d cosine_similarity group_norm layer_norm max_pool1d max_pool2d '
        'max_pool3d pairwise_distance pixel_shuffle pixel_unshuffle prelu rms_norm').split()})
    _C._functions, _VF = functions, internals.VF
    internals.install()


def __getattr__(name):
    """Tape and TapeError come when they are needed: few programs that run also read tapes."""
    if name in ('Tape', 'TapeError'):
        from tapedeck import tape
        return getattr(tape, name)
    why = '' if _has_engine else ": Tapedeck's own engine is not built for this Python"
    raise AttributeError(f'module {__name__!r} has no attribute {name!r}{why}')


def load_ipython_extension(shell):
    """%load_ext tapedeck in Jupyter."""
    from tapedeck.notebook import TapedeckMagics
    shell.register_magics(TapedeckMagics)


if _has_engine:
    session.begin()

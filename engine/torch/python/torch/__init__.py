# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tapedeck's own engine, with PyTorch's names. `tapedeck run` puts the folder of this package into the path of a script, so one
script runs on both.

What PyTorch does not have: `torch.sim` is the module of the simulated accelerators, as `torch.cuda` is that of CUDA's. `_tapedeck`
is how Tapedeck records this engine. A program says mark() and step() to the package `tapedeck`, whichever engine it runs on.
"""
from torch._names import *  # noqa: F403
from torch._names import _C
from torch.autograd import enable_grad, inference_mode, no_grad, set_grad_enabled
from torch.accelerator import Event, Stream
from torch import accelerator, autograd, linalg, nn, ops, optim, random, sim, testing  # (they use the names above)
from torch import _arrays, _copies, _functions, _internals, _subclasses, _tapedeck, _tensor_places, _typed_storage
from torch import amp, backends, cuda, distributions, onnx, serialization, utils, version
from torch.amp import autocast
from torch._arrays import as_tensor, asarray, from_numpy, frombuffer
from torch.serialization import load, save
from torch._scattered import index_reduce, scatter_reduce
from torch._composed.reducing import _unique, _unique2
from torch._settings import *  # noqa: F403
from torch._C import UntypedStorage
from torch._typed_storage import TypedStorage
from torch._typename import typename
from torch.version import __version__

globals().update(linalg.ROOT)
# Functions of layers that stand in `torch` too, with the same arguments.
globals().update({name: getattr(nn.functional, name) for name in (
    'adaptive_avg_pool1d adaptive_max_pool1d alpha_dropout avg_pool1d bilinear channel_shuffle conv1d conv2d conv3d '
    'conv_transpose1d conv_transpose2d conv_transpose3d cosine_similarity group_norm layer_norm max_pool1d max_pool2d '
    'max_pool3d pairwise_distance pixel_shuffle pixel_unshuffle prelu rms_norm').split()})
_C._functions, _VF = _functions, _internals.VF
_internals.install()
_tapedeck.begin()

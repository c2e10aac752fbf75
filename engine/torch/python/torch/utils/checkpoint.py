# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checkpoints: forward keeps only the arguments of a function, and backward runs the function again for the rest.

The reentrant kind is a Function whose backward runs a backward pass of its own. The other (recompute.py) keeps the
graph. It runs the function again when a node first needs a saved tensor.
"""
import warnings

import torch
from torch import _C
from torch._C import Tensor
from torch.autograd import Function, Variable, enable_grad, no_grad
from torch.utils._selective import (_CachedTorchDispatchMode, _CachingTorchDispatchMode,  # noqa: F401
                                    CheckpointPolicy, SelectiveCheckpointContext, create_selective_checkpoint_contexts)
from torch.utils._recompute import (CheckpointError, noop_context_fn, recorded, replayed_random_numbers,
                                    set_checkpoint_debug_enabled, set_checkpoint_early_stop)

__all__ = ['CheckpointError', 'CheckpointFunction', 'CheckpointPolicy', 'SelectiveCheckpointContext', 'checkpoint',
           'checkpoint_sequential', 'create_selective_checkpoint_contexts', 'noop_context_fn',
           'set_checkpoint_debug_enabled', 'set_checkpoint_early_stop']


def checkpoint(function, *args, use_reentrant=None, context_fn=noop_context_fn, determinism_check='default', debug=False,
               early_stop=True, respect_saved_tensors_hooks=None, preserve_rng_state=True, **kwargs):
    """function(*args, **kwargs), without keeping what it saves for backward."""
    if use_reentrant is None and _C.policy('gradient_edges'):
        warnings.warn('torch.utils.checkpoint: the use_reentrant parameter should be passed explicitly. Starting in '
                      'PyTorch 2.9, calling checkpoint without use_reentrant will raise an exception. '
                      'use_reentrant=False is recommended, but if you need to preserve the current default behavior, '
                      'you can pass use_reentrant=True. Refer to docs for more details on the differences between the '
                      'two variants.', stacklevel=2)
        use_reentrant = True
    if not use_reentrant:
        return recorded(function, args, kwargs, preserve_rng_state, context_fn, determinism_check, debug, early_stop,
                        respect_saved_tensors_hooks)
    if context_fn is not noop_context_fn or debug or respect_saved_tensors_hooks is not None:
        which = ('`context_fn`, `debug`, or `respect_saved_tensors_hooks`' if _C.policy('texts_of_2_15')
                 else '`context_fn` or `debug`')
        raise ValueError(f'Passing {which} is only supported when use_reentrant=False.')
    if kwargs:
        raise ValueError('Unexpected keyword arguments: ' + ','.join(kwargs))
    return CheckpointFunction.apply(function, preserve_rng_state, *args)


def checkpoint_sequential(functions, segments, input, use_reentrant=None, **kwargs):
    """The functions one after the other, in `segments` checkpoints of which the last one is none."""
    if use_reentrant is None and _C.policy('gradient_edges'):
        warnings.warn('torch.utils.checkpoint.checkpoint_sequential: the use_reentrant parameter should be passed explicitly. '
                      'In version 2.9 we will raise an exception if use_reentrant is not passed. use_reentrant=False is '
                      'recommended, but if you need to preserve the current default behavior, you can pass '
                      'use_reentrant=True. Refer to docs for more details on the differences between the two variants.',
                      stacklevel=2)
        use_reentrant = True
    functions = list(functions.children()) if isinstance(functions, torch.nn.Module) else list(functions)
    size = len(functions) // segments

    def run(first, end):
        def forward(value):
            for function in functions[first:end]:
                value = function(value)
            return value
        return forward
    for first in range(0, size * (segments - 1), size):
        input = checkpoint(run(first, first + size), input, use_reentrant=use_reentrant, **kwargs)
    return run(size * (segments - 1), len(functions))(input)


def _detached(value):
    return value.detach().requires_grad_(value.requires_grad) if isinstance(value, Tensor) else value


def _check_that_nested_backward_makes_sense():
    if Variable._execution_engine.is_checkpoint_valid():
        return
    if _C.policy('gradient_edges'):
        raise RuntimeError('When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad() or passing an '
                           '`inputs` parameter to .backward(). To resolve this error, you can either set '
                           'use_reentrant=False, or call .backward() without passing the `inputs` argument.')
    raise RuntimeError('Checkpointing is not compatible with .grad() or when an `inputs` parameter is passed to '
                       '.backward(). Please use .backward() and do not pass its `inputs` argument.')


class CheckpointFunction(Function):
    @staticmethod
    def forward(ctx, function, preserve_rng_state, *args):
        if not any(isinstance(a, Tensor) and a.requires_grad for a in args):
            warnings.warn('None of the inputs have requires_grad=True. Gradients will be None')
        ctx.function = function
        ctx.rng_state = _C.default_generator._get_bytes() if preserve_rng_state else None
        ctx.others = [None if isinstance(a, Tensor) else (a,) for a in args]
        ctx.save_for_backward(*[a for a in args if isinstance(a, Tensor)])
        with no_grad():
            return function(*args)

    @staticmethod
    def backward(ctx, *gradients):
        _check_that_nested_backward_makes_sense()
        tensors = iter(ctx.saved_tensors)
        inputs = [_detached(next(tensors)) if other is None else other[0] for other in ctx.others]
        with replayed_random_numbers(ctx.rng_state), enable_grad():
            outputs = ctx.function(*inputs)
        outputs = (outputs,) if isinstance(outputs, Tensor) else outputs
        pairs = [(o, g) for o, g in zip(outputs, gradients) if isinstance(o, Tensor) and o.requires_grad]
        if not pairs:
            raise RuntimeError('none of output has requires_grad=True, this checkpoint() is not necessary')
        torch.autograd.backward([o for o, _ in pairs], [g for _, g in pairs])
        return (None, None, *[i.grad if isinstance(i, Tensor) else None for i in inputs])

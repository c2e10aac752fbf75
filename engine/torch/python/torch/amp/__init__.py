# SPDX-License-Identifier: LGPL-2.1-or-later
"""Mixed precision, as far as it is off. Without CUDA, PyTorch switches it off with a warning, and so does this."""
import contextlib
import functools
import warnings

__all__ = ['GradScaler', 'autocast', 'custom_bwd', 'custom_fwd', 'is_autocast_available']


def _has_cuda():
    from torch import cuda
    return cuda.is_available()


def is_autocast_available(device_type):
    return False


class autocast(contextlib.ContextDecorator):
    """A context that changes nothing. Only for CUDA it may be asked for; elsewhere it would have to change dtypes."""

    def __init__(self, device_type, dtype=None, enabled=True, cache_enabled=None):
        if enabled and device_type == 'cuda' and not _has_cuda():
            warnings.warn("User provided device_type of 'cuda', but CUDA is not available. Disabling", stacklevel=2)
        elif enabled:
            raise NotImplementedError(f'autocast of {device_type} is not supported: say enabled=False')
        self.device, self.fast_dtype = device_type, dtype

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return False


class GradScaler:
    """Scales losses and gradients by 1: without CUDA, PyTorch's does too."""

    def __init__(self, device='cuda', init_scale=2.**16, growth_factor=2., backoff_factor=0.5, growth_interval=2000,
                 enabled=True):
        if enabled and _has_cuda():
            raise NotImplementedError('GradScaler is not supported: say enabled=False')
        if enabled:
            warnings.warn('torch.cuda.amp.GradScaler is enabled, but CUDA is not available.  Disabling.', stacklevel=2)

    def is_enabled(self):
        return False

    def get_scale(self):
        return 1.

    def scale(self, outputs):
        return outputs

    def unscale_(self, optimizer):
        """Does nothing."""

    def step(self, optimizer, *args, **kwargs):
        return optimizer.step(*args, **kwargs)

    def update(self, new_scale=None):
        """Does nothing."""

    def state_dict(self):
        return {}

    def load_state_dict(self, state_dict):
        """Does nothing."""


def custom_fwd(fwd=None, *, device_type='cuda', cast_inputs=None):
    """For the forward of an autograd.Function. It changes nothing."""
    return functools.partial(custom_fwd, cast_inputs=cast_inputs) if fwd is None else fwd


def custom_bwd(bwd=None, *, device_type='cuda'):
    """For the backward of an autograd.Function. It changes nothing."""
    return custom_bwd if bwd is None else bwd

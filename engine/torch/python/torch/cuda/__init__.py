# SPDX-License-Identifier: LGPL-2.1-or-later
"""torch.cuda: the devices of `tapedeck run --devices cuda`. Without them it answers as a PyTorch without CUDA does."""
import collections

from torch import _C, accelerator, random
from torch._C import device_count as _accelerator_count
from torch.cuda import amp  # noqa: F401
from torch.sim import stream  # noqa: F401

_WITHOUT = 'Torch not compiled with CUDA enabled'


class CudaError(RuntimeError):
    """An error of CUDA itself."""


class OutOfMemoryError(RuntimeError):
    """A device has no memory left."""


def device_count():
    return sum(_C.device_name(i).startswith('cuda') for i in range(_accelerator_count()))


def is_available():
    return device_count() > 0


def is_initialized():
    return is_available()


def is_bf16_supported(including_emulation=True):
    return False


def init():
    """Says if there are no devices."""
    if not is_available():
        raise AssertionError(_WITHOUT)


def _number_of(device=None):
    """The number among all accelerators of a device of CUDA, of its number, or of the current one."""
    init()
    if device is None:
        return _C.device_current()
    return _C.device_number(_C.device(f'cuda:{device}') if isinstance(device, int) else _C.device(device))


def current_device():
    return _C.device(_C.device_name(_number_of())).index


def set_device(device):
    _C.device_set_current(_number_of(device))


def synchronize(device=None):
    accelerator.synchronize(_number_of(device))


def current_stream(device=None):
    return accelerator.current_stream(_number_of(device))


def default_stream(device=None):
    return accelerator.Stream._of(_number_of(device), 0)


def set_stream(stream):
    accelerator.set_stream(stream)


def get_device_name(device=None):
    return _C.device_name(_number_of(device))


def get_device_properties(device=None):
    init()
    raise NotImplementedError('torch.cuda.get_device_properties() is not supported')


def get_device_capability(device=None):
    return get_device_properties(device)


def mem_get_info(device=None):
    return get_device_properties(device)


class Stream(accelerator.Stream):
    def __init__(self, device=None, priority=0, **kwargs):
        if not is_available():
            raise RuntimeError('torch.cuda.Stream requires CUDA support')
        super().__init__(_number_of(device), priority=priority)


class Event(accelerator.Event):
    def __init__(self, enable_timing=False, blocking=False, interprocess=False, external=False):
        if not is_available():
            raise RuntimeError('Tried to instantiate dummy base class Event')
        super().__init__(enable_timing=enable_timing)


class device(accelerator.device_index):
    """A context in which a device is the current one. Without devices it does nothing."""

    def __init__(self, device):
        super().__init__(_number_of(device) if is_available() and device is not None else None)

    def __enter__(self):
        if is_available():
            super().__enter__()

    def __exit__(self, *error):
        if is_available():
            super().__exit__(*error)


def manual_seed(seed):
    """Does nothing: there is one generator, which torch.manual_seed restarts."""


def manual_seed_all(seed):
    """Does nothing, as manual_seed."""


def seed():
    """Does nothing, as manual_seed."""


def seed_all():
    """Does nothing, as manual_seed."""


def empty_cache():
    """Does nothing: no memory is kept."""


def ipc_collect():
    init()


def get_rng_state(device='cuda'):
    init()
    return random.get_rng_state()


def get_rng_state_all():
    return [get_rng_state(i) for i in range(device_count())]


def set_rng_state_all(new_states):
    for state in new_states:
        random.set_rng_state(state)


def get_arch_list():
    return []


def memory_stats(device=None):
    return collections.OrderedDict()


def memory_allocated(device=None):
    return 0


memory_reserved = memory_cached = max_memory_allocated = max_memory_reserved = max_memory_cached = memory_allocated


def reset_peak_memory_stats(device=None):
    """Does nothing: no memory is counted."""

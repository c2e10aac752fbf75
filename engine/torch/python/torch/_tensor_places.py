# SPDX-License-Identifier: LGPL-2.1-or-later
"""Methods of Tensor about the device that it is on."""
from torch import accelerator
from torch._C import Tensor

_NONE = 'Cannot access accelerator device when none is available.'


def _cuda(self, device=None, non_blocking=False, memory_format=None):
    """The tensor on a device of CUDA."""
    if device is None:
        device = 'cuda'
    return self.to(f'cuda:{device}' if isinstance(device, int) else device)


def _get_device(self):
    """The number of its device; -1 on the CPU."""
    index = self.device.index
    return -1 if index is None else index


def _pin_memory(self, device=None):
    if not accelerator.is_available():
        raise RuntimeError(_NONE)
    return self


Tensor.cuda = _cuda
Tensor.get_device = _get_device
Tensor.is_cuda = property(lambda self: self.device.type == 'cuda')
Tensor.is_mps = Tensor.is_xpu = property(lambda self: False)
Tensor.is_cpu = property(lambda self: self.device.type == 'cpu')
Tensor.is_pinned = lambda self, device=None: False
Tensor.pin_memory = _pin_memory

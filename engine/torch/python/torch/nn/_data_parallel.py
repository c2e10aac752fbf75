# SPDX-License-Identifier: LGPL-2.1-or-later
"""DataParallel: the module on the one device that there is. Several devices are for torch.distributed."""
from torch import cuda
from torch._C import Tensor
from torch.nn._module import Module


def _moved(value, device):
    """The value with its tensors on the device, also those in lists, tuples and dicts."""
    if isinstance(value, Tensor):
        return value.to(device)
    if isinstance(value, dict):
        return type(value)((name, _moved(part, device)) for name, part in value.items())
    if type(value) in (list, tuple):
        return type(value)(_moved(part, device) for part in value)
    return value


class DataParallel(Module):
    """Calls the module. Without a device it does nothing else; with one it moves the arguments there first."""

    def __init__(self, module, device_ids=None, output_device=None, dim=0):
        super().__init__()
        self.module, self.dim, self.output_device = module, dim, output_device
        self.device_ids = list(range(cuda.device_count())) if device_ids is None or not cuda.is_available() else device_ids
        if len(self.device_ids) > 1:
            raise NotImplementedError('DataParallel runs on one device here; device_ids=[0] chooses the first one')

    def forward(self, *inputs, **kwargs):
        if self.device_ids:
            device = f'cuda:{self.device_ids[0]}'
            inputs, kwargs = _moved(inputs, device), _moved(kwargs, device)
        return self.module(*inputs, **kwargs)

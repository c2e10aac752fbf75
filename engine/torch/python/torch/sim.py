# SPDX-License-Identifier: LGPL-2.1-or-later
"""Simulated accelerators, by the names of torch.cuda: `tapedeck run --devices cpu,sim:2`.

A kernel goes onto the current stream. It begins when the stream is free and the events that it waits for are ready. It
takes the device's latency, and time for its bytes: --devices sim:2,latency=20us,bandwidth=4GB. With `virtual` among the
devices nobody waits. Time is only counted then, and now_ns() returns it.
"""
from torch import _C
from torch._C import device_count
from torch.accelerator import (Event, Stream, _index, current_device_index as current_device, current_stream,
                               is_available, set_device_index as set_device, set_stream, synchronize)

__all__ = ['Event', 'Stream', 'current_device', 'current_stream', 'default_stream', 'device', 'device_count',
           'is_available', 'is_virtual', 'now_ns', 'set_device', 'set_stream', 'stream', 'synchronize']


def default_stream(device=None):
    return Stream._of(_index(device), 0)


class stream:
    """A context in which a stream is the current one of its device. None changes nothing."""

    def __init__(self, stream):
        self.stream = stream

    def __enter__(self):
        return self.stream.__enter__() if self.stream else None

    def __exit__(self, *error):
        if self.stream:
            self.stream.__exit__(*error)


class device:
    """A context in which a device is the current one."""

    def __init__(self, device):
        self.index = _index(device)

    def __enter__(self):
        self.earlier = _C.device_current()
        _C.device_set_current(self.index)

    def __exit__(self, *error):
        _C.device_set_current(self.earlier)


def is_virtual():
    return _C.sim_is_virtual()


def now_ns():
    """The time of the calling thread: the model's if it is virtual, else the machine's clock."""
    return _C.sim_now_ns()

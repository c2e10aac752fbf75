# SPDX-License-Identifier: LGPL-2.1-or-later
"""Accelerators by PyTorch's names: torch.accelerator, torch.Stream, torch.Event.

The accelerators are those of `tapedeck run --devices`, simulated or real.
"""
from torch import _C
from torch._C import device, device_count

_EVENT_BEFORE = 'Both events must be recorded before calculating elapsed time.'


def is_available():
    return device_count() > 0


def current_accelerator(check_available=False):
    """The kind of device that there is, or None."""
    return device(_kind()) if is_available() else None


def _kind():
    return _C.device_name(0).partition(':')[0]


def _index(where=None, optional=True):
    """The number of a device, a string, a number, or (None) of the current device."""
    if where is None and optional:
        return _C.device_current()
    if isinstance(where, int):
        return where
    where = device(where)
    if where.type in ('cpu', 'meta'):
        raise ValueError(f"{where.type} doesn't match the current accelerator {current_accelerator()}.")
    return _C.device_number(where)


def current_device_index():
    return _C.device_current()


def set_device_index(device):
    _C.device_set_current(_index(device))


current_device_idx, set_device_idx = current_device_index, set_device_index


class device_index:
    """Context: a device is the current one; None changes nothing."""

    def __init__(self, device):
        self.index = device

    def __enter__(self):
        self.earlier = _C.device_current()
        if self.index is not None:
            _C.device_set_current(self.index)

    def __exit__(self, *error):
        _C.device_set_current(self.earlier)


def current_stream(device=None):
    index = _index(device)
    return Stream._of(index, _C.stream_current(index))


def set_stream(stream):
    """Makes a stream the current one of its device, and its device the current one."""
    _C.stream_set_current(stream.device_index, stream.stream_id)
    _C.device_set_current(stream.device_index)


def synchronize(device=None):
    """Waits for everything that was put on a device's streams."""
    _C.device_synchronize(_index(device))


class Stream:
    """A queue of an accelerator, which works in order. As a context manager it is the current stream."""

    def __init__(self, device=None, *, priority=0):
        self.device_index = _index(device)
        self.stream_id = _C.stream_new(self.device_index)

    @classmethod
    def _of(cls, device_index, stream_id):
        stream = object.__new__(cls)
        stream.device_index, stream.stream_id = device_index, stream_id
        return stream

    @property
    def device(self):
        return device(_C.device_name(self.device_index))

    def query(self):
        return _C.stream_query(self.device_index, self.stream_id)

    def synchronize(self):
        _C.stream_synchronize(self.device_index, self.stream_id)

    def record_event(self, event=None):
        event = Event(self.device) if event is None else event
        event.record(self)
        return event

    def wait_event(self, event):
        event.wait(self)

    def wait_stream(self, stream):
        self.wait_event(stream.record_event())

    def __enter__(self):
        self._earlier = _C.device_current(), _C.stream_current(self.device_index)
        set_stream(self)
        return self

    def __exit__(self, *error):
        index, stream = self._earlier
        _C.stream_set_current(self.device_index, stream)
        _C.device_set_current(index)

    def __eq__(self, other):
        return isinstance(other, Stream) and hash(self) == hash(other)

    def __hash__(self):
        return hash((self.device_index, self.stream_id))

    def __repr__(self):
        return f'torch.Stream device_type={self.device.type}, device_index={self.device_index}, ' \
               f'stream_id={self.stream_id}'


class Event:
    """A place in a stream's work, once it is recorded."""

    def __init__(self, device=None, *, enable_timing=False, blocking=False, interprocess=False):
        self.device_index, self.enable_timing, self._mark = _index(device), enable_timing, None

    @property
    def device(self):
        return device(_C.device_name(self.device_index))

    def record(self, stream=None):
        stream = current_stream(self.device_index) if stream is None else stream
        self.device_index = stream.device_index
        self._mark = _C.event_record(stream.device_index, stream.stream_id)

    def wait(self, stream=None):
        """What is put on the stream from now on waits for it; one that was never recorded is over."""
        stream = current_stream(self.device_index) if stream is None else stream
        if self._mark is not None:
            _C.stream_wait(self._mark, stream.device_index, stream.stream_id)

    def query(self):
        return self._mark is None or _C.event_query(self._mark)

    def synchronize(self):
        if self._mark is not None:
            _C.event_synchronize(self._mark)

    def elapsed_time(self, end_event):
        """Milliseconds from this event to another."""
        if not (self.enable_timing and end_event.enable_timing):
            raise ValueError("Both events must be created with argument 'enable_timing=True'.")
        if self._mark is None or end_event._mark is None:
            raise ValueError(_EVENT_BEFORE)
        return _C.event_elapsed_ms(self._mark, end_event._mark)

    def __repr__(self):
        return f'torch.Event device_type={self.device.type}, device_index={self.device_index}'

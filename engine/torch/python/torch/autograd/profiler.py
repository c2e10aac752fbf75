# SPDX-License-Identifier: LGPL-2.1-or-later
"""Times of operations that this thread calls, and of what record_function names. The tape has more: nodes, threads,
queues and memory. record_function marks it too."""
import threading
import time

from torch import _C, ops
from torch.autograd.grad_mode import Mode
from torch.autograd.profiler_util import EventList, FunctionEvent

__all__ = ['emit_itt', 'emit_nvtx', 'kineto_available', 'profile', 'record_function']

_here = threading.local()


def kineto_available():
    """Whether PyTorch's library for traces of devices is there. It never is."""
    return False


def _profiler_enabled():
    return getattr(_here, 'profile', None) is not None


def _shape(argument):
    return list(argument.shape) if isinstance(argument, _C.Tensor) else []


def _now():
    return time.perf_counter_ns() / 1000


class profile:
    """A context manager. function_events, table() and key_averages() have what was measured."""

    def __init__(self, enabled=True, *, record_shapes=False, use_cuda=False, use_device=None, with_flops=False,
                 profile_memory=False, with_stack=False, with_modules=False, use_kineto=False, use_cpu=True, **others):
        self.enabled, self.record_shapes, self.entered = enabled, record_shapes, False
        self.function_events = None

    def __enter__(self):
        if not self.enabled:
            return self
        if self.entered:
            raise RuntimeError('Profiler context manager is not reentrant')
        if _profiler_enabled():
            raise RuntimeError("Can't enable Autograd profiler when already profiling")  # one for each thread
        self.entered, self._found = True, []
        _here.profile = self
        self._before = _C._intercept(self._call)
        return self

    def __exit__(self, *exception):
        if not self.enabled:
            return
        _C._intercept(self._before)
        _here.profile = None
        found = sorted(self._found, key=lambda event: (event.time_range.start, -event.time_range.end))
        for i, event in enumerate(found):
            event.id = i + 1
        self.function_events = EventList(found)
        self.function_events._populate_cpu_children()

    def _call(self, name, args, kwargs):
        word, function = ops.called(name)
        start = _now()
        try:
            return function(*args, **(kwargs or {}))
        finally:
            self.note('aten::' + word, start, list(map(_shape, args)) if self.record_shapes else None)

    def note(self, name, start, shapes=None):
        """Something of this name is over."""
        self._found.append(FunctionEvent(0, name, 1, start, _now(), fwd_thread=0, input_shapes=shapes))

    def _events(self):
        if self.function_events is None:
            raise RuntimeError("Profiler didn't finish running")
        return self.function_events

    def table(self, *args, **kwargs):
        return self._events().table(*args, **kwargs)

    def key_averages(self, *args, **kwargs):
        return self._events().key_averages(*args, **kwargs)

    def total_average(self):
        return self._events().total_average()

    def export_chrome_trace(self, path):
        return self._events().export_chrome_trace(path)

    @property
    def self_cpu_time_total(self):
        return self._events().self_cpu_time_total

    def __str__(self):
        return '<unfinished profile>' if self.function_events is None else str(self.function_events)

    __repr__ = __str__


class record_function(Mode):
    """A context manager and decorator. A profile gets an event of this name, and a tape a mark at the beginning."""

    def __init__(self, name, args=None):
        super().__init__()
        self.name, self.args, self._start = name, args, None

    def __enter__(self):
        _C.mark(self.name)
        self._start = _now()
        return self

    def __exit__(self, *exception):
        running = getattr(_here, 'profile', None)
        if running and self._start is not None:
            running.note(self.name, self._start)
        self._start = None

    def clone(self):
        return record_function(self.name)


class _Emitted(Mode):
    """Nobody listens to these marks here."""

    def __init__(self, enabled=True, record_shapes=False):
        super().__init__()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        pass


class emit_nvtx(_Emitted):
    """Marks for NVIDIA's profilers. There are none."""


class emit_itt(_Emitted):
    """Marks for Intel's profilers. There are none."""

# SPDX-License-Identifier: LGPL-2.1-or-later
"""Grad mode of the calling thread, as context managers and decorators."""
import functools
import inspect
import warnings

from torch import _C

__all__ = ['enable_grad', 'inference_mode', 'is_multithreading_enabled', 'no_grad', 'set_grad_enabled',
           'set_multithreading_enabled']


def decorate(function, again):
    """Wraps the function: each call runs inside a context that again() makes. Of a generator, each step does."""
    if inspect.isclass(function) and _C.policy('gradient_edges'):
        warnings.warn('Decorating classes is deprecated and will be disabled in future versions. You should only decorate '
                      'functions or methods. To preserve the current behavior of class decoration, you can directly decorate '
                      'the `__init__` method and nothing else.', FutureWarning, stacklevel=3)
    if inspect.isgeneratorfunction(function):
        return _decorate_generator(function, again)

    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        with again():
            return function(*args, **kwargs)
    return wrapper


def _decorate_generator(function, again):
    """A generator whose steps run inside the context. Between two steps the caller's mode is in force."""
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        generator = function(*args, **kwargs)
        step, given = generator.send, None
        while True:
            try:
                with again():
                    item = step(given)
            except StopIteration as end:
                return end.value
            try:
                step, given = generator.send, (yield item)
            except GeneratorExit:
                with again():
                    generator.close()
                raise
            except BaseException as problem:
                step, given = generator.throw, problem
    return wrapper


class Mode:
    """A setting of this thread, for the length of a with block or of each call of a decorated function. Subclasses
    have _get, _set and _wanted."""

    def __init__(self):
        self._before = False

    def __enter__(self):
        self._before = self._get()
        self._set(self._wanted)

    def __exit__(self, *exception):
        self._set(self._before)

    def clone(self):
        return type(self)()

    def __call__(self, function):
        return decorate(function, self.clone)


class no_grad(Mode):
    """Operations inside leave no trace."""
    _get, _set, _wanted = staticmethod(_C.is_grad_enabled), staticmethod(_C.set_grad_mode), False

    def __new__(cls, function=None):
        self = super().__new__(cls)
        return self if function is None else cls.__call__(self, function)


class enable_grad(no_grad):
    """Operations inside are remembered again."""
    _wanted = True


class inference_mode(Mode):
    """Tensors that are made inside have no history and no version, for ever. With mode=False it changes nothing."""

    def __new__(cls, mode=True):
        self = super().__new__(cls)
        if isinstance(mode, bool):
            return self
        self.__init__()
        return self(mode)

    def __init__(self, mode=True):
        super().__init__()
        self.mode = mode

    @staticmethod
    def _get():
        return _C.is_inference_mode_enabled(), _C.is_grad_enabled()

    @staticmethod
    def _set(modes):
        _C.set_inference_mode(modes[0])
        _C.set_grad_mode(modes[1])

    @property
    def _wanted(self):
        return self.mode, not self.mode

    def clone(self):
        return type(self)(self.mode)


class set_grad_enabled(Mode):
    """Switches at once. As a context manager it holds for the block, on a function for each of its calls."""
    _get, _set = no_grad._get, no_grad._set

    def __init__(self, mode):
        self._wanted = self.mode = mode
        self._before = self._get()
        self._set(mode)

    def __enter__(self):
        self._set(self._wanted)

    def __call__(self, function):
        self._set(self._before)
        return super().__call__(function)

    def clone(self):
        return type(self)(self._wanted)


is_multithreading_enabled = _C._is_multithreading_enabled


class set_multithreading_enabled(set_grad_enabled):
    """Whether backward passes that this thread calls use the threads of devices. If not, all nodes run on this
    thread."""
    _get, _set = staticmethod(_C._is_multithreading_enabled), staticmethod(_C._set_multithreading_enabled)

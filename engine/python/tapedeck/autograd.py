# SPDX-License-Identifier: LGPL-2.1-or-later
"""backward, grad, custom functions, grad mode and anomaly mode."""
import functools
import warnings

from tapedeck import _C
from tapedeck._C import Function, Tensor

__all__ = ['Function', 'Variable', 'backward', 'detect_anomaly', 'enable_grad', 'grad', 'no_grad',
           'set_detect_anomaly', 'set_grad_enabled']


def _tuple(tensors):
    if tensors is None:
        return ()
    return (tensors,) if isinstance(tensors, Tensor) else tuple(tensors)


def backward(tensors, grad_tensors=None, retain_graph=None, create_graph=False, grad_variables=None, inputs=None):
    """Adds the gradients of tensors to the .grad of the leaves (of `inputs` alone, if given)."""
    if grad_variables is not None:
        if grad_tensors is not None:
            raise RuntimeError("'grad_tensors' and 'grad_variables' (deprecated) arguments both passed to "
                               "backward(). Please only use 'grad_tensors'.")
        grad_tensors = grad_variables
    if inputs is not None and len(_tuple(inputs)) == 0:
        raise RuntimeError("'inputs' argument to backward() cannot be empty.")
    if create_graph:
        warnings.warn("Using backward() with create_graph=True will create a reference cycle between the "
                      "parameter and its gradient which can cause a memory leak. We recommend using "
                      "autograd.grad when creating the graph to avoid this. If you have to use this function, "
                      "make sure to reset the .grad fields of your parameters to None after use to break the "
                      "cycle and avoid the leak.", stacklevel=3)
    keep = create_graph if retain_graph is None else retain_graph
    _C.run_backward(_tuple(tensors), _tuple(grad_tensors), keep, create_graph,
                    None if inputs is None else _tuple(inputs), True, True)


def grad(outputs, inputs, grad_outputs=None, retain_graph=None, create_graph=False, only_inputs=True,
         allow_unused=False):
    """Returns the gradients of outputs with respect to inputs; leaves' .grad stay as they are."""
    inputs = _tuple(inputs)
    if not inputs:
        raise ValueError('grad requires non-empty inputs.')
    keep = create_graph if retain_graph is None else retain_graph
    return _C.run_backward(_tuple(outputs), _tuple(grad_outputs), keep, create_graph, inputs, allow_unused, False)


class _Mode:
    """A setting of this thread for the length of a with block, or of a decorated function."""

    def __enter__(self):
        self._before = self._get()
        self._set(self._wanted)
        return self

    def __exit__(self, *exception):
        self._set(self._before)

    def __call__(self, function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            with self._again():
                return function(*args, **kwargs)
        return wrapper

    def _again(self):
        return type(self)()


class no_grad(_Mode):
    """Operations inside leave no trace."""
    _get, _set, _wanted = staticmethod(_C.is_grad_enabled), staticmethod(_C.set_grad_mode), False


class enable_grad(no_grad):
    """Operations inside are remembered again."""
    _wanted = True


class inference_mode(no_grad):
    """The same as no_grad."""


class set_grad_enabled(_Mode):
    """Switches at once; as a context manager, for the length of the block."""
    _get, _set = no_grad._get, no_grad._set

    def __init__(self, mode):
        self._wanted = mode
        self._before = self._get()
        self._set(mode)

    def __enter__(self):
        return self

    def _again(self):
        return set_grad_enabled(self._wanted)


class set_detect_anomaly(_Mode):
    """Makes a NaN end the backward pass with an error. Not while a pass runs."""
    _get, _set = staticmethod(_C.is_anomaly_enabled), staticmethod(_C.set_anomaly)

    def __init__(self, mode, check_nan=True):
        self._wanted = mode and check_nan
        self._before = self._get()
        self._set(self._wanted)

    def __enter__(self):
        return self

    def _again(self):
        return set_detect_anomaly(self._wanted)


class detect_anomaly(set_detect_anomaly):
    def __init__(self, check_nan=True):
        super().__init__(True, check_nan)

    def _again(self):
        return detect_anomaly(self._wanted)


def Variable(data, requires_grad=False):
    """PyTorch's old name for a tensor: the same elements, without history."""
    return data.detach().requires_grad_(requires_grad)

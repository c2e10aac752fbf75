# SPDX-License-Identifier: LGPL-2.1-or-later
"""backward and grad; and in modules of this package, with PyTorch's names, custom functions, grad mode, anomaly mode
and the graph."""
import warnings

from tapedeck import _C
from tapedeck._C import Tensor
from tapedeck.autograd import function, grad_mode, graph  # noqa: F401  (torch.autograd.graph and so on)
from tapedeck.autograd.anomaly_mode import detect_anomaly, set_detect_anomaly
from tapedeck.autograd.function import Function
from tapedeck.autograd.grad_mode import enable_grad, inference_mode, no_grad, set_grad_enabled
from tapedeck.autograd.variable import Variable

__all__ = ['Function', 'Variable', 'backward', 'detect_anomaly', 'enable_grad', 'grad', 'inference_mode', 'no_grad',
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

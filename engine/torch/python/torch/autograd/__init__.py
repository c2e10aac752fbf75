# SPDX-License-Identifier: LGPL-2.1-or-later
"""backward and grad. The modules of this package have custom functions, grad mode, anomaly mode and the graph, with
PyTorch's names."""
import collections.abc
import warnings

from torch import _C
from torch._C import SavedTensor, Tensor
from torch.autograd import forward_ad, function, grad_mode, graph  # noqa: F401  (torch.autograd.graph and so on)
from torch.autograd.anomaly_mode import detect_anomaly, set_detect_anomaly
from torch.autograd._arguments import make_grads, slices, to_tuple
from torch.autograd.function import Function
from torch.autograd.grad_mode import (enable_grad, inference_mode, no_grad, set_grad_enabled,
                                      is_multithreading_enabled, set_multithreading_enabled)
from torch.autograd.graph import GradientEdge
from torch.autograd.variable import Variable
import torch  # noqa: E402,F401  (PyTorch has this name here too)

__all__ = ['Function', 'SavedTensor', 'Variable', 'backward', 'detect_anomaly', 'enable_grad', 'grad', 'gradcheck',
           'gradgradcheck', 'inference_mode', 'is_multithreading_enabled', 'no_grad', 'set_detect_anomaly',
           'set_grad_enabled', 'set_multithreading_enabled']


def _quote(text):
    """2.x writes `name`. 1.x wrote 'name', and the name of a function without quotes."""
    return text if _C.policy('gradient_edges') else text.replace('`backward()`', 'backward()').replace('`', "'")


def _warn_deprecated(text):
    warnings.warn(_quote(text), FutureWarning if _C.policy('gradient_edges') else UserWarning, stacklevel=3)


def _inputs(inputs, caller):
    if isinstance(inputs, (Tensor, GradientEdge)):
        return (inputs,)
    if _C.policy('gradient_edges') and isinstance(inputs, collections.abc.Mapping):
        if type(inputs) is not dict:
            raise TypeError(f'`inputs` argument to `{caller}()` must be a dict, not {type(inputs).__name__}. '
                            'Other Mapping types are not supported.')
        return tuple(inputs.values())
    return tuple(inputs)


def _outputs(outputs):
    return (outputs,) if isinstance(outputs, (Tensor, GradientEdge)) else tuple(outputs)


def backward(tensors, grad_tensors=None, retain_graph=None, create_graph=False, grad_variables=None, inputs=None):
    """Adds the gradients of tensors to the .grad of the leaves (of `inputs` alone, if given)."""
    if grad_variables is not None:
        _warn_deprecated('`grad_variables` is deprecated. Use `grad_tensors` instead.')
        if grad_tensors is not None:
            raise RuntimeError(_quote('`grad_tensors` and `grad_variables` (deprecated) arguments both passed to '
                                      '`backward()`. Please only use `grad_tensors`.'))
        grad_tensors = grad_variables
    wanted = () if inputs is None else _inputs(inputs, 'backward')
    if inputs is not None and not wanted:
        raise RuntimeError(_quote('`inputs` argument to `backward()` cannot be empty.'))
    tensors = _outputs(tensors)
    gradients = make_grads(tensors, to_tuple(grad_tensors, len(tensors)))
    keep = create_graph if retain_graph is None else retain_graph
    _C.run_backward(tensors, gradients, keep, create_graph, wanted, allow_unreachable=True, accumulate_grad=True)


def grad(outputs, inputs, grad_outputs=None, retain_graph=None, create_graph=False, only_inputs=True,
         allow_unused=None, is_grads_batched=False, materialize_grads=False):
    """Returns the gradients of outputs with respect to inputs. The .grad of leaves stays as it is. A dict of inputs
    gives a dict of gradients."""
    if materialize_grads and allow_unused is False:
        raise ValueError('Expected allow_unused to be True or not passed when materialize_grads=True, '
                         'but got: allow_unused=False.')
    allow_unused = materialize_grads if allow_unused is None else allow_unused
    outputs, wanted = _outputs(outputs), _inputs(inputs, 'grad')
    if not wanted:
        raise (RuntimeError('`inputs` argument to `grad()` cannot be empty.') if _C.policy('gradient_edges')
               else ValueError('grad requires non-empty inputs.'))
    if not only_inputs:
        _warn_deprecated('only_inputs argument is deprecated and is ignored now (defaults to True). To accumulate '
                         'gradient for other parts of the graph, please use torch.autograd.backward.')
    gradients = make_grads(outputs, to_tuple(grad_outputs, len(outputs)), is_grads_batched)
    keep = create_graph if retain_graph is None else retain_graph
    run = _run_batched if is_grads_batched else _run
    result = run(outputs, gradients, keep, create_graph, wanted, allow_unused)
    if materialize_grads:
        result = tuple(_materialize(gradient, tensor, create_graph) for gradient, tensor in zip(result, wanted))
    return dict(zip(inputs, result)) if type(inputs) is dict else result


def _run(outputs, gradients, keep, create_graph, inputs, allow_unused):
    return _C.run_backward(outputs, gradients, keep, create_graph, inputs, allow_unused, False)


def _run_batched(outputs, gradients, keep, create_graph, inputs, allow_unused):
    """Runs one pass for each slice of the gradients along their first dimension, and stacks the results."""
    batch = slices(gradients)
    rows = [_run(outputs, row, keep or i + 1 < len(batch), create_graph, inputs, allow_unused)
            for i, row in enumerate(batch)]
    return tuple(None if column[0] is None else _C.stack(list(column)) for column in zip(*rows))


def _materialize(gradient, tensor, create_graph):
    if gradient is not None:
        return gradient
    if isinstance(tensor, GradientEdge):
        raise RuntimeError('materialize_grads cannot be used when the given input is a GradientEdge')
    return _C.zeros_like(tensor).requires_grad_(create_graph)


from torch.autograd import functional, profiler  # noqa: E402,F401  (they use the names above)
from torch.autograd.profiler import _profiler_enabled, kineto_available  # noqa: E402,F401
from torch.autograd import _functions  # noqa: E402,F401
from torch.autograd.gradcheck import gradcheck, gradgradcheck  # noqa: E402

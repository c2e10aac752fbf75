# SPDX-License-Identifier: LGPL-2.1-or-later
"""A hook of several tensors at once: torch.autograd.graph.register_multi_grad_hook."""
import functools
import threading

from torch import _C
from torch.autograd.grad_mode import enable_grad

_MODES = ('all', 'any')


class MultiHandle:
    """Takes the hook away from all of its tensors."""

    def __init__(self, handles):
        self.handles = handles

    def remove(self):
        for handle in self.handles:
            handle.remove()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.remove()


def _pass_id():
    graph_task = _C._current_graph_task_id()
    if graph_task == -1:
        raise AssertionError('expected this hook to be called inside a backward call')
    return graph_task


def _node_of(tensor):
    """The node at which the tensor's gradient arrives. For a leaf it is the AccumulateGrad."""
    if tensor.grad_fn is None and tensor.requires_grad:
        with enable_grad():  # a view, as in PyTorch, takes a sequence number
            node = tensor.view(tensor.shape).grad_fn.next_functions[0][0]
    else:
        node = tensor.grad_fn
    if node is None:  # also of a view without history of a tensor that needs gradients
        raise AssertionError('Expected gradient function to be set')
    return node


class _Arrivals:
    """The gradients of one pass: as many will come as nodes of the tensors run in it."""

    def __init__(self, nodes):
        self.gradients = [None] * len(nodes)
        self.left = sum(map(_C._will_engine_execute_node, nodes))


def _hook_for_all(tensors, function):
    nodes = [_node_of(tensor) for tensor in tensors]
    passes, lock = {}, threading.Lock()  # several threads may bring gradients

    def arrive(place, gradient):
        graph_task = _pass_id()
        with lock:
            if graph_task not in passes:
                passes[graph_task] = _Arrivals(nodes)
            arrivals = passes[graph_task]
            arrivals.gradients[place] = gradient
            arrivals.left -= 1
            if arrivals.left != 0:  # negative if a root came that is not needed
                return
            del passes[graph_task]
        function(arrivals.gradients)

    return [_named(functools.partial(arrive, place), function) for place in range(len(nodes))]


def _hook_for_any(function):
    seen, lock = set(), threading.Lock()

    def arrive(gradient):
        graph_task = _pass_id()
        with lock:
            if graph_task in seen:
                return
            seen.add(graph_task)
        function(gradient)

    return _named(arrive, function)


def _named(hook, function):
    """Under the function's own name, for tapes and errors."""
    for attribute in ('__module__', '__name__', '__qualname__'):
        if hasattr(function, attribute):
            setattr(hook, attribute, getattr(function, attribute))
    return hook


def register_multi_grad_hook(tensors, fn, *, mode='all'):
    """Calls fn once in each backward pass, and returns a handle with remove(). fn gets a list of gradients when the
    last of them has arrived; None stands for those that do not come. With mode 'any' it gets the first gradient
    that arrives."""
    if mode not in _MODES:
        raise ValueError(f'Expects mode to be one of {_MODES} but got {mode}')
    if mode == 'all':
        hooks = _hook_for_all(tensors, fn)
        return MultiHandle([tensor.register_hook(hook) for tensor, hook in zip(tensors, hooks)])
    hook = _hook_for_any(fn)
    return MultiHandle([tensor.register_hook(hook) for tensor in tensors if tensor.requires_grad])

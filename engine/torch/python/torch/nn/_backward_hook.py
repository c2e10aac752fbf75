# SPDX-License-Identifier: LGPL-2.1-or-later
"""Backward hooks of modules. Identity nodes around the module see the gradients of its outputs and of its inputs."""
import warnings

from torch._C import Tensor, is_grad_enabled, policy
from torch.autograd import Function

_NO_INPUT = ('Full backward hook is firing when gradients are computed with respect to module outputs since no inputs require '
             'gradients. See https://docs.pytorch.org/docs/main/generated/torch.nn.Module.html'
             '#torch.nn.Module.register_full_backward_hook for more details.')


class BackwardHookFunction(Function):
    @staticmethod
    def forward(ctx, *tensors):
        ctx.mark_non_differentiable(*[t for t in tensors if not t.requires_grad])
        return tensors

    @staticmethod
    def backward(ctx, *grads):
        return grads


def _tuple(value):
    return value if isinstance(value, tuple) else (value,)


def _pass_through(values, hook):
    """Returns the values with their tensors behind one node that has the hook, and the places of the tensors. If the
    node would have no history, the places are None."""
    places = [i for i, value in enumerate(values) if isinstance(value, Tensor)]
    if not (is_grad_enabled() and any(values[i].requires_grad for i in places)):
        return values, None
    tensors = _tuple(BackwardHookFunction.apply(*[values[i] for i in places]))
    node = next(t.grad_fn for t in tensors if t.grad_fn is not None)
    hook(node)
    values = list(values)
    for i, tensor in zip(places, tensors):
        values[i] = tensor
    return tuple(values), places


def _spread(grads, places, n):
    full = [None] * n
    for i, grad in zip(places, grads):
        full[i] = grad
    return tuple(full)


def _checked(module_grads, changed, what, hook=''):
    if changed is None:
        return module_grads
    if len(changed) != len(module_grads):
        raise RuntimeError(f'Backward {hook}hook returned an invalid number of {what}, got {len(changed)}, but expected '
                           f'{len(module_grads)}')
    return changed


class _Call:
    """One call of a module with backward hooks: the gradients that its two nodes have seen."""

    def __init__(self, module, n_inputs, hooks, pre_hooks):
        self.module, self.n_inputs, self.hooks, self.pre_hooks = module, n_inputs, hooks, pre_hooks
        self.grad_outputs, self.input_places = None, None

    def on_output(self, _, grads):
        full = _spread(grads, self.output_places, self.n_outputs)
        for hook in self.pre_hooks:
            full = _checked(full, hook(self.module, full), 'grad_output', 'pre ')
        self.grad_outputs = full
        local = tuple(full[i] for i in self.output_places)
        if self.input_places is None:  # no gradient goes out of the module: this is its end
            self._call_at_the_end()
        return local

    def _call_at_the_end(self):
        if policy('gradient_edges'):
            warnings.warn(_NO_INPUT, stacklevel=5)
        for hook in self.hooks:
            changed = hook(self.module, (None,) * self.n_inputs, self.grad_outputs)
            if changed is not None and not (isinstance(changed, tuple) and all(grad is None for grad in changed)):
                raise RuntimeError('Backward hook for Modules where no input requires gradient should always '
                                   'return None or None for all gradients.')
        self.grad_outputs = None

    def on_input(self, grads, _):
        if self.grad_outputs is None:
            return None  # the gradient did not come through the output, as in a second derivative
        full = _spread(grads, self.input_places, self.n_inputs)
        for hook in self.hooks:
            full = _checked(full, hook(self.module, full, self.grad_outputs), 'grad_input')
        self.grad_outputs = None
        return tuple(full[i] for i in self.input_places)


def call_with_backward_hooks(module, args, kwargs, hooks, pre_hooks, called):
    """module.forward, its forward hooks, and the nodes that the backward hooks need before and behind."""
    call = _Call(module, len(args), hooks, pre_hooks)
    args, call.input_places = _pass_through(args, lambda node: node.register_hook(call.on_input))
    result = module._after_forward(args, kwargs, module.forward(*args, **kwargs), called)
    if not isinstance(result, (Tensor, tuple)):
        warnings.warn('For backward hooks to be called, module output should be a Tensor or a tuple of Tensors but '
                      f'received {type(result)}', stacklevel=4)
    outputs = _tuple(result)
    call.n_outputs = len(outputs)
    call.output_places = [i for i, value in enumerate(outputs) if isinstance(value, Tensor)]
    outputs, _ = _pass_through(outputs, lambda node: node.register_hook(call.on_output))
    return outputs if isinstance(result, tuple) else outputs[0]

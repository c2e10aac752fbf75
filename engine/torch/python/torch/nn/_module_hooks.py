# SPDX-License-Identifier: LGPL-2.1-or-later
"""Hooks of one module, and hooks of all modules: around forward and backward, and where something is registered."""
from torch.utils.hooks import add_hook, new_hooks

FORWARD_PRE, FORWARD, BACKWARD_PRE, BACKWARD = (new_hooks() for _ in range(4))  # of all modules
FORWARD_WITH_KWARGS, FORWARD_ALWAYS = new_hooks(), new_hooks()
REGISTERED = {'parameter': new_hooks(), 'buffer': new_hooks(), 'module': new_hooks()}


def registered(kind, module, name, value):
    """The value, or what a hook of all modules puts in its place."""
    for hook in REGISTERED[kind].values():
        changed = hook(module, name, value)
        value = value if changed is None else changed
    return value


def register_module_parameter_registration_hook(hook):
    return add_hook(REGISTERED['parameter'], hook)


def register_module_buffer_registration_hook(hook):
    return add_hook(REGISTERED['buffer'], hook)


def register_module_module_registration_hook(hook):
    return add_hook(REGISTERED['module'], hook)


def register_module_forward_pre_hook(hook):
    return add_hook(FORWARD_PRE, hook)


def register_module_forward_hook(hook, *, with_kwargs=False, always_call=False):
    return _add(FORWARD, hook, False, (with_kwargs, FORWARD_WITH_KWARGS),
                (always_call, FORWARD_ALWAYS))


def register_module_full_backward_pre_hook(hook):
    return add_hook(BACKWARD_PRE, hook)


def register_module_full_backward_hook(hook):
    return add_hook(BACKWARD, hook)


def _add(hooks, hook, prepend, *flags):
    """flags are pairs: whether, and the dictionary that says so."""
    handle = add_hook(hooks, hook, prepend, extra_dict=[flag for _, flag in flags])
    for wanted, flag in flags:
        if wanted:
            flag[handle.id] = True
    return handle


class Hooks:
    """What Module has of hooks."""

    def _begin_hooks(self):
        for name in ('_forward_pre_hooks', '_forward_pre_hooks_with_kwargs', '_forward_hooks',
                     '_forward_hooks_with_kwargs', '_forward_hooks_always_called', '_backward_pre_hooks',
                     '_backward_hooks', '_state_dict_pre_hooks', '_state_dict_hooks', '_load_state_dict_pre_hooks',
                     '_load_state_dict_post_hooks'):
            object.__setattr__(self, name, new_hooks())
        object.__setattr__(self, '_is_full_backward_hook', None)

    def register_forward_pre_hook(self, hook, *, prepend=False, with_kwargs=False):
        """hook(module, args) runs before each forward. Its result replaces args. With keywords it is
        hook(module, args, kwargs), and gives both."""
        return _add(self._forward_pre_hooks, hook, prepend, (with_kwargs, self._forward_pre_hooks_with_kwargs))

    def register_forward_hook(self, hook, *, prepend=False, with_kwargs=False, always_call=False):
        """hook(module, args, output) runs after each forward. Its result replaces the output. With keywords it is
        hook(module, args, kwargs, output). One that is always called is called after an error too."""
        return _add(self._forward_hooks, hook, prepend, (with_kwargs, self._forward_hooks_with_kwargs),
                    (always_call, self._forward_hooks_always_called))

    def register_full_backward_hook(self, hook, prepend=False):
        """hook(module, grad_input, grad_output) runs when the gradients of the inputs are there. Its result replaces
        them."""
        self._want_kind(True)
        return add_hook(self._backward_hooks, hook, prepend)

    def register_full_backward_pre_hook(self, hook, prepend=False):
        """hook(module, grad_output) runs when the gradients of the outputs are there. Its result replaces them."""
        return add_hook(self._backward_pre_hooks, hook, prepend)

    def register_backward_hook(self, hook):
        """The older kind: a post hook of the last node of forward."""
        self._want_kind(False)
        return add_hook(self._backward_hooks, hook)

    def _want_kind(self, full):
        if self._is_full_backward_hook not in (None, full):
            raise RuntimeError('Cannot use both regular backward hooks and full backward hooks on a single Module. '
                               'Please use only one of them.')
        self._is_full_backward_hook = full

    def register_state_dict_pre_hook(self, hook):
        """hook(module, prefix, keep_vars)"""
        return add_hook(self._state_dict_pre_hooks, hook)

    def register_state_dict_post_hook(self, hook):
        """hook(module, state_dict, prefix, local_metadata)"""
        hook._from_public_api = True
        return add_hook(self._state_dict_hooks, hook)

    def _register_state_dict_hook(self, hook):
        return add_hook(self._state_dict_hooks, hook)

    def register_load_state_dict_pre_hook(self, hook):
        """hook(module, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)"""
        return add_hook(self._load_state_dict_pre_hooks, hook)

    def register_load_state_dict_post_hook(self, hook):
        """hook(module, incompatible_keys), which it may change in place."""
        return add_hook(self._load_state_dict_post_hooks, hook)

# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checkpoints that keep the results of chosen operations, so that backward need not compute these again."""
import collections
import enum
import functools
import warnings

from torch import _C
from torch._C import Tensor
from torch.autograd.graph import saved_tensors_hooks
from torch.ops import OpOverload, OpOverloadPacket
from torch.utils._python_dispatch import TorchDispatchMode

__all__ = ['CheckpointPolicy', 'SelectiveCheckpointContext', 'create_selective_checkpoint_contexts']


class CheckpointPolicy(enum.Enum):
    """What to do with the result of an operation. Only torch.compile may do other than it prefers."""
    MUST_SAVE = 0
    PREFER_SAVE = 1
    MUST_RECOMPUTE = 2
    PREFER_RECOMPUTE = 3


class SelectiveCheckpointContext:
    """What a policy function gets first."""

    def __init__(self, *, is_recompute):
        self.is_recompute = is_recompute


class _Kept:
    """A result, and the version it had; or what pack made of it."""

    def __init__(self, hooks, value):
        self.val = value.detach() if isinstance(value, Tensor) else value
        self.unpack = None
        if hooks and isinstance(value, Tensor):
            self.val, self.unpack = hooks[0](self.val), hooks[1]
        self.version = self.val._version if isinstance(self.val, Tensor) else None

    def get_val(self, may_be_mutated):
        if self.version is not None and self.val._version != self.version and not may_be_mutated:
            raise RuntimeError('Tensor cached during selective activation checkpoint has been mutated')
        return self.unpack(self.val) if self.unpack else self.val


def _map(function, value):
    return tuple(map(function, value)) if isinstance(value, (tuple, list)) else function(value)


_COMPUTED, _GIVEN = object(), object()  # in the storage: a result that was not kept, and one that was taken already
_CHANGED = ('This can happen if the operations in the checkpointed region are nondeterministic or depend on global state that '
            'changed between forward and backward.')
_BYPASSED = ('A saved_tensors_hooks context (e.g. save_on_cpu) is active around a selective activation checkpoint region. '
             'Tensors that SAC saves currently bypass these hooks, but a future release will route them through the hooks '
             'like any other saved tensor. Silence this warning and choose the behavior explicitly by passing '
             'respect_saved_tensors_hooks=True|False to torch.utils.checkpoint.checkpoint.')


class _CachingTorchDispatchMode(TorchDispatchMode):
    """The forward run. What the node of a kept operation saves, it keeps too: the second run will not make that node."""

    def __init__(self, policy_fn, storage):
        self.policy_fn, self.storage, self.hooks, self.warns = policy_fn, storage, None, False

    def route(self, hooks, respects):
        """Whether kept results go through the hooks around the checkpoint. None: they do not, and a warning says so."""
        self.hooks, self.warns = hooks if respects else None, hooks is not None and respects is None

    def saves(self, func, args, kwargs):
        policy = self.policy_fn(SelectiveCheckpointContext(is_recompute=False), func, *args, **kwargs)
        return policy is True or policy in (CheckpointPolicy.MUST_SAVE, CheckpointPolicy.PREFER_SAVE)

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if not self.saves(func, args, kwargs):
            self.storage[func].append(_COMPUTED)
            return func(*args, **kwargs)
        with saved_tensors_hooks(lambda tensor: tensor.detach(), lambda tensor: tensor):
            result = func(*args, **kwargs)
        if self.warns:
            warnings.warn(_BYPASSED, FutureWarning, stacklevel=2)
        self.storage[func].append(_map(functools.partial(_Kept, self.hooks), result))
        return result


class _CachedTorchDispatchMode(TorchDispatchMode):
    """The second run, which gets the kept results. The policy is not asked again."""

    def __init__(self, storage, allow_cache_entry_mutation):
        self.storage, self.may_be_mutated = storage, allow_cache_entry_mutation

    def __enter__(self):
        self.next = collections.Counter()
        return super().__enter__()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        number, kept = self.next[func], self.storage.get(func)
        self.next[func] += 1
        if kept is None:
            raise RuntimeError(f'{func} encountered during backward but not found in storage. {_CHANGED}')
        if number >= len(kept):
            raise RuntimeError(f'{func} invocation index {number} encountered during backward but not found in storage. '
                               f'{_CHANGED}')
        if kept[number] is _COMPUTED:
            return func(*args, **kwargs)
        if kept[number] is _GIVEN:
            raise RuntimeError('Trying to backward an extra time. You are only allowed to backward once on any region '
                               'computed under selective activation checkpoint.')
        result, kept[number] = kept[number], _GIVEN
        needs_grad = any(isinstance(a, Tensor) and a.requires_grad for a in args)
        return _map(functools.partial(self.give, needs_grad), result)

    def give(self, needs_grad, kept):
        """The result, with a history that leads nowhere, so that the operations after it save what they saved."""
        value = kept.get_val(self.may_be_mutated)
        return _C.forward_root(value) if isinstance(value, Tensor) and needs_grad else value


def _check_operations(operations):
    for one in operations:
        if isinstance(one, OpOverload):
            continue
        hint = ''
        if isinstance(one, OpOverloadPacket):
            hint = ('Please update the OpOverloadPacket to a specific OpOverload.For example, if you have `torch.ops.aten.mm`, '
                    'change it to `torch.ops.aten.mm.default`.')
        raise ValueError(f'Expected op in `op_list` to be an OpOverload but got: {one} of type {type(one)}. {hint}')


def create_selective_checkpoint_contexts(policy_fn_or_list, allow_cache_entry_mutation=False):
    """The two contexts for checkpoint's context_fn. The policy is a function of (context, operation, *args, **kwargs), or a
    list of the operations whose results are kept."""
    policy = policy_fn_or_list
    if isinstance(policy, list):
        _check_operations(policy)
        operations = policy

        def policy(context, func, *args, **kwargs):
            return func in operations
    elif not callable(policy):
        raise TypeError('policy_fn_or_list must be either a function or a list of ops.')
    storage = collections.defaultdict(list)
    return _CachingTorchDispatchMode(policy, storage), _CachedTorchDispatchMode(storage, allow_cache_entry_mutation)

# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checkpoints without a nested backward. Saved-tensor hooks keep only places. The first unpacking in a pass runs the
function again, with hooks that fill the places."""
import contextlib
import weakref

from torch import _C
from torch._C import Tensor
from torch.autograd import enable_grad
from torch.autograd.graph import saved_tensors_hooks
from torch.utils._operation_log import explain, OperationLog
from torch.utils._selective import _CachingTorchDispatchMode

_early_stop = None  # what set_checkpoint_early_stop wants; None: what each call says
_debug = None  # the same of set_checkpoint_debug_enabled
_CHECKS = ['default', 'none']
_TIP = """

Tip: To see a more detailed error message, either pass `debug=True` to
`torch.utils.checkpoint.checkpoint(...)` or wrap the code block
with `with torch.utils.checkpoint.set_checkpoint_debug_enabled(True):` to
enable checkpoint\u2011debug mode globally.

If this error occurs under torch.compile with automatic_dynamic_shapes enabled,
it may be because the recomputation selected a different compiled graph than the
forward pass (e.g., a dynamic graph instead of the original static graph).
To fix this, either:
  - Use torch._dynamo.mark_dynamic() to explicitly mark varying dimensions as
    dynamic upfront, avoiding the static-to-dynamic transition.
  - Call torch._C._dynamo.eval_frame._set_lru_cache(False) to disable LRU cache
    reordering, which can change which graph is checked first between forward
    and recompute.
See https://github.com/pytorch/pytorch/issues/166926 for more details and
workaround examples.
"""


class CheckpointError(RuntimeError):
    """The function did something else the second time."""


class _StopRecomputationError(Exception):
    """All that was saved is there again: the rest of the function need not run."""


@contextlib.contextmanager
def set_checkpoint_early_stop(enable):
    """Whether the second run ends as soon as the last saved tensor is there. Goes before what a checkpoint itself says."""
    global _early_stop
    before, _early_stop = _early_stop, enable
    try:
        yield
    finally:
        _early_stop = before


@contextlib.contextmanager
def set_checkpoint_debug_enabled(enabled):
    """Whether errors list the operations of both runs. Goes before what a checkpoint itself says."""
    global _debug
    before, _debug = _debug, enabled
    try:
        yield
    finally:
        _debug = before


def noop_context_fn():
    """The contexts of forward and of the second run, if the caller wants none."""
    return contextlib.nullcontext(), contextlib.nullcontext()


@contextlib.contextmanager
def replayed_random_numbers(state):
    """Inside, random numbers are those that followed `state`; None: as they come."""
    if state is None:
        yield
        return
    before = _C.default_generator._get_bytes()
    _C.default_generator._set_bytes(state)
    try:
        yield
    finally:
        _C.default_generator._set_bytes(before)


class _Place:
    """Stands in the graph for a saved tensor."""

    def __init__(self, number):
        self.number = number
        self.unpacked_in = None  # the last pass that asked


class _Frame:
    """One call of checkpoint: what it takes to run it again, and what that gave for each pass that asked."""

    def __init__(self, run, args, check, early_stop):
        if check not in _CHECKS:
            raise ValueError(f'determinism_check should be one of {_CHECKS}, but got {check}')
        self.run, self.early_stop, self.check = run, early_stop, check == 'default'
        self.args = [_C._make_saved_tensor(a) if isinstance(a, Tensor) else (a,) for a in args]
        self.places, self.metadata = [], []  # weak references
        self.outer_hooks = _hooks_of_the_caller()
        self.values = {}  # by graph task: tensors by place
        self.forward_ended = self.takes_more = False
        self.logs = None  # of debug: of forward, and of the second run

    def end_forward(self):
        self.forward_ended, self.outer_hooks = True, None

    def pack(self, tensor):
        place = _Place(len(self.places))
        self.places.append(weakref.ref(place))
        self.metadata.append(_metadata(tensor))
        return place

    def unpack(self, place):
        task = _C._current_graph_task_id()
        if task == -1:
            task = object()  # outside of a pass, each call runs the function again
        if place.unpacked_in == task:
            raise CheckpointError(
                'torch.utils.checkpoint: Unpack is being triggered for a tensor that was already unpacked once. If you '
                'are calling ctx.saved_tensors in backward, make sure to do so only once. Otherwise please open an issue '
                'with details on your use case.')
        if task not in self.values:
            self.values[task] = self.run_again()
        values = self.values[task]
        place.unpacked_in, value = task, values.pop(place)
        if not values or not isinstance(task, int):
            del self.values[task]
        return value

    def run_again(self):
        """{place: tensor} of what is still in a graph."""
        values, n_packed = weakref.WeakKeyDictionary(), 0

        def pack(tensor):
            nonlocal n_packed
            number, n_packed = n_packed, n_packed + 1
            tensor = tensor.detach() if tensor.requires_grad else tensor
            if number >= len(self.places):
                self.take_more()
                return tensor
            place = self.places[number]()
            if place is not None:
                values[place] = tensor
            if self.early_stop and n_packed == len(self.places):
                raise _StopRecomputationError
            return tensor
        args = [a[0] if isinstance(a, tuple) else a.unpack() for a in self.args]
        with saved_tensors_hooks(pack, lambda tensor: tensor), enable_grad():
            try:
                self.run(*args)
            except _StopRecomputationError:
                pass
        if not self.takes_more:
            self.check_same(values, n_packed)
        return values

    def check_same(self, values, n_packed):
        try:
            self.compare(values, n_packed)
        except CheckpointError as problem:
            if self.logs is None:
                raise
            raise CheckpointError(explain(*self.logs)) from problem

    def take_more(self):
        """The function itself asked for gradients, so it runs again before it has saved all; else it changed."""
        if self.forward_ended:
            raise CheckpointError('torch.utils.checkpoint: trying to save more tensors during recomputation than during '
                                  'the original forward pass.' + _TIP)
        self.takes_more = True

    def compare(self, values, n_packed):
        if n_packed != len(self.places):
            raise CheckpointError(
                'torch.utils.checkpoint: A different number of tensors was saved during the original forward and '
                f'recomputation.\nNumber of tensors saved during forward: {len(self.places)}\n'
                f'Number of tensors saved during recomputation: {n_packed}.' + _TIP)
        different = [f'tensor at position {place.number}:\nsaved metadata: {self.metadata[place.number]}\n'
                     f'recomputed metadata: {_metadata(tensor)}\n'
                     for place, tensor in sorted(values.items(), key=lambda item: item[0].number)
                     if self.check and _metadata(tensor) != self.metadata[place.number]]
        if different:
            raise CheckpointError('torch.utils.checkpoint: Recomputed values for the following tensors have different '
                                  'metadata than during the forward pass.\n' + ''.join(different) + '.' + _TIP)


class _FrameOf1:
    """A frame of PyTorch 1.x: all of the function runs again if no value is left, and nothing is compared."""

    def __init__(self, run, args):
        self.run, self.args, self.places = run, args, []
        self.values = weakref.WeakKeyDictionary()

    def end_forward(self):
        pass

    def pack(self, tensor):
        place = _Place(len(self.places))
        self.places.append(weakref.ref(place))
        return place

    def unpack(self, place):
        if not self.values:
            self.run_again()
        if place not in self.values:
            raise RuntimeError('Attempt to retrieve a tensor saved by autograd multiple times without checkpoint '
                               'recomputation being triggered in between, this is not currently supported. Please open '
                               'an issue with details on your use case so that we can prioritize adding this.')
        return self.values[place]

    def run_again(self):
        left = iter(range(len(self.places) + 1))

        def pack(tensor):
            place = self.places[next(left)]()
            if place is not None:
                self.values[place] = tensor.detach()

        def unpack(packed):
            raise RuntimeError('You are calling backwards on a tensor that is never exposed. Please open an issue.')
        with enable_grad(), saved_tensors_hooks(pack, unpack):
            self.run(*self.args)


def _metadata(tensor):
    return {'shape': tensor.shape, 'dtype': tensor.dtype, 'device': tensor.device}


def _hooks_of_the_caller():
    """The saved-tensor hooks in force, or those around the checkpoints that are in force; None: there are none."""
    hooks = _C._top_saved_tensors_default_hooks()
    frame = getattr(hooks[0], '__self__', None) if hooks else None
    return frame.outer_hooks if isinstance(frame, _Frame) else hooks


def recorded(function, args, kwargs, preserve_rng_state=True, context_fn=noop_context_fn, determinism_check='default',
             debug=False, early_stop=True, respect_saved_tensors_hooks=None):
    """function(*args, **kwargs), saving places instead of tensors."""
    state = _C.default_generator._get_bytes() if preserve_rng_state else None
    debug = debug if _debug is None else _debug
    if debug and context_fn is not noop_context_fn:
        raise ValueError('debug=True is incompatible with non-default context_fn')
    context, context_again = (OperationLog(), OperationLog()) if debug else context_fn()

    def run(*tensors):
        with replayed_random_numbers(state), context_again:
            function(*tensors, **kwargs)
    if _C.policy('gradient_edges'):
        frame = _Frame(run, args, determinism_check, early_stop if _early_stop is None else _early_stop)
        frame.logs = (context, context_again) if debug else None
    else:
        frame = _FrameOf1(run, args)
    if isinstance(context, _CachingTorchDispatchMode) and _C.policy('texts_of_2_15'):
        context.route(_hooks_of_the_caller(), respect_saved_tensors_hooks)
    with saved_tensors_hooks(frame.pack, frame.unpack), context:
        result = function(*args, **kwargs)
    frame.end_forward()
    return result

# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checkpoints without a nested backward. Saved-tensor hooks keep only places. The first unpacking in a pass runs the
function again, with hooks that fill the places."""
import contextlib
import weakref

from tapedeck import _C
from tapedeck.autograd import enable_grad
from tapedeck.autograd.graph import saved_tensors_hooks

_early_stop_wanted = True


class CheckpointError(RuntimeError):
    """The function did something else the second time."""


class _Enough(Exception):
    """All that was saved is there again: the rest of the function need not run."""


@contextlib.contextmanager
def set_checkpoint_early_stop(enable):
    """Whether the second run ends as soon as the last saved tensor is there."""
    global _early_stop_wanted
    before, _early_stop_wanted = _early_stop_wanted, enable
    try:
        yield
    finally:
        _early_stop_wanted = before


@contextlib.contextmanager
def replayed_random_numbers(state):
    """Inside, random numbers are those that followed `state`; None: as they come."""
    if state is None:
        yield
        return
    before = _C.get_rng_state()
    _C.set_rng_state(state)
    try:
        yield
    finally:
        _C.set_rng_state(before)


class _Place:
    """Stands in the graph for a saved tensor."""

    def __init__(self, number):
        self.number = number


class _Frame:
    """One call of checkpoint: what it takes to run it again, and what that gave for each pass that asked."""

    def __init__(self, function, args, kwargs, rng_state, check, early_stop):
        self.function, self.args, self.kwargs, self.rng_state = function, args, kwargs, rng_state
        self.check, self.early_stop = check, early_stop
        self.places, self.metadata = [], []
        self.values = {}  # by graph task

    def pack(self, tensor):
        place = _Place(len(self.places))
        self.places.append(weakref.ref(place))
        self.metadata.append(_metadata(tensor))
        return place

    def unpack(self, place):
        task = _C._current_graph_task_id()
        if task in self.values and place.number not in self.values[task]:
            self.refuse_again()
            del self.values[task]
        if task not in self.values:
            values = self.run_again()
            self.check_values(values)
            self.values[task] = values
        values = self.values[task]
        value = values.pop(place.number)
        if task == -1 or not values:
            del self.values[task]
        return value

    def refuse_again(self):
        """PyTorch 1.x runs the function once more for a tensor that was unpacked already."""
        if _C.policy('gradient_edges'):
            raise CheckpointError(
                'torch.utils.checkpoint: Unpack is being triggered for a tensor that was already unpacked once. If you '
                'are calling ctx.saved_tensors in backward, make sure to do so only once. Otherwise please open an issue '
                'with details on your use case.')

    def run_again(self):
        """{number: tensor} of what is still in a graph."""
        values, n_packed = {}, 0

        def pack(tensor):
            nonlocal n_packed
            number, n_packed = n_packed, n_packed + 1
            if number >= len(self.places) or self.places[number]() is not None:
                values[number] = tensor.detach()
            if self.early_stop and n_packed == len(self.places):
                raise _Enough
            return tensor.detach()
        with replayed_random_numbers(self.rng_state), enable_grad(), saved_tensors_hooks(pack, lambda tensor: tensor):
            try:
                self.function(*self.args, **self.kwargs)
            except _Enough:
                pass
        if n_packed != len(self.places):
            raise CheckpointError(
                'torch.utils.checkpoint: A different number of tensors was saved during the original forward and '
                f'recomputation.\nNumber of tensors saved during forward: {len(self.places)}\n'
                f'Number of tensors saved during recomputation: {n_packed}.')
        return values

    def check_values(self, values):
        different = [f'tensor at position {number}:\nsaved metadata: {self.metadata[number]}\n'
                     f'recomputed metadata: {_metadata(tensor)}\n' for number, tensor in values.items()
                     if self.check and _metadata(tensor) != self.metadata[number]]
        if different:
            raise CheckpointError('torch.utils.checkpoint: Recomputed values for the following tensors have different '
                                  'metadata than during the forward pass.\n' + ''.join(different))


def _metadata(tensor):
    return {'shape': tensor.shape, 'dtype': tensor.dtype, 'device': tensor.device}


def recorded(function, args, kwargs, preserve_rng_state, check, early_stop):
    """function(*args, **kwargs), saving places instead of tensors. PyTorch 1.x runs all of the function again."""
    state = _C.get_rng_state() if preserve_rng_state else None
    stops = early_stop and _early_stop_wanted and _C.policy('gradient_edges')
    frame = _Frame(function, args, kwargs, state, check, stops)
    with saved_tensors_hooks(frame.pack, frame.unpack):
        return function(*args, **kwargs)

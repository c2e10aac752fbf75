# SPDX-License-Identifier: LGPL-2.1-or-later
"""How samples become a batch: tensors and numbers are stacked; lists, tuples and dicts are gone into."""
import collections.abc
import copy
import sys

from torch import _C
from torch._C import Tensor

_CANNOT = 'default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {}'


def _is_numpy(kind):
    return kind.__module__ == 'numpy' and kind.__name__ not in ('str_', 'bytes_', 'string_')


def _has_text(array):
    """Whether numpy's array has texts, bytes or objects, which no tensor has."""
    return array.dtype.kind in 'SUaO'


def _as_tensor(data):
    from torch import _arrays
    return _arrays.as_tensor(data)


def _like(original, changed):
    """A collection of the original's class with other members; a plain one if that class cannot be made so."""
    mapping = isinstance(original, collections.abc.Mapping)
    try:
        if isinstance(original, (collections.abc.MutableMapping, collections.abc.MutableSequence)):
            clone = copy.copy(original)
            for key, value in changed.items() if mapping else enumerate(changed):
                clone[key] = value
            return clone
        return type(original)(changed)
    except TypeError:
        return changed


def _is_named_tuple(data):
    return isinstance(data, tuple) and hasattr(data, '_fields')


def default_convert(data):
    """Arrays of numpy become tensors, also inside of lists, tuples and dicts."""
    if isinstance(data, Tensor):
        return data
    if _is_numpy(type(data)):
        return data if hasattr(data, 'dtype') and _has_text(data) else _as_tensor(data)
    if isinstance(data, collections.abc.Mapping):
        return _like(data, {key: default_convert(data[key]) for key in data})
    if _is_named_tuple(data):
        return type(data)(*map(default_convert, data))
    if isinstance(data, tuple):
        return [default_convert(part) for part in data]
    if isinstance(data, collections.abc.Sequence) and not isinstance(data, (str, bytes)):
        return _like(data, [default_convert(part) for part in data])
    return data


def _collate_tensors(batch, *, collate_fn_map=None):
    if batch[0].is_sparse:
        raise RuntimeError('Batches of sparse tensors are not currently supported by the default collate_fn; please '
                           'provide a custom collate_fn to handle them appropriately.')
    return _C.stack(list(batch), 0)


def _collate_arrays(batch, *, collate_fn_map=None):
    if _has_text(batch[0]):
        raise TypeError(_CANNOT.format(batch[0].dtype))
    return collate([_as_tensor(array) for array in batch], collate_fn_map=collate_fn_map)


def _collate_scalars(batch, *, collate_fn_map=None):
    return _as_tensor(batch)


def _collate_floats(batch, *, collate_fn_map=None):
    return _C.tensor(batch, dtype=_C.float64)


def _collate_integers(batch, *, collate_fn_map=None):
    return _C.tensor(batch)


def _collate_texts(batch, *, collate_fn_map=None):
    return batch


default_collate_fn_map = {Tensor: _collate_tensors, float: _collate_floats, int: _collate_integers, str: _collate_texts,
                          bytes: _collate_texts}


def _with_numpy(functions):
    """The functions, and those for what numpy has, once the program has imported numpy."""
    numpy = sys.modules.get('numpy')
    if numpy is None or functions is not default_collate_fn_map:
        return functions
    return {Tensor: functions[Tensor], numpy.ndarray: _collate_arrays,
            (numpy.bool_, numpy.number, numpy.object_): _collate_scalars, **functions}


def _function_for(sample, functions):
    if type(sample) in functions:
        return functions[type(sample)]
    return next((function for kind, function in functions.items() if isinstance(sample, kind)), None)


def collate(batch, *, collate_fn_map=None):
    """Makes a batch of samples. The map says which function makes it of samples of a class."""
    sample = batch[0]
    function = _function_for(sample, _with_numpy(collate_fn_map or {}))
    if function:
        return function(batch, collate_fn_map=collate_fn_map)
    if isinstance(sample, collections.abc.Mapping):
        return _like(sample, {key: collate([other[key] for other in batch], collate_fn_map=collate_fn_map)
                              for key in sample})
    if not isinstance(sample, collections.abc.Sequence):
        raise TypeError(_CANNOT.format(type(sample)))
    if not _is_named_tuple(sample) and any(len(other) != len(sample) for other in batch):
        raise RuntimeError('each element in list of batch should be of equal size')
    columns = [collate(column, collate_fn_map=collate_fn_map) for column in zip(*batch)]
    if _is_named_tuple(sample):
        return type(sample)(*columns)
    return columns if isinstance(sample, tuple) else _like(sample, columns)


def default_collate(batch):
    """Makes a batch of samples: of tensors, numbers and arrays, in any lists, tuples and dicts."""
    return collate(batch, collate_fn_map=default_collate_fn_map)

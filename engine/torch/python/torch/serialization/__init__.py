# SPDX-License-Identifier: LGPL-2.1-or-later
"""torch.save and torch.load, in PyTorch's format of files: each reads what the other has written.

Most programs do neither, so what reads and writes is imported by need.
"""
import os

from torch import _C, version
from torch.serialization import _storages as storages

DEFAULT_PROTOCOL = 2
_TROUBLE = (AttributeError, IndexError, KeyError, TypeError, ValueError, OverflowError, MemoryError, AssertionError,
            NotImplementedError, RecursionError, UnicodeError, EOFError)


def save(obj, f, pickle_module=None, pickle_protocol=DEFAULT_PROTOCOL, _use_new_zipfile_serialization=True):
    """Writes an object with tensors in it to a file, which is a path or an open file."""
    if isinstance(f, (str, os.PathLike)):
        name = os.path.splitext(os.path.basename(f))[0]
        with open(f, 'wb') as file:
            return _write(obj, file, name or 'archive', pickle_protocol)
    return _write(obj, f, 'archive', pickle_protocol)


def _write(obj, file, name, protocol):
    from torch.serialization import _archive as archive
    from torch.serialization._pickler import pickled
    data, memories = pickled(obj, protocol)
    records = archive.Writer(file, name)
    records.write('data.pkl', data)
    records.write('.format_version', b'1')
    records.write('.storage_alignment', b'64')
    records.write('byteorder', b'little')
    for number, memory in enumerate(memories):
        records.write(f'data/{number}', memoryview(memory))
    records.write('version', b'3\n')
    records.close()


def _device_of(location, map_location, memory):
    """Where a storage goes that was at a location. A function may take it, and then it stays on the CPU."""
    if isinstance(map_location, dict):
        location = map_location.get(location, location)
    elif callable(map_location):
        location = location if map_location(memory, location) is None else 'cpu'
    elif map_location is not None:
        location = map_location
    if str(location).startswith('cuda') and not _has_cuda():
        raise RuntimeError('Attempting to deserialize object on a CUDA device but torch.cuda.is_available() is False. If '
                           "you are running on a CPU-only machine, please use torch.load with "
                           "map_location=torch.device('cpu') to map your storages to the CPU.")
    return _C.device(location)


def _has_cuda():
    from torch import cuda
    return cuda.is_available()


class _Storages:
    """The storages of an archive. Each is read once, so tensors share it."""

    def __init__(self, records, map_location, make):
        self._records, self._map_location, self._make, self._read = records, map_location, make, {}

    def __call__(self, kind, key, location, count):
        if key not in self._read:
            self._read[key] = self._load(kind, key, location, count)
        return self._read[key]

    def _load(self, kind, key, location, count):
        data = self._records.read(f'data/{key}')
        size = 1 if kind is storages.UNTYPED else _C.empty(0, dtype=kind.dtype).element_size() if kind.dtype else None
        if size is None:
            raise RuntimeError(f'torch.load: the engine has no torch.{kind.name}')
        if count < 0 or count * size > len(data):
            raise RuntimeError(f'PytorchStreamReader failed reading file data/{key}: file read failed')
        memory = _C.UntypedStorage(count * size)
        taken = data[:count * size]
        if kind.dtype is _C.bool:  # any byte but 0 is true
            taken = bytes(taken).translate(b'\0' + b'\1' * 255)
        memoryview(memory)[:] = taken
        return self._make(memory, kind.dtype, _device_of(location, self._map_location, memory))


def load(f, map_location=None, pickle_module=None, *, weights_only=None, mmap=None, **pickle_load_args):
    """Reads what torch.save has written, here or in PyTorch. No code of the file runs, whatever weights_only is."""
    import pickle

    from torch.serialization import _archive as archive
    from torch.serialization._unpickler import Stored, Unpickler
    records = archive.Reader(f)
    if records.has('byteorder') and bytes(records.read('byteorder')) != b'little':
        raise RuntimeError('torch.load: the file is of a machine with another order of bytes')
    if weights_only is None:
        weights_only = not version.__version__.startswith('1.')
    data = records.read('data.pkl')
    try:
        return Unpickler(data, _Storages(records, map_location, Stored), weights_only).load()
    except _TROUBLE as problem:
        raise pickle.UnpicklingError(f'Weights only load failed. The file is damaged: {type(problem).__name__}: {problem}'
                                     ) from None

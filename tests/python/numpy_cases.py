# SPDX-License-Identifier: LGPL-2.1-or-later
"""What test_cases.py compares: arrays of numpy as tensors, and tensors as arrays."""
import gc
import os
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'fixtures'))

import numpy as np
import torch
from torch.utils import data
from seen_cases import case, error_of, main, warnings_of

TYPES = ('float64', 'float32', 'int64', 'int32', 'bool', 'complex64', 'complex128')


@case
def both_ways():
    """A write on one side is seen on the other."""
    array = np.arange(6.).reshape(2, 3)
    tensor = torch.from_numpy(array)
    tensor[0, 0] = 5
    array[1] = 7
    back = tensor.numpy()
    back[0, 1] = 9
    tensor.mul_(2)
    return tensor, array, back, tensor.data_ptr() == array.ctypes.data, back.ctypes.data == array.ctypes.data


@case
def memory_lives():
    array = np.ones(1000)
    tensor = torch.from_numpy(array)[10:]
    del array
    gc.collect()
    seen = tensor.sum()
    kept = torch.arange(1000.).numpy()[5:]
    gc.collect()
    return seen, kept[:3], float(kept.sum())


@case
def strides():
    array = np.arange(24, dtype='float32').reshape(2, 3, 4)
    seen = []
    for part in (array.T, array[:, 1:], array[:, ::2, 1], array[1, 1, 1:2], np.broadcast_to(array[0, 0], (3, 4)).copy(),
                 array[0, 0, 0:0], np.array(3.)):
        tensor = torch.from_numpy(part)
        seen += [tensor, list(tensor.stride()), tensor.numpy()]
    for tensor in (torch.arange(6.).reshape(2, 3).t(), torch.arange(6)[2:], torch.ones(1).expand(3), torch.empty(0, 2)):
        seen += [tensor.numpy(), list(tensor.numpy().shape)]
    return seen


@case
def types():
    return [[torch.from_numpy(np.ones(2, name)), torch.ones(2).to(getattr(torch, name)).numpy()] for name in TYPES]


@case
def copies():
    array = np.arange(3.)
    tensor = torch.tensor(array)
    array[0] = 9
    return [tensor, torch.tensor(np.float64(1.5)), torch.tensor(np.int32(3)), torch.tensor(np.array(2)),
            torch.tensor([np.ones(2), np.zeros(2)]), torch.tensor(np.ones((2, 0))), torch.tensor(array, dtype=torch.int64),
            torch.tensor((np.int64(1), np.int64(2))), torch.tensor(np.array([True, False])), torch.tensor(array.T)]


@case
def as_tensor():
    array, tensor = np.arange(3.), torch.arange(3.)
    shared, cast = torch.as_tensor(array), torch.as_tensor(array, dtype=torch.float32)
    array[0] = 7
    return [shared, cast, torch.as_tensor(tensor) is tensor, torch.as_tensor([1, 2]), torch.as_tensor(3.5),
            torch.as_tensor(tensor, dtype=torch.float64), torch.as_tensor(np.float32(2)), torch.asarray(array),
            torch.asarray([1., 2.], requires_grad=True), torch.asarray(tensor, copy=True) is tensor,
            torch.frombuffer(bytearray(b'\0\0\x80\x3f\0\0\0\x40'), dtype=torch.float32)]


@case
def functions_of_numpy():
    x = torch.arange(4.).reshape(2, 2)
    return [np.asarray(x), np.array(x), np.asarray(x, dtype='float64'), np.sum(x.numpy()), type(np.sin(x)).__name__,
            np.sin(x), np.asarray(torch.tensor(3.)), float(np.mean(x.detach().numpy())), np.concatenate([x, x]),
            np.dot(x.numpy(), x.numpy()), [float(value) for value in np.linspace(0, 1, 3)]]


@case
def gradients():
    array = np.ones(3, 'float32')
    x = torch.from_numpy(array).requires_grad_()
    (x * 3).sum().backward()
    return x.grad.numpy(), x.detach().numpy(), x.is_leaf, error_of(lambda: x.numpy()), error_of(lambda: np.asarray(x))


@case
def refusals():
    return [error_of(call) for call in (
        lambda: torch.from_numpy([1, 2]), lambda: torch.from_numpy(np.arange(3)[::-1]),
        lambda: torch.tensor(np.arange(3)[::-1]), lambda: torch.from_numpy(np.arange(3, dtype='>i8')),
        lambda: torch.frombuffer(bytearray(7), dtype=torch.float32), lambda: torch.frombuffer(bytearray(8), dtype=torch.int64,
                                                                                           offset=9),
        lambda: torch.frombuffer(bytearray(8), dtype=torch.float32, count=3))]


@case
def kinds_refused():
    return [(error_of(call) or '').partition('. The only')[0] for call in (
        lambda: torch.from_numpy(np.array(['a'])), lambda: torch.from_numpy(np.array([None])),
        lambda: torch.tensor(np.array(['a'])), lambda: torch.tensor(np.array([object()])))]


@case
def not_writable():
    array = np.ones(2)
    array.flags.writeable = False
    return len(warnings_of(lambda: torch.from_numpy(array))), torch.from_numpy(array)


@case
def batches():
    rows = [(np.float32(i), np.full(2, i), i, {'x': np.arange(2.) + i}) for i in range(4)]
    return [list(data.DataLoader(rows, batch_size=2, num_workers=workers)) for workers in (0, 1)] + [
        data.default_convert(rows[1]), error_of(lambda: data.default_collate([np.array(['a'])])),
        data.default_convert([np.array(['a'])])[0].tolist()]


class Draws(data.Dataset):
    def __len__(self):
        return 6

    def __getitem__(self, index):
        return np.random.rand(2)


@case
def workers_draw():
    torch.manual_seed(2)
    return [list(data.DataLoader(Draws(), batch_size=2, num_workers=2)) for _ in range(2)]


@case
def storages():
    """Views share their storage, which has the elements in the order of memory."""
    x = torch.arange(6.).reshape(2, 3)
    turned, row = x.t(), x[1]
    storage = turned.storage()
    storage[1] = 9
    return [list(storage), len(storage), storage.size(), storage[5], x, repr(storage), storage.dtype == torch.float32,
            storage.data_ptr() == x.data_ptr(), row.storage().data_ptr() == x.storage().data_ptr(), row.storage_offset(),
            row.data_ptr() - x.data_ptr(), x.clone().storage().data_ptr() == x.storage().data_ptr(), x.element_size()]


@case
def bytes_of_storages():
    if not hasattr(torch.Tensor, 'untyped_storage'):
        return [24, 24, True]
    storage = torch.arange(6.).reshape(2, 3)[1].untyped_storage()
    return [storage.nbytes(), len(storage), storage.device == torch.device('cpu')]


if __name__ == '__main__':
    main()

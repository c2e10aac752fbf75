# SPDX-License-Identifier: LGPL-2.1-or-later
"""Sequences of several lengths: padded to one length, or packed, where each time has only those that still run."""
import collections
import collections.abc

from torch import _C
from torch._C import Tensor

__all__ = ['PackedSequence', 'invert_permutation', 'pack_padded_sequence', 'pad_packed_sequence', 'pad_sequence',
           'unpad_sequence', 'pack_sequence', 'unpack_sequence']


class PackedSequence(collections.namedtuple('PackedSequence_', ['data', 'batch_sizes', 'sorted_indices',
                                                                'unsorted_indices'])):
    """data has the first time of all sequences, then the second, and so on; batch_sizes how many each time has."""

    def __new__(cls, data, batch_sizes=None, sorted_indices=None, unsorted_indices=None):
        if batch_sizes is None:
            if not isinstance(data, (list, tuple)) or len(data) != 2:
                raise AssertionError('Expected data to be a list or tuple of length 2')
            data, batch_sizes = data
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def to(self, *args, **kwargs):
        data = self.data.to(*args, **kwargs)
        return self if data is self.data else type(self)(data, *self[1:])

    def cpu(self):
        return self.to('cpu')

    def double(self):
        return self.to(_C.float64)

    def float(self):
        return self.to(_C.float32)

    def long(self):
        return self.to(_C.int64)

    def int(self):
        return self.to(_C.int32)

    @property
    def is_cuda(self):
        return False

    def is_pinned(self):
        return False


def invert_permutation(permutation):
    if permutation is None:
        return None
    order = permutation.tolist()
    return _C.tensor(sorted(range(len(order)), key=order.__getitem__))


def _time_first(tensor, batch_first):
    return tensor.transpose(0, 1) if batch_first else tensor


def pack_padded_sequence(input, lengths, batch_first=False, enforce_sorted=True):
    """The longest sequence must come first, unless the function may sort."""
    lengths, order = [int(n) for n in (lengths.tolist() if isinstance(lengths, Tensor) else lengths)], None
    if not enforce_sorted:
        order = _C.tensor(sorted(range(len(lengths)), key=lambda i: -lengths[i]))
        lengths = sorted(lengths, reverse=True)
        input = input.index_select(0 if batch_first else 1, order)
    n_sequences = input.size(0 if batch_first else 1)
    if input.numel() == 0:
        raise RuntimeError('Cannot pack empty tensors.')
    if len(lengths) != n_sequences:
        raise RuntimeError(f'Expected `len(lengths)` to be equal to batch_size, but got {len(lengths)} (batch_size='
                           f'{n_sequences})')
    if lengths[-1] <= 0:
        raise RuntimeError('Length of all samples has to be greater than 0, but found an element in \'lengths\' that is '
                           '<= 0')
    if any(later > n for n, later in zip(lengths, lengths[1:])):
        raise RuntimeError('`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can '
                           'pass `enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to sidestep this '
                           "requirement if you do not need ONNX exportability.")
    sizes = [sum(n > t for n in lengths) for t in range(lengths[0])]
    by_time, by_sequence = (1, input.size(1)) if batch_first else (n_sequences, 1)
    rows = [t * by_time + i * by_sequence for t, n in enumerate(sizes) for i in range(n)]
    return PackedSequence(_C._pack_padded_sequence(input, _C.tensor(rows)), _C.tensor(sizes), order)


def _lengths(sizes):
    return [sum(size > i for size in sizes) for i in range(sizes[0])]


def pad_packed_sequence(sequence, batch_first=False, padding_value=0.0, total_length=None):
    """Returns the padded tensor and the lengths."""
    sizes = sequence.batch_sizes.tolist()
    if total_length is not None and total_length < len(sizes):
        raise ValueError('Expected total_length to be at least the length of the longest sequence in input, but got '
                         f'total_length={total_length} and max sequence length being {len(sizes)}')
    n_times, data = total_length or len(sizes), sequence.data
    # One piece for each run of times with as many sequences, put into a tensor of the padding.
    padded = _C.full((n_times, sizes[0], *data.shape[1:]), padding_value, dtype=data.dtype)
    at = begin = 0
    for end in range(1, len(sizes) + 1):
        if end == len(sizes) or sizes[end] != sizes[begin]:
            n = (end - begin) * sizes[begin]
            padded[begin:end, :sizes[begin]] = data[at:at + n].view(end - begin, sizes[begin], *data.shape[1:])
            at, begin = at + n, end
    padded, lengths, order = _time_first(padded, batch_first), _C.tensor(_lengths(sizes)), sequence.unsorted_indices
    if order is None:
        return padded, lengths
    return padded.index_select(0 if batch_first else 1, order), lengths[order]


def pad_sequence(sequences, batch_first=False, padding_value=0.0, padding_side='right'):
    if not isinstance(sequences, collections.abc.Iterable):
        raise RuntimeError(f'pad_sequence: Expected iterable for input sequences, but got arg of type: {type(sequences)}')
    sequences = tuple(sequences)
    if not sequences:
        raise RuntimeError('received an empty list of sequences')
    if padding_side not in ('left', 'right'):
        raise RuntimeError(f'Expected padding_side to be one of left or right, but got {padding_side}.')
    longest, n, rest = max(s.size(0) for s in sequences), len(sequences), sequences[0].shape[1:]
    padded = _C.full((n, longest, *rest) if batch_first else (longest, n, *rest), padding_value,
                     dtype=sequences[0].dtype)
    for i, s in enumerate(sequences):
        begin = longest - s.size(0) if padding_side == 'left' else 0
        row = padded.select(0 if batch_first else 1, i)
        row.narrow(0, begin, s.size(0)).copy_(s)
    return padded


def unpad_sequence(padded_sequences, lengths, batch_first=False):
    padded = padded_sequences if batch_first else padded_sequences.transpose(0, 1)
    return [padded[i][:n] for i, n in enumerate(lengths.tolist())]


def pack_sequence(sequences, enforce_sorted=True):
    return pack_padded_sequence(pad_sequence(sequences), [s.size(0) for s in sequences], enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences):
    return unpad_sequence(*pad_packed_sequence(packed_sequences, batch_first=True), batch_first=True)

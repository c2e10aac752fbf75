# SPDX-License-Identifier: LGPL-2.1-or-later
"""Samplers: the order in which a loader takes the samples of a dataset."""
import itertools
import typing

from torch.utils.data import _chance as chance

_Index = typing.TypeVar('_Index', covariant=True)


def _check_count(**counts):
    for name, count in counts.items():
        if not isinstance(count, int) or isinstance(count, bool) or count <= 0:
            raise ValueError(f'{name} should be a positive integer value, but got {name}={count}')


class Sampler(typing.Generic[_Index]):
    """Base of all samplers. A subclass has __iter__, which gives indices or lists of them."""

    def __init__(self, data_source=None):
        pass

    def __iter__(self):
        raise NotImplementedError


class SequentialSampler(Sampler[int]):
    """The indices in their order."""

    def __init__(self, data_source):
        self.data_source = data_source

    def __iter__(self):
        return iter(range(len(self.data_source)))

    def __len__(self):
        return len(self.data_source)


class RandomSampler(Sampler[int]):
    """The indices in a random order, or with `replacement` each of them at random."""

    def __init__(self, data_source, replacement=False, num_samples=None, generator=None):
        self.data_source, self.replacement, self.generator = data_source, replacement, generator
        self._num_samples = num_samples
        if not isinstance(replacement, bool):
            raise TypeError(f'replacement should be a boolean value, but got replacement={replacement}')
        if not isinstance(self.num_samples, int) or self.num_samples <= 0:
            raise ValueError(f'num_samples should be a positive integer value, but got num_samples={self.num_samples}')

    @property
    def num_samples(self):
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self):
        generator = self.generator
        if generator is None:
            generator = chance.generator_of(chance.draw_seed())
        yield from (self._choices if self.replacement else self._permutations)(len(self.data_source), generator)

    def _choices(self, n, generator):
        """32 are drawn at a time. What is left is drawn last, even if it is nothing."""
        for _ in range(self.num_samples // 32):
            yield from chance.choices(n, 32, generator)
        yield from chance.choices(n, self.num_samples % 32, generator)

    def _permutations(self, n, generator):
        for _ in range(self.num_samples // n):
            yield from chance.permutation(n, generator)
        yield from chance.permutation(n, generator)[:self.num_samples % n]

    def __len__(self):
        return self.num_samples


class SubsetRandomSampler(Sampler[int]):
    """The given indices in a random order."""

    def __init__(self, indices, generator=None):
        self.indices, self.generator = indices, generator

    def __iter__(self):
        for i in chance.permutation(len(self.indices), self.generator):
            yield self.indices[i]

    def __len__(self):
        return len(self.indices)


class WeightedRandomSampler(Sampler[int]):
    """Indices of the weights, each with the probability of its weight."""

    def __init__(self, weights, num_samples, replacement=True, generator=None):
        from torch import _C, _arrays
        _check_count(num_samples=num_samples)
        if not isinstance(replacement, bool):
            raise ValueError(f'replacement should be a boolean value, but got replacement={replacement}')
        weights = _arrays.as_tensor(weights, dtype=_C.float64)
        if weights.dim() != 1:
            raise ValueError(f'weights should be a 1d sequence but given weights have shape {tuple(weights.shape)}')
        self.weights, self.num_samples, self.replacement, self.generator = weights, num_samples, replacement, generator

    def __iter__(self):
        from torch import _names
        yield from _names.multinomial(self.weights, self.num_samples, self.replacement, generator=self.generator).tolist()

    def __len__(self):
        return self.num_samples


class BatchSampler(Sampler[typing.List[int]]):
    """Lists of the indices that another sampler gives."""

    def __init__(self, sampler, batch_size, drop_last):
        _check_count(batch_size=batch_size)
        if not isinstance(drop_last, bool):
            raise ValueError(f'drop_last should be a boolean value, but got drop_last={drop_last}')
        self.sampler, self.batch_size, self.drop_last = sampler, batch_size, drop_last

    def __iter__(self):
        indices = iter(self.sampler)
        batch = list(itertools.islice(indices, self.batch_size))
        while len(batch) == self.batch_size or (batch and not self.drop_last):
            yield batch
            batch = list(itertools.islice(indices, self.batch_size))

    def __len__(self):
        return (len(self.sampler) + (0 if self.drop_last else self.batch_size - 1)) // self.batch_size

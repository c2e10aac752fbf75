# SPDX-License-Identifier: LGPL-2.1-or-later
"""The loader: batches of a dataset's samples, in the order of a sampler."""
import itertools
import math
import os
import typing
import warnings

from torch import accelerator
from torch.utils.data import _chance as chance, _fetch as fetch
from torch.utils.data._collate import default_collate, default_convert
from torch.utils.data.dataset import IterableDataset, random_split  # noqa: F401, programs import it from here
from torch.utils.data._processes import ProcessIterator
from torch.utils.data.sampler import BatchSampler, RandomSampler, Sampler, SequentialSampler
from torch.utils.data._worker import get_worker_info  # noqa: F401

_Sample = typing.TypeVar('_Sample', covariant=True)
_FIXED = ('batch_size', 'batch_sampler', 'sampler', 'drop_last', 'dataset', 'persistent_workers')


class _Endless(Sampler):
    """An iterable dataset knows no indices. It ends by itself."""

    def __iter__(self):
        return itertools.repeat(None)


class _InlineIterator:
    def __init__(self, loader, wanted):
        self._wanted, self._fetcher = wanted, loader._make_fetcher(loader.dataset)

    def __next__(self):
        return self._fetcher.fetch(next(self._wanted))


class _Iterator:
    """What iter(loader) gives. Each epoch draws a seed for workers, whether there are any or not."""

    def __init__(self, loader):
        if loader.pin_memory and not accelerator.is_available():
            warnings.warn("'pin_memory' argument is set as true but no accelerator is found, then device pinned memory "
                          "won't be used.", stacklevel=4)
        self._loader, self._n_given = loader, 0
        wanted = iter(loader._index_sampler)  # a sampler may draw here, so before the seed
        seed = chance.draw_seed(loader.generator)
        self._batches = ProcessIterator(loader, seed) if loader.num_workers else _InlineIterator(loader, wanted)

    def begin_again(self):
        self._n_given = 0
        self._batches.begin_again(self._loader)

    def __iter__(self):
        return self

    def __len__(self):
        return len(self._loader._index_sampler)

    def __next__(self):
        batch = next(self._batches)
        self._n_given += 1
        told = self._loader._told_length
        if told is not None and self._n_given > told:
            self._warn_of_length(told)
        return batch

    def _warn_of_length(self, told):
        text = (f'Length of IterableDataset {self._loader.dataset} was reported to be {told}(when accessing '
                f'len(dataloader)), but {self._n_given} samples have been fetched. ')
        if self._loader.num_workers:
            text += ('For multiprocessing data-loading, this could be caused by not properly configuring the '
                     'IterableDataset replica at each worker. Please see https://pytorch.org/docs/stable/data.html'
                     '#torch.utils.data.IterableDataset for examples.')
        warnings.warn(text, stacklevel=3)


def _check_numbers(num_workers, timeout, prefetch_factor, persistent_workers):
    if num_workers < 0:
        raise ValueError('num_workers option should be non-negative; use num_workers=0 to disable multiprocessing.')
    if timeout < 0:
        raise ValueError('timeout option should be non-negative')
    if num_workers == 0 and prefetch_factor is not None:
        raise ValueError('prefetch_factor option could only be specified in multiprocessing.let num_workers > 0 to '
                         'enable multiprocessing, otherwise set prefetch_factor to None.')
    if prefetch_factor is not None and prefetch_factor < 0:
        raise ValueError('prefetch_factor option should be non-negative')
    if persistent_workers and num_workers == 0:
        raise ValueError('persistent_workers option needs num_workers > 0')


def _check_iterable(shuffle, sampler, batch_sampler):
    if shuffle:
        raise ValueError(f'DataLoader with IterableDataset: expected unspecified shuffle option, but got '
                         f'shuffle={shuffle}')
    for name, given in (('sampler', sampler), ('batch_sampler', batch_sampler)):
        if given is not None:
            raise ValueError(f'DataLoader with IterableDataset: expected unspecified {name} option, but got '
                             f'{name}={given}')


def _check_batches(batch_size, shuffle, sampler, batch_sampler, drop_last):
    if sampler is not None and shuffle:
        raise ValueError('sampler option is mutually exclusive with shuffle')
    if batch_sampler is not None and (batch_size != 1 or shuffle or sampler is not None or drop_last):
        raise ValueError('batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and drop_last')
    if batch_sampler is None and batch_size is None and drop_last:
        raise ValueError('batch_size=None option disables auto-batching and is mutually exclusive with drop_last')


def _warn_of_many(num_workers):
    cpus = len(os.sched_getaffinity(0))
    if num_workers > cpus:
        warnings.warn(f'This DataLoader will create {num_workers} worker processes in total. Our suggested max number of '
                      f'worker in current system is {cpus}, which is smaller than what this DataLoader is going to '
                      'create. Please be aware that excessive worker creation might get DataLoader running slow or even '
                      'freeze, lower the worker number to avoid potential slowness/freeze if necessary.', stacklevel=3)


class DataLoader(typing.Generic[_Sample]):
    """Batches of a dataset. With workers, other processes make them; the batches are the same."""

    _is_ready = False

    def __init__(self, dataset, batch_size=1, shuffle=None, sampler=None, batch_sampler=None, num_workers=0,
                 collate_fn=None, pin_memory=False, drop_last=False, timeout=0, worker_init_fn=None,
                 multiprocessing_context=None, generator=None, *, prefetch_factor=None, persistent_workers=False,
                 pin_memory_device='', in_order=True):
        _check_numbers(num_workers, timeout, prefetch_factor, persistent_workers)
        self.dataset, self.num_workers, self.generator, self.timeout = dataset, num_workers, generator, timeout
        self.prefetch_factor = 2 if num_workers and prefetch_factor is None else prefetch_factor
        self.pin_memory, self.pin_memory_device, self.in_order = pin_memory, pin_memory_device, in_order
        self.worker_init_fn, self.persistent_workers = worker_init_fn, persistent_workers
        self.multiprocessing_context = multiprocessing_context
        self._is_iterable = isinstance(dataset, IterableDataset)
        if self._is_iterable:
            _check_iterable(shuffle, sampler, batch_sampler)
        _check_batches(batch_size, shuffle, sampler, batch_sampler, drop_last)
        self.sampler = self._default_sampler(shuffle) if sampler is None else sampler
        self.batch_size, self.drop_last = (None if batch_sampler is not None else batch_size), drop_last
        makes_batches = batch_size is not None and batch_sampler is None
        self.batch_sampler = BatchSampler(self.sampler, batch_size, drop_last) if makes_batches else batch_sampler
        self.collate_fn = collate_fn or (default_collate if self._auto_collation else default_convert)
        self._told_length = self._iterator = None
        self._is_ready = True
        _warn_of_many(num_workers)

    def _default_sampler(self, shuffle):
        if self._is_iterable:
            return _Endless()
        return RandomSampler(self.dataset, generator=self.generator) if shuffle else SequentialSampler(self.dataset)

    def __setattr__(self, attr, value):
        if self._is_ready and attr in _FIXED:
            raise ValueError(f'{attr} attribute should not be set after {type(self).__name__} is initialized')
        super().__setattr__(attr, value)

    @property
    def multiprocessing_context(self):
        return self._context

    @multiprocessing_context.setter
    def multiprocessing_context(self, context):
        if context is not None and self.num_workers <= 0:
            raise ValueError('multiprocessing_context can only be used with multi-process loading (num_workers > 0), but '
                             f'got num_workers={self.num_workers}')
        if isinstance(context, str):
            import multiprocessing
            known = multiprocessing.get_all_start_methods()
            if context not in known:
                raise ValueError(f'multiprocessing_context option should specify a valid start method in {known!r}, but '
                                 f'got multiprocessing_context={context!r}')
            context = multiprocessing.get_context(context)
        self._context = context

    @property
    def _auto_collation(self):
        return self.batch_sampler is not None

    @property
    def _index_sampler(self):
        return self.batch_sampler if self._auto_collation else self.sampler

    def _make_fetcher(self, dataset):
        kind = fetch.IterableFetcher if self._is_iterable else fetch.MapFetcher
        return kind(dataset, self._auto_collation, self.collate_fn, self.drop_last)

    def __iter__(self):
        if not (self.persistent_workers and self.num_workers):
            return _Iterator(self)
        if self._iterator is None:
            self._iterator = _Iterator(self)
        else:
            self._iterator.begin_again()
        return self._iterator

    def __len__(self):
        if not self._is_iterable:
            return len(self._index_sampler)
        length = self._told_length = len(self.dataset)
        if self.batch_size is None:
            return length
        return length // self.batch_size if self.drop_last else math.ceil(length / self.batch_size)

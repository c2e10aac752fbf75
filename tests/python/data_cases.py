# SPDX-License-Identifier: LGPL-2.1-or-later
"""What test_data.py compares: datasets, samplers, batches and workers of torch.utils.data."""
import collections
import os
import random
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'fixtures'))

import torch
from torch.utils import data
from torch.utils.data import DataLoader, TensorDataset
from seen_cases import case, case_since_2, case_with, error_of, main, warnings_of

Point = collections.namedtuple('Point', 'x y')
WORKERS = (0, 1, 3)
PAIRS = TensorDataset(torch.arange(23), torch.arange(23.) * 2)


class Squares(data.Dataset):
    def __init__(self, n):
        self.n = n

    def __len__(self):
        return self.n

    def __getitem__(self, index):
        return {'number': index, 'square': torch.tensor(index * index), 'half': index / 2, 'name': f'n{index}'}


class Count(data.IterableDataset):
    """Each worker counts its own part."""

    def __init__(self, n):
        self.n = n

    def __iter__(self):
        info = data.get_worker_info()
        first, step = (info.id, info.num_workers) if info else (0, 1)
        return iter(range(first, self.n, step))


class Told(Count):
    def __len__(self):
        return self.n - 5


class Chance(data.Dataset):
    """Every sample draws."""

    def __len__(self):
        return 9

    def __getitem__(self, index):
        return torch.rand(2), random.random(), index


def all_of(loader, epochs=2):
    return [list(loader) for _ in range(epochs)]


@case
def orders():
    """The order of a seeded script, and what it draws afterwards."""
    seen = []
    for options in ({}, {'drop_last': True}, {'batch_size': None}, {'batch_size': 23}, {'batch_size': 1}):
        for workers in WORKERS:
            torch.manual_seed(3)
            loader = DataLoader(PAIRS, shuffle=True, num_workers=workers, **{'batch_size': 5, **options})
            seen.append([all_of(loader), torch.rand(2), len(loader)])
    return seen


@case
def draws_between_batches():
    """With workers, indices are drawn ahead. The program draws at other places then."""
    seen = []
    for workers in WORKERS:
        torch.manual_seed(4)
        for batch in DataLoader(PAIRS, batch_size=2, shuffle=True, num_workers=workers):
            seen += [batch, torch.rand(1)]
    return seen


@case
def in_order():
    return [all_of(DataLoader(Squares(7), batch_size=3, num_workers=workers)) for workers in WORKERS]


@case
def samplers():
    torch.manual_seed(5)
    source = range(11)
    seen = [list(data.SequentialSampler(source)), list(data.RandomSampler(source)),
            list(data.RandomSampler(source, num_samples=30)), list(data.SubsetRandomSampler([3, 1, 4, 15, 9])),
            list(data.BatchSampler(data.RandomSampler(source), 4, False)), list(data.BatchSampler(source, 4, True)),
            len(data.BatchSampler(source, 4, False)), len(data.RandomSampler(source, num_samples=30))]
    for batch_sampler in (data.BatchSampler(data.SubsetRandomSampler(range(9)), 2, True), [[1, 2], [3]]):
        seen.append(all_of(DataLoader(PAIRS, batch_sampler=batch_sampler)))
    seen.append(all_of(DataLoader(PAIRS, sampler=data.SubsetRandomSampler(range(5)), batch_size=2)))
    return seen, torch.rand(1)


@case
def parts_of_processes():
    seen = []
    for options in ({}, {'shuffle': False}, {'seed': 7}, {'drop_last': True}):
        for rank in range(3):
            sampler = data.DistributedSampler(range(10), num_replicas=3, rank=rank, **options)
            sampler.set_epoch(2)
            seen.append([list(sampler), len(sampler)])
    return seen


@case
def splits():
    torch.manual_seed(6)
    return [[(list(part.indices), len(part), list(part)) for part in data.random_split(range(10), lengths)]
            for lengths in ([3, 7], [0.3, 0.3, 0.4], [0.5, 0.25, 0.25])]


@case
def joined():
    numbers = data.Subset(PAIRS, [5, 2, 9])
    both = PAIRS + numbers
    chained = Count(3) + Count(2)
    return (len(both), both[0], both[23], both[-1], list(both.cumulative_sizes), list(numbers), numbers[[0, 2]],
            list(chained), all_of(DataLoader(both, batch_size=9)))


@case
def iterable():
    seen = [all_of(DataLoader(Count(11), batch_size=3, drop_last=drop)) for drop in (False, True)]
    for workers in WORKERS:
        for size in (2, None):
            seen.append(all_of(DataLoader(Count(11), batch_size=size, num_workers=workers)))
    loader = DataLoader(Told(9), batch_size=2)
    return seen, len(loader), len(warnings_of(lambda: list(loader)))


@case
def collated():
    default = data.default_collate
    return [default([1, 2]), default([1., 2.]), default([True, False]), default(['a', 'b']), default([b'a', b'b']),
            default([torch.ones(2), torch.zeros(2)]), default([(1, 'x'), (2, 'y')]), default([[1, 2.], [3, 4.]]),
            default([{'a': 1, 'b': (2., 3)}, {'a': 4, 'b': (5., 6)}]), default([Point(1, 2.), Point(3, 4.)]),
            type(default([Point(1, 2), Point(3, 4)])).__name__,
            type(default([collections.OrderedDict(a=1)])).__name__,
            data.default_convert([1, (2, 'x'), {'a': Point(1, 2)}])]


@case
def functions_of_users():
    def collate(samples):
        return [sample['number'] for sample in samples]

    return [all_of(DataLoader(Squares(6), batch_size=4, collate_fn=collate, num_workers=workers)) for workers in WORKERS]


@case
def workers_draw():
    """Each worker has a seed of its own, made of one draw of the program."""
    seen = []
    for workers in (1, 2):
        torch.manual_seed(8)
        seen.append(all_of(DataLoader(Chance(), batch_size=2, num_workers=workers)))
    return seen, torch.rand(1)


@case
def workers_know():
    class Who(data.Dataset):
        def __len__(self):
            return 6

        def __getitem__(self, index):
            info = data.get_worker_info()
            return info.id, info.num_workers, info.seed, len(info.dataset), self.begun

    def begin(number):
        data.get_worker_info().dataset.begun = 10 + number

    torch.manual_seed(9)
    return all_of(DataLoader(Who(), batch_size=2, num_workers=2, worker_init_fn=begin)), data.get_worker_info()


@case
def workers_stay():
    torch.manual_seed(10)
    seen = []
    for dataset in (PAIRS, Count(7)):
        shuffle = dataset is PAIRS
        loader = DataLoader(dataset, batch_size=3, shuffle=shuffle, num_workers=2, persistent_workers=True)
        next(iter(loader))
        seen.append(all_of(loader, 3))
    return seen, torch.rand(1)


@case
def left_early():
    torch.manual_seed(11)
    for number, batch in enumerate(DataLoader(PAIRS, batch_size=2, shuffle=True, num_workers=2, prefetch_factor=3)):
        if number == 2:
            break
    return batch, torch.rand(1)


@case
def gradients_of_batches():
    torch.manual_seed(12)
    weight = torch.zeros(1, requires_grad=True)
    for number, double in DataLoader(PAIRS, batch_size=8, shuffle=True, num_workers=1):
        ((weight * number - double) ** 2).sum().backward()
    return weight.grad


class Broken(data.Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, index):
        if index == 2:
            raise {'key': KeyError('gone'), 'value': ValueError('bad')}[self.kind]
        return index


@case
def errors_of_datasets():
    seen = []
    for kind in ('key', 'value'):
        dataset = Broken()
        dataset.kind = kind
        seen += [error_of(lambda: list(DataLoader(dataset, num_workers=workers))) for workers in (0, 2)]
    return seen


@case
def refusals():
    def set_size():
        DataLoader(PAIRS).batch_size = 3

    return [error_of(call) for call in (
        lambda: DataLoader(PAIRS, num_workers=-1), lambda: DataLoader(PAIRS, timeout=-1),
        lambda: DataLoader(PAIRS, persistent_workers=True), lambda: DataLoader(PAIRS, batch_size=0),
        lambda: DataLoader(PAIRS, shuffle=True, sampler=[1]), lambda: DataLoader(PAIRS, batch_size=None, drop_last=True),
        lambda: DataLoader(PAIRS, batch_sampler=[[1]], batch_size=3), lambda: DataLoader(Count(3), shuffle=True),
        lambda: DataLoader(Count(3), batch_sampler=[[0]]), lambda: DataLoader(Count(3), sampler=[[0]]),
        lambda: DataLoader(PAIRS, multiprocessing_context='fork'), set_size, lambda: len(DataLoader(Count(3))),
        lambda: data.random_split(range(4), [1, 2]), lambda: data.random_split(range(4), [1.5, -0.5]),
        lambda: TensorDataset(torch.ones(2), torch.ones(3)), lambda: data.ConcatDataset([PAIRS])[-99],
        lambda: data.ConcatDataset([]), lambda: data.ConcatDataset([Count(2)]),
        lambda: data.default_collate([object()]).replace('object', ''), lambda: data.default_collate([[1], [1, 2]]),
        lambda: data.RandomSampler([]), lambda: data.BatchSampler([1], 0, False), lambda: data.BatchSampler([1], 2, 1),
        lambda: data.RandomSampler([1], replacement=1),
        lambda: list(DataLoader(PAIRS, batch_size=2, collate_fn=lambda samples: 1 / 0)))]


@case_since_2
def newer_texts():
    return warnings_of(lambda: list(DataLoader(PAIRS, pin_memory=True)))[:1], error_of(lambda: data.Dataset()[0])


@case_with('randint', 'Generator')
def with_replacement():
    torch.manual_seed(13)
    return [list(data.RandomSampler(range(7), replacement=True, num_samples=n)) for n in (5, 32, 70)], torch.rand(1)


@case_with('multinomial', 'as_tensor')
def weighted():
    torch.manual_seed(14)
    return [list(data.WeightedRandomSampler([0.1, 0.9, 0.4, 3.], n, replacement=again)) for n, again in
            ((4, False), (20, True))], torch.rand(1)


@case_with('Generator')
def generators():
    seen = []
    for workers in (0, 2):
        generator = torch.Generator()
        generator.manual_seed(15)
        loader = DataLoader(PAIRS, batch_size=5, shuffle=True, generator=generator, num_workers=workers)
        seen.append([all_of(loader), list(data.random_split(range(9), [4, 5], generator=generator)[0]),
                     list(data.SubsetRandomSampler(range(5), generator=generator))])
    return seen


if __name__ == '__main__':
    main()

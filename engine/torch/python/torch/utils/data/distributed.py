# SPDX-License-Identifier: LGPL-2.1-or-later
"""The sampler for one of several processes, each of which takes a part of the dataset."""
import math

from torch.utils.data import _chance as chance
from torch.utils.data.sampler import Sampler


class DistributedSampler(Sampler):
    """Every num_replicas-th index from the rank on. All processes have equally many."""

    def __init__(self, dataset, num_replicas=None, rank=None, shuffle=True, seed=0, drop_last=False):
        if num_replicas is None or rank is None:
            raise RuntimeError('Requires distributed package to be available')
        if rank >= num_replicas or rank < 0:
            raise ValueError(f'Invalid rank {rank}, rank should be in the interval [0, {num_replicas - 1}]')
        self.dataset, self.num_replicas, self.rank, self.epoch = dataset, num_replicas, rank, 0
        self.shuffle, self.seed, self.drop_last = shuffle, seed, drop_last
        n = len(dataset)
        left_out = n % num_replicas if drop_last else 0
        self.num_samples = math.ceil((n - left_out) / num_replicas)
        self.total_size = self.num_samples * num_replicas

    def _order(self):
        n = len(self.dataset)
        return chance.permutation(n, chance.generator_of(self.seed + self.epoch)) if self.shuffle else list(range(n))

    def __iter__(self):
        order = self._order()
        while len(order) < self.total_size:
            order += order[:self.total_size - len(order)]
        return iter(order[self.rank:self.total_size:self.num_replicas])

    def __len__(self):
        return self.num_samples

    def set_epoch(self, epoch):
        """Each epoch has an order of its own."""
        self.epoch = epoch

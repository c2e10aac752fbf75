# SPDX-License-Identifier: LGPL-2.1-or-later
"""Datasets, samplers and the loader that makes batches of them. A seed gives the same order as in PyTorch."""
from torch.utils.data import dataloader, dataset, distributed, sampler
from torch.utils.data._collate import default_collate, default_convert
from torch.utils.data.dataloader import DataLoader
from torch.utils.data.dataset import (ChainDataset, ConcatDataset, Dataset, IterableDataset, StackDataset, Subset,
                                      TensorDataset, random_split)
from torch.utils.data.distributed import DistributedSampler
from torch.utils.data.sampler import (BatchSampler, RandomSampler, Sampler, SequentialSampler, SubsetRandomSampler,
                                      WeightedRandomSampler)
from torch.utils.data._worker import get_worker_info

__all__ = ['BatchSampler', 'ChainDataset', 'ConcatDataset', 'DataLoader', 'Dataset', 'DistributedSampler',
           'IterableDataset', 'RandomSampler', 'Sampler', 'SequentialSampler', 'StackDataset', 'Subset',
           'SubsetRandomSampler', 'TensorDataset', 'WeightedRandomSampler', 'dataloader', 'dataset',
           'default_collate', 'default_convert', 'distributed', 'get_worker_info', 'random_split', 'sampler']

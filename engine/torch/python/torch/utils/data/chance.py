# SPDX-License-Identifier: LGPL-2.1-or-later
"""The random numbers of samplers. Each draw is PyTorch's, so that what follows in the program draws the same too."""
from torch import names


def generator_of(seed):
    """A new generator that begins with this seed."""
    return names.Generator().manual_seed(seed)


def draw_seed(generator=None):
    """63 random bits."""
    return int(names.empty((), dtype=names.int64).random_(generator=generator).item())


def permutation(n, generator=None):
    """0 .. n - 1 in a random order."""
    return names.randperm(n, generator=generator).tolist()


def choices(n, count, generator):
    """`count` random numbers below n."""
    return names.randint(high=n, size=(count,), dtype=names.int64, generator=generator).tolist()

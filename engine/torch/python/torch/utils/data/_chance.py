# SPDX-License-Identifier: LGPL-2.1-or-later
"""The random numbers of samplers. Each draw is PyTorch's, so that what follows in the program draws the same too."""
from torch import _names


def generator_of(seed):
    """A new generator that begins with this seed."""
    return _names.Generator().manual_seed(seed)


def draw_seed(generator=None):
    """63 random bits."""
    return int(_names.empty((), dtype=_names.int64).random_(generator=generator).item())


def permutation(n, generator=None):
    """0 .. n - 1 in a random order."""
    return _names.randperm(n, generator=generator).tolist()


def choices(n, count, generator):
    """`count` random numbers below n."""
    return _names.randint(high=n, size=(count,), dtype=_names.int64, generator=generator).tolist()

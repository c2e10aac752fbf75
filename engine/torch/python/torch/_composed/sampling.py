# SPDX-License-Identifier: LGPL-2.1-or-later
"""Random tensors."""
from torch import _C
from torch._C import Tensor
from torch._composed.table import function


@function
def randint(low=0, high=None, size=None, *, generator=None, dtype=None, **options):
    if high is None:
        low, high = 0, low
    elif size is None:
        low, high, size = 0, low, high
    if size is None:
        raise TypeError('randint() received an invalid combination of arguments')
    return _C.randint(int(low), int(high), size, generator=generator, dtype=dtype, **options)


@function
def randint_like(input, low=0, high=None, *, dtype=None, device=None, **options):
    if high is None:
        low, high = 0, low
    return _C.randint(int(low), int(high), input.shape, dtype=dtype or input.dtype, device=device or input.device,
                      **options)


@function
def normal(mean=0.0, std=1.0, size=None, *, generator=None, **options):
    """normal(mean, std): a tensor of them. normal(mean, std, size): of two numbers."""
    if size is not None:
        requires_grad = options.pop('requires_grad', False)
        return _C.empty(size, **options).normal_(mean, std, generator=generator).requires_grad_(requires_grad)
    of_tensors = {'mean' if isinstance(mean, Tensor) else 'mean_number': mean,
                  'std' if isinstance(std, Tensor) else 'std_number': std}
    return _C.normal_of(generator=generator, **of_tensors)

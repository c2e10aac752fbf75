# SPDX-License-Identifier: LGPL-2.1-or-later
"""Whether two values are equal in the sense of PyTorch's tests: shapes and dtypes equal, numbers within what rounding
explains. It compares Python's numbers, and so needs few operations of the engine that it judges."""
import collections.abc
import math

import torch

# (relative, absolute) by the last word of a dtype's name; what is not here must be equal.
TOLERANCES = {'float64': (1e-7, 1e-7), 'float32': (1.3e-6, 1e-5), 'float16': (1e-3, 1e-5), 'bfloat16': (1.6e-2, 1e-5),
              'complex128': (1e-7, 1e-7), 'complex64': (1.3e-6, 1e-5)}


def kind(tensor):
    return str(tensor.dtype).rpartition('.')[2]


def flat(value):
    """The numbers of a nested list."""
    return [number for one in value for number in flat(one)] if isinstance(value, list) else [value]


def numbers(tensor):
    tensor = tensor.detach()
    if tensor.layout != torch.strided:
        tensor = tensor.to_dense()
    return flat(tensor.tolist())


def close(a, b, rtol, atol):
    if a == b:
        return True
    if isinstance(a, complex) or isinstance(b, complex):
        a, b = complex(a), complex(b)
        if a != a or b != b:
            return all(close(x, y, rtol, atol) for x, y in ((a.real, b.real), (a.imag, b.imag)))
    if a != a or b != b:
        return a != a and b != b
    return not any(map(math.isinf, (abs(a), abs(b)))) and abs(a - b) <= atol + rtol * abs(b)


def tolerance(rtol, atol, *kinds):
    pairs = [TOLERANCES.get(kind, (0, 0)) for kind in kinds]
    return (max(pair[0] for pair in pairs) if rtol is None else rtol,
            max(pair[1] for pair in pairs) if atol is None else atol)


def tensors_differ(a, b, rtol, atol, exact_dtype):
    if a.shape != b.shape:
        return f'shapes {tuple(a.shape)} and {tuple(b.shape)}'
    if exact_dtype and a.dtype != b.dtype:
        return f'dtypes {a.dtype} and {b.dtype}'
    rtol, atol = tolerance(rtol, atol, kind(a), kind(b))
    for i, (x, y) in enumerate(zip(numbers(a), numbers(b))):
        if not close(x, y, rtol, atol):
            return f'element {i}: {x} and {y}'
    return None


def scalar_differs(tensor, number, rtol, atol):
    if tensor.numel() != 1:
        return f'a tensor of shape {tuple(tensor.shape)} and {number}'
    value = numbers(tensor)[0]
    same = close(value, number, *tolerance(rtol, atol, kind(tensor), 'float64' if isinstance(number, float) else 'int64'))
    return None if same else f'{value} and {number}'


def each_differs(pairs, **how):
    for name, x, y in pairs:
        what = differ(x, y, **how)
        if what:
            return f'at {name}: {what}'
    return None


def is_list(value):
    return isinstance(value, collections.abc.Sequence) and not isinstance(value, (str, bytes))


def differ(a, b, rtol=None, atol=None, exact_dtype=True):
    """None if equal; otherwise what differs."""
    how = {'rtol': rtol, 'atol': atol, 'exact_dtype': exact_dtype}
    if isinstance(a, torch.Tensor) and isinstance(b, torch.Tensor):
        return tensors_differ(a, b, rtol, atol, exact_dtype)
    for one, other in ((a, b), (b, a)):
        if isinstance(one, torch.Tensor) and isinstance(other, (int, float, complex)):
            return scalar_differs(one, other, rtol, atol)
        if isinstance(one, torch.Tensor) and is_list(other):
            return differ(list(one), list(other), **how)
    if isinstance(a, collections.abc.Mapping) and isinstance(b, collections.abc.Mapping):
        if set(a) != set(b):
            return f'keys {list(a)} and {list(b)}'
        return each_differs(((key, a[key], b[key]) for key in a), **how)
    if is_list(a) and is_list(b):
        if len(a) != len(b):
            return f'lengths {len(a)} and {len(b)}'
        return each_differs(((i, x, y) for i, (x, y) in enumerate(zip(a, b))), **how)
    if isinstance(a, (float, complex)) or isinstance(b, (float, complex)):
        numeric = isinstance(a, (int, float, complex)) and isinstance(b, (int, float, complex))
        return None if numeric and close(a, b, *tolerance(rtol, atol, 'float64')) else f'{a!r} and {b!r}'
    return None if a == b else f'{a!r} and {b!r}'

# SPDX-License-Identifier: LGPL-2.1-or-later
"""Comparing tensors in tests, and making some."""
import math

from torch import _C
from torch._C import Tensor

__all__ = ['assert_close', 'make_tensor']

# (relative, absolute) by dtype; what is not here must be equal.
_TOLERANCES = {'torch.float64': (1e-7, 1e-7), 'torch.float32': (1.3e-6, 1e-5), 'torch.float16': (1e-3, 1e-5),
               'torch.bfloat16': (1.6e-2, 1e-5), 'torch.complex128': (1e-7, 1e-7), 'torch.complex64': (1.3e-6, 1e-5)}


def _numbers(tensor):
    dense = tensor.to_dense() if tensor.is_sparse else tensor
    return dense.detach().reshape(-1).tolist()


def _of_number(number):
    return _C.tensor(number, dtype=_C.float64) if isinstance(number, float) else _C.tensor(number)


def _is_close(a, b, rtol, atol, equal_nan):
    if a == b:
        return True
    if a != a or b != b:
        return equal_nan and a != a and b != b
    return abs(a - b) <= atol + rtol * abs(b) and not math.isinf(abs(a))


def _attributes(tensor, checks):
    """What must be equal, by PyTorch's words for it."""
    strides = 'stride()' in checks and not tensor.is_sparse
    return {'shape': tensor.shape, **{name: getattr(tensor, name) for name in ('device', 'layout', 'dtype') if name in checks},
            **({'stride()': tensor.stride()} if strides else {})}


def _compare(actual, expected, rtol, atol, equal_nan, checks):
    theirs = _attributes(expected, checks)
    for name, ours in _attributes(actual, checks).items():
        if ours != theirs.get(name):
            return f"The values for attribute '{name}' do not match: {ours} != {theirs.get(name)}."
    pairs = list(zip(_numbers(actual), _numbers(expected)))
    wrong = [i for i, (a, b) in enumerate(pairs) if not _is_close(a, b, rtol, atol, equal_nan)]
    if not wrong:
        return None
    greatest = [_greatest(pairs, rtol, atol, actual.shape, is_relative) for is_relative in (False, True)]
    if actual.dim() == 0:
        a, b = pairs[0]
        differences = '\n'.join(line.removeprefix('Greatest ').capitalize() for line in greatest)
        return f'Scalars are not close!\n\nExpected {b} but got {a}.\n{differences}'
    share = 100 * len(wrong) / len(pairs)
    return (f'Tensor-likes are not close!\n\nMismatched elements: {len(wrong)} / {len(pairs)} ({share:.1f}%)\n'
            + '\n'.join(greatest))


def _greatest(pairs, rtol, atol, shape, is_relative):
    """The line about the largest difference, and where it is."""
    sizes = [abs(a - b) / (abs(b) if is_relative else 1) if b or not is_relative else math.inf if a else 0 for a, b in pairs]
    most = max(sizes)
    number, index = sizes.index(most), []
    for size in reversed(shape):
        number, place = divmod(number, size)
        index.insert(0, place)
    where = f' at index {tuple(index)}' if index else ''
    word, allowed = ('relative', rtol) if is_relative else ('absolute', atol)
    return f'Greatest {word} difference: {most}{where} (up to {allowed} allowed)'


def assert_close(actual, expected, *, allow_subclasses=True, rtol=None, atol=None, equal_nan=False, check_device=True,
                 check_dtype=True, check_layout=True, check_stride=False, msg=None):
    """Raises AssertionError if two tensors, numbers, or sequences or dicts of them are not close."""
    more = {'allow_subclasses': allow_subclasses, 'rtol': rtol, 'atol': atol, 'equal_nan': equal_nan,
            'check_device': check_device, 'check_dtype': check_dtype, 'check_layout': check_layout,
            'check_stride': check_stride, 'msg': msg}
    if isinstance(actual, (list, tuple)) and isinstance(expected, (list, tuple)):
        if len(actual) != len(expected):
            raise AssertionError(f'The length of the sequences mismatch: {len(actual)} != {len(expected)}')
        for a, b in zip(actual, expected):
            assert_close(a, b, **more)
        return
    if isinstance(actual, dict) and isinstance(expected, dict):
        if set(actual) != set(expected):
            raise AssertionError('The keys of the mappings do not match:\n'
                                 f'Missing keys in the actual mapping: {sorted(set(expected) - set(actual))}\n'
                                 f'Additional keys in the actual mapping: {sorted(set(actual) - set(expected))}')
        for key in actual:
            assert_close(actual[key], expected[key], **more)
        return
    actual, expected = (v if isinstance(v, Tensor) else _of_number(v) for v in (actual, expected))
    if not allow_subclasses and type(actual) is not type(expected):
        raise TypeError(f'Expected equal types, but got {type(actual)} and {type(expected)}')
    if (rtol is None) != (atol is None):
        raise ValueError(f"Both 'rtol' and 'atol' must be either specified or unspecified, but got rtol={rtol} and "
                         f'atol={atol} instead.')
    if rtol is None:
        pairs = [_TOLERANCES.get(str(t.dtype), (0.0, 0.0)) for t in (actual, expected)]
        rtol, atol = max(p[0] for p in pairs), max(p[1] for p in pairs)
    asked = {'device': check_device, 'layout': check_layout, 'dtype': check_dtype, 'stride()': check_stride}
    problem = _compare(actual, expected, rtol, atol, equal_nan, {name for name, is_asked in asked.items() if is_asked})
    if problem:
        raise AssertionError(msg(problem) if callable(msg) else msg or problem)


def make_tensor(*shape, dtype, device, low=None, high=None, requires_grad=False, noncontiguous=False,
                exclude_zero=False):
    """A tensor of random numbers from low to high: from -9 to 9, if nobody says otherwise."""
    shape = tuple(shape[0]) if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
    low, high = -9 if low is None else low, 9 if high is None else high
    width = 2 * shape[-1] if noncontiguous and shape else None
    whole = (*shape[:-1], width) if width else shape
    floats = _C.rand(whole, dtype=_C.float64) * (high - low) + low
    result = floats.to(dtype)
    if dtype in (_C.complex64, _C.complex128):
        result = result + (_C.rand(whole, dtype=_C.float64) * (high - low) + low).to(dtype) * 1j
    if width:
        result = result[..., ::2]
    if exclude_zero:
        result = result.masked_fill(result == 0, 1)
    return result.to(device).requires_grad_(requires_grad)

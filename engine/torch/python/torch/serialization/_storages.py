# SPDX-License-Identifier: LGPL-2.1-or-later
"""The names that storages have in files: one for each dtype."""
from torch import _C

_WORDS = {'float64': 'Double', 'float32': 'Float', 'float16': 'Half', 'bfloat16': 'BFloat16', 'int64': 'Long',
          'int32': 'Int', 'int16': 'Short', 'int8': 'Char', 'uint8': 'Byte', 'bool': 'Bool', 'complex64': 'ComplexFloat',
          'complex128': 'ComplexDouble'}


class Kind:
    """A class of storages in a file, torch.FloatStorage. Its dtype is None if the engine does not know that dtype."""

    def __init__(self, name, dtype):
        self.name, self.dtype = name, dtype


KINDS = {f'{word}Storage': Kind(f'{word}Storage', getattr(_C, dtype, None)) for dtype, word in _WORDS.items()}
OF_DTYPE = {kind.dtype: kind for kind in KINDS.values() if kind.dtype is not None}
UNTYPED = Kind('UntypedStorage', None)

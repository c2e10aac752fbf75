# SPDX-License-Identifier: LGPL-2.1-or-later
"""What error texts call the type of an object."""
from torch import _C
from torch._C import Tensor


def typename(obj):
    """'torch.FloatTensor', 'int', 'module.Class'. A class has its own name."""
    if isinstance(obj, Tensor):
        return f'torch.{_C.scalar_type(obj.dtype)}Tensor'
    named = obj if hasattr(obj, '__qualname__') else type(obj)
    module = getattr(named, '__module__', '') or ''
    return named.__qualname__ if module in ('', 'builtins') else f'{module}.{named.__qualname__}'

# SPDX-License-Identifier: LGPL-2.1-or-later
"""How tensors print."""
import math

from torch import _C
from torch._composed.table import function

_DEFAULTS = {'precision': 4, 'threshold': 1000, 'edgeitems': 3, 'linewidth': 80}
_PROFILES = {'default': _DEFAULTS, 'short': {**_DEFAULTS, 'precision': 2, 'edgeitems': 2},
             'full': {**_DEFAULTS, 'threshold': math.inf}}
_now = dict(_DEFAULTS)


@function
def set_printoptions(precision=None, threshold=None, edgeitems=None, linewidth=None, profile=None, sci_mode=None):
    if profile is not None:
        _now.update(_PROFILES[profile])
    given = {'precision': precision, 'threshold': threshold, 'edgeitems': edgeitems, 'linewidth': linewidth}
    _now.update({name: value for name, value in given.items() if value is not None})
    most = 2 ** 31 - 1
    _C.set_printoptions(*(int(min(_now[name], most)) for name in _DEFAULTS), -1 if sci_mode is None else int(sci_mode))

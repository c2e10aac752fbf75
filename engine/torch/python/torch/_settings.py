# SPDX-License-Identifier: LGPL-2.1-or-later
"""Switches of PyTorch that change nothing here. Whoever sets one can read it back."""
__all__ = ['are_deterministic_algorithms_enabled', 'get_float32_matmul_precision', 'set_float32_matmul_precision',
           'use_deterministic_algorithms']

_set = {'precision': 'highest', 'deterministic': False}


def set_float32_matmul_precision(precision):
    """Products of float32 always have all their bits."""
    if precision not in ('highest', 'high', 'medium'):
        raise RuntimeError(f'float32 matmul precision must be one of highest, high, medium. Got {precision}')
    _set['precision'] = precision


def get_float32_matmul_precision():
    return _set['precision']


def use_deterministic_algorithms(mode, *, warn_only=False):
    """All operations are deterministic anyway."""
    _set['deterministic'] = bool(mode)


def are_deterministic_algorithms_enabled():
    return _set['deterministic']

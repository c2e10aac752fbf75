# SPDX-License-Identifier: LGPL-2.1-or-later
"""Anomaly mode: a NaN ends the backward pass."""
from tapedeck import _C
from tapedeck.autograd.grad_mode import Mode

__all__ = ['detect_anomaly', 'set_detect_anomaly']


class set_detect_anomaly(Mode):
    """Makes a NaN end the backward pass with an error. Not while a pass runs."""
    _get, _set = staticmethod(_C.is_anomaly_enabled), staticmethod(_C.set_anomaly)

    def __init__(self, mode, check_nan=True):
        self._wanted = mode and check_nan
        self._before = self._get()
        self._set(self._wanted)

    def __enter__(self):
        return self

    def clone(self):
        return set_detect_anomaly(self._wanted)


class detect_anomaly(set_detect_anomaly):
    def __init__(self, check_nan=True):
        super().__init__(True, check_nan)

    def clone(self):
        return detect_anomaly(self._wanted)

# SPDX-License-Identifier: LGPL-2.1-or-later
"""torch.backends.mps: there are no such devices."""


def is_available():
    return False


def is_built():
    return False

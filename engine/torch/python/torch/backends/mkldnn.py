# SPDX-License-Identifier: LGPL-2.1-or-later
"""torch.backends.mkldnn: the engine computes without it."""


def is_available():
    return False


enabled = False

# SPDX-License-Identifier: LGPL-2.1-or-later
"""What is useful beside the engine."""
from torch.utils import checkpoint, data

__all__ = ['checkpoint', 'data']

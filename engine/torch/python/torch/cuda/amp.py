# SPDX-License-Identifier: LGPL-2.1-or-later
"""torch.cuda.amp: the older names of torch.amp."""
from torch.amp import GradScaler as _GradScaler, autocast as _autocast, custom_bwd, custom_fwd

__all__ = ['GradScaler', 'autocast', 'custom_bwd', 'custom_fwd']


class autocast(_autocast):
    def __init__(self, enabled=True, dtype=None, cache_enabled=True):
        super().__init__('cuda', dtype=dtype, enabled=enabled, cache_enabled=cache_enabled)


class GradScaler(_GradScaler):
    def __init__(self, init_scale=2.**16, growth_factor=2., backoff_factor=0.5, growth_interval=2000, enabled=True):
        super().__init__('cuda', init_scale, growth_factor, backoff_factor, growth_interval, enabled)

# SPDX-License-Identifier: LGPL-2.1-or-later
"""Names below torch._C that programs use although they are PyTorch's own affair."""
import types
import weakref

from torch import _C
from torch.autograd import forward_ad
from torch._composed import reducing

__all__ = ['install']


class WeakTensorRef:
    """Tells whether a tensor is gone."""

    def __init__(self, tensor):
        self._reference = weakref.ref(tensor)

    def expired(self):
        return self._reference() is None


VF = types.SimpleNamespace(unique_dim=reducing.unique_dim)  # torch._VF: functions that torch itself has no name for


def _hooks_enabled():
    return not _C._saved_tensors_hooks_disabled()


def install():
    """Adds the names to _C."""
    autograd = types.ModuleType('torch._C._autograd', 'What is below torch.autograd.')
    autograd.SavedTensor = _C.SavedTensor
    autograd._saved_tensors_hooks_is_enabled = _hooks_enabled
    autograd._get_current_graph_task_keep_graph = _C._current_graph_task_keep_graph
    _C._set_fwd_grad_enabled = forward_ad._set_fwd_grad_enabled._set
    _C._autograd, _C._WeakTensorRef = autograd, WeakTensorRef

# SPDX-License-Identifier: LGPL-2.1-or-later
"""The loss of connectionist temporal classification."""
import math

from torch import _C
from torch._refused import checked


def _lengths(lengths):
    return lengths.reshape(-1).to(_C.int64) if isinstance(lengths, _C.Tensor) else _C.tensor(list(lengths), dtype=_C.int64)


@checked
def ctc_loss(log_probs, targets, input_lengths, target_lengths, blank=0, reduction='mean', zero_infinity=False):
    """log_probs is [time, batch, classes], or of one sequence [time, classes]."""
    alone = log_probs.dim() == 2
    batch = log_probs.unsqueeze(1) if alone else log_probs
    lengths = _lengths(target_lengths)
    losses = _C.ctc_loss(batch, targets.to(_C.int64), _lengths(input_lengths), lengths, blank, zero_infinity)
    if zero_infinity:
        losses = _C.where(losses == math.inf, _C.zeros((), dtype=losses.dtype), losses)
    if reduction == 'mean':
        return (losses / lengths.clamp(min=1).to(losses.dtype)).mean()
    return losses.sum() if reduction == 'sum' else losses.squeeze(0) if alone else losses

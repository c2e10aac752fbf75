# SPDX-License-Identifier: LGPL-2.1-or-later
"""torch.backends.cuda. Whoever sets a switch can read it back."""
import types

matmul = types.SimpleNamespace(allow_tf32=False, allow_fp16_reduced_precision_reduction=True,
                               allow_bf16_reduced_precision_reduction=True)


def is_built():
    from torch import cuda
    return cuda.is_available()

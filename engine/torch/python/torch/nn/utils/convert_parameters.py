# SPDX-License-Identifier: LGPL-2.1-or-later
"""All parameters as one vector."""
from torch import _C
from torch._C import Tensor
from torch._typename import typename


def parameters_to_vector(parameters):
    return _C.cat([p.view(-1) for p in parameters])


def vector_to_parameters(vec, parameters):
    """Consecutive pieces of vec become the data of the parameters."""
    if not isinstance(vec, Tensor):
        raise TypeError(f'expected torch.Tensor, but got: {typename(vec)}')
    at = 0
    for p in parameters:
        p.data = vec[at:at + p.numel()].view_as(p).data
        at += p.numel()

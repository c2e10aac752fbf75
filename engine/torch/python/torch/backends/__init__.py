# SPDX-License-Identifier: LGPL-2.1-or-later
"""torch.backends: switches of libraries that PyTorch computes with. Here they change nothing."""
from torch.backends import cuda, cudnn, mkl, mkldnn, mps, openmp, opt_einsum

__all__ = ['cuda', 'cudnn', 'mkl', 'mkldnn', 'mps', 'openmp', 'opt_einsum']

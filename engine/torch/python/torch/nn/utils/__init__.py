# SPDX-License-Identifier: LGPL-2.1-or-later
"""Functions of training loops, for all parameters at once; and sequences of several lengths."""
from torch.nn.utils import rnn
from torch.nn.utils.clip_grad import (clip_grad_norm, clip_grad_norm_, clip_grad_value_, clip_grads_with_norm_,
                                      get_total_norm)
from torch.nn.utils.convert_parameters import parameters_to_vector, vector_to_parameters

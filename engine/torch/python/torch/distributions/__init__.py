# SPDX-License-Identifier: LGPL-2.1-or-later
"""Distributions: samples, their probabilities, and gradients through both. A seed gives PyTorch's samples."""
from torch.distributions import constraints, kl
from torch.distributions.bernoulli import Bernoulli
from torch.distributions.categorical import Categorical
from torch.distributions.distribution import Distribution
from torch.distributions.independent import Independent
from torch.distributions.kl import kl_divergence, register_kl
from torch.distributions.normal import Normal
from torch.distributions.uniform import Uniform

__all__ = ['Bernoulli', 'Categorical', 'Distribution', 'Independent', 'Normal', 'Uniform', 'constraints', 'kl',
           'kl_divergence', 'register_kl']

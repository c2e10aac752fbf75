# SPDX-License-Identifier: LGPL-2.1-or-later
"""Distributions: samples, their probabilities, and gradients through both. A seed gives PyTorch's samples."""
from tapedeck.distributions import constraints, kl
from tapedeck.distributions.bernoulli import Bernoulli
from tapedeck.distributions.categorical import Categorical
from tapedeck.distributions.distribution import Distribution
from tapedeck.distributions.independent import Independent
from tapedeck.distributions.kl import kl_divergence, register_kl
from tapedeck.distributions.normal import Normal
from tapedeck.distributions.uniform import Uniform

__all__ = ['Bernoulli', 'Categorical', 'Distribution', 'Independent', 'Normal', 'Uniform', 'constraints', 'kl',
           'kl_divergence', 'register_kl']

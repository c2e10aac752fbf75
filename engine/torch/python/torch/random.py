# SPDX-License-Identifier: LGPL-2.1-or-later
"""torch.random: generators of random numbers."""
import contextlib

from torch._C import default_generator, Generator

__all__ = ['default_generator', 'fork_rng', 'Generator', 'get_rng_state', 'initial_seed', 'manual_seed', 'seed',
           'set_rng_state']


def manual_seed(seed):
    """Restarts the default generator, and returns it."""
    return default_generator.manual_seed(int(seed))


def seed():
    """Restarts the default generator with a seed that nobody can foresee, and returns the seed."""
    return default_generator.seed()


def initial_seed():
    return default_generator.initial_seed()


def get_rng_state():
    """Where the default generator is, as a tensor of bytes."""
    return default_generator.get_state()


def set_rng_state(new_state):
    """Goes back to where get_rng_state() was called."""
    default_generator.set_state(new_state)


@contextlib.contextmanager
def fork_rng(devices=None, enabled=True, _caller='fork_rng', _devices_kw='devices', device_type='cuda'):
    """At the end, the default generator is where it was before."""
    before = default_generator._get_bytes()
    try:
        yield
    finally:
        if enabled:
            default_generator._set_bytes(before)

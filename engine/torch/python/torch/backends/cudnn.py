# SPDX-License-Identifier: LGPL-2.1-or-later
"""torch.backends.cudnn. Whoever sets a switch can read it back."""
import contextlib

enabled, benchmark, deterministic, allow_tf32, benchmark_limit = True, False, False, True, 10


def is_available():
    return False


def version():
    return None


@contextlib.contextmanager
def flags(enabled=False, benchmark=False, benchmark_limit=10, deterministic=False, allow_tf32=True):
    """A context with other switches."""
    wanted, switches = dict(locals()), globals()
    earlier = {name: switches[name] for name in wanted}
    switches.update(wanted)
    try:
        yield
    finally:
        switches.update(earlier)

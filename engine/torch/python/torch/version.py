# SPDX-License-Identifier: LGPL-2.1-or-later
"""torch.version. In a script of `tapedeck run`, the version is that of the PyTorch whose semantics hold."""
__version__ = '2.15.0+tapedeck'

cuda = hip = xpu = None
debug, git_version = False, 'Unknown'

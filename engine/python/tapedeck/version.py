# SPDX-License-Identifier: LGPL-2.1-or-later
"""torch.version. In a script of `tapedeck run`, the version is that of the PyTorch whose semantics hold."""
from tapedeck._C import version as __version__

cuda = hip = xpu = None
debug, git_version = False, 'Unknown'

# SPDX-License-Identifier: LGPL-2.1-or-later
"""The other side of `tapedeck run --beside PYTHON`: runs a script on the real PyTorch as Tapedeck's engine runs it, with the
same seed and on one thread. It imports nothing of Tapedeck.

    PYTHON seeded.py SEED SCRIPT [ARGS...]
"""
import os
import runpy
import sys

seed = int(sys.argv[1])
del sys.argv[:2]
sys.path[0] = os.path.dirname(os.path.realpath(sys.argv[0]))
import torch  # noqa: E402 (not from this file's folder)

torch.manual_seed(seed)
torch.set_num_threads(1)
runpy.run_path(sys.argv[0], run_name='__main__')

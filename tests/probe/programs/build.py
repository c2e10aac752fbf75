# SPDX-License-Identifier: LGPL-2.1-or-later
"""build.py SOURCE.cpp OUT.so: compiles one of this folder's C++ files against the PyTorch of the Python that runs it."""
import os
import subprocess
import sys

import torch

PACKAGE = os.path.dirname(torch.__file__)
INCLUDE = next(path for path in (os.path.join(PACKAGE, 'include'), '/usr/include') if os.path.isdir(path))


def command(source, out):
    abi = int(torch._C._GLIBCXX_USE_CXX11_ABI)
    standard = '17' if torch.__version__.startswith('1.') else '20'
    return ['c++', '-shared', '-fPIC', '-O0', '-w', '-DNDEBUG', f'-std=gnu++{standard}', f'-D_GLIBCXX_USE_CXX11_ABI={abi}',
            '-isystem', INCLUDE, '-isystem', os.path.join(INCLUDE, 'torch/csrc/api/include'), source, '-o', out,
            '-L' + os.path.join(PACKAGE, 'lib'), '-ltorch_cpu', '-lc10']


def main(source, out):
    temporary = f'{out}.{os.getpid()}'
    subprocess.run(command(source, temporary), check=True)
    os.replace(temporary, out)


if __name__ == '__main__':
    main(*sys.argv[1:])

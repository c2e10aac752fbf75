#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes a PyTorch with CUDA importable without CUDA's large libraries: 1.2 GB in place of 5 GB.

    stand_ins.py FOLDER      FOLDER is a virtual environment with `pip install --no-deps torch==VERSION`

Each library that is missing gets a stand-in of its name, which has its symbols and does nothing. Only the CPU can be used
then. libcudart and libcupti, a few megabytes, must be real: the packages nvidia-cuda-runtime and nvidia-cuda-cupti.
"""
import collections
import pathlib
import re
import subprocess
import sys
import tempfile

MISSING = re.compile(r'Shared library: \[(lib(?:cublas|cublasLt|cudnn|cufft|cufile|cusparse|cusparseLt|nccl|nvrtc|nvshmem_host)'
                     r'\.so\S*)\]')
VERSIONS = {'libnvshmem_host': 'NVSHMEM'}  # the others have their own name, or none
LOADED = ('libtorch_cuda.so', 'libtorch_nvshmem.so', 'libtorch_python.so')


def output(*command):
    return subprocess.run(command, text=True, capture_output=True, check=True).stdout


def wanted(folder):
    """({library}, {version: its symbols}) that PyTorch's libraries need of others."""
    libraries, symbols = set(), collections.defaultdict(set)
    for path in map(str, (folder / name for name in LOADED if (folder / name).exists())):
        libraries |= set(MISSING.findall(output('readelf', '-d', path)))
        for line in output('readelf', '-W', '--dyn-syms', path).splitlines():
            words = line.split()
            if len(words) > 7 and words[6] == 'UND':
                name, _, version = words[7].partition('@')
                symbols[version].add(name)
    return libraries, symbols


def make(library, symbols, folder):
    stem = library.partition('.')[0]
    version = VERSIONS.get(stem, library)
    names = symbols.get(version) or {name for name in symbols[''] if name.lower().startswith(stem[3:].lower())}
    with tempfile.TemporaryDirectory() as work:
        source, script = pathlib.Path(work, 'x.c'), pathlib.Path(work, 'x.map')
        source.write_text(''.join(f'long {name}[64];\n' for name in sorted(names)), encoding='utf-8')
        script.write_text(f'{version} {{ *; }};\n', encoding='utf-8')
        options = [f'-Wl,--version-script={script}'] if symbols.get(version) else []
        output('cc', '-shared', '-nostdlib', '-fPIC', '-w', f'-Wl,-soname,{library}', *options, '-o', str(folder / library),
               str(source))


def main(environment):
    torch, = pathlib.Path(environment).glob('lib/python3*/site-packages/torch')
    folder = torch.parent / 'nvidia' / 'cu13' / 'lib'
    folder.mkdir(parents=True, exist_ok=True)
    libraries, symbols = wanted(torch / 'lib')
    for library in sorted(libraries):
        if not (folder / library).exists():
            make(library, symbols, folder)
            print(library)


if __name__ == '__main__':
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])

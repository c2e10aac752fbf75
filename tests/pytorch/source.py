# SPDX-License-Identifier: LGPL-2.1-or-later
"""PyTorch's own tests. None of their text is in this repository: they are fetched when somebody runs them.

Debian's source package of PyTorch has them. apt-helper downloads it from the mirror that this machine's apt uses, and
checks its sum. The few files that tests need stay in build/pytorch-tests. TAPEDECK_PYTORCH_TESTS names a folder that has
them already, the folder `test` of PyTorch 2.6.0.
"""
import hashlib
import os
import subprocess
import tarfile
import tempfile

SOURCE = os.environ.get('SOURCE_ROOT', os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
KEPT = os.path.join(SOURCE, 'build', 'pytorch-tests')
VERSION = '2.6.0'
PACKAGE = 'pool/main/p/pytorch/pytorch_2.6.0%2bdfsg.orig.tar.xz'
PACKAGE_SUM = '099a9601bc40d67656e75735c44abedb0fbe92d08817852ab7472eebb7e6ddff'
FILES = {'test_autograd.py': 'a8daf1cb687dad29cc1633c222465a9faecdf2073e137195a32d6d795db033c1',
         'autograd/test_complex.py': '97ecebcdc764a752b0964aede4e85b08371e60c0dc7f211dd592f5814fe237fd',
         'autograd/test_functional.py': 'c18286cdf06915836501ed05c9dd05c1e1c5442bc71f7de230352a28fc557cef'}
EXPECTED = 'expect/TestAutograd.'


class Absent(Exception):
    """The tests cannot be had. The text says why."""


def problem_of(folder):
    """Why this folder is not what it should be, or None."""
    for name, wanted in FILES.items():
        path = os.path.join(folder, name)
        if not os.path.exists(path):
            return f'{path} is missing'
        with open(path, 'rb') as file:
            if hashlib.sha256(file.read()).hexdigest() != wanted:
                return f'{path} is not that of PyTorch {VERSION}'
    return None


def mirrors():
    """The addresses of Debian's archive that apt uses here."""
    try:
        done = subprocess.run(['apt-get', 'indextargets', '--format', '$(SITE)', 'Created-By: Packages', 'Origin: Debian'],
                              text=True, capture_output=True, timeout=60)
    except OSError:
        return []
    return list(dict.fromkeys(done.stdout.split()))


def download(path):
    """Downloads the package to this path, from the first mirror that has it."""
    sites = mirrors()
    why = "apt knows no mirror of Debian here"
    for site in sites:
        command = ['/usr/lib/apt/apt-helper', '-o', 'APT::Sandbox::User=root', 'download-file', f'{site}/{PACKAGE}', path,
                   'SHA256:' + PACKAGE_SUM]
        try:
            done = subprocess.run(command, text=True, capture_output=True, timeout=300)
        except (OSError, subprocess.TimeoutExpired) as problem:
            raise Absent(str(problem)) from problem
        if done.returncode == 0:
            return
        why = (done.stderr or done.stdout).strip().replace('\n', ' ')
    raise Absent(why)


def unpack(package, folder):
    """Writes the files that tests need into the folder."""
    with tarfile.open(package) as tar:
        for member in tar:
            name = member.name.partition('/test/')[2]
            if member.isfile() and (name in FILES or name.startswith(EXPECTED)):
                path = os.path.join(folder, name)
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, 'wb') as file:
                    file.write(tar.extractfile(member).read())


def find():
    """The folder with the tests. Raises Absent if there is none and none can be fetched."""
    given = os.environ.get('TAPEDECK_PYTORCH_TESTS')
    if given:
        problem = problem_of(given)
        if problem:
            raise Absent(problem)
        return given
    if problem_of(KEPT):
        os.makedirs(KEPT, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=KEPT) as folder:
            package = os.path.join(folder, 'package.tar.xz')
            download(package)
            unpack(package, KEPT)
    problem = problem_of(KEPT)
    if problem:
        raise Absent(problem)
    return KEPT

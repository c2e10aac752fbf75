#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs another test of the Python module in a build with the address or the thread sanitizer.

    BUILD_ROOT=build-tsan sanitized.py SCRIPT [ARGUMENT...]

Python itself has no sanitizer, so the sanitizer's runtime is preloaded, and Python allocates with malloc. A script must
pass, and no process may leave a report of an error, a race or undefined behaviour. A leak counts if a function of the
engine is on its stack. The others are CPython's: it keeps the locks of threads when a process ends.

The thread sanitizer sees Python's threads and the GIL: it intercepts the functions of pthread that they are made of.
"""
import glob
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.path.abspath(os.environ["BUILD_ROOT"])
MODULE = glob.glob(os.path.join(BUILD, "engine", "torch", "python", "torch", "_C.*.so"))[0]


def runtime():
    """The sanitizer's runtime that the module wants, or None."""
    listed = subprocess.run(["ldd", MODULE], capture_output=True, text=True, check=True).stdout
    found = re.search(r"lib[at]san\S* => (\S+)", listed)
    return found and found[1]


def environment(library, reports):
    # One thread in BLAS: it has no sanitizer, so how its threads wait for each other is not seen.
    return os.environ | {
        "BUILD_ROOT": BUILD, "TEST_PYTHONS": "",  # no PyTorch: it does not run with this runtime
        "LD_PRELOAD": library, "PYTHONMALLOC": "malloc", "OPENBLAS_NUM_THREADS": "1",
        "ASAN_OPTIONS": f"log_path={reports}:detect_stack_use_after_return=1:allocator_may_return_null=1",
        "UBSAN_OPTIONS": f"log_path={reports}:halt_on_error=1:print_stacktrace=1",
        "TSAN_OPTIONS": f"log_path={reports}:halt_on_error=1:second_deadlock_stack=1",
        "LSAN_OPTIONS": "exitcode=0:max_leaks=0"}


def problems(reports):
    for path in sorted(glob.glob(reports + ".*")):
        with open(path, encoding="utf-8", errors="replace") as file:
            text = file.read()
        if "LeakSanitizer" not in text:
            yield text
        yield from (leak for leak in text.split("\n\n") if "leak of" in leak and "/engine/" in leak)


def main(script, arguments):
    library = runtime()
    if not library:
        print("the Python module has no sanitizer in this build")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        reports = os.path.join(folder, "report")
        done = subprocess.run([sys.executable, os.path.join(HERE, "..", script), *arguments],
                              env=environment(library, reports))
        found = list(problems(reports))
    for problem in found:
        print(problem, file=sys.stderr)
    print(f"{script}: status {done.returncode}, {len(found)} reports")
    return 1 if done.returncode or found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))

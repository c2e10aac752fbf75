# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs other tests of the Python module in a build with the address sanitizer.

    sanitized.py SCRIPT...

Python itself has no sanitizer, so the sanitizer's runtime is preloaded, and Python allocates with malloc. A script must
pass, and no process may leave a report of an error or of undefined behaviour. A leak counts if a function of the engine
is on its stack. The others are CPython's: it keeps the locks of threads when a process ends.
"""
import glob
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
MODULE = glob.glob(os.path.join(os.environ["BUILD_ROOT"], "engine", "python", "tapedeck", "_C.*.so"))[0]


def runtime():
    """The sanitizer's runtime that the module wants, or None."""
    listed = subprocess.run(["ldd", MODULE], capture_output=True, text=True, check=True).stdout
    found = re.search(r"libasan\S* => (\S+)", listed)
    return found and found[1]


def problems(reports):
    for path in sorted(glob.glob(reports + ".*")):
        with open(path, encoding="utf-8", errors="replace") as file:
            text = file.read()
        if "LeakSanitizer" not in text:
            yield text
        yield from (leak for leak in text.split("\n\n") if "leak of" in leak and "/engine/" in leak)


def main(scripts):
    library = runtime()
    if not library:
        print("the Python module has no address sanitizer in this build")
        return 77
    failed = False
    for script in scripts:
        with tempfile.TemporaryDirectory() as folder:
            reports = os.path.join(folder, "report")
            environment = os.environ | {
                "LD_PRELOAD": library, "PYTHONMALLOC": "malloc",
                "ASAN_OPTIONS": f"log_path={reports}:detect_stack_use_after_return=1:allocator_may_return_null=1",
                "UBSAN_OPTIONS": f"log_path={reports}:halt_on_error=1:print_stacktrace=1",
                "LSAN_OPTIONS": "exitcode=0:max_leaks=0"}
            done = subprocess.run([sys.executable, os.path.join(HERE, "..", script)], env=environment)
            found = list(problems(reports))
        for problem in found:
            print(problem, file=sys.stderr)
        print(f"{script}: status {done.returncode}, {len(found)} reports")
        failed = failed or done.returncode != 0 or bool(found)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

# SPDX-License-Identifier: LGPL-2.1-or-later
"""The script of test_memory.py: runs an example again and again, as the body of a loop, and prints how the memory grew.

    memory_steps.py EXAMPLE TIMES SECONDS

Prints the number of runs, and how much more KB the resident set has in the last quarter of them than in the second one:
of its own pages, and of pages that are shared, as those of the recorder's rings are.
"""
import contextlib
import gc
import io
import sys
import time
import warnings


def resident():
    with open('/proc/self/statm') as file:
        _, pages, shared, *_ = map(int, file.read().split())
    return (pages - shared) * 4, shared * 4


def run(code, names):
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        try:
            exec(code, names)
        except RuntimeError:
            pass  # some examples fail on purpose


def main(path, times, seconds):
    warnings.simplefilter('ignore')
    sys.argv = [path]
    with open(path) as file:
        code, names, sizes = compile(file.read(), path, 'exec'), {'__name__': '__main__', '__file__': path}, []
    end = time.monotonic() + float(seconds)
    run(code, names)
    gc.collect()
    gc.freeze()  # the modules: to look through them takes longer than most examples
    runs = 0
    while runs < int(times) and (time.monotonic() < end or runs < 32):
        run(code, names)
        gc.collect()
        runs += 1
        if runs % 4 == 0:
            time.sleep(0.3 if 'threading' in names else 0)  # threads and the recorder free theirs a little later
            sizes.append(resident())
    part = len(sizes) // 4
    print(runs, *(min(kind[-part:]) - min(kind[part:2 * part]) for kind in zip(*sizes)))


main(*sys.argv[1:])

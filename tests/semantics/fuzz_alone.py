# SPDX-License-Identifier: LGPL-2.1-or-later
"""Random programs (fuzz_programs.py) and the saved ones on Tapedeck alone, for the sanitizers: each process must end well,
and its tape must keep the engine's rules. python/sanitized.py runs this and reads the sanitizers' reports.

    fuzz_alone.py [--seed N] [--count N]   programs N, N + 1, ...
    fuzz_alone.py --concurrent             programs whose threads share a graph, on two simulated devices
    fuzz_alone.py --semantics 1.11

Without --semantics, the batches take turns. A program that killed its process is named by its seed.
"""
import argparse
import os
import sys
import time

import fuzz
import fuzz_programs

BATCH = 25  # programs of one process
DEVICES = {True: ['cpu,sim:2,virtual', 'cpu,sim:2'], False: ['cpu']}  # by whether the programs are concurrent

TRIED = {True: 'random programs of threads', False: 'random programs'}


def sanitizer():
    """The one that python/sanitized.py has preloaded."""
    preloaded = os.environ.get('LD_PRELOAD', '')
    return 'thread' if 'tsan' in preloaded else 'address' if 'asan' in preloaded else 'absent'


class Runner(fuzz.Runner):
    """A runner that compares nothing: of a tape, it asks for the rules alone."""

    def read_tape(self, tape, status, found):
        if status == 0:
            self.check(tape)


def batches(arguments):
    """[(semantics, devices, programs)]; the saved programs come first."""
    make = fuzz_programs.concurrent if arguments.concurrent else fuzz_programs.program
    programs = [] if arguments.concurrent else fuzz.saved_programs()
    programs += [make(seed) for seed in range(arguments.seed, arguments.seed + arguments.count)]
    programs = [{**program, 'number': number} for number, program in enumerate(programs)]
    starts = range(0, len(programs), BATCH)
    turns = [(semantics, devices) for semantics in ([arguments.semantics] if arguments.semantics else ['2.15', '1.11'])
             for devices in DEVICES[arguments.concurrent]]
    return [(*turns[i % len(turns)], programs[start:start + BATCH]) for i, start in enumerate(starts)]


def run(semantics, devices, programs):
    """What went wrong in a batch: a list of texts."""
    runner = Runner('tapedeck', semantics, devices)
    found = runner.run(programs)
    names = {program['number']: program.get('name') or f'seed {program["seed"]}' for program in programs}
    how = f'--semantics {semantics} --devices {devices}'
    return runner.problems + [f'{names[number]} {how}: {result["failed"]}\n{result.get("stderr", "")}'
                              for number, result in found.items() if 'failed' in result]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--count', type=int, default=2000)
    parser.add_argument('--concurrent', action='store_true')
    parser.add_argument('--semantics', choices=['2.15', '2.13', '1.11'])
    arguments = parser.parse_args()
    began, listed = time.monotonic(), batches(arguments)
    problems = [text for batch in listed for text in run(*batch)]
    print('\n'.join(problems))
    n_programs = sum(len(programs) for *_, programs in listed)
    print(f'tried {TRIED[arguments.concurrent]} under the {sanitizer()} sanitizer: {n_programs}, {len(problems)} failed, '
          f'{time.monotonic() - began:.0f} s')
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main())

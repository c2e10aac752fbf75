#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Records programs that do nothing wrong: the scripts of learners, and the examples without a mistake. Prints each finding, with the
program, and ends with 1 if there is any.

    tests/cases/sound.py [NAME...]"""
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(SOURCE, 'tests', 'fixtures'))
import together  # noqa: E402
import torches  # noqa: E402

TAPEDECK = os.environ.get('TAPEDECK', os.path.join(SOURCE, 'build', 'app', 'tapedeck'))
LEARNERS, EXAMPLES = os.path.join(SOURCE, 'tests', 'learners'), os.path.join(SOURCE, 'resources', 'examples')
# Examples whose mistake is what they show, or that need simulated devices.
WRONG = {'aliasing_2017', 'contention', 'ddp', 'deep_reentry', 'detached_branch', 'digits', 'float_sum_order', 'hooks_grow', 'losses_kept',
         'missing_wait', 'nan_from_sum', 'other_order', 'overwritten', 'penalty_cycle', 'silent_nan', 'sqrt_at_zero', 'state_carried',
         'two_devices', 'where_mask', 'wrong_shape'}


def programs():
    """{name: its script}."""
    found = {name[:-3]: os.path.join(LEARNERS, name) for name in sorted(os.listdir(LEARNERS)) if name.endswith('.py')}
    for name in sorted(os.listdir(EXAMPLES)):
        if name.endswith('.py') and name[:-3] not in WRONG:
            found[name[:-3]] = os.path.join(EXAMPLES, name)
    return found


def findings_of(tape):
    done = subprocess.run([TAPEDECK, 'findings', tape, '--json'], capture_output=True, text=True, timeout=300)
    return json.loads(done.stdout)['findings']


def main():
    wanted = {name: [script] for name, script in programs().items() if not sys.argv[1:] or name in sys.argv[1:]}
    environment = {name: value for name, value in os.environ.items() if name != 'PYTHONPATH'}
    n_found = n_programs = 0
    for version, python in torches.installed().items():
        with tempfile.TemporaryDirectory() as folder:
            for name, ended in together.run(python, wanted, folder, environment, (TAPEDECK, 'record')).items():
                if ended.returncode or not ended.tape:
                    print(version, name, 'ended with', ended.returncode, ended.stderr.splitlines()[-1:])
                    continue
                n_programs += 1
                for one in findings_of(ended.tape):
                    n_found += 1
                    print(version, name, one['kind'], one['text'], one['line'] or '', sep='\t')
    print(f'{n_programs} programs, {n_found} findings')
    sys.exit(1 if n_found or not n_programs else 0)


if __name__ == '__main__':
    main()

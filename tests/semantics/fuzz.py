#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The differential fuzzer: random programs (fuzz_programs.py) and saved ones (programs/*.json) on Tapedeck and on PyTorch,
both recorded; what the programs see (values, errors, calls of hooks) and what is on the tapes (passes, counts, the order
of nodes with their numbers, what was captured) must be equal, and both tapes hold to the engine's rules.

    fuzz.py [--seed N] [--count N]       programs N, N + 1, ...; a failing one is shrunk and saved in programs/
    fuzz.py --python 1.13.1              against that PyTorch, with `tapedeck run --semantics 1.11`; or 2.15.0
    fuzz.py --semantics 2.15             Tapedeck as 2.15: the programs do nothing in which 2.13 and 2.15 differ
    fuzz.py --program FILE.json          one program: what both engines showed
    fuzz.py --saved                      the saved programs alone
"""
import argparse
import concurrent.futures
import glob
import json
import math
import os
import shutil
import sys
import tempfile

import engines
import fuzz_programs
import torches

PROGRAMS = os.path.join(engines.HERE, 'programs')
RUN = os.path.join(engines.HERE, 'fuzz_run.py')
SEMANTICS = {'1.13.1': '1.11', '2.13.0': '2.13', '2.15.0': '2.15'}
TOO_NEW = {'1.13.1': ['multi_hook', 'accumulate_hook']}  # steps that a PyTorch does not know
MAX_SHRUNK = 5  # so many failing programs are shrunk; of the others the seed is told


def close(a, b):
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(close, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(close(a[key], b[key]) for key in a)
    if isinstance(a, float) and isinstance(b, float):
        return a == b or (math.isnan(a) and math.isnan(b)) or math.isclose(a, b, rel_tol=1e-5, abs_tol=1e-5)
    return type(a) is type(b) and a == b


def keep(tape):
    """Where a tape that broke a rule stays, in a test's output."""
    output = os.environ.get('TEST_OUTPUT', tempfile.gettempdir())
    os.makedirs(output, exist_ok=True)
    return shutil.copy(tape, os.path.join(output, f'fuzz-{os.getpid()}.tape'))


# What a tape says of one program.

def passes(events):
    """Every pass of a section: how it was called, what it counted, in which order its nodes ran, what became of it. Those
    of one thread in order; the threads' lists in an order of their own, for their numbers mean nothing."""
    found, threads = {}, {}
    nodes = {event['node']: numbered(event) for event in events if event['event'] == 'node_new'}
    for event in events:
        kind, task = event['event'], found.get(event.get('graph_task'))
        if kind == 'graph_task_begin':
            task = {name: event[name] for name in ('depth', 'keep_graph', 'create_graph', 'accumulate_grad', 'n_roots')}
            task.update(order=[], counts=[], exec_info=[], captured=[], stored=[])
            found[event['graph_task']] = task
            threads.setdefault(event['thread'], []).append(task)
        elif task is not None:
            note(task, kind, event, nodes)
    for task in found.values():
        if len(threads) > 1:
            task['stored'].clear()  # whose gradient comes first to a shared leaf is a matter of luck
            for told in task['exec_info']:  # and so is whether another thread uses an input of this pass yet
                told[0] = told[0].replace('Identity', 'AccumulateGrad')
        task['counts'].sort()
        task['exec_info'].sort()
    return sorted(threads.values(), key=json.dumps)


def numbered(event):
    number = event['sequence_nr']
    return f'{event["node_name"]}[{"M" if number == 2**64 - 1 else number},{event["topological_nr"]}]'


def note(task, kind, event, nodes):
    if kind == 'node_begin':
        task['order'].append(nodes.get(event['node']))
    elif kind == 'dependency':
        task['counts'].append([event['node_name'], event['count']])
    elif kind == 'exec_info':
        task['exec_info'].append([event['node_name'], bool(event['needed']), event['captures']])
    elif kind == 'capture':
        task['captured'].append([event['node_name'], event['input_nr'], event['output_nr']])
    elif kind == 'accumulate':  # rows F say when a gradient is copied that PyTorch takes as it is
        task['stored'].append('first' if event['mode'] in ('steal', 'copy') else event['mode'])
    elif kind == 'graph_task_end':
        task['status'] = event['status']


class Runner:
    """Programs on one engine, in as few processes as they let live."""

    def __init__(self, engine, semantics='2.13', devices='cpu'):
        self.engine, self.semantics, self.devices, self.problems = engine, semantics, devices, []

    def command(self, tape, out, programs):
        script = [RUN, out, programs]
        if self.engine == 'tapedeck':
            return [engines.TAPEDECK, 'run', '--devices', self.devices, '--semantics', self.semantics, '-o', tape, *script]
        return [engines.TAPEDECK, 'record', '-o', tape, '--', torches.python_of(self.engine), *script]

    def run(self, programs):
        """{number: {'seen': ..., 'passes': ...} or {'failed': ...}}."""
        found, left = {}, list(programs)
        while left:
            found.update(self.run_once(left))
            left = [program for program in left if program['number'] not in found]
        return found

    def run_once(self, programs):
        with tempfile.TemporaryDirectory() as folder:
            out, tape, listed = (os.path.join(folder, name) for name in ('out.jsonl', 'fuzz.tape', 'programs.jsonl'))
            with open(listed, 'w', encoding='utf-8') as file:
                file.writelines(json.dumps(program) + '\n' for program in programs)
            done = engines.call(self.command(tape, out, listed), folder, 300 + len(programs))
            found = self.read(out, done, programs)
            if os.path.exists(tape):
                self.read_tape(tape, done.returncode, found)
            return found

    @staticmethod
    def read(out, done, programs):
        found, last = {}, None
        for line in open(out, encoding='utf-8') if os.path.exists(out) else ():
            said = json.loads(line)
            last = said.pop('begin', last)
            if 'end' in said:
                found[said.pop('end')] = said
        tail = '\n'.join(done.stderr.splitlines()[-25:])
        if last is None:
            raise RuntimeError(f'no program began ({done.returncode}):\n{tail}')
        if done.returncode and (last not in found or len(found) == len(programs)):
            found[last] = {'failed': f'the process died ({done.returncode})', 'stderr': tail}
        return found

    def check(self, tape):
        check = engines.call([engines.TAPEDECK, 'check', tape], None, 300)
        if check.returncode:
            self.problems.append(f'{self.engine}: tapedeck check: {check.stdout[-1500:]}{check.stderr[-500:]}'
                                 f'kept: {keep(tape)}')

    def read_tape(self, tape, status, found):
        if status == 0:
            self.check(tape)
        sections = split(engines.read_events(tape))
        for number, result in found.items():
            if 'failed' not in result and number in sections:
                result['passes'] = passes(sections[number])


def split(events):
    """{number: events between its marks}."""
    found, current = {}, None
    for event in events:
        if event['event'] == 'node_new' and event['name'].startswith(('begin of ', 'end of ')):
            word, _, number = event['name'][:-len('Backward')].split()
            if word == 'end':  # where a process died, the tape may end before
                found[int(number)] = current
            current = [] if word == 'begin' else None
        if current is not None:
            current.append(event)
    return {number: after_mark(section) for number, section in found.items()}


def after_mark(section):
    for i, event in enumerate(section):
        if event['event'] == 'graph_task_end':
            return section[i + 1:]
    return []


# The comparison.

def is_lost(theirs):
    """PyTorch can deadlock between threads, and find an error of its own: then there is nothing to compare with."""
    return 'failed' in theirs or 'INTERNAL ASSERT FAILED' in json.dumps(theirs['seen'])


def difference(ours, theirs):
    """What differs first, as (kind, ours, theirs), or None."""
    if is_lost(theirs):
        return None
    if 'failed' in ours:
        return 'process', ours['failed'], None
    for mine, other in zip(ours['seen'], theirs['seen']):
        for a, b in zip(mine, other):
            if not close(a, b):
                return f'seen {b[0]}', a, b
        if len(mine) != len(other):
            return 'seen length', mine[len(other):], other[len(mine):]
    for mine, other in zip(ours.get('passes', ()), theirs.get('passes', ())):  # not there where a process died
        for a, b in zip(mine, other):
            for name in a:
                if not close(a[name], b.get(name)):
                    return f'tape {name}', a[name], b.get(name)
        if len(mine) != len(other):
            return 'tape passes', len(mine), len(other)
    return None


class Comparison:
    def __init__(self, python, semantics):
        self.runners = [Runner('tapedeck', semantics), Runner(python)]
        self.n_lost = 0  # programs that PyTorch did not survive

    def differences(self, programs):
        """{number: difference} of those that differ."""
        with concurrent.futures.ThreadPoolExecutor(2) as executor:
            ours, theirs = executor.map(lambda runner: runner.run(programs), self.runners)
        self.n_lost += sum(map(is_lost, theirs.values()))
        found = {program['number']: difference(ours[program['number']], theirs[program['number']]) for program in programs}
        return {number: what for number, what in found.items() if what}

    def problems(self):
        return [problem for runner in self.runners for problem in runner.problems]

    def shrink(self, program, kind):
        """The smallest program that was found to differ in the same kind of thing: halves, quarters, ... of the steps
        are left out, all candidates of a size in one run."""
        steps = [(i, step) for i, steps in enumerate([program['shared'], *program['threads']]) for step in steps]
        size = max(1, len(steps) // 2)
        while True:
            candidates = [steps[:i] + steps[i + size:] for i in range(0, len(steps), size)]
            programs = [{**assemble(candidate, len(program['threads'])), 'number': number}
                        for number, candidate in enumerate(candidates)]
            differing = self.differences(programs) if len(steps) > 1 else {}
            same = [number for number, what in differing.items() if what[0] == kind]
            if same:
                steps = min((candidates[number] for number in same), key=len)
                size = min(size, max(1, len(steps) // 2))
            elif size == 1:
                return assemble(steps, len(program['threads']))
            else:
                size //= 2


def assemble(steps, n_threads):
    lists = [[step for i, step in steps if i == thread] for thread in range(n_threads + 1)]
    return {'shared': lists[0], 'threads': lists[1:]}


def saved_programs():
    found = []
    for path in sorted(glob.glob(os.path.join(PROGRAMS, '*.json'))):
        with open(path, encoding='utf-8') as file:
            found.append({**json.load(file), 'name': os.path.basename(path)})
    return found


def save(program, name, what):
    path = os.path.join(os.environ.get('FUZZ_PROGRAMS', PROGRAMS), f'{name}.json')
    with open(path, 'w', encoding='utf-8') as file:
        steps = [',\n  '.join(json.dumps(step) for step in steps) for steps in [program['shared'], *program['threads']]]
        threads = '], [\n  '.join(steps[1:])
        file.write(f'{{"what": {json.dumps(what)},\n "shared": [\n  {steps[0]}],\n "threads": [[\n  {threads}]]}}\n')
    return path


def brief(value):
    text = json.dumps(value)
    return text if len(text) < 1500 else text[:1500] + '...'


def tell(program, what, title):
    print(f'{title}: {what[0]}\n  Tapedeck  {brief(what[1])}\n  PyTorch   {brief(what[2])}')


def without(program, words):
    """The program without the steps that do one of these."""
    def keep(steps):
        return [step for step in steps if step['do'] not in words]
    return {**program, 'shared': keep(program['shared']), 'threads': list(map(keep, program['threads']))}


def fuzz(arguments, comparison):
    programs = saved_programs()
    if not arguments.saved:
        programs += [fuzz_programs.program(seed) for seed in range(arguments.seed, arguments.seed + arguments.count)]
    left_out = arguments.without + TOO_NEW.get(arguments.python, [])
    programs = [{**without(program, left_out), 'number': number} for number, program in enumerate(programs)]
    differing = comparison.differences(programs)
    if differing:  # threads have luck, and so has the end of a process: what counts happens twice
        twice = comparison.differences([programs[number] for number in differing])
        for number in differing.keys() - twice.keys():
            print(f'differed once, not when repeated: {programs[number].get("name") or programs[number].get("seed")}')
        differing = {number: what for number, what in differing.items() if number in twice}
    for n, (number, what) in enumerate(differing.items()):
        program = programs[number]
        title = program.get('name') or f'seed {program["seed"]}'
        tell(program, what, title)
        if 'seed' in program and n < MAX_SHRUNK and not arguments.no_shrink:
            small = comparison.shrink(program, what[0])
            print(f'  shrunk: {save(small, "seed_%d" % program["seed"], what[0])}\n  ' +
                  '\n  '.join(json.dumps(step) for steps in [small['shared'], *small['threads']] for step in steps))
    seeds = '' if arguments.saved else f', seeds {arguments.seed} to {arguments.seed + arguments.count - 1}'
    print(f'{len(programs)} programs{seeds}: '
          f'{len(differing)} differ; {comparison.n_lost} could not be compared, for PyTorch died of them')
    return not differing


def show(path, comparison):
    with open(path, encoding='utf-8') as file:
        program = {**json.load(file), 'number': 0}
    for runner in comparison.runners:
        result = runner.run([program])[0]
        print(f'== {runner.engine}', result.get('failed', ''), result.get('stderr', ''))
        for i, seen in enumerate(result.get('seen', ())):
            print('\n'.join(f'thread {i}  {json.dumps(line)}' for line in seen))
        for tasks in result.get('passes', ()):
            print('\n'.join(json.dumps(task) for task in tasks))
    what = comparison.differences([program])
    if what:
        tell(program, what[0], 'difference')
    return not what


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--count', type=torches.n_rounds, default='500:2000', help='N, or N:M for M where the tests are thorough')
    parser.add_argument('--python', choices=SEMANTICS, default='2.13.0')
    parser.add_argument('--semantics', choices=SEMANTICS.values())
    parser.add_argument('--program')
    parser.add_argument('--without', nargs='*', default=[], help='kinds of steps that are left out')
    parser.add_argument('--saved', action='store_true')
    parser.add_argument('--no-shrink', action='store_true')
    arguments = parser.parse_args()
    torches.python_of(arguments.python)
    comparison = Comparison(arguments.python, arguments.semantics or SEMANTICS[arguments.python])
    fine = show(arguments.program, comparison) if arguments.program else fuzz(arguments, comparison)
    problems = comparison.problems()
    print('\n'.join(problems))
    return 0 if fine and not problems else 1


if __name__ == '__main__':
    sys.exit(main())

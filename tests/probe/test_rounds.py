# SPDX-License-Identifier: LGPL-2.1-or-later
"""Random programs of threads, forks, signals, daemons and exec, recorded: test_rounds.py record|run [NUMBER [SEED]].
Each program prints what its plan says, recorded or not; nothing hangs; and the tape has the passes of all processes.
A round that fails prints its seed and keeps its folder. tests/fixtures/rounds.py runs a plan."""
import collections
import glob
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import skipping
import torches
from record_case import SOURCE, TAPEDECK, plain_environment

PROGRAM = SOURCE / 'tests' / 'fixtures' / 'rounds.py'
DEADLINE_S = 150
MAX_PROCESSES = 8
DEADLY = ('SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT', 'SIGABRT', 'SIGUSR2', 'SIGXCPU', 'SIGKILL')
WHOLE = re.compile(r'tapedeck: recorded \S.*; see it with: tapedeck (?:open|info) \S+')
ANSWER = re.compile('tapedeck: (Where the time goes|Who waits|What holds memory|What was not looked for): .+')
CUT = re.compile(r'tapedeck: recorded \S.*, (cut short because a process ended abruptly|so far: a process still runs); '
                 r'see it with: tapedeck (?:open|info) \S+')
RUN_CUT = re.compile(r'tapedeck: \S+ is not complete, because the program ended abruptly \(status \d+\); see what it .*|'
                     r'tapedeck: there is no tape, because the program ended abruptly \(status \d+\)')


class Plan:
    """What each process does. Process 0 is the program. `record`: children are recorded too, and so may be Pythons."""
    def __init__(self, seed, record):
        self.chance, self.record, self.n_pythons = random.Random(f'{seed} {record}'), record, 0
        self.processes = []
        self.add(0, 'program')

    def maybe(self, probability):
        return self.chance.random() < probability

    def add(self, depth, birth, in_thread=False):
        """A new process, `in_thread` if its main thread is not the one that Python began with; returns its number."""
        number, plan = len(self.processes), {'passes': 0, 'in_thread': in_thread}
        self.processes.append(plan)
        plan['steps'] = [step for _ in range(self.chance.randint(1, 4 if depth == 0 else 2))
                         for step in self.step(plan, depth, False)]
        if birth == 'program' or birth == 'daemon':
            plan['steps'].insert(0 if self.maybe(0.5) else len(plan['steps']), self.work(plan, 1, 3))
        if birth == 'daemon':
            plan['passes'] += 1
            plan['delay'] = self.chance.uniform(0, 0.3)
        plan['end'], plan['status'] = self.end(plan, depth, birth)
        return number

    def work(self, plan, low, high):
        n = self.chance.randint(low, high)
        plan['passes'] += n
        return ['work', n]

    def step(self, plan, depth, has_threads):
        """A list of one step, or of none. What multiprocessing and a storm do is not for a process with other threads."""
        kinds = ['work'] * 2 + ['fork'] * 4 + ['light', 'signals']
        if not has_threads:
            kinds += ['threads'] * 5 + ['storm'] * 2 + ['daemon', 'multi']
        if self.record and self.n_pythons == 0 and depth < 2:
            kinds += ['python']
        what = self.chance.choice(kinds)
        if what in ('fork', 'daemon', 'multi', 'python') and (depth == 3 or len(self.processes) >= MAX_PROCESSES):
            what = 'work'
        return [getattr(self, 'a_' + what)(plan, depth)]

    def steps(self, plan, depth, n):
        return [step for _ in range(n) for step in self.step(plan, depth, True)]

    def a_work(self, plan, depth):
        return self.work(plan, 0, 5)

    def a_threads(self, plan, depth):
        n_threads, n = self.chance.choice((1, 2, 3, 8)), self.chance.randint(1, 40)
        plan['passes'] += n_threads * n
        return ['threads', n_threads, n, self.steps(plan, depth, self.chance.randint(1, 3))]

    def a_storm(self, plan, depth):
        return ['storm', [self.work(plan, 1, 20), *self.steps(plan, depth, 1)]]

    def a_signals(self, plan, depth):
        n = self.chance.randint(1, 4)
        plan['passes'] += n
        return ['signals', n, self.chance.choice(('self', 'thread'))]

    def a_light(self, plan, depth):
        return ['light', self.chance.choice(('close', 'shared', 'preexec'))]

    def a_fork(self, plan, depth):
        where = self.chance.choice(('here', 'here', 'thread'))
        return ['fork', self.add(depth + 1, 'fork', plan['in_thread'] or where == 'thread'), where]

    def a_daemon(self, plan, depth):
        return ['daemon', self.add(depth + 1, 'daemon', plan['in_thread'])]

    def a_multi(self, plan, depth):
        how = 'spawn' if self.record and self.n_pythons == 0 and self.maybe(0.3) else 'fork'
        self.n_pythons += how == 'spawn'
        return ['multi', self.add(depth + 1, 'multi', plan['in_thread'] and how == 'fork'), how]

    def a_python(self, plan, depth):
        self.n_pythons += 1
        return ['python', self.add(depth + 1, 'python'), self.chance.choice(('close', 'shared', 'preexec', 'posix_spawn'))]

    def end(self, plan, depth, birth):
        """How the process ends, and its status."""
        code = self.chance.choice((0, 0, 1, 7))
        if birth == 'multi':
            return ['return'], 0
        kinds = ['exit'] * 3 * (not plan['in_thread']) + ['_exit'] * 3 + ['signal'] * 3 + ['fault', 'light_exec']
        if self.record and birth != 'program':
            kinds.append('murder')
        if self.record and self.n_pythons == 0 and depth < 2 and len(self.processes) < MAX_PROCESSES and birth != 'daemon':
            kinds.append('exec')  # a daemon would begin anew when nobody waits for it
        how = self.chance.choice(kinds)
        if how == 'signal':
            name = self.chance.choice(DEADLY)
            ways, puts_back = ('self', 'thread', 'raise'), name == 'SIGINT' or name != 'SIGKILL' and self.maybe(0.3)
            return [how, name, self.chance.choice(ways), puts_back], -getattr(signal, name)
        if how == 'exec':
            self.n_pythons += 1
            child = self.add(depth + 1, 'python')
            return [how, child], self.processes[child]['status']
        if how in ('fault', 'murder'):
            return [how], -(signal.SIGSEGV if how == 'fault' else signal.SIGKILL)
        return [how, code], code

    def children(self, number):
        """The numbers of the processes that this one starts or becomes."""
        def find(steps):
            for step in steps:
                if step[0] in ('threads', 'storm'):
                    yield from find(step[-1])
                elif step[0] in ('fork', 'daemon', 'multi', 'python'):
                    yield step[1]
        plan = self.processes[number]
        return [*find(plan['steps']), *(plan['end'][1:] if plan['end'][0] == 'exec' else [])]

    def below(self, number):
        """This process and all that come from it."""
        return {number}.union(*map(self.below, self.children(number)))

    def line(self, number, pid):
        passes = self.processes[number]['passes']
        return f'process {number} {pid} {passes} {passes * 3.0 * (2 + number) if passes else 0}'


class Round:
    errors = ''

    def __init__(self, folder, plan, command):
        self.folder, self.plan, self.command = folder, plan, command
        self.environment = plain_environment(XDG_RUNTIME_DIR=str(folder), ROUND=str(folder))

    def ask(self, *arguments):
        return subprocess.run([TAPEDECK, *arguments], cwd=self.folder, capture_output=True, text=True, timeout=DEADLINE_S)

    def play(self):
        """Returns how many children PyTorch held up."""
        (self.folder / 'plan.json').write_text(json.dumps(self.plan.processes))
        running = subprocess.Popen(self.command, cwd=self.folder, env=self.environment, text=True, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        try:
            output, self.errors = running.communicate(timeout=DEADLINE_S)
        except subprocess.TimeoutExpired:
            self.show_stacks()
            raise
        finally:
            self.end_all()
        status = self.plan.processes[0]['status']
        expected = status if status >= 0 else 128 - status
        assert running.returncode == expected, f'ended with {running.returncode}, not {expected}: {output}'
        self.take_lines(output)
        self.judge_words(self.errors)
        left = list(self.folder.glob('tapedeck-*'))
        assert not left, f'left: {left}'

    def processes(self):
        for entry in glob.glob('/proc/[0-9]*'):
            try:
                with open(entry + '/environ', 'rb') as file:
                    if f'ROUND={self.folder}\0'.encode() in file.read():
                        yield int(os.path.basename(entry))
            except OSError:
                pass

    def show_stacks(self):
        for pid in self.processes():
            show = ['gdb', '-p', str(pid), '-batch', '-ex', 'set pagination off', '-ex', 'thread apply all bt 30']
            if shutil.which('gdb'):
                print(subprocess.run(show, capture_output=True, text=True).stdout, flush=True)

    def end_all(self):
        for pid in self.processes():
            os.kill(pid, signal.SIGKILL)

    def take_lines(self, output):
        """What was printed is what the plan says, but for children that PyTorch held up and what comes from them."""
        assert 'a child hangs:' not in output, output
        lines = [line.split() for line in output.splitlines()]
        self.held_up = {int(words[2]) for words in lines if words[:2] == ['held', 'up']}
        self.uncertain = set().union(*map(self.plan.below, self.held_up))
        self.printed = [(int(words[1]), int(words[2])) for words in lines if words[0] == 'process']
        said = sorted(line for line in output.splitlines() if line.startswith('process '))
        assert said == sorted(self.plan.line(*one) for one in self.printed), output
        numbers = [number for number, _ in self.printed]
        assert len(set(numbers)) == len(numbers) and len(lines) == len(numbers) + len(self.held_up), output
        absent = set(range(len(self.plan.processes))) - set(numbers) - self.uncertain
        assert not absent, f'{absent} printed nothing: {output}'

    def is_exact(self, number):
        return self.plan.processes[number]['end'][0] != 'murder' and number not in self.uncertain

    def passes_on_tape(self, tape):
        """[(pid, passes)] of each process."""
        done = self.ask('info', '--json', tape)
        assert done.returncode == 0, done
        info = json.loads(done.stdout)
        owners = {thread['id']: thread['process'] for thread in info['threads']}
        passes = collections.Counter(owners[task['owner']] for task in info['graph_tasks'])
        return [(process['pid'], passes[process['id']]) for process in info['processes']]

    def check_tape(self, may_be_cut):
        checked = self.ask('check', 'out.tape')
        broken = [line for line in checked.stdout.splitlines() if ': complete: ' not in line]
        assert checked.returncode == 0 or may_be_cut and not broken, checked


class RecordedRound(Round):
    def judge_words(self, errors):
        certain = all(map(self.is_exact, range(len(self.plan.processes))))
        *answers, last = errors.splitlines()
        assert all(map(ANSWER.fullmatch, answers)) and len(answers) <= 4, errors
        assert WHOLE.fullmatch(last) and not (certain and CUT.fullmatch(last)), errors

    def judge_tape(self):
        """Returns how many passes it has."""
        on_tape = self.passes_on_tape('out.tape')
        passes = self.plan.processes
        owed = [(pid, passes[number]['passes']) for number, pid in self.printed
                if self.is_exact(number) and passes[number]['passes']]
        missing, beyond = collections.Counter(owed), collections.Counter(on_tape)
        missing, beyond = missing - beyond, beyond - missing
        assert not missing, f'missing {missing}, there are {beyond}'
        allowed = [passes[number]['passes'] for number in range(len(passes)) if not self.is_exact(number)]
        assert len(list(beyond.elements())) <= len(allowed), f'too many: {beyond}'
        assert all(n <= max(allowed) for _, n in beyond), f'too many passes: {beyond}'
        self.check_tape(may_be_cut=bool(allowed))
        return sum(n for _, n in on_tape)


class RunRound(Round):
    """The tape has the program itself, and all of it if the program came to its end."""
    def judge_words(self, errors):
        self.ends = self.plan.processes[0]['end'][0] == 'exit'
        lines = errors.splitlines()
        assert len(lines) == 1 and (WHOLE if self.ends else RUN_CUT).fullmatch(lines[0]), errors

    def judge_tape(self):
        passes = self.plan.processes[0]['passes']
        if not self.ends and not (self.folder / 'out.tape').exists():
            return 0
        (_, on_tape), = self.passes_on_tape('out.tape')
        assert on_tape == passes if self.ends else on_tape <= passes, (on_tape, passes)
        self.check_tape(may_be_cut=not self.ends)
        return on_tape


def play_many(name, kind, command, number, first):
    begin, failed, totals = time.monotonic(), [], collections.Counter()
    for seed in range(first, first + number):
        folder = pathlib.Path(tempfile.mkdtemp(prefix='tapedeck-round-'))
        one = kind(folder, Plan(seed, kind is RecordedRound), command)
        try:
            one.play()
            totals['passes'] += one.judge_tape()
            totals['held up'] += len(one.held_up)
            totals['processes'] += len(one.printed)
            shutil.rmtree(folder)
        except (AssertionError, subprocess.TimeoutExpired) as problem:
            failed.append(seed)
            print(f'{name}: round {seed} failed: {problem}\n{one.errors}\nits folder is {folder}', flush=True)
    print(f'{name}: {totals["processes"]} processes, {totals["passes"]} passes, {totals["held up"]} held up by PyTorch')
    print(f'tried programs of forks and signals, {name}: {number}, {len(failed)} failed, {time.monotonic() - begin:.0f} s',
          flush=True)
    return failed


def main():
    skipping.hear_interrupts()
    number = torches.n_rounds(sys.argv[2]) if len(sys.argv) > 2 else 16
    first = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    if sys.argv[1] == 'run':
        sys.exit(bool(play_many('run', RunRound, [TAPEDECK, 'run', '-o', 'out.tape', PROGRAM, 'plan.json'], number, first)))
    torches.need_compiler()
    failed = []
    for version, python in torches.each():
        subprocess.run([TAPEDECK, 'fit', python], env=plain_environment(), check=True, capture_output=True)
        command = [TAPEDECK, 'record', '-o', 'out.tape', '--', python, PROGRAM, 'plan.json']
        failed += play_many(f'PyTorch {version}', RecordedRound, command, number, first)
    sys.exit(bool(failed))


if __name__ == '__main__':
    main()

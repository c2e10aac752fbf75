# SPDX-License-Identifier: LGPL-2.1-or-later
"""The engines that rows run on, and how: few processes, each with many rows; where one dies, the rest runs in another."""
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), 'fixtures'))
import torches  # noqa: E402

SOURCE = os.environ.get('SOURCE_ROOT', os.path.dirname(os.path.dirname(HERE)))
BUILD = os.environ.get('BUILD_ROOT', os.path.join(SOURCE, 'build'))
TAPEDECK = os.environ.get('TAPEDECK', os.path.join(BUILD, 'app', 'tapedeck'))
RUN_ROWS = os.path.join(HERE, 'run_rows.py')
# What is compiled to watch a PyTorch is kept here, unless the caller keeps it elsewhere.
ENVIRONMENT = {'XDG_CACHE_HOME': os.path.join(BUILD, 'test-cache'), 'OMP_NUM_THREADS': '1',
               **{name: value for name, value in os.environ.items() if name != 'PYTHONPATH'}}
AT_ONCE = 2


def call(command, folder, seconds):
    return subprocess.run(command, env=ENVIRONMENT, cwd=folder, text=True, capture_output=True, timeout=seconds,
                          errors='replace')


class Batch:
    """Rows for one process of one engine. `seen` maps row keys to outcomes; `problems` are about the tape as a whole."""

    def __init__(self, engine, rows):
        self.engine, self.rows = engine, rows
        self.devices, self.scheduler, self.recorded = rows[0].devices, rows[0].scheduler, rows[0].tape is not None
        self.seen, self.problems = {}, []

    def command(self, tape, out, keys):
        script = [RUN_ROWS, out, *keys]
        if self.engine in torches.VERSIONS:
            plain = [torches.python_of(self.engine), *script]
            return [TAPEDECK, 'record', '-o', tape, '--', *plain] if self.recorded else plain
        semantics = [] if self.engine == 'tapedeck' else ['--semantics', self.engine]
        return [TAPEDECK, 'run', '--devices', self.devices, '--scheduler', self.scheduler, *semantics, '-o', tape, *script]

    def run(self):
        """Runs the rows; after a crash, those that are left, in a new process."""
        left = list(self.rows)
        while left:
            done = self.run_once(left)
            left = [row for row in left if row.key not in done]
            self.seen.update(done)
        return self

    def run_once(self, rows):
        with tempfile.TemporaryDirectory() as folder:
            out, tape = os.path.join(folder, 'out.jsonl'), os.path.join(folder, 'rows.tape')
            try:
                done = call(self.command(tape, out, [row.key for row in rows]), folder,
                            120 + sum(row.seconds for row in rows))
                status, text = done.returncode, done.stderr
            except subprocess.TimeoutExpired:
                status, text = 'killed after its time was over', ''
            seen = self.read(out, status, text, rows)
            if os.path.exists(tape):
                self.read_tape(tape, status, [row for row in rows if row.key in seen], seen)
            return seen

    @staticmethod
    def read(out, status, text, rows):
        """The outcomes by key. A row that began and did not end is the one that crashed; if none began, all failed."""
        seen, last = {}, None
        for line in open(out, encoding='utf-8') if os.path.exists(out) else ():
            said = json.loads(line)
            last = said.pop('begin', None) or last
            if 'end' in said:
                seen[said.pop('end')] = said
        tail = '\n'.join(text.splitlines()[-30:])
        if last is None:
            return {row.key: {'failed': f'no row began ({status})\n{tail}'} for row in rows}
        if last not in seen:
            seen[last] = {'failed': f'the process died in this row ({status})\n{tail}'}
        elif status and len(seen) == len(rows):
            seen[last] = {'failed': f'the process ended badly after this row ({status})\n{tail}'}
        elif 'failed' in seen[last] and status:
            seen[last]['failed'] += '\n' + tail
        return seen

    def read_tape(self, tape, status, rows, seen):
        if status == 0:
            check = call([TAPEDECK, 'check', tape], None, 300)
            if check.returncode:
                self.problems.append(f'{self.engine}: tapedeck check: {check.stdout[-1500:]}{check.stderr[-500:]}')
        wanted = [row for row in rows if row.tape and 'failed' not in seen[row.key]]
        if not wanted:
            return
        events = read_events(tape)
        for row in wanted:
            try:
                seen[row.key]['tape'] = json.loads(json.dumps(row.tape(section(events, row.key))))
            except Exception as problem:
                seen[row.key]['failed'] = f'its tape: {type(problem).__name__}: {problem}'


def read_events(tape):
    """All events, each with the name of its node."""
    listed = call([TAPEDECK, 'events', tape, '--json'], None, 300)
    events, names = [json.loads(line) for line in listed.stdout.splitlines()], {}
    for event in events:
        if event['event'] == 'node_new':
            names[event['node']] = event['name'].replace('torch::autograd::', '')
    for event in events:
        if event.get('node') is not None:
            event['node_name'] = names.get(event['node'])
    return events


def section(events, key):
    """What stands between the marks of this row."""
    names = {event['name'][:-len('Backward')]: i for i, event in enumerate(events) if event['event'] == 'node_new'}
    begin, end = names[f'begin of {key}'], names[f'end of {key}']
    while events[begin]['event'] != 'graph_task_end':
        begin += 1
    return events[begin + 1:end]


def batches(rows, engines):
    """As few processes as possible: by engine, how it is started, and whether it is recorded; some rows are alone."""
    shared = {}
    for row in rows:
        for engine in row.engines():
            if engine in engines:
                alone = row.key if row.process else None
                shared.setdefault((engine, row.devices, row.scheduler, row.tape is not None, alone), []).append(row)
    return [Batch(key[0], rows) for key, rows in shared.items()]


def run(rows, engines):
    """Runs all rows on all engines; returns {(key, engine): outcome} and what is wrong with tapes."""
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as executor:
        done = list(executor.map(Batch.run, batches(rows, engines)))
    seen = {(key, batch.engine): outcome for batch in done for key, outcome in batch.seen.items()}
    return seen, [problem for batch in done for problem in batch.problems]


# Rows that C programs prove: their test paths end in the id.

PATH = re.compile(r'/([A-Z]+-\d+)$')
TAP = re.compile(r'^(not )?ok \d+ (\S+)(.*)$')


def c_programs():
    """The test programs that meson knows and that are built."""
    listed = call(['meson', 'introspect', '--tests', BUILD], None, 60)
    tests = json.loads(listed.stdout) if listed.returncode == 0 else []
    found = {test['cmd'][0]: test['env'] for test in tests if test['protocol'] == 'tap'}
    return {path: env for path, env in found.items() if os.path.exists(path)}


def run_c_program(path, env, wanted):
    """{test path: None or what failed} of those paths that carry a wanted id."""
    listed = subprocess.run([path, '-l'], text=True, capture_output=True, timeout=300).stdout.split()
    paths = [test for test in listed if PATH.search(test) and wanted(PATH.search(test)[1])]
    if not paths:
        return {}
    seen = {test: 'did not end' for test in paths}
    done = subprocess.run([path, *(word for test in paths for word in ('-p', test))], text=True, capture_output=True,
                          timeout=300, env={**os.environ, **env}, errors='replace')
    for line in done.stdout.splitlines():
        said = TAP.match(line)
        if said and said[2] in seen:
            seen[said[2]] = 'failed' if said[1] else 'skipped' if '# SKIP' in said[3] else None
    return {test: problem and f'{problem}: {done.stderr[-800:]}' for test, problem in seen.items()}


def run_c_tests(wanted):
    """All of them: {id: [(test path, None or what failed)]}."""
    found = {}
    for path, env in c_programs().items():
        for test, problem in run_c_program(path, env, wanted).items():
            found.setdefault(PATH.search(test)[1], []).append((test, problem))
    return found

# SPDX-License-Identifier: LGPL-2.1-or-later
"""Every script of tests/probe/programs, plain and under `tapedeck record`, on each PyTorch that is here: the program's output, its
exit status and every gradient stay what they were; the tape holds to the engine's rules; and nodes, edges and the order in
which each thread ran them are what PyTorch itself says (tests/probe/programs/observe.py).

Then: scripts that both engines can run give tapes that `tapedeck diff` finds equal node by node."""
import collections
import concurrent.futures
import glob
import json
import os
import subprocess
import sys
import tempfile
import unittest

import skipping
import together
import torches
from record_case import CORPUS, TAPEDECK, built, plain_environment

EXAMPLES = os.environ['EXAMPLES']
TOOLS = {'build.py', 'observe.py'}
SCRIPTS = sorted(set(os.path.basename(path) for path in glob.glob(CORPUS + '/*.py')) - TOOLS)
TRAINING = [script for script in SCRIPTS if script.startswith('train_')]
SHARED = sorted(set(os.path.basename(path) for path in glob.glob(EXAMPLES + '/*.py')))
# Where 1.13 and 2.13 make the same graph in the same order, but for the names of two operations.
SAME_GRAPHS = ('mlp.py', 'resnet.py', 'custom_function.py', 'checkpoint.py', 'exception.py', 'hooks.py', 'inf_sum.py',
               'grad_inputs.py', 'deep_reentry.py', 'train_images.py', 'train_vae.py')
AT_ONCE = 2
SECONDS = 480  # the first recording on a PyTorch compiles the observer; a machine may be busy

folder = tempfile.TemporaryDirectory()
executor = concurrent.futures.ThreadPoolExecutor(AT_ONCE)


def run(command):
    return subprocess.run([str(word) for word in command], env=plain_environment(), cwd=folder.name, text=True,
                          capture_output=True, timeout=SECONDS)


def tape_of(version, script):
    return os.path.join(folder.name, f'{script}-{version}.tape')


def observed(version, script, how):
    """Where observe.py writes what it sees of a script, and the words that run it."""
    out = os.path.join(folder.name, f'{script}-{version}-{how}.json')
    return out, [os.path.join(CORPUS, 'observe.py'), out, built(version, 'oracle.cpp'), os.path.join(CORPUS, script)]


def seen_in(out, done):
    if not os.path.exists(out):
        raise RuntimeError(done.stderr)
    with open(out) as file:
        return json.load(file)


def together_in(version, name, programs, *recorder):
    """As together.run. One process imports PyTorch and forks for each program."""
    inside = os.path.join(folder.name, f'{name}-{version}')
    os.mkdir(inside)
    environment = plain_environment(FAKE_DEVICE=built(version, 'fake_device.cpp'))
    return together.run(torches.python_of(version), programs, inside, environment, recorder)


def run_plain(version, _):
    """Every program that is recorded below, by itself: the scripts under observe.py, the training programs as they are."""
    programs = {('observed', script): observed(version, script, 'plain')[1] for script in SCRIPTS}
    return together_in(version, 'plain', programs | {('as it is', script): [os.path.join(CORPUS, script)] for script in TRAINING})


def record_scripts(version, _):
    """The scripts under observe.py, recorded."""
    return together_in(version, 'recorded', {script: observed(version, script, 'recorded')[1] for script in SCRIPTS}, TAPEDECK, 'record')


def record_examples(version, _):
    """The examples, recorded."""
    return together_in(version, 'examples', {script: [os.path.join(EXAMPLES, script)] for script in SHARED}, TAPEDECK, 'record')


def events_of(tape, *kinds):
    done = run([TAPEDECK, 'events', tape, '--json', *(word for kind in kinds for word in ('--kind', kind))])
    if done.returncode:
        raise RuntimeError(done.stderr)
    return [json.loads(line) for line in done.stdout.splitlines()]


class Case:
    """One script on one PyTorch, plain and recorded."""
    def __init__(self, version, script):
        self.plain = soon(run_plain, version).result()['observed', script]
        self.seen_plain = seen_in(observed(version, script, 'plain')[0], self.plain)
        self.recorded = soon(record_scripts, version).result()[script]
        self.tape, self.seen = self.recorded.tape, seen_in(observed(version, script, 'recorded')[0], self.recorded)
        self.check = run([TAPEDECK, 'check', self.tape])
        self.events = events_of(self.tape, 'node_new', 'edge_new', 'graph_task_begin', 'node_begin')
        self.names = {event['node']: bare(event['name']) for event in self.of('node_new')}

    def of(self, kind):
        return [event for event in self.events if event['event'] == kind]


def bare(name):
    """C++ names of the engine's own nodes, without their namespace."""
    return name.replace('torch::autograd::', '')


def by_thread(items, thread, value):
    """The values of each thread in order; threads have other numbers elsewhere, so their lists are sorted."""
    lists = collections.defaultdict(list)
    for item in items:
        lists[item[thread]].append(value(item))
    return sorted(lists.values(), key=repr)


def graph_from(root, edges, names):
    """What lies below a graph task's root on the tape: names and their numbers, and edges; without a GraphRoot."""
    seen, order, n_edges = {root}, [root], 0
    for node in order:
        is_graph_root = names[node] == 'GraphRoot'
        for to in edges[node]:
            n_edges += not is_graph_root
            if to not in seen:
                seen.add(to)
                order.append(to)
    counts = collections.Counter(names[node] for node in order if names[node] != 'GraphRoot')
    return sorted(counts.items()), n_edges


def graph_of_call(call):
    """The same as observe.py saw it. A leaf as root has no node that Python could see."""
    counts = collections.Counter()
    for name, n in call['nodes']:
        counts[bare(name)] += n
    return sorted(counts.items()) or [('AccumulateGrad', 1)], call['n_edges']


GRADIENTS = ('leaves', 'n_leaves', 'result', 'raised')


class Corpus(unittest.TestCase):
    maxDiff = 4000

    def check_case(self, case):
        self.assertEqual((case.recorded.returncode, case.recorded.stdout), (case.plain.returncode, case.plain.stdout))
        self.assertGreater(len(case.plain.stdout), 0)
        self.check_gradients(case)
        self.assertEqual(case.check.returncode, 0, case.check.stdout[-2000:] + case.check.stderr)
        self.check_order(case)
        self.check_graphs(case)

    def check_gradients(self, case):
        plain, recorded = (by_thread(seen['calls'], 'thread', lambda call: [call.get(key) for key in GRADIENTS])
                           for seen in (case.seen_plain, case.seen))
        self.assertGreater(len(plain), 0)
        self.assertEqual(plain, recorded)

    def check_order(self, case):
        said = sorted(([bare(name) for name in names] for names in case.seen['order']), key=repr)
        on_tape = by_thread(case.of('node_begin'), 'thread', lambda event: case.names[event['node']])
        self.assertEqual(sum(map(len, said)), sum(map(len, on_tape)))
        self.assertEqual(said, on_tape)

    def check_graphs(self, case):
        edges = collections.defaultdict(list)
        for edge in case.of('edge_new'):
            edges[edge['from']].append(edge['to'])
        walked = by_thread(case.seen['calls'], 'thread', graph_of_call)
        on_tape = by_thread(case.of('graph_task_begin'), 'thread',
                            lambda begin: graph_from(begin['root'], edges, case.names))
        self.assertEqual(walked, on_tape)


def unmodified(version, script):
    """A program by itself and recorded; and what `info` and `check` say of the tape."""
    command, tape = [torches.python_of(version), os.path.join(CORPUS, script)], tape_of(version, 'unmodified_' + script)
    return (soon(run_plain, version).result()['as it is', script], run([TAPEDECK, 'record', '-o', tape, '--', *command]),
            run([TAPEDECK, 'info', tape]), run([TAPEDECK, 'check', tape]))


class Unmodified(unittest.TestCase):
    """The training programs as a user would record them: nothing between `record` and the script."""

    def check_program(self, version, script):
        plain, recorded, info, check = soon(unmodified, version, script).result()
        self.assertEqual(plain.returncode, 0, plain.stderr)
        self.assertEqual((recorded.returncode, recorded.stdout), (plain.returncode, plain.stdout))
        self.assertEqual(info.returncode, 0, info.stderr)
        self.assertEqual(check.returncode, 0, check.stdout[-2000:])


def on_both_engines(version, script):
    """Tapedeck's run, PyTorch's, and what `diff` says of their tapes."""
    path = os.path.join(EXAMPLES, script)
    semantics = '1.11' if version.startswith('1.') else '2.13'
    ours, theirs = tape_of(semantics, 'ours_' + script), soon(record_examples, version).result()[script]
    return (run([TAPEDECK, 'run', '--devices', 'cpu', '--semantics', semantics, '-o', ours, '--force', path]), theirs,
            run([TAPEDECK, 'diff', ours, theirs.tape]))


class BothEngines(unittest.TestCase):
    """One script on Tapedeck's engine and on PyTorch's: the same nodes in the same order."""

    def check_example(self, version, script):
        ours, theirs, diff = soon(on_both_engines, version, script).result()
        self.assertEqual(ours.returncode, 0, ours.stderr)
        self.assertEqual(theirs.returncode, 0, theirs.stderr)
        self.assertEqual(diff.returncode, 0, diff.stdout + diff.stderr)


class Levels(unittest.TestCase):
    """What PyTorch's public hooks show is the same nodes in the same order as what the engine probe sees."""

    def check_levels(self, version, script):
        first, second = case_of(version, script).tape, tape_of(version, 'level_2_' + script)
        done = run([TAPEDECK, 'record', '--level', '2', '-o', second, '--', torches.python_of(version),
                    os.path.join(CORPUS, script)])
        self.assertEqual(done.returncode, 0, done.stderr)
        diff = run([TAPEDECK, 'diff', first, second])
        self.assertEqual(diff.returncode, 0, diff.stdout + diff.stderr)


class Versions(unittest.TestCase):
    """Two versions of PyTorch: the same operations align, and where the order differs the cause is told."""

    def setUp(self):
        if torches.missing():
            self.skipTest('one of the two PyTorches is not here')

    def diff(self, script, *options):
        return run([TAPEDECK, 'diff', *(case_of(version, script).tape for version in torches.installed()), *options])

    def test_same_graphs(self):
        for script in SAME_GRAPHS:
            with self.subTest(script):
                diff = self.diff(script)
                self.assertEqual(diff.returncode, 0, diff.stdout + diff.stderr)

    def test_linear_of_three_dimensions(self):
        """1.13 transposes the weight first and then flattens the input, 2.13 the other way: the sequence numbers of two
        nodes are exchanged, and with them their order."""
        diff = self.diff('gpt.py', '--json')
        self.assertEqual(diff.returncode, 1, diff.stderr)
        found = json.loads(diff.stdout)
        self.assertEqual((found['nodes']['only_a'], found['nodes']['only_b']), ([], []))
        self.assertEqual(found['divergence']['cause'], 'sequence')
        self.assertEqual({found['divergence'][side]['name'] for side in 'ab'}, {'TBackward0', 'ViewBackward0'})


futures = {}


def soon(call, version, script=None):
    """The future of a call, which runs once, beside another one."""
    key = call, version, script
    if key not in futures:
        futures[key] = executor.submit(*key)
    return futures[key]


def case_of(version, script):
    return soon(Case, version, script).result()


def submit_all(versions):
    for version in versions:
        built(version, 'oracle.cpp')
        built(version, 'fake_device.cpp')
        soon(run_plain, version)
    for version in versions:
        soon(record_scripts, version)
        soon(record_examples, version)
    for version in versions:
        for script in SCRIPTS:
            soon(Case, version, script)
    for version in versions:
        for script in TRAINING:
            soon(unmodified, version, script)
        for script in SHARED:
            soon(on_both_engines, version, script)


def add_tests(version):
    """A method for each script on this PyTorch, so that each is told by name."""
    def add(owner, script, body):
        name = f'test_{script[:-len(".py")]}_on_{version.replace(".", "_")}'
        setattr(owner, name, body)

    for script in SCRIPTS:
        add(Corpus, script, lambda self, s=script: self.check_case(case_of(version, s)))
    for script in TRAINING:
        add(Unmodified, script, lambda self, s=script: self.check_program(version, s))
    for script in ('checkpoint.py', 'gpt.py'):
        add(Levels, script, lambda self, s=script: self.check_levels(version, s))
    for script in SHARED:
        add(BothEngines, script, lambda self, s=script: self.check_example(version, s))


def main():
    if not torches.has_compiler():
        return 77  # level 2 does not see each evaluation
    versions = [version for version, _ in torches.each()]
    for version in versions:
        add_tests(version)
    try:
        if len(sys.argv) == 1:  # else one test is asked for by name
            submit_all(versions)
        skipping.main(verbosity=2)
    finally:
        executor.shutdown(cancel_futures=True)
        folder.cleanup()


if __name__ == '__main__':
    sys.exit(main())

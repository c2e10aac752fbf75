# SPDX-License-Identifier: LGPL-2.1-or-later
"""Where NaNs are born, on Tapedeck's own engine and on PyTorch's, beside what PyTorch's anomaly mode says of the same
scripts; statistics of gradients; and the counts of engine/base/numbers.h beside torch.isnan and friends."""
import functools
import json
import math
import os
import subprocess
import tempfile
import unittest

import skipping
import together
import torches

TAPEDECK, BUILD = os.environ['TAPEDECK'], os.environ['BUILD_ROOT']
CASES = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'numeric_cases.py')
MEASURE = os.path.join(BUILD, 'tests', 'measure_numbers')
PLAIN = {name: value for name, value in os.environ.items() if name != 'PYTHONPATH'}
PLAIN['OMP_NUM_THREADS'] = '1'

# What is born where: kind, place, node, number, and for sums both contributors with their outputs.
BIRTHS = {
    'sum_at_node': [('nan', 'forward', 'AddBackward0', 0),
                    ('nan', 'sum', 'SinBackward0', 0, 'MulBackward0', 0, 'MulBackward0', 0)],
    'sum_at_leaf': [('nan', 'forward', 'AddBackward0', 0),
                    ('nan', 'sum', 'AccumulateGrad', 0, 'MulBackward0', 0, 'MulBackward0', 0)],
    'sum_of_many': [('nan', 'forward', 'AddBackward0', 0),
                    ('nan', 'sum', 'SinBackward0', 0, 'MulBackward0', 0, 'MulBackward0', 0)],
    'stored': [('nan', 'accumulate', 'AccumulateGrad', 0)],
    'node': [('nan', 'node', 'SqrtBackward0', 0)],
    'forward': [('nan', 'forward', 'LogBackward0', 0)],
    'data': [('nan', 'data', 'MulBackward0', 1)],
    'hook': [('nan', 'hook', 'SinBackward0', 0)],
    'given': [('nan', 'input', 'SinBackward0', 0)],
    'fine': [],
}
BIRTHS_IN_TORCH = {
    **BIRTHS,
    'tensor_hook': [('nan', 'hook', 'SinBackward0', 0)],
    'custom': [('nan', 'forward', 'RootBackward', 0)],
}
# Level 2 sees no forward pass. Its hooks are the last of a node: a post hook before them counts as the node's.
BIRTHS_IN_HOOKS = {case: [birth for birth in births if birth[1] != 'forward'] for case, births in BIRTHS_IN_TORCH.items()}
BIRTHS_IN_HOOKS.update(data=[('nan', 'node', 'MulBackward0', 0)], hook=[('nan', 'node', 'SinBackward0', 0)])
OVERFLOW = [('inf', 'sum', 'SinBackward0', 0, 'MulBackward0', 0, 'MulBackward0', 0)]

# What anomaly mode says: the function it blames, or None where it is silent though x.grad, or the loss, is a NaN.
BLAMED = {
    'sum_at_node': 'SinBackward0',  # innocent: it was given the NaN
    'sum_at_leaf': None,
    'sum_of_many': 'SinBackward0',  # innocent
    'stored': None,
    'node': 'SqrtBackward0',
    'forward': None,
    'data': 'MulBackward0',  # innocent
    'hook': 'SinBackward0',  # innocent
    'given': 'SinBackward0',  # innocent
    'fine': None,
    'tensor_hook': 'SinBackward0',  # innocent
    'custom': None,
}


OVERFLOW_AND_UNREAD = ('overflow', 'sparse', 'meta')
FAILING = ('fails', 'sum_at_node', 'fails', 'nested')


@functools.cache
def outputs(python):
    """{cases: what they print by themselves}, of all that are recorded: one process imports PyTorch and forks for each."""
    programs = {cases: [CASES, *cases] for cases in (tuple(BIRTHS_IN_TORCH), OVERFLOW_AND_UNREAD, FAILING, ('node',), ('sum_at_node',))}
    with tempfile.TemporaryDirectory() as folder:
        return {cases: ended.stdout for cases, ended in together.run(python, programs, folder, PLAIN).items()}


def read_events(tape):
    done = subprocess.run([TAPEDECK, 'events', '--json', tape], capture_output=True, text=True, timeout=300)
    return [json.loads(line) for line in done.stdout.splitlines()]


def births_of(events):
    names = {event['node']: event['name'] for event in events if event['event'] == 'node_new'}

    def describe(event):
        birth = (event['kind'], event['born'], names[event['node']], event['number'])
        if event['born'] == 'sum':
            birth += (names[event['from']], event['from_output_nr'], names[event['other']], event['other_output_nr'])
        return birth
    return [describe(event) for event in events if event['event'] == 'anomaly']


class Case(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.tape = os.path.join(folder.name, 'a.tape')

    def tapedeck(self, *arguments):
        done = subprocess.run([TAPEDECK, *arguments], env=PLAIN, cwd=self.folder, capture_output=True, text=True, timeout=400)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def check_contributors(self, events):
        """The two that are blamed are two different ones: one brought +Inf, the other -Inf."""
        for event in events:
            if event['event'] == 'anomaly' and event['born'] == 'sum':
                self.assertNotEqual((event['from'], event['from_output_nr']),
                                    (event['other'], event['other_output_nr']))


class OwnEngine(Case):
    def run_case(self, case, *options):
        self.tapedeck('run', '--force', *options, '-o', self.tape, CASES, case)
        self.tapedeck('check', self.tape)
        return read_events(self.tape)

    def test_births(self):
        for case, births in BIRTHS.items():
            with self.subTest(case=case):
                events = self.run_case(case, '--anomaly', 'nan')
                self.assertEqual(births_of(events), births)
                self.check_contributors(events)

    def test_nothing_is_looked_for_unless_asked(self):
        self.assertEqual(births_of(self.run_case('sum_at_node')), [])

    def test_overflow(self):
        self.assertEqual(births_of(self.run_case('overflow', '--anomaly', 'nan')), [])
        backward = [birth for birth in births_of(self.run_case('overflow', '--anomaly', 'nonfinite'))
                    if birth[1] not in ('forward', 'data')]
        self.assertEqual(backward, OVERFLOW)

    def test_hook_is_named(self):
        anomaly = [e for e in self.run_case('hook', '--anomaly', 'nan') if e['event'] == 'anomaly'][0]
        self.assertIn('spoil', anomaly['hook'])

    def test_stats(self):
        check_stats(self, self.run_case('node', '--stats', 'full'), full=True)
        check_stats(self, self.run_case('node', '--stats', 'finite'), full=False)
        self.assertNotIn('tensor_stats', {e['event'] for e in self.run_case('node')})


def check_stats(test, events, full):
    """Of sqrt(0) * 0: every output of every node, and what came to the leaf."""
    names = {event['node']: event['name'] for event in events if event['event'] == 'node_new'}
    stats = [e for e in events if e['event'] == 'tensor_stats']
    found = {(names[e['node']], e['place']): e for e in stats}
    test.assertTrue({('SumBackward0', 'input'), ('SumBackward0', 'output'), ('MulBackward0', 'output'),
                     ('SqrtBackward0', 'output'), ('AccumulateGrad', 'leaf')} <= set(found), found.keys())
    ones = found['SumBackward0', 'output']
    test.assertEqual((ones['n_elements'], ones['n_nan'], ones['n_inf']), (1, 0, 0))
    wanted = (1, 1, 1, 1) if full else (None,) * 4
    test.assertEqual((ones['min'], ones['max'], ones['mean'], ones['l2']), wanted)
    nan = found['AccumulateGrad', 'leaf']
    test.assertEqual((nan['n_elements'], nan['n_nan'], nan['n_inf'], nan['min'], nan['l2']), (1, 1, 0, None, None))


class PyTorch(Case):
    """The real engine, watched: the same births, and the program's own output as it is without us."""
    births = BIRTHS_IN_TORCH

    def record(self, python, options, cases):
        done = subprocess.run([TAPEDECK, 'record', '--force', *options, '-o', self.tape, '--', python, CASES, *cases],
                              env=PLAIN, capture_output=True, text=True, timeout=400)
        self.assertEqual((done.returncode, done.stdout), (0, outputs(python)[tuple(cases)]), done.stderr)
        self.tapedeck('check', self.tape)
        return read_events(self.tape)

    def test_births(self):
        for version, python in torches.each():
            with self.subTest(version=version):
                events = self.record(python, ['--anomaly', 'nan'], self.births)
                expected = [birth for births in self.births.values() for birth in births]
                self.assertEqual(births_of(events), expected)
                self.check_contributors(events)

    def test_overflow_and_unread(self):
        for version, python in torches.each():
            with self.subTest(version=version):
                events = self.record(python, ['--anomaly', 'nonfinite'], OVERFLOW_AND_UNREAD)
                backward = [birth for birth in births_of(events) if birth[1] not in ('forward', 'data')]
                self.assertEqual(backward, OVERFLOW)
                unread = ' '.join(event['why'] for event in events if event['event'] == 'unread')
                self.assertIn('sparse', unread)
                self.assertIn("not in the CPU's memory", unread)

    def test_stats(self):
        for version, python in torches.each_of_test(self):
            with self.subTest(version=version):
                check_stats(self, self.record(python, ['--stats', 'full'], ['node']), full=True)
                check_stats(self, self.record(python, ['--stats', 'finite'], ['node']), full=False)

    def test_nothing_is_looked_for_unless_asked(self):
        for version, python in torches.each_of_test(self):
            with self.subTest(version=version):
                kinds = {event['event'] for event in self.record(python, [], ['sum_at_node'])}
                self.assertFalse(kinds & {'anomaly', 'tensor_stats', 'unread'})


class Order(Case):
    """Births of the forward pass stand in the order in which they were made, and point to their causes."""

    def test_forward(self):
        for version, python in torches.each():
            with self.subTest(version=version):
                self.tapedeck('record', '--force', '--stacks', '--anomaly', 'nonfinite', '-o', self.tape, '--', python, CASES,
                              'in_order')
                events = read_events(self.tape)
                births = [e for e in events if e['event'] == 'anomaly' and e['born'] == 'forward']
                made = {e['node']: e for e in events if e['event'] == 'node_new'}
                self.assertEqual([made[birth['node']]['name'] for birth in births],
                                 ['LogBackward0', 'SubBackward0', 'SqrtBackward0', 'ExpBackward0', 'MulBackward0'])
                seqs = [birth['seq'] for birth in births]
                for birth, cause in zip(births, (None, seqs[0], None, None, seqs[3])):
                    said = self.tapedeck('why', self.tape, '--at', str(birth['seq']))
                    self.assertEqual(f'Event {cause} may have led to it' in said, cause is not None, said)
                    line = made[birth['node']]['stack'].split('\n')[-1].split(':')[1].split()[0]
                    self.assertIn(f"(numeric_cases.py:{line})", said)


class Hooks(PyTorch):
    """Level 2, PyTorch's public hooks, looks for the same and measures the same."""
    births = BIRTHS_IN_HOOKS

    def record(self, python, options, cases):
        return super().record(python, ['--level', '2', *options], cases)

    def test_what_is_known(self):
        python = torches.pythons()[0]
        for options, known in (([], ('absent', 'absent')), (['--anomaly', 'nan'], ('observed', 'absent')),
                               (['--stats', 'finite'], ('absent', 'observed'))):
            self.record(python, options, ['node'])
            found = json.loads(self.tapedeck('info', '--json', self.tape))['known']
            self.assertEqual((found['anomaly'], found['tensor_stats']), known)

    def test_errors_leave_nothing(self):
        """A node that raises has no hook after it. The next pass is looked at as if nothing had happened."""
        for version, python in torches.each():
            with self.subTest(version=version):
                births = births_of(self.record(python, ['--anomaly', 'nan'], FAILING))
                self.assertEqual([birth[:4] for birth in births], [('nan', 'sum', 'SinBackward0', 0), ('nan', 'node', 'SqrtBackward0', 0)])


class AnomalyMode(Case):
    """The comparison is honest: this is what PyTorch itself says."""

    def test_blames(self):
        for version, python in torches.each():
            done = subprocess.run([python, CASES, *BLAMED, 'detect'], env=PLAIN, capture_output=True, text=True,
                                  timeout=120)
            self.assertEqual(done.returncode, 0, done.stderr)
            for case, said in zip(BLAMED, done.stdout.splitlines(), strict=True):
                with self.subTest(version=version, case=case):
                    if BLAMED[case]:
                        blamed = BLAMED[case]
                        self.assertIn(f"Function '{blamed}' returned nan values in its 0th output.", said)
                    else:
                        self.assertTrue(said.startswith('['), said)


MAKE_ARRAYS = '''
import math, random, struct, sys, torch
random.seed(int(sys.argv[1]))
NAMES = ['float16', 'bfloat16', 'float32', 'float64', 'complex64', 'complex128', 'bool', 'uint8', 'int8', 'int16',
         'int32', 'int64']
out, answers = sys.stdout.buffer, open(sys.argv[2], 'w')

def make(dtype):
    sizes = [random.choice((1, 2, 3, 5, 7)) for _ in range(random.randint(0, 6))]
    if random.random() < 0.1 and sizes: sizes[random.randrange(len(sizes))] = 0
    if dtype.is_floating_point or dtype.is_complex:
        x = torch.randn(sizes, dtype=torch.complex128 if dtype.is_complex else torch.float64) * 10 ** random.uniform(-4, 4)
        if random.random() < 0.5:
            for bad in (math.nan, math.inf, -math.inf):
                x[torch.rand(sizes) < random.random() * 0.3] = bad
        x = x.to(dtype)
    else:
        x = torch.randint(0, 100, sizes).to(dtype)
    if random.random() < 0.7 and x.dim(): x = x.permute(*random.sample(range(x.dim()), x.dim()))
    for dim in range(x.dim()):
        if random.random() < 0.2: x = x.narrow(dim, 0, max(x.size(dim) - 1, 0))
        if random.random() < 0.2: x = x[(slice(None),) * dim + (slice(None, None, 2),)]
    for _ in range(random.randint(0, 6)):
        x = x.unsqueeze(random.randint(0, x.dim()))
    if random.random() < 0.4: x = x.expand([random.choice((2, 3)) if n == 1 and random.random() < 0.5 else n for n in x.shape])
    return x

for _ in range(int(sys.argv[3])):
    name = random.choice(NAMES)
    x = make(getattr(torch, name))
    end = x.storage_offset() + sum((n - 1) * s for n, s in zip(x.shape, x.stride())) + 1 if x.numel() else x.storage_offset()
    memory = torch.as_strided(x, (end,), (1,), 0).clone()
    raw = bytes(torch.view_as_real(memory).view(-1).view(torch.uint8).tolist() if x.is_complex()
                else memory.view(torch.uint8).tolist() if name != 'bool' else memory.to(torch.uint8).tolist()) if end else b''
    out.write(f"torch.{name} {x.dim()} {' '.join(map(str, (*x.shape, *x.stride())))} {x.storage_offset() * x.element_size()} {len(raw)}\\n".encode() + raw)
    nan, inf = (torch.isnan(x), torch.isinf(x)) if x.is_floating_point() or x.is_complex() else (torch.zeros(x.shape, dtype=torch.bool),) * 2
    rest = x[~(nan | inf)]
    rest = rest.to(torch.complex128).abs() if x.is_complex() else rest.to(torch.float64)
    row = [x.numel(), int(nan.sum()), int(inf.sum())]
    row += [rest.min().item(), rest.max().item(), rest.abs().max().item(), rest.mean().item(), rest.norm().item()] if rest.numel() else [math.nan] * 5
    print(*row, file=answers)
'''


class Numbers(Case):
    def test_as_torch_counts(self):
        """Random arrays of every type: permuted, cut, strided, expanded, empty, of no and of up to 12 dimensions."""
        for version, python in torches.each():
            with self.subTest(version=version):
                answers = os.path.join(self.folder, 'answers')
                arrays = subprocess.run([python, '-c', MAKE_ARRAYS, '7', answers, '600'], env=PLAIN, stdout=subprocess.PIPE,
                                        timeout=120, check=True).stdout
                done = subprocess.run([MEASURE], input=arrays, stdout=subprocess.PIPE, timeout=300, check=True)
                with open(answers) as file:
                    expected = [list(map(float, line.split())) for line in file]
                got = [list(map(float, line.split())) for line in done.stdout.decode().splitlines()]
                self.assertEqual((len(got), len(expected)), (600, 600))
                self.assertTrue(sum(row[1] for row in expected) > 100 and sum(row[2] for row in expected) > 100)
                for ours, theirs in zip(got, expected):
                    self.assertEqual(ours[1:4], theirs[:3])
                    self.assertEqual((bool(int(ours[0]) & 1), bool(int(ours[0]) & 6)), (theirs[1] > 0, theirs[2] > 0))
                    for a, b in zip(ours[4:], theirs[3:]):
                        self.assertTrue(math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9 * abs(theirs[5]))
                                        or math.isnan(a) and math.isnan(b), (ours, theirs))


if __name__ == '__main__':
    torches.need_compiler()
    skipping.main(verbosity=2)

#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
# Hangs and mismatches of ranks that people reported, rebuilt for gloo: what `findings` says after the kill, and `attach` before. Trainings that are
# right: nothing is found, and they print what they print alone.
import json
import re
import subprocess
import textwrap
import time

import skipping
import torches
from ranks_case import RanksCase
from record_case import TAPEDECK

HANG = """
def hangs():
    open('hangs', 'w').close()
net = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Tanh(), torch.nn.Linear(3, 1))
batch = torch.ones(2, 3)
"""

# name: what the ranks do, and what is found: the start of a sentence.
PROGRAMS = {
    # One rank takes a branch without the second layer, whose gradients the others wait for.
    'branch': ("""
class Branch(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = torch.nn.Linear(3, 3), torch.nn.Linear(3, 3)
    def forward(self, x, short):
        x = self.first(x)
        return x if short else self.second(x)
net = DistributedDataParallel(Branch())
for step in range(3):
    if step == 2: hangs()
    net(batch, short=step == 2 and rank == 1).sum().backward()
dist.barrier()
""", 'Rank 1 handed BARRIER [(]rank.py:\\d+[)] as operation \\d+ of .*, and rank 0 handed ALLREDUCE float32.24. [(]AccumulateGrad[(]module.first.weight[)][)][.] '
     'In backward pass 3 of rank 1, no node leads to module.second.bias, module.second.weight, and in that of rank 0 there are such nodes[.]'),
    'skipped_batch': ("""
net = DistributedDataParallel(net)
for step in range(4):
    if step == 3: hangs()
    if step == 3 and rank == 1: continue
    net(batch).sum().backward()
if rank == 1:
    while True: time.sleep(.1)
""", 'Rank 1 did not come to operation \\d+ of .*: ALLREDUCE float32.*, for which rank 0 waited \\d.* s[.] The last that rank 1 handed '
     'to a group was operation \\d+ of .*: ALLREDUCE float32.16. [(]AccumulateGrad[(].*[)][)][.] Backward passes begun: 3 by rank 1, 4 by rank 0[.]$'),
    'other_order': ("""
dist.barrier()
hangs()
for name in ('sum', 'mean') if rank == 0 else ('mean', 'sum'):
    if name == 'sum': dist.all_reduce(torch.ones(5))
    else: dist.broadcast(torch.ones(2), 0)
""", 'Rank 1 handed BROADCAST float32.2. root=0 [(]rank.py:\\d+[)] as operation 2 of .*, and rank 0 handed ALLREDUCE float32.5. '
     '[(]rank.py:\\d+[)][.]'),
    'other_order_of_groups': ("""
one, two = dist.new_group([0, 1]), dist.new_group([0, 1])
for group in (one, two): dist.all_reduce(torch.ones(1), group=group)
hangs()
for group in (one, two) if rank == 0 else (two, one):
    dist.all_reduce(torch.ones(5), group=group)
""", None),
    'barrier_of_one': ("""
net = DistributedDataParallel(net)
net(batch).sum().backward()
hangs()
if rank == 0:
    dist.barrier()
while True: time.sleep(.1)
""", 'Rank 1 did not come to operation \\d+ of .*: BARRIER [(]rank.py:\\d+[)], for which rank 0 waited '),
    'sizes': ("""
dist.barrier()
hangs()
dist.all_reduce(torch.ones(4 + rank))
dist.barrier()
while True: time.sleep(.1)
""", 'Rank 1 handed ALLREDUCE float32.5. [(]rank.py:\\d+[)] as operation 2 of .*, and rank 0 handed ALLREDUCE float32.4. '),
    'one_dies': ("""
net = DistributedDataParallel(net)
for step in range(4):
    if step == 3 and rank == 1: sys.exit(3)
    net(batch).sum().backward()
""", 'Rank 1 did not come to operation \\d+ of .*: ALLREDUCE .* The last that rank 1 handed .* Its process ended with status 3[.]'),
    # Only one that is killed by another process cannot say so.
    'one_is_killed': ("""
net = DistributedDataParallel(net)
for step in range(4):
    if step == 2: time.sleep(1.5) # so the tapes have the steps before
    if step == 3 and rank == 1:
        import subprocess
        subprocess.run(['kill', '-9', str(os.getpid())])
    net(batch).sum().backward()
""", 'Rank 0 came to operation \\d+ of .*, and rank 1 was gone: ALLREDUCE .* Its process was gone at once, before the others.* its last second'),
    'unsent': ("""
hangs()
for step in range(4):
    if rank == 0 and step < 3: dist.send(torch.ones(4), 1)
    if rank == 1: dist.recv(torch.ones(4), 0)
dist.barrier()
""", 'Rank 1 waited \\d.* s for message 4 from rank 0 in .*: RECV float32.4. from=0 [(]rank.py:\\d+[)][.] So far rank 0 has sent it 3[.] '
     'The last that rank 0 handed to a group was operation 1 of .*: BARRIER [(]rank.py:\\d+[)][.]'),
    'uneven_loader': ("""
net = DistributedDataParallel(net)
for step in range(4 - rank):
    net(batch).sum().backward()
""", 'Rank 1 did not come to operation \\d+ of .*: ALLREDUCE .* Its process ended with status 0[.]'),
    'broadcast_in_a_hook': ("""
x = torch.ones(4, requires_grad=True)
y = x * 2
y.register_hook(lambda grad: dist.broadcast(grad, 0) and None if rank == 0 else None)
dist.barrier()
hangs()
y.sum().backward()
dist.all_reduce(torch.ones(3))
while True: time.sleep(.1)
""", 'Rank 1 handed ALLREDUCE float32.3. [(]rank.py:\\d+[)] as operation 2 of .*, and rank 0 handed BROADCAST float32.4. root=0 '
     '[(]MulBackward0 #\\d+.*[)][.]$'),
}

# Of 2.13 alone: the second layer of rank 1 takes no part.
SHARDED = """
from torch.distributed.fsdp import fully_shard
from torch.distributed.device_mesh import init_device_mesh
mesh = init_device_mesh('cpu', (size,))
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.Linear(8, 8) for _ in range(3))
    def forward(self, x, skip=False):
        for i, layer in enumerate(self.layers):
            if not (skip and i == 1): x = layer(x).tanh()
        return x
net = Net()
for layer in net.layers: fully_shard(layer, mesh=mesh)
fully_shard(net, mesh=mesh)
"""
SKIPPED_LAYER = SHARDED + """
for step in range(3):
    if step == 2: open('hangs', 'w').close()
    net(torch.ones(2, 8), skip=step == 2 and rank == 1).sum().backward()
dist.barrier()
"""

# name: what `attach` says first while the ranks hang.
ATTACHED = {
    'barrier_of_one': '.*Rank 1 did not come to operation \\d+ of .*: BARRIER [(]rank.py:\\d+[)], for which rank 0 waited ',
    'other_order': '.*Rank 1 handed BROADCAST float32.2. root=0 [(]rank.py:\\d+[)] as operation 2 of ',
    'skipped_batch': 'Rank 1 is late: .*Rank 1 did not come to operation \\d+ of .*: ALLREDUCE ',
}

LATE = """
def sleeps(grad):
    if rank == 1: time.sleep(.005)
class Sleeps(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x): return x.clone()
    @staticmethod
    def backward(ctx, grad):
        if where == 'backward': sleeps(grad)
        return grad
net = DistributedDataParallel(torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Linear(8, 1)))
for step in range(40):
    x = torch.randn(4, 8, requires_grad=True)
    y = Sleeps.apply(x)
    if where == 'hook': y.register_hook(sleeps)
    if where == 'forward': sleeps(x)
    net(y).sum().backward()
    net.zero_grad()
dist.barrier()
"""

SOUND = """
net = DistributedDataParallel(torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.BatchNorm1d(8), torch.nn.Linear(8, 1)))
sub = [dist.new_group([0, 1]), dist.new_group([2, 3])][rank // 2]
optimizer = torch.optim.SGD(net.parameters(), lr=.01)
for step in range(6 + (rank == 1)):
    optimizer.zero_grad()
    with net.no_sync() if step == 6 else __import__('contextlib').nullcontext():
        loss = (net.module if step == 6 else net)(torch.randn(4, 8) + rank).sum()
        loss.backward()
    optimizer.step()
    if step % 2 == 0 and step < 6: dist.all_reduce(loss.detach(), group=sub)
    if rank % 2 == 0: dist.send(torch.ones(step + 1), rank + 1)
    elif step < 6: dist.recv(torch.ones(step + 1), rank - 1)
gathered = [None] * size
dist.all_gather_object(gathered, round(loss.item(), 4) if rank != 1 else 'x' * 100)
if rank == 0: print(gathered, flush=True)
dist.barrier()
"""
SOUND_SHARDED = SHARDED + """
optimizer = torch.optim.SGD(net.parameters(), lr=.01)
for step in range(5):
    optimizer.zero_grad()
    loss = net(torch.full((2, 8), rank + 1.)).sum()
    loss.backward()
    optimizer.step()
losses = [torch.empty(1) for _ in range(size)]
dist.all_gather(losses, loss.detach().reshape(1))
if rank == 0: print([round(one.item(), 4) for one in losses], flush=True)
dist.barrier()
"""


class Ranks(RanksCase):
    def found(self, tape='a.tape'):
        done = self.ask('findings', tape, '--json')
        self.assertIn(done.returncode, (0, 1), done.stderr)
        return json.loads(done.stdout)['findings']

    def find_parting(self, python, name, body, pattern, number=15):
        with self.subTest(program=name, python=python):
            done = self.record_ranks(python, HANG + body, seconds=3, number=number)
            self.assertNotEqual(done.returncode, 0)
            found = [finding for finding in self.found() if finding['kind'] == 'ranks_part']
            self.assertEqual(len(found), 1, (name, done.stderr, self.said('events', 'a.tape', '--kind', 'collective')[-3000:]))
            if pattern:
                self.assertRegex(found[0]['text'], '^' + pattern)
            self.assertEqual(self.found()[0]['kind'], 'ranks_part')
            self.assert_checked('a.tape', killed=True)

    def test_hangs(self):
        """They are ended in turns by SIGTERM and SIGKILL, after which the tapes have no end."""
        for i, (python, (name, (body, pattern))) in enumerate(torches.in_turns(PROGRAMS.items())):
            self.find_parting(python, name, body, pattern, number=(15, 9)[i % 2])

    def has_sharding(self):
        has = self.run_in(torches.pythons()[-1], '-c', 'from torch.distributed.fsdp import fully_shard').returncode == 0
        if not has:
            skipping.tell('no PyTorch with fully_shard')
        return has

    def test_skipped_layer(self):
        """FSDP2: rank 0 gathers the layer that rank 1 does not run."""
        if self.has_sharding():
            self.find_parting(torches.pythons()[-1], 'skipped_layer', SKIPPED_LAYER,
                              'Rank 1 handed _REDUCE_SCATTER_BASE .* as operation .*, and rank 0 handed _ALLGATHER_BASE .*'
                              'In backward pass 3 of rank 1, no node leads to layers.1.bias, layers.1.weight, and in that of rank 0', number=9)
            labels = {event['label'] for event in self.events('a.tape') if event['event'] == 'node_label'}
            self.assertEqual(labels, {f'layers.{i}.{name}' for i in range(3) for name in ('weight', 'bias')})

    def test_attach(self):
        for python, (name, pattern) in torches.in_turns(ATTACHED.items()):
            with self.subTest(program=name, python=python):
                self.write_ranks(HANG + PROGRAMS[name][0])
                child = subprocess.Popen([TAPEDECK, 'record', '--force', '-o', 'a.tape', '--', python, 'launch.py', '2', '600', '15'],
                                         cwd=self.folder, env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                try:
                    said, end = '', time.monotonic() + 60
                    while not re.match(pattern, said) and time.monotonic() < end:
                        said = self.ask('attach', child.pid).stdout.split('\n')[0]
                    self.assertRegex(said, '^' + pattern)
                finally:
                    (self.folder / 'go').touch()
                    child.wait(timeout=120)

    def check_sound(self, python, body):
        self.write_ranks(body)
        plain = self.run_in(python, 'launch.py', 4, 0, 15)
        done = self.record_ranks(python, body, size=4)
        self.assertEqual((plain.returncode, done.returncode), (0, 0), plain.stderr + done.stderr)
        self.assertEqual(done.stdout, plain.stdout)
        self.assertEqual(self.found(), [])
        self.assert_checked('a.tape')

    def test_sound(self):
        for python in torches.of_test(self):
            self.check_sound(python, SOUND)

    def test_sound_sharded(self):
        if self.has_sharding():
            self.check_sound(torches.pythons()[-1], SOUND_SHARDED)

    def test_killed_while_sound(self):
        """Ranks that are in step when they are ended do not part."""
        for python in torches.of_test(self):
            self.record_ranks(python, HANG + textwrap.dedent("""
                net = DistributedDataParallel(net)
                for step in range(1000000):
                    if step == 20: hangs()
                    net(batch).sum().backward()
                """), seconds=1)
            self.assertEqual([finding for finding in self.found() if finding['kind'] in ('ranks_part', 'rank_late')], [])

    def test_late(self):
        """A rank that sleeps 5 ms in each step: in a hook, in a node, in the forward pass."""
        places = {'hook': 'the hook sleeps .* of .*', 'backward': 'SleepsBackward .*', 'forward': 'what it did between backward passes: .*'}
        for python, (where, place) in torches.in_turns(places.items()):
            with self.subTest(where=where, python=python):
                done = self.record_ranks(python, f'where = {where!r}\n' + LATE)
                self.assertEqual(done.returncode, 0, done.stderr)
                late = json.loads(self.said('report', 'a.tape', '--by', 'rank', '--json'))['late']
                self.assertEqual((late['rank'], late['passes'], late['n'] >= 24), ('rank 1', 40, True), late)
                self.assertTrue(4.9e6 < late['behind'] < 5.6e6, late)
                self.assertRegex(late['place'], f'^{place}$')
                self.assertIn(f'Rank 1 was behind the others in {late["n"]} of the last 40 backward passes, by ', self.said('report', 'a.tape', '--by', 'rank'))
                self.assertEqual([finding['kind'] for finding in self.found()], ['rank_late'])


if __name__ == '__main__':
    torches.need_compiler()
    skipping.main()

#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
# The operations that ranks hand to their process groups, as their tapes have them, beside what the programs handed.
import pathlib
import os

import skipping
import torches
from ranks_case import RanksCase

PACKAGE = str(pathlib.Path(os.environ['BUILD_ROOT']) / 'engine' / 'python')

# No operation before the first node is lost, although no pass has begun.
ALL = """
dist.barrier()
whole, part = torch.ones(6), torch.ones(3, dtype=torch.float64)
dist.all_reduce(whole)
dist.broadcast(part, 1)
dist.reduce(part, 1)
dist.all_gather([torch.empty(6) for _ in range(2)], whole)
dist.gather(whole, [torch.empty(6) for _ in range(2)] if rank == 0 else None, 0)
dist.scatter(part, [part, part] if rank == 1 else None, 1)
if rank == 0:
    dist.send(whole, 1)
    dist.send(part, 1)
else:
    dist.recv(whole, 0)
    dist.recv(part)
dist.all_to_all_single(torch.empty(6), whole)
dist.all_reduce_coalesced([whole, part.float()])
other = dist.new_group([0, 1])
dist.all_reduce(torch.ones(4), group=other)
x = torch.ones(6, requires_grad=True)
y = x * 2
y.register_hook(lambda grad: dist.all_reduce(grad))
y.sum().backward()
"""
HANDED = [  # operation, number, elements, dtype, tensors, peer
    ('BARRIER', 1, 0, None, 0, -1), ('ALLREDUCE', 2, 6, 'float32', 1, -1), ('BROADCAST', 3, 3, 'float64', 1, 1),
    ('REDUCE', 4, 3, 'float64', 1, 1), ('ALLGATHER', 5, 6, 'float32', 1, -1), ('GATHER', 6, 6, 'float32', 1, 0),
    ('SCATTER', 7, 3, 'float64', 1, 1), ('SEND or RECV', 1, 6, 'float32', 1, 'other'), ('SEND or RECV', 2, 3, 'float64', 1, 'other'),
    ('ALLTOALL_BASE', 8, 6, 'float32', 1, -1), ('ALLREDUCE_COALESCED', 9, 6, 'float32', 2, -1), ('ALLREDUCE', 1, 4, 'float32', 1, -1),
    ('ALLREDUCE', 10, 6, 'float32', 1, -1)]


class Collectives(RanksCase):
    def test_all(self):
        for python in torches.of_test(self):
            done = self.record_ranks(python, ALL)
            self.assertEqual(done.returncode, 0, done.stderr)
            for rank in range(2):
                tape = f'a.rank{rank}.tape'
                told = self.collectives(tape)
                self.assertEqual([self.facts_of(event, rank) for event in told], HANDED)
                self.assertEqual({(event['rank'], event['size']) for event in told}, {(rank, 2)})
                *before, inside, last = told
                self.assertEqual({event['instance'] for event in before}, {0})
                self.assertEqual((inside['instance'], last['instance']), (1, 0))
                self.assertEqual(inside['group'] == before[0]['group'], not inside['group'])
                lines = (self.folder / 'rank.py').read_text().splitlines()
                for event in before:
                    line = event['stack'].split(' ')[0].split(':')[-1] if event['stack'].count('\n') == 0 else self.own_line(event)
                    self.assertIn('dist.', lines[int(line) - 1])
                self.assertEqual((last['stack'], last['node'] is None, last['graph_task']), (None, False, 0))
                self.assertEqual({(event['node'], event['graph_task']) for event in before}, {(None, None)})
                self.assert_checked(tape)
                self.check_waits(tape)
                settings = {event['name']: event['value'] for event in self.events(tape) if event['event'] == 'setting'}
                self.assertEqual(settings['order of collectives'], 'whole')
            self.assertIn('handed operation 2 to ', self.said('events', 'a.tape'))

    def check_waits(self, tape):
        """Each operation that is not in the pass is waited for outside of it."""
        begun = [event for event in self.events(tape) if event['event'] == 'collective_begin' and event['graph_task'] is None]
        ended = [event for event in self.events(tape) if event['event'] == 'collective_end' and event['graph_task'] is None]
        self.assertEqual(len(begun), len(ended))
        self.assertGreaterEqual(len(begun), len(HANDED) - 1)
        self.assertEqual({event['node'] for event in begun + ended}, {None})
        self.assertGreater(min(event['waited'] for event in ended), 0)

    def facts_of(self, event, rank):
        facts = [event[name] for name in ('operation', 'number', 'elements', 'dtype', 'tensors', 'peer')]
        if facts[0] in ('SEND', 'RECV', 'RECVANYSOURCE'):
            self.assertEqual(facts[0] == 'SEND', rank == 0)
            self.assertEqual(facts[5], -1 if facts[0] == 'RECVANYSOURCE' else 1 - rank)
            facts[0], facts[5] = 'SEND or RECV', 'other'
        return tuple(facts)

    def own_line(self, event):
        """The line of rank.py, which called PyTorch's Python."""
        return [line for line in event['stack'].splitlines() if '/rank.py:' in line][-1].split(' ')[0].split(':')[-1]

    def test_group_made_again(self):
        """A later group has another number, also at the same place in memory, and counts anew."""
        for python in torches.of_test(self):
            done = self.record_ranks(python, """
                for i in range(3):
                    if i: dist.init_process_group('gloo', rank=rank, world_size=size, init_method=f'file://{os.getcwd()}/meeting{i}')
                    for _ in range(2): dist.all_reduce(torch.ones(2))
                    dist.destroy_process_group()
                """)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(self.tapes(), ['a.rank0.tape', 'a.rank1.tape', 'a.tape'], done.stderr)
            told = self.collectives('a.rank0.tape')
            self.assertEqual([(event['instance'], event['number']) for event in told], [(0, 1), (0, 2), (1, 1), (1, 2), (2, 1), (2, 2)])
            for path in self.folder.glob('meeting*'):
                path.unlink()

    def test_where_none_can_be_seen(self):
        """Level 2 says that it sees none. A program that loads the recorder itself says that its count is not the group's."""
        python = torches.pythons()[-1]
        body = "dist.all_reduce(torch.ones(2))\n(torch.ones(2, requires_grad=True) * 2).sum().backward()\ndist.all_reduce(torch.ones(2))\n"
        done = self.record_ranks(python, body, options=['--level', '2'])
        self.assertEqual(done.returncode, 0, done.stderr)
        absent = {event['kind']: event['how'] for event in self.events('a.rank0.tape') if event['event'] == 'known'}
        self.assertEqual((self.collectives('a.rank0.tape'), absent.get('collective', 'absent')), ([], 'absent'))
        self.assertIn('collective', self.said('info', 'a.rank0.tape', '--json'))
        self.environment |= {'PYTHONPATH': PACKAGE, 'TAPEDECK': os.environ['TAPEDECK'], 'RANK': '0', 'WORLD_SIZE': '1'}
        self.write_ranks('import tapedeck\ndist.all_reduce(torch.ones(2))\ntapedeck.start("inside.tape")\n' + body)
        done = self.run_in(python, 'rank.py')
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([event['number'] for event in self.collectives('inside.tape')], [1, 2])
        settings = {event['name']: event['value'] for event in self.events('inside.tape') if event['event'] == 'setting'}
        self.assertEqual(settings['order of collectives'], 'in part')


if __name__ == '__main__':
    torches.need_compiler()
    skipping.main()

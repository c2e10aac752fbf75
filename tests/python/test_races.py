# SPDX-License-Identifier: LGPL-2.1-or-later
"""Passes of several threads through one graph, for the thread sanitizer: each found a race once."""
import unittest

from script_case import ScriptCase


class Races(ScriptCase):
    def test_saved_tensors_while_another_pass_releases_them(self):
        self.assertEqual(self.output('''
            import threading, torch
            class Saves(torch.autograd.Function):
                @staticmethod
                def forward(ctx, x):
                    ctx.save_for_backward(x)
                    return x * 2
                @staticmethod
                def backward(ctx, g):
                    barrier.wait()  # all are here before one returns, and its pass releases what was saved
                    try:
                        seen.append(ctx.saved_tensors[0].tolist())
                    except RuntimeError as problem:
                        seen.append(str(problem)[:50])
                    return g
            seen = []
            for _ in range(50):
                y = Saves.apply(torch.ones(2, requires_grad=True)).sum()
                barrier = threading.Barrier(4)
                threads = [threading.Thread(target=y.backward) for _ in range(4)]
                for thread in threads:
                    thread.start()
                for thread in threads:
                    thread.join()
            known = [1.0, 1.0], 'Trying to backward through the graph a second time'
            print(len(seen), [what for what in seen if what not in known])
            '''), '200 []')

    def test_requires_grad_is_set_while_a_pass_runs(self):
        self.assertEqual(self.output('''
            import threading, torch
            leaf = torch.ones(2, device="sim:0", requires_grad=True)
            y = leaf * 2
            def backward():
                for _ in range(200):
                    y.sum().backward(retain_graph=True)
            thread = threading.Thread(target=backward)
            thread.start()
            while thread.is_alive():
                leaf.requires_grad_(not leaf.requires_grad)
            leaf.requires_grad_()  # all passes may have come while it was off
            y.sum().backward()
            print(leaf.grad is not None)
            ''', '--devices', 'cpu,sim'), 'True')


if __name__ == '__main__':
    unittest.main(verbosity=2)

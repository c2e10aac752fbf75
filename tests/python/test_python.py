# SPDX-License-Identifier: LGPL-2.1-or-later
"""The Python module, through the real command: values, texts, what it refuses."""
import json
import os
import subprocess
import sys
import unittest

from script_case import ScriptCase


class Module(ScriptCase):
    def test_printing(self):
        cases = {
            'torch.tensor([1., 2.], requires_grad=True)': 'tensor([1., 2.], requires_grad=True)',
            'torch.tensor([1.5, -2.25])': 'tensor([ 1.5000, -2.2500])',
            'torch.tensor(3)': 'tensor(3)',
            'torch.tensor([True, False])': 'tensor([ True, False])',
            'torch.tensor([1e-6, 1.0])': 'tensor([1.0000e-06, 1.0000e+00])',
            'torch.tensor([1.], dtype=torch.float64)': 'tensor([1.], dtype=torch.float64)',
            'torch.zeros(2, 2)': 'tensor([[0., 0.],\n        [0., 0.]])',
            'torch.tensor([float("nan"), float("inf")])': 'tensor([nan, inf])',
            'torch.tensor([2.], requires_grad=True) * 2': 'tensor([4.], grad_fn=<MulBackward0>)',
            'torch.zeros(2, 3).shape': 'torch.Size([2, 3])',
            'torch.tensor([])': 'tensor([])',
            'torch.float32': 'torch.float32',
            'torch.device("cpu")': 'cpu',
        }
        script = 'import torch\n' + ''.join(f'print({case})\n' for case in cases)
        self.assertEqual(self.output(script), '\n'.join(cases.values()))

    def test_arithmetic(self):
        self.assertEqual(self.output('''
            import torch
            x = torch.tensor([1.0, 2.0, 4.0])
            print((x + 1).tolist(), (1 - x).tolist(), (x / 2).tolist(), (2 / x).tolist(), (2 ** x).tolist())
            print((x ** 2).tolist(), (-x).tolist(), (x @ x).item(), (x > 1).tolist(), abs(-x).tolist())
            print(torch.arange(4).dtype, (torch.arange(4) / 2).dtype, (x * 2).dtype, (torch.arange(2) + 0.5).dtype)
            '''), '[2.0, 3.0, 5.0] [0.0, -1.0, -3.0] [0.5, 1.0, 2.0] [2.0, 1.0, 0.5] [2.0, 4.0, 16.0]\n'
                  '[1.0, 4.0, 16.0] [-1.0, -2.0, -4.0] 21.0 [False, True, True] [1.0, 2.0, 4.0]\n'
                  'torch.int64 torch.float32 torch.float32 torch.float32')

    def test_indexing(self):
        self.assertEqual(self.output('''
            import torch
            x = torch.arange(12).view(3, 4)
            print(x[1].tolist(), x[1, 2].item(), x[-1, ::2].tolist(), x[:, 1].tolist(), x[..., 0].tolist())
            print(x[1:].shape, x[None].shape, x[[2, 0]][:, 0].tolist(), x[torch.tensor([1])].tolist())
            x[0, 0] = 7
            x[1] = torch.zeros(4).long()
            print(x.tolist(), len(x))
            '''), '[4, 5, 6, 7] 6 [8, 10] [1, 5, 9] [0, 4, 8]\n'
                  'torch.Size([2, 4]) torch.Size([1, 3, 4]) [8, 0] [[4, 5, 6, 7]]\n'
                  '[[7, 1, 2, 3], [0, 0, 0, 0], [8, 9, 10, 11]] 3')

    def test_identities(self):
        self.assertEqual(self.output('''
            import torch
            x = torch.tensor([1., 2.], requires_grad=True)
            y = x * x
            y.sum().backward()
            g = x.grad
            accumulators = [edge[0] for edge in y.grad_fn.next_functions]
            print(x.grad is g, y.grad_fn is y.grad_fn, accumulators[0] is accumulators[1], accumulators[0].name())
            (x * x).sum().backward()
            print(x.grad is g, g.tolist(), y.grad_fn._sequence_nr(), type(y.grad_fn).__name__, y.is_leaf)
            '''), 'True True True torch::autograd::AccumulateGrad\nTrue [4.0, 8.0] 0 MulBackward0 False')

    def test_post_hooks(self):
        self.assertEqual(self.output('''
            import torch
            x = torch.tensor([1., 2.], requires_grad=True)
            y = x * 3
            def hook(grad_inputs, grad_outputs):
                print([g if g is None else g.tolist() for g in grad_inputs], [g.tolist() for g in grad_outputs])
            handle = y.grad_fn.register_hook(hook)
            y.sum().backward(retain_graph=True)
            handle.remove()
            y.sum().backward()
            '''), '[[3.0, 3.0], None] [[1.0, 1.0]]')

    def test_hook_that_returns(self):
        self.raises('(y.sum()).backward()', "TypeError: expected tuple, but hook returned 'int'",
                    'y = x * 3\ny.grad_fn.register_hook(lambda i, o: 1)')

    def test_grad_mode(self):
        self.assertEqual(self.output('''
            import torch
            x = torch.ones(1, requires_grad=True)
            @torch.no_grad()
            def off():
                with torch.enable_grad():
                    inner = (x * 2).requires_grad
                return (x * 2).requires_grad, inner
            print(off(), (x * 2).requires_grad)
            with torch.set_grad_enabled(False):
                print(torch.is_grad_enabled())
            print(torch.is_grad_enabled())
            with torch.no_grad():
                x += 1
                x.mul_(3).sub_(1, alpha=2)
            print(x)
            '''), '(False, True) True\nFalse\nTrue\ntensor([4.], requires_grad=True)')

    def test_grad(self):
        self.assertEqual(self.output('''
            import torch
            x = torch.tensor([2.], requires_grad=True)
            first, = torch.autograd.grad(x ** 3, x, create_graph=True)
            second, = torch.autograd.grad(first, x)
            unused = torch.ones(1, requires_grad=True)
            print(first.item(), second.item(), x.grad, torch.autograd.grad(x * 2, [x, unused], allow_unused=True))
            '''), '12.0 12.0 None (tensor([2.]), None)')

    def test_states_of_a_selective_pass(self):
        """What the pass does not need is skipped from the beginning, what it keeps is captured; a popped node runs."""
        self.run_script('''
            import torch
            x = torch.tensor(2., requires_grad=True)
            y = x * 3
            torch.autograd.grad(y.sin() + x.cos(), [y])
            ''')
        events = self.events()

        def states(seq):
            done = self.tapedeck('state', 'script.tape', '--at', str(seq), '--json')
            return {node['name']: node['state'] for node in json.loads(done.stdout)['nodes']}
        pop = next(event['seq'] for event in events if event['event'] == 'queue_pop')
        end = next(event['seq'] for event in events if event['event'] == 'graph_task_end')
        self.assertEqual(states(pop)['AddBackward0'], 'running')
        self.assertEqual(states(pop)['CosBackward0'], 'skipped')
        self.assertEqual(states(end), {'AddBackward0': 'done', 'SinBackward0': 'done', 'MulBackward0': 'captured',
                                       'CosBackward0': 'skipped', 'AccumulateGrad': 'skipped'})

    def test_custom_function(self):
        self.assertEqual(self.output('''
            import torch
            class Cube(torch.autograd.Function):
                @staticmethod
                def forward(ctx, x, scale):
                    ctx.save_for_backward(x)
                    ctx.scale = scale
                    return scale * x ** 3
                @staticmethod
                def backward(ctx, grad):
                    x, = ctx.saved_tensors
                    return grad * 3 * x ** 2 * ctx.scale, None
            x = torch.tensor([2.], requires_grad=True)
            y = Cube.apply(x, 10)
            y.backward()
            print(y, y.grad_fn.name(), x.grad, y.grad_fn.scale, [e[0] and e[0].name() for e in y.grad_fn.next_functions])
            first, = torch.autograd.grad(Cube.apply(x, 1), x, create_graph=True)
            print(torch.autograd.grad(first, x)[0].item())
            '''), "tensor([80.], grad_fn=<CubeBackward>) CubeBackward tensor([120.]) 10 ['torch::autograd::AccumulateGrad']\n12.0")

    FUNCTION = ('class Bad(autograd.Function):\n    @staticmethod\n    def forward(ctx, x, n):\n        return x * 2\n'
                '    @staticmethod\n    def backward(ctx, grad):\n        ')

    def test_custom_function_texts(self):
        for returned, text in [
                ('return grad', 'RuntimeError: function BadBackward returned an incorrect number of gradients '
                 '(expected 2, got 1)'),
                ('return grad, grad', 'RuntimeError: function BadBackward returned a gradient different than None at '
                 'position 2, but the corresponding forward input was not a Variable'),
                ('return "g", None', 'RuntimeError: expected Variable or None (got str)'),
                ('raise KeyError("mine")', "KeyError: 'mine'"),
                ('return torch.ones(10), None', 'RuntimeError: Function BadBackward returned an invalid gradient at '
                 'index 0 - got [10] but expected shape compatible with [2]')]:
            with self.subTest(returned):
                self.raises('Bad.apply(x, 1).sum().backward()', text, self.FUNCTION + returned)

    def test_exception_comes_out_as_itself(self):
        script = '''
            import threading, traceback, torch
            mine = ValueError('mine')
            class Bad(torch.autograd.Function):
                @staticmethod
                def forward(ctx, x):
                    return x * 1
                @staticmethod
                def backward(ctx, grad):
                    threads.append(threading.get_ident())
                    raise mine
            threads = []
            x = torch.ones(2, requires_grad=True)
            y = Bad.apply(x.to(DEVICE))
            try:
                y.sum().backward()
            except ValueError as problem:
                frames = [frame.name for frame in traceback.extract_tb(problem.__traceback__)]
                print(problem is mine, frames[-1], threads == [threading.get_ident()], x.grad)
            (x * 2).sum().backward()
            print(x.grad.tolist())
            '''
        for device, same_thread in [('cpu', True), ('sim:0', False)]:
            with self.subTest(device):
                self.assertEqual(self.output(script.replace('DEVICE', repr(device)), '--devices', 'cpu,sim:1'),
                                 f'True backward {same_thread} None\n[2.0, 2.0]')

    def test_backward_twice(self):
        self.raises('y.backward()', 'RuntimeError: Trying to backward through the graph a second time (or directly '
                    'access saved tensors after they have already been freed). Saved intermediate values of the graph '
                    'are freed when you call .backward() or autograd.grad(). Specify retain_graph=True if you need to '
                    'backward through the graph a second time or if you need to access saved tensors after calling '
                    'backward.', 'y = x.exp().sum()\ny.backward()')

    def test_argument_texts(self):
        for expression, text in [
                ('torch.ones(1).backward()', 'RuntimeError: element 0 of tensors does not require grad and does not '
                 'have a grad_fn'),
                ('(x * 2).backward()', 'RuntimeError: grad can be implicitly created only for scalar outputs'),
                ('(x * 2).backward(torch.ones(3))', 'RuntimeError: Mismatch in shape: grad_output[0] has a shape of '
                 'torch.Size([3]) and output[0] has a shape of torch.Size([2]).'),
                ('autograd.grad(x.sum(), torch.ones(1))', 'RuntimeError: One of the differentiated Tensors does not '
                 'require grad'),
                ('autograd.grad(x.sum(), torch.ones(1, requires_grad=True))', 'RuntimeError: The differentiated '
                 'Tensor at index 0 appears to not have been used in the graph. Set allow_unused=True if this is the '
                 'desired behavior.'),
                ('x.sum().backward(inputs=[])', 'RuntimeError: `inputs` argument to `backward()` cannot be empty.'),
                ('autograd.grad(x.sum(), [])', 'RuntimeError: `inputs` argument to `grad()` cannot be empty.'),
                ('x.add_(1)', 'RuntimeError: a leaf Variable that requires grad is being used in an in-place '
                 'operation.'),
                ('x.grad = torch.ones(3)', "RuntimeError: attempting to assign a gradient of size '[3]' to a tensor of "
                 "size '[2]'. Please ensure that the gradient and the tensor are the same size"),
                ('torch.tensor([[1, 2], [3]])', 'ValueError: expected sequence of length 2 at dim 1 (got 1)'),
                ('bool(x)', 'RuntimeError: Boolean value of Tensor with more than one value is ambiguous'),
                ('x[2]', 'IndexError: index 2 is out of bounds for dimension 0 with size 2'),
                ('torch.nn.functional.nll_loss(torch.zeros(1, 3), torch.tensor([7]))', 'IndexError: Target 7 is out '
                 'of bounds.')]:
            with self.subTest(expression):
                self.raises(expression, text)

    def test_anomaly_mode_raises(self):
        done = self.run_script('''
            import torch
            x = torch.tensor([0.], requires_grad=True)
            with torch.autograd.detect_anomaly():
                (x.sqrt() * 0).sum().backward()
            ''', status=1)
        self.assertIn("Function 'SqrtBackward0' returned nan values in its 0th output.", done.stderr)

    def test_two_threads_at_once(self):
        self.assertEqual(self.output('''
            import threading
            import torch
            x = torch.ones(8, requires_grad=True)
            start = threading.Barrier(2)
            def work():
                start.wait()
                for _ in range(50):
                    y = x
                    for _ in range(20):
                        y = y * 1.0
                    y.grad_fn.register_hook(lambda grad_inputs, grad_outputs: None)
                    y.sum().backward()
            threads = [threading.Thread(target=work) for _ in range(2)]
            [t.start() for t in threads]
            [t.join() for t in threads]
            print(x.grad.tolist())
            '''), str([100.0] * 8))
        passes = [e for e in self.events() if e['event'] == 'graph_task_begin']
        self.assertEqual((len(passes), len({e['owner'] for e in passes})), (100, 2))

    def test_parameter_names_on_the_tape(self):
        self.run_script('''
            import torch
            from torch import nn
            net = nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU(), nn.Flatten(), nn.Linear(2 * 6 * 6, 3))
            nn.CrossEntropyLoss()(net(torch.rand(4, 1, 8, 8)), torch.tensor([0, 1, 2, 0])).backward()
            ''')
        labels = {e['label'] for e in self.events() if e['event'] == 'node_label'}
        self.assertEqual(labels, {'0.weight', '0.bias', '3.weight', '3.bias'})

    def test_results_of_operations_that_fail(self):
        """An operation has its result when a hook refuses what it saves, or when its operand has lost its history."""
        self.assertEqual(self.output('''
            import torch
            def refuse(tensor):
                raise ValueError('refused')
            x = torch.ones(4, 2, requires_grad=True)
            with torch.autograd.graph.saved_tensors_hooks(refuse, refuse):
                for call in (x.tanh, lambda: x.max(0), lambda: x * x, lambda: x[x > 0], lambda: torch.stack([x.exp()])):
                    try:
                        call()
                    except ValueError as problem:
                        print(problem)
            y = x * 2
            lost = y.unbind(0)[0]
            y.add_(1)
            for call in (lambda: lost.chunk(2), lambda: list(lost), lambda: lost.unbind(0), lambda: lost.sin(), lambda: lost[0]):
                try:
                    print(call())
                except RuntimeError as problem:
                    print(str(problem)[:30])
            '''), '\n'.join(['refused'] * 5 + ['Output 0 of Unbind is a view a'] * 5))

    def test_hooks_that_remove_hooks(self):
        code = '''\
            import torch
            for device in ('cpu', 'sim:0'):
                y = torch.ones(2).to(device).requires_grad_() * 2
                handles = []
                def hook(grad_inputs, grad_outputs):
                    print('hook')
                    for handle in handles:
                        handle.remove()
                handles += [y.grad_fn.register_hook(hook) for _ in range(3)]
                y.sum().backward(retain_graph=True)
                y.sum().backward()
            '''
        self.assertEqual(self.output(code, '--devices', 'cpu,sim:1'), '\n'.join(['hook'] * 6))

    def test_mark_refuses(self):
        code = '''\
            import tapedeck
            for text in ('\\ud800', 'a\\0b', 3):
                try:
                    tapedeck.mark(text)
                except Exception as problem:
                    print(type(problem).__name__)
            '''
        self.assertEqual(self.output(code), 'UnicodeEncodeError\nValueError\nTypeError')

    def test_marks_and_steps(self):
        self.run_script('''
            import tapedeck
            tapedeck.mark('before')
            tapedeck.step()
            tapedeck.step()
            ''')
        self.assertEqual([e.get('text', e.get('iteration')) for e in self.events() if e['event'] in ('mark', 'step')],
                         ['before', 0, 1])

    def test_without_recorder(self):
        code = 'import tapedeck, torch; tapedeck.mark("m"); tapedeck.step(); x = torch.ones(2, requires_grad=True); ' \
               'x.sum().backward(); print(x.grad.tolist())'
        environment = {**os.environ, 'PYTHONPATH': os.environ['OWN_ENGINE'] + ':' + os.environ['PYTHONPATH']}
        done = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, env=environment)
        self.assertEqual((done.stdout, done.stderr), ('[1.0, 1.0]\n', ''))


class BadInput(ScriptCase):
    """What is wrong is said, the next pass is right, and every rule holds on the tape of it all."""
    SETUP = '''
        import gc, threading, torch
        def function(backward, forward=lambda ctx, x, other: x * 2):
            names = {'forward': staticmethod(forward), 'backward': staticmethod(backward)}
            return type('Bad', (torch.autograd.Function,), names).apply
        def boom(*args):
            raise ValueError('boom')
        def hooked(hook, x):
            y = x * 2
            y.register_hook(hook)
            return y
        def in_thread(call):
            problems = []
            def run():
                try:
                    call()
                except Exception as problem:
                    problems.append(problem)
            thread = threading.Thread(target=run)
            thread.start()
            thread.join()
            raise problems[0]
        x = torch.tensor([1., 2.], requires_grad=True)
        c = torch.ones(2)
        '''
    CASES = {
        'x.exp().backward(torch.ones(3))': 'Mismatch in shape',
        'x.exp().backward(torch.ones(2, device="sim:0"))': 'expected device cpu but got sim:0',
        'torch.autograd.grad(x.exp().sum(), [c])': 'does not require grad',
        'torch.autograd.grad([x.exp().sum(), x.sin().sum()], [c.requires_grad_()])': 'not have been used',
        'function(lambda ctx, g: (g, g, g))(x, c).sum().backward()': 'incorrect number of gradients',
        'function(lambda ctx, g: torch.ones(10))(x.exp(), 1).sum().backward()': 'incorrect number of gradients',
        'function(lambda ctx, g: (torch.ones(10), None))(x.exp(), c).sum().backward()': 'invalid gradient at index 0',
        'function(lambda ctx, g: ("a", None))(x.exp(), c).sum().backward()': 'expected Variable or None',
        'function(boom)(x.exp(), c).sum().backward()': 'boom',
        'in_thread(lambda: function(boom)(x.exp(), c).sum().backward())': 'boom',
        'function(None, boom)(x, c)': 'boom',
        'function(None, lambda ctx, x, c: ctx.save_for_backward(3) or x * 2)(x, c)': 'can only save variables',
        'function(None, lambda ctx, x, c: ctx.mark_dirty(x) or x * 2)(x.exp(), c)': 'were not returned as output',
        'function(None, lambda ctx, x, c: ctx.mark_dirty(x) or x)(x, c)': 'a leaf Variable that requires grad',
        'hooked(lambda g: 3, x).sum().backward()': 'expected Variable, but hook returned',
        'hooked(boom, x).sum().backward()': 'boom',
        'y = x.exp().sum(); y.backward(); y.backward()': 'a second time',
        'torch._C._functions.DelayedError("boom", 1)(x.exp()).sum().backward()': 'boom',
        'torch.autograd.backward([x.sum(), (x * x).sum(), c.sum()])': 'element 2 of tensors does not require grad',
    }

    def test_texts_and_tapes(self):
        for case, text in self.CASES.items():
            with self.subTest(case):
                script = self.SETUP + f'''
        try:
            {case}
        except Exception as problem:
            print(problem)
        x.grad = None
        (x * x * 3).exp().log().sum().backward()
        print(x.grad.tolist())
        '''
                said, grad = self.output(script, '--devices', 'cpu,sim:1').rsplit('\n', 1)
                self.assertIn(text, said)
                self.assertEqual([round(value, 3) for value in json.loads(grad)], [6.0, 12.0])
                checked = self.tapedeck('check', 'script.tape')
                self.assertEqual(checked.returncode, 0, checked.stdout)


if __name__ == '__main__':
    unittest.main(verbosity=2)

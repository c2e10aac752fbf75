# SPDX-License-Identifier: LGPL-2.1-or-later
"""`tapedeck run` and the examples: arguments, exit statuses, signals, tapes."""
import json
import os
import signal
import subprocess
import sys
import time
import unittest

from commands import VIEWER
from script_case import TAPEDECK, ScriptCase


class Run(ScriptCase):
    def one_line(self, done, status, *words):
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)

    def test_ends_with_one_line(self):
        done = self.run_script('print("hello")')
        self.assertEqual(done.stdout, 'hello\n')
        self.one_line(done, 0, 'script.tape', f'tapedeck {VIEWER} script.tape')

    def test_standard_input_and_arguments(self):
        done = self.tapedeck('run', self.write('import sys; print(sys.argv, sys.path[0], input(), __name__)'), '--force',
                             '-o', 'x', input='typed\n')
        self.assertEqual(done.stdout.strip(),
                         f"['script.py', '--force', '-o', 'x'] {os.path.realpath(self.folder)} typed __main__")

    def test_imports_beside_the_script(self):
        self.write('value = 5', 'helper.py')
        self.assertEqual(self.output('import helper; print(helper.value)'), '5')

    def test_script_that_raises(self):
        done = self.run_script('''
            import torch
            x = torch.ones(1, requires_grad=True)
            x.exp().backward()
            raise ValueError('my own')
            ''', status=1)
        lines = done.stderr.splitlines()
        self.assertEqual(lines[:2], ['Traceback (most recent call last):',
                                     '  File "script.py", line 5, in <module>'])
        self.assertEqual(lines[-2], 'ValueError: my own')
        self.assertIn('graph_task_end', [e['event'] for e in self.events()])
        self.assertEqual([e['status'] for e in self.events() if e['event'] == 'session_end'], [1])

    def test_advice_to_record_pytorch(self):
        """It follows what the engine may lack, and no failure of the script's own."""
        for line, what in (('from torch.func import vmap', 'does not have torch.func'),
                           ('import torchvision', 'does not have torchvision'),
                           ('from torch.nn import Nothing', 'does not have this name of torch.nn'),
                           ('torch.linalg.nothing', 'does not have torch.linalg.nothing'),
                           ('torch.ones(2).nothing()', 'does not have Tensor.nothing'),
                           ('torch.autocast("cpu").__enter__()', 'does not do this')):
            done = self.run_script(f'import torch\n{line}\n', status=1)
            self.assertIn(f"tapedeck: Tapedeck's engine {what}. If PyTorch does, record PyTorch: tapedeck record python3 script.py",
                          done.stderr.splitlines())
        for line in ('raise NotImplementedError', 'import nothing_at_all', 'object().nothing', 'torch.nn.Linear(2, 2).nothing',
                     'torch.ones(2) @ torch.ones(3)', 'torch.zeros(2, requires_grad=True).backward()'):
            self.assertNotIn('record PyTorch', self.run_script(f'import torch\n{line}\n', status=1).stderr)

    def test_syntax_error(self):
        done = self.run_script('x = = 1', status=1)
        self.assertIn('SyntaxError', done.stderr)
        self.assertNotIn('runner.py', done.stderr)

    def test_exit_statuses(self):
        for leaving, status in [('sys.exit(7)', 7), ('sys.exit()', 0), ('sys.exit("words")', 1), ('os._exit(9)', 9),
                                ('raise KeyboardInterrupt', 130), ('os.kill(os.getpid(), 9)', 137), ('os.kill(os.getpid(), 15)', 143)]:
            with self.subTest(leaving):
                self.run_script(f'import os, sys\n{leaving}\n', status=status)

    def test_killed_program_leaves_a_readable_tape(self):
        done = self.run_script('''
            import os, torch
            x = torch.ones(1, requires_grad=True)
            for _ in range(20000):
                x.exp().backward()
            os.kill(os.getpid(), 9)
            ''', status=137)
        self.one_line(done, 137, 'tapedeck info script.tape')
        self.assertEqual(self.tapedeck('info', 'script.tape').returncode, 0)

    def test_threads_and_exit_handlers_are_on_the_tape(self):
        self.run_script('''
            import atexit, threading, tapedeck
            started = threading.Event()
            def late():
                started.set()
                threading.main_thread().join()
                tapedeck.mark('thread')
            atexit.register(tapedeck.mark, 'handler')
            threading.Thread(target=late).start()
            started.wait()
            ''')
        self.assertEqual([e['text'] for e in self.events() if e['event'] == 'mark'], ['thread', 'handler'])

    def test_threads_have_the_names_of_python(self):
        self.run_script('''
            import threading, torch
            def step():
                torch.ones(1, requires_grad=True).exp().backward()
            for name in ('loader-7', None):
                thread = threading.Thread(target=step, name=name)
                thread.start()
                thread.join()
            step()
            ''')
        events = self.events()
        names = {e['id']: e['name'] for e in events if e['event'] == 'thread_new'}
        self.assertEqual([names[e['thread']] for e in events if e['event'] == 'graph_task_begin'],
                         ['loader-7', 'Thread-1 (step)', 'main'])

    def test_child_of_a_fork_leaves_the_tape_alone(self):
        self.run_script('''
            import os, torch
            x = torch.ones(1, requires_grad=True)
            x.exp().backward()
            pid = os.fork()
            if pid == 0:
                x.exp().backward()
                raise SystemExit(0)
            os.waitpid(pid, 0)
            x.exp().backward()
            ''')
        self.assertEqual(len([e for e in self.events() if e['event'] == 'graph_task_begin']), 2)

    def test_signals_are_handed_on(self):
        script = self.write('''
            import os, signal, sys, time
            def stop(number, frame):
                os.write(1, b'got %d' % number)  # print() may be under way
                sys.exit(3)
            for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
                signal.signal(number, stop)
            print('ready', flush=True)
            while True:
                time.sleep(0.1)  # not pause(): the signal may have come before
            ''')
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            with self.subTest(number), subprocess.Popen([TAPEDECK, 'run', '--force', script], cwd=self.folder, text=True,
                                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as child:
                self.assertEqual(child.stdout.readline(), 'ready\n')
                child.send_signal(number)
                self.assertEqual(child.stdout.read(), f'got {int(number)}')
                self.assertEqual(child.wait(120), 3)

    def test_interrupted_end(self):
        """Ctrl+C while the tape is being ended: the tape is whole, and the exit status is the script's."""
        done = self.run_script('''
            import os, signal, torch
            from torch import _C
            end = _C.record_end
            def interrupted(status):
                os.kill(os.getpid(), signal.SIGINT)
                end(status)
            _C.record_end = interrupted
            torch.ones(1, requires_grad=True).exp().backward()
            raise SystemExit(4)
            ''', status=4)
        self.assertNotIn('not complete', done.stderr)
        self.assertNotIn('KeyboardInterrupt', done.stderr)
        self.assertEqual([e['status'] for e in self.events() if e['event'] == 'session_end'], [4])

    def test_spawned_process_has_the_same_engine(self):
        """It begins with the script's path, not with its modules."""
        done = self.run_script("""
            import multiprocessing, tapedeck
            def child(queue):
                import torch
                tapedeck.mark('in the child')
                queue.put(torch.__version__)
            if __name__ == '__main__':
                spawn = multiprocessing.get_context('spawn')
                queue = spawn.Queue()
                process = spawn.Process(target=child, args=(queue,))
                process.start()
                print(queue.get())
                process.join()
            """)
        self.assertEqual(done.stdout, '2.15.0+tapedeck\n')

    def test_killed_recorder(self):
        """Somebody kills `tapedeck run` alone: the script goes on, says nothing of it, and leaves its tape."""
        script = self.write("""
            import sys, torch
            x = torch.ones(1, requires_grad=True)
            print('ready', flush=True)
            sys.stdin.readline()
            x.exp().backward()
            print('done', flush=True)
            """)
        with subprocess.Popen([TAPEDECK, 'run', '-o', 'kept.tape', script], cwd=self.folder, text=True, stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
            self.assertEqual(child.stdout.readline(), 'ready\n')
            child.kill()
            child.wait()
            child.stdin.write('\n')
            child.stdin.flush()
            self.assertEqual((child.stdout.read(), child.stderr.read()), ('done\n', ''))
        self.assertEqual(self.tapedeck('check', os.path.join(self.folder, 'kept.tape')).returncode, 0)

    def test_tape_is_not_overwritten(self):
        self.run_script('print(1)')
        before = os.stat(self.path('script.tape')).st_mtime_ns
        done = self.tapedeck('run', 'script.py')
        self.one_line(done, 2, 'script.tape', '--force')
        self.assertEqual((done.stdout, os.stat(self.path('script.tape')).st_mtime_ns), ('', before))
        self.assertEqual(self.tapedeck('run', '-o', 'other.tape', 'script.py').returncode, 0)

    def test_bad_usage(self):
        self.write('print("ran")')
        for arguments, word in [
                (['nothing.py'], 'nothing.py'), (['--colour', 'script.py'], '--colour'), ([], 'few'),
                (['--anomaly', 'perhaps', 'script.py'], 'perhaps'), (['--break', '', 'script.py'], 'node:NUMBER'),
                (['--scheduler', '2018', 'script.py'], '2017-fifo'),
                (['--stats', 'perhaps', 'script.py'], 'perhaps'),
                (['--break', 'node:x', 'script.py'], 'node:x'),
                (['--devices', 'abacus', 'script.py'], 'abacus'), (['--seed', 'x', 'script.py'], '--seed'),
                (['.'], 'directory')]:
            with self.subTest(arguments):
                done = self.tapedeck('run', *arguments)
                self.one_line(done, 2, word)
                self.assertEqual(done.stdout, '')

    def test_tape_that_cannot_be_made(self):
        self.write('print("ran")')
        done = self.tapedeck('run', '-o', 'no/such/folder.tape', 'script.py')
        self.one_line(done, 125, 'no/such/folder.tape', 'No such file or directory')
        self.assertEqual(done.stdout, '')

    # The limit comes when the recording runs, as a disk fills up; before, it would hit the rings too.
    FILL = '''
        import os, resource, sys, time, torch
        x = torch.ones(1, requires_grad=True)
        empty = os.path.getsize('script.tape') if os.path.exists('script.tape') else None
        x.exp().backward()
        while empty and os.path.getsize('script.tape') == empty:  # a tape without an event would be removed
            time.sleep(0.01)
        resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))
        for _ in range(3000):
            x.exp().exp().backward()
        print('done')
        '''

    def test_full_disk(self):
        self.write(self.FILL)
        self.one_line(self.tapedeck('run', '--force', '-o', '/dev/full', 'script.py'), 125, '/dev/full',
                      'No space left on device')

    def test_disk_that_fills_up(self):
        self.write(self.FILL)
        done = self.tapedeck('run', 'script.py')
        self.one_line(done, 125, 'script.tape', 'File too large')
        self.assertEqual(done.stdout, 'done\n')
        self.assertEqual(self.tapedeck('info', 'script.tape').returncode, 0)

    def test_failing_program_keeps_its_status(self):
        self.write(self.FILL + 'sys.exit(4)\n')
        self.one_line(self.tapedeck('run', 'script.py'), 4, 'script.tape', 'File too large')

    def test_seed(self):
        script = 'import torch; print(torch.rand(3).tolist())'
        self.assertEqual(self.output(script, '--seed', '7'), self.output('import torch; torch.manual_seed(7); '
                                                                       'print(torch.rand(3).tolist())'))
        self.assertNotEqual(self.output(script, '--seed', '7'), self.output(script, '--seed', '8'))

    def test_anomaly_of_a_sum_is_on_the_tape(self):
        done = self.tapedeck('run', '--anomaly', 'nan', 'nan_from_sum')
        self.assertEqual(done.returncode, 0, done.stderr)
        births = [(e['kind'], e['born']) for e in self.events('nan_from_sum.tape') if e['event'] == 'anomaly']
        self.assertEqual(births, [('nan', 'forward'), ('nan', 'sum')])

    def test_devices(self):
        self.run_script('''
            import torch
            w = torch.ones(2, requires_grad=True)
            (w.to('sim:0') * 2).sum().to('sim:1').backward()
            print(w.grad.tolist(), torch.device('sim:1'))
            ''', '--devices', 'cpu,sim:2')
        devices = {e['device'] for e in self.events() if e['event'] == 'node_new'}
        self.assertGreater(len(devices), 1)


class Examples(ScriptCase):
    def test_each_runs_and_checks(self):
        listed = json.loads(self.tapedeck('examples', '--json').stdout)
        self.assertGreater(len(listed), 10)
        for example in listed:
            with self.subTest(example['name']):
                self.assertGreater(len(example['summary']), 10)
                done = self.tapedeck('run', example['name'])
                self.assertEqual(done.returncode, 0, done.stderr)
                checked = self.tapedeck('check', example['name'] + '.tape')
                self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)

    def test_asks_for_its_check(self):
        """An example of a NaN looks for it. Who runs it may choose otherwise."""
        for options, status in ([], 1), (['--anomaly', 'off'], 0):
            self.assertEqual(self.tapedeck('run', '--force', *options, 'nan_from_sum').returncode, 0)
            self.assertEqual(self.tapedeck('findings', 'nan_from_sum.tape').returncode, status)

    def test_lines(self):
        lines = self.tapedeck('examples').stdout.splitlines()
        self.assertEqual(len(lines), len(json.loads(self.tapedeck('examples', '--json').stdout)))
        self.assertTrue(any(line.startswith('digits ') for line in lines))

    def test_digits_learns_quickly(self):
        """In few steps: how long they take is the machine's matter."""
        done = self.tapedeck('run', 'digits')
        self.assertLess(sum(line.startswith('step ') for line in done.stdout.splitlines()), 30)
        accuracy = [float(line.split()[-1].rstrip('%')) for line in done.stdout.splitlines() if 'accuracy' in line]
        self.assertLess(accuracy[0], 30)
        self.assertGreater(accuracy[1], 60)
        self.assertEqual(done.stdout, self.tapedeck('run', '--force', 'digits').stdout)


def setUpModule():
    """A background job or nohup has these ignored, and programs inherit that."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


if __name__ == '__main__':
    unittest.main(verbosity=2)

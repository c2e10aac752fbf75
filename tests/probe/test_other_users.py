# SPDX-License-Identifier: LGPL-2.1-or-later
"""What another user of the machine may do to a program that is recorded: nothing; and what too many connections do to the
hub. The two-user parts need root."""
import os
import pathlib
import signal
import socket
import sys
import time
import unittest

import skipping
import torches
from preloads import preload
from record_case import CACHE, TAPEDECK, RecordCase

PRELOAD = pathlib.Path(os.environ['BUILD_ROOT']) / 'engine' / 'probe' / 'libtapedeck-preload.so'
BACKWARD = 'import torch; torch.ones(2, requires_grad=True).sum().backward(); print("fine")'
NOBODY = 65534


# Opens connections until the hub, its parent, has no descriptor left and hangs up on some. Says how many those are, and whether the
# hub then sleeps: ten looks in a row find each of its threads asleep.
CROWD = '''
import glob, os, socket, time
def sleeps():
    looks = []
    for path in glob.glob(f"/proc/{os.getppid()}/task/*/stat"):
        with open(path) as file:
            looks.append(file.read().rpartition(")")[2].split()[0])
    return set(looks) == {"S"}
crowd = []
for _ in range(60):
    peer = socket.socket(socket.AF_UNIX)
    peer.settimeout(60)
    peer.connect(os.environ["TAPEDECK_SESSION"])
    peer.setblocking(False)
    crowd.append(peer)
def is_refused(peer):
    try:
        return peer.recv(1) == b""
    except BlockingIOError:
        return False
end, in_a_row = time.monotonic() + 60, 0
while time.monotonic() < end and (in_a_row < 10 or not any(map(is_refused, crowd))):
    time.sleep(0.02)
    in_a_row = in_a_row + 1 if sleeps() else 0
refused = sum(map(is_refused, crowd))
print(refused > 10, refused < 60, in_a_row >= 10)
'''


def serve(path, said):
    """As another user: a hub that names code to load, and writes down what it hears."""
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(path)
    os.chmod(path, 0o777)
    listening.listen()
    while True:
        peer, _ = listening.accept()
        heard = peer.recv(4096)
        with open(said, 'ab') as file:
            file.write(heard)
        peer.sendall(b'record level=1 observer=/tmp/evil.so tape=/tmp/evil.tape\n')
        peer.close()


class Strangers(RecordCase):
    def run_target(self, **environment):
        done = self.run_in(torches.pythons()[-1], '-c', BACKWARD, env=dict(self.environment, LD_PRELOAD=preload(PRELOAD), **environment))
        self.assertEqual((done.returncode, done.stdout), (0, 'fine\n'), done.stderr)
        return done.stderr

    def record_here(self, *command, **environment):
        return self.record(*command, options=['--force', '-o', 'a.tape'], env=dict(self.environment, **environment))

    @unittest.skipUnless(os.geteuid() == 0, 'only root can become another user')
    def test_hub_of_another_user(self):
        shared = self.folder / 'shared'
        shared.mkdir()
        os.chmod(self.folder, 0o755)
        os.chmod(shared, 0o777)
        path, said = str(shared / 'session'), str(shared / 'said')
        server = os.fork()
        if server == 0:
            try:
                serve(path, said)
            finally:
                os._exit(1)
        self.addCleanup(lambda: (os.kill(server, signal.SIGKILL), os.waitpid(server, 0)))
        for _ in range(1200):
            if os.path.exists(path):
                break
            time.sleep(0.05)
        self.assertIn('belongs to another user', self.run_target(TAPEDECK_SESSION=path))
        heard = pathlib.Path(said).read_bytes() if os.path.exists(said) else b''
        self.assertNotIn(b'hello', heard)

    @unittest.skipUnless(os.geteuid() == 0, 'only root can become another user')
    def test_client_of_another_user(self):
        """The folder keeps others out. So this visitor opens the folder first, as root: the hub must hang up by itself."""
        visit = ('import os, socket; os.chdir(os.path.dirname(os.environ["TAPEDECK_SESSION"]))\n'
                 'os.chmod(".", 0o755); os.chmod("session", 0o666)\n'
                 'if USER: os.setuid(USER)\n'
                 's = socket.socket(socket.AF_UNIX); s.settimeout(TIMEOUT); s.connect("session")\n'
                 'try: s.sendall(b"view\\n"); print(len(s.recv(100)))\n'
                 'except OSError as error: print(type(error).__name__)')
        refused = ('0\n', 'ConnectionResetError\n', 'BrokenPipeError\n')
        done = self.record_here(sys.executable, '-c', visit.replace('USER', str(NOBODY)).replace('TIMEOUT', '60'))
        self.assertIn(done.stdout, refused, done.stderr)
        done = self.record_here(sys.executable, '-c', visit.replace('USER', '0').replace('TIMEOUT', '3'))
        self.assertNotIn(done.stdout, refused, 'the hub hangs up on its own user too')

    def test_observer_that_others_can_write(self):
        torches.need_compiler()
        done = self.record_here(torches.pythons()[-1], '-c', BACKWARD)
        self.assertIn('recorded a.tape', done.stderr)
        observer = max(CACHE.glob('tapedeck/probe/*/observer.so'), key=lambda path: path.stat().st_mtime)
        (self.folder / 'o').mkdir()
        copy = self.folder / 'o' / 'observer.so'
        copy.write_bytes(observer.read_bytes())
        for folder_mode, file_mode in ((0o777, 0o644), (0o755, 0o666), (0o755, 0o664)):
            os.chmod(copy.parent, folder_mode)
            os.chmod(copy, file_mode)
            said = self.run_target(TAPEDECK_SESSION='trial', TAPEDECK_OBSERVER=str(copy), TAPEDECK_TAPE=str(self.folder / 'b.tape'))
            self.assertIn('another user may write to', said)
            self.assertFalse((self.folder / 'b.tape').exists())

    def test_cache_that_others_can_write(self):
        torches.need_compiler()
        cache = self.folder / 'cache'
        cache.mkdir()
        os.chmod(cache, 0o777)
        done = self.record_here(torches.pythons()[-1], '-c', BACKWARD, XDG_CACHE_HOME=str(cache))
        self.assertIn('recording at level 2', done.stderr)
        self.assertIn('another user may write to', done.stderr)

    def test_folder_of_the_session(self):
        """It lies where nobody else can make it again, or it stays."""
        shared = self.folder / 'shared'
        shared.mkdir()
        os.chmod(shared, 0o1777)
        self.environment.pop('XDG_RUNTIME_DIR')
        show = 'import os; print(os.environ["TAPEDECK_SESSION"], oct(os.stat(os.path.dirname(os.environ["TAPEDECK_SESSION"])).st_mode))'
        for environment, begin in (({'XDG_RUNTIME_DIR': str(self.folder)}, self.folder),
                                   ({'XDG_RUNTIME_DIR': str(shared), 'XDG_CACHE_HOME': str(self.folder / 'c')}, self.folder / 'c'),
                                   ({'XDG_CACHE_HOME': str(shared / 'no' / 'x')}, shared / 'no' / 'x'),
                                   ({'XDG_RUNTIME_DIR': 'a', 'XDG_CACHE_HOME': 'b', 'HOME': str(self.folder / 'h')}, self.folder / 'h/.cache'),
                                   ({'XDG_CACHE_HOME': '/proc/x'}, '/tmp')):
            done = self.record_here(sys.executable, '-c', show, **environment)
            path, mode = done.stdout.split()
            self.assertTrue(path.startswith(f'{begin}/'), (path, begin))
            self.assertEqual(mode, '0o40700')
            stays = os.path.exists(os.path.dirname(path))
            self.assertEqual(stays, str(begin) == '/tmp')
            if stays:
                os.rmdir(os.path.dirname(path))

    def test_hub_without_descriptors(self):
        crowd = 'import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (500, 500))\n' + CROWD
        limited = 'ulimit -Sn 40; exec "$0" record -- "$1" -c "$2"'
        done = self.run_in('sh', '-c', limited, TAPEDECK, sys.executable, crowd)
        self.assertEqual(done.stdout, 'True True True\n', done.stderr)


if __name__ == '__main__':
    skipping.main(verbosity=2)

# SPDX-License-Identifier: LGPL-2.1-or-later
"""How an observer is fitted to a PyTorch: compiled, tried in a child process, and kept. Whatever goes wrong is one clear
line, and the program runs on unharmed. With one PyTorch: to compile takes long."""
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import skipping
import torches

TAPEDECK = os.environ["TAPEDECK"]
OUTPUT = pathlib.Path(os.environ["TEST_OUTPUT"])

PROGRAM = """
import torch
x = torch.ones(3, requires_grad=True)
(x * 2).sum().backward()
print(x.grad.sum().item())
"""

# One thread is in the first pass, which waits for the observer, while another forks.
FORK = """
import os, threading, time, torch
def work():
    x = torch.ones(3, requires_grad=True)
    (x * 2).sum().backward()
    return x.grad.sum().item()
thread = threading.Thread(target=work)
thread.start()
while not os.path.exists("compiling"): time.sleep(0.05)
child = os.fork()
if child == 0:
    print(work(), flush=True)
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
thread.join()
print(work())
"""

# The observer is in the making before the first node is.
EARLY = """
import os, time, torch
for _ in range(600):
    if os.path.exists("compiling"): break
    time.sleep(0.1)
print("early" if os.path.exists("compiling") else "late")
x = torch.ones(3, requires_grad=True)
(x * 2).sum().backward()
"""

# GraphTask gets one more member, so everything behind it lies elsewhere.
MOVED = "-Dfuture_completed_=future_completed_{false}; long moved_"


# A compiler that takes no time: it copies what the real one has made.
QUICK = """
while [ $# -gt 0 ]; do
  [ "$1" = -o ] && exec cp '%s' "$2"
  shift
done
"""


def compiler(path, body):
    path.write_text("#!/bin/sh\n[ \"$1\" = --version ] && exec g++ --version\n" + body)
    path.chmod(0o755)
    return str(path)


class Fit(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.python = torches.pythons()[-1]
        cls.kept = OUTPUT / "fit-cache"  # a whole cache, for tests that need one
        fitted = cls.call([TAPEDECK, "fit", cls.python], env=dict(os.environ, XDG_CACHE_HOME=str(cls.kept)))
        cls.observer = pathlib.Path(fitted.stdout.rpartition(", by ")[2].rstrip())  # in that cache

    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.temporary.name)
        self.cache = self.folder / "cache"
        self.environment = dict(os.environ, XDG_CACHE_HOME=str(self.cache), OMP_NUM_THREADS="1")
        (self.folder / "program.py").write_text(PROGRAM)

    def tearDown(self):
        self.temporary.cleanup()

    @staticmethod
    def call(*arguments, **more):
        return subprocess.run(*arguments, capture_output=True, text=True, timeout=600, **more)

    def record(self, *command, options=(), **environment):
        return self.call([TAPEDECK, "record", "--force", *options, "--", *map(str, command or [self.python, "program.py"])],
                        cwd=self.folder, env=dict(self.environment, **environment))

    def level(self, tape="program.tape"):
        info = json.loads(self.call([TAPEDECK, "info", tape, "--json"], cwd=self.folder).stdout)
        return info["probe_level"], info["probe_reason"]

    def assert_unharmed(self, done, output="6.0\n"):
        self.assertEqual((done.returncode, done.stdout), (0, output), done.stderr)

    def lines(self, done, word):
        return [line for line in done.stderr.splitlines() if word in line]


class Observer(Fit):
    def test_wrong_observer_never_reaches_the_program(self):
        wrong = compiler(self.folder / "cxx", f"exec g++ '{MOVED}' \"$@\"\n")
        home = os.path.dirname(self.python)
        done = self.record("python3", "program.py", CXX=wrong, PATH=home + ":" + os.environ["PATH"])
        self.assert_unharmed(done)
        log, = self.cache.rglob("compiler.log")
        self.assertIn(f"\n{home}/python3 ", log.read_text(), "tried with another Python")
        said, = self.lines(done, "level 2")
        self.assertRegex(said, r"the observer failed its trial with PyTorch .*: .* \(see .*/compiler.log\)")
        self.assertIn("failed its trial", self.level()[1])
        self.assertEqual(self.level()[0], 2)
        self.assertEqual(list(self.cache.rglob("observer.so*")), [])
        again = self.record(CXX=wrong)
        self.assert_unharmed(again)
        self.assertEqual(self.lines(again, "compiling"), [], "the verdict was not kept")
        self.assertEqual(self.lines(again, "level 2"), [said])

    def test_compiler_complains(self):
        """The reason has the compiler's first complaint, and the next recording need not wait for the same."""
        broken = compiler(self.folder / "cxx", "case \"$*\" in *' -E'*) exit 0;; esac\n"
                          "echo '/a/engine.h: In function f:' >&2\n"
                          "echo '/a/engine.h:7:1: error: no member named heap_' >&2\necho 'error: more' >&2\nexit 1\n")
        done = self.record(CXX=broken)
        self.assert_unharmed(done)
        said, = self.lines(done, "level 2")
        self.assertRegex(said, r"does not compile against PyTorch .*: engine.h:7:1: error: no member named heap_ \(see ")
        again = self.record(CXX=broken)
        self.assertEqual((self.lines(again, "compiling"), self.lines(again, "level 2")), ([], [said]))
        fitted = self.call([TAPEDECK, "fit", self.python], env=dict(self.environment, CXX=broken))
        self.assertEqual(fitted.returncode, 1, fitted.stderr)
        self.assertIn("recorded at level 2 (hooks), because the observer does not compile", fitted.stdout)
        self.assertEqual(len(self.lines(fitted, "compiling")), 1, "fit did not try again")

    def test_old_compiler(self):
        """A compiler that is too old for the headers: the reason is what the headers ask for."""
        old = compiler(self.folder / "cxx", "case \"$*\" in *gnu++17*)\n"
                       "echo 'ATen.h:9:2: error: #error C++20 or later compatible compiler is required' >&2;;\n"
                       "*) echo 'cxx: error: unrecognized command-line option' >&2;; esac\nexit 1\n")
        done = self.record(CXX=old)
        self.assert_unharmed(done)
        said, = self.lines(done, "level 2")
        self.assertIn("#error C++20 or later compatible compiler is required (see ", said)

    def test_half_written_cache(self):
        """An observer that the disk lost half of is made anew; one that is whole is not."""
        quick = compiler(self.folder / "cxx", QUICK % self.observer)
        self.assertEqual(len(self.lines(self.record(CXX=quick), "compiling")), 1)
        library, = self.cache.rglob("observer.so")
        whole = library.read_bytes()
        self.assertEqual(self.lines(self.record(CXX=quick), "compiling"), [])
        for damage in (lambda: library.write_bytes(whole[:len(whole) // 2]),
                       lambda: (library.parent / "verdict").write_text("")):
            damage()
            done = self.record(CXX=quick)
            self.assert_unharmed(done)
            self.assertEqual(len(self.lines(done, "compiling")), 1, done.stderr)
            self.assertEqual(self.level()[0], 1)

    def test_fork_while_fitting(self):
        (self.folder / "fork.py").write_text(FORK)
        slow = compiler(self.folder / "cxx", f"touch {self.folder}/compiling\nsleep 3\n" + QUICK % self.observer)
        # Behind a shell, nobody begins before the first pass asks.
        done = self.record("sh", "-c", '"$0" fork.py; exit $?', self.python, options=["-o", "fork.tape"], CXX=slow)
        self.assert_unharmed(done, "6.0\n6.0\n")
        self.assertIn("recorded 2 processes", done.stderr)
        self.assertEqual(len(self.lines(done, "compiling")), 1)
        self.assertEqual(self.level("fork.tape")[0], 1)

    def test_begins_while_pytorch_loads(self):
        (self.folder / "early.py").write_text(EARLY)
        quick = compiler(self.folder / "cxx", f"touch {self.folder}/compiling\n" + QUICK % self.observer)
        done = self.record(self.python, "early.py", CXX=quick)
        self.assert_unharmed(done, "early\n")
        self.assertEqual(len(self.lines(done, "compiling")), 1)
        self.assertEqual(self.level("early.tape")[0], 1)

    def test_seconds_on_a_terminal(self):
        """They stand on a line of their own, which is gone at the end."""
        slow = compiler(self.folder / "cxx", "sleep 2\n" + QUICK % self.observer)
        master, slave = os.openpty()
        subprocess.run([TAPEDECK, "record", "--", self.python, "program.py"], cwd=self.folder, stderr=slave, timeout=600,
                       stdout=subprocess.DEVNULL, check=True, env=dict(self.environment, CXX=slow))
        os.close(slave)
        said = os.read(master, 65536).decode().replace("\r\n", "\n")
        os.close(master)
        self.assertRegex(said, r"^tapedeck: compiling an observer [^\r]*\.\.\.\n\r1 s (\r\d+ s )*\r\x1b\[Ktapedeck: Where the time goes: ")

    def test_two_recorders(self):
        shutil.copytree(self.kept, self.cache)
        done = self.record(TAPEDECK, "record", "-o", "inner.tape", "--", self.python, "program.py")
        self.assert_unharmed(done)
        self.assertEqual(self.level("inner.tape")[0], 1)
        self.assertEqual(len(self.lines(done, "this recording runs inside another one")), 1)
        self.assertEqual(len(self.lines(done, "nothing was recorded")), 1)


class Command(Fit):
    def test_fit(self):
        done = self.call([TAPEDECK, "fit", self.python], env=dict(self.environment, XDG_CACHE_HOME=str(self.kept)))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("recorded at level 1", done.stdout)
        headers = self.call(["readelf", "--dynamic", "--program-headers", "--wide", done.stdout.rpartition(", by ")[2].rstrip()]).stdout
        self.assertIn("BIND_NOW", headers)
        self.assertIn("GNU_RELRO", headers)

    def test_bad_usage(self):
        for python, words in (("nowhere", "there is no such program"), ("/bin/true", "it is no Python"),
                              ("/bin/false", "it is no Python")):
            done = self.call([TAPEDECK, "fit", python], env=self.environment)
            self.assertEqual((done.returncode, done.stderr), (2, f"tapedeck: {python}: {words}\n"))
        (self.folder / "torch.py").write_text("")
        done = self.call([TAPEDECK, "fit", self.python], env=dict(self.environment, PYTHONPATH=str(self.folder)))
        self.assertEqual((done.returncode, done.stderr), (2, f"tapedeck: {self.python}: it has no PyTorch\n"))


if __name__ == "__main__":
    torches.need_compiler()
    skipping.main(verbosity=2)

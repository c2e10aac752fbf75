# SPDX-License-Identifier: LGPL-2.1-or-later
"""`tapedeck record`: what it does to the command (nothing), what it leaves (tapes, and nothing else), and what it says
when something is not as it should be. With every PyTorch that is here."""
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

import skipping
import torches
from commands import VIEWER
from record_case import SOURCE, TAPEDECK, RecordCase

RANKS = SOURCE / "tests" / "fixtures" / "two_ranks.py"

BACKWARD = """
import os, signal, sys, time, torch
def work(k=2):
    x = torch.ones(3, requires_grad=True)
    (x * k).sum().backward()
    return x.grad.sum().item()
"""

CHILDREN = BACKWARD + """
import multiprocessing as mp
from torch.utils.data import DataLoader
class Data(torch.utils.data.Dataset):
    def __len__(self): return 4
    def __getitem__(self, i): return torch.tensor(work(i))
def child(k):
    print(work(k), flush=True)
if __name__ == "__main__":
    work()
    for how in ("fork", "spawn"):
        process = mp.get_context(how).Process(target=child, args=(5,)); process.start(); process.join()
        assert process.exitcode == 0
    assert len(list(DataLoader(Data(), num_workers=2))) == 4
    if os.fork() == 0:
        work()
        os._exit(3)
    assert os.waitstatus_to_exitcode(os.wait()[1]) == 3
    os.execv(sys.executable, [sys.executable, "-c", "import torch; torch.ones(1, requires_grad=True).sum().backward()"])
"""

# What torchrun does, for a PyTorch whose own does not run with this Python.
LAUNCHER = """
import os, socket, subprocess, sys
with socket.socket() as free:
    free.bind(("127.0.0.1", 0))
    world = dict(os.environ, WORLD_SIZE="2", MASTER_ADDR="127.0.0.1", MASTER_PORT=str(free.getsockname()[1]))
ranks = [subprocess.Popen([sys.executable, "ddp.py"], env=dict(world, RANK=str(rank))) for rank in (0, 1)]
sys.exit(max(rank.wait() for rank in ranks))
"""


TORCHES = torches.pythons()


class Record(RecordCase):
    def with_own_engine(self):
        return dict(self.environment, PYTHONPATH=os.environ["OWN_ENGINE"])

    def assert_says(self, done, *words):
        """One line of tapedeck's own, at the end."""
        last = done.stderr.splitlines()[-1]
        self.assertTrue(last.startswith("tapedeck: "), done.stderr)
        for word in words:
            self.assertIn(word, last)

    def test_command_is_left_alone(self):
        text = BACKWARD + "work(); print(sys.stdin.read() + sys.argv[1]); print('oops', file=sys.stderr); sys.exit(7)"
        for python in TORCHES:
            done = self.record(python, self.script(text), "an argument", options=["--force"], input="from stdin ")
            self.assertEqual((done.returncode, done.stdout), (7, "from stdin an argument\n"), done.stderr)
            self.assertIn("oops\n", done.stderr)
            self.assert_says(done, "recorded script.tape", f"tapedeck {VIEWER} script.tape")
            self.assertEqual(self.tapes(), ["script.tape"])
            self.assert_checked("script.tape")
            info = self.info("script.tape")
            self.assertEqual((info["engine"], info["probe_level"], info["damage"]), ("pytorch", 1, None))
            self.assertRegex(info["engine_version"], r"^\d+\.\d+")
            again = self.record(python, "script.py", "x", options=["--force"], input="")
            self.assertNotIn("compiling an observer", again.stderr, "the observer was not kept")

    def test_source_is_what_python_runs(self):
        self.script(BACKWARD + "work()")
        for options, source in ((["-W", "ignore", "script.py"], "script.py"), (["-Wignore", "-u", "script.py"], "script.py"),
                                (["-Xutf8", "-X", "dev", "script.py", "-m", "x"], "script.py"), (["-m", "script"], "script"),
                                (["-um", "script", "-c"], "script"), (["-c", BACKWARD + "work()"], "-c")):
            done = self.record(TORCHES[-1], *options, options=["--force", "-o", "script.tape"])
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(self.info("script.tape")["source"], source, options)

    def test_shell(self):
        for status in (0, 1, 125):
            self.assertEqual(self.record("sh", "-c", f"exit {status}").returncode, status)
        self.assertEqual(self.record("sh", "-c", "kill -TERM $$").returncode, 128 + signal.SIGTERM)
        done = self.record("nonexistent-command")
        self.assertEqual(done.returncode, 127)
        self.assert_says(done, "nonexistent-command")
        self.script("", "plain.txt")
        self.assertEqual(self.record("./plain.txt").returncode, 126)
        self.assertEqual(self.tapes(), [])

    def test_refused(self):
        (self.folder / "taken.tape").write_text("precious")
        (self.folder / "ranks.rank0.tape").write_text("precious")
        for options, words in ((["-o", "taken.tape"], "taken.tape: exists already"),
                               (["-o", "ranks.tape"], "ranks.rank0.tape: exists already"),
                               (["-o", "."], "directory"), (["-o", "nowhere/a.tape"], "nowhere/a.tape: No such"),
                               (["--policy", "maybe"], "block or drop"), (["--level", "3"], "1 or 2"),
                               (["--anomaly", "yes"], "off, nan or nonfinite"), (["--frobnicate"], "--frobnicate")):
            done = self.record("true", options=options)
            self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), done)
            self.assertIn(words, done.stderr)
        self.assertEqual(self.ask("record").returncode, 2)
        self.assertEqual((self.folder / "taken.tape").read_text(), "precious")

    def test_nothing_to_record(self):
        self.assert_says(self.record("true"), "nothing was recorded", "did not load PyTorch")
        shutil.copy("/bin/true", self.folder / "mine")
        os.chmod(self.folder / "mine", 0o4755)
        self.assert_says(self.record("./mine"), "nothing was recorded", "setuid")
        self.script("int main(void) { return 3; }", "main.c")
        compiled = subprocess.run(["cc", "-static", "-o", "still", "main.c"], cwd=self.folder, capture_output=True)
        if compiled.returncode == 0:
            done = self.record("./still")
            self.assertEqual(done.returncode, 3)
            self.assert_says(done, "nothing was recorded", "static executable")
        else:
            skipping.tell("no static libc here")
        graph, none = "torch.ones(2, requires_grad=True) * 2;", "print(torch.ones(2) * 2);"
        for python, text in torches.in_turns([graph, none, none + "import os; os._exit(0)",
                                              none + "import os; os.execv('/bin/true', ['true'])"]):
            done = self.record(python, "-c", "import torch; " + text)
            self.assertEqual(done.returncode, 0)
            self.assert_says(done, "nothing was recorded", "loaded PyTorch, but no backward pass ran")
        script = self.script("""import torch
y = torch.ones(2, requires_grad=True) * 2
y.grad_fn.metadata["tapedeck"] = "mine"  # where the hooks keep what they know of a node
y.sum().backward()
""")
        done = self.record(TORCHES[-1], script, options=("--level", "2"))
        self.assert_says(done, "nothing was recorded", "the probe could not record any")
        done = self.record("env", "-i", TORCHES[-1], "-c", "import torch")
        self.assert_says(done, "nothing was recorded", "LD_PRELOAD")
        self.assertEqual(self.tapes(), [])

    def test_loss_without_graph(self):
        """No pass ran, and the program failed: what to look for is said, and only then."""
        text = "import torch\nwith torch.no_grad(): loss = torch.nn.Linear(2, 1)(torch.ones(2)).sum()\n"
        for python, end in torches.in_turns(["loss.backward()", "loss.item()", "raise SystemExit(3)"]):
            done = self.record(python, "-c", text + end)
            self.assertIn("loaded PyTorch, but no backward pass ran\n", done.stderr)
            self.assertEqual(done.returncode, {"loss.backward()": 1, "loss.item()": 0}.get(end, 3))
            self.assertEqual("what cut it off is not known. Look for no_grad()" in done.stderr, done.returncode == 1, done)
        self.assertEqual(self.tapes(), [])

    def test_slowest_module(self):
        text = """
import time, torch
class Sleep(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x): return x * 1
    @staticmethod
    def backward(ctx, grad): time.sleep(0.1); return grad
class Slow(torch.nn.Module):
    def forward(self, x): return Sleep.apply(x)
net = torch.nn.Sequential(torch.nn.Linear(4, 4), Slow(), torch.nn.Tanh())
for step in range(3): net(torch.ones(4, 4)).sum().backward()
"""
        for python in torches.of_test(self):
            done = self.record(python, self.script(text, "slow.py"), options=["--force", "--stacks"])
            self.assertEqual(done.returncode, 0, done.stderr)
            slowest = self.info("slow.tape")["slowest_modules"]
            self.assertEqual({item["module"] for item in slowest}, {"0", "1", "2"})
            self.assertEqual(slowest[0]["module"], "1")
            self.assertEqual(slowest[0]["class"], "Slow")
            self.assertIn("\nslow modules Slow · 1: ", self.ask("info", "slow.tape").stdout)

    def test_stack_overflow(self):
        text = BACKWARD + """
import ctypes, threading
sys.setrecursionlimit(10**6)
def deeper(): again()
again = ctypes.CFUNCTYPE(None)(deeper)
def run(): work(); again()
work()
if sys.argv[1] == "main": run()
thread = threading.Thread(target=run); thread.start(); thread.join()
"""
        for python, where in torches.in_turns(["main", "thread"]):
            done = self.record(python, self.script(text), where, options=["--force"])
            self.assertEqual(done.returncode, 128 + signal.SIGSEGV, done.stderr)
            self.assert_says(done, "recorded script.tape")
            info = self.info("script.tape")
            self.assertEqual((info["complete"], info["damage"]), (True, None))

    def test_deadly_signals(self):
        for python, name in torches.in_turns(["SIGTERM", "SIGINT", "SIGSEGV", "SIGKILL", "SIGALRM", "SIGUSR1"]):
            (self.folder / "script.tape").unlink(missing_ok=True)
            script = self.script(BACKWARD + f"work(); os.kill(os.getpid(), signal.{name}); time.sleep(60)")
            done = self.record(python, script, options=["--force"])
            self.assertEqual(done.returncode, 128 + getattr(signal, name), done.stderr)
            self.assert_checked("script.tape")

    def test_link_in_the_way(self):
        """Somebody puts a link where a process is going to write its tape. No process follows it."""
        text = BACKWARD + "torch.ones(1, requires_grad=True).sum(); os.symlink('%s', f'script.{os.getpid()}.tape'); print(work())"
        (self.folder / "precious").write_text("not a tape")
        for python, target in torches.in_turns(["precious", "nothing"]):
            done = self.record(python, self.script(text % target), options=["--force"])
            self.assertEqual((done.returncode, done.stdout), (0, "6.0\n"), done.stderr)
            self.assert_says(done, "nothing was recorded: exists already")
            self.assertEqual((self.folder / "precious").read_text(), "not a tape")
            self.assertFalse((self.folder / "nothing").exists())

    def test_link_to_nothing_as_tape(self):
        """Such a link is taken. With --force the tape takes its place, and nothing is made where it leads."""
        for name, command in (("run", ["run", "-o", "link.tape", "%s", "script.py"]),
                              ("record", ["record", "-o", "link.tape", "%s", "--", TORCHES[0], "script.py"])):
            with self.subTest(name):
                self.script(BACKWARD + "print(work())")
                (self.folder / "link.tape").symlink_to("nowhere")
                done = self.run_in(TAPEDECK, *[word for word in command if word != "%s"])
                self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
                self.assertIn("link.tape: exists already; --force", done.stderr)
                done = self.run_in(TAPEDECK, *[word.replace("%s", "--force") for word in command])
                self.assertEqual((done.returncode, done.stdout), (0, "6.0\n"), done.stderr)
                self.assertEqual(self.tapes(), ["link.tape"])
                self.assertFalse((self.folder / "link.tape").is_symlink() or (self.folder / "nowhere").exists())
                self.assert_checked("link.tape")
                (self.folder / "link.tape").unlink()

    def test_ways_to_kill_oneself(self):
        """The process leads a group of its own: `record` must not die with it."""
        text = BACKWARD + "import threading; os.setpgrp(); work(); %s; time.sleep(60)"
        for python, way in torches.in_turns(["os.killpg(os.getpgrp(), 9)", "os.killpg(0, 9)", "os.kill(0, 9)",
                                             "os.kill(-os.getpgrp(), 9)", "signal.pthread_kill(threading.get_ident(), 9)"]):
            (self.folder / "script.tape").unlink(missing_ok=True)
            done = self.record(python, self.script(text % way), options=["--force"])
            self.assertEqual(done.returncode, 128 + signal.SIGKILL, (way, done.stderr))
            self.assert_checked("script.tape")

    def test_signals_while_the_tape_ends(self):
        """A signal comes while the process ends, or while it ends because of another signal."""
        script = self.script(BACKWARD + """
for signals, ends in 4 * [((15,), True), ((15, 15), False), ((1, 15), False)]:
    ready, said = os.pipe()
    child = os.fork()
    if child == 0:
        for _ in range(1000):
            work()
        os.write(said, b'.')
        time.sleep(0 if ends else 60)
        os._exit(0)
    os.read(ready, 1)
    for number in signals:
        os.kill(child, number)
    assert os.WTERMSIG(os.waitpid(child, 0)[1]) in (*signals, 0)
work()
""")
        for python in torches.of_test(self):
            done = self.record(python, script, options=["--force"])
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertNotIn("cut short", done.stderr)
            self.assertEqual(len(self.info("script.tape")["graph_tasks"]), 12001)
            self.assert_checked("script.tape")

    def test_default_is_put_back(self):
        """What a handler does that cleans up and then has the program die of the same signal."""
        text = BACKWARD + "work(); signal.signal(signal.SIGTERM, signal.SIG_DFL); %s; time.sleep(60)"
        for python, way in torches.in_turns(["signal.raise_signal(15)", "os.kill(os.getpid(), 15)",
                                             "import threading; signal.pthread_kill(threading.get_ident(), 15)"]):
            (self.folder / "script.tape").unlink(missing_ok=True)
            done = self.record(python, self.script(text % way), options=["--force"])
            self.assertEqual(done.returncode, 128 + signal.SIGTERM, done.stderr)
            self.assert_checked("script.tape")

    def test_blocked_signal(self):
        """A signal that the program takes with sigwait ends nothing."""
        script = self.script(BACKWARD + """
signal.signal(signal.SIGTERM, signal.SIG_DFL)
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
work()
signal.signal(signal.SIGTERM, signal.SIG_DFL)
os.kill(os.getpid(), signal.SIGTERM)
assert signal.sigwait([signal.SIGTERM]) == signal.SIGTERM
work()
""")
        for python in torches.of_test(self):
            done = self.record(python, script, options=["--force"])
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(len(self.info("script.tape")["graph_tasks"]), 2)
            self.assert_checked("script.tape")

    def test_signal_to_the_child_of_a_vfork(self):
        """It has the memory of its parent. The parent's tape goes on all the same."""
        self.script("#include <signal.h>\n#include <sys/wait.h>\n#include <unistd.h>\nint child(void) { int status; "
                    "pid_t pid = vfork(); if (pid == 0) { kill(getpid(), SIGTERM); _exit(1); } "
                    "return waitpid(pid, &status, 0) == pid ? status : -1; }", "child.c")
        built = self.run_in("cc", "-shared", "-fPIC", "-o", "child.so", "child.c")
        self.assertEqual(built.returncode, 0, built.stderr)
        script = self.script(BACKWARD + "work(); import ctypes; print(ctypes.CDLL('./child.so').child()); work()")
        for python in torches.of_test(self):
            done = self.record(python, script, options=["--force"])
            self.assertEqual((done.returncode, done.stdout), (0, "15\n"), done.stderr)
            self.assertEqual(len(self.info("script.tape")["graph_tasks"]), 2)
            self.assert_checked("script.tape")

    def test_signals_are_handed_on(self):
        script = self.script(BACKWARD + """
work()
def leave(number, frame):
    work(); os.write(1, b"bye\\n"); sys.exit(5)  # print may be at work on "ready" still, and must not be entered twice
signal.signal(signal.SIGTERM, leave)
print("ready", flush=True)
while True: time.sleep(0.1)
""")
        for python in torches.of_test(self):
            with subprocess.Popen([TAPEDECK, "record", "--force", "--", python, script], stdout=subprocess.PIPE, text=True,
                                  stderr=subprocess.DEVNULL, cwd=self.folder, env=self.environment) as running:
                self.assertEqual(running.stdout.readline(), "ready\n")
                running.terminate()
                self.assertEqual((running.stdout.read(), running.wait(timeout=120)), ("bye\n", 5))
            self.assertEqual(len(self.info("script.tape")["graph_tasks"]), 2)
            self.assert_checked("script.tape")

    def test_signal_before_the_hub_answers(self):
        """The program waits for its observer when Ctrl+C comes. Its handler goes on, and so does the recording."""
        compiler, begun, came = (self.folder / name for name in ("cxx", "begun", "came"))
        compiler.write_text("#!/bin/sh\n[ \"$1\" = --version ] && exec echo 'slow 1.0'\n"
                            f"touch {begun}\nwhile [ ! -s {came} ]; do sleep 0.05; done\nexit 1\n")
        compiler.chmod(0o755)
        self.environment.update(CXX=str(compiler), XDG_CACHE_HOME=str(self.folder / "cache"))
        script = self.script(BACKWARD + """
came = []
signal.signal(signal.SIGINT, lambda number, frame: came.append(number))
signal.set_wakeup_fd(os.open("came", os.O_CREAT | os.O_WRONLY | os.O_NONBLOCK))  # written before Python calls the handler
print("ready", flush=True)
print(work(), came, flush=True)
""")
        with subprocess.Popen([TAPEDECK, "record", "--", TORCHES[-1], script], stdout=subprocess.PIPE, text=True,
                              stderr=subprocess.DEVNULL, cwd=self.folder, env=self.environment) as running:
            self.assertEqual(running.stdout.readline(), "ready\n")
            while not begun.exists():  # then the program has said hello
                self.assertIsNone(running.poll())
                time.sleep(0.05)
            running.send_signal(signal.SIGINT)
            self.assertEqual((running.stdout.read(), running.wait(timeout=120)), (f"6.0 [{int(signal.SIGINT)}]\n", 0))
        self.assertEqual(len(self.info("script.tape")["graph_tasks"]), 1)

    def test_descriptors_are_closed(self):
        """A program may close descriptors that it did not open. What it opens then is its own, and its children's."""
        text = BACKWARD + """
import socket
work()
os.closerange(3, 256)
files = [open(f"own{i}.txt", "w") for i in range(12)]
pairs = [socket.socketpair() for i in range(6)]
for i in range(3000): work()
child = os.fork()
if child == 0:
    os._exit(sum(os.fstat(end.fileno()).st_ino == 0 for pair in pairs for end in pair))
assert os.waitpid(child, 0)[1] == 0
for file in files: file.write("own"); file.close()
for end in (end for pair in pairs for end in pair):
    end.setblocking(False)
    try: print(end.recv(100))
    except BlockingIOError: pass
"""
        for python in torches.of_test(self):
            done = self.record(python, self.script(text), options=["--force", "-o", "closed.tape"])
            self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
            self.assertEqual({path.read_text() for path in self.folder.glob("own*.txt")}, {"own"})
            self.assertEqual(len(self.info("closed.tape")["graph_tasks"]), 3001)
            self.assert_checked("closed.tape")

    def test_standard_files_are_closed(self):
        """The program finds them closed, as it does without Tapedeck, and prints into no file of ours."""
        text = BACKWARD + """
def is_open(number):
    try: os.fstat(number)
    except OSError: return False
    return True
before = [is_open(number) for number in range(3)]
work()
after = [is_open(number) for number in range(3)]
open("told", "w").write(repr((before, after)))
"""
        for python, closed in torches.in_turns(["<&-", ">&-", "2>&-", "<&- >&- 2>&-"]):
            told = []
            for command in ([python], [TAPEDECK, "record", "--force", "-o", "closed.tape", "--", python]):
                done = self.run_in("sh", "-c", f'exec "$@" {closed}', "sh", *command, self.script(text))
                self.assertEqual(done.returncode, 0, done.stderr)
                told.append((self.folder / "told").read_text())
            self.assertEqual(*told)
            self.assert_checked("closed.tape")

    def test_record_is_killed(self):
        script = self.script(BACKWARD + """
work(); print("ready", flush=True); sys.stdin.read(); work(); open("over", "w").close()
""")
        with subprocess.Popen([TAPEDECK, "record", "--", TORCHES[0], script], stdin=subprocess.PIPE, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=self.folder,
                              env=self.environment) as running:
            self.assertEqual(running.stdout.readline(), "ready\n")
            running.kill()
            running.stdin.close()
            running.wait(timeout=300)
        for _ in range(600):
            if (self.folder / "over").exists() and not self.ask("check", *self.tapes()).returncode:
                break
            time.sleep(0.1)
        tape, = self.tapes()
        self.assertRegex(tape, r"^script\.\d+\.tape$")
        self.assertEqual(len(self.info(tape)["graph_tasks"]), 2)
        self.assert_checked(tape)
        for folder in self.folder.glob("tapedeck-*"):  # nobody was left to remove it: the next session does
            os.utime(folder / "session", (1, 1))
        self.record("true")

    def test_full_disk(self):
        script = self.script(BACKWARD + """
import json, resource, subprocess
work()
tape, = [name for name in os.listdir() if name.endswith(".tape")]
has_pass = lambda: json.loads(subprocess.run(["TAPEDECK", "info", tape, "--json"], stdout=-1).stdout or '{"graph_tasks": 0}')["graph_tasks"]
while not has_pass(): time.sleep(0.05)
size = os.path.getsize(tape)
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (size + 100, size + 100))
for i in range(200): work()
print("unharmed")
""".replace("TAPEDECK", str(TAPEDECK)))
        done = self.record(TORCHES[0], script)
        self.assertEqual((done.returncode, done.stdout), (0, "unharmed\n"), done.stderr)
        self.assertIn("the tape is not whole", done.stderr)
        self.assert_says(done, "script.tape", "cut short")
        self.assertGreater(len(self.info("script.tape")["graph_tasks"]), 0)

    def test_no_observer(self):
        """Where the observer cannot be made the reason is said, and the program runs all the same."""
        compiler = self.folder / "cxx"
        compiler.write_text("#!/bin/sh\n[ \"$1\" = --version ] && exec echo 'no compiler 1.0'\necho nonsense >&2\nexit 1\n")
        compiler.chmod(0o755)
        script = self.script(BACKWARD + "print(work())")
        broken = dict(self.environment, CXX=str(compiler), XDG_CACHE_HOME=str(self.folder / "cache"))
        done = self.record(TORCHES[0], script, env=broken)
        self.assertEqual((done.returncode, done.stdout), (0, "6.0\n"), done.stderr)
        self.assertIn("level 2", done.stderr)
        self.assertIn("compiling an observer", done.stderr)
        self.assertIn("does not compile against PyTorch", done.stderr)
        info = self.info("script.tape")
        self.assertEqual((info["probe_level"], len(info["graph_tasks"])), (2, 1))
        self.assertRegex(info["engine_version"], r"^\d+\.\d+")
        self.assertIn("does not compile against PyTorch", info["probe_reason"])
        log, = (self.folder / "cache").rglob("compiler.log")
        self.assertIn("nonsense", log.read_text())
        self.assertEqual(list((self.folder / "cache").rglob("observer.so*")), [])
        done = self.record(TORCHES[0], script, env=broken, options=["--level", "1", "--force"])
        self.assertEqual((done.returncode, done.stdout), (0, "6.0\n"), done.stderr)
        self.assertIn("level 1 is not possible, because", done.stderr)
        (self.folder / "file").write_text("")
        done = self.record(TORCHES[0], script, env=dict(broken, XDG_CACHE_HOME=str(self.folder / "file")),
                           options=["--force"])
        self.assertEqual((done.returncode, done.stdout), (0, "6.0\n"), done.stderr)
        self.assertIn("level 2", done.stderr)
        self.assertIn("Not a directory", done.stderr)

    def test_standard_is_found(self):
        """PyTorch 2.15 refuses C++17. A compiler that does the same must be asked for the next standard."""
        compiler = self.folder / "cxx"
        compiler.write_text("#!/bin/sh\ncase \"$*\" in *gnu++17*) echo '#error C++20 is required' >&2; exit 1;; esac\n"
                            "exec g++ \"$@\"\n")
        compiler.chmod(0o755)
        fussy = dict(self.environment, CXX=str(compiler), XDG_CACHE_HOME=str(self.folder / "cache"))
        for python in torches.of_test(self):  # each compiles an observer
            done = self.record(python, self.script(BACKWARD + "work()"), env=fussy, options=["--force", "--level", "1"])
            self.assert_says(done, "recorded script.tape")
            self.assert_checked("script.tape")

    def test_children(self):
        skipping.need_semaphores()
        for python in TORCHES:
            done = self.record(python, self.script(CHILDREN), options=["--force", "-o", "all.tape"])
            self.assertEqual((done.returncode, done.stdout), (0, "15.0\n15.0\n"), done.stderr)
            self.assert_says(done, "7 processes", "into all.tape")
            self.assertEqual(self.tapes(), sorted(["all.tape"] + [f"all.{i}.tape" for i in range(1, 8)]))
            info = self.info("all.tape")
            self.assertEqual(len(info["processes"]), 7)
            self.assertEqual(len(info["graph_tasks"]), 9)  # four of the loader's workers
            self.assertEqual(len({process["pid"] for process in info["processes"]}), 6)  # one became another program
            self.assert_checked("all.tape")
            for tape in self.tapes():
                os.unlink(self.folder / tape)

    def launcher(self, python):
        probe = "import torch, torch.distributed as d; exit(not d.is_gloo_available() or 2 * (torch.__version__ < '2'))"
        status = subprocess.run([python, "-c", probe], capture_output=True, timeout=120).returncode
        if status == 1:
            skipping.tell(f"no gloo with {python}")
        if status == 2:
            print("torchrun does not run with", python + ": its ranks are started by hand")
        return {0: ["-m", "torch.distributed.run", "--standalone", "--nproc_per_node", 2, "ddp.py"],
                2: [self.script(LAUNCHER, "launch.py")]}.get(status)

    def test_two_ranks(self):
        shutil.copy(RANKS, self.folder / "ddp.py")
        for python in TORCHES:
            launcher = self.launcher(python)
            if not launcher:
                continue
            done = self.record(python, *launcher, options=["--force", "-o", "ddp.tape"])
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assert_says(done, "2 processes (ddp.rank0.tape, ddp.rank1.tape) into ddp.tape")
            self.assertEqual(self.tapes(), ["ddp.rank0.tape", "ddp.rank1.tape", "ddp.tape"])
            info = self.info("ddp.tape")
            self.assertEqual([process["rank"] for process in info["processes"]], [0, 1])
            self.assertEqual(len(info["graph_tasks"]), 6)
            for tape in self.tapes():
                self.assert_checked(tape)
            parts = [self.info(f"ddp.rank{rank}.tape") for rank in (0, 1)]
            self.assertEqual(info["events_by_kind"]["node_begin"],
                             sum(part["events_by_kind"]["node_begin"] for part in parts))
            self.assert_reducer("ddp.tape")

    def assert_reducer(self, tape):
        """DDP's reducer hangs on every parameter, as a hook that is not the node's own work."""
        events = self.events(tape)
        names = {event["node"]: event["name"] for event in events if event["event"] == "node_new"}
        hooks = [event for event in events if event["event"] == "hook_begin" and "Reducer" in event["owner"]]
        self.assertEqual({names[event["node"]] for event in hooks}, {"AccumulateGrad"})
        self.assertEqual(len(hooks), 2 * 3 * 4)  # ranks, passes, parameters

    def test_own_engine(self):
        text = """
import os, torch
x = torch.ones(3, requires_grad=True)
(x * 2).sum().backward()
if os.fork() == 0:
    (x * 3).sum().backward()
    raise SystemExit
os.wait()
"""
        done = self.record(sys.executable, self.script(text), env=self.with_own_engine())
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assert_says(done, "2 processes")
        info = self.info("script.tape")
        self.assertEqual((info["engine"], len(info["graph_tasks"])), ("tapedeck", 2))
        self.assert_checked("script.tape")

    def test_run_within_record(self):
        """The inner recording is the one that is made, and one line says so."""
        script = self.script("import torch\nx = torch.ones(3, requires_grad=True)\n(x * 2).sum().backward()\nprint(x.grad)\n")
        plain = self.ask("run", "-o", "plain.tape", script)
        done = self.record(TAPEDECK, "run", "-o", "inner.tape", script, options=["-o", "outer.tape"])
        self.assertEqual((done.returncode, done.stdout), (plain.returncode, plain.stdout), done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assert_says(done, "recorded inner.tape")
        self.assertEqual(self.tapes(), ["inner.tape", "plain.tape"])

    def test_program_with_the_probe_of_another_installation(self):
        """The library that was to be preloaded already comes second and does nothing."""
        libraries = pathlib.Path(os.environ["BUILD_ROOT"]) / "engine" / "probe"
        other = self.folder / "other"
        other.mkdir()
        for name in ("libtapedeck-preload.so", "libtapedeck-probe.so"):
            shutil.copy(libraries / name, other)
        preloaded = dict(self.environment, LD_PRELOAD=str(other / "libtapedeck-preload.so"))
        for python in torches.of_test(self):
            done = self.record(python, self.script(BACKWARD + "print(work())"), options=["--force"], env=preloaded)
            self.assertEqual((done.returncode, done.stdout), (0, "6.0\n"), done.stderr)
            self.assert_says(done, "recorded script.tape")
            self.assertEqual((self.tapes(), len(self.info("script.tape")["graph_tasks"])), (["script.tape"], 1))


if __name__ == "__main__":
    torches.need_compiler()
    skipping.main(verbosity=2)

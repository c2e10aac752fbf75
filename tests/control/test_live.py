# SPDX-License-Identifier: LGPL-2.1-or-later
"""Programs under live control: Tapedeck's engine and both PyTorches, stopped, stepped, held, and left alone.

    test_live.py rounds N   N rounds at random for each engine, for long runs
"""
import contextlib
import json
import os
import pathlib
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

import skipping
import torches
from live_session import TAPEDECK, Line, Session, wait_for


CHAIN = """
import torch
for step in range(3):
    x = torch.ones(3, requires_grad=True)
    (x * 2).sin().exp().sum().backward()
print('finished')
"""
NAN = """
import torch
x = torch.zeros(1, requires_grad=True)
(x.exp() * float('inf')).sum().backward()
y = torch.tensor([2.0], requires_grad=True)
z = y * 1
((z * float('inf')).sum() + (z * float('-inf')).sum()).backward()
print('finished')
"""
FAILING = """
import torch
class Fails(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x): return x * 1
    @staticmethod
    def backward(ctx, gradient): raise ValueError('as it must')
x = torch.ones(3, requires_grad=True)
try: Fails.apply(x).sum().backward()
except ValueError: print('finished')
"""
THREADS = """
import threading, time, torch
def work():
    for step in range({n}):
        x = torch.ones(3, requires_grad=True)
        (x * 2).sin().exp().sum().backward()
        time.sleep(0.002)
threads = [threading.Thread(target=work) for _ in range(3)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print('finished')
"""


ENDLESS = """
import os, time, torch
while not os.path.exists('end'):
    x = torch.ones(3, requires_grad=True)
    (x * 2).sin().sum().backward()
    time.sleep(0.01)
print('finished')
"""


class Viewer:
    """Looks at one process of a session."""

    def __init__(self, path, process):
        self.process = process
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(300)
        self.socket.connect(str(path))
        self.lines = self.socket.makefile("r")
        self.say("view")

    def __enter__(self):
        return self

    def __exit__(self, *failure):
        self.lines.close()
        self.socket.close()

    def say(self, words):
        self.socket.sendall(f"{words} pid={self.process}\n".encode())

    def hear(self, word):
        while (line := Line(self.lines.readline())).word != word:
            pass
        return line


def listed(path):
    """What the hub says of its targets. Its socket has a name just before it listens: then there are none yet."""
    with socket.socket(socket.AF_UNIX) as asker:
        asker.settimeout(300)
        try:
            asker.connect(str(path))
        except ConnectionRefusedError:
            return []
        asker.sendall(b"list\n")
        lines = [Line(text) for text in iter(asker.makefile("r").readline, "listed\n")]
    assert all(line.word == "target" for line in lines), lines
    return lines


class Engine:
    """How a script is run live: `options` come before it."""

    def __init__(self, name, python=None):
        self.name, self.python = name, python

    def start(self, folder, source, *options, terminal=True):
        script = pathlib.Path(folder) / "script.py"
        script.write_text(source)
        command = ["record", "--live", *options, "--", self.python] if self.python else ["run", "--live", *options]
        return Session(folder, *command, script, terminal=terminal)


def engines():
    return [Engine("tapedeck"), *(Engine("torch " + version, python) for version, python in torches.observed().items())]


ENGINES = engines()


class Live(unittest.TestCase):
    def engines(self, case=0):
        """Tapedeck's, and one PyTorch."""
        wanted = torches.of_test(self, case) if torches.observed() else []
        return [engine for engine in ENGINES if not engine.python or engine.python in wanted]

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="tapedeck-live-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    @contextlib.contextmanager
    def live(self, engine, source, *options, terminal=True):
        """A connected session, of which nothing is left afterwards."""
        with self.subTest(engine.name), tempfile.TemporaryDirectory(dir=self.folder) as folder:
            session = engine.start(folder, source, *options, terminal=terminal)
            try:
                yield session.connect()
            finally:
                session.clean_up()

    def assert_finishes(self, session, status=0):
        self.assertEqual(session.end(), status, session.text())
        self.assertIn("finished", session.text())

    def test_steps(self):
        """It waits at the first event; each step stops after the next; the tape is whole up to each stop."""
        for engine in self.engines():
            with self.live(engine, CHAIN) as session:
                first = session.stop()
                self.assertEqual((first["reason"], first["kind"]), ("first", "graph_task_begin"))
                kinds = []
                for _ in range(6):
                    line = session.step()
                    kinds.append(line["kind"])
                    self.assertEqual(line["reason"], "step")
                    last = [event for event in session.events() if event["event"].startswith("node_")
                            and event["event"] in ("node_begin", "node_end")][-1]
                    self.assertEqual((last["event"], str(last["node"])), (line["kind"], line["node"]))
                self.assertEqual(kinds, ["node_begin", "node_end"] * 3)
                begin = time.monotonic_ns()
                time.sleep(0.3)
                asked = time.monotonic_ns()
                session.step()
                waits = [event["waited"] for event in session.events() if event["event"] == "paused"]
                self.assertEqual(len(waits), 7)
                self.assertGreater(waits[-1], asked - begin)
                session.say("continue")
                self.assert_finishes(session)

    def test_pauses(self):
        """Whoever looks at a stopped program takes time. No report counts it as the program's."""
        for engine in self.engines():
            with self.live(engine, CHAIN) as session:
                session.stop()
                for _ in range(4):
                    session.step()
                    time.sleep(0.3)
                session.say("continue")
                self.assert_finishes(session)
                tape = session.now_at()

                def told(*words):
                    return json.loads(subprocess.check_output([TAPEDECK, *words, "--json"], text=True))

                waited = sum(event["waited"] for event in session.events() if event["event"] == "paused")
                self.assertGreater(waited, 1_200_000_000)
                walls = [told("report", tape)["wall"], told("report", tape, "--critical")["wall"],
                         told("report", tape, "--idle")["wall"], told("whatif", tape)["recorded"]]
                slowest = told("info", tape)["slowest_nodes"][0]["ns"]
                self.assertLess(max(*walls, slowest), 300_000_000, (engine, walls, slowest))

    def test_conditions(self):
        """--break of each kind stops there and nowhere before."""
        cases = (("op:SinBackward0", CHAIN, "node_begin"), ("node:2", CHAIN, "node_begin"), ("begin", CHAIN, "graph_task_begin"),
                 ("error", FAILING, "error"), ("nan", NAN, None), ("nonfinite", NAN, None))
        for i, (condition, source, kind) in enumerate(cases):
            for engine in self.engines(i):
                with self.live(engine, source, "--break", condition) as session:
                    with self.subTest(condition):
                        line = session.stop()
                        self.assertEqual((line["reason"], line["condition"]), ("break", condition))
                        if kind:
                            self.assertEqual(line["kind"], kind)
                        if condition == "op:SinBackward0":
                            self.assertEqual(line["name"], "SinBackward0")
                        if condition == "node:2":
                            self.assertEqual(line["node"], "2")
                        hits = [event for event in session.events() if event["event"] == "breakpoint_hit"]
                        self.assertEqual([hit["condition"] for hit in hits], [condition])
                        born = [event for event in session.events() if event["event"] == "anomaly"]
                        if condition in ("nan", "nonfinite"):
                            self.assertTrue(any(event["kind"] == "nan" or condition == "nonfinite" for event in born))
                        session.say("detach")
                        self.assert_finishes(session)

    def test_breakpoints_come_and_go(self):
        for engine in self.engines():
            with self.live(engine, CHAIN) as session:
                session.stop()
                session.say("break add=op:ExpBackward0")
                session.say("continue")
                line = session.stop()
                self.assertEqual((line["name"], line["reason"]), ("ExpBackward0", "break"))
                session.say("break remove=op:ExpBackward0")
                session.say("continue")
                self.assert_finishes(session)

    def test_let_go(self):
        """`attach` says where a program is that stands at its gate, and lets it go while a window looks."""
        for engine in self.engines():
            with self.live(engine, CHAIN) as session:
                session.stop()
                ask = [TAPEDECK, "attach", str(session.target)]
                said = subprocess.run(ask, capture_output=True, text=True).stdout
                self.assertRegex(said, "  main.*\\n(?:    .*\\n)*    .*script.py:5 <module>\\n")
                self.assertIn(f"The program stands still in a live session. `tapedeck attach {session.target} --let-go` lets it run on.\n", said)
                said = subprocess.run([*ask, "--let-go"], capture_output=True, text=True)
                self.assertEqual((said.returncode, said.stderr), (0, ""))
                self.assertEqual(said.stdout, f"Process {session.target} stood still, and runs on. It is still recorded.\n")
                self.assert_finishes(session)

    def test_hold(self):
        """A thread on hold waits while the others run on."""
        for engine in self.engines():
            with self.live(engine, THREADS.format(n=40)) as session:
                held = session.stop()
                thread = held["thread"]
                session.say(f"hold thread={thread}")
                session.say("continue")

                def run_by_others():
                    events = session.events()
                    return len([e for e in events if e["event"] == "graph_task_end" and str(e["thread"]) != thread]) >= 20
                wait_for("the other threads to go on", run_by_others)
                self.assertEqual([e for e in session.events() if e["event"] == "graph_task_end"
                                  and str(e["thread"]) == thread], [])
                session.say(f"release thread={thread}")
                self.assert_finishes(session)

    def test_step_of_one_thread(self):
        for engine in self.engines():
            with self.live(engine, THREADS.format(n=3)) as session:
                while len(session.stopped) < 3:
                    session.stop()
                others = dict(session.stopped)
                thread = sorted(others)[1]
                others.pop(thread)
                for _ in range(3):
                    session.say(f"step thread={thread}")
                    self.assertEqual(session.stop()["thread"], thread)
                self.assertTrue(all(session.stopped[other] is line for other, line in others.items()))
                session.say("detach")
                self.assert_finishes(session)

    def test_window_goes_away(self):
        """The window that came first is gone. The program stays with the one that still looks."""
        with self.live(ENGINES[0], CHAIN) as session:
            session.stop()
            os.kill(int(session.viewer), signal.SIGTERM)
            wait_for("the end of the window", lambda: not pathlib.Path("/proc", session.viewer).exists())
            for _ in range(2):
                self.assertEqual(session.step()["reason"], "step")
            session.say("continue")
            self.assert_finishes(session)

    def test_viewer_goes_away(self):
        for engine in self.engines():
            with self.live(engine, CHAIN) as session:
                session.stop()
                session.leave()
                self.assert_finishes(session)
                self.assertEqual(session.events()[-1]["event"], "session_end")

    def test_hub_is_killed(self):
        for engine in self.engines():
            with self.live(engine, CHAIN, terminal=False) as session:
                session.stop()
                session.process.kill()
                wait_for("the program to finish", lambda: "finished" in session.text())
                session.end()
                wait_for("the tape's end", lambda: session.events()[-1]["event"] == "session_end")

    def test_program_is_killed(self):
        """What was recorded up to the stop is on the tape."""
        for engine in self.engines():
            with self.live(engine, CHAIN) as session:
                session.stop()
                session.step()
                os.kill(session.target, signal.SIGKILL)
                self.assertEqual(session.end(), 128 + signal.SIGKILL)
                tapes = list(session.folder.glob("*.tape"))
                self.assertEqual(len(tapes), 1)
                done = subprocess.run([TAPEDECK, "events", tapes[0]], capture_output=True, text=True)
                self.assertIn("node_begin", done.stdout)

    def test_interrupt_in_the_terminal(self):
        """Ctrl+C gets through to a program that waits; the viewer hears how it ended."""
        for engine in self.engines():
            with self.live(engine, CHAIN) as session:
                session.stop()
                session.interrupt()
                self.assertIsNotNone(session.hear_until("over"))
                self.assertEqual(session.end(), 128 + signal.SIGINT, session.text())
                self.assertEqual(session.text().count("KeyboardInterrupt"), 1, session.text())

    def test_interrupt_of_the_program(self):
        for engine in self.engines():
            with self.live(engine, CHAIN) as session:
                session.stop()
                os.kill(session.target, signal.SIGINT)
                self.assertIsNotNone(session.hear_until("over"))
                self.assertNotEqual(session.end(), 0)
                self.assertIn("KeyboardInterrupt", session.text())

    def test_fork(self):
        """The child of a fork does not wait at its parent's gate."""
        source = CHAIN.replace("for step", "import os\nfor step").replace(
            "print", "if os.fork() == 0:\n    os._exit(7)\nassert os.wait()[1] == 7 << 8\nprint")
        for engine in self.engines():
            with self.live(engine, source) as session:
                session.stop()
                session.say("continue")
                self.assert_finishes(session)

    def test_no_display(self):
        """Without a display nothing stops, and that is said."""
        script = pathlib.Path(self.folder) / "script.py"
        script.write_text(CHAIN)
        environment = {key: value for key, value in os.environ.items() if key not in ("DISPLAY", "WAYLAND_DISPLAY")}
        done = subprocess.run([TAPEDECK, "run", "--break", "begin", script], cwd=self.folder, env=environment,
                              capture_output=True, text=True, timeout=300)
        self.assertEqual((done.returncode, done.stdout), (0, "finished\n"))
        self.assertIn("no display", done.stderr)

    @contextlib.contextmanager
    def unseen(self, engine, *live):
        """A program that runs until its folder has a file `end`, recorded with no display; and the socket of its session."""
        with self.subTest(engine.name), tempfile.TemporaryDirectory(dir=self.folder) as name:
            folder = pathlib.Path(name)
            (folder / "script.py").write_text(ENDLESS)
            environment = {key: value for key, value in os.environ.items() if key not in ("DISPLAY", "WAYLAND_DISPLAY")}
            command = ["record", *live, "--", engine.python] if engine.python else ["run", *live]
            with subprocess.Popen([TAPEDECK, *command, "script.py"], cwd=folder, env=dict(environment, XDG_RUNTIME_DIR=name),
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
                try:
                    yield process, folder, wait_for("the session", lambda: next(folder.glob("tapedeck-*/session"), None))
                finally:
                    (folder / "end").touch()

    def test_attach(self):
        """With --live and no display the program runs on. Whoever comes later can stop it, and lets it go by leaving."""
        for engine in self.engines():
            with self.unseen(engine, "--live", "--break", "begin") as (process, folder, path):
                target = wait_for("the tape to begin", lambda: next((line for line in listed(path) if line["path"]), None))
                self.assertEqual((target["live"], target["stopped"]), ("1", "0"))
                for _ in range(2):
                    with Viewer(path, target["pid"]) as viewer:
                        viewer.say("pause")
                        self.assertEqual(viewer.hear("stopped")["reason"], "pause")
                        self.assertEqual(listed(path)[0]["stopped"], "1")
                        viewer.say("step")
                        self.assertEqual(viewer.hear("stopped")["reason"], "step")
                    wait_for("it to be let go", lambda: listed(path)[0]["stopped"] == "0")
                (folder / "end").touch()
                said, _ = process.communicate(timeout=300)
                self.assertEqual(process.returncode, 0, said)
                self.assertIn("no display for a window; the program does not stop until one attaches", said)
                self.assertIn("finished", said)

    def test_watch(self):
        """Without --live nobody can stop the program. Whoever tries and leaves does no harm."""
        for engine in self.engines():
            if not engine.python:
                continue  # `tapedeck run` alone has no session
            with self.unseen(engine) as (process, folder, path):
                target = wait_for("the tape to begin", lambda: next((line for line in listed(path) if line["path"]), None))
                self.assertEqual(target["live"], "0")
                with Viewer(path, target["pid"]) as viewer:
                    self.assertEqual(viewer.hear("target")["live"], "0")
                    for command in ("pause", "step", "break add=begin", "detach"):
                        viewer.say(command)
                (folder / "end").touch()
                said, _ = process.communicate(timeout=300)
                self.assertEqual(process.returncode, 0, said)
                subprocess.run([TAPEDECK, "check", next(folder.glob("*.tape"))], check=True, capture_output=True)


class Stress(unittest.TestCase):
    """Many rounds in which everything happens at random moments."""
    ROUNDS = {"tapedeck": torches.n_rounds("10:40")}
    ROUNDS_OF_TORCH = torches.n_rounds("1:6")  # it takes seconds to start

    def act(self, session, choose):
        """One thing that a person, a system or a cat on the keyboard might do. True: it was the last."""
        thread = choose.choice("0123")
        deed = choose.choice(["step"] * 6 + ["pause", "continue", "continue", f"step thread={thread}",
                                             f"hold thread={thread}", f"release thread={thread}", "break add=begin",
                                             "break add=op:SinBackward0", "break clear=1", "detach", "view",
                                             "leave", "interrupt", "kill target", "kill hub", "nothing"])
        if deed == "leave":
            session.leave()
        elif deed == "interrupt":
            session.interrupt()
            try:  # what was said before may come after Ctrl+C: then the program waits for its viewer again
                session.process.wait(10)
            except subprocess.TimeoutExpired:
                session.leave()
        elif deed == "kill target":
            os.kill(session.target, signal.SIGKILL)
        elif deed == "kill hub":
            session.process.kill()
        elif deed != "nothing":
            try:
                session.say(deed)
            except OSError:
                return True
        return deed in ("leave", "kill target", "kill hub", "interrupt")

    def play(self, session, choose):
        try:
            session.connect()
        except (AssertionError, ConnectionError, FileNotFoundError):
            return  # over before a viewer came
        session.socket.settimeout(choose.random() * 0.02 + 0.001)
        for _ in range(choose.randrange(40)):
            try:
                session.socket.recv(1 << 16)
            except (TimeoutError, OSError):
                pass
            try:
                if self.act(session, choose):
                    return
            except ProcessLookupError:
                return
        session.leave()

    def round(self, engine, seed):
        choose = random.Random(seed)
        with tempfile.TemporaryDirectory(prefix="tapedeck-live-") as folder:
            source = choose.choice([CHAIN, THREADS.format(n=8), NAN, FAILING])
            session = engine.start(folder, source, *choose.choice([(), ("--break", "begin"), ("--policy", "drop")]),
                                   terminal=choose.random() < 0.7)
            try:
                self.play(session, choose)
                session.end()
            finally:
                session.clean_up()
            for tape in pathlib.Path(folder).glob("*.tape"):
                done = subprocess.run([TAPEDECK, "info", tape], capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, done.stderr)

    def test_rounds(self):
        for i, engine in enumerate(ENGINES):
            n = self.ROUNDS.get(engine.name, self.ROUNDS_OF_TORCH)
            for seed in range(i * n, i * n + n):
                with self.subTest(engine.name, seed=seed):
                    self.round(engine, seed)


if __name__ == "__main__":
    if sys.argv[1:2] == ["rounds"]:
        Stress.ROUNDS, Stress.ROUNDS_OF_TORCH = {}, int(sys.argv[2])
        sys.argv[1:] = ["Stress"]
    skipping.main()

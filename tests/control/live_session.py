# SPDX-License-Identifier: LGPL-2.1-or-later
"""A live session for tests: the program under `tapedeck run` or `record --live`, and a viewer that the test plays."""
import fcntl
import glob
import json
import os
import pathlib
import pty
import signal
import socket
import subprocess
import termios
import time
import urllib.parse

TAPEDECK = os.environ["TAPEDECK"]
STAND_IN = pathlib.Path(__file__).with_name("live_viewer.py")


def wait_for(what, probe, seconds=300):
    deadline = time.monotonic() + seconds
    while True:
        value = probe()
        if value:
            return value
        assert time.monotonic() < deadline, f"waited {seconds} s in vain for {what}"
        time.sleep(0.01)


def processes_of_session(leader):
    """Every process of the session that this one leads; zombies too, but for those that wait for the system's first process: it
    may take seconds."""
    found = []
    for stat in glob.glob("/proc/[0-9]*/stat"):
        try:
            text = pathlib.Path(stat).read_text()
        except OSError:
            continue
        state, parent, _, session = text.rsplit(")", 1)[1].split()[:4]
        if int(session) == leader and (state, parent) != ("Z", "1"):
            found.append((int(text.split()[0]), text.split("(", 1)[1].split(")")[0]))
    return found


class Line:
    def __init__(self, text):
        self.word, *fields = text.split()
        self.fields = [tuple(map(urllib.parse.unquote, field.split("=", 1))) for field in fields]

    def __getitem__(self, key):
        return dict(self.fields).get(key)

    def __repr__(self):
        return f"{self.word} {dict(self.fields)}"


class Session:
    """`command`: what stands after `tapedeck`. On a terminal of its own, so that Ctrl+C can be typed, unless it shall
    be killed: the kernel then hangs up the terminal, and the program with it."""

    def __init__(self, folder, *command, terminal=True):
        self.folder = pathlib.Path(folder)
        self.viewer_file = self.folder / "viewer"
        self.viewer_file.unlink(missing_ok=True)
        self.terminal, end = pty.openpty()
        self.has_terminal = terminal
        environment = dict(os.environ, TAPEDECK_WINDOW=str(STAND_IN), LIVE_VIEWER_FILE=str(self.viewer_file),
                           OMP_NUM_THREADS="1")
        self.output = open(self.folder / "output", "w+")
        self.process = subprocess.Popen(
            [TAPEDECK, *map(str, command)], cwd=folder, env=environment, stdin=end, stdout=self.output,
            stderr=subprocess.STDOUT, start_new_session=True,
            preexec_fn=lambda: terminal and fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        os.close(end)
        self.stopped, self.socket = {}, None

    def connect(self):
        wait_for("the window to be started",
                 lambda: self.viewer_file.exists() or self.process.poll() is not None, 300)
        assert self.viewer_file.exists(), self.text()
        self.viewer, _, _, hub, _, self.target, tape = self.viewer_file.read_text().split("\0")
        self.tape = pathlib.Path(tape)
        self.target = int(self.target)
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(300)
        self.socket.connect(hub)
        self.lines = self.socket.makefile("r")
        self.say(f"view pid={self.target}")
        return self

    def say(self, text):
        if not text.startswith("view"):
            text += f" pid={self.target}"
        self.socket.sendall(text.encode() + b"\n")

    def hear(self):
        """The next line, or None at the end; keeps track of who is stopped."""
        text = self.lines.readline()
        if not text:
            return None
        line = Line(text)
        if line.word == "stopped":
            self.stopped[line["thread"]] = line
        if line.word == "running":
            self.stopped.pop(line["thread"], None)
        return line

    def hear_until(self, word):
        while True:
            line = self.hear()
            if line is None or line.word == word:
                return line
            assert line.word != "over", f"over instead of {word}: {self.text()}"

    def stop(self):
        return self.hear_until("stopped")

    def step(self):
        self.say("step")
        return self.stop()

    def now_at(self):
        """The tape, which gets its final name when it is whole."""
        return self.tape if self.tape.exists() else next(self.folder.glob("*.tape"))

    def events(self):
        out = subprocess.run([TAPEDECK, "events", "--json", self.now_at()], capture_output=True, text=True, check=True).stdout
        return [json.loads(line) for line in out.splitlines()]

    def text(self):
        self.output.seek(0)
        return self.output.read()

    def interrupt(self):
        """Ctrl+C; without a terminal the signal comes from elsewhere."""
        if self.has_terminal:
            os.write(self.terminal, b"\x03")
        else:
            os.kill(self.process.pid, signal.SIGINT)

    def leave(self):
        if self.socket:
            self.lines.close()
            self.socket.close()
        self.socket = None

    def end(self, seconds=300):
        """Waits for the end of everything but the stand-in, which is ended here. Returns the exit status."""
        status = self.process.wait(seconds)
        self.leave()
        if self.viewer_file.exists():
            viewer = int(self.viewer_file.read_text().split("\0")[0])
            try:
                os.kill(viewer, signal.SIGTERM)
            except ProcessLookupError:
                pass
        wait_for("all processes to end", lambda: not processes_of_session(self.process.pid), seconds)
        return status

    def clean_up(self):
        """Whatever a failed test left."""
        for process, _ in processes_of_session(self.process.pid):
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.process.wait()
        self.leave()
        self.output.close()
        os.close(self.terminal)

# SPDX-License-Identifier: LGPL-2.1-or-later
"""The window on a program that runs elsewhere, driven through its accessibility tree; with pictures to look at. A stand-in for ssh
leads to this machine."""
import os
import pathlib
import signal
import subprocess
import sys
import tempfile

import display

display.ensure()

from remote_case import SSH, Server, write_script
from test_window import OUTPUT, TAPEDECK, Window, read_events
from test_window_live import LiveWindow, children_of

LOST = "The connection to the program is over: this is its tape so far"
ENDED = "The program has ended: this is its whole tape"


class RemoteWindow(Window):
    """The window that `tapedeck open ssh://...` opens."""

    def __init__(self, folder, address):
        self.ssh_pids = folder / "ssh-pids"
        ssh = write_script(folder / "ssh", SSH.format(folder=folder))
        self.process = subprocess.Popen([TAPEDECK, "open", address, "--size", "1280x800"], env=dict(self.environment(), TAPEDECK_SSH=str(ssh)))
        self.known = {}
        self.window = display.wait_for("the window's process", lambda: children_of(self.process.pid))[0]
        self.application = display.wait_for("the window on the accessibility bus", lambda: LiveWindow.find_application(self))

    def kill_ssh(self):
        os.kill(int(self.ssh_pids.read_text().split()[-1]), signal.SIGKILL)

    def find_title(self, text):
        return self.find("frame", text)


def test_to_the_end(folder):
    """Step, a stop, continue, let go: and the whole tape."""
    server = Server(folder / "server")
    with RemoteWindow(folder, server.address_as("me@server")) as window:
        window.read(lambda text: text.startswith("Paused at graph_task_begin of"))
        window.find_title("program.tape on me@server")
        at_first = window.position()
        window.press("Step")
        window.read(lambda text: text.startswith("Paused at node_begin of"))
        display.wait_for("the tape to be read again", lambda: window.position() > at_first)
        display.take_picture(OUTPUT / "remote-stopped.png", 1300, 840)
        window.press("Continue")
        window.read(ENDED)
        server.finish()
        window.wait_for_position(len(read_events(server.tape)))
        display.take_picture(OUTPUT / "remote-ended.png", 1300, 840)
    server.close()


def test_lost(folder):
    """ssh ends: the window says so, and the tape stays to look at."""
    server = Server(folder / "server")
    (server.folder / "stay").touch()
    with RemoteWindow(folder, server.address_as("me@server")) as window:
        window.read(lambda text: text.startswith("Paused at graph_task_begin of"))
        window.press("Step")
        window.read(lambda text: text.startswith("Paused at node_begin of"))
        there = display.wait_for("a position", window.position)
        window.kill_ssh()
        window.read(LOST)
        window.press("Step back one event")
        window.wait_for_position(there - 1)
        display.take_picture(OUTPUT / "remote-lost.png", 1300, 840)
    (server.folder / "stay").unlink()
    server.finish()
    server.close()


def test_end_there(folder):
    """Closing the window asks; the answer ends the program on the server, and no process of that number here."""
    server = Server(folder / "server")
    (server.folder / "stay").touch()
    with RemoteWindow(folder, server.address_as("me@server")) as window:
        window.read(lambda text: text.startswith("Paused at graph_task_begin of"))
        window.press("Close")
        window.find("label", "The Program Still Runs")
        LiveWindow.answer(window, "End the Program")
        assert window.process.wait(120) == 0
    assert server.process.wait(120) != 0 and "KeyboardInterrupt" in server.text(), server.text()
    server.close()


def main():
    OUTPUT.mkdir(parents=True, exist_ok=True)
    for test in (test_to_the_end, test_lost, test_end_there):
        with tempfile.TemporaryDirectory(prefix="tapedeck-test-") as folder:
            test(pathlib.Path(folder))
        print("ok", test.__name__, flush=True)


if __name__ == "__main__":
    main()
    sys.exit(0)

# SPDX-License-Identifier: LGPL-2.1-or-later
"""The window on a program that runs elsewhere, driven through its accessibility tree; with pictures to look at. A stand-in for ssh
leads to this machine."""
import os
import pathlib
import signal
import tempfile

import display

display.ensure()

from remote_case import SSH, Server, write_script
from live_window import ChildWindow
from window_tapes import OUTPUT, read_events

LOST = "The connection to the program is over: this is its tape so far"
ENDED = "The program has ended: this is its whole tape"


class RemoteWindow(ChildWindow):
    """The window that `tapedeck open ssh://...` opens."""

    def __init__(self, folder, address):
        self.ssh_pids = folder / "ssh-pids"
        ssh = write_script(folder / "ssh", SSH.format(folder=folder))
        super().__init__(address, "--size", "1280x800", TAPEDECK_SSH=str(ssh))

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
        window.wait_for("the tape to be read again", lambda: window.position() > at_first)
        window.take_picture(OUTPUT / "remote-stopped.png", 1300, 840)
        window.press("Continue")
        window.read(ENDED)
        server.finish()
        window.wait_for_position(len(read_events(server.tape)))
        window.take_picture(OUTPUT / "remote-ended.png", 1300, 840)
    server.close()


def test_lost(folder):
    """ssh ends: the window says so, and the tape stays to look at."""
    server = Server(folder / "server")
    (server.folder / "stay").touch()
    with RemoteWindow(folder, server.address_as("me@server")) as window:
        window.read(lambda text: text.startswith("Paused at graph_task_begin of"))
        window.press("Step")
        window.read(lambda text: text.startswith("Paused at node_begin of"))
        there = window.wait_for("a position", window.position)
        window.kill_ssh()
        window.read(LOST)
        window.press("Step back one event")
        window.wait_for_position(there - 1)
        window.take_picture(OUTPUT / "remote-lost.png", 1300, 840)
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
        window.answer("End the Program")
        assert window.quits() == 0
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

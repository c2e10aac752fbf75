# SPDX-License-Identifier: LGPL-2.1-or-later
"""The window on a program that still runs, driven through its accessibility tree; with pictures to look at."""
import os
import pathlib
import signal
import subprocess
import sys

import display

display.ensure()

from test_window import OUTPUT, TAPEDECK, Window, pyatspi, read_events



def children_of(parent):
    """Windows that a process has started."""
    found = []
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            if int(stat.read_text().rsplit(")", 1)[1].split()[1]) == parent and \
                    b"--session" in (stat.parent / "cmdline").read_bytes():
                found.append(int(stat.parent.name))
        except OSError:
            pass
    return found


class LiveWindow(Window):
    """The window that `tapedeck run --live` opens."""

    def __init__(self, name, *options, script):
        self.tape = OUTPUT / f"{name}.tape"
        self.log = open(OUTPUT / f"{name}.log", "w+")
        self.process = subprocess.Popen([TAPEDECK, "run", "--live", *options, "--force", "-o", str(self.tape), script],
                                        stdout=self.log, env=dict(os.environ, G_DEBUG="fatal-criticals"))
        self.known = {}
        self.window = display.wait_for("the window's process", lambda: children_of(self.process.pid))[0]
        self.application = display.wait_for("the window on the accessibility bus", self.find_application)

    def __exit__(self, *failure):
        for process in (self.window, self.process.pid):
            try:
                os.kill(process, signal.SIGTERM)
            except ProcessLookupError:
                pass
        self.process.wait(120)
        self.log.close()

    def find_application(self):
        for application in pyatspi.Registry.getDesktop(0):
            if application and application.get_process_id() == self.window:
                return application
        return None

    def finishes(self):
        """The program's status, and what it printed."""
        status = self.process.wait(120)
        self.log.seek(0)
        return status, self.log.read()

    def toggle(self, role, name):
        self.find(role, name).queryAction().doAction(0)


def test_steps():
    """Paused at the first event; steps go on; before the end they play the tape; at the end the whole tape is there."""
    with LiveWindow("live-steps", script="two_layers") as window:
        window.read(lambda text: text.startswith("Paused at graph_task_begin of"))
        display.take_picture(OUTPUT / "live-first.png", 1300, 840)
        at_first = window.position()
        window.press("Step")
        window.read(lambda text: text.startswith("Paused at node_begin of"))
        display.wait_for("the tape to be read again", lambda: window.position() > at_first)
        there = window.position()
        window.press("Step back one event")
        window.wait_for_position(there - 1)
        window.press("Step")
        window.wait_for_position(there)
        window.press("Step")
        window.read(lambda text: text.startswith("Paused at node_end of"))
        display.take_picture(OUTPUT / "live-steps.png", 1300, 840)
        window.press("Continue")
        window.read("The program has ended: this is its whole tape")
        assert window.finishes()[0] == 0
        window.wait_for_position(len(read_events(window.tape)))
        display.take_picture(OUTPUT / "live-ended.png", 1300, 840)


def test_breakpoint_and_hold():
    """A key sets a breakpoint, which the list shows; a held thread is left behind; letting go ends it all."""
    with LiveWindow("live-breaks", script="two_devices") as window:
        window.read(lambda text: text.startswith("Paused at graph_task_begin of"))
        window.press("Step")
        window.read(lambda text: text.startswith("Paused at node_begin of MeanBackward0"))
        window.find("label", lambda name: name.startswith("MeanBackward0 #"))  # it is selected
        window.key("b")
        window.toggle("push button", "Stop When")
        box = window.find("check box", lambda name: name.startswith("MeanBackward0 #") and name.endswith(" runs"))
        display.wait_for("the box to be ticked", lambda: box.getState().contains(pyatspi.STATE_CHECKED))
        window.find("check box", "A NaN is born")
        display.take_picture(OUTPUT / "live-stop-when.png", 1300, 840)
        window.toggle("push button", "Stop When")
        window.toggle("push button", "Threads")
        hold = window.find("push button", lambda name: name.startswith("Hold thread pt_autograd_0"))
        display.take_picture(OUTPUT / "live-threads.png", 1300, 840)
        hold.queryAction().doAction(0)
        display.wait_for("the thread to be held", lambda: hold.getState().contains(pyatspi.STATE_PRESSED))
        window.toggle("push button", "Threads")
        window.press("Continue")
        window.read(lambda text: text == "thread pt_autograd_0")
        window.press("Let Go")
        window.read("The program has ended: this is its whole tape")
        assert window.finishes()[0] == 0


def test_closed_window():
    """Who closes the window lets the program run on."""
    with LiveWindow("live-closed", script="mlp") as window:
        window.read(lambda text: text.startswith("Paused at graph_task_begin of"))
        window.press("Close")
        status, text = window.finishes()
        assert status == 0 and "loss" in text, (status, text)
        assert read_events(window.tape)[-1]["event"] == "session_end"


def test_interrupted_program():
    """Ctrl+C ends the program; the window lives on, with what was recorded."""
    with LiveWindow("live-interrupted", script="mlp") as window:
        window.read(lambda text: text.startswith("Paused at graph_task_begin of"))
        os.kill(window.process.pid, signal.SIGINT)
        window.read("The program has ended: this is its whole tape")
        assert window.finishes()[0] != 0
        window.press("Go to the start")
        window.wait_for_position(0)


def main():
    OUTPUT.mkdir(parents=True, exist_ok=True)
    for test in (test_steps, test_breakpoint_and_hold, test_closed_window, test_interrupted_program):
        test()
        print("ok", test.__name__, flush=True)


if __name__ == "__main__":
    main()
    sys.exit(0)

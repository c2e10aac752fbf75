# SPDX-License-Identifier: LGPL-2.1-or-later
"""The window on a program that still runs, driven through its accessibility tree; with pictures to look at."""
import os
import pathlib
import signal
import subprocess
import sys
import time

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
                                        stdout=self.log, env=self.environment())
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

    def answer(self, name):
        """A dialog has its buttons twice, for wide and narrow: only one of them has a size."""
        def box_of(widget):
            box = widget.queryComponent().getExtents(pyatspi.WINDOW_COORDS)
            return box if box.width > 0 and box.height > 0 else None

        def find():
            buttons = pyatspi.findAllDescendants(self.application, lambda w: w.getRoleName() == "push button"
                                                 and w.name.endswith(name))
            return next((box for button in buttons if (box := box_of(button))), None)

        box = display.wait_for(f"the answer '{name}'", find)
        pyatspi.Registry.generateMouseEvent(box.x + box.width // 2, box.y + box.height // 2, "b1c")

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
        window.find("label", lambda name: name.startswith("node:"))
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


def test_stops():
    """The list of stops is the program's too; what only a tape knows says so. F5 runs on to the next stop."""
    with LiveWindow("live-stops", "--break", "op:AddmmBackward0", script="two_layers") as window:
        window.read(lambda text: text.startswith("Stopped on op:AddmmBackward0, at node_begin of"))
        window.toggle("push button", "Stop When")
        window.read("op:AddmmBackward0")
        for text in ("norm:1", "op:T*"):
            entry = window.find("text", "New stop")
            display.wait_for("the entry to have the focus", lambda: entry.getState().contains(pyatspi.STATE_FOCUSED))
            entry.queryEditableText().setTextContents(text)
            window.key("Return")
            window.read(text)
        window.read(lambda text: text.startswith("On the tape only: the program cannot stop on it"))
        display.take_picture(OUTPUT / "live-stops.png", 1300, 840)
        window.press("Remove op:AddmmBackward0")
        window.toggle("push button", "Stop When")
        display.wait_for("the list to close", lambda: (focus := window.focused()) and focus.name == "Stop When")
        window.key("F5")
        window.read(lambda text: text.startswith("Stopped on op:T*, at node_begin of TBackward0"))
        window.press("Let Go")
        assert window.finishes()[0] == 0


FAN = """
import torch
a, b = (torch.ones(2, requires_grad=True) for _ in range(2))
torch.autograd.backward([a.sin(), b.exp()], [torch.ones(2)] * 2)
"""


def select(window, word):
    """Finds the only node whose name has the word, which selects it."""
    window.key("f", "Control")
    window.find("entry", "Find a node")
    for letter in word:
        window.key(letter)
    window.read("1 node")
    window.key("Return")
    window.read(lambda text: text.lower().startswith(word) and "#" in text)


def test_choice():
    """It stops where there is a choice. A key has the selected task popped next; what is not ready is not chosen."""
    script = OUTPUT / "fan.py"
    script.write_text(FAN)
    with LiveWindow("live-choice", "--break", "choice", script=str(script)) as window:
        window.read("Stopped on choice, at a choice of ready tasks")
        select(window, "sin")
        window.key("r")
        window.read("thread main, you chose #0 to run next")
        display.take_picture(OUTPUT / "live-choice.png", 1300, 840)
        window.press("Let Go")
        assert window.finishes()[0] == 0
        events = read_events(window.tape)
        names = {event["node"]: event["name"] for event in events if event["event"] == "node_new"}
        pops = [names[event["node"]] for event in events if event["event"] == "queue_pop" and event["node"] in names]
        assert pops[:3] == ["GraphRoot", "SinBackward0", "AccumulateGrad"], pops
        assert [names[event["node"]] for event in events if event["event"] == "task_chosen"] == ["SinBackward0"]


def test_closed_window():
    """Who closes the window is asked. The window stays, or the program runs on."""
    with LiveWindow("live-closed", script="mlp") as window:
        window.read(lambda text: text.startswith("Paused at graph_task_begin of"))
        window.press("Close")
        window.find("label", "The Program Still Runs")
        time.sleep(0.5)
        display.take_picture(OUTPUT / "live-farewell.png", 1300, 840)
        window.answer("Cancel")
        window.read(lambda text: text.startswith("Paused at graph_task_begin of"))
        window.press("Close")
        window.answer("Let It Run On")
        status, text = window.finishes()
        assert status == 0 and "loss" in text, (status, text)
        assert read_events(window.tape)[-1]["event"] == "session_end"


def test_ended_program():
    """Who closes the window may end the program too. Its tape is whole."""
    with LiveWindow("live-killed", script="mlp") as window:
        window.read(lambda text: text.startswith("Paused at graph_task_begin of"))
        window.press("Close")
        window.answer("End the Program")
        assert window.finishes()[0] != 0
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
    for test in (test_steps, test_breakpoint_and_hold, test_stops, test_choice, test_closed_window, test_ended_program, test_interrupted_program):
        test()
        print("ok", test.__name__, flush=True)


if __name__ == "__main__":
    main()
    sys.exit(0)

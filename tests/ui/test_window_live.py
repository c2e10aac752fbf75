# SPDX-License-Identifier: LGPL-2.1-or-later
"""The window on a program that still runs, driven through its accessibility tree; with pictures to look at."""
import os
import signal

import display

display.ensure()

from live_window import LiveWindow
from window_case import pyatspi
from window_tapes import OUTPUT, read_events


def test_steps():
    """Paused at the first event; steps go on; before the end they play the tape; at the end the whole tape is there."""
    with LiveWindow("live-steps", script="two_layers") as window:
        window.read(lambda text: text.startswith("Paused at graph_task_begin of"))
        window.take_picture(OUTPUT / "live-first.png", 1300, 840)
        at_first = window.position()
        window.press("Step")
        window.read(lambda text: text.startswith("Paused at node_begin of"))
        window.wait_for("the tape to be read again", lambda: window.position() > at_first)
        there = window.position()
        window.press("Step back one event")
        window.wait_for_position(there - 1)
        window.press("Step")
        window.wait_for_position(there)
        window.press("Step")
        window.read(lambda text: text.startswith("Paused at node_end of"))
        window.take_picture(OUTPUT / "live-steps.png", 1300, 840)
        window.press("Continue")
        window.read("The program has ended: this is its whole tape")
        assert window.finishes()[0] == 0
        window.wait_for_position(len(read_events(window.tape)))
        window.take_picture(OUTPUT / "live-ended.png", 1300, 840)


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
        window.take_picture(OUTPUT / "live-stop-when.png", 1300, 840)
        window.toggle("push button", "Stop When")
        window.toggle("push button", "Threads")
        hold = window.find("push button", lambda name: name.startswith("Hold thread pt_autograd_0"))
        window.take_picture(OUTPUT / "live-threads.png", 1300, 840)
        window.act(hold)
        window.wait_for("the thread to be held", lambda: hold.getState().contains(pyatspi.STATE_PRESSED))
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
            window.wait_for("the entry to have the focus", lambda: entry.getState().contains(pyatspi.STATE_FOCUSED))
            window.fill(entry, text)
            window.key("Return")
            window.read(text)
        window.read(lambda text: text.startswith("On the tape only: the program cannot stop on it"))
        window.take_picture(OUTPUT / "live-stops.png", 1300, 840)
        window.press("Remove op:AddmmBackward0")
        window.toggle("push button", "Stop When")
        window.wait_for("the list to close", lambda: (focus := window.focused()) and focus.name == "Stop When")
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
    window.type(word)
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
        window.take_picture(OUTPUT / "live-choice.png", 1300, 840)
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
        window.take_picture(OUTPUT / "live-farewell.png", 1300, 840)
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

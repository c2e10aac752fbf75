# SPDX-License-Identifier: LGPL-2.1-or-later
"""The chain back to a cause in the window: the same steps as `why --chain` tells, one key each."""
import json
import re

import display

display.ensure()

from window_case import Window
from window_tapes import OUTPUT, node_name, read_events, tapedeck

REST_S = 0.5  # a little more than REST_MS of ui/model/playhead/visits.c


def chain_at(tape, seq):
    return json.loads(tapedeck("why", tape, "--at", seq, "--chain", "--json"))["steps"]


def read_step(window, number, steps):
    """The bar tells the sentence and how far one is; the playhead is at the event."""
    step = steps[number]
    window.read(step["text"])
    window.read(f"Step {number + 1} of {len(steps)}")
    window.wait_for_position(step["seq"] + 1)


def bar_is_gone(window):
    return not window.look(lambda w: w.getRoleName() == "label" and re.match(r"Step \d", w.name))


def last(events, kind):
    return next(event for event in reversed(events) if event["event"] == kind)


def test_walk(tape):
    """From the last pop to the begin of its pass, and no further. Alt+Left goes back along it, Escape leaves it."""
    events = read_events(tape)
    pop = last(events, "queue_pop")
    steps = chain_at(tape, pop["seq"])
    assert len(steps) > 5 and steps[-1]["link"] == "end", steps
    with Window(tape, "--at", pop["seq"]) as window:
        window.wait_for_position(pop["seq"] + 1)
        graph = window.find("image", "Backward graph")
        for number, step in enumerate(steps):
            window.key("w")
            read_step(window, number, steps)
            window.wait_for("the node to be selected", lambda: node_name(events, step["node"]) in graph.description)
        window.take_picture(OUTPUT / "chain.png")
        window.key("w")
        window.pause(REST_S, "a place where the playhead rests is one to go back to")
        read_step(window, len(steps) - 1, steps)
        for number in (len(steps) - 2, len(steps) - 3):
            window.key("Left", "Alt")
            read_step(window, number, steps)
        window.key("w")
        read_step(window, len(steps) - 2, steps)
        window.key("Escape")
        window.wait_for("the bar to go", lambda: bar_is_gone(window))


def test_value(tape):
    """A node that was chosen long after: back along the gradients to where its NaN was born."""
    events = read_events(tape)
    end = last(events, "node_end")
    steps = chain_at(tape, end["seq"])
    assert steps[-1]["link"] == "value" and len(steps) > 2, steps
    with Window(tape, "--at", "end", "--node", end["node"]) as window:
        window.wait_for_position(len(events))
        window.key("w")
        window.read(f"Step 1 of {len(steps)}")
        for number in range(1, len(steps)):
            window.press("Where did this come from? Go back to its cause, step by step")
            read_step(window, number, steps)
        window.take_picture(OUTPUT / "chain-nan.png")
        window.press("Leave the chain")
        window.wait_for("the bar to go", lambda: bar_is_gone(window))


def main():
    OUTPUT.mkdir(parents=True, exist_ok=True)
    tape = OUTPUT / "shown_chain.tape"
    tapedeck("run", "--force", "--anomaly", "nonfinite", "-o", tape, "nan_from_sum")
    test_walk(tape)
    test_value(tape)


if __name__ == "__main__":
    main()

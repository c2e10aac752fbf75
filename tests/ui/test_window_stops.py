# SPDX-License-Identifier: LGPL-2.1-or-later
"""Stops in the window: set one, run to it and back, mark it; the stops of a tape are there when it is opened again."""
import display

display.ensure()

from window_case import Window, pyatspi
from window_tapes import OUTPUT, node_name, read_events, tapedeck

RUN = "Run to the next stop; at the end of the tape, let the program run to it"
BACK = "Back to the stop before"


def begins(events, *nodes):
    return [e["seq"] for e in events if e["event"] == "node_begin" and e["node"] in nodes]


def is_on(switch):
    return switch.getState().contains(pyatspi.STATE_CHECKED)


def switch(window, name):
    """Older libraries have no name for the role of a switch."""
    def is_switch(widget):
        return widget.name == name and widget.getRoleName() != "label"

    return window.wait_for(f"switch '{name}'", lambda: window.look(is_switch))


def has_label(window, text):
    return window.look(lambda w: w.getRoleName() == "label" and w.name == text)


def add_stop(window, text):
    """Writes a condition into the entry of the list, which is open and has the focus."""
    entry = window.find("text", "New stop")
    window.wait_for("the entry to have the focus", lambda: entry.getState().contains(pyatspi.STATE_FOCUSED))
    window.fill(entry, text)
    window.key("Return")
    return entry


def test_run(tape, events):
    """Forwards over all hits of a stop at a node, and back; then no further."""
    nodes = [e["node"] for e in events if e["event"] == "node_begin"]
    node = nodes[len(nodes) // 2]
    places = begins(events, node)
    with Window(tape, "--at", 1, "--node", node) as window:
        window.find("label", lambda name: name.startswith(node_name(events, node)))
        window.wait_for_position(2)
        window.wait_for("the window to have the focus", window.focused)
        window.key("b")
        window.key("Home")
        window.wait_for_position(0)
        for seq in places:
            window.key("F5")
            window.wait_for_position(seq + 1)
        window.take_picture(OUTPUT / "stops-graph.png", 1300, 840)
        window.press(RUN)
        window.wait_for_position(places[-1] + 1)
        for seq in reversed(places[:-1]):
            window.press(BACK)
            window.wait_for_position(seq + 1)
        window.key("End")
        window.wait_for_position(len(events))
        window.key("F5", "Shift")
        window.wait_for_position(places[-1] + 1)
    return node


def test_list(tape, events, node):
    """The list has the stop of the last time, counts hits, says what is wrong, and turns stops on and off."""
    ready = sum(e["event"] == "dependency_dec" and e["left"] == 0 for e in events)
    with Window(tape, "--at", 0) as window:
        window.wait_for_position(1)
        window.key("B", "Shift")
        window.find("label", f"node:{node}")
        entry = add_stop(window, "node:x")
        window.read("'node:x': must be node:NUMBER")
        window.fill(entry, "")
        add_stop(window, "ready")
        window.read(f"{ready} hits")
        add_stop(window, "op:Mul*")
        switch(window, "op:Mul*")
        window.take_picture(OUTPUT / "stops-list.png", 1300, 840)
        window.act(switch(window, "ready"))
        window.wait_for("the stop to be off", lambda: not is_on(switch(window, "ready")))
        window.press(f"Remove node:{node}")
        window.wait_for("the stop to go", lambda: not has_label(window, f"node:{node}"))
    with Window(tape, "--at", 0) as window:
        window.wait_for_position(1)
        window.key("B", "Shift")
        assert not is_on(switch(window, "ready"))
        assert is_on(switch(window, "op:Mul*"))
        assert not has_label(window, f"node:{node}")


def main():
    OUTPUT.mkdir(parents=True, exist_ok=True)
    tape = OUTPUT / "stops.tape"
    tapedeck("run", "--force", "-o", tape, "two_layers")
    events = read_events(tape)
    node = test_run(tape, events)
    test_list(tape, events, node)


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: LGPL-2.1-or-later
"""Ctrl+P is one search: Enter does the action that was typed, or goes to the node, module, line, event or answer."""
import json
import subprocess

import display
import torches

display.ensure()

from window_case import Window
from window_tapes import OUTPUT, TAPEDECK, node_name, read_events, record_program

ENTRY = "Do or find anything"
TORCH = "2.13.0"
PROGRAM = '''import torch

trunk = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU())
net = torch.nn.Sequential(trunk, torch.nn.Linear(4, 1))
loss = net(torch.rand(2, 4)).square().sum()
loss.backward()
'''


class PaletteWindow(Window):
    def entry(self):
        return next((node for node in self.nodes() if node.name == ENTRY), None)

    def search_for(self, text):
        self.key("p", "Control")
        entry = self.wait_for("the focus in the palette", lambda: self.focused() and self.entry())
        self.fill(self.find("text", ENTRY) if entry.getRoleName() == "text" else self.find(entry.getRoleName(), ENTRY), text)

    def taken(self):
        """What a screen reader says of the row that Enter takes: its text, and its kind or key."""
        return self.entry().live.description

    def go(self, text, wanted):
        self.search_for(text)
        self.find("list item", wanted)
        while not wanted(name := self.taken()):
            self.key("Down")
            self.wait_for("the next row", lambda: self.taken() != name)
        self.key("Return")
        self.wait_for("the palette to close", lambda: self.entry() is None)


def test_actions(window, n_events):
    """The row of an action has its key, and does what the key does. Only what is possible now is listed."""
    window.go("the end go", lambda name: name == "Go to the end, End")
    window.wait_for_position(n_events)
    window.search_for("program stop its next node")  # no program runs
    window.read("Nothing matches")
    window.key("Escape")
    window.go("the start go", lambda name: name == "Go to the start, Home")
    window.wait_for_position(0)


def test_places(window, events, graph):
    """A node is selected; so is one of a module and of a line, and the others are marked."""
    new = {e["name"]: e["node"] for e in events if e["event"] == "node_new"}
    for name in ("ReluBackward0", "PowBackward0"):
        window.go(f"{name.lower()} #{new[name]}", lambda row: row.startswith(name) and row.endswith("Node"))
        window.wait_for(f"{name} to be selected", lambda: node_name(events, new[name]) in graph.description)
    window.go("0.1", lambda row: row.startswith("0.1 · 1 node") and row.endswith("Module"))
    window.wait_for("the node of the module", lambda: node_name(events, new["ReluBackward0"]) in graph.description)
    window.go("palette.py:5", lambda row: row.startswith("palette.py:5 ·") and row.endswith("Line"))
    window.wait_for("a node of the line", lambda: "#" in graph.description)


def test_moments(window, events, answers):
    begin = next(e["seq"] for e in events if e["event"] == "graph_task_begin")
    window.key("Home")
    window.wait_for_position(0)
    window.go("thread main called backward", lambda row: row.startswith(f"{begin} ·") and row.endswith("Event"))
    window.wait_for_position(begin + 1)
    answer = next(a for a in answers if a["seq"] is not None and a["seq"] != begin)
    window.go(answer["text"], lambda row: answer["text"] in row and row.endswith("Answer"))
    window.wait_for_position(answer["seq"] + 1)


def main():
    OUTPUT.mkdir(parents=True, exist_ok=True)
    python = torches.installed().get(TORCH)
    if not python:
        print(f"skipped: no PyTorch {TORCH}, so no tape with modules and lines")
        return
    program, tape = OUTPUT / "palette.py", OUTPUT / "palette.tape"
    program.write_text(PROGRAM)
    record_program("--stacks", "-o", tape, "--", python, program)
    events = read_events(tape)
    answers = json.loads(subprocess.run([TAPEDECK, "answers", tape, "--json"], capture_output=True, text=True, timeout=60).stdout)["answers"]
    with PaletteWindow(tape) as window:
        graph = window.control("image", "Backward graph")
        window.search_for("linear")
        window.find("list item", lambda name: name.endswith("Event"))
        window.take_picture(OUTPUT / "palette.png")
        window.key("Escape")
        test_places(window, events, graph)
        test_moments(window, events, answers)
        test_actions(window, len(events))


if __name__ == "__main__":
    main()

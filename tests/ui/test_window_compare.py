# SPDX-License-Identifier: LGPL-2.1-or-later
"""Two tapes beside each other: one side is moved and the other follows, and both go to the first difference."""
import glob
import json
import os
import re
import subprocess
import tempfile

import display

display.ensure()

import torches
from window_case import Window, pyatspi
from window_tapes import MAKE_TAPE, OUTPUT, TAPEDECK, node_name, read_events, record_program, tapedeck

FORWARD = """\
import torch
x = torch.ones(4, requires_grad=True)
y = torch.ones(4, requires_grad=True)
"""
PROGRAMS = {"one": FORWARD + "p = (x * 2).sin()\nq = (y * 3).cos()\n(p + q).sum().backward()\n",
            "other": FORWARD + "q = (y * 3).cos()\np = (x * 2).sin().exp()\n(p + q).sum().backward()\n"}


def record(name, text):
    script, tape = OUTPUT / f"compare_{name}.py", OUTPUT / f"compare_{name}.tape"
    script.write_text(text)
    tapedeck("run", "--force", "-o", tape, script)
    return tape


def diff(a, b, *, status):
    return json.loads(tapedeck("diff", "--json", a, b, status=status))


def places(window):
    """The events at which both sides stand. The walk may come to a label twice."""
    found = []

    def look(widget):
        match = widget.getRoleName() == "label" and re.match(r"event ([\d\u202f]+) of .* backward pass", widget.name)
        if match:
            found.append(int(match[1].replace("\u202f", "")))
        return False

    window.look(look)
    return tuple(found[:2])


def wait_for_places(window, a, b):
    window.wait_for(f"the sides at {a} and {b}", lambda: places(window) == (a, b))


def wait_for_nodes(window, *names):
    """Each canvas tells which node is selected."""
    for letter, name in zip("AB", names):
        graph = window.find("image", f"Backward graph of {letter}")
        window.wait_for(f"{name} in {letter}", lambda: (name in graph.description) if name else "#" not in graph.description.split(".")[0])


def pops(events):
    return [e for e in events if e["event"] == "queue_pop"]


def predictions():
    return glob.glob(os.path.join(tempfile.gettempdir(), "tapedeck-whatif-*"))


def select_row(window, cell):
    """Clicks on a cell of a table, and tells whether its row is selected."""
    window.click_on(lambda: cell)
    window.settle()
    row = cell
    while row and row.getRoleName() not in ("table row", "list item"):
        row = row.parent
    return row and row.getState().contains(pyatspi.STATE_SELECTED)


def test_same(a, b):
    """Two runs of one program: every pop of A leads B to the pop of the same node, and the other way after B leads."""
    mine, other = pops(read_events(a)), pops(read_events(b))
    assert [e["node"] for e in mine] == [e["node"] for e in other]
    with Window(a, "--beside", b) as window:
        window.read("The order is the same on both sides, node by node.")
        for left, right in zip(mine, other):
            window.drag_to(left["seq"] + 1)
            wait_for_places(window, left["seq"], right["seq"])
        wait_for_nodes(window, f"#{mine[-1]['node']}", f"#{other[-1]['node']}")
        window.press("Move the other side instead")
        window.read("B leads")
        for left, right in reversed(list(zip(mine, other))):
            window.drag_to(right["seq"] + 1)
            wait_for_places(window, left["seq"], right["seq"])
        window.press("Step one event")
        wait_for_places(window, mine[0]["seq"] + 1, other[0]["seq"] + 1)


def test_difference(a, b):
    """Before the first difference one step moves both sides; there each side shows its own node."""
    told = diff(a, b, status=1)
    found = told["divergence"]
    events, others = read_events(a), read_events(b)
    with Window(a, "--beside", b, "--size", "1280x820") as window:
        window.read(lambda text: text.startswith("The order first differs in graph task 0") and found["text"] in text)
        first, second = pops(events)[0], pops(others)[0]
        window.drag_to(first["seq"])
        window.press("Step one event")
        wait_for_places(window, first["seq"], second["seq"])
        wait_for_nodes(window, node_name(events, first["node"]), node_name(others, second["node"]))
        window.wait_for("the window to have the focus", window.focused)
        window.press("Go to First Difference")
        wait_for_places(window, found["a"]["event"], found["b"]["event"])
        wait_for_nodes(window, node_name(events, found["a"]["node"]), node_name(others, found["b"]["node"]))
        for letter, side in (("A", "only_a"), ("B", "only_b")):
            window.read(f"{len(told['nodes'][side])} nodes only here, framed with dashes")
        window.take_picture(OUTPUT / "compare.png", 1280, 820)
        window.drag_to(len(events))
        wait_for_places(window, len(events) - 1, len(others) - 1)
        window.key("d")
        wait_for_places(window, found["a"]["event"], found["b"]["event"])


def test_passes(tape):
    """Two passes of one tape: the slider goes from the begin of the pass to its end, and each side stays in its own."""
    events = read_events(tape)
    begins = {e["graph_task"]: e["seq"] for e in events if e["event"] == "graph_task_begin"}
    ends = {e["graph_task"]: e["seq"] for e in events if e["event"] == "graph_task_end"}
    first, last = min(begins), max(begins)
    with Window(tape, "--pass", first, "--beside-pass", last) as window:
        window.read("Two backward passes")
        window.press("Go to the start")
        wait_for_places(window, begins[first], begins[last])
        window.press("Go to the end")
        wait_for_places(window, ends[first], ends[last])
    with Window(tape) as window:
        window.wait_for("the window to have the focus", window.focused)
        window.key("K", "Control")  # Shift follows from the capital letter
        window.read("Compare Two Backward Passes")
        window.set_value(window.find("spin button", "Pass on the right"), last + 1)
        window.press_one(lambda name: name.endswith("Compare"))
        window.read("Two backward passes")
        wait_for_places(window, begins[first], begins[last])


def test_whatif(tape):
    """What another policy would do, beside the tape: the first difference is that of `diff` with the same prediction."""
    predicted = OUTPUT / "compare_predicted.tape"
    tapedeck("whatif", tape, "--policy", "fifo", "--force", "-o", predicted)
    found = diff(tape, predicted, status=1)["divergence"]
    with Window(tape, "--page", "whatif", "--size", "1280x820") as window:
        window.press("Show Policy Beside This Tape")
        window.read_notice("Select a policy in the table first")
        cell = window.find("label", "fifo")
        assert select_row(window, cell)
        window.press("Show Policy Beside This Tape")
        window.read(lambda text: text.startswith("The order first differs in graph task 0") and found["text"] in text)
        window.read(lambda text: "predicted: fifo · tapedeck" in text)
        folders = predictions()
        assert len(folders) == 1, folders
        window.press("Go to First Difference")
        wait_for_places(window, found["a"]["event"], found["b"]["event"])
        window.take_picture(OUTPUT / "compare_whatif.png", 1280, 820)
        window.key("w", "Control")
        window.wait_for("the prediction to go with its window", lambda: not predictions())


def test_finding(tape):
    """Two sums of the same gradients in another order: from the card to both passes, at the node that they differ in."""
    found = next(one for one in json.loads(tapedeck("findings", "--json", tape, status=1))["findings"] if one["kind"] == "order_differs")
    with Window(tape, "--page", "findings", "--size", "1280x820") as window:
        window.wait_for("the window to have the focus", window.focused)
        window.press("Compare")
        window.read("Two backward passes")
        window.wait_for("the finding's event in A", lambda: places(window)[:1] == (found["seq"],))
        wait_for_nodes(window, *2 * [node_name(read_events(tape), found["node"])])
        window.take_picture(OUTPUT / "compare_finding.png", 1280, 820)


FORK = """\
import os, torch
leaf = torch.ones(3, requires_grad=True)
child = os.fork()
for step in range(2):
    ((leaf * 2).sin() if child else (leaf * 3).exp()).sum().backward()
if child:
    os.waitpid(child, 0)
"""


def test_processes():
    """A pass of another process is shown with its own graph and its own number."""
    python = next(iter(torches.installed().values()), None)
    if not python:
        return
    script, tape = OUTPUT / "compare_fork.py", OUTPUT / "compare_fork.tape"
    script.write_text(FORK)
    record_program("-o", tape, "--", python, script)
    events = read_events(tape)
    task_of = {e["node"]: e["graph_task"] for e in events if e["event"] == "node_begin"}
    exp, sin = (next(e["node"] for e in events if e["event"] == "node_begin" and name_of(events, e["node"]).startswith(name))
                for name in ("Exp", "Sin"))
    with Window(tape, "--pass", task_of[exp], "--beside-pass", task_of[sin]) as window:
        for title in ("Backward pass 1 of 2",) * 2:
            window.read(title)
        for letter, node in (("A", exp), ("B", sin)):
            graph = window.find("image", f"Backward graph of {letter}")
            window.wait_for(f"{letter} to show its own pass", lambda: names_of(graph, name_of(events, node)[:3]))


def name_of(events, node):
    return next(e["name"] for e in events if e["event"] == "node_new" and e["node"] == node)


def names_of(graph, word):
    return display.find_below(graph, lambda widget: word in widget.name)


def test_shortcuts(a):
    """The list has the keys of this window, and none of panes that it lacks."""
    with Window(a, "--beside", a) as window:
        window.read("A leads")
        window.wait_for("the window to have the focus", window.focused)
        window.key("question", "Control")
        window.read("Go to where the order first differs")
        window.read("Select the node where the gradient goes next")
        for absent in ("Go to the event above", "Copy the whole table", "Open the menu of the selected node"):
            assert not window.look(lambda widget: widget.name == absent), absent
    with Window(a) as window:
        window.wait_for("the window to have the focus", window.focused)
        window.key("question", "Control")
        window.find("label", "Select the node where the gradient goes next")
        heights = [window.box_of(frame).height for frame in window.application]
        assert max(heights) <= 900, heights


def test_cancel(folder):
    """Whoever cancels while workers read is rid of the window at once. Nothing that comes later finds it."""
    tape = folder / "compare_long.tape"
    subprocess.run([MAKE_TAPE, "300", "2", "200", "4", tape, "train"], check=True)
    with Window(tape, "--beside", tape) as window:
        with window.hurry():
            window.press_one(lambda name: name.endswith("Cancel"))
        assert window.quits() == 0


def test_refusals(a):
    wrong = OUTPUT / "compare_no_tape.tape"
    wrong.write_text("no tape")
    for arguments, words in ((["--beside", a], "need a tape"), ([a, "--beside-pass", "1"], "needs --pass"), ([a, a, "--beside", a], "go with one tape"),
                             ([a, "--beside", OUTPUT / "no such.tape"], "No such file"), ([a, "--beside", wrong], f"{wrong}: not a tape"),
                             ([wrong, "--beside", a], f"{wrong}: not a tape")):
        done = subprocess.run([TAPEDECK, "open", *map(str, arguments)], capture_output=True, text=True)
        assert done.returncode == 2 and words in done.stderr, (arguments, done)
    with Window(a, "--pass", 0, "--beside-pass", 1000) as window:
        window.read("Cannot Compare the Tapes")
        window.read(lambda text: "graph task 1000" in text)


def main():
    OUTPUT.mkdir(parents=True, exist_ok=True)
    one, again, other = record("one", PROGRAMS["one"]), record("again", PROGRAMS["one"]), record("other", PROGRAMS["other"])
    steps = OUTPUT / "compare_steps.tape"
    tapedeck("run", "--force", "-o", steps, "mlp")
    test_same(one, again)
    test_difference(one, other)
    test_passes(steps)
    gpt = OUTPUT / "compare_gpt.tape"
    tapedeck("run", "--force", "-o", gpt, "gpt_mini")
    test_whatif(gpt)
    orders = OUTPUT / "compare_orders.tape"
    tapedeck("run", "--force", "-o", orders, "other_order")
    test_finding(orders)
    test_processes()
    test_shortcuts(one)
    test_cancel(OUTPUT)
    test_refusals(one)


if __name__ == "__main__":
    main()

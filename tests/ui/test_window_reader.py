# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a screen reader finds in the graph, the queues and the timeline is what `tapedeck state` tells; arrow keys follow the edges."""
import json
import re
import subprocess
import unittest

import display

display.ensure()

from window_case import Window, pyatspi
from window_tapes import MAKE_TAPE, OUTPUT, read_events, tapedeck

MOST = 40  # of a page of the graph
STATES = {"created": "created", "queued": "in a ready queue", "done": "done", "released": "released", "running": "running on "}
GRAPH, QUEUES, LANES = "Functions of the graph", "Queues and their tasks", "Lanes"


def record(example):
    tape = OUTPUT / f"reader-{example}.tape"
    tapedeck("run", "--force", "-o", tape, example)
    return tape, read_events(tape)


def state_at(tape, seq):
    return json.loads(tapedeck("state", "--json", "--at", seq, tape))


def texts(tree):
    """The items of a tree and those below each."""
    try:
        return [(item.name, texts(item)) for item in tree]
    except Exception:  # the tree changed while we walked over it
        return None


def number_of(text):
    """The node that an item is about."""
    found = re.search(r"#(\d+)", text or "")
    return int(found.group(1)) if found else None


def says(text, node, state):
    """Whether an item tells a node's name, number and state, with how many of its gradients came."""
    name, _, told = text.partition(f" #{node['id']}")
    told = re.sub(r"^ \([^)]*\)", "", told).removeprefix(", ")
    running = {thread["node"]: thread["name"] for thread in state["threads"]}
    missing = {task["node"]: task["dependencies"] for task in state["not_ready"]}
    if name != node["name"]:
        return False
    if node["state"] in STATES:
        return told.startswith(STATES[node["state"]]) and (node["state"] != "running" or told.endswith(running[node["id"]]))
    counts = re.match(r"waits, (\d+) of (\d+) gradients arrived", told)
    if not counts:
        return told == "has all its gradients" and not missing.get(node["id"])
    arrived, expected = map(int, counts.groups())
    return expected - arrived == missing[node["id"]] if node["id"] in missing else arrived == 0


def in_the_tree(tree, state):
    """Whether the tree has each node of the state once, and tells its state."""
    told = texts(tree)
    nodes = {node["id"]: node for node in state["nodes"]}
    numbers = told and [number_of(text) for text, _ in told]
    return numbers and len(set(numbers)) == len(numbers) > 5 and all(says(text, nodes[number_of(text)], state) for text, _ in told)


def one_in(window, name, role="tree item"):
    return window.look(lambda w: w.getRoleName() == role and w.name.startswith(name))


class Reader(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        OUTPUT.mkdir(parents=True, exist_ok=True)
        cls.tape, cls.events = record("two_devices")
        cls.edges = {(e["from"], e["to"]) for e in cls.events if e["event"] == "edge_new"}

    def moments(self):
        """A queue with many tasks, a node that lacks gradients, a node that runs on a thread of a device, the end."""
        yield max((e for e in self.events if e["event"] == "queue_push"), key=lambda e: e["size"])["seq"]
        yield next(e["seq"] for e in self.events if e["event"] == "buffer_park")
        yield next(e["seq"] for e in self.events if e["event"] == "node_begin" and e["thread"] > 0)
        yield self.events[-1]["seq"]

    def begun(self, seq, kind="node_begin"):
        return {e["node"] for e in self.events if e["event"] == kind and e["seq"] <= seq}

    def test_nodes(self):
        """Every function is an item with its name and state, and the items follow the playhead."""
        with Window(self.tape) as window:
            tree = window.find("tree", GRAPH)
            for seq in self.moments():
                state = state_at(self.tape, seq)
                window.drag_to(seq + 1)
                window.wait_for(f"the states after event {seq}", lambda: in_the_tree(tree, state), 20)

    def test_queues(self):
        """Each queue has its tasks, in the order in which they will be popped."""
        with Window(self.tape) as window:
            tree = window.find("tree", QUEUES)
            n_tasks = 0
            for seq in self.moments():
                queues = state_at(self.tape, seq)["queues"]
                n_tasks += sum(len(queue["nodes"]) for queue in queues)
                window.drag_to(seq + 1)

                def as_in_state():
                    told = texts(tree)
                    if not told or len(told) != len(queues):
                        return False
                    for (text, below), queue in zip(told, queues):
                        tasks = [number_of(task) for task, _ in below or [] if not task.startswith("last popped: ")]
                        count = {0: "empty", 1: "1 task"}.get(len(queue["nodes"]), f"{len(queue['nodes'])} tasks")
                        if tasks != queue["nodes"] or text != f"Queue {queue['id']} on {queue['device']}: {count}":
                            return False
                    return True

                window.wait_for(f"the queues after event {seq}", as_in_state, 20)
            self.assertGreater(n_tasks, 1)

    def test_lanes(self):
        """Each thread has a lane that names the node it runs, and how long that takes."""
        with Window(self.tape) as window:
            tree = window.find("tree", LANES)
            n_running = 0
            for seq in self.moments():
                state = state_at(self.tape, seq)
                running = self.begun(seq) - self.begun(seq, "node_end")
                n_running += len(running)
                window.drag_to(seq + 1)

                def as_in_state():
                    told = texts(tree) or []
                    for thread in state["threads"]:
                        lane = next((text for text, _ in told if text.startswith(f"{thread['name']}, ")), "")
                        if thread["node"] in running and not re.search(rf": \w+ #{thread['node']}, [\d.]+ (ns|µs|ms)", lane):
                            return False
                    return len(told) >= len(state["threads"])

                window.wait_for(f"the lanes after event {seq}", as_in_state, 20)
            self.assertGreater(n_running, 0)

    def focused_node(self, window):
        focused = window.focused()
        return number_of(focused.name) if focused and focused.getRoleName() == "tree item" else None

    def press(self, window, key, modifier=None, seconds=20):
        """Presses a key and returns the node that has the focus then; after a while without another one, that is the same."""
        before = self.focused_node(window)
        window.key(key, modifier)
        try:
            window.wait_for("another node", lambda: self.focused_node(window) not in (before, None), seconds)
        except AssertionError:
            pass
        return self.focused_node(window)

    def test_keys(self):
        """Down and up go along edges, Ctrl with left and right beside; the focus and the selection are there. Stepping takes the focus along."""
        with Window(self.tape) as window:
            graph = window.focus_by("Tab", lambda w: w.getRoleName() == "image" and w.name == "Backward graph")
            here = self.press(window, "Down")
            visited = [here]
            for key in ("Down",) * 4 + ("Up",) * 2:
                there = self.press(window, key)
                self.assertIn((here, there) if key == "Down" else (there, here), self.edges)
                self.assertTrue(window.focused().getState().contains(pyatspi.STATE_SELECTED))
                window.wait_for("the graph to say so", lambda: f"#{there}," in graph.description or f"#{there} (" in graph.description)
                here = there
                visited.append(here)
            self.assertGreater(len(set(visited)), 4)
            self.find_sibling(window)
            window.key("Left", "Control")
            state = state_at(self.tape, next(e["seq"] for e in self.events if e["event"] == "node_begin" and e["thread"] > 0))
            running = next(thread["node"] for thread in state["threads"] if thread["node"] is not None and thread["id"] > 0)
            window.drag_to(state["seq"])
            window.key("Right")
            window.wait_for_position(state["seq"] + 1)
            window.wait_for("the focus on the node that runs", lambda: self.focused_node(window) == running)
            window.wait_for("its state", lambda: ", running on pt_autograd" in window.focused().name)
            window.key("Tab")
            window.wait_for("the focus out of the graph", lambda: (f := window.focused()) and f.getRoleName() != "tree item")

    def find_sibling(self, window):
        """Goes on until there is a node beside. The picture may move along, so both places are asked for after that."""
        tree = window.find("tree", GRAPH)

        def place_of(node):
            item = display.find_below(tree, lambda w: number_of(w.name) == node)
            return item and item.queryComponent().getExtents(pyatspi.WINDOW_COORDS)

        def is_beside(here, there):
            return here and there and there.x > here.x and there.y < here.y + here.height and here.y < there.y + there.height

        for _ in range(8):
            here = self.focused_node(window)
            there = self.press(window, "Right", "Control", seconds=3)
            if there != here:
                return window.wait_for(f"#{there} to be beside #{here}", lambda: is_beside(place_of(here), place_of(there)))
            self.press(window, "Up")
        return self.fail("no node has one beside it")

    def test_action(self):
        """A screen reader's click on an item selects its node, and so does a click of the pointer at its place."""
        with Window(self.tape) as window:
            graph = window.find("image", "Backward graph")
            tree = window.find("tree", GRAPH)
            names = [name for name, _ in window.wait_for("the nodes", lambda: texts(tree))]
            window.act(one_in(window, names[2]))
            window.wait_for("the selection", lambda: f"Selected: {names[2].split(',')[0]}" in graph.description)
            window.click_on(lambda: one_in(window, names[4]))
            window.wait_for("the other selection", lambda: f"Selected: {names[4].split(',')[0]}" in graph.description)

    def test_large(self):
        """Of a large graph there is a page, that says how many nodes it leaves out."""
        tape = OUTPUT / "reader-large.tape"
        subprocess.run([MAKE_TAPE, "3000", "1", "1", "4", tape], check=True)
        with Window(tape) as window:
            tree = window.find("tree", GRAPH)

            def counts():
                told = [text for text, _ in texts(tree) or []]
                rest = [re.match(r"([\d\u202f]+) more (before|after) these", text) for text in told]
                left_out = sum(int(found.group(1).replace("\u202f", "")) for found in rest if found)
                return len(told) - sum(map(bool, rest)), left_out

            window.wait_for("a page", lambda: counts()[0] == MOST, 20)
            self.assertGreater(counts()[1], 1000)
            window.press("Go to the end")
            window.press("Step back to the previous node")
            window.wait_for("another page", lambda: "more before these" in str(texts(tree)), 20)
            self.assertLessEqual(counts()[0], MOST)

    def test_help(self):
        """F1 opens the guide, which leads to the shortcuts; Escape closes it, and F1 opens it again."""
        with Window(self.tape) as window:
            window.find("slider", "Event position")
            for _ in range(2):
                window.key("F1")
                window.read("Finding a NaN")
                window.take_picture(OUTPUT / "help.png")
                window.key("Escape")
                window.wait_for("the guide gone", lambda: not one_in(window, "Finding a NaN", "label"))
            window.key("F1")
            window.press_one("Keyboard Shortcuts")
            window.read("Move on the Tape")


if __name__ == "__main__":
    unittest.main(verbosity=2)

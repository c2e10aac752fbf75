# SPDX-License-Identifier: LGPL-2.1-or-later
"""Parts of a graph in the window: neighbours of a node, paths between two nodes, and a chain; the minimap. The counts that the
window tells are those of a walk over the edges of the tape."""
import subprocess

import display

display.ensure()

from window_case import Window
from window_tapes import MAKE_TAPE, OUTPUT, THIN_SPACE, node_name, read_events

N_NODES = 1500


def number(n):
    return f"{n:,}".replace(",", THIN_SPACE)


class Graph:
    """The graph of the only pass of a tape: what its root reaches."""

    def __init__(self, events):
        edges = [(e["from"], e["to"]) for e in events if e["event"] == "edge_new"]
        out = {}
        for a, b in edges:
            out.setdefault(a, set()).add(b)
        root = next(e["root"] for e in events if e["event"] == "graph_task_begin")
        self.nodes = self.walk({root}, out)
        self.out = {a: out.get(a, set()) for a in self.nodes}
        self.back = {a: set() for a in self.nodes}
        for a in self.nodes:
            for b in self.out[a]:
                self.back[b].add(a)

    @staticmethod
    def walk(found, out, steps=10**9):
        border = set(found)
        while border and steps:
            border = {b for a in border for b in out.get(a, ())} - found
            found |= border
            steps -= 1
        return found

    def neighbours(self, node, distance):
        return self.walk({node}, {a: self.out[a] | self.back[a] for a in self.nodes}, distance)

    def between(self, a, b):
        return self.walk({a}, self.out) & self.walk({b}, self.back) or self.walk({b}, self.out) & self.walk({a}, self.back)


def middle(graph):
    """A node with neighbours on both sides."""
    return next(a for a in sorted(graph.nodes, reverse=True) if len(graph.out[a]) > 1 and len(graph.back[a]) > 1)


def is_gone(window, text):
    return not window.look(lambda w: w.getRoleName() == "label" and w.name.startswith(text))


def picture(window):
    """The pixels of the graph, without its border: GTK shows there for three seconds after a key that it has the focus."""
    return window.screen_rows((16, 64, 568, 248))


def read_part(window, what, nodes, graph):
    window.read(f"{what} – {number(len(nodes))} of {number(len(graph.nodes))} nodes")
    canvas = window.control("image", "Backward graph")
    window.wait_for("the canvas to tell its part", lambda: what in canvas.description)


def read_whole(window, graph, what):
    canvas = window.control("image", "Backward graph")
    window.wait_for("the whole graph", lambda: f"The graph has {len(graph.nodes)} nodes." in canvas.description)
    window.wait_for("the bar to go", lambda: is_gone(window, what))


def test_neighbours(tape, events, graph):
    """A key shows them, further ones and nearer ones; the tape plays on; Escape and the button lead back."""
    node = middle(graph)
    what = f"Neighbours of {node_name(events, node)}"
    start = next(e["seq"] for e in events if e["event"] == "graph_task_begin") + 1
    with Window(tape, "--node", node) as window:
        window.wait_for_position(start)
        window.key("g")
        read_part(window, what, graph.neighbours(node, 2), graph)
        window.press("Neighbours one edge further")
        read_part(window, what, graph.neighbours(node, 3), graph)
        window.key("less")
        window.key("less")
        read_part(window, what, graph.neighbours(node, 1), graph)
        window.take_picture(OUTPUT / "neighbours.png")
        window.press("Step one event")
        window.wait_for_position(start + 1)
        window.press("Step to the next node")
        window.read(lambda text: text.endswith(" is not among them"))
        read_part(window, what, graph.neighbours(node, 1), graph)
        window.key("Escape")
        read_whole(window, graph, what)
        window.key("+")
        before = picture(window)
        window.key("g")
        window.read(lambda text: text.startswith("Neighbours of "))
        window.wait_for("the neighbours", lambda: picture(window) != before)
        window.press_one("Whole Graph")
        read_whole(window, graph, "Neighbours of ")
        window.wait_for("the same view as before", lambda: picture(window) == before, 20)


def test_paths(tape, events, graph):
    """A key begins the path at the selected node, and ends it at another."""
    node = middle(graph)
    with Window(tape, "--node", node) as window:
        canvas = window.find("image", "Backward graph")
        window.wait_for("the selection", lambda: node_name(events, node) in canvas.description)
        window.key("g", "Shift")
        window.read(lambda text: text.startswith(f"Path from {node_name(events, node)}: "))
        window.key("Escape")
        read_whole(window, graph, "Path from ")
        window.key("g", "Shift")
        window.read(lambda text: text.startswith("Path from "))
        for _ in range(3):
            before = canvas.description
            window.key("Up")
            window.wait_for("another node", lambda: canvas.description != before)
        name = canvas.description.removeprefix("Selected: ").split(",")[0].split(" (")[0]
        other = int(name.split("#")[1])
        nodes = graph.between(node, other)
        window.key("g", "Shift")
        if nodes:
            read_part(window, f"Paths between {node_name(events, node)} and {name}", nodes, graph)
            window.take_picture(OUTPUT / "paths.png")
            window.key("Escape")
        else:
            window.read("There is no path between these two nodes")
            window.key("Escape")
        read_whole(window, graph, "Path")


def test_minimap(tape, events, graph):
    """A click on it moves the view. A key hides it, and the next window remembers that."""
    def shown(window):
        return window.look(lambda w: w.getRoleName() == "image" and w.name == "Minimap")

    for is_last in (False, True):
        with Window(tape) as window:
            window.find("slider", "Event position")
            if is_last:
                assert not shown(window), "the window forgot that the minimap was hidden"
                window.key("m")
            box = window.place_of(lambda: window.find("image", "Minimap"))
            before = picture(window)
            window.click_at(box.x + box.width // 2, box.y + box.height // 4)
            window.wait_for("another part of the graph", lambda: picture(window) != before)
            window.take_picture(OUTPUT / "minimap.png")
            if not is_last:
                window.key("m")
                window.wait_for("the minimap to go", lambda: not shown(window))
            window.key("q", "Control")
            assert window.quits() == 0


def main():
    OUTPUT.mkdir(parents=True, exist_ok=True)
    tape = OUTPUT / "subset.tape"
    subprocess.run([MAKE_TAPE, str(N_NODES), "3", "1", "5", tape, "train"], check=True)
    events = read_events(tape)
    graph = Graph(events)
    for test in (test_neighbours, test_paths, test_minimap):
        test(tape, events, graph)
        print("ok", test.__name__, flush=True)


if __name__ == "__main__":
    main()

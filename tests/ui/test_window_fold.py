# SPDX-License-Identifier: LGPL-2.1-or-later
"""Folded graphs in the window: a model whose whole graph cannot be read opens folded, Enter opens a block, and a selected node is in its block. All glides to
its new place, or is there at once if the desktop or the preferences want no motion."""
import os
import pathlib
import re

import display

display.ensure(animated=True)

import torches
from window_case import DOUBLE_CLICK_S, Window
from window_tapes import OUTPUT, THIN_SPACE, node_name, read_events, record_program, tapedeck

TORCH = "2.13.0"
N_LAYERS = 5  # 289 nodes, whose names would have two pixels
MODEL = f"""
import torch
torch.manual_seed(1)
torch.set_num_threads(1)
layers = torch.nn.ModuleList(torch.nn.TransformerEncoderLayer(16, 2, 32, 0.0, batch_first=True) for _ in range({N_LAYERS}))
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.layers, self.head = torch.nn.Embedding(10, 16), layers, torch.nn.Linear(16, 10)
    def forward(self, x):
        x = self.embed(x)
        for layer in self.layers:
            x = layer(x)
        return self.head(x)
model = Model()
model(torch.arange(10).view(2, 5)).sum().backward()
"""


def number(text):
    return int(text.replace(THIN_SPACE, ""))


class FoldedWindow(Window):
    def canvas_says(self, what):
        canvas = self.control("image", "Backward graph")
        self.wait_for(f"the canvas to say {what}", lambda: re.search(what, canvas.description))
        return canvas.description

    def folded(self, n_blocks):
        """Waits for so many blocks; returns the number of nodes beside them, and of all."""
        text = self.canvas_says(rf"Folded: {n_blocks} blocks? ")
        nodes = re.search(r" and (\S+) nodes?", text)
        return number(nodes[1]) if nodes else 0, number(re.search(r" of (\S+) nodes", text)[1])


def of_layer(events, layer):
    """Nodes that a layer's forward made."""
    return [e["node"] for e in events if e["event"] == "node_module" and re.match(rf"layers\.{layer}(\.|$)", e["module"])]


def test_folded(tape, events):
    """The run of layers is one block. Enter opens it, then a layer of it; U does the same, Shift+U folds them again."""
    with FoldedWindow(tape, "--node", of_layer(events, 3)[0]) as window:
        n_beside, n_all = window.folded(3)
        window.canvas_says(rf"Selected: .*, in the block layers\.0–{N_LAYERS - 1}, ")
        window.read(lambda text: text.startswith("Folded: 3 blocks"))
        window.read(lambda text: text.startswith(f"In the block layers.0–{N_LAYERS - 1}, "))
        window.take_picture(OUTPUT / "folded.png")
        window.key("Return")
        assert window.folded(N_LAYERS + 2) == (n_beside, n_all)
        window.canvas_says(r"in the block layers\.3, ")
        window.take_picture(OUTPUT / "folded-run.png")
        window.key("u")
        window.canvas_says(r"in the block layers\.3\.\w+, ")
        window.take_picture(OUTPUT / "folded-layer.png")
        window.key("u", "Shift")
        window.canvas_says(r"in the block layers\.3, ")
        window.key("u", "Shift")
        assert window.folded(3) == (n_beside, n_all)


def test_double_click(tape, events):
    """A double click opens a block. In the whole picture, the blocks stand in the middle, one below the other."""
    with FoldedWindow(tape) as window:
        window.folded(3)
        window.key("f")
        canvas = window.control("image", "Backward graph")
        box = window.box_of(canvas)
        for y in range(box.y + 60, box.y + box.height - 60, 12):
            window.pause(DOUBLE_CLICK_S, "a third click and a fourth are no double click")
            window.click_at(box.x + box.width // 2 - 20, y, times=2)
            window.settle()
            if "Folded: 3 blocks" not in canvas.description:
                return
        raise AssertionError("no double click opened a block")


def test_all(tape, events):
    """The button opens all, and a key folds all again. What is shown alone is not folded."""
    with FoldedWindow(tape, "--node", of_layer(events, 4)[0]) as window:
        n_all = window.folded(3)[1]
        window.press_one("Open All")
        window.canvas_says(f"The graph has {n_all} nodes.")
        window.press("Step one event")
        window.key("u", "Control")
        window.canvas_says(f"The graph has {n_all} nodes.")
        window.key("g")
        window.canvas_says(f"Neighbours of {node_name(events, events[window.position() - 1]['node'])}")  # the step selected it
        window.key("u", "Shift")
        window.canvas_says("Folded: ")


def different(rows, before, after):
    """How many pixels are neither those of the picture before nor those of the picture after. A picture that the screen has in part
    is made of both."""
    return sum(row[at:at + 3] not in (old[at:at + 3], new[at:at + 3]) for row, old, new in zip(rows, before, after)
               if row != old and row != new for at in range(0, len(row), 4))


def set_motion(settings, stored):
    """What the desktop says to windows that open, and what the preferences say."""
    for name, text in (("gtk-4.0/settings.ini", "[Settings]\n" + settings), ("tapedeck/window.ini", "[window]\n" + stored)):
        path = pathlib.Path(os.environ["XDG_CONFIG_HOME"], name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


# Opening and folding; going to a place, and following from node to node.
FOLDS = (("Return", None), ("u", None), ("u", "Shift"), ("u", "Shift"), ("u", None))
MOVES = (("End", None), ("Home", None), *[("Right", "Shift")] * 6, ("F5", None), ("F5", "Shift"))
CORNER = (9, 805)  # of the window, where nothing looks at the pointer


def middle_of_graph(window):
    window.point_at(*CORNER)
    graph = window.place_of(lambda: window.control("image", "Backward graph"))
    return graph.x + 50, graph.y + 60, graph.width - 250, graph.height - 170


def test_refit(tape, events):
    """A block that is opened fits into the pane if all was in view, also if somebody chose that."""
    with FoldedWindow(tape, "--node", of_layer(events, 3)[0]) as window:
        window.folded(3)
        box, shown = middle_of_graph(window), []
        for choose in ((), ("f",)):
            for key in (*choose, "Return"):
                window.key(key)
            window.folded(N_LAYERS + 2)
            shown.append(window.screen_rows(box))
            window.key("u", "Shift")
            window.folded(3)
        assert shown[0] == shown[1], "the view kept its scale"


def watch(window, keys):
    """Presses each key. Returns what the middle of the graph shows after each, and how many pictures on the way there were others."""
    box = middle_of_graph(window)
    shown, n_between = [window.screen_rows(box)], 0
    for key, modifier in keys:
        seen = window.film(box, lambda: window.key(key, modifier))
        n_between += sum(different(rows, shown[-1], seen[-1]) > 0 for rows in seen)
        shown.append(seen[-1])
    return shown[1:], n_between


def test_motion(tape, events):
    """With motion, pictures lie between two foldings, and between two places. Without, none does. The ends are the same."""
    ends = []
    for settings, stored, moves in (("", "", True), ("gtk-enable-animations=0\n", "", False), ("", "still=1\n", False)):
        set_motion(settings, stored)
        with FoldedWindow(tape, "--node", of_layer(events, 3)[0]) as window:
            window.folded(3)
            if not ends:
                window.key("b")  # the tape keeps the stop for the next windows
            folds, n_folds = watch(window, FOLDS)
            for _ in range(5):
                window.key("plus")
            places, n_places = watch(window, MOVES)
        assert (n_folds > 0, n_places > 0) == (moves, moves), (settings, stored, n_folds, n_places)
        ends.append(folds + places)
    alike = [one == two == three for one, two, three in zip(*ends)]
    assert all(alike), alike
    assert len({tuple(rows) for rows in ends[0]}) > len(FOLDS), "the keys changed nothing"


def test_small(folder):
    """A small graph opens unfolded."""
    tape = folder / "small-fold.tape"
    tapedeck("run", "--force", "-o", tape, "digits")
    with FoldedWindow(tape) as window:
        window.canvas_says(r"The graph has \d+ nodes\.")


def main():
    OUTPUT.mkdir(parents=True, exist_ok=True)
    test_small(OUTPUT)
    print("ok test_small", flush=True)
    python = torches.installed().get(TORCH)
    if not python:
        print(f"skipped: no PyTorch {TORCH}, so no tape of a deep model")
        return
    program, tape = OUTPUT / "deep.py", OUTPUT / "deep.tape"
    program.write_text(MODEL)
    record_program("--stacks", "-o", tape, "--", python, program)
    events = read_events(tape)
    for test in (test_folded, test_double_click, test_all, test_refit, test_motion):
        test(tape, events)
        print("ok", test.__name__, flush=True)


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: LGPL-2.1-or-later
"""A key lays the panes out for a use: to look for a mistake, to profile, to teach. Each layout keeps its sizes, and the window the
layout. The command that Copy Link gives opens what was to see."""
import re
import shlex
import subprocess

import display

display.ensure()

from window_case import Window
from window_tapes import OUTPUT, TAPEDECK, read_events, tapedeck

WIDTH, HEIGHT = 1200, 800
SIZE = ("--size", f"{WIDTH}x{HEIGHT}")


class LayoutWindow(Window):
    def box(self, role, name):
        return self.place_of(lambda: self.find(role, name))

    def graph(self):
        return self.box("image", "Backward graph")

    def timeline(self):
        return self.box("image", "Timeline")

    def queues(self):
        return self.box("image", "Ready queues")

    def lay_out(self, key):
        before = self.graph()
        self.key(key, "Control")
        self.wait_for("another layout", lambda: (now := self.graph()).width != before.width or now.height != before.height)

    def has_side(self):
        """Without it, the graph is as wide as the window, and not low."""
        return self.graph().width < WIDTH - 100 or self.graph().height < HEIGHT / 4


def test_layouts(tape):
    with LayoutWindow(tape, *SIZE) as window:
        window.find("page tab", "Events")
        debug, short = window.graph(), window.queues()
        side = window.box("page tab", "Events")
        assert window.has_side() and side.x >= debug.x + debug.width, (side, debug)
        window.lay_out("2")
        profile, timeline = window.graph(), window.timeline()
        assert profile.width > debug.width and profile.height < debug.height, (debug, profile)
        side = window.box("page tab", "Events")
        assert timeline.height > profile.height and side.y >= timeline.y + timeline.height, (profile, timeline, side)
        window.read("AddmmBackward0")
        window.take_picture(OUTPUT / "layout-profile.png")
        window.lay_out("3")
        teach = window.graph()
        assert not window.has_side() and teach.width > debug.width and window.queues().height > short.height
        window.take_picture(OUTPUT / "layout-teach.png")
        window.lay_out("1")
        again = window.graph()
        assert (again.width, again.height) == (debug.width, debug.height), (again, debug)
        window.lay_out("2")
        window.key("q", "Control")
        assert window.quits() == 0
    with LayoutWindow(tape, *SIZE) as window:
        assert (again := window.graph()).height == profile.height and again.width == profile.width, (again, profile)


def seconds(text):
    number, unit = text.split()
    return float(number) * {"s": 1, "ms": 1e-3, "µs": 1e-6, "ns": 1e-9}[unit]


def test_time(tape):
    """W, S, A and D zoom and move the timeline that has the focus, and only that. A double click shows all, and moves nothing."""
    with LayoutWindow(tape, *SIZE) as window:
        timeline = window.control("image", "Timeline")

        def shown():
            found = re.search(r"the timeline shows (.*) to (.*)\.", timeline.description.replace("\u202f", " ").replace("\xa0", " "))
            return seconds(found[1]), seconds(found[2])

        def after(key):
            before = shown()
            window.key(key)
            window.wait_for(f"what {key} does", lambda: shown() != before)
            return shown()

        def width():
            begin, end = shown()
            return end - begin

        area, position, width_before = window.timeline(), window.position(), width()
        at = area.x + area.width * 2 // 3, area.y + area.height // 2
        window.click_at(*at)
        window.wait_for("another place", lambda: window.position() != position, 10)
        position = window.position()

        def show_all():
            before = width()
            window.click_at(at[0] - 60, at[1], times=2)
            window.wait_for("all times", lambda: width() > before)
            assert window.position() == position

        begin, end = after("w")
        assert end - begin < width_before
        assert after("a")[0] < begin
        begin, end = after("d")
        assert after("s")[1] - shown()[0] > end - begin
        after("w")
        show_all()
        window.click_on(lambda: window.find("image", "Backward graph"))
        before = shown()
        window.key("d")
        window.settle()
        assert shown() == before


def copied_link(window):
    """The words of the command, or of the one that another window copied before."""
    window.key("l", "Control")
    return shlex.split(display.clipboard_text())


def test_link(tape):
    """The link is a command: it opens the same event, node, range, layout and page."""
    seq, node = next((event["seq"], event["node"]) for event in read_events(tape) if event["event"] == "node_begin")
    where = ["tapedeck", "open", str(tape.resolve()), "--at", str(seq), "--node", str(node)]
    begin, end = (next(event["t"] for event in read_events(tape) if event["event"] == name) for name in ("graph_task_begin", "graph_task_end"))
    for look in (["--layout", "teach"], ["--range", f"{begin}:{end}", "--layout", "profile", "--page", "memory"]):
        with LayoutWindow(*where[2:], *look, *SIZE) as window:
            window.wait_for_position(seq + 1)
            assert window.has_side() == ("teach" not in look)
            link = window.wait_for("the link", lambda: (words := copied_link(window)) == where + look and words)
        with LayoutWindow(*link[2:], *SIZE) as window:
            window.wait_for_position(seq + 1)
            window.wait_for("the same link", lambda: copied_link(window) == link)


def main():
    OUTPUT.mkdir(parents=True, exist_ok=True)
    tape = OUTPUT / "layouts of a tape.tape"
    tapedeck("run", "--force", "-o", tape, "mlp")
    done = subprocess.run([TAPEDECK, "open", "--layout", "wide", tape], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and "--layout" in done.stderr, done
    for wrong in ("7", "7:7", "9:7", "-1:7", "1:2:3", ""):
        done = subprocess.run([TAPEDECK, "open", f"--range={wrong}", tape], capture_output=True, text=True, timeout=60)
        assert done.returncode == 2 and "--range" in done.stderr, (wrong, done)
    with LayoutWindow(tape, "--range", "9000000000000:9000000000001", *SIZE) as window:
        window.read_notice("The tape ends before this range")
    test_layouts(tape)
    longer = OUTPUT / "time.tape"
    tapedeck("run", "--force", "-o", longer, "digits")  # the window tells times with three digits
    test_time(longer)
    test_link(tape)


if __name__ == "__main__":
    main()

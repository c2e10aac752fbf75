# SPDX-License-Identifier: LGPL-2.1-or-later
"""The window on a tape that is cut into segments, driven through its accessibility tree."""
import os
import pathlib
import re
import shutil
import struct
import subprocess

import display

display.ensure()

from window_case import Window, pyatspi
from window_tapes import MAKE_TAPE, OUTPUT, THIN_SPACE, node_name, read_events

CUT_TAPE = pathlib.Path(os.environ["BUILD_ROOT"]) / "tests" / "cut_tape"
LEAST_EVENTS = 700
STRIP_PAD, MARK_Y = 7, 6  # ui/draw/strip_picture.c
HEADER_BYTES, CHUNK_HEADER_BYTES, KEYFRAME = 56, 72, 6  # engine/trace/FORMAT.md


def number(n):
    return f"{n:,}".replace(",", THIN_SPACE)


def keyframe_chunks(tape):
    """The segment and the offset of the contents of each chunk of a keyframe."""
    at = HEADER_BYTES
    while tape[at:at + 4] == b"CHNK":
        kind, segment, _, _, stored = struct.unpack_from("<5I", tape, at + 4)
        if kind == KEYFRAME:
            yield segment, at + CHUNK_HEADER_BYTES + stored // 2
        at += CHUNK_HEADER_BYTES + stored


def spoil(tape, number):
    """A copy in which the keyframe of a segment is damaged."""
    copy = tape.with_name("spoilt.tape")
    shutil.copyfile(tape, copy)
    contents = bytearray(copy.read_bytes())
    for segment, at in list(keyframe_chunks(contents)):
        if segment == number - 1:
            contents[at] ^= 16
    assert contents != tape.read_bytes()
    copy.write_bytes(contents)
    return copy


class SegmentWindow(Window):
    def label(self, what, pattern):
        """A label of the bar: it stays, but its text changes."""
        if what not in self.known:
            self.known[what] = self.read(lambda text: re.fullmatch(pattern, text))
        return self.known[what]

    def read_segment(self, segment, n_segments):
        """The bar names the segment that is shown. Returns its first event, and the one after its last."""
        label = self.label("segment", r"Segment \d+ of \d+")
        self.wait_for(f"segment {segment} of {n_segments}", lambda: label.name == f"Segment {segment} of {n_segments}")
        label = self.label("events", r"events .* to .* of .*")
        words = self.wait_for("its events", lambda: label.name.startswith("events") and label.name)
        first, last = (int(words.replace(THIN_SPACE, "").split()[i]) for i in (1, 3))
        return first, last + 1

    def shows(self, role, name):
        return self.look(lambda w: w.getRoleName() == role and w.name == name and w.getState().contains(pyatspi.STATE_SHOWING))


def test_borders(tape, borders, events):
    """Buttons of the bar and steps go over a border and back."""
    n_segments, border = len(borders) + 1, borders[0]
    with SegmentWindow(tape) as window:
        assert window.read_segment(1, n_segments) == (0, border)
        window.press("Later Segment")
        window.wait_for_position(border + 1)
        assert window.read_segment(2, n_segments)[0] == border
        window.read_position(border)
        window.press("Step back one event")
        window.wait_for_position(border)
        window.read_segment(1, n_segments)
        window.press("Step one event")
        window.wait_for_position(border + 1)
        window.read_segment(2, n_segments)
        begin = max(e["seq"] for e in events[:border] if e["event"] == "node_begin")
        window.press("Step back to the previous node")
        window.wait_for_position(begin + 1)
        window.read(node_name(events, events[begin]["node"]))
        window.press("Later Segment")
        window.wait_for_position(border + 1)
        window.press("Earlier Segment")
        window.wait_for_position(1)


def test_whole_tape(tape, borders, events):
    """Slider, keys of steps, problems and the name of the pass are of the whole tape; list and pictures say their segment."""
    n_segments = len(borders) + 1
    steps = [e["seq"] for e in events if e["event"] == "step"]
    anomalies = [e for e in events if e["event"] == "anomaly"]
    n_passes = sum(e["event"] == "graph_task_begin" for e in events)
    with SegmentWindow(tape, "--page", "events") as window:
        window.drag_to(len(events))
        window.read_position(len(events) - 1)
        first, end = window.read_segment(n_segments, n_segments)
        assert end == len(events)
        window.read(f"Segment {n_segments} of {n_segments}: events {number(first)} to {number(end - 1)} of {number(end)}")
        window.read(lambda text: text.startswith(f"Backward pass {n_passes} of {n_passes}"))
        timeline = window.find("image", "Timeline")
        window.wait_for("the timeline to name its segment", lambda: f"Segment {n_segments} of {n_segments}" in timeline.description)
        while window.position() > steps[0] + 1:
            before = window.position()
            window.key("braceleft")
            window.wait_for_position(max(seq for seq in steps if seq + 1 < before) + 1)
        window.read_segment(1, n_segments)
        seen = [e for e in anomalies if e["seq"] >= window.position()]
        assert seen[-1]["seq"] >= borders[0]
        for anomaly in seen:
            window.press("Run to the next NaN, Inf or error")
            window.wait_for_position(anomaly["seq"] + 1)


def width_of(window, widget):
    return window.box_of(widget).width


def test_strip(tape, borders, events):
    """The strip of the whole tape: a click goes to any segment, keys go on from there, and it says what is where."""
    n_segments, length = len(borders) + 1, len(events)
    anomalies = [e["seq"] for e in events if e["event"] == "anomaly"]
    with SegmentWindow(tape, "--page", "findings") as window:
        strip = window.find("slider", "Whole tape")
        box = window.box_of(strip)
        assert 30 <= box.height <= 40, box.height
        plot = box.width - 2 * STRIP_PAD
        click = lambda x, y: window.click_at(box.x + int(x), box.y + int(y))
        click(STRIP_PAD + 0.7 * plot, 20)
        window.wait_for("a place further on", lambda: abs(window.position() / length - 0.7) < 0.02)
        position = window.position()
        drift = (0.7 - position / length) * plot  # the window's shadow
        segment = 1 + sum(border < position for border in borders)
        window.read_segment(segment, n_segments)
        words = f"event {number(position - 1)} of {number(length)} · about "
        window.wait_for("its description", lambda: strip.description.startswith(words))
        assert strip.description.endswith(f" · segment {segment} of {n_segments}; {number(len(anomalies))} problems on the whole tape.")
        window.key("Page_Up")
        window.wait_for_position(([0] + borders)[segment - 2] + 1)
        window.read_segment(segment - 1, n_segments)
        window.key("Page_Down")
        window.wait_for_position(borders[segment - 2] + 1)
        window.key("Up")
        window.wait_for_position(borders[segment - 2] + 1 + length // 100)
        window.key("Down")
        window.wait_for_position(borders[segment - 2] + 1)
        click(STRIP_PAD + plot * anomalies[-1] / length + drift, MARK_Y + drift)
        window.wait_for_position(anomalies[-1] + 1)


def test_small(tape, borders, events):
    """A small window stays small, and its slider is long enough to be dragged."""
    with SegmentWindow(tape, "--size", "800x600") as window:
        window.read_segment(1, len(borders) + 1)
        frame = window.look(lambda w: w.getRoleName() in ("frame", "window"))
        assert width_of(window, frame) <= 800, width_of(window, frame)
        assert width_of(window, window.find("slider", "Event position")) >= 70
        assert width_of(window, window.find("slider", "Whole tape")) >= 700
        window.read(f"event {number(window.position() - 1)}")


def test_problems_by_key(tape, borders, events):
    """Return on a problem of another segment goes there, and the focus stays in the list."""
    n_segments = len(borders) + 1
    anomalies = [e["seq"] for e in events if e["event"] == "anomaly"]
    last = next(seq for seq in anomalies if seq > borders[0])
    with SegmentWindow(tape, "--page", "findings", "--at", anomalies[0]) as window:
        window.wait_for_position(anomalies[0] + 1)
        window.show_each_event()
        window.focus_by("Tab", lambda widget: widget.getRoleName() == "list item")
        for _ in anomalies[:anomalies.index(last)]:
            window.key("Down")
        window.key("Return")
        window.wait_for_position(last + 1)
        window.read_segment(1 + sum(border <= last for border in borders), n_segments)
        window.wait_for("the focus in the list again",
                         lambda: (focused := window.focused()) and focused.getRoleName() == "list item")


def test_opens_inside(tape, borders, events):
    """--at opens the segment of that event."""
    at = len(events) // 2
    segment, n_segments = 1 + sum(border <= at for border in borders), len(borders) + 1
    with SegmentWindow(tape, "--at", at) as window:
        window.wait_for_position(at + 1)
        first, end = window.read_segment(segment, n_segments)
        assert first <= at < end


def type_into_search(window, text):
    window.key("f", "Control")
    window.find("entry", "Find a node")
    window.type(text)


def test_search(tape, borders, events):
    """A search goes on in the other segments. Enter goes to the node that was found, and selects it."""
    n_segments = len(borders) + 1
    node = next(e["node"] for e in events if e["event"] == "node_begin")
    freed = next(e["seq"] for e in events if e["event"] == "node_free" and e["node"] == node)
    segment = 1 + sum(border <= freed for border in borders) + 1
    with SegmentWindow(tape, "--at", borders[segment - 2]) as window:
        window.read_segment(segment, n_segments)
        type_into_search(window, f"#{node}")
        window.read(f"0 nodes in segment {segment} of {n_segments} · 1 in other segments")
        window.read(lambda text: text.startswith(f"segment 1 · {node_name(events, node)}"))
        window.key("Return")
        window.read_segment(1, n_segments)
        window.read(node_name(events, node))
    with SegmentWindow(tape) as window:
        window.read_segment(1, n_segments)
        type_into_search(window, "weather")
        window.read(f"0 nodes in segment 1 of {n_segments}")


def find_borders(tape, n_segments):
    """The events that segments begin with, but for the first segment."""
    borders = []
    with SegmentWindow(tape) as window:
        for segment in range(1, n_segments):
            borders.append(window.read_segment(segment, n_segments)[1])
            window.press("Later Segment")
            window.wait_for_position(borders[-1] + 1)
    return borders


def test_damage(tape, borders, events):
    """A keyframe that is damaged is told. The segment before it stays, or the first segment is opened; others can be seen."""
    spoilt, n_segments = spoil(tape, 2), len(borders) + 1
    told = f"Segment 2 of {n_segments} of this tape cannot be shown: the chunk at byte "
    with SegmentWindow(spoilt) as window:
        start = window.position()
        window.read_segment(1, n_segments)
        window.press("Later Segment")
        window.read(lambda text: text.startswith(told))
        window.wait_for_position(start)
        window.press("Step one event")
        window.wait_for_position(start + 1)
        window.drag_to(len(events))
        window.read_position(len(events) - 1)
        window.read_segment(n_segments, n_segments)
    with SegmentWindow(spoilt, "--at", borders[0] + 5) as window:
        window.read(lambda text: text.startswith(told))
        window.read_segment(1, n_segments)


def test_uncut(tape, borders, events):
    """A tape in one piece has no bar, and its search and lists speak of no segment."""
    with SegmentWindow(tape, "--page", "events") as window:
        window.drag_to(len(events))
        window.read_position(len(events) - 1)
        assert not window.shows("push button", "Later Segment")


def main():
    OUTPUT.mkdir(parents=True, exist_ok=True)
    whole, cut = OUTPUT / "one-piece.tape", OUTPUT / "cut.tape"
    subprocess.run([MAKE_TAPE, "40", "2", "12", "4", whole, "train"], check=True)
    shutil.copyfile(whole, cut)
    n_segments = int(subprocess.run([CUT_TAPE, cut, str(LEAST_EVENTS)], check=True, capture_output=True).stdout)
    events = read_events(whole)
    assert n_segments >= 3
    borders = find_borders(cut, n_segments)
    for test, tape in ((test_borders, cut), (test_whole_tape, cut), (test_strip, cut), (test_small, cut),
                       (test_problems_by_key, cut), (test_opens_inside, cut), (test_search, cut), (test_damage, cut), (test_uncut, whole)):
        test(tape, borders, events)
        print("ok", test.__name__, flush=True)


if __name__ == "__main__":
    main()

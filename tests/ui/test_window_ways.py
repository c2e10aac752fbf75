# SPDX-License-Identifier: LGPL-2.1-or-later
"""Finding the way in the window: bookmarks and notes, words of events, a range of time."""
import configparser
import os
import pathlib
import re
import shlex
import sys

import display
import torches

display.ensure()

from window_case import Window, pyatspi
from window_tapes import OUTPUT, read_events, tapedeck

REST_S = 0.5  # a little more than REST_MS of ui/model/playhead/visits.c


def notes():
    """What the file beside the tape says: notes by position."""
    files = list((pathlib.Path(os.environ["XDG_DATA_HOME"]) / "tapedeck").glob("*.bookmarks"))
    if not files:
        return {}
    parser = configparser.ConfigParser()
    parser.read(files[0])
    return {int(position): parser[position]["note"] for position in parser.sections()}


def test_bookmarks(tape):
    """Ctrl+B, a note, and the next window has both. Keys go from one to the next. The list takes one away."""
    length = len(read_events(tape))
    with Window(tape) as window:
        for position, letters in ((20, "here"), (length - 5, "nan")):
            window.drag_to(position)
            window.wait_for_position(position)
            window.key("b", "Control")
            window.wait_for("the cursor in the note", lambda: (f := window.focused()) and f.name == "Note")
            window.type(letters)
            window.wait_for("the note", lambda: notes().get(position) == letters)
            window.take_picture(OUTPUT / f"bookmark-{letters}.png")
            window.key("Return")
        window.key("q", "Control")
        assert window.quits() == 0
    with Window(tape) as window:
        window.key("Home")
        window.wait_for_position(0)
        for key, position in (("Down", 20), ("Down", length - 5), ("Down", length - 5), ("Up", 20)):
            window.key(key, "Alt")
            window.wait_for_position(position)
        assert notes() == {20: "here", length - 5: "nan"}, notes()
        window.key("b", "Control")
        window.press("Take this bookmark away")
        window.wait_for("the other one alone", lambda: list(notes()) == [length - 5])


def sentences(tape):
    """What the events say, each with its number."""
    lines = tapedeck("events", tape).splitlines()
    assert len(lines) == len(read_events(tape)), lines[:3]
    return dict(enumerate(lines))


def test_words(tape):
    """Words leave the events whose sentence has them, and Enter goes from one to the next."""
    found = [seq for seq, line in sentences(tape).items() if "popped" in line]
    assert len(found) > 3, found
    with Window(tape) as window:
        window.key("Home")
        window.wait_for_position(0)
        window.key("F", "Control")
        entry = window.find("entry", "Words of an event")
        window.type("popped")
        window.read(f"{len(found)} events")
        for seq in found:
            window.key("Return")
            window.wait_for_position(seq + 1)
        window.take_picture(OUTPUT / "words.png")
        window.key("Return")
        window.press("Event listed before")
        window.wait_for_position(found[-2] + 1)
        window.fill(entry, "no such words")
        window.read("No Such Events")


def brush(window, area, begin, end):
    """Shift and a drag, from a share of the width to another."""
    middle = area.y + area.height // 2
    window.drag(area.x + int(area.width * begin), middle, area.x + int(area.width * end), middle, "Shift")


def test_brush(tape):
    """Shift and a drag over the timeline leave the events of that time, and Escape shows all times again."""
    n_words = sum("gradient" in line for line in sentences(tape).values())

    def count_in_range(window):
        label = window.read(lambda text: re.fullmatch(r"\d+ events? · .* on", text))
        return int(label.name.split()[0])

    with Window(tape, "--page", "events") as window:
        start = window.position()
        window.fill(window.find("entry", "Words of an event"), "gradient")
        window.read(f"{n_words} events")
        area = window.place_of(lambda: window.find("image", "Timeline"))
        for begin, end in ((0.33, 0.75), (0.15, 0.5), (0.5, 0.95), (0.15, 0.3), (0.7, 0.95)):  # a slow node may fill one
            brush(window, area, begin, end)
            n_found = count_in_range(window)
            window.take_picture(OUTPUT / "brush.png")
            window.press("All Times")
            window.read(f"{n_words} events")
            if 0 < n_found < n_words:
                break
        assert 0 < n_found < n_words, n_found
        brush(window, area, begin, end)
        count_in_range(window)
        window.key("Escape")
        window.read(f"{n_words} events")
        assert window.position() == start


def test_ways(tape):
    """Back and forward through places visited; from a selected node to where it begins and ends; its events alone."""
    events = read_events(tape)
    start = next(e["seq"] for e in events if e["event"] == "graph_task_begin") + 1
    anomaly = next(e["seq"] for e in events if e["event"] == "anomaly")
    begin, end = ([e["seq"] for e in events if e["event"] == kind][-1] for kind in ("node_begin", "node_end"))
    with Window(tape, "--node", next(e["node"] for e in events if e["seq"] == begin)) as window:
        window.wait_for_position(start)
        for key, position in (("period", end + 1), ("comma", begin + 1), ("Home", 0), ("n", anomaly + 1)):
            window.key(key)
            window.wait_for_position(position)
            window.pause(REST_S, "a place where the playhead rests is one to go back to")
        for key, position in (("Left", 0), ("Left", begin + 1), ("Right", 0), ("Right", anomaly + 1), ("Right", anomaly + 1)):
            window.key(key, "Alt")
            window.wait_for_position(position)
        window.key("e")
        only = window.find("push button", "This Node")
        window.wait_for("its events alone", lambda: only.getState().contains(pyatspi.STATE_PRESSED))


def recordings():
    return list((pathlib.Path(os.environ["XDG_DATA_HOME"]) / "tapedeck/recordings").glob("t-*.tape"))


def ask_to_record(window, command):
    window.key("r", "Control")
    window.find("text", lambda name: name.startswith("Command"))
    window.type(command)
    window.take_picture(OUTPUT / "record.png")
    window.key("Return")


def test_record():
    """A command line from the window: what fails says why, and a program that fails late has a tape that opens."""
    script = OUTPUT / "t.py"
    script.write_text("import torch\na = torch.ones(2, requires_grad=True)\n(a * 2).sum().backward()\nraise ValueError('so it ends')\n")
    pythons = list(torches.installed().values())
    os.environ["XDG_CACHE_HOME"] = str(pathlib.Path(os.environ["BUILD_ROOT"]) / "test-cache")  # the observers of the other tests
    with Window() as window:
        ask_to_record(window, "false")
        window.read("Cannot Record the Program")
        window.read(lambda text: "\n\nRun the command in a terminal" in text)
    for python in pythons[:1]:
        with Window() as window:
            ask_to_record(window, shlex.join([python, str(script)]))
            window.wait_for("the tape, once the observer is built", lambda: recordings(), 400)
            window.read(lambda text: text.startswith("t-") and text.endswith(".tape"))
            window.find("slider", "Event position")
            window.take_picture(OUTPUT / "recorded.png")


def test_save(tape):
    """A finding is saved as one page: that of its backward pass."""
    for old in OUTPUT.glob("ways-event-*.html"):
        old.unlink()
    with Window(tape, "--page", "findings") as window:
        window.press("Save…")
        window.find("push button", lambda name: name.endswith("Save"))
        window.take_picture(OUTPUT / "save.png")
        window.key("Return")
        page, = window.wait_for("the page", lambda: list(OUTPUT.glob("ways-event-*.html")))
        window.wait_for("all of it", lambda: page.read_text().rstrip().endswith("</html>"))


def test_copy(tape):
    """Ctrl+C copies the event that is selected in the list: its number and its sentence."""
    with Window(tape, "--page", "events") as window:
        window.focus_by("Tab", lambda widget: widget.getRoleName() == "list item")
        seq = window.wait_for("a row", window.selected_row)
        window.key("c", "Control")
        window.wait_for("the copy", lambda: display.clipboard_text().startswith(f"{seq}\t"))
        sentence = display.clipboard_text().partition("\t")[2]
        assert window.look(lambda w: w.getRoleName() == "label" and w.name.replace("\xa0", " ") == sentence), sentence


def main():
    OUTPUT.mkdir(parents=True, exist_ok=True)
    tape = OUTPUT / "ways.tape"
    tapedeck("run", "--force", "--anomaly", "nonfinite", "-o", tape, "nan_from_sum")
    wanted = sys.argv[1:]
    for test, arguments in ((test_bookmarks, [tape]), (test_words, [tape]), (test_ways, [tape]), (test_brush, [tape]), (test_save, [tape]), (test_copy, [tape]), (test_record, [])):
        if wanted and test.__name__ not in wanted:
            continue
        test(*arguments)
        print("ok", test.__name__, flush=True)


if __name__ == "__main__":
    main()

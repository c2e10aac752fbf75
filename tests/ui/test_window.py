# SPDX-License-Identifier: LGPL-2.1-or-later
"""The window of a tape: its transport, lists, pages and keys; the start page."""
import json
import os
import pathlib
import re
import subprocess
import sys

import display

display.ensure()

from window_case import Window, pyatspi
from window_rows import go_to_row, texts_of
from window_tapes import MAKE_TAPE, OUTPUT, TAPEDECK, node_name, read_events, tapedeck

ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_nan_example(tape):
    """Open the NaN example, step forward and back, drag, run to the NaN, read its name in the inspector."""
    events = read_events(tape)
    start = next(e["seq"] for e in events if e["event"] == "graph_task_begin") + 1
    anomalies = [e for e in events if e["event"] == "anomaly" and e["seq"] > start]
    nan = next(e for e in anomalies if e["kind"] == "nan")
    assert nan["born"] == "sum", nan
    with Window(tape) as window:
        window.wait_for_position(start)
        window.press("Step one event")
        window.wait_for_position(start + 1)
        window.read_position(start)
        window.press("Step back one event")
        window.wait_for_position(start)

        begin = next(e for e in events if e["event"] == "node_begin")
        window.press("Step to the next node")
        window.wait_for_position(begin["seq"] + 1)
        window.read(node_name(events, begin["node"]))

        window.drag_to(len(events))
        window.read_position(len(events) - 1)
        window.drag_to(start)
        window.read_position(start - 1)

        for anomaly in anomalies:
            window.press("Run to the next NaN, Inf or error")
            window.wait_for_position(anomaly["seq"] + 1)
            if anomaly is nan:
                break
        window.read(node_name(events, nan["node"]))
        window.read(lambda text: text.startswith("NaN, in the sum inside the input buffer"))
        graph = window.find("image", "Backward graph")
        window.wait_for("the canvas to tell its selection",
                         lambda: node_name(events, nan["node"]) in graph.description)

        window.press("Go to the start")
        window.wait_for_position(0)
        window.press("Go to the end")
        window.wait_for_position(len(events))


def test_rows_that_lead_on(tape):
    """A row of the inspector that names a node leads to that node."""
    events = read_events(tape)
    nan = next(e for e in events if e["event"] == "anomaly" and e["born"] == "sum")
    assert len({nan["node"], nan["from"], nan["other"]}) == 3, nan
    for title, leads_to in (("+Inf and -Inf met", nan["other"]), ("Completed by", nan["from"])):
        with Window(tape, "--at", nan["seq"], "--node", nan["node"], "--page", "inspector") as window:
            window.click("label", title)
            graph = window.find("image", "Backward graph")
            window.wait_for("the node that the row names", lambda: node_name(events, leads_to) in graph.description)


def test_play(tape):
    """Playing moves on by itself and stops at the end."""
    events = read_events(tape)
    with Window(tape) as window:
        window.drag_to(len(events) - 12)
        window.wait_for_position(len(events) - 12)
        window.press("Play or pause")
        window.wait_for_position(len(events))


def test_lists(tape):
    """The events are listed, the current one among them; the problems too."""
    events = read_events(tape)
    nan = next(e for e in events if e["event"] == "anomaly")
    with Window(tape, "--at", nan["seq"], "--page", "events") as window:
        window.wait_for_position(nan["seq"] + 1)
        window.read(str(nan["seq"]))
    word = nan["kind"]
    with Window(tape, "--at", word, "--node", nan["node"]) as window:
        window.wait_for_position(nan["seq"] + 1)
        window.read(node_name(events, nan["node"]))
    with Window(tape, "--page", "findings") as window:
        window.show_each_event()
        window.find("list", "Problems")
        window.read(str(nan["seq"]))


def test_three_clicks(folder):
    """A mistake is found with one click on the page, and shown with the second; the third asks where it came from."""
    for example in ("where_mask", "state_carried", "losses_kept", "wrong_shape", "deep_reentry", "silent_nan", "detached_branch"):
        tape = folder / f"{example}.tape"
        tapedeck("run", "--force", "--anomaly", "nonfinite", "-o", tape, example)
        told = json.loads(tapedeck("findings", tape, "--json", status=1))["findings"][0]
        with Window(tape) as window:
            window.click("page tab", "Findings")
            window.read(told["text"])
            window.press("Show")
            window.wait_for_position(told["seq"] + 1)
            window.press("Why?")
            window.read(lambda text: text.startswith("Step "))


def test_findings(folder):
    """A card for each mistake of a program: it goes to the event that shows it, and is copied as text."""
    tape = folder / "hooks_grow.tape"
    tapedeck("run", "--force", "-o", tape, "hooks_grow")
    told, = json.loads(tapedeck("findings", tape, "--json", status=1))["findings"]
    with Window(tape, "--page", "findings") as window:
        for words in ("A list of hooks grows", told["text"], told["advice"]):
            window.read(words)
        window.press("Show")
        window.wait_for_position(told["seq"] + 1)
        window.press("Copy")


def test_list_under_pointer(folder):
    """Rows that go from under the pointer do no harm, the pointer selects nothing, and a click goes to its event."""
    tape = folder / "pointer.tape"
    subprocess.run([MAKE_TAPE, "40", "1", "20", "4", tape], check=True)
    length = len(read_events(tape))
    with Window(tape, "--page", "events") as window:
        area = window.place_of(lambda: window.find("list", "Events"))
        x, points = area.x + area.width // 2, [area.y + area.height * part // 10 for part in (9, 1, 5)]
        for y in points:
            for position in (length, length // 2, 1):
                window.drag_to(position)
                window.wait_for_position(position)
                window.wait_for("the row of the position", lambda: window.selected_row() == str(position - 1))
                for move in (y, y + 40):
                    window.point_at(x, move)
                assert window.selected_row() == str(position - 1)
        window.click_at(x, points[-1])
        window.wait_for("the event that was clicked", lambda: window.position() > 1)
        window.wait_for("its row selected", lambda: window.selected_row() == str(window.position() - 1))


def test_messages(tape):
    """Messages may follow each other faster than they appear."""
    with Window(tape) as window:
        window.press("Go to the end")
        with window.hurry():
            for seconds in (0.05, 0.1, 0.2, 0.4) * 6:
                window.key("n")
                window.pause(seconds, "each message meets the one before at another moment")
        window.settle()
        assert window.process.poll() is None
        window.press("Go to the start")
        window.wait_for_position(0)


def test_level(folder):
    """A tape that was not seen in Tapedeck's own engine says so, in the title and behind a button."""
    tape = folder / "hooked.tape"
    subprocess.run([MAKE_TAPE, "40", "1", "20", "4", tape, "hooked"], check=True)
    with Window(tape) as window:
        window.read(lambda text: text.startswith("tape maker 1, level 2: node hooks"))
        window.press("Level 2")
        window.read("What cannot be seen")
        window.read(lambda text: text.startswith("lock_wait: "))


def test_no_problems(folder):
    """Without a problem the pane says whether anybody looked for NaN. A profiler's trace does not tell."""
    trace, tape, calm = folder / "calm.json", folder / "calm.tape", folder / "calm-run.tape"
    trace.write_text(json.dumps({"traceEvents": [
        {"ph": "X", "name": "autograd::engine::evaluate_function: SumBackward0", "pid": 1, "tid": 1, "ts": 1, "dur": 5,
         "cat": "cpu_op", "args": {"Sequence number": 1, "Fwd thread id": 1}},
        {"ph": "X", "name": "SumBackward0", "pid": 1, "tid": 1, "ts": 2, "dur": 2, "cat": "cpu_op",
         "args": {"Sequence number": 1, "Fwd thread id": 1}}]}))
    subprocess.run([TAPEDECK, "import", "--force", trace, "-o", tape], check=True)
    looked = folder / "looked.tape"
    for path, mode in ((calm, "off"), (looked, "nonfinite")):
        subprocess.run([TAPEDECK, "run", "--force", "--anomaly", mode, "-o", path, "two_layers"], check=True, stdout=subprocess.DEVNULL)
    for path, words in ((tape, "The tape does not show whether there was an error. It does not show NaN and Inf either"), (calm, "The recording did not look for NaN and Inf"),
                        (looked, "no gradient or sum was NaN or Inf")):
        with Window(path, "--page", "findings") as window:
            window.read(lambda text: words in text)
            if path == tape:
                window.read(lambda text: "Not judged, because the tape has no such events, or too many: " in text)


def test_training(folder):
    """Of many passes one is shown; one jumps to the next one and from step to step."""
    tape = folder / "training.tape"
    subprocess.run([MAKE_TAPE, "40", "1", "300", "4", tape, "train"], check=True)
    events = read_events(tape)
    begins = [e["seq"] for e in events if e["event"] == "graph_task_begin"]
    steps = [e["seq"] for e in events if e["event"] == "step"]
    with Window(tape) as window:
        window.wait_for_position(begins[0] + 1)
        window.read(lambda text: text == "Backward pass 1 of 300 · step 1")
        window.press("Next backward pass")
        window.wait_for_position(begins[1] + 1)
        window.key("braceright")
        window.wait_for_position(steps[2] + 1)
        window.read(lambda text: text == "Backward pass 2 of 300 · step 2")
        window.key("braceleft")
        window.wait_for_position(steps[1] + 1)
        window.drag_to(len(events) // 2)
        graph = window.find("image", "Backward graph")
        window.wait_for("the graph of one pass and not of 300",
                         lambda: 2 <= int(graph.description.rpartition(" nodes")[0].split()[-1]) <= 40)


def test_not_a_tape():
    """A file that is no tape is told in the window, with what to do next."""
    path = OUTPUT / "not-a-tape.txt"
    path.write_text("Only some text, and long enough to be looked at by the reader of tapes.\n" * 4)
    with Window(path) as window:
        window.read("Cannot Open “not-a-tape.txt”")
        window.find("push button", lambda name: "Open Another Tape" in name)


def test_keys(tape):
    """The keyboard alone: steps, run to NaN, find a node by typing its name (which holds keys of actions)."""
    events = read_events(tape)
    start = next(e["seq"] for e in events if e["event"] == "graph_task_begin") + 1
    anomaly = next(e for e in events if e["event"] == "anomaly" and e["seq"] > start)
    begin = next(e for e in events if e["event"] == "node_begin")
    sin = next(e for e in events if e["event"] == "node_new" and e["name"] == "SinBackward0")
    with Window(tape) as window:
        window.wait_for_position(start)
        for key, modifier, position in (("Right", None, start + 1), ("Left", None, start),
                                        ("Right", "Shift", begin["seq"] + 1), ("n", None, anomaly["seq"] + 1),
                                        ("Home", None, 0)):
            window.key(key, modifier)
            window.wait_for_position(position)
        window.key("f", "Control")
        window.find("entry", "Find a node")
        window.type("sin")
        window.read(lambda text: text == "1 node")
        window.key("Return")
        window.read(node_name(events, sin["node"]))
        assert window.position() == 0


def test_keys_in_lists(tape):
    """Where the focus is in a list, transport keys work, Up and Down go from event to event, and Tab leaves the list."""
    events = read_events(tape)
    start = next(e["seq"] for e in events if e["event"] == "graph_task_begin") + 1
    with Window(tape, "--page", "events") as window:
        window.wait_for_position(start)
        window.focus_by("Tab", lambda widget: widget.getRoleName() == "list item")
        for key, modifier, position in (("Down", None, start + 1), ("Down", None, start + 2), ("Up", None, start + 1),
                                        ("Page_Down", None, start + 11), ("Page_Up", None, start + 1),
                                        ("Right", None, start + 2), ("Left", None, start + 1), ("Home", None, 0), ("End", None, len(events)),
                                        ("Up", None, len(events) - 1), ("Left", None, len(events) - 2)):
            window.key(key, modifier)
            window.wait_for_position(position)
            window.wait_for("its row selected", lambda: window.selected_row() == (str(position - 1) if position else None))
        window.wait_for("the focus in the list", lambda: (f := window.focused()) and f.getRoleName() == "list item")
        window.key("Tab")
        window.wait_for("the focus out of the list", lambda: (f := window.focused()) and f.getRoleName() != "list item")


def test_overlays(tape):
    """A key colours the nodes by each figure in turn; the graph says the figure of the node that is selected."""
    row = json.loads(tapedeck("report", tape, "--by", "node", "--json"))["rows"][0]
    with Window(tape, "--node", row["key"].rpartition("#")[2], "--overlay", "time") as window:
        graph = window.find("image", "Backward graph")
        window.wait_for("the time of the node", lambda: " Time: " in graph.description)
        assert re.search(r"#\d+.*\. Time: [\d.]+ (ns|µs|ms|s)\. The graph has", graph.description), graph.description
        shown = "Time"
        for name in ("Bytes", "Gradient Norm", "Critical Path", "Slack", "State"):
            window.key("o")
            has_figure = name not in ("Gradient Norm", "State")  # this tape has no norms
            window.wait_for(name, lambda: f" {shown}: " not in graph.description and
                             (f" {name}: " in graph.description) == has_figure)
            shown = name


def test_start_page():
    """An empty window asks by purpose: a question opens the example that answers it, at the page that does."""
    source = (ROOT / "ui/widgets/dialogs/start_page.c").read_text()
    answers = re.findall(r'"(\w+)",\s+"(\w+)"}', source)
    assert len(answers) > 9, answers
    for example, page in answers:
        assert (ROOT / f"resources/examples/{example}.py").is_file(), example
        fails_in_one_line(["--page", page, str(OUTPUT / "absent.tape")], dict(os.environ), "absent.tape")
    with Window() as window:
        window.read("Find a NaN")
        go_to_row(window, "Who waits for whom?")
        window.key("Return")
        window.read("two_devices.tape")
        analysis = window.find("page tab", "Analysis")
        window.wait_for("its page", lambda: analysis.getState().contains(pyatspi.STATE_SELECTED))


def test_all_examples():
    """The last row of the start page has all examples; choosing one records it and opens its tape."""
    with Window() as window:
        go_to_row(window, "All Examples")
        window.key("Return")
        window.focus_by("Down", lambda row: "nan_from_sum" in window.wait_for("its texts", lambda: texts_of(row)))
        window.key("Return")
        window.read("nan_from_sum.tape")
        window.find("slider", "Event position")


def fails_in_one_line(arguments, environment, words):
    result = subprocess.run([TAPEDECK, "open", *arguments], env=environment, capture_output=True, text=True, timeout=300)
    assert result.returncode == 2, result
    assert len(result.stderr.splitlines()) == 1 and words in result.stderr, result.stderr


def test_failures(tape):
    """No such file, no display, bad options, no such moment: one line and exit status 2. No window stays open."""
    here = dict(os.environ)
    fails_in_one_line([str(OUTPUT / "absent.tape")], here, "absent.tape")
    fails_in_one_line(["--size", "big"], here, "--size")
    length = len(read_events(tape))
    fails_in_one_line([str(tape), "--at", str(length)], here, f"events 0 to {length - 1}")
    fails_in_one_line([str(tape), "--pass", "99"], here, "no graph task 99")
    fails_in_one_line(["--page", "nonsense"], here, "--page")
    nowhere = {key: value for key, value in here.items() if key not in ("DISPLAY", "WAYLAND_DISPLAY")}
    fails_in_one_line([str(tape)], nowhere, "no display")
    spaced = OUTPUT / "no display.tape"
    spaced.write_bytes(tape.read_bytes())
    fails_in_one_line([str(spaced)], nowhere, "no display.tape'` or `tapedeck render '")


def main():
    OUTPUT.mkdir(parents=True, exist_ok=True)
    tape = OUTPUT / "nan_from_sum.tape"
    tapedeck("run", "--force", "--anomaly", "nonfinite", "-o", tape, "nan_from_sum")
    wanted = sys.argv[1:]
    for test, arguments in ((test_failures, [tape]), (test_nan_example, [tape]), (test_rows_that_lead_on, [tape]), (test_keys, [tape]), (test_keys_in_lists, [tape]), (test_play, [tape]),
                            (test_lists, [tape]), (test_findings, [OUTPUT]), (test_three_clicks, [OUTPUT]), (test_overlays, [tape]), (test_messages, [tape]), (test_list_under_pointer, [OUTPUT]), (test_level, [OUTPUT]),
                            (test_no_problems, [OUTPUT]), (test_training, [OUTPUT]), (test_not_a_tape, []), (test_start_page, []), (test_all_examples, [])):
        if wanted and test.__name__ not in wanted:
            continue
        test(*arguments)
        print("ok", test.__name__, flush=True)


if __name__ == "__main__":
    main()

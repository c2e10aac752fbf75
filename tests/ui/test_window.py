# SPDX-License-Identifier: LGPL-2.1-or-later
"""Drives the window through its accessibility tree, by role and name, as a person with a screen reader would."""
import json
import os
import pathlib
import re
import subprocess
import sys
import time

import display

display.ensure()

try:
    import pyatspi
except ImportError:
    print("needs python3-pyatspi")
    sys.exit(display.SKIPPED)

TAPEDECK = os.environ["TAPEDECK"]
MAKE_TAPE = pathlib.Path(os.environ["BUILD_ROOT"]) / "tests" / "make_tape"
OUTPUT = pathlib.Path(os.environ["TEST_OUTPUT"]) / "window"
ROOT = pathlib.Path(__file__).resolve().parents[2]
THIN_SPACE = "\u202f"
KEYS = {"Right": 0xFF53, "Left": 0xFF51, "Down": 0xFF54, "Up": 0xFF52, "End": 0xFF57, "space": 0x20, "Home": 0xFF50, "Tab": 0xFF09, "Return": 0xFF0D, "braceleft": 0x7B,
        "braceright": 0x7D, "Page_Up": 0xFF55, "Page_Down": 0xFF56, "F1": 0xFFBE, "F5": 0xFFC2, "F9": 0xFFC6, "comma": 0x2C, "period": 0x2E, "question": 0x3F, "Escape": 0xFF1B}
NOTICE_DEPTH = 8
MODIFIER_CODES = {"Shift": 50, "Control": 37, "Alt": 64}  # of the keyboard that Xvfb has


def tapedeck(*arguments, status=0):
    done = subprocess.run([TAPEDECK, *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == status, (arguments, done)
    return done.stdout


def read_events(tape):
    return [json.loads(line) for line in tapedeck("events", "--json", tape).splitlines()]


def node_name(events, node):
    new = next(e for e in events if e["event"] == "node_new" and e["node"] == node)
    return f"{new['name']} #{node}"


class Window:
    """A running `tapedeck open`, found on the accessibility bus by its process."""

    SLIDER = "Event position"  # in the window's language
    SCREEN = {}                # variables that say where windows open; {}: under X
    near = focus_near = None   # around what was found last: walking the whole tree over the bus is slow

    def __init__(self, *arguments, stderr=None):
        self.process = subprocess.Popen([TAPEDECK, "open", *map(str, arguments)], stderr=stderr, env=self.environment())
        self.known = {}
        self.application = display.wait_for("the window on the accessibility bus", self.find_application)

    def environment(self):
        return dict(os.environ, G_DEBUG="fatal-criticals", **self.SCREEN)

    def __enter__(self):
        return self

    def __exit__(self, *failure):
        self.process.terminate()
        self.process.wait(120)

    def find_application(self):
        assert self.process.poll() is None, "the window is gone"
        for application in pyatspi.Registry.getDesktop(0):
            if application and application.get_process_id() == self.process.pid:
                return application
        return None

    def find(self, role, name):
        def matches(widget):
            return widget.getRoleName() == role and (name(widget.name) if callable(name) else widget.name == name)

        def look():
            return (self.near and display.find_below(self.near, matches)) or display.find_below(self.application, matches)

        found = display.wait_for(f"{role} '{name}'", look)
        self.near = display.calmly(lambda: found.parent.parent.parent)
        return found

    def control(self, role, name):
        """A widget that stays."""
        if name not in self.known:
            self.known[name] = self.find(role, name)
        return self.known[name]

    def press(self, name):
        self.control("push button", name).queryAction().doAction(0)

    def place_of(self, find_widget):
        """Where a widget is in the window, as soon as it has room and rests there: other parts may still take theirs."""
        seen = []

        def rests():
            box = find_widget().queryComponent().getExtents(pyatspi.WINDOW_COORDS)
            seen.append((box.x, box.y, box.width, box.height))
            return box if box.width and box.height and seen[-3:] == [seen[-1]] * 3 else None

        return display.wait_for("the widget to rest", rests)

    def click(self, role, name):
        box = self.place_of(lambda: self.find(role, name))
        pyatspi.Registry.generateMouseEvent(box.x + box.width // 2, box.y + box.height // 2, "b1c")

    def show_each_event(self):
        """The second page of the pane Findings."""
        self.click("page tab", "Each Event")

    def read(self, text):
        """Waits until a label says this."""
        return self.find("label", text)

    def says_notice(self, text):
        """A notice stays for seconds alone: it is near the root, and walking the whole tree takes longer."""
        assert self.process.poll() is None, "the window is gone"
        level = [self.application]
        try:
            for _ in range(NOTICE_DEPTH):
                level = [child for widget in level for child in widget if child]
                if any(widget.name.startswith(text) for widget in level):
                    return True
        except Exception:  # the tree changed while we walked over it
            return False
        return False

    def read_notice(self, text):
        display.wait_for(f"the notice '{text}'", lambda: self.says_notice(text))

    def key(self, name, modifier=None):
        """Presses a key as the keyboard would; a modifier is held meanwhile."""
        generate = pyatspi.Registry.generateKeyboardEvent
        if modifier:
            generate(MODIFIER_CODES[modifier], None, pyatspi.KEY_PRESS)
        generate(KEYS.get(name) or ord(name), None, pyatspi.KEY_SYM)
        if modifier:
            generate(MODIFIER_CODES[modifier], None, pyatspi.KEY_RELEASE)

    def focused(self):
        for root in (self.focus_near, self.application):
            found = root and display.find_below(root, lambda w: w.getState().contains(pyatspi.STATE_FOCUSED))
            if found:
                self.focus_near = display.calmly(lambda: found.parent)
                return found
        return None

    def moves_focus(self, key):
        """Presses a key, and waits until it has moved the focus; False if it does not. A busy window takes its time."""
        before, deadline = self.focused(), time.monotonic() + 3
        self.key(key)
        while time.monotonic() < deadline:
            if (now := self.focused()) and now != before:
                return True
            time.sleep(0.05)
        return False

    def focus_by(self, key, is_wanted):
        """Presses a key until the focus is on a widget that is wanted, at most 40 times."""
        focused = self.focused()
        for _ in range(40):
            if focused and is_wanted(focused):
                return focused
            self.key(key)
            focused = display.wait_for("the focus to move", lambda: (now := self.focused()) != focused and now)
        raise AssertionError(f"{key} never came there")

    def selected_row(self):
        """The number of the event that is selected in a list."""
        row = display.find_below(self.application, lambda w: w.getRoleName() == "list item" and
                                 w.getState().contains(pyatspi.STATE_SELECTED))
        label = row and display.find_below(row, lambda w: w.getRoleName() == "label" and w.name.isdigit())
        return label and label.name

    def position(self):
        try:
            return int(self.control("slider", self.SLIDER).queryValue().currentValue)
        except NotImplementedError:  # the bus did not answer in time
            assert self.process.poll() is None, "the window is gone"
            return None

    def drag_to(self, position):
        self.control("slider", self.SLIDER).queryValue().currentValue = position

    def wait_for_position(self, position):
        display.wait_for(f"position {position}", lambda: self.position() == position)

    def read_position(self, seq):
        """The label of the transport says which event was reached."""
        digits = f"{seq:,}".replace(",", THIN_SPACE)
        return self.read(lambda text: text.startswith(f"event {digits} of "))


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
        display.wait_for("the canvas to tell its selection",
                         lambda: node_name(events, nan["node"]) in graph.description)

        window.press("Go to the start")
        window.wait_for_position(0)
        window.press("Go to the end")
        window.wait_for_position(len(events))


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
                display.wait_for("the row of the position", lambda: window.selected_row() == str(position - 1))
                for move in (y, y + 40):
                    pyatspi.Registry.generateMouseEvent(x, move, "abs")
                    time.sleep(0.1)
                assert window.selected_row() == str(position - 1)
        pyatspi.Registry.generateMouseEvent(x, points[-1], "b1c")
        display.wait_for("the event that was clicked", lambda: window.position() > 1)
        display.wait_for("its row selected", lambda: window.selected_row() == str(window.position() - 1))


def test_messages(tape):
    """Messages may follow each other faster than they appear."""
    with Window(tape) as window:
        window.press("Go to the end")
        for pause in (0.05, 0.1, 0.2, 0.4) * 6:
            window.key("n")
            time.sleep(pause)
        time.sleep(1)
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
    for path, words in ((tape, "Whether there was an error is not known. Whether there was a NaN or Inf is not known either"), (calm, "nobody looked for them"),
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
        display.wait_for("the graph of one pass and not of 300",
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
        for letter in "sin":
            window.key(letter)
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
            display.wait_for("its row selected", lambda: window.selected_row() == (str(position - 1) if position else None))
        display.wait_for("the focus in the list", lambda: (f := window.focused()) and f.getRoleName() == "list item")
        window.key("Tab")
        display.wait_for("the focus out of the list", lambda: (f := window.focused()) and f.getRoleName() != "list item")


def test_overlays(tape):
    """A key colours the nodes by each figure in turn; the graph says the figure of the node that is selected."""
    row = json.loads(tapedeck("report", tape, "--by", "node", "--json"))["rows"][0]
    with Window(tape, "--node", row["key"].rpartition("#")[2], "--overlay", "time") as window:
        graph = window.find("image", "Backward graph")
        display.wait_for("the time of the node", lambda: " Time: " in graph.description)
        assert re.search(r"#\d+.*\. Time: [\d.]+ (ns|µs|ms|s)\. The graph has", graph.description), graph.description
        shown = "Time"
        for name in ("Bytes", "Gradient Norm", "Critical Path", "Slack", "State"):
            window.key("o")
            has_figure = name not in ("Gradient Norm", "State")  # this tape has no norms
            display.wait_for(name, lambda: f" {shown}: " not in graph.description and
                             (f" {name}: " in graph.description) == has_figure)
            shown = name


def texts_of(widget):
    """The texts of the labels in a widget."""
    try:
        return [label.name for label in pyatspi.findAllDescendants(widget, lambda w: w.getRoleName() == "label")]
    except Exception:  # the tree changed while we walked over it
        return []


def go_to_row(window, title):
    """Tab to the list that has the row, then Down to the row."""
    def is_row(widget):
        return widget and widget.getRoleName() == "list item" and title in display.wait_for("its texts", lambda: texts_of(widget))

    for _ in range(20):
        row = window.focus_by("Tab", lambda widget: widget.getRoleName() == "list item")
        for _ in range(row.parent.childCount - 1):
            if is_row(window.focused()):
                return
            if not window.moves_focus("Down"):
                break
        if is_row(window.focused()):  # a row that unfolds is a list of its own: Down goes to the next one
            return
        window.moves_focus("Tab")
    raise AssertionError(f"no row '{title}'")


def test_start_page():
    """An empty window asks by purpose: a question opens the example that answers it, at the page that does."""
    source = (ROOT / "ui/widgets/start_page.c").read_text()
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
        display.wait_for("its page", lambda: analysis.getState().contains(pyatspi.STATE_SELECTED))


def test_all_examples():
    """The last row of the start page has all examples; choosing one records it and opens its tape."""
    with Window() as window:
        go_to_row(window, "All Examples")
        window.key("Return")
        time.sleep(1)  # the list unfolds
        window.focus_by("Down", lambda row: "nan_from_sum" in display.wait_for("its texts", lambda: texts_of(row)))
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
            time.sleep(0.6)
        for key, position in (("Left", 0), ("Left", begin + 1), ("Right", 0), ("Right", anomaly + 1), ("Right", anomaly + 1)):
            window.key(key, "Alt")
            window.wait_for_position(position)
        window.key("e")
        only = window.find("push button", "This Node")
        display.wait_for("its events alone", lambda: only.getState().contains(pyatspi.STATE_PRESSED))


def test_panes(tape):
    """A key hides each pane, and what is hidden stays so in the next window, until the key shows it again."""
    panes = {("image", "Timeline"): "Control", ("image", "Ready queues"): "Shift", ("page tab", "Events"): None}

    def shown(window):
        """What is hidden is not in the tree."""
        return {(role, name) for role, name in panes
                if display.find_below(window.application, lambda w: (w.getRoleName(), w.name) == (role, name))}

    for before, after in (panes, []), ([], panes):
        with Window(tape) as window:
            window.find("slider", "Event position")
            display.wait_for(f"only {list(before)}", lambda: shown(window) == set(before))
            left = set(before)
            for name, modifier in panes.items():
                window.key("F9", modifier)
                left ^= {name}
                display.wait_for(f"only {left}", lambda: shown(window) == left)
            display.take_picture(OUTPUT / f"panes-{len(left)}.png")
            assert left == set(after)
            window.key("q", "Control")
            window.process.wait(timeout=60)


def main():
    OUTPUT.mkdir(parents=True, exist_ok=True)
    tape = OUTPUT / "nan_from_sum.tape"
    tapedeck("run", "--force", "--anomaly", "nonfinite", "-o", tape, "nan_from_sum")
    wanted = sys.argv[1:]
    for test, arguments in ((test_failures, [tape]), (test_nan_example, [tape]), (test_keys, [tape]), (test_keys_in_lists, [tape]), (test_panes, [tape]), (test_ways, [tape]), (test_play, [tape]),
                            (test_lists, [tape]), (test_findings, [OUTPUT]), (test_three_clicks, [OUTPUT]), (test_overlays, [tape]), (test_messages, [tape]), (test_list_under_pointer, [OUTPUT]), (test_level, [OUTPUT]),
                            (test_no_problems, [OUTPUT]), (test_training, [OUTPUT]), (test_not_a_tape, []), (test_start_page, []), (test_all_examples, [])):
        if wanted and test.__name__ not in wanted:
            continue
        test(*arguments)
        print("ok", test.__name__, flush=True)


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: LGPL-2.1-or-later
"""The tables of the side pane against the documents of the command line: the same rows, a dash where those have null.
Pictures of each, light and dark, small and large, for a person to look at."""
import itertools
import json
import re
import subprocess

import display

display.ensure()

import torches

from window_case import Window
from window_tapes import MAKE_TAPE, OUTPUT, TAPEDECK, THIN_SPACE, read_events, record_program, tapedeck

TORCH = "2.13.0"
ROWS_READ = 4  # each cell is a question over the bus
UNITS = {"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9, "B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
TRANSFORMER = """
import torch, torch.nn as nn
torch.manual_seed(0)
layer = nn.TransformerEncoder(nn.TransformerEncoderLayer(32, 4, 64, batch_first=True), 2)
head = nn.Linear(32, 10)
for _ in range(2):
    nn.functional.cross_entropy(head(layer(torch.randn(4, 8, 32))).mean(1), torch.arange(4)).backward()
"""


def quantity(text):
    """What a cell says: a number of ns, bytes or things, a share, or None for a dash."""
    if text == "–":
        return None
    words = text.replace(THIN_SPACE, "").split()
    if len(words) == 1:
        return float(words[0])
    return float(words[0]) / 100 if words[1] == "%" else float(words[0]) * UNITS[words[1]]


def same(shown, told):
    """Cells have three digits; shares have one after the point."""
    if shown is None or told is None:
        return shown is None and told is None
    return abs(shown - told) <= max(0.006 * abs(told), 0.00051 if abs(told) < 1.01 else 0.51)


class AnalysisWindow(Window):
    def table(self, title):
        return self.control("tree table", title)

    def rows(self, title):
        """The cells of the rows on the screen, by the headings."""
        def look():
            try:
                table = self.table(title)
                header, body = table.getChildAtIndex(0), table.getChildAtIndex(1)
                heads = [self.label_in(header.getChildAtIndex(i)) for i in range(header.childCount)]
                rows = [body.getChildAtIndex(i) for i in range(min(body.childCount, ROWS_READ))]
                return [dict(zip(heads, (self.label_in(row.getChildAtIndex(i)) for i in range(row.childCount)))) for row in rows]
            except Exception:  # the tree changed while we walked over it
                return None
        return self.wait_for("rows of " + title, look)

    def label_in(self, widget):
        return display.find_below(widget, lambda w: w.getRoleName() == "label").name

    def click_row(self, title, number):
        area = self.place_of(lambda: self.table(title).getChildAtIndex(1).getChildAtIndex(number))
        self.click_at(area.x + 40, area.y + area.height // 2 + 4)


def check_rows(rows, told, key, columns, n_least=1):
    """Rows of the window and objects of the document, by their first column; `columns` leads from heading to number."""
    heads = next(iter(rows[0])) if rows else None
    assert len(rows) >= min(n_least, len(told)), (rows, told)
    by_key = {}
    for row in told:
        by_key.setdefault(key(row) or "–", []).append(row)
    for row in rows:
        candidates = by_key[row[heads]]
        for head, number in columns.items():
            values = [number(one) for one in candidates]
            assert any(same(quantity(row[head]), value) for value in values), (row, head, values)


def parts_of(*names):
    return lambda row: None if any(row["parts"][n] is None for n in names) else sum(row["parts"][n] for n in names)


def hand_over(row):
    """A probe does not tell pushes apart."""
    parts = row["parts"]
    return None if parts["release"] is None else parts["accumulate"] + parts["release"] + (parts["push"] or 0)


PROFILE = {"Self": lambda r: r["self"], "Share": lambda r: r["share"] if r["of_wall"] is None else r["of_wall"], "Calls": lambda r: r["n"], "Median": lambda r: r["p50"],
           "95 %": lambda r: r["p95"], "Longest": lambda r: r["max"]}
LIVES = PROFILE | {"Total": lambda r: r["total"], "Hooks": parts_of("pre_hooks", "post_hooks"),
                   "Hand over": hand_over, "Lock wait": parts_of("lock_wait"),
                   "Queue wait": parts_of("queue_wait"), "Grad wait": parts_of("dependency_wait")}


def check_profile(window, tape):
    """The rows of each engine's tape are those of `report`, the greatest first."""
    told = json.loads(tapedeck("report", tape, "--json"))["rows"]
    rows = window.rows("Profile: where the time went")
    check_rows(rows, told, lambda row: row["key"], LIVES, n_least=4)
    selves = [quantity(row["Self"]) or 0 for row in rows]
    assert selves == sorted(selves, reverse=True), selves


def check_row_leads(window, tape):
    """A row goes to its longest call: its node is selected, and the playhead is where it begins."""
    events = read_events(tape)
    names = {e["node"]: e["name"] for e in events if e["event"] == "node_new"}
    title = "Profile: where the time went"
    key, event = window.rows(title)[1]["Name"], {}

    def led():
        event.update(events[window.position() - 1])
        return event["event"] == "node_begin" and names[event["node"]] == key
    assert not led(), "the playhead is there before the click"
    window.click_row(title, 1)
    window.wait_for("the longest call", led)
    graph = window.find("image", "Backward graph")
    window.wait_for("the node selected", lambda: f"#{event['node']}" in graph.description)


def check_copy(window, tape):
    """Ctrl+C in a table copies its selected row, Ctrl+Shift+C all rows below their headings."""
    title = "Profile: where the time went"
    shown = window.rows(title)
    window.click_row(title, 1)
    window.key("c", "Control")
    window.wait_for("the row", lambda: display.clipboard_text().split("\t") == list(shown[1].values()))
    window.key("C", "Control")
    window.wait_for("the table", lambda: display.clipboard_text().startswith("\t".join(shown[0]) + "\n"))
    told = json.loads(tapedeck("report", tape, "--json"))["rows"]
    assert len(display.clipboard_text().splitlines()) == 1 + len(told)


def check_filter(window, tape):
    """Letters leave the rows that have them."""
    title = "Profile: where the time went"
    all_rows = window.rows(title)
    entry = window.find("entry", "Filter the rows")
    window.fill(entry, "addmm")
    window.wait_for("fewer rows", lambda: len(window.rows(title)) < ROWS_READ)
    rows = window.rows(title)
    assert rows and all("Addmm" in row["Name"] for row in rows), rows
    window.fill(entry, "")
    window.wait_for("all rows again", lambda: window.rows(title) == all_rows)
    # what is out of sight has no size
    window.wait_for("the first row in sight", lambda: window.place_of(lambda: window.table(title).getChildAtIndex(1).getChildAtIndex(0)).height)


def check_contention(window, tape):
    """What the locks' holders and waiters are, as in `report --contention`."""
    told = json.loads(tapedeck("report", tape, "--contention", "--json"))
    blames = [blame | {"lock": lock["lock"]} for lock in told["locks"] for blame in lock["blames"]]
    window.key("6", "Alt")
    if blames:
        check_rows(window.rows("Contention: who waited for whom"), blames, lambda row: row["lock"],
                   {"Waited": lambda r: r["sum"], "Held": lambda r: r["held"], "Woke late": lambda r: r["late"], "Waits": lambda r: r["n"]})
    else:
        window.read(lambda text: text.endswith("No thread waited for a lock."))


def check_queues(window, tape):
    """A row of queues leads to the pop of the task that lay there for longest; Enter leads there again."""
    title = "Contention: who waited for whom"
    told = json.loads(tapedeck("report", tape, "--contention", "--json"))["queues"]
    window.click("combo box", "Rows")
    for key in ("Down", "Down", "Return"):
        window.key(key)
    window.known.clear()  # the table of the same name is another one
    rows = window.wait_for("the queues", lambda: (rows := window.rows(title)) and "Queue" in rows[0] and rows)
    longest = {queue["queue"]: queue["longest_task"] for queue in told}[rows[0]["Queue"]]
    assert same(quantity(rows[0]["Longest"]), longest["ns"]), (rows, longest)
    window.click_row(title, 0)
    window.wait_for_position(longest["popped"] + 1)
    window.press("Go to the start")
    window.wait_for_position(0)
    window.key("Return")
    window.wait_for_position(longest["popped"] + 1)


def check_critical(window, tape):
    told = json.loads(tapedeck("report", tape, "--critical", "--json"))
    window.key("7", "Alt")
    rows = window.rows("Critical path: what the end of the pass waited for")
    check_rows(rows, told["parts"], lambda row: row["what"], {"Time": lambda r: r["ns"], "Nodes": lambda r: r["steps"]})


def check_whatif(window, tape):
    told = json.loads(tapedeck("whatif", tape, "--json"))
    window.key("8", "Alt")
    rows = window.rows("What-if: other schedules")
    assert [row["Policy"] for row in rows] == [row["policy"] for row in told["results"]][:ROWS_READ]
    check_rows(rows, told["results"], lambda row: row["policy"],
               {"Wall": lambda r: r["wall"], "Change": lambda r: r["wall"] / told["replayed"] - 1, "Queue": lambda r: r["queue_peak"],
                "Memory": lambda r: r["memory_peak"]})
    devices = window.find("spin button", "Devices beside the CPU; 0: as recorded").queryText()
    assert devices.getText(0, devices.characterCount) == "as recorded"
    window.read(lambda text: text.startswith("Recorded: ") and f"{100 * told['error']:.1f}\u00a0% off" in text)
    entry = window.find("text", "Functions or nodes that take so many times as long")
    window.click_on(lambda: entry)
    window.type("hook")
    window.key("Return")
    window.read(lambda text: "no hook was called in these passes" in text)


def check_memory(window, tape):
    """Who holds most at the peak, as in `report --memory`."""
    told = json.loads(tapedeck("report", tape, "--memory", "--json"))
    window.key("9", "Alt")
    rows = window.rows("Memory: who holds it")
    check_rows(rows, told["peak"]["holders"], lambda row: row["name"], {"Bytes": lambda r: r["bytes"]})
    plot = window.find("image", "Memory over time")
    window.wait_for("what is held at the playhead", lambda: re.match(r"[\d.]+ (ns|µs|ms|s): ", plot.description))


def test_tables(tape):
    """One window goes through all tables, by their keys."""
    with AnalysisWindow(tape, "--page", "profile") as window:
        for check in (check_profile, check_filter, check_row_leads, check_copy, check_contention, check_queues, check_critical, check_whatif, check_memory):
            check(window, tape)
            print("ok", check.__name__, tape.stem, flush=True)


def count_calls(rows):
    return sum(quantity(row["Calls"]) for row in rows)


def brush(window):
    area = window.place_of(lambda: window.find("image", "Timeline"))
    middle = area.y + area.height // 2
    window.drag(area.x + area.width // 3, middle, area.x + area.width * 3 // 5, middle, "Shift")


def test_range(tape):
    """Tables count only what happened in the time that somebody brushed over, or say that they cannot."""
    title = "Profile: where the time went"
    with AnalysisWindow(tape, "--page", "profile") as window:
        window.key("t")
        whole = window.rows(title)
        brush(window)
        window.read(lambda text: re.match(r"Only in .* from .* on", text))
        part = window.wait_for("fewer calls", lambda: (rows := window.rows(title)) and 0 < count_calls(rows) < count_calls(whole) and rows)
        names = {row["Name"] for row in whole}
        assert {row["Name"] for row in part} <= names or len(whole) == ROWS_READ, part
        window.take_picture(OUTPUT / "range-profile.png")
        window.key("7", "Alt")
        window.read("Not of a Range of Time")
        window.take_picture(OUTPUT / "range-critical.png")
        window.key("5", "Alt")
        window.read("At the playhead, in no range of time")
        window.key("9", "Alt")
        window.read("Memory that was held when the range of time began counts too.\nSizes and releases were observed.")
        window.take_picture(OUTPUT / "range-memory.png")
        window.key("6", "Alt")
        window.read(lambda text: re.match(r"Only in .* from .* on", text))
        window.take_picture(OUTPUT / "range-contention.png")
        window.key("4", "Alt")
        label = window.read(lambda text: re.match(r"Only in .* from .* on", text))
        button = window.look(lambda widget: widget.name == "All Times", label.parent)
        window.act(button)
        window.known.clear()  # the table has had other names
        window.wait_for("all calls", lambda: count_calls(window.rows(title)) == count_calls(whole))


def test_waiting(tape):
    """The ledger at the first moment at which a node waits for a part of its gradients."""
    events = read_events(tape)
    for seq in [e["seq"] for e in events if e["event"] == "buffer_add"]:
        told = json.loads(tapedeck("state", tape, "--at", seq, "--json"))["not_ready"]
        if told:
            break
    assert told, "no node waits for a part of its gradients"
    with AnalysisWindow(tape, "--page", "waiting", "--at", seq) as window:
        rows = window.rows("Waiting: which gradients are missing")
        assert len(rows) == min(len(told), ROWS_READ), (rows, told)
        for row, task in zip(rows, told):
            number = int(re.search(r"#(\d+)", row["Node"]).group(1))
            assert number == task["node"], (row, task)
            assert same(quantity(row["Bytes"]), sum(one["bytes"] for one in task["inputs"])), (row, task)
            arrived = sorted(node for one in task["inputs"] for node in one["arrived"])
            shown = sorted(int(n) for n in re.findall(r"#(\d+)", row["Arrived, from"]))
            assert set(shown) <= set(arrived), (row, task)
            assert int(row["Here"].split()[2]) - int(row["Here"].split()[0]) == task["dependencies"]


def test_life(tape):
    """The inspector's bar tells the parts of a node's life in the pass shown; what is not known has its reason."""
    task = next(e["graph_task"] for e in read_events(tape) if e["event"] == "graph_task_begin")
    rows = json.loads(tapedeck("report", tape, "--by", "node", "--pass", task, "--json"))["rows"]
    row = max((row for row in rows if "#" in row["key"]), key=lambda row: row["self"])
    parts = row["parts"]
    with AnalysisWindow(tape, "--pass", task, "--node", re.search(r"#(\d+)", row["key"]).group(1)) as window:
        heading = window.read(lambda text: text.startswith("Life in this pass: ")).name
        assert same(quantity(heading.partition(": ")[2]), sum(ns for ns in parts.values() if ns)), (heading, parts)
        legend = window.read(lambda text: re.search(r"(^|\n)\W*function\b", text) is not None).name
        for word, part in (("lay in the queue", "queue_wait"), ("function", "apply"), ("waited for gradients", "dependency_wait")):
            lines = [line for line in legend.splitlines() if word in line]
            if parts[part] is None:
                assert lines[0].startswith(f"– {word}: "), legend
            else:
                assert same(quantity(lines[0].partition(word)[2].strip()) if lines else 0, parts[part]), (legend, parts)


def test_unknown(folder):
    """A tape of level 2: dashes, and below them the reasons."""
    tape = folder / "hooked.tape"
    subprocess.run([MAKE_TAPE, "40", "1", "20", "4", tape, "hooked"], check=True)
    with AnalysisWindow(tape, "--page", "profile") as window:
        check_profile(window, tape)
        assert all(row["Queue wait"] == "–" for row in window.rows("Profile: where the time went"))
        window.read(lambda text: "– Queue wait: pushes and pops were not observed on this tape." in text)
        window.key("8", "Alt")
        window.read("Not Known of This Tape")


def record_torch(folder):
    python = torches.installed().get(TORCH)
    if not python:
        print(f"skipped: no PyTorch {TORCH}, so no tape of it")
        return None
    program, tape = folder / "transformer.py", folder / "transformer.tape"
    program.write_text(TRANSFORMER)
    record_program("-o", tape, "--", python, program)
    return tape


def take_pictures(tape):
    for page, dark in zip(("profile", "waiting", "contention", "critical", "whatif", "memory"), itertools.cycle((False, True))):
        size = "1600x1000" if dark else "1000x700"
        path = OUTPUT / f"{tape.stem}-{page}-{size}-{'dark' if dark else 'light'}.png"
        subprocess.run([TAPEDECK, "open", tape, "--page", page, "--size", size, "--screenshot", path] + ["--dark"] * dark,
                       check=True, timeout=300)


def main():
    OUTPUT.mkdir(parents=True, exist_ok=True)
    own, joined = OUTPUT / "digits-analysed.tape", OUTPUT / "joined.tape"
    tapedeck("run", "--force", "-o", own, "digits")
    tapedeck("run", "--force", "-o", joined, "residual_block")
    tapes = [tape for tape in (own, record_torch(OUTPUT)) if tape]
    for tape in tapes:
        test_tables(tape)
    test_range(own)
    test_waiting(joined)
    test_life(tapes[-1])
    test_unknown(OUTPUT)
    take_pictures(tapes[-1])


if __name__ == "__main__":
    main()

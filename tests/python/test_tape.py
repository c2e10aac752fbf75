#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
# tapedeck.Tape beside what the commands print.
import ast
import importlib
import inspect
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import tapedeck

TAPEDECK = os.environ["TAPEDECK"]
MAKE_TAPE = os.path.join(os.environ["BUILD_ROOT"], "tests", "make_tape")


def run(*words):
    done = subprocess.run(words, capture_output=True, text=True, timeout=300)
    assert done.returncode in (0, 1), (words, done.stderr)
    return done.stdout


class TapeOfPython(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder, self.path = folder.name, os.path.join(folder.name, "t.tape")

    def record(self, *example):
        run(TAPEDECK, "run", "--force", "-o", self.path, *example)
        return tapedeck.Tape(self.path)

    def test_members(self):
        for example in ("mlp", "multi_root"):
            tape = self.record(example)
            events = [json.loads(line) for line in run(TAPEDECK, "events", "--json", self.path).splitlines()]
            self.assertEqual(list(tape.events()), events)
            self.assertEqual(list(tape.events(kind="queue_pop")), [e for e in events if e["event"] == "queue_pop"])
            self.assertEqual(list(tape.events(first=10, last=20)), events[10:21])
            self.assertEqual(len(tape.nodes), tape.info["n_nodes"])
            self.assertEqual(len(tape.edges), tape.info["n_edges"])
            end = json.loads(run(TAPEDECK, "state", self.path, "--at", "end", "--json"))
            self.assertEqual(tape.state(), end)
            for node in end["nodes"]:
                facts = tape.nodes[node["id"]]
                self.assertEqual((facts["name"], facts["sequence_nr"], facts.get("label")),
                                 (node["name"], node["sequence_nr"], node.get("label")))
            self.assertEqual([one["id"] for one in tape.passes], [e["graph_task"] for e in events if e["event"] == "graph_task_begin"])
            pop = next(e["seq"] for e in events if e["event"] == "queue_pop")
            self.assertIn("was popped from", tape.why(pop))
            self.assertEqual(tape.state(at=pop)["seq"], pop)
            self.assertEqual(tape.check(), [])
            for by in ("op", "thread", "pass"):
                self.assertEqual(tape.report(by=by), json.loads(run(TAPEDECK, "report", self.path, "--by", by, "--json")))
            self.assertEqual(tape.order(), json.loads(run(TAPEDECK, "order", self.path, "--json")))
            self.assertEqual(tape.order(graph_task=tape.passes[0]["id"])["passes"], 1)

    def test_what_is_bad(self):
        found = self.record("missing_wait").check()
        self.assertEqual(len(found), run(TAPEDECK, "check", self.path).count("stream_conflict"))
        self.assertGreater(len(found), 0)

    def test_strange_names(self):
        """A terminal gets other names than those of the files."""
        whole = (pathlib.Path(os.environ["SOURCE_ROOT"]) / "tests" / "trace" / "golden" / "nested.tape").read_bytes()
        for name in ("-a", "a: b", "a\nb", "a\x1b[31m", "\u202ea", os.fsdecode(b"a\xff")):
            path = os.path.join(self.folder, name)
            pathlib.Path(path).write_bytes(whole)
            self.assertEqual(tapedeck.Tape(path).check(), [], name)
            pathlib.Path(path).write_bytes(whole[:-1])
            found = tapedeck.Tape(path).check()
            self.assertEqual([one.partition(": the tape is damaged")[0] for one in found], ["event 122 end of the tape: complete"], name)

    def test_other_folder(self):
        self.addCleanup(os.chdir, os.getcwd())
        self.record("mlp")
        os.chdir(self.folder)
        tape = tapedeck.Tape("t.tape")
        os.chdir("/")
        self.assertEqual(len(tape.nodes), tape.info["n_nodes"])

    def test_part_of_the_events(self):
        run(MAKE_TAPE, "200", "2", "40", "1", self.path)
        stream = tapedeck.Tape(self.path).events()
        self.assertEqual([next(stream)["seq"] for _ in range(3)], [0, 1, 2])
        stream.close()

    def test_errors(self):
        with self.assertRaisesRegex(tapedeck.TapeError, "No such file"):
            tapedeck.Tape(os.path.join(self.folder, "none.tape"))
        with self.assertRaisesRegex(tapedeck.TapeError, "not a tape|too short"):
            tapedeck.Tape(__file__)
        tape = self.record("mlp")
        for ask in (lambda: tape.report(by="weather"), lambda: tape.state(at=10**9), lambda: tape.order(graph_task=99),
                    lambda: list(tape.events(kind="weather"))):
            with self.assertRaises(tapedeck.TapeError) as caught:
                ask()
            self.assertEqual(str(caught.exception).count("\n"), 0)


def signatures_of_stub(path):
    """{'Tape.state': ['self', 'at'], ...} of a .pyi file."""
    found = {}
    for node in ast.parse(pathlib.Path(path).read_text()).body:
        functions = [(node, "")] if isinstance(node, ast.FunctionDef) else []
        if isinstance(node, ast.ClassDef):
            functions = [(part, node.name + ".") for part in node.body if isinstance(part, ast.FunctionDef)]
        for function, prefix in functions:
            arguments = function.args
            found[prefix + function.name] = [one.arg for one in [*arguments.args, *filter(None, [arguments.vararg]), *arguments.kwonlyargs]]
    return found


class Package(unittest.TestCase):
    def test_records_and_reads_alone(self):
        """It has few names, and nothing of PyTorch."""
        code = "import sys, tapedeck; print(*(name for name in dir(tapedeck) if name[0] != '_'), 'torch' in sys.modules)"
        said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
        self.assertEqual(said, ["RecordError", "Tape", "TapeError", "dump", "inside", "keep", "load_ipython_extension", "mark",
                                "record", "start", "step", "stop", "tape", "False"])


class Stubs(unittest.TestCase):
    def test_like_the_module(self):
        """What an editor shows is what there is, and all of it."""
        for name in ("tape", "inside"):
            module = importlib.import_module("tapedeck." + name)
            stub = signatures_of_stub(module.__file__ + "i")
            for key, words in stub.items():
                kind, _, method = key.partition(".")
                here = inspect.getattr_static(vars(module)[kind], method) if method else vars(module)[kind]
                if key == "record.__init__":  # it takes what start() takes
                    words = ["self", "path", "options"]
                if not isinstance(here, property):
                    self.assertEqual(list(inspect.signature(here).parameters), words, key)
            methods = [key for key in vars(getattr(module, "Tape", object)) if not key.startswith("_")]
            self.assertEqual([key for key in methods if "Tape." + key not in stub], [])


if __name__ == "__main__":
    unittest.main()

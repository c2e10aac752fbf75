#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
# `tapedeck diff --by`: medians and quartiles over passes, beside what `report --pass` says of each pass alone.
#   test_diff_by.py [unittest's arguments]
import json
import math
import os
import subprocess
import tempfile
import unittest

import skipping
import torches

TAPEDECK = os.environ["TAPEDECK"]
BUILD = os.environ["BUILD_ROOT"]
MAKE_TAPE, CUT_TAPE = (os.path.join(BUILD, "tests", name) for name in ("make_tape", "cut_tape"))
TRAINING = """
import sys, torch
net = torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.ReLU(), torch.nn.Linear(256, 64))
x = torch.ones(512, 64)
for i in range(int(sys.argv[1])):
    y = net(x)
    if len(sys.argv) > 2: y = y.tanh() + y.exp()
    (y * y).sum().backward()
y = net(x).sum()
y.register_hook(lambda g: 1 / 0)
try: y.backward()
except ZeroDivisionError: pass
"""


def run(*words):
    done = subprocess.run(words, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, (words, done.returncode, done.stderr[-2000:])
    return done.stdout


def diff(a, b, by):
    return json.loads(run(TAPEDECK, "diff", a, b, "--by", by, "--json"))


def report(tape, by, number):
    rows = json.loads(run(TAPEDECK, "report", tape, "--by", by, "--pass", str(number), "--json"))["rows"]
    return {row["key"]: (row["self"], row["n"]) for row in rows}


def outermost(tape):
    """The passes that ended well."""
    events = [json.loads(line) for line in run(TAPEDECK, "events", tape, "--json").splitlines()]
    inner = {event["graph_task"] for event in events if event["event"] == "reentrant_enter"}
    return [event["graph_task"] for event in events if event["event"] == "graph_task_end" and event["status"] == "ok" and
            event["graph_task"] not in inner]


def expect(tape, by):
    """Each key's samples: a number for each pass that called it."""
    found = {}
    for number in outermost(tape):
        for key, sample in report(tape, by, number).items():
            found.setdefault(key, []).append(sample)
    return found


def side(samples):
    times = sorted(time for time, _ in samples)
    rank = lambda percent: times[math.ceil(len(times) * percent / 100) - 1]
    return {"passes": len(times), "calls": sum(n for _, n in samples), "p25": rank(25), "median": rank(50), "p75": rank(75)}


class DiffBy(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.script = self.path("t.py")
        with open(self.script, "w") as file:
            file.write(TRAINING)

    def path(self, name):
        return os.path.join(self.folder, name)

    def own(self, name, *arguments):
        run(TAPEDECK, "run", "--force", "-o", self.path(name), self.script, *arguments)
        return self.path(name)

    def compare(self, a, b, by):
        told, in_a, in_b = diff(a, b, by), expect(a, by), expect(b, by)
        self.assertEqual(told["passes"], {"a": len(outermost(a)), "b": len(outermost(b))})
        self.assertEqual({row["key"] for row in told["rows"]}, in_a.keys() | in_b.keys())
        for row in told["rows"]:
            for name, samples in (("a", in_a), ("b", in_b)):
                self.assertEqual(row[name], side(samples[row["key"]]) if row["key"] in samples else None, row)
            self.check_ratio(row)
        medians = [max(one["median"] for one in (row["a"], row["b"]) if one) for row in told["rows"]]
        self.assertEqual(medians, sorted(medians, reverse=True))
        return told

    def check_ratio(self, row):
        a, b = row["a"], row["b"]
        reason = ("only in B" if not a else "only in A" if not b else
                  "fewer than 3 passes" if min(a["passes"], b["passes"]) < 3 else
                  "under 50 us" if min(a["median"], b["median"]) < 50000 else None)
        self.assertEqual(row["reason"], reason, row)
        self.assertEqual(row["ratio"] is None, reason is not None)
        if reason is None:
            self.assertAlmostEqual(row["ratio"], b["median"] / a["median"], places=6)

    def test_training(self):
        a, b, short = self.own("a.tape", "4"), self.own("b.tape", "3", "more"), self.own("c.tape", "2")
        for by in ("op", "module", "line"):
            told = self.compare(a, b, by)
        reasons = {row["reason"] for row in diff(a, b, "op")["rows"]}
        self.assertLessEqual({None, "only in B", "under 50 us"}, reasons)
        self.assertEqual({row["reason"] for row in self.compare(short, a, "op")["rows"]}, {"fewer than 3 passes"})
        text = run(TAPEDECK, "diff", a, b, "--by", "op")
        for words in ("4 passes", "TanhBackward0  (only in B)", "  –  "):
            self.assertIn(words, text)

    def test_cut_tapes(self):
        """A tape in segments says the same. So do passes that overlap."""
        for i, plan in enumerate(([], ["train"], ["overlap"])):
            a, b = self.path(f"a{i}.tape"), self.path(f"b{i}.tape")
            for seed, tape in ((3, a), (4, b)):
                run(MAKE_TAPE, "40", "2", "5", str(seed), tape, *plan)
            told = self.compare(a, b, "op")
            self.assertGreater(int(run(CUT_TAPE, a, "200")), 1)
            self.assertEqual(diff(a, b, "op"), told)

    def test_engines(self):
        """Names of both engines and of versions meet in one row."""
        own = self.own("own.tape", "4")
        torches.need_compiler()
        for version, python in torches.each():
            tape = self.path("torch.tape")
            run(TAPEDECK, "record", "--force", "-o", tape, "--", python, self.script, "4")
            rows = {row["key"]: row for row in diff(own, tape, "op")["rows"]}
            for key in ("AddmmBackward0", "ReluBackward0", "MulBackward0", "AccumulateGrad", "SumBackward0"):
                self.assertEqual((rows[key]["a"]["calls"], rows[key]["a"]["passes"]),
                                 (rows[key]["b"]["calls"], rows[key]["b"]["passes"]), (version, key))

    def test_words(self):
        tape = self.own("a.tape", "1")
        for words, complaint in ((["--by", "weather"], "op, module or line"), (["--by", "thread"], "op, module or line"),
                                 (["--by", "op", "--tolerance", "1"], "--tolerance"), (["--tolerance", "-1"], "--tolerance")):
            done = subprocess.run([TAPEDECK, "diff", tape, tape, *words], capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), done)
            self.assertIn(complaint, done.stderr)


if __name__ == "__main__":
    skipping.main()

#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
# A tape that is cut into segments, beside the same tape in one piece: every command says the same of both. Only what is
# over and gone before a segment begins is not in `state`.
#   test_long_tapes.py made|recorded [unittest's arguments]
import json
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

import skipping
import torches

TAPEDECK = os.environ["TAPEDECK"]
TESTS = os.path.join(os.environ["BUILD_ROOT"], "tests")
KINDS = sys.argv.pop(1) if len(sys.argv) > 1 and sys.argv[1] in ("made", "recorded") else "made"

MOMENTS = 6 if "ASAN_OPTIONS" in os.environ else 30 if torches.is_thorough() else 12  # a sanitizer takes ten times as long

# What `why` says of a wait that the segment has only a part of, and what the whole tape says there, up to the end of the line.
CUT_OFF = ((" Why it lay there is not known", " It lay there for "),
           (" Who held it meanwhile is not known", r" Since event \d+, thread [^.]* waits for [^.]*: "),
           (r" Meanwhile thread [^.]* waits for [^.]*\. Since when is not known| Since event \d+, thread [^.]* waits for a lock\.",
            r" Since event \d+, thread [^.]* waits for [^.]*: "))

HEADER_BYTES, CHUNK_HEADER_BYTES, TRAILER_BYTES, KEYFRAME, LIST = 56, 72, 16, 6, 7  # engine/trace/FORMAT.md

# Several threads, re-entry, hooks, retained graphs, writes in place, NaN, errors, a pass that never ends well.
PROGRAM = """
import sys, threading
import torch
{step_function}
class Inner(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2
    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
        with torch.enable_grad():
            y = x.detach().requires_grad_()
            (y * y).sum().backward()
        return g * 2 + y.grad * 0
class Fails(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x): return x + 0
    @staticmethod
    def backward(ctx, g): raise ValueError("on purpose")
torch.manual_seed(1)
w = torch.randn(4, 4, requires_grad=True)
v = torch.randn(4, 4, requires_grad=True)
u = torch.randn(4, 4, requires_grad=True)
kept = (u @ u).tanh().sum()
def work(n, seed):
    for i in range(n):
        x = torch.full((2, 4), float(seed + i))
        h = (x @ w).relu()
        h = Inner.apply(h) if i % 3 == 0 else h * 2
        if i % 5 == 0: h.register_hook(lambda g: g * 1)
        loss = (h @ v).sigmoid().sum()
        if i % 7 == 0: loss = loss + (w - w).sum().sqrt()
        loss.backward()
        if i % 4 == 0: kept.backward(retain_graph=True)
        if i % 9 == 0:
            try: (Fails.apply(w) * v).sum().backward()
            except ValueError: pass
        if i % 6 == 0:
            y = w * 3
            z = y.exp()
            z += 1
            try: z.sum().backward()
            except RuntimeError: pass
        if seed: continue
        with torch.no_grad():
            w.mul_(0.999)
            w.grad = v.grad = None
        step()
work(60, 0)
threads = [threading.Thread(target=work, args=(20, k)) for k in (1, 2)]
for t in threads: t.start()
for t in threads: t.join()
work(40, 0)
"""

# Processes that work at once: what names one of them may come late on the joined tape.
FORKS = """
import os, torch
w = torch.ones(6, 6, requires_grad=True)
def work(n):
    for i in range(n):
        h = w
        for j in range(5): h = (h @ w).tanh()
        h.sum().backward()
children = []
for rank in range(2):
    children.append(os.fork())
    if not children[-1]:
        work(40)
        raise SystemExit
work(10)
for child in children: os.waitpid(child, 0)
work(10)
"""

# Threads that always train: segments begin in their passes, and the passes make one model.
THREADS = """
import sys, threading, torch
sys.setswitchinterval(0.01)  # long waits for the GIL
weights = [torch.ones(6, 6, requires_grad=True) for i in range(3)]
class Inner(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2
    @staticmethod
    def backward(ctx, g):
        with torch.enable_grad():
            y = ctx.saved_tensors[0].detach().requires_grad_()
            (y.tanh() * y).sum().backward()
        return g * 2 + y.grad
def work(k):
    w = weights[k]
    for i in range(60):
        h = torch.ones(3, 6) @ w
        for j in range(5): h = (h @ w).tanh()
        if (i + k) % 3 == 0: h = Inner.apply(h)
        h.sum().backward()
for k in range(3): threading.Thread(target=work, args=(k,)).start()
"""


def run(*words, ok=(0,)):
    done = subprocess.run(words, capture_output=True, text=True, timeout=300)
    assert done.returncode in ok, (words, done.returncode, done.stderr[-2000:])
    return done.stdout


def cut(path, least):
    """The name of a copy in segments, and how many there are."""
    copy = path.replace(".tape", "-cut.tape")
    shutil.copyfile(path, copy)
    return copy, int(run(os.path.join(TESTS, "cut_tape"), copy, str(least)))


def chunk_headers(tape, wanted):
    """Where the chunks of a kind begin."""
    at = HEADER_BYTES
    while tape[at:at + 4] == b"CHNK":
        kind, _, _, _, stored = struct.unpack_from("<5I", tape, at + 4)
        if kind == wanted:
            yield at
        at += CHUNK_HEADER_BYTES + stored


def keyframe_chunks(path):
    """Where the contents of the chunks of keyframes lie: the middle of each."""
    with open(path, "rb") as file:
        tape = file.read()
    for at in chunk_headers(tape, KEYFRAME):
        stored, = struct.unpack_from("<I", tape, at + 20)
        yield at + CHUNK_HEADER_BYTES + stored // 2


def fnv(data):
    checksum = 0xcbf29ce484222325
    for byte in data:
        checksum = (checksum ^ byte) * 0x100000001b3 % 2 ** 64
    return checksum


def spoil(path, *places):
    """The name of a copy in which these bytes are others."""
    copy = path.replace(".tape", "-spoilt.tape")
    shutil.copyfile(path, copy)
    with open(copy, "r+b") as file:
        for at in places:
            file.seek(at)
            byte, = file.read(1)
            file.seek(at)
            file.write(bytes([byte ^ 16]))
    return copy


def make(folder):
    plans = {"training": (60, 3, 90, 1, "train"), "retained": (40, 2, 80, 2), "hooked": (40, 2, 90, 3, "hooked"),
             "overlapping": (30, 2, 120, 4, "overlap")}
    for name, plan in plans.items():
        yield make_one(folder, name, plan)


def make_one(folder, name, plan):
    path = os.path.join(folder, name + ".tape")
    run(os.path.join(TESTS, "make_tape"), *map(str, plan[:4]), path, *plan[4:])
    return path


def record(folder):
    pythons = torches.observed()
    yield record_one(folder, "own", None, PROGRAM.format(step_function="import tapedeck; step = tapedeck.step"))
    yield record_one(folder, "threads", None, THREADS)
    for version, python in pythons.items():
        yield record_one(folder, version, python, PROGRAM.format(step_function="def step(): pass"))
    for python in list(pythons.values())[:1]:
        yield record_one(folder, "forks", python, FORKS)


def record_one(folder, name, python, text):
    script, path = os.path.join(folder, "program.py"), os.path.join(folder, name + ".tape")
    with open(script, "w") as file:
        file.write(text)
    options = ["--anomaly", "nan", "-o", path]
    run(TAPEDECK, *(["record", *options, "--", python, script] if python else ["run", *options, script]))
    return path


class LongTapes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.tapes = []
        for path in {"made": make, "recorded": record}[KINDS](cls.folder.name):
            copy, n = cut(path, 1500)
            assert n >= 3, (path, n)
            cls.tapes.append((path, copy))

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def said(self, path, command, *options):
        done = subprocess.run([TAPEDECK, command, path, *options], capture_output=True, text=True, timeout=300)
        return done.returncode, (done.stdout + done.stderr).replace(path, "TAPE")

    def longest_wait(self, path):
        """A moment in the middle of the longest wait for a lock, if threads waited."""
        lines = run(TAPEDECK, "events", path, "--json", "--kind=lock_wait", "--kind=lock_acquired").splitlines()
        began, waits = {}, [(0, 0)]
        for event in map(json.loads, lines):
            if event["event"] == "lock_wait":
                began[event["thread"]] = event["seq"]
            else:
                begin = began.pop(event["thread"], event["seq"])
                waits.append((event["seq"] - begin, (event["seq"] + begin) // 2))
        return max(waits)[1]

    def moments(self, path):
        n = json.loads(run(TAPEDECK, "info", path, "--json"))["n_events"]
        return [0, n - 1, *random.Random(3).sample(range(n), MOMENTS)]

    def test_whole(self):
        for whole, part in self.tapes:
            for command, *options in (["check"], ["events"], ["events", "--json"], ["report"], ["report", "--json", "--by", "node"],
                                     ["report", "--json", "--contention"], ["report", "--json", "--idle"], ["whatif"],
                                     ["report", "--critical", "--json"], ["report", "--json", "--by", "pass"],
                                     ["whatif", "--json", "--workers", "2"]):
                self.assertEqual(self.said(whole, command, *options), self.said(part, command, *options))
            self.assertEqual(self.said(whole, "diff", part)[0], 0)

    def test_diff(self):
        """Of two tapes that differ, it does not matter which of them is cut. The first one has all that the others have."""
        for one, other in self.others():
            tapes = {name: [path, cut(path, 1500)[0]] for name, path in (("A", one), ("B", other))}
            for options in ([], ["--json"]):
                status, wanted = self.difference(one, other, *options)
                self.assertIn(status, (0, 1), wanted)
                for a, b in ((1, 1), (0, 1), (1, 0)):
                    self.assertEqual(self.difference(tapes["A"][a], tapes["B"][b], *options), (status, wanted), (one, other, a, b))

    def others(self):
        """Pairs of whole tapes. Of made ones: another seed, more passes, other values, other kinds of passes."""
        wholes = [whole for whole, _ in self.tapes]
        yield from zip(wholes, wholes)
        yield from zip(wholes, wholes[1:] + wholes[:1])
        if KINDS != "made":
            return
        plans = {"seed": (60, 3, 90, 9, "train"), "shorter": (60, 3, 50, 1, "train"), "other": (30, 2, 90, 4, "overlap"),
                 "again": (30, 2, 120, 6, "overlap")}
        seed, shorter, other, again = (make_one(self.folder.name, name, plan) for name, plan in plans.items())
        training, _, _, overlapping = wholes
        yield from ((training, seed), (training, shorter), (shorter, training), (overlapping, other), (other, overlapping),
                    (overlapping, again), (seed, again))

    def difference(self, one, other, *options):
        done = subprocess.run([TAPEDECK, "diff", one, other, *options], capture_output=True, text=True, timeout=300)
        return done.returncode, re.sub(r"(-cut)?(-spoilt)?\.tape", ".tape", done.stdout + done.stderr)

    def test_damage_and_passes(self):
        """Without a keyframe, the whole tape tells."""
        whole, part = self.tapes[0]
        chunks = list(keyframe_chunks(part))
        for at in chunks[1::max(1, len(chunks) // 3)]:
            spoilt = spoil(part, at)
            for options in ([], ["--json"]):
                self.assertEqual(self.difference(spoilt, whole, *options), self.difference(whole, whole, *options))
                self.assertEqual(self.said(spoilt, "report", *options), self.said(whole, "report", *options))

    def test_info(self):
        for whole, part in self.tapes:
            for options in ([], ["--slowest"]):
                one, other = (json.loads(run(TAPEDECK, "info", path, "--json", *options)) for path in (whole, part))
                for facts in (one, other):
                    del facts["file_bytes"]
                if not options:
                    self.assertIsNone(other.pop("slowest_nodes"))
                    self.assertIsNone(other.pop("slowest_modules"))
                    del one["slowest_nodes"], one["slowest_modules"]
                self.assertEqual(one, other, (part, options))

    def test_why(self):
        """Of a wait that begins or ends in another segment, that end is not known, and the answer says so."""
        for whole, part in self.tapes:
            for at in [str(at) for at in (*self.moments(whole), self.longest_wait(whole))] + ["nan", "error", "end"]:
                wanted, found = self.said(whole, "why", "--at", at), self.said(part, "why", "--at", at)
                for unknown, known in CUT_OFF:
                    if re.search(unknown, found[1]):
                        wanted, found = ((status, re.sub(f"({unknown}|{known})[^\n]*", "", text)) for status, text in (wanted, found))
                self.assertEqual(wanted, found, (part, at))

    def test_state(self):
        for whole, part in self.tapes:
            for at in self.moments(whole):
                one, other = (json.loads(run(TAPEDECK, "state", path, "--at", str(at), "--json")) for path in (whole, part))
                for member in ("seq", "t", "queues", "not_ready"):
                    self.assertEqual(one[member], other[member], (part, at, member))
                self.assert_within(one["graph_tasks"], other["graph_tasks"], "status", ("ok", "error"))
                self.assertEqual(one["threads"], other["threads"], (part, at))
                self.assert_within(one["nodes"], other["nodes"], "state", ("released",))

    def assert_within(self, whole, part, member, gone):
        """Both have the same, but for what is over and gone."""
        known = {item["id"]: item for item in part}
        for item in whole:
            found = known.pop(item["id"], None)
            if found is None:
                self.assertIn(item[member], gone, item)
            else:
                self.assertEqual(item, found)
        self.assertEqual(known, {})

    def test_pictures(self):
        for whole, part in self.tapes:
            for at in self.moments(whole)[:2] + self.moments(whole)[2::4]:
                for view in ("graph", "queues", "timeline"):
                    self.assertEqual(self.drawn(whole, view, at), self.drawn(part, view, at), (part, view, at))

    def test_damage(self):
        whole, part = self.tapes[0]
        chunks = list(keyframe_chunks(part))
        n_complaints = 0
        for at in chunks[::-len(chunks) // 4]:  # the last one is the outline's
            spoilt = spoil(part, at)
            for words in (["info"], *(["state", "--at", str(at)] for at in self.moments(whole)[::3])):
                facts, complaint = self.facts(spoilt, *words)
                self.assertTrue(not complaint or "reading all of the tape instead" in complaint, complaint)
                self.assertEqual(facts, self.facts(whole if complaint else part, *words)[0], words)
                n_complaints += bool(complaint)
        self.assertGreater(n_complaints, 3)

    def test_keyframe_of_no_segment(self):
        """A keyframe may claim the number that stands for all of the tape. Nobody reads it."""
        whole, part = self.tapes[0]
        spoilt = part.replace(".tape", "-spoilt.tape")
        with open(part, "rb") as file:
            tape = file.read()
        # The list of chunks would tell the right number.
        tape = bytearray(tape[:next(chunk_headers(tape, LIST))] + tape[-TRAILER_BYTES:])
        *_, at, _ = chunk_headers(tape, KEYFRAME)  # that of the last segment; the outline comes behind it
        struct.pack_into("<I", tape, at + 8, 0xffffffff)
        struct.pack_into("<Q", tape, at + 64, fnv(tape[at:at + 64]))
        with open(spoilt, "wb") as file:
            file.write(tape)
        for words in (["events", "--json"], ["report", "--json"], ["state", "--at", "100", "--json"]):
            self.assertEqual(self.said(spoilt, *words), self.said(whole, *words))

    def test_info_of_outline(self):
        """What `info` says comes from the outline: it reads no segment, and so notices no damage there."""
        n_anomalies = 0
        for whole, part in self.tapes:
            *chunks, outline = keyframe_chunks(part)
            spoilt = spoil(part, *chunks)
            facts = self.facts(whole, "info")[0]
            n_anomalies += len(facts["anomalies"])
            self.assertEqual(self.facts(spoilt, "info"), (facts, ""))
        self.assertGreater(n_anomalies, 0)

    def facts(self, path, command, *options):
        """What a command says in JSON, but for what a reader of a whole tape alone has, and what it complains of."""
        done = subprocess.run([TAPEDECK, command, path, "--json", *options], capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)
        left_out = ("file_bytes", "slowest_nodes", "slowest_modules")
        return {name: value for name, value in json.loads(done.stdout).items() if name not in left_out}, done.stderr

    def drawn(self, path, view, at):
        picture = os.path.join(self.folder.name, "picture.svg")
        run(TAPEDECK, "render", path, "--view", view, "--at", str(at), "-o", picture)
        with open(picture, "rb") as file:
            return file.read()


if __name__ == "__main__":
    skipping.main(argv=sys.argv)

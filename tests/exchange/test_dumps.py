#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Dumps of PyTorch's flight recorder: those that PyTorch makes on gloo, made ones as NCCL's are, and what bites."""
import json
import os
import pathlib
import pickle
import re
import subprocess
import tempfile
import unittest

import skipping
import torches
from commands import TAPEDECK, run

PROGRAM = """
import json, os, sys, threading, time
os.environ["TORCH_FR_BUFFER_SIZE"] = "2000"
import torch, torch.distributed as dist, torch.multiprocessing as mp
import torch._C._distributed_c10d as c10d

def hand(kind, rank, t):
    if kind == "sound" or rank == 0: dist.all_reduce(t)
    elif kind == "differ": dist.broadcast(t, 0)

def wait(ready):
    while not ready(): time.sleep(0.02)

def dump(folder, kind, rank):
    n = 3 if kind == "skip" and rank else 4
    entries = lambda: json.loads(c10d._dump_fr_trace_json())["entries"]
    wait(lambda: len(entries()) == n and (kind != "sound" or all(one["retired"] for one in entries())))
    for name, text in ((f"trace_{rank}.json", c10d._dump_fr_trace_json()), (f"trace_rank_{rank}", c10d._dump_fr_trace())):
        with open(f"{folder}/new_{name}", "wb") as file: file.write(text)
        os.rename(f"{folder}/new_{name}", f"{folder}/{name}")
    wait(lambda: all(os.path.exists(f"{folder}/trace_rank_{rank}") for rank in range(2)))
    os._exit(0)

def work(rank, folder, kind, store):
    dist.init_process_group("gloo", init_method="file://" + store, rank=rank, world_size=2)
    t = torch.ones(8)
    for _ in range(3): dist.all_reduce(t)
    dumper = threading.Thread(target=dump, args=(folder, kind, rank))
    dumper.start()
    try: hand(kind, rank, t)
    except RuntimeError: pass # the other rank has ended
    dumper.join()

if __name__ == "__main__":
    mp.spawn(work, (sys.argv[1], sys.argv[2], sys.argv[1] + "/store"), nprocs=2)
"""


def line_of(text):
    return 1 + PROGRAM.splitlines().index(next(line for line in PROGRAM.splitlines() if text in line))


def entry(number, operation="all_reduce", size=8, state="completed", group=("0", "default_pg"), **more):
    return {"record_id": number, "pg_id": 0, "process_group": list(group), "collective_seq_id": number, "p2p_seq_id": 0, "op_id": number,
            "profiling_name": "nccl:" + operation, "time_created_ns": 10**18 + 10**6 * number, "input_sizes": [[size]],
            "input_dtypes": ["Float"], "output_sizes": [[size]], "output_dtypes": ["Float"], "state": state, "timeout_ms": 600000,
            "is_p2p": False, "retired": False,
            "frames": [{"name": "step", "filename": "/home/me/train.py", "line": number}, {"name": "<module>", "filename": "/home/me/train.py", "line": 99}]} | more


def dump(*entries, ranks="[0, 1]"):
    return {"version": "2.10", "pg_config": {"0": {"name": "0", "desc": "default_pg", "ranks": ranks}}, "pg_status": {}, "entries": list(entries)}


class Dumps(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.tape = self.folder / "job.tape"

    def write(self, *dumps, ending=""):
        paths = [self.folder / f"nccl_trace_rank_{rank}{ending}" for rank in range(len(dumps))]
        for path, one in zip(paths, dumps):
            path.write_bytes(json.dumps(one).encode() if ending else pickle.dumps(one))
        return paths

    def find(self, paths):
        """The texts of what findings says where ranks part."""
        run(TAPEDECK, "import", "--force", *paths, "-o", self.tape)
        done = subprocess.run([TAPEDECK, "findings", "--json", self.tape], capture_output=True, text=True)
        return [one["text"] for one in json.loads(done.stdout)["findings"]]

    def unjudged(self):
        done = subprocess.run([TAPEDECK, "findings", "--json", self.tape], capture_output=True, text=True)
        return json.loads(done.stdout)["unjudged"]

    def say(self, *dumps):
        """What is said of made dumps, which is the same of both kinds of files."""
        said = self.find(self.write(*dumps))
        self.assertEqual(said, self.find(self.write(*dumps, ending=".json")))
        return said

    def refuse(self, *paths, tape=None):
        done = subprocess.run([TAPEDECK, "import", "--force", *paths, "-o", tape or self.tape], capture_output=True, text=True)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertFalse(self.tape.exists())
        return done.stderr

    def test_pytorch(self):
        """What PyTorch itself writes of a hang, of two operations, and of a sound program."""
        python = torches.installed().get("2.13.0")
        if not python:
            raise skipping.Missing("PyTorch 2.13.0, whose gloo has a flight recorder")
        script = self.folder / "train.py"
        script.write_text(PROGRAM)
        for kind in ("skip", "differ", "sound"):
            folder = self.folder / kind
            folder.mkdir()
            subprocess.run([python, script, folder, kind], capture_output=True, timeout=100)
            said = self.find(sorted(folder.glob("trace_rank_*")))
            if kind == "sound":
                self.assertEqual(said, [])
                continue
            self.assertEqual(len(said), 1, said)
            self.assertIn("operation 4 of process group 0 (default_pg)", said[0])
            self.assertIn(f"ALLREDUCE float[8] (train.py:{line_of('or rank == 0')})", said[0])
            self.assertRegex(said[0], "^Rank 1 had not come" if kind == "skip" else "^Rank 1 handed BROADCAST")
            of_json = self.find(sorted(folder.glob("trace_*.json")))  # without lines
            self.assertEqual(of_json, [re.sub(r" \(train.py:\d+\)", "", said[0])])

    def test_missing(self):
        said = self.say(dump(*map(entry, range(1, 5)), entry(5, state="started")), dump(*map(entry, range(1, 5))))
        self.assertEqual(len(said), 1)
        self.assertRegex(said[0], r"^Rank 1 had not come to operation 5 .*ALLREDUCE float\[8\] \(train.py:5\), which rank 0 had handed")
        self.assertNotIn("status", said[0])

    def test_other_moments(self):
        """The operation had ended on rank 0, so rank 1 came to it, and its dump is older."""
        self.assertEqual(self.say(dump(*map(entry, range(1, 6)), entry(6, state="started")), dump(*map(entry, range(1, 4)))), [])

    def test_sizes(self):
        said = self.say(dump(entry(1), entry(2, size=8, state="started")), dump(entry(1), entry(2, size=9, state="started")))
        self.assertRegex(said[0], r"^Rank 1 handed ALLREDUCE float\[9\].* as operation 2")

    def test_forgotten(self):
        """Each rank forgets the oldest operations, and not the same ones."""
        first = dump(*map(entry, range(100, 120)), entry(120, state="started"))
        self.assertRegex(self.say(first, dump(*map(entry, range(103, 120))))[0], "^Rank 1 had not come to operation 120")
        self.assertEqual(self.say(first, dump(*map(entry, range(103, 120)), entry(120, state="started"))), [])

    def test_together(self):
        """Operations that were handed together have one number."""
        both = [entry(1), entry(2), entry(2)]
        self.assertEqual(self.say(dump(*both), dump(*both)), [])
        self.assertIn("float[16]", self.say(dump(*both), dump(entry(1), entry(2)))[0])

    def test_messages(self):
        """Of sends and receives, nothing is said."""
        send = entry(0, "send 0->1", is_p2p=True, p2p_seq_id=1, state="started")
        self.assertEqual(self.say(dump(entry(1), send), dump(entry(1))), [])

    def test_one_dump(self):
        """Where ranks part is then among what is not judged."""
        self.assertEqual(self.say(dump(entry(1), entry(2, state="started"))), [])
        self.assertIn("ranks_part", self.unjudged())
        self.assertEqual(self.say(dump(entry(1)), dump(entry(1))), [])
        self.assertNotIn("ranks_part", self.unjudged())

    def test_what_is_absent(self):
        """All that the engine does is, and it is said why."""
        self.say(dump(entry(1)), dump(entry(1)))
        info = json.loads(subprocess.run([TAPEDECK, "info", "--json", self.tape], capture_output=True, text=True, check=True).stdout)
        self.assertEqual(info["probe_level_name"], "imported dumps")
        text = subprocess.run([TAPEDECK, "info", self.tape], capture_output=True, text=True, check=True).stdout
        absent = next(line for line in text.splitlines() if line.startswith("absent"))
        self.assertIn(" node_new,", absent)
        self.assertNotIn("dropped", absent)
        self.assertIn("flight recorder have no other events", absent)

    def test_clocks(self):
        """Those of two machines may be seconds apart: nobody is late."""
        late = [entry(n, time_created_ns=10**18 + 10**10 + 10**6 * n) for n in range(1, 50)]
        self.assertEqual(self.say(dump(*map(entry, range(1, 50))), dump(*late)), [])

    def test_two_runs(self):
        """A file of yesterday's run lies beside today's."""
        old = dump(*(entry(n, time_created_ns=10**18 - 86400 * 10**9 + n) for n in range(1, 4)))
        self.assertIn("not of one run", self.refuse(*self.write(dump(*map(entry, range(1, 6))), old)))

    def test_code(self):
        class Evil:
            def __reduce__(self):
                return os.system, (f"touch {self_folder}/ran",)
        self_folder = self.folder
        path = self.folder / "evil_0"
        path.write_bytes(pickle.dumps(Evil()))
        self.assertIn("names posix.system", self.refuse(path))
        self.assertFalse((self.folder / "ran").exists())

    def test_bad(self):
        good, = self.write(dump(entry(1)))
        whole = good.read_bytes()
        cut = self.folder / "cut_0"
        for n in (1, 2, 40, len(whole) - 1):
            cut.write_bytes(whole[:n])
            self.refuse(cut)
        nameless = self.folder / "dump"
        nameless.write_bytes(whole)
        self.assertIn("rank", self.refuse(nameless))
        twin = self.folder / "again" / good.name
        twin.parent.mkdir()
        twin.write_bytes(whole)
        self.assertIn("same rank", self.refuse(good, twin))
        trace = self.folder / "trace.json"
        trace.write_text('{"traceEvents": []}')
        self.assertIn("alone", self.refuse(good, trace))
        self.refuse(self.folder / "none_0")
        odd = dump(entry(1), entry(2)) | {"pg_config": {}}
        self.assertIn("which ranks", self.refuse(*self.write(odd)))

    def test_bent(self):
        """A member of another type ends in one line, or in a tape."""
        for name, value in (("collective_seq_id", "x"), ("collective_seq_id", 2**40), ("time_created_ns", -1), ("input_sizes", 3),
                            ("input_sizes", [["a"]]), ("process_group", None), ("profiling_name", 7), ("frames", "text"), ("frames", [3]),
                            ("input_dtypes", "Float"), ("profiling_name", "nccl:a\tb\nc")):
            paths = self.write(dump(entry(1, **{name: value}), entry(2)))
            done = subprocess.run([TAPEDECK, "import", "--force", *paths, "-o", self.tape], capture_output=True, text=True)
            self.assertIn(done.returncode, (0, 2), (name, value, done.stderr))
            self.assertEqual(len(done.stderr.splitlines()), 1, (name, done.stderr))
            if done.returncode == 0:
                run(TAPEDECK, "check", self.tape)
                for command in ("info", "answers", "report", "events"):
                    run(TAPEDECK, command, self.tape)


if __name__ == "__main__":
    skipping.main()

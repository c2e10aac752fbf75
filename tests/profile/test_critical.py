#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
# `tapedeck report --critical`: its path beside that of a search through all chains, on small random graphs. Their events
# alone say what each piece of work had to wait for: a gradient, its thread, a lock, or work of a stream.
#   test_critical.py own|torch [unittest's arguments]
import bisect
import collections
import json
import os
import sys
import tempfile
import unittest

import skipping
import torches
from commands import MAKE_TAPE, TAPEDECK, run
from plants import ADDED, GREEDY, HELD, RUNNING, SLEEPING
from tape_passes import STILL_BUSY, Tape

KIND = sys.argv.pop(1) if len(sys.argv) > 1 and sys.argv[1] in ("own", "torch") else "own"

PARTS_MOST = 20
# Both threads compute in Python, and take turns.
TURNS = RUNNING.replace("loss(1)", "loss(1500)")
# A random graph on two devices. Its nodes launch kernels on streams, whose events other streams and threads wait for.
STREAMS = """
import random, sys, torch
chance = random.Random(int(sys.argv[1]))
streams = [torch.Stream(f"sim:{i % 2}") for i in range(6)]
events = [stream.record_event() for stream in streams]
x = torch.ones(4)
on = [x.to("sim:0"), x.to("sim:1")]
def act():
    stream = chance.choice(streams)
    what = chance.randrange(8)
    if what < 4:
        with stream:
            for _ in range(chance.randrange(1, 4)):
                on[streams.index(stream) % 2] * 2
    elif what == 4:
        events.append(stream.record_event())
    elif what == 5:
        stream.wait_event(chance.choice(events[-8:]))
    elif what == 6:
        chance.choice(events[-8:]).synchronize()
    else:
        stream.synchronize()
class Work(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 1
    @staticmethod
    def backward(ctx, g):
        for _ in range(chance.randrange(5)):
            act()
        return g * 1
for _ in range(4):
    values = [torch.ones(4, device=f"sim:{i % 2}", requires_grad=True) for i in range(4)]
    for _ in range(chance.randrange(4, 12)):
        x, y, device = chance.choice(values[-6:]), chance.choice(values[-6:]), f"sim:{chance.randrange(2)}"
        values.append(Work.apply(x.to(device) + y.to(device)))
    act()
    sum(v.to("cpu").sum() for v in values[-4:]).backward()
"""
CHAINS_MOST = 20000  # that are looked at one by one
NOWHERE = -10**18  # the way to the end of a piece that does not lead there


def critical(tape, *options):
    return json.loads(run(TAPEDECK, "report", tape, "--critical", "--json", *options))


def lock_of(e):
    return e["lock"], e["object"]


class Piece:
    """What a thread did without a break for one task, or what a stream did."""

    def __init__(self, task, at, time, length=0, stream=None):
        self.task, self.at, self.begin, self.time, self.stream = task, at, time, length, stream
        self.last = None  # index of the event that ended it
        self.waits, self.ways, self.stream_waits = [], [], []
        self.inside = 0  # ns of a wait before it, if nobody's work was waited for


class Wait:
    """A wait from one event to another, both by their indices."""

    def __init__(self, thread, at, end, ns, holder, freed_at):
        self.thread, self.at, self.end, self.ns, self.holder, self.freed_at = thread, at, end, ns, holder, freed_at


class Front:
    """The end of a stream's work: the last piece, when it ended, and when work ended that no task launched."""

    def __init__(self, piece=None, end=0, unknown=0):
        self.piece, self.end, self.unknown = piece, end, unknown


class Streams:
    """How far each stream's work goes, from event to event of a tape."""

    def __init__(self):
        self.fronts, self.events, self.last, self.pieces, self.at = collections.defaultdict(Front), {}, 0, [], 0

    def clear(self):
        """There is no pass any more, so all work is nobody's."""
        for stream, front in self.fronts.items():
            self.fronts[stream] = Front(unknown=max(front.unknown, front.end))
        self.events, self.pieces = {}, []

    def add(self, i, task, e, length, sources):
        piece = Piece(task, i, e["t"], length, (e["device"], e["stream"]))
        for source, way in sources:
            source.ways.append((piece, way))
        self.pieces.append(piece)
        return piece

    def recorded(self, event):
        return self.events.get(event) or Front(unknown=self.last)

    def take(self, i, e, place):
        """`place` is the piece that the thread is at, and how far it is, or None."""
        if e["event"] == "kernel":
            self.launch(i, e, place)
        elif e["event"] == "stream_wait":
            self.join(i, e, self.recorded(e["stream_event"]))
        elif e["event"] == "stream_record":
            self.events[e["stream_event"]] = self.fronts[e["device"], e["stream"]]

    def launch(self, i, e, place):
        stream, end = (e["device"], e["stream"]), e["t"] + e["queued"] + e["took"]
        front = self.fronts[stream]
        self.last = max(self.last, end)
        if not place:
            self.fronts[stream] = Front(front.piece, front.end, max(front.unknown, end))
            return
        behind = max(0, min(front.unknown - e["t"], e["queued"]))
        if behind:
            place = self.add(i, place[0].task, e, behind, [place]), behind
        before = [(front.piece, front.piece.time)] if front.piece else []
        self.fronts[stream] = Front(self.add(i, place[0].task, e, e["took"], [place] + before), end)

    def join(self, i, e, other):
        stream = e["device"], e["stream"]
        front = self.fronts[stream]
        piece, end = front.piece, front.end
        if other.piece and other.piece is not piece:
            both = [(one, one.time) for one in (piece, other.piece) if one]
            piece = self.add(i, None, e, 0, both) if len(both) == 2 else other.piece
            end = max(end, other.end)
        self.fronts[stream] = Front(piece, end, max(front.unknown, other.unknown))

    def awaited(self, e):
        """What a thread waits for last: a piece, or None if it is none of the passes'."""
        is_event = e["stream_event"] is not None
        front = self.recorded(e["stream_event"]) if is_event else self.fronts[e["device"], e["stream"]]
        return None if front.unknown > max(front.end, e["t"]) else front.piece


class Work:
    """The pieces of some passes, from the events between the first begin and the last end."""

    def __init__(self, events, passes, streams):
        self.graph_tasks = {one.graph_task for one in passes}
        borders = [i for i, e in enumerate(events)
                   if e["event"] in ("graph_task_begin", "graph_task_end") and e["graph_task"] in self.graph_tasks]
        for i in range(streams.at, borders[0]):
            if events[i]["event"] != "stream_record":
                streams.take(i, events[i], None)
        streams.at = borders[-1] + 1
        self.events = events[borders[0]:borders[-1] + 1]
        self.pieces, self.first, self.sent, self.waited = collections.defaultdict(list), {}, [], []
        self.places, self.synchronized = {}, {}
        for thread in {e["thread"] for e in self.events}:
            self.read(thread)
        self.starts = {thread: [piece.at for piece in pieces] for thread, pieces in self.pieces.items()}
        for wait, piece, before in self.waited:
            self.settle(wait, piece, before)
        for i, e in enumerate(self.events):
            if i in self.synchronized:
                self.wait_for_stream(streams.awaited(e), *self.synchronized[i])
            streams.take(i, e, self.places.get(i))
        for piece, offset, key in self.sent:
            if key in self.first:
                piece.ways.append((self.first[key], offset))
        for pieces in self.pieces.values():
            for piece, after in zip(pieces, pieces[1:]):
                piece.ways.append((after, piece.time + after.inside))
        own = [piece for pieces in self.pieces.values() for piece in pieces]
        self.all = sorted(own + streams.pieces, key=lambda piece: piece.at)
        streams.clear()
        self.tasks = sorted(self.first.values(), key=lambda piece: piece.at)

    def read(self, thread):
        """The life of one thread: pops, ends of tasks, waits."""
        mine = [(i, e) for i, e in enumerate(self.events) if e["thread"] == thread]
        stack, now, begun, between, synchronizing, synchronized = [], None, None, [], None, []

        def stop(i, time):
            nonlocal now
            if now:
                now.last, now.time = i, time - now.begin if now.time == 0 else now.time
            now = None

        def start(i, time):
            nonlocal now
            now = Piece(stack[-1][0], i, time)
            self.pieces[thread].append(now)

        def close(i, time):
            stop(i, time)
            stack.pop()
            if stack:
                start(i, time)

        for i, e in mine:
            kind, time = e["event"], e["t"]
            if stack and stack[-1][1] and kind not in STILL_BUSY:
                close(i, time)
            if kind == "queue_pop" and e["node"] is not None and e["graph_task"] in self.graph_tasks:
                stop(i, time)
                stack.append([(e["graph_task"], e["node"]), False])
                start(i, time)
                self.first[stack[-1][0]] = now
                self.waited += [(wait, now, None) for wait in between]
                for first, ns in synchronized:
                    self.synchronized[first] = now, ns, False
                between, synchronized = [], []
            elif kind == "outstanding" and stack and stack[-1][0][0] == e["graph_task"]:
                stack[-1][1] = True
            elif kind == "dependency_dec" and stack and (e["graph_task"], e["by"]) == stack[-1][0]:
                self.sent.append((now, time - now.begin, (e["graph_task"], e["node"])))
            elif kind == "kernel" and now:
                self.places[i] = now, time - now.begin
            elif kind == "synchronize_begin":
                synchronizing = i, time
            elif kind == "synchronize_end" and synchronizing:
                first, since = synchronizing
                synchronizing = None
                if not now:
                    synchronized.append((first, time - since))
                    continue
                now.last, now.time = i, since - now.begin
                now = None
                start(i, time)
                self.synchronized[first] = now, time - since, True
            elif kind == "lock_wait":
                begun = i, e, now
            elif kind == "lock_acquired" and begun and lock_of(begun[1]) == lock_of(e):
                at, first, piece = begun
                begun = None
                wait = Wait(thread, at, i, time - first["t"], *self.holder(thread, at, i))
                if piece is not now:
                    continue
                if not piece:
                    between.append(wait)
                    continue
                now.last, now.time = i, first["t"] - now.begin
                now = None
                start(i, time)
                self.waited.append((wait, now, piece))
        if stack and stack[-1][1]:
            close(len(self.events), self.events[-1]["t"])

    def holder(self, thread, at, end):
        """Who had the lock last, and the event by which that thread gave it back: None if it had it until the end."""
        kind, lock = self.events[at]["lock"], lock_of(self.events[at])
        holder = freed = None  # `freed`: it is free since that event
        perhaps = False
        for i in range(at + 1, end):
            e = self.events[i]
            same, other = bool(e.get("lock")) and lock_of(e) == lock, e["thread"] != thread
            if same and e["event"] == "lock_held" and (not other or e["holder"] not in (holder if freed is None else None, thread)):
                holder, freed, perhaps = e["holder"], None, False
            elif same and e["event"] == "lock_acquired":
                holder, freed, perhaps = e["thread"], None, False
            elif freed is None and holder is not None and e["thread"] == holder:
                away = e["event"] in ("outstanding", "queue_pop", "thread_state", "node_begin")
                if same and e["event"] == "lock_wait" and perhaps:
                    holder, freed = before
                elif (same and e["event"] in ("lock_released", "lock_wait") or kind in ("queue", "graph_task") and away
                      or kind == "node" and e["event"] == "node_end" and e["node"] == lock[1]):
                    freed = i
            elif freed is not None and other:
                begins = kind == "node" and e["event"] == "node_begin" and e["node"] == lock[1]
                if begins or kind == "graph_task" and e["event"] == "dependency_dec" and e["graph_task"] == lock[1]:
                    before, perhaps = (holder, freed), begins
                    holder, freed = e["thread"], None
        return (None, None) if holder == thread else (holder, freed)

    def place(self, thread, at):
        """How far the thread was with its task right before an event."""
        number = bisect.bisect_left(self.starts.get(thread, ()), at) - 1
        piece = self.pieces[thread][number] if number >= 0 else None
        if piece is None or (piece.last is not None and at > piece.last):
            return None
        return piece, min(self.events[at]["t"] - piece.begin, piece.time)

    def settle(self, wait, piece, before):
        """The piece came after the holder's release, or else the wait takes its time."""
        place = self.release(wait) if wait.holder not in (None, wait.thread) else None
        if place:
            place[0].ways.append((piece, place[1]))
            wait.node = place[0].task[1]
        elif before:
            piece.inside = wait.ns
        if place or before:
            piece.waits.append(wait)

    def wait_for_stream(self, awaited, piece, ns, is_inside):
        if awaited:
            awaited.ways.append((piece, awaited.time))
        elif is_inside:
            piece.inside = ns
        piece.stream_waits.append((ns, bool(awaited)))

    def release(self, wait):
        return self.place(wait.holder, wait.end if wait.freed_at is None else wait.freed_at)


class Chains:
    """Every chain of pieces that ends on a thread, one by one, or if there are too many, the longest way to each piece
    and from each."""

    def __init__(self, work):
        self.work = work
        self.through = dict.fromkeys(work.all, 0)
        if self.count() <= CHAINS_MOST:
            for piece in work.all:
                self.follow([piece], 0)
        else:
            self.sweep()
        self.length = max(self.through.values())

    def count(self):
        n = {}
        for piece in reversed(self.work.all):
            n[piece] = 1 + sum(n[after] for after, _ in piece.ways)
        return sum(n.values())

    def follow(self, chain, length):
        end = length + chain[-1].time
        for piece in chain if not chain[-1].stream else ():
            self.through[piece] = max(self.through[piece], end)
        for piece, way in chain[-1].ways:
            self.follow(chain + [piece], length + way)

    def sweep(self):
        to, since = dict.fromkeys(self.work.all, 0), {}
        for piece in self.work.all:
            for after, way in piece.ways:
                to[after] = max(to[after], to[piece] + way)
        for piece in reversed(self.work.all):
            own = NOWHERE if piece.stream else piece.time
            since[piece] = max([own] + [way + since[after] for after, way in piece.ways])
        self.through = {piece: to[piece] + since[piece] for piece in self.work.all}

    def slack(self, task):
        return self.length - max(way for piece, way in self.through.items() if piece.task == task)


class Critical(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.tape, self.script = (os.path.join(folder.name, name) for name in ("made.tape", "p.py"))
        self.seen, self.times_are_random = collections.Counter(), False

    def write(self, text):
        with open(self.script, "w") as file:
            file.write(text)

    def compare_all(self):
        events = [json.loads(line) for line in run(TAPEDECK, "events", "--json", self.tape).splitlines()]
        streams = Streams()
        for passes, _, _ in Tape(self.tape).groups:
            longest = max(passes, key=lambda one: one.end - one.begin)
            self.lasted = max(one.end for one in passes) - min(one.begin for one in passes)
            self.compare(Work(events, passes, streams), longest, critical(self.tape, "--pass", str(longest.graph_task)))
            self.seen["graphs"] += 1

    def compare(self, work, one, told):
        chains = Chains(work)
        self.seen["one by one"] += chains.count() <= CHAINS_MOST
        self.assertEqual(told["critical_path"], chains.length)
        if not self.times_are_random:
            self.assertLessEqual(chains.length, self.lasted)
        self.assertEqual(told["work"], sum(piece.time for piece in work.all if not piece.stream))
        self.assertEqual(told["workers"], len(work.pieces))
        self.assertEqual(told["work_over_workers"], told["work"] // told["workers"])
        self.assertEqual((told["wall"], told["lead"], told["tail"]), (one.end - one.begin, one.lead, one.tail))
        self.assertEqual([(node["node"], node["slack"]) for node in told["nodes"]],
                         [(piece.task[1], chains.slack(piece.task)) for piece in work.tasks])
        self.assertEqual(sum(part["ns"] for part in told["parts"]), told["critical_path"])
        self.assertEqual(sum(part["steps"] for part in told["parts"]), told["steps"])
        self.assertLessEqual(len(told["parts"]), PARTS_MOST)
        self.compare_waits(work, told)

    def compare_waits(self, work, told):
        """What is told of a lock was so: how long the wait took, who had the lock, and at which node."""
        known = [(piece, wait) for piece in work.all for wait in piece.waits]
        streams = [wait for piece in work.all for wait in piece.stream_waits]
        for part in told["parts"]:
            self.assertEqual(part["waited_for"] == "lock" and part["lock"] is None, False)
            self.assertTrue(part["stream"] or part["waited_for"] != "launch", part)
            lock, wait = part["lock"], part["stream_wait"]
            self.seen[part["waited_for"]] += 1
            self.seen["kernels"] += bool(part["stream"])
            if wait:
                self.assertIn((wait["wait"], not wait["inside"]), streams)
                self.assertIn(wait["inside"], (0, wait["wait"]))
                self.seen["inside a stream" if wait["inside"] else "through a kernel"] += 1
            if not lock:
                continue
            holder = lock["holder"] and int(lock["holder"].split()[0])
            found = [(piece, wait) for piece, wait in known if (wait.ns, wait.holder) == (lock["wait"], holder)]
            self.assertTrue(found, lock)
            self.assertIn(lock["inside"], (0, lock["wait"]))
            self.assertEqual({bool(lock["inside"])}, {bool(piece.inside) for piece, _ in found})
            self.assertEqual(bool(lock["node"]), not lock["inside"])
            self.seen["told"] += 1
            self.seen["inside"] += bool(lock["inside"])
            self.seen["through the holder"] += not lock["inside"]


class Own(Critical):
    def test_all_chains(self):
        for seed in range(100):
            run(MAKE_TAPE, str(5 + seed % 8), str(1 + seed % 3), "5", str(seed), self.tape)
            self.compare_all()
            os.unlink(self.tape)
        self.assertEqual(self.seen["graphs"], 500)

    def test_contended_chains(self):
        """Threads wait for locks inside their tasks and between them. Some holders are not told, some are at no task."""
        for seed in range(100):
            run(MAKE_TAPE, str(5 + seed % 6), str(2 + seed % 3), "5", str(seed), self.tape, "contend")
            self.compare_all()
            os.unlink(self.tape)
        self.assertEqual(self.seen["graphs"], 500)
        self.assertGreater(self.seen["one by one"], 450, self.seen)
        self.assertGreater(self.seen["inside"], 20, self.seen)
        self.assertGreater(self.seen["through the holder"], 20, self.seen)

    def test_chains_of_streams(self):
        """Kernels follow one another on streams, streams wait for events, and threads for both. Some work is not a task's."""
        self.times_are_random = True
        for seed in range(60):
            run(MAKE_TAPE, str(4 + seed % 5), str(1 + seed % 3), "5", str(seed), self.tape, "streams")
            self.compare_all()
            os.unlink(self.tape)
        self.assertEqual(self.seen["graphs"], 300)
        self.assertGreater(self.seen["one by one"], 150, self.seen)
        for kind in ("kernels", "launch", "stream", "inside a stream", "through a kernel"):
            self.assertGreater(self.seen[kind], 30, self.seen)

    def test_engine_with_streams(self):
        """No path is longer than the passes took: the times of kernels are those of the tape."""
        self.write(STREAMS)
        for seed in range(5):
            run(TAPEDECK, "run", "--force", "--devices", "cpu,sim:2,latency=2ms", "-o", self.tape, self.script, str(seed))
            self.compare_all()
        self.assertEqual(self.seen["graphs"], 20)
        for kind in ("kernels", "launch", "stream", "through a kernel"):
            self.assertGreater(self.seen[kind], 20, self.seen)

    def test_overlap(self):
        for seed in range(5):
            run(MAKE_TAPE, "6", "2", "5", str(seed), self.tape, "overlap")
            self.compare_all()
            os.unlink(self.tape)
        self.assertTrue(self.seen["graphs"])

    def test_planted(self):
        """The path goes through the thread that had the lock, and says so."""
        for program, lock in ((HELD, "AccumulateGrad"), (TURNS, "GIL")):
            with self.subTest(lock):
                self.write(program)
                run(TAPEDECK, "run", "--force", "-o", self.tape, self.script)
                self.compare_all()
                told = critical(self.tape)
                waits = [part["lock"] for part in told["parts"] if part["lock"]]
                longest = max(waits, key=lambda wait: wait["wait"], default=None)
                self.assertTrue(longest and longest["name"].startswith(lock), waits)
                self.assertTrue(longest["holder"].split()[1] in ("first", "second"), longest)

    def test_stranger(self):
        """If the holder is at no node, the wait is part of the path."""
        self.write(GREEDY)
        run(TAPEDECK, "run", "-o", self.tape, self.script)
        self.compare_all()
        lock = max((part["lock"] for part in critical(self.tape)["parts"] if part["lock"]), key=lambda lock: lock["wait"])
        self.assertEqual((lock["name"], lock["holder"], lock["node"]), ("GIL", "1 greedy", None))
        self.assertEqual(lock["inside"], lock["wait"])
        self.assertRegex(run(TAPEDECK, "report", self.tape, "--critical"), r"ms for GIL, thread 1 greedy had it")

    def test_few_parts(self):
        """However long the path, twenty parts tell it. The default is the longest pass."""
        self.write(SLEEPING)
        run(TAPEDECK, "run", "--devices", "cpu,sim:4", "-o", self.tape, self.script, "4", "1", "1")
        told = critical(self.tape)
        self.assertGreater(told["steps"], PARTS_MOST)
        self.assertEqual(len(told["parts"]), PARTS_MOST)
        self.assertEqual(sum(part["ns"] for part in told["parts"]), told["critical_path"])
        self.assertGreater(told["critical_path"], told["wall"] // 2)
        self.assertIn("WorkBackward", {part["what"] for part in told["parts"]})
        text = run(TAPEDECK, "report", self.tape, "--critical")
        self.assertEqual(len(text.splitlines()), 3 + PARTS_MOST + 1)

    def test_first_pass(self):
        """The tape's first pass warms up: it is the longest one by its number alone, or if there is no other."""
        for n_passes in (1, 6):
            for seed in range(4):
                run(MAKE_TAPE, "20", "1", str(n_passes), str(seed), self.tape)
                passes = [one for group, _, _ in Tape(self.tape).groups for one in group]
                wanted = max(passes[1:] or passes, key=lambda one: one.end - one.begin)
                told = critical(self.tape)
                self.assertEqual((told["wall"], told["first_left_out"]), (wanted.end - wanted.begin, n_passes > 1))
                text = run(TAPEDECK, "report", self.tape, "--critical")
                self.assertEqual("The first pass of the tape is left out" in text, n_passes > 1)
                first = critical(self.tape, "--pass", str(passes[0].graph_task))
                self.assertEqual((first["graph_task"], first["first_left_out"]), (passes[0].graph_task, False))
                os.unlink(self.tape)

    def test_words(self):
        run(MAKE_TAPE, "20", "1", "3", "1", self.tape)
        self.assertIn("no outermost pass 99", run(TAPEDECK, "report", self.tape, "--critical", "--pass", "99", ok=2))
        for words in (["--by", "op"], ["--csv"], ["--sort", "n"], ["--skip-first", "1"]):
            self.assertIn("--critical", run(TAPEDECK, "report", self.tape, "--critical", *words, ok=2))


class Torch(Critical):
    def test_planted(self):
        torches.need_compiler()
        for python in torches.pythons():
            for program in (ADDED, TURNS, GREEDY):
                self.write(program)
                run(TAPEDECK, "record", "--force", "-o", self.tape, "--", python, self.script)
                self.compare_all()
        self.assertTrue(self.seen["told"], self.seen)


if __name__ == "__main__":
    skipping.main(argv=sys.argv, defaultTest={"own": "Own", "torch": "Torch"}[KIND] if len(sys.argv) < 2 else None)

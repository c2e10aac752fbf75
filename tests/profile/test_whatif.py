#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
# `tapedeck whatif`: its numbers beside a second simulation that this test makes from the events alone, and beside runs
# under the other number of devices.
#   test_whatif.py own|torch|truth [how many graphs [how many times as slow]] [unittest's arguments]
import collections
import itertools
import json
import os
import sys
import tempfile
import unittest

import skipping
import torches
from commands import MAKE_TAPE, TAPEDECK, run
from plants import SLEEPING
from reentrant import INNER
from tape_passes import Tape

KIND = sys.argv.pop(1) if len(sys.argv) > 1 and sys.argv[1] in ("own", "torch", "truth") else "own"
N_GRAPHS = int(sys.argv.pop(1)) if len(sys.argv) > 1 and sys.argv[1].isdigit() else 3
SLOWNESS = int(sys.argv.pop(1)) if len(sys.argv) > 1 and sys.argv[1].isdigit() else 1
POLICIES = ("engine", "fifo", "lifo", "critical", "memory")

# Passes inside nodes, two threads that share weights, several roots.
PROGRAM = """
import threading, torch
""" + INNER + """\
net = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU(), torch.nn.Linear(8, 4))
def work(n):
    for _ in range(n):
        h = net(torch.ones(3, 8))
        torch.autograd.backward([Inner.apply(h).sum(), (h * h.exp()).sum()])
work(4)
threads = [threading.Thread(target=work, args=(5,)) for _ in range(2)]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""


def whatif(tape, *options):
    return json.loads(run(TAPEDECK, "whatif", tape, "--json", *options))


class Heap:
    """std::push_heap and std::pop_heap, by positions that sift."""

    def __init__(self, goes_after):
        self.items, self.goes_after = [], goes_after

    def up(self, hole, item):
        while hole and self.goes_after(self.items[(hole - 1) // 2], item):
            self.items[hole] = self.items[(hole - 1) // 2]
            hole = (hole - 1) // 2
        self.items[hole] = item

    def push(self, item):
        self.items.append(item)
        self.up(len(self.items) - 1, item)

    def pop(self):
        top, last = self.items[0], self.items.pop()
        n, hole = len(self.items), 0
        if not n:
            return top
        while 2 * hole + 2 < n:
            right = 2 * hole + 2
            child = right - 1 if self.goes_after(self.items[right], self.items[right - 1]) else right
            self.items[hole], hole = self.items[child], child
        if n % 2 == 0 and hole == (n - 2) // 2:
            self.items[hole], hole = self.items[n - 1], n - 1
        self.up(hole, last)
        return top


RANKS = ("node", "graph_task", "gil")


class Lock:
    def __init__(self):
        self.held, self.next, self.waiting = False, None, []  # `next`: it wakes up


class Simulation:
    """One group under one policy: the next thing to happen is looked for in a plain list."""

    def __init__(self, passes, wake, lock_wake, n_recorded, policy, n_devices=0, n_workers=1, scales=(), frees=()):
        self.passes, self.wake, self.lock_wake, self.n_recorded, self.policy = passes, wake, lock_wake, n_recorded, policy
        self.n_workers, self.frees, self.locks = n_workers, frees, collections.defaultdict(Lock)
        self.n_devices = n_devices or n_recorded
        self.share = lambda task: eval("*".join(["1.0"] + [str(s) for what, s in scales if what in (task.name, task.node)]))
        self.agenda, self.order, self.n_pushed, self.held, self.pops = [], itertools.count(), itertools.count(), 0, []
        self.teams, self.wall, self.queue_peak, self.memory_peak = {}, 0, 0, 0
        self.prepare()
        while self.agenda:
            self.agenda.sort(key=lambda entry: entry[:2])
            self.now, _, act, *rest = self.agenda.pop(0)
            act(*rest)

    def at(self, time, act, *rest):
        self.agenda.append((time, next(self.order), act, *rest))

    def scaled(self, task, offset):
        share, end = self.share(task), task.begin + task.apply
        left = lambda until: until - sum(max(0, min(until, last) - first) for first, last in task.cuts)
        inside = left(min(offset, end)) - left(min(offset, task.begin))
        return left(offset) if share == 1 else 0 if share == 0 else left(offset) - inside + int(inside * share)

    def cut(self, task):
        """The parts of a task that take no time, and when it has which lock."""
        task.cuts = []
        for what, follows, begin, end in sorted(task.stalls, key=lambda stall: stall[2:]):
            if not (follows or what in self.frees):
                continue
            if task.cuts and begin <= task.cuts[-1][1]:
                begin, end = task.cuts[-1][0], max(end, task.cuts.pop()[1])
            task.cuts.append((begin, end))
        found, task.parts = [], []
        for hold in task.holds:
            if ("gil" if hold.lock[0] == "gil" else "lock") in self.frees:
                continue
            begin, end = self.scaled(task, hold.begin), self.scaled(task, hold.end)
            rank = RANKS.index(hold.lock[0])
            for part in found:
                if part[0] >= rank:
                    part[2] = min(part[2], begin)
            found.append([rank, begin, end, hold])
        task.parts = [part[1:] for part in found if part[2] > part[1]]

    def prepare(self):
        for one in self.passes:
            one.by_node = {task.node: task for task in one.tasks}
            for task in one.tasks:
                self.cut(task)
            for task in one.tasks:
                task.left, task.bytes, task.out = 0, 0, [sent for sent in task.sent if sent[0] in one.by_node]
            for task in one.tasks:
                for to, _, _ in task.out:
                    one.by_node[to].left += 1
            for task in reversed(one.tasks):
                task.path = max([self.scaled(task, task.total)] +
                                [self.scaled(task, offset) + one.by_node[to].path for to, offset, _ in task.out])
        self.critical = sum(one.lead + one.tail + max(task.path for task in one.tasks if not task.left) for one in self.passes)
        work = sum(self.scaled(task, task.total) for one in self.passes for task in one.tasks)
        self.work = sum(one.lead + one.tail for one in self.passes) + work // (self.n_workers * (self.n_devices + 1))
        seen = set()
        for one in self.passes:
            if one.owner not in seen:
                self.at(one.begin, self.begin, one)
            seen.add(one.owner)

    def begin(self, one):
        one.began, one.n_left = self.now, len(one.tasks)
        self.at(self.now + one.lead, self.push_roots, one)

    def push_roots(self, one):
        for task in [task for task in one.tasks if not task.left]:
            self.push(one, task, ("cpu", one.owner))

    def team(self, key):
        return self.teams.setdefault(key, [Heap(self.goes_after), self.n_workers])

    def goes_after(self, a, b):
        (left, first), (right, second) = a, b
        if self.policy == "fifo":
            return second < first
        if self.policy == "lifo":
            return second > first
        rank = {"critical": lambda task: task.path, "engine": lambda task: 0,
                "memory": lambda task: task.bytes - sum(sent[2] for sent in task.out)}[self.policy]
        return (rank(left), left.number) < (rank(right), right.number)

    def place(self, one, task):
        if self.n_devices == self.n_recorded or (task.device < 0 and self.n_recorded):
            return ("cpu", one.owner) if task.device < 0 else task.device
        first = 0 if task.device < 0 else task.device % self.n_devices
        load = lambda key: len(self.team(key)[0].items) + self.n_workers - self.team(key)[1]
        return min(range(first, self.n_devices, max(self.n_recorded, 1)), key=load)

    def push(self, one, task, pusher):
        key = self.place(one, task)
        team = self.team(key)
        team[0].push((task, next(self.n_pushed)))
        self.queue_peak = max(self.queue_peak, len(team[0].items))
        if team[1]:
            team[1] -= 1
            self.at(self.now + (0 if key == pusher and self.n_workers == 1 else self.wake), self.work_on, key)

    def work_on(self, key):
        heap = self.team(key)[0]
        if not heap.items:
            self.team(key)[1] += 1
            return
        task = heap.pop()[0]
        self.pops.append((task.graph_task, task.node))
        one = next(one for one in self.passes if one.graph_task == task.graph_task)
        if task.parts:
            self.step(one, task, key)
            return
        for to, offset, n_bytes in task.out:
            self.at(self.now + self.scaled(task, offset), self.deliver, one, one.by_node[to], n_bytes, key)
        self.at(self.now + self.scaled(task, task.total), self.finish, one, task, key)

    def step(self, one, task, key):
        """A task that needs locks: one thing after another, each so long after the one before."""
        steps = [(self.scaled(task, offset), 2, i, self.deliver, one, one.by_node[to], n_bytes, key)
                 for i, (to, offset, n_bytes) in enumerate(task.out)]
        for i, (begin, end, hold) in enumerate(task.parts):
            steps += [(begin, 1, i, self.take, hold), (end, 0, i, self.give, hold)]
        task.steps = sorted(steps + [(self.scaled(task, task.total), 3, 0, self.finish, one, task, key)], key=lambda step: step[:3])
        self.at(self.now + task.steps[0][0], self.go_on, task)

    def go_on(self, task):
        time, _, _, act, *rest = task.steps[0]
        if act == self.take and not self.take(task, *rest):
            return
        task.steps.pop(0)
        if task.steps:
            self.at(self.now + task.steps[0][0] - time, self.go_on, task)
        if act != self.take:
            act(*rest)

    def take(self, task, hold):
        lock = self.locks[hold.lock]
        is_next = lock.next is not None and lock.next[1] is task
        is_late = lock.next is not None and not is_next and hold.taken > lock.next[0]
        if is_next:
            lock.next = None
        if lock.held or is_late:
            lock.waiting.append((hold.taken, task))
            return False
        lock.held = True
        return True

    def give(self, hold):
        lock = self.locks[hold.lock]
        lock.held = False
        if lock.next is None and lock.waiting:
            lock.next = min(lock.waiting, key=lambda waiter: waiter[0])
            lock.waiting.remove(lock.next)
            self.at(self.now + self.lock_wake, self.go_on, lock.next[1])

    def deliver(self, one, task, n_bytes, key):
        task.bytes += n_bytes
        self.held += n_bytes
        self.memory_peak = max(self.memory_peak, self.held)
        task.left -= 1
        if not task.left:
            self.push(one, task, key)

    def finish(self, one, task, key):
        self.held -= task.bytes
        one.n_left -= 1
        if not one.n_left:
            end = self.now + one.tail
            self.wall += end - one.began
            later = [other for other in self.passes if other.owner == one.owner and other.begin > one.begin]
            if later:
                self.at(end + later[0].begin - one.end, self.begin, later[0])
        self.work_on(key)


Counted = collections.namedtuple("Counted", "groups n_devices")


def without_warming(path, tape):
    """What counts by default: not the tape's first pass, if there is another and none overlaps it."""
    first = next(e["graph_task"] for e in map(json.loads, run(TAPEDECK, "events", "--json", "--kind", "graph_task_begin", path).splitlines()))
    left = [group for group in tape.groups if first not in [one.graph_task for one in group[0]] or len(group[0]) > 1]
    return Counted(left or tape.groups, tape.n_devices)


def simulate(tape, policy, **plan):
    done = [Simulation(*group, tape.n_devices, policy, **plan) for group in tape.groups]
    return {"policy": policy, "devices": plan.get("n_devices") or tape.n_devices, "workers": plan.get("n_workers", 1),
            "wall": sum(one.wall for one in done), "critical_path": sum(one.critical for one in done),
            "work_over_workers": sum(one.work for one in done), "queue_peak": max(one.queue_peak for one in done),
            "memory_peak": max(one.memory_peak for one in done)}


class Whatif(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, program):
        with open(self.path("program.py"), "w") as file:
            file.write(program)
        return self.path("program.py")

    def compare(self, path, **plan):
        """By default, and with all passes. Returns the latter."""
        tape = Tape(path)
        self.compare_counted(path, without_warming(path, tape), [], plan)
        return self.compare_counted(path, tape, ["--skip-first", "0"], plan)

    def compare_counted(self, path, tape, skip, plan):
        words = [word for name, value in plan.items() if name not in ("scales", "frees") for word in (f"--{name[2:]}", str(value))]
        words += [word for what in plan.get("frees", ()) for word in ("--free", what)]
        words += [word for what, share in plan.get("scales", ()) for word in
                  (("--free", str(what)) if share == 0 else ("--scale", f"{what}={share}"))]
        told = whatif(path, *words, *skip)
        self.assertEqual(told["passes"], sum(len(passes) for passes, _, _ in tape.groups))
        self.assertEqual(told["recorded"], sum(one.end - one.begin for passes, _, _ in tape.groups for one in passes), path)
        self.assertEqual(told["replayed"], simulate(tape, "engine")["wall"], (path, plan))
        self.assertEqual(told["trusted"], abs(told["replayed"] / told["recorded"] - 1) <= 0.05)
        self.assertEqual([result["policy"] for result in told["results"]], list(POLICIES))
        for result in told["results"]:
            self.assertEqual(result, simulate(tape, result["policy"], **plan), (path, plan))
            self.assertGreaterEqual(result["wall"], result["critical_path"])
            self.assertGreaterEqual(result["wall"], result["work_over_workers"])
        return told

    def predict(self, path, policy, **plan):
        """The tape of a prediction: who is popped when is what the test's own simulation says."""
        words = [word for name, value in plan.items() for word in (f"--{name[2:]}", str(value))]
        predicted = self.path("predicted.tape")
        told = json.loads(run(TAPEDECK, "whatif", path, "--json", "--skip-first", "0", "--policy", policy, *words, "--force", "-o", predicted))
        events = [json.loads(line) for line in run(TAPEDECK, "events", "--json", predicted).splitlines()]
        tape = Tape(path)
        pops = [pop for group in tape.groups for pop in Simulation(*group, tape.n_devices, policy, **plan).pops]
        self.assertEqual([(e["graph_task"], e["node"]) for e in events if e["event"] == "queue_pop"], pops, (path, policy, plan))
        begins = {e["graph_task"]: e["t"] for e in events if e["event"] == "graph_task_begin"}
        wall = sum(e["t"] - begins[e["graph_task"]] for e in events if e["event"] == "graph_task_end")
        self.assertLessEqual(abs(wall - told["results"][0]["wall"]), len(events))  # what happens at once is a nanosecond apart
        self.replay(events, policy, plan.get("n_workers", 1))
        self.name_devices(path, events)
        run(TAPEDECK, "check", predicted)
        return events

    def name_devices(self, path, events):
        """What the tape has keeps its name; a device that it does not have says so."""
        recorded = {e["device"]: e["name"] for e in map(json.loads, run(TAPEDECK, "events", "--json", "--kind", "device_new", path).splitlines())}
        names = {e["device"]: e["name"] for e in events if e["event"] == "device_new"}
        for device in {e["device"] for e in events if e["event"] == "queue_new"}:
            self.assertEqual(names.get(device, "cpu"), recorded.get(device, f"what-if:{device}" if device >= 0 else "cpu"))

    def replay(self, events, policy, n_workers):
        """A queue gives what it got, a thread runs what it popped, and a pass ends when nothing is left."""
        queues, running, left, threads = collections.defaultdict(list), {}, collections.Counter(), collections.defaultdict(set)
        for e in events:
            kind, queue = e["event"], queues[e.get("queue")]
            if kind == "queue_push":
                queue.append(e["node"])
                left[e["graph_task"]] += 1
                self.assertEqual(e["size"], len(queue))
            elif kind == "queue_pop":
                self.assertIn(e["node"], {"fifo": queue[:1], "lifo": queue[-1:]}.get(policy, queue))
                queue.remove(e["node"])
                self.assertEqual(e["size"], len(queue))
                self.assertNotIn(e["thread"], running)
                running[e["thread"]] = [e["node"], "popped"]
                threads[e["queue"]].add(e["thread"])
            elif kind in ("node_begin", "node_end"):
                was, now = ("popped", "begun") if kind == "node_begin" else ("begun", "ended")
                self.assertEqual(running[e["thread"]], [e["node"], was])
                running[e["thread"]][1] = now
            elif kind == "outstanding":
                self.assertEqual(running.pop(e["thread"])[1], "ended")
                left[e["graph_task"]] -= 1
                self.assertEqual(e["value"], left[e["graph_task"]])
            elif kind == "graph_task_end":
                self.assertEqual(left[e["graph_task"]], 0)
        self.assertFalse(running or any(queues.values()))
        self.assertLessEqual(max(map(len, threads.values())), n_workers)

    def test_prediction(self):
        for seed, plan in enumerate(([], ["train"], ["overlap"], [])):
            path = self.path(f"{seed}.tape")
            run(MAKE_TAPE, str(30 + 10 * seed), str(1 + seed), "5", str(seed), path, *plan)
            for policy in POLICIES[seed % 2::2]:
                self.predict(path, policy)
                self.predict(path, policy, n_devices=3, n_workers=1 + seed % 3)
        path = self.path("p.tape")
        run(TAPEDECK, "run", "-o", path, self.write(PROGRAM))
        for policy in POLICIES:
            self.predict(path, policy)
        path = self.path("d.tape")
        run(TAPEDECK, "run", "-o", path, "two_devices")
        events = self.predict(path, "engine")
        self.assertIn("what-if", [e["name"] for e in events if e["event"] == "setting"])
        told = json.loads(run(TAPEDECK, "diff", "--json", path, self.path("predicted.tape")))
        self.assertEqual((told["nodes"]["paired"], told["nodes"]["only_a"], told["nodes"]["only_b"]), (told["a"]["nodes"], [], []))

    def test_prediction_words(self):
        path, output = self.path("m.tape"), self.path("out.tape")
        run(MAKE_TAPE, "40", "2", "4", "1", path)
        self.assertIn("one --policy", run(TAPEDECK, "whatif", path, "-o", output, ok=2))
        self.assertIn("Weather", run(TAPEDECK, "whatif", path, "--policy", "fifo", "--free", "Weather", "-o", output, ok=2))
        self.assertIn("No such file", run(TAPEDECK, "whatif", path, "--policy", "fifo", "-o", self.path("none/out.tape"), ok=2))
        self.assertEqual(os.listdir(self.folder.name), ["m.tape"])
        run(TAPEDECK, "whatif", path, "--policy", "fifo", "-o", output)
        self.assertIn("exists", run(TAPEDECK, "whatif", path, "--policy", "fifo", "-o", output, ok=2))
        self.assertIn("itself", run(TAPEDECK, "whatif", path, "--policy", "fifo", "--force", "-o", path, ok=2))

    def test_made(self):
        """On a made tape, time is what the simulator of the test said, so that the replay is exact."""
        for seed in range(6):
            for plan in ([], ["train"], ["overlap"]):
                path = self.path(f"{seed}{''.join(plan)}.tape")
                run(MAKE_TAPE, str(20 + 10 * seed), str(1 + seed % 4), "6", str(seed), path, *plan)
                self.compare(path)
                self.compare(path, n_devices=2, n_workers=1 + seed % 3)
                self.compare(path, frees=("lock",))

    def test_programs(self):
        path = self.path("p.tape")
        run(TAPEDECK, "run", "-o", path, self.write(PROGRAM))
        told = self.compare(path)
        self.assertEqual(told["passes"], 14)
        for plan in ({"n_workers": 3}, {"n_devices": 3}, {"scales": [("InnerBackward", 0.25), ("MulBackward0", 2)]},
                     {"scales": [("InnerBackward", 0)], "n_workers": 2}, {"frees": ("gil", "lock"), "scales": [("MulBackward0", 2)]}):
            self.compare(path, **plan)
        for example in ("two_devices", "gpt_mini"):
            path = self.path(example + ".tape")
            run(TAPEDECK, "run", "-o", path, example)
            self.compare(path)
            self.compare(path, n_devices=3)

    def test_words(self):
        path = self.path("m.tape")
        run(MAKE_TAPE, "40", "2", "4", "1", path)
        for words, complaint in ((["--policy", "weather"], "weather"), (["--scale", "X"], "--scale"),
                                 (["--scale", "X=-1"], "--scale"), (["--free", "Weather"], "Weather"),
                                 (["--free", "#99999"], "99999"), (["--devices", "-1"], "--devices"),
                                 (["--workers", "0"], "--workers"), (["--workers", "9999999"], "--workers")):
            self.assertIn(complaint, run(TAPEDECK, "whatif", path, *words, ok=2))
        for what, complaint in (("hook", "no hook"), ("gil", "does not tell")):
            self.assertIn(complaint, run(TAPEDECK, "whatif", path, "--free", what, ok=2))
        self.assertIsNone(whatif(path)["gil_held"])
        one = whatif(path, "--policy", "fifo", "--policy", "lifo", "--policy", "fifo")
        self.assertEqual([result["policy"] for result in one["results"]], ["fifo", "lifo"])
        text = run(TAPEDECK, "whatif", path)
        for policy in POLICIES:
            self.assertIn(policy, text)
        run(MAKE_TAPE, "40", "1", "4", "1", self.path("h.tape"), "hooked")
        self.assertIn("did not observe", run(TAPEDECK, "whatif", self.path("h.tape"), ok=2))

    def test_first(self):
        """The tape's first pass is left out, unless it is the only one or was wished for; the text says so."""
        path = self.path("f.tape")
        step = "x = torch.ones(3, 8)\nnet(x).sum().backward()\n"
        program = "import torch\nnet = torch.nn.Linear(8, 4)\n" + step
        for n, (default, skipped) in ((1, (1, 0)), (4, (3, 1))):
            run(TAPEDECK, "run", "--force", "-o", path, self.write(program + step * (n - 1)))
            told = whatif(path)
            self.assertEqual((told["passes"], told["skipped_first"]), (default, skipped))
            self.assertEqual("The first pass of the tape is left out" in run(TAPEDECK, "whatif", path), skipped == 1)
            told = whatif(path, "--skip-first", "0")
            self.assertEqual((told["passes"], told["skipped_first"]), (n, 0))
        told = whatif(path, "--skip-first", "3")
        self.assertEqual((told["passes"], told["skipped_first"]), (1, 3))
        self.assertIn("The first 3 passes are left out", run(TAPEDECK, "whatif", path, "--skip-first", "3"))
        self.assertIn("all left out", run(TAPEDECK, "whatif", path, "--skip-first", "4", ok=2))
        self.assertIn("--skip-first", run(TAPEDECK, "whatif", path, "--skip-first", "-2", ok=2))

    def test_failed(self):
        """A pass that fails is left out, and counted."""
        path = self.path("f.tape")
        program = PROGRAM + "\ny = net(torch.ones(3, 8)).sum()\ny.register_hook(lambda g: 1 / 0)\ntry: y.backward()\nexcept ZeroDivisionError: pass\n"
        run(TAPEDECK, "run", "-o", path, self.write(program))
        told = whatif(path)
        self.assertEqual((told["passes"], told["left_out"], told["skipped_first"]), (13, 1, 1))
        alone = "import torch\nx = torch.ones(2, requires_grad=True) * 2\nx.register_hook(lambda g: 1 / 0)\ntry: x.sum().backward()\nexcept ZeroDivisionError: pass\n"
        run(TAPEDECK, "run", "--force", "-o", path, self.write(alone))
        self.assertIn("no backward pass of this tape ended well", run(TAPEDECK, "whatif", path, ok=2))


class Torch(Whatif):
    def test_programs(self):
        torches.need_compiler()
        for python in torches.pythons():
            path = self.path("t.tape")
            run(TAPEDECK, "record", "--force", "-o", path, "--", python, self.write(PROGRAM))
            told = self.compare(path)
            self.assertEqual(told["passes"], 14)
            self.compare(path, n_workers=2, scales=[("AddmmBackward0", 0.5)])

    test_made = test_words = test_failed = test_first = None


# Four threads that share a leaf, whose hook sleeps under the leaf's lock: `leaf`. Branches on four devices that keep the GIL for
# half of their time: `gil`. The nodes Work sleep without any lock.
LOCKED = """
import ctypes, sys, threading, time, torch
kind, slowness, share, free = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), sys.argv[4]
keep, let_go = ctypes.PyDLL(None).usleep, ctypes.CDLL(None).usleep
class Work(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, ms):
        ctx.ms = ms
        return x * 1
    @staticmethod
    def backward(ctx, g):
        time.sleep(ctx.ms * share * slowness / 1e3)
        return g * 1, None
class Keep(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 1
    @staticmethod
    def backward(ctx, g):
        (let_go if free == "gil" else keep)(5000 * slowness)
        return g * 1
def new_leaf():
    leaf = torch.ones(4, requires_grad=True)
    if free != "hook":
        leaf.register_post_accumulate_grad_hook(lambda leaf: time.sleep(5 * slowness / 1e3))
    return leaf
def train(leaf):
    for _ in range(3):
        Work.apply(Work.apply(leaf, 8), 8).sum().backward()
def leaf():
    shared = new_leaf()
    threads = [threading.Thread(target=train, args=[new_leaf() if free == "lock" else shared]) for _ in range(4)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
def gil():
    ends = []
    for i in range(4):
        x = torch.ones(4, device=f"sim:{i}", requires_grad=True)
        for _ in range(3):
            x = Keep.apply(Work.apply(x, 8 + 2 * i))
        ends.append(x.to("cpu").sum())
    sum(ends[1:], ends[0]).backward()
globals()[kind]()
"""
LOCKED_CHANGES = (("--scale", "WorkBackward=0.25"), ("--free", "lock"), ("--free", "gil"), ("--free", "hook"))


class Truth(unittest.TestCase):
    def test_locks(self):
        """What a change would bring is foretold within five points of the time, beside programs that are so changed. The nodes
        take longer until what a busy machine adds does not matter."""
        with tempfile.TemporaryDirectory() as folder:
            script = os.path.join(folder, "p.py")
            with open(script, "w") as file:
                file.write(LOCKED)
            for kind, change in (("leaf", 0), ("leaf", 1), ("leaf", 3), ("gil", 0), ("gil", 2)):
                self.assertTrue(any(self.is_right(folder, script, kind, *LOCKED_CHANGES[change], SLOWNESS << i) for i in range(5)),
                                (kind, LOCKED_CHANGES[change]))

    def is_right(self, folder, script, kind, option, what, slowness):
        before, after = (os.path.join(folder, name) for name in ("before.tape", "after.tape"))
        share, free = ("0.25", "none") if option == "--scale" else ("1", what)
        for tape, *words in ((before, "1", "none"), (after, share, free)):
            run(TAPEDECK, "run", "--force", "--devices", "cpu,sim:4", "-o", tape, script, kind, str(slowness), *words)
        options = ("--policy", "engine", "--skip-first", "0")
        told = whatif(before, option, what, *options)
        foretold = told["results"][0]["wall"] / told["replayed"]
        was = whatif(after, *options)["recorded"] / told["recorded"]
        print(f"{kind}, {option} {what}: {foretold - 1:+.1%}, and was {was - 1:+.1%}; replay off by {told['error']:.1%}", file=sys.stderr)
        return abs(foretold - was) < 0.05 and told["trusted"]

    def test_devices(self):
        """A run on four devices foretells the time on two and on one, if the nodes take long beside what a busy machine adds:
        they sleep twice as long until they do."""
        with tempfile.TemporaryDirectory() as folder:
            script = os.path.join(folder, "p.py")
            with open(script, "w") as file:
                file.write(SLEEPING)
            for seed in range(N_GRAPHS):
                self.assertTrue(any(self.is_foretold(folder, script, seed, SLOWNESS << i) for i in range(5)), seed)

    def is_foretold(self, folder, script, seed, slowness):
        tapes = {n: os.path.join(folder, f"{n}.tape") for n in (4, 2, 1)}
        for n, tape in tapes.items():
            run(TAPEDECK, "run", "--force", "--devices", f"cpu,sim:{n}", "-o", tape, script, str(n), str(seed), str(slowness))
        worst = 0
        for n in (2, 1):
            foretold = whatif(tapes[4], "--devices", str(n), "--policy", "engine")["results"][0]["wall"]
            worst = max(worst, abs(foretold / whatif(tapes[n])["recorded"] - 1))
        print(f"graph {seed}: off by {100 * worst:.1f} %", file=sys.stderr)
        return worst < 0.05


if __name__ == "__main__":
    chosen = {"own": "Whatif", "torch": "Torch", "truth": "Truth"}[KIND]
    skipping.main(argv=sys.argv, defaultTest=chosen if len(sys.argv) < 2 else None)

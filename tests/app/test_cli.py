# Exit statuses, messages and the shapes of the JSON of the commands that read a tape.
import json
import math
import os
import pathlib
import re
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import time
import unittest

TAPEDECK = os.environ["TAPEDECK"]
MAKE_TAPE = os.path.join(os.environ["BUILD_ROOT"], "tests", "make_tape")
MAKE_HOSTILE = os.path.join(os.environ["BUILD_ROOT"], "tests", "make_hostile")
GOLDEN = pathlib.Path(os.environ["SOURCE_ROOT"]) / "tests" / "trace" / "golden"
NODE_STATES = {"created", "waiting", "partial", "queued", "running", "done", "skipped", "captured",
               "failed", "released"}


# An Inf becomes a NaN where it meets a zero. A write spoils what exp() has saved, so that its backward fails.
CAUSES = """
import tapedeck, torch
w = torch.ones(3, requires_grad=True)
for i in range(2):
    (w * 0).sqrt().sum().backward()
    y = w.exp()
    y += 1
    try: y.sum().backward()
    except RuntimeError: pass
    tapedeck.step()
"""


def run(*arguments, **options):
    return subprocess.run([TAPEDECK, *map(str, arguments)], capture_output=True, text=True, timeout=300, **options)


class Cli(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.tape = os.path.join(cls.folder.name, "random.tape")
        subprocess.run([MAKE_TAPE, "80", "3", "2", "4", cls.tape], check=True)
        cls.events = [json.loads(line) for line in run("events", cls.tape, "--json").stdout.splitlines()]

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def document(self, *arguments):
        done = run(*arguments)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return json.loads(done.stdout)

    def refused(self, *arguments):
        """One clear line on standard error, nothing on standard output, exit status 2."""
        done = run(*arguments)
        self.assertEqual(done.returncode, 2, done)
        self.assertEqual(done.stdout, "")
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertTrue(done.stderr.startswith("tapedeck"), done.stderr)
        return done.stderr

    def killed(self, folder, *arguments, **options):
        """Ends a command by SIGTERM as soon as it has made something in the folder."""
        before = set(os.listdir(folder))
        command = subprocess.Popen([TAPEDECK, *map(str, arguments)], stderr=subprocess.DEVNULL, **options)
        while command.poll() is None and set(os.listdir(folder)) == before:
            time.sleep(0.001)
        self.assertIsNone(command.poll(), "it was over before it could be killed")
        command.terminate()
        self.assertEqual(command.wait(), -signal.SIGTERM)
        self.assertEqual(set(os.listdir(folder)), before)

    def test_killed(self):
        """A signal leaves no half picture, no half tape and no folder. An older picture stays."""
        with tempfile.TemporaryDirectory() as folder:
            for name in ("new.png", "new.svg", "old.png"):
                picture = os.path.join(folder, name)
                if name == "old.png":
                    self.assertEqual(run("render", self.tape, "--view", "overview", "-o", picture).returncode, 0)
                    old = os.path.getsize(picture)
                self.killed(folder, "render", self.tape, "--view", "overview", "--size", "12000x12000", "-o", picture)
            self.assertEqual(os.path.getsize(os.path.join(folder, "old.png")), old)
        with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as scratch:
            tapes = [os.path.join(folder, name) for name in ("a.tape", "b.tape")]
            for tape in tapes:
                subprocess.run([MAKE_TAPE, "30000", "3", "2", "4", tape], check=True)
            self.killed(scratch, "open", *tapes, env=os.environ | {"TMPDIR": scratch})

    def test_help_names_every_command(self):
        done = run("--help")
        self.assertEqual(done.returncode, 0)
        for command in ("info", "events", "state", "why", "check"):
            self.assertIn("\n  " + command + " ", done.stdout)
            one = run(command, "--help")
            self.assertEqual(one.returncode, 0)
            self.assertIn("tapedeck " + command, one.stdout)
        self.assertRegex(run("--version").stdout, r"^tapedeck \d+\.\d+\.\d+\n$")

    def test_bad_usage(self):
        self.assertIn("frobnicate", self.refused("frobnicate"))
        self.assertIn("--frobnicate", self.refused("--frobnicate"))
        for command in ("info", "events", "state", "why", "check"):
            self.refused(command)
            self.assertIn("--frobnicate", self.refused(command, self.tape, "--frobnicate"))
            self.assertIn("one argument too many", self.refused(command, self.tape, "more"))
        self.assertIn("frobnicate", self.refused("events", self.tape, "--kind", "frobnicate"))
        self.refused("events", self.tape, "--from", "x")
        self.refused("events", self.tape, "--node", "-1")
        for at in ("-3", "soon", "", "99999999999999999999999"):
            self.assertIn("nan, inf, error or end", self.refused("why", self.tape, "--at", at))
        self.assertIn("two moments", self.refused("state", self.tape, "--at", "3", "--pass", "0"))
        self.assertIn("--pass -1", self.refused("state", self.tape, "--pass", "-1"))

    def test_what_an_option_must_be(self):
        """One form in all commands."""
        for command, option, words in (("run", "--anomaly", "off, nan or nonfinite"), ("run", "--policy", "block or drop"),
                                       ("run", "--semantics", "2.13 or 1.11"), ("record", "--level", "1 or 2"),
                                       ("record", "--stats", "off, finite or full"),
                                       ("open", "--page", "inspector, events, problems, profile, waiting, contention, critical, whatif or memory"),
                                       ("render", "--view", "graph, timeline, queues, memory or overview")):
            said = self.refused(command, option, "sideways", self.tape)
            self.assertEqual(said, f"tapedeck {command}: {option} 'sideways': must be {words}\n")
        self.assertIn("--break 'sideways': must be node:NUMBER", self.refused("run", "--break", "sideways", "mlp"))
        self.assertIn("must be graph, timeline, queues, memory or overview", self.refused("render", self.tape, "-o", "x.png"))

    def test_a_tape_is_no_program(self):
        for command in (["run"], ["record", "--"], ["import"], []):
            self.assertEqual(self.refused(*command, self.tape),
                             f"tapedeck: {self.tape}: is a tape; see it with: tapedeck open {self.tape}\n")

    def test_bench_of_torch(self):
        """Not measured unless asked for, nor where it is not, and so not taken for a pass."""
        row, = self.document("bench", "--json", "--figure", "torch_model")
        self.assertIn("--torch", row["skipped"])
        rows = self.document("bench", "--json", "--torch=/does/not/exist")
        self.assertEqual({row["figure"].split("_")[0] for row in rows}, {"torch"})
        for row in rows:
            self.assertEqual(row["skipped"], "/does/not/exist cannot be run")
            self.assertNotIn("holds", row)

    def test_bench_of_the_window(self):
        """Without a display there is nothing to drag, and no tape is made for it."""
        bare = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY")}
        done = run("bench", "--json", "--figure", "drag_frame", "--figure", "drag_memory", env=bare)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual([(row["figure"], row["skipped"]) for row in json.loads(done.stdout)],
                         [("drag_frame", "no display"), ("drag_memory", "no display")])

    def test_bench_of_scale(self):
        """Four sizes, each in a process of its own; the exponent is the slope through the largest three."""
        row, = self.document("bench", "--scale", "--json", "--figure", "chain")
        self.assertEqual(row["sizes"], [1000, 10000, 100000, 1000000])
        for values, exponent in (("values", "exponent"), ("memory_mb", "memory_exponent")):
            slope, _ = statistics.linear_regression([math.log(size) for size in row["sizes"][1:]],
                                                    [math.log(value) for value in row[values][1:]])
            self.assertAlmostEqual(row[exponent], slope, 6)
        self.assertGreater(row["memory_mb"][3], 2 * row["memory_mb"][2])
        self.assertIn("'seek_p99'", self.refused("bench", "--scale", "--figure", "seek_p99"))

    def test_unreadable(self):
        not_a_tape = os.path.join(self.folder.name, "not a tape")
        with open(not_a_tape, "w") as file:
            file.write("hello, this is a text and not a tape at all\n" * 20)
        empty = os.path.join(self.folder.name, "empty")
        open(empty, "w").close()
        pipe = os.path.join(self.folder.name, "pipe")
        os.mkfifo(pipe)
        for command in (["info"], ["events"], ["check"], ["state", "--at", "0"], ["why", "--at", "0"]):
            for path in ("/does/not/exist.tape", not_a_tape, empty, pipe, "/dev/zero", self.folder.name):
                self.assertTrue(self.refused(*command, path).startswith("tapedeck: " + path + ": "))

    def test_beyond_the_end(self):
        last = len(self.events) - 1
        for command in ("state", "why"):
            self.assertEqual(run(command, self.tape, "--at", last).returncode, 0)
            self.assertIn("0 to %d" % last, self.refused(command, self.tape, "--at", last + 1))

    def moment(self, *options, tape=None):
        """The event whose moment `state` shows, and what `why` says of it. Both name the moment alike."""
        tape = tape or self.tape
        seq = self.document("state", tape, *options, "--json")["seq"]
        how = run("state", tape, *options).stdout.splitlines()[0]
        why = run("why", tape, *options).stdout
        self.assertTrue(how.startswith(f"After event {seq}, "), how)
        self.assertEqual(why.splitlines()[0], how[:how.rindex(", at ")] + ":")
        return self.events[seq], how, why

    def test_moments_have_names(self):
        begun = [e for e in self.events if e["event"] == "graph_task_begin"]
        for each in begun:
            number = each["graph_task"]
            end = next(e["seq"] for e in self.events if e["event"] == "graph_task_end" and e["graph_task"] == number)
            event, how, why = self.moment("--pass", number)
            self.assertTrue(each["seq"] < event["seq"] < end, (event, each, end))
            self.assertEqual((event["event"], event["graph_task"]), ("queue_pop", number))
            self.assertGreater(event["size"], 0)
            self.assertIn(f"in the middle of graph task {number}", how)
            self.assertIn(" before ", why)
        ran = [sum(e["event"] == "node_begin" and e["graph_task"] == each["graph_task"] for e in self.events)
               for each in begun]
        largest = begun[ran.index(max(ran))]["graph_task"]
        self.assertEqual(self.moment(), self.moment("--pass", largest))
        self.assertEqual(self.moment("--at", "end")[0], self.events[-1])
        first = next(e for e in self.events if e["event"] == "anomaly")
        word, other = ("nan", "inf") if first["kind"] == "nan" else ("inf", "nan")
        self.assertEqual(self.moment("--at", word)[0], first)
        self.assertIn("--anomaly", self.refused("why", self.tape, "--at", other))
        self.assertIn("has no error", self.refused("state", self.tape, "--at", "error"))
        self.assertIn("has 0 to %d" % (len(begun) - 1), self.refused("why", self.tape, "--pass", len(begun)))

    def test_window_refuses_what_is_no_moment(self):
        self.assertIn("nan, inf, error or end", self.refused("open", self.tape, "--at", "soon"))
        self.assertIn("two moments", self.refused("open", self.tape, "--at", "end", "--pass", "0"))
        self.assertIn("need a tape", self.refused("open", "--pass", "0"))

    def test_moment_of_a_picture(self):
        picture = os.path.join(self.folder.name, "moment.svg")
        seq = self.moment("--pass", "1")[0]["seq"]
        nowhere = os.path.join(self.folder.name, "absent", "picture.png")
        done = run("render", self.tape, "--view", "overview", "-o", nowhere)
        self.assertEqual((done.returncode, done.stderr), (2, f"tapedeck: {nowhere}: No such file or directory\n"))
        done = run("render", self.tape, "--view", "overview", "--pass", "1", "-o", picture)
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        self.assertEqual(done.stderr, f"tapedeck: {picture} shows the moment after event {seq}, in the middle of graph task 1\n")
        with open(picture, "rb") as file:
            chosen = file.read()
        self.assertEqual(run("render", self.tape, "--view", "overview", "--at", seq, "-o", picture).stderr, "")
        with open(picture, "rb") as file:
            self.assertEqual(file.read(), chosen)
        self.assertIn("--at", self.refused("render", self.tape, "--view", "graph", "--at", "x", "-o", picture))
        self.assertEqual(run("render", self.tape, "--view", "graph", "--overlay", "critical", "-o", picture).returncode, 0)
        self.assertIn("must be time, bytes, norm, critical or slack",
                      self.refused("render", self.tape, "--view", "graph", "--overlay", "x", "-o", picture))
        self.assertIn("--view graph alone",
                      self.refused("render", self.tape, "--view", "queues", "--overlay", "time", "-o", picture))
        self.assertIn("--stats", self.refused("render", self.tape, "--view", "graph", "--overlay", "norm", "-o", picture))

    def test_part_of_a_timeline(self):
        """A range of events changes the picture, also one of a single event. Ranges that cannot be are refused."""
        picture = os.path.join(self.folder.name, "part.svg")
        last = len(self.events) - 1

        def drawn(*arguments):
            done = run("render", self.tape, "--view", "timeline", "--at", 0, *arguments, "-o", picture)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            return pathlib.Path(picture).read_bytes()
        whole = drawn()
        self.assertNotEqual(drawn("--from", last // 2), whole)
        self.assertNotEqual(drawn("--from", last // 2, "--to", last - 100), drawn("--from", last // 2))
        self.assertEqual(drawn("--from", last // 2, "--to", last - 100), drawn("--to", last - 100, "--from", last // 2))
        drawn("--from", 5, "--to", 5)
        for arguments, word in ((["--from", 9, "--to", 8], "before --from"), (["--to", -3], "numbers of events"),
                                (["--to", last + 1], f"there is no event {last + 1}")):
            self.assertIn(word, self.refused("render", self.tape, "--view", "timeline", *arguments, "-o", picture))
        self.assertIn("--view timeline", self.refused("render", self.tape, "--view", "graph", "--from", 1, "-o", picture))

    def test_readers_are_confined(self):
        with open(TAPEDECK, "rb") as file:
            if b"libasan" in file.read():
                self.skipTest("the address sanitizer needs the rights")
        with open(os.path.join(os.environ["SOURCE_ROOT"], "app", "commands.def")) as file:
            commands = re.findall(r"^TD_COMMAND\((\w+), READING,", file.read(), re.M)
        self.assertGreater(len(commands), 5)
        for command in commands:
            self.assertTrue(self.is_confined_while_opening(command), command)

    def is_confined_while_opening(self, command):
        """The command waits for somebody to write its tape, which is a pipe."""
        pipe = os.path.join(self.folder.name, "pipe.tape")
        os.mkfifo(pipe)
        reader = subprocess.Popen([TAPEDECK, command, pipe] + [pipe] * (command == "diff"),
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            status, give_up = "", time.monotonic() + 60
            while "Seccomp:\t2" not in status and time.monotonic() < give_up:
                with open(f"/proc/{reader.pid}/status") as file:
                    status = file.read()
                time.sleep(0.005)
            return "Seccomp:\t2" in status
        finally:
            reader.kill()
            reader.wait()
            os.unlink(pipe)

    def test_names_forge_no_lines(self):
        """A text of the tape may have a newline. What people read shows it as a space, JSON as it is."""
        tapes = [os.path.join(self.folder.name, f"forged-{n}.tape") for n in (1, 2)]
        for n, tape in enumerate(tapes, 1):
            subprocess.run([MAKE_HOSTILE, "forged", str(n), tape], check=True)
        commands = [("info",), ("events",), ("check",), ("diff",), ("state",)]
        commands += [(name, "--at", str(seq)) for name in ("why", "state")
                     for seq in range(len(run("events", "--json", tapes[0]).stdout.splitlines()))]
        for command in commands:
            paths = tapes if command[0] == "diff" else tapes[:1]
            text = run(command[0], *paths, *command[1:]).stdout
            self.assertNotRegex(text, "(?m)^FORGED", command)
            self.assertTrue(text, command)
        info = self.document("info", "--json", tapes[0])
        self.assertEqual((info["source"], info["devices"]), ("x\nFORGED", ["x\nFORGED"]))

    def test_full_or_closed_output(self):
        for command in (["info"], ["events", "--json"], ["check"], ["state", "--at", "9"], ["why", "--at", "9"]):
            with open("/dev/full", "w") as full:
                done = subprocess.run([TAPEDECK, *command, self.tape], stdout=full, stderr=subprocess.PIPE)
            self.assertEqual((done.returncode, done.stderr.count(b"\n")), (2, 1), done)
            closed = subprocess.run(["sh", "-c", 'exec "$@" >&-', "sh", TAPEDECK, *command, self.tape],
                                    stderr=subprocess.PIPE)
            self.assertEqual((closed.returncode, closed.stderr.count(b"\n")), (2, 1), closed)

    def test_damage_in_the_middle(self):
        """A chunk cannot be read. All commands give what the other chunks have, and say so."""
        with tempfile.TemporaryDirectory() as folder:
            tape = f"{folder}/damaged.tape"
            data = bytearray(pathlib.Path(self.tape).read_bytes())
            chunks, kinds, at = [], set(), 56
            while data[at:at + 4] == b"CHNK":
                kind, n_events, n_stored = (struct.unpack_from("<I", data, at + field)[0] for field in (4, 12, 20))
                kinds.add(kind)
                if kind == 2:
                    chunks.append((n_events, at + 72 + n_stored // 2))
                at += 72 + n_stored
            n_lost, hit = min(chunks)
            self.assertGreater(len(chunks), 1)
            self.assertEqual(kinds, {1, 2, 3, 4, 7}, "the tape has a table of contents and a list of chunks")
            data[hit] ^= 0x55
            pathlib.Path(tape).write_bytes(data)
            told = {}
            for name in (self.tape, tape):
                events = [json.loads(line) for line in run("events", "--json", name).stdout.splitlines()]
                told[name] = {json.dumps(event | {"seq": 0}) for event in events}
            lost = told[self.tape] - told[tape]
            self.assertLessEqual(told[tape], told[self.tape])
            self.assertLessEqual(len(lost), n_lost)
            self.assertGreater(len(lost), 0)
            self.assertIn("damaged", self.document("info", "--json", tape)["damage"])
            for command in (["state", "--at", "end"], ["why", "--at", "0"], ["events"], ["diff", self.tape]):
                done = subprocess.run([TAPEDECK, *command, tape], capture_output=True, text=True)
                self.assertIn(done.returncode, (0, 1), done)
            done = subprocess.run([TAPEDECK, "check", tape], capture_output=True, text=True)
            self.assertEqual(done.returncode, 1, done)

    def test_info(self):
        info = self.document("info", self.tape, "--json")
        for key in ("version", "source", "engine", "engine_version", "probe_level", "started", "duration_ns",
                    "n_events", "n_nodes", "n_edges", "graph_tasks", "threads", "queues", "devices",
                    "events_by_kind", "dropped", "damage"):
            self.assertIn(key, info)
        self.assertEqual(info["engine"], "tape maker")
        self.assertEqual(info["n_nodes"], 80)
        self.assertEqual(info["n_events"], len(self.events))
        self.assertEqual(info["n_events"], sum(info["events_by_kind"].values()))
        self.assertEqual(info["n_edges"], info["events_by_kind"]["edge_new"])
        self.assertEqual([len(info[key]) for key in ("graph_tasks", "threads", "queues")], [2, 3, 3])
        self.assertEqual(info["devices"], ["cpu", "sim:0", "sim:1"])
        self.assertEqual((info["dropped"], info["damage"]), (0, None))
        self.assertIn("random graph", run("info", self.tape).stdout)

    def test_info_sums_up(self):
        """Times of passes and nodes are sums over the events, and anomalies point to their events."""
        info = self.document("info", self.tape, "--json")
        begun, node_ns, stacks = {}, {}, {}
        for event in self.events:
            stack = stacks.setdefault(event["thread"], [])
            if event["event"] == "graph_task_begin":
                begun[event["graph_task"]] = event["t"]
            elif event["event"] == "graph_task_end":
                took = event["t"] - begun[event["graph_task"]]
                self.assertEqual(info["graph_tasks"][event["graph_task"]]["duration_ns"], took)
            elif event["event"] == "node_begin":
                stack.append([event["t"], 0])
            elif event["event"] == "node_end":
                since, inner = stack.pop()
                took = event["t"] - since
                node_ns[event["node"]] = node_ns.get(event["node"], 0) + took - inner
                if stack:
                    stack[-1][1] += took
        slowest = info["slowest_nodes"]
        self.assertEqual([item["ns"] for item in slowest], sorted((ns for ns in node_ns.values() if ns), reverse=True)[:100])
        for item in slowest:
            self.assertEqual(item["ns"], node_ns[item["node"]])
        births = [event for event in self.events if event["event"] == "anomaly"]
        self.assertEqual([(item["seq"], item["kind"], item["node"]) for item in info["anomalies"]],
                         [(event["seq"], event["kind"], event["node"]) for event in births])
        text = run("info", self.tape).stdout
        self.assertIn(f"\nanomalies    event {births[0]['seq']}, ", text)
        for item in info["anomalies"]:
            self.assertEqual(item["step"], next((event["iteration"] for event in self.events
                                                 if event["event"] == "step" and event["seq"] > item["seq"]), None))
        self.assertEqual([(item["seq"], item["event"], item["step"], item["cause"]) for item in info["problems"]],
                         [(item["seq"], "anomaly", item["step"], item["cause"]) for item in info["anomalies"]])
        self.assertIn("\nslow nodes   ", text)

    def test_info_tells_causes(self):
        """Of a NaN, an error and a version conflict: what led to it, by the events and in words."""
        script, tape = os.path.join(self.folder.name, "causes.py"), os.path.join(self.folder.name, "causes.tape")
        with open(script, "w") as file:
            file.write(CAUSES)
        self.record(tape, "--anomaly", "nonfinite", script)
        info = self.document("info", tape, "--json")
        events = {event["seq"]: event for event in map(json.loads, run("events", tape, "--json").stdout.splitlines())}
        led = {(item["event"], events[item["cause"]]["event"]) for item in info["problems"] if item["cause"] is not None}
        self.assertEqual(led, {("anomaly", "anomaly"), ("version_conflict", "tensor_write"), ("error", "version_conflict")})
        text = run("info", tape).stdout
        for item in info["problems"]:
            if item["cause"] is None:
                self.assertIsNone(item["cause_text"])
                continue
            self.assertIn(f"Event {item['cause']} may have led to it: ", item["cause_text"])
            self.assertIn(f"event {item['seq']}, step {item['step']}, {item['text']}\n               {item['cause_text']}\n", text)

    def test_knowledge(self):
        hooked = self.tape + ".hooked.tape"
        subprocess.run([MAKE_TAPE, "40", "1", "1", "4", hooked, "hooked"], check=True)
        info = self.document("info", hooked, "--json")
        self.assertEqual((info["probe_level"], info["probe_level_name"], info["probe_reason"]),
                         (2, "node hooks", "there is no C++ compiler"))
        self.assertEqual((info["known"]["queue_pop"], info["known"]["lock_wait"], info["known"]["node_begin"]),
                         ("reconstructed", "absent", "observed"))
        self.assertEqual(info["absent"]["lock_wait"], "hooks see nodes, not the engine")
        self.assertIn("save tensors", info["absent"]["saved_tensor"])
        self.assertFalse(set(info["absent"]) & set(info["events_by_kind"]))
        text = run("info", hooked).stdout
        for words in ("2, node hooks", "there is no C++ compiler", "queue_push, queue_pop, buffer_add", "lock_wait"):
            self.assertIn(words, text)
        for line in run("events", hooked, "--json").stdout.splitlines():
            event = json.loads(line)
            rebuilt = event["event"] in ("queue_push", "queue_pop", "buffer_add")
            self.assertEqual(event.get("known"), "reconstructed" if rebuilt else None)
        checked = run("check", hooked)
        self.assertEqual(checked.returncode, 0)
        self.assertIn("not judged: pop-order: queue_push is reconstructed, queue_pop is reconstructed", checked.stdout)
        self.assertIn("every judged rule holds", checked.stdout)
        self.assertNotIn("not judged", run("check", self.tape).stdout)

    def test_events(self):
        self.assertEqual([event["seq"] for event in self.events], list(range(len(self.events))))
        times = [event["t"] for event in self.events]
        self.assertEqual(times, sorted(times))
        push = next(event for event in self.events if event["event"] == "queue_push")
        self.assertEqual(list(push), ["seq", "t", "thread", "event", "queue", "node", "graph_task", "size",
                                      "reason"])
        self.assertEqual(push["reason"], "root")
        first = next(event for event in self.events if event["event"] == "graph_task_begin")
        self.assertIs(first["keep_graph"], True)
        self.assertEqual(first["root"], 79)

    def test_filters(self):
        def wanted(predicate, *arguments):
            lines = run("events", self.tape, "--json", *arguments).stdout.splitlines()
            self.assertEqual([json.loads(line) for line in lines], list(filter(predicate, self.events)))
            self.assertEqual(len(run("events", self.tape, *arguments).stdout.splitlines()), len(lines))
            self.assertGreater(len(lines), 0)
        wanted(lambda event: 100 <= event["seq"] <= 120, "--from", 100, "--to", 120)
        wanted(lambda event: event["event"] in ("queue_pop", "step"), "--kind", "queue_pop", "--kind", "step")
        wanted(lambda event: event["thread"] == 2, "--thread", 2)
        nodes = ("node", "from", "to", "by", "root")
        wanted(lambda event: any(event.get(key) == 7 for key in nodes), "--node", 7)

    def test_state(self):
        pops = [event for event in self.events if event["event"] == "queue_pop" and event["size"] > 0]
        self.assertGreater(len(pops), 5)
        for pop in pops[::7]:
            state = self.document("state", self.tape, "--at", pop["seq"] - 1, "--json")
            self.assertEqual(list(state), ["seq", "t", "graph_tasks", "queues", "not_ready", "threads", "nodes"])
            self.assertEqual(state["seq"], pop["seq"] - 1)
            queue = state["queues"][pop["queue"]]
            self.assertEqual(list(queue), ["id", "device", "graph_task", "nodes"])
            self.assertEqual(queue["nodes"][0], pop["node"])
            self.assertEqual(len(queue["nodes"]), pop["size"] + 1)
            self.check_shape(state)

    def check_shape(self, state):
        self.assertEqual(list(state["graph_tasks"][-1]),
                         ["id", "depth", "owner", "outstanding", "keep_graph", "status"])
        self.assertEqual(len(state["nodes"]), 80)
        for node in state["nodes"]:
            named = [key for key in ("label", "module", "module_class") if key in node]
            self.assertEqual(list(node), ["id", "name", "sequence_nr", "topological_nr", "device", "state"] + named)
            self.assertTrue(all(node[key] for key in named))
            self.assertIn(node["state"], NODE_STATES)
        for thread in state["threads"]:
            self.assertEqual(list(thread), ["id", "name", "device", "state", "node"])
        for waiting in state["not_ready"]:
            self.assertEqual(list(waiting), ["node", "graph_task", "dependencies", "inputs"])
            self.assertGreater(waiting["dependencies"], 0)
            for held in waiting["inputs"]:
                self.assertEqual(list(held), ["arrived", "bytes"])
                self.assertGreater(len(held["arrived"]), 0)

    def test_outstanding_is_what_the_tape_says(self):
        for event in [event for event in self.events if event["event"] == "outstanding"][::9]:
            state = self.document("state", self.tape, "--at", event["seq"], "--json")
            self.assertEqual(state["graph_tasks"][event["graph_task"]]["outstanding"], event["value"])

    def test_why(self):
        names = {node["id"]: node["name"] for node in
                 self.document("state", self.tape, "--at", len(self.events) - 1, "--json")["nodes"]}
        said = set()
        for pop in [event for event in self.events if event["event"] == "queue_pop" and event["node"] is not None]:
            text = run("why", self.tape, "--at", pop["seq"]).stdout
            self.assertTrue(text.startswith(names[pop["node"]]), text)
            self.assertEqual(" before " in text, pop["size"] > 0, text)
            said |= {rule for rule in ("only task", "AccumulateGrad has the highest", "sequence_nr is higher",
                                       "place in the heap", "still waits for") if rule in text}
        self.assertEqual(len(said), 5, said)

    def test_why_chain(self):
        """In words and in JSON alike: the pop, back to the begin of its pass."""
        edges = {(event["from"], event["to"]) for event in self.events if event["event"] == "edge_new"}
        begins = {event["graph_task"]: event["seq"] for event in self.events if event["event"] == "graph_task_begin"}
        for pop in [event for event in self.events if event["event"] == "queue_pop" and event["node"] is not None][::7]:
            chain = self.document("why", self.tape, "--at", pop["seq"], "--chain", "--json")
            steps = chain["steps"]
            self.assertEqual((chain["end"], chain["left_out"]), ("pass", 0))
            self.assertEqual((steps[0]["seq"], steps[-1]["seq"]), (pop["seq"], begins[pop["graph_task"]]))
            for step in [step for step in steps if step["link"] == "data"]:
                self.assertIn((step["edge"]["from"], step["edge"]["to"]), edges)
            lines = run("why", self.tape, "--at", pop["seq"], "--chain").stdout.splitlines()
            told = steps if len(steps) <= 64 else steps[:63] + steps[-1:]
            self.assertEqual([line.split(None, 3)[3] for line in lines if " event " in line], [step["text"] for step in told])
        self.assertIn("--chain", self.refused("why", self.tape, "--json"))

    def test_why_chain_of_a_long_pass(self):
        tape = os.path.join(self.folder.name, "long.tape")
        subprocess.run([MAKE_TAPE, "400", "1", "1", "3", tape], check=True)
        events = [json.loads(line) for line in run("events", tape, "--json").stdout.splitlines()]
        last = [event["seq"] for event in events if event["event"] == "queue_pop"][-1]
        lines = run("why", tape, "--at", last, "--chain").stdout.splitlines()
        steps = self.document("why", tape, "--at", last, "--chain", "--json")["steps"]
        self.assertEqual(lines[63], f"      … {len(steps) - 64} more")
        self.assertEqual(len(lines), 65)
        self.assertEqual(lines[64].split(None, 1)[0], str(len(steps)))
        self.assertIn("The pass begins here", lines[64])

    def test_why_chain_of_a_nan(self):
        for name in ("nan", "segments"):
            chain = self.document("why", GOLDEN / f"{name}.tape", "--chain", "--at", "end", "--json")
            self.assertEqual(chain["end"], "unknown")
        chain = self.document("why", GOLDEN / "nan.tape", "--chain", "--at", "nan", "--json")
        self.assertEqual((chain["end"], chain["steps"][0]["link"]), ("born", "value"))
        self.assertTrue(chain["steps"][-1]["text"].startswith("This may have led to it: Inf came with the data"))

    def test_check(self):
        done = run("check", self.tape)
        self.assertEqual((done.returncode, done.stdout.count("\n")), (0, 1))
        with open(self.tape, "rb") as file:
            content = file.read()
        cut = os.path.join(self.folder.name, "cut.tape")
        with open(cut, "wb") as file:
            file.write(content[:len(content) * 2 // 3])
        done = run("check", cut)
        self.assertEqual(done.returncode, 1, done)
        self.assertRegex(done.stdout.splitlines()[-1], r"^.*cut\.tape: event \d+ .*: complete: ")

    def test_diff(self):
        other = os.path.join(self.folder.name, "other.tape")
        subprocess.run([MAKE_TAPE, "80", "3", "2", "5", other], check=True)
        same = run("diff", self.tape, self.tape)
        self.assertEqual((same.returncode, same.stderr), (0, ""))
        self.assertIn("the same, node by node", same.stdout)
        different = run("diff", self.tape, other)
        self.assertEqual((different.returncode, different.stderr), (1, ""))
        self.assertIn("\ncause ", different.stdout)
        self.assertIn("only in A", different.stdout)

    def test_diff_json(self):
        other = os.path.join(self.folder.name, "another.tape")
        subprocess.run([MAKE_TAPE, "80", "3", "2", "5", other], check=True)
        done = run("diff", self.tape, other, "--json")
        self.assertEqual((done.returncode, done.stderr), (1, ""))
        found = json.loads(done.stdout)
        self.assertEqual(list(found), ["a", "b", "equal_order", "graph_tasks", "nodes", "divergence", "names", "values",
                                       "durations"])
        self.assertIs(found["equal_order"], False)
        self.assertEqual(found["graph_tasks"]["paired"], 2)
        nodes, divergence = found["nodes"], found["divergence"]
        for side in ("a", "b"):
            pops = [event for event in self.events if event["event"] == "queue_pop" and event["node"] is not None]
            if side == "a":
                self.assertEqual(found["a"]["nodes"], len(pops))
            self.assertEqual(nodes["paired"] + len(nodes["only_" + side]), found[side]["nodes"])
            self.assertEqual(list(divergence[side]),
                             ["node", "name", "label", "graph_task", "event", "ready", "why"])
            self.assertIn(divergence[side]["node"], divergence[side]["ready"])
        popped = self.events[divergence["a"]["event"]]
        self.assertEqual((popped["event"], popped["node"]), ("queue_pop", divergence["a"]["node"]))
        self.assertIn(divergence["cause"], {"only_a", "only_b", "other_node", "device", "readiness", "sequence", "tie"})
        self.assertTrue(divergence["text"].endswith("."))
        same = json.loads(run("diff", self.tape, self.tape, "--json").stdout)
        self.assertEqual((same["equal_order"], same["divergence"], same["durations"]["ratio"]), (True, None, 1))
        self.assertEqual(same["nodes"], {"paired": same["a"]["nodes"], "only_a": [], "only_b": [], "moved": 0,
                                         "reshaped": 0})

    def record(self, tape, *words):
        done = run("run", "-o", tape, *words)
        if "ASan runtime does not come first" in done.stderr:
            self.skipTest("a Python without sanitizers cannot load a module with them")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_diff_of_values(self):
        """Values that differ are a bad answer too, like another order."""
        script = os.path.join(self.folder.name, "values.py")
        with open(script, "w") as file:
            file.write("import sys, torch\nx = torch.ones(3, requires_grad=True)\n(x * float(sys.argv[1])).sum().backward()\n")
        tapes = {value: os.path.join(self.folder.name, value + ".tape") for value in ("2", "3")}
        for value, tape in tapes.items():
            self.record(tape, "--stats", "full", script, value)
        same, different = run("diff", tapes["2"], tapes["2"]), run("diff", *tapes.values())
        self.assertEqual((same.returncode, different.returncode), (0, 1))
        self.assertIn("0 differ (tolerance", same.stdout)
        self.assertIn("the same, node by node", different.stdout)
        self.assertEqual(run("diff", *tapes.values(), "--tolerance", "1").returncode, 0)

    def test_diff_bad_usage(self):
        self.refused("diff", self.tape)
        self.refused("diff", self.tape, self.tape, self.tape)
        self.refused("diff", self.tape, self.tape, "--tolerance", "-1")
        missing = "/does/not/exist.tape"
        for tapes in ((missing, self.tape), (self.tape, missing)):
            self.assertTrue(self.refused("diff", *tapes).startswith("tapedeck: " + missing + ": "))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]])

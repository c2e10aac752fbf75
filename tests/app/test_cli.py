# What all commands share: exit statuses, messages, moments, rights, closed outputs.
import fcntl
import json
import math
import os
import pathlib
import re
import statistics
import struct
import subprocess
import sys
import tempfile
import time

import skipping
from cli_case import CliCase, MAKE_TAPE, run, TAPEDECK

MAKE_HOSTILE = os.path.join(os.environ["BUILD_ROOT"], "tests", "make_hostile")


class Cli(CliCase):
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
        for command, *more in (("state",), ("report",), ("order",), ("export", "--to", "dot")):
            for number in ("-1", "-2"):
                self.assertEqual(self.refused(command, self.tape, *more, "--pass", number),
                                 f"tapedeck {command}: --pass {number}: must be the number of a graph task\n")

    def test_what_an_option_must_be(self):
        """One form in all commands."""
        for command, option, words in (("run", "--anomaly", "off, nan or nonfinite"), ("run", "--policy", "block or drop"),
                                       ("run", "--semantics", "2.15, 2.13 or 1.11"), ("record", "--level", "1 or 2"),
                                       ("record", "--stats", "off, finite or full"),
                                       ("open", "--page", "answers, inspector, events, findings, profile, waiting, contention, critical, whatif or memory"),
                                       ("render", "--view", "graph, timeline, queues, memory or overview")):
            said = self.refused(command, option, "sideways", self.tape)
            self.assertEqual(said, f"tapedeck {command}: {option} 'sideways': must be {words}\n")
        self.assertIn("--break 'sideways': must be node:NUMBER", self.refused("run", "--break", "sideways", "mlp"))
        self.assertIn("must be graph, timeline, queues, memory or overview", self.refused("render", self.tape, "-o", "x.png"))

    def test_names_in_the_c_locale(self):
        """Names on a tape are UTF-8, and can be given in any locale."""
        for locale in ("C", "C.UTF-8", "POSIX"):
            done = run("whatif", self.tape, "--policy", "fifo", "--free", "Größe 大", env=dict(os.environ, LC_ALL=locale))
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn("no function of these passes is called 'Größe 大'", done.stderr)

    def test_a_tape_is_no_program(self):
        for command in (["run"], ["record", "--"], ["import"], []):
            self.assertIn(self.refused(*command, self.tape),
                          [f"tapedeck: {self.tape}: is a tape; see it with: tapedeck {shows} {self.tape}\n" for shows in ("open", "info")])

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

    def test_bench_of_actions(self):
        """It names the tape that it cannot go through: one without a display or in a build without a window, and one that is none."""
        bare = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY")}
        done = run("bench", "--window", self.tape, env=bare)
        reasons = [f"tapedeck: {self.tape}: {why}\n" for why in ("no display", "no window: it is not installed: it needs GTK 4, and Debian's package is tapedeck-window")]
        self.assertEqual(done.returncode, 2)
        self.assertIn(done.stderr, reasons)
        self.refused("bench", "--window", "/does/not/exist.tape")

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
        largest = [each["graph_task"] for n, each in zip(ran, begun) if n == max(ran)]
        if len(largest) > 1 and largest[0] == begun[0]["graph_task"]:
            del largest[0]
        self.assertEqual(self.moment(), self.moment("--pass", largest[0]))
        if "ASAN_OPTIONS" not in os.environ:  # a sanitized engine wants its runtime preloaded
            equal = os.path.join(self.folder.name, "equal.tape")  # the first pass of two that are as large warms up
            with open(os.path.join(self.folder.name, "equal.py"), "w") as file:
                file.write("import torch\nx = torch.ones(2, requires_grad=True)\nfor _ in range(3): (x * 2).sum().backward()\n")
            self.assertEqual(run("run", "-o", equal, file.name).returncode, 0)
            self.assertIn("in the middle of graph task 1", run("state", equal).stdout)
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

    def test_timeline_of_a_pass(self):
        """--pass draws that pass alone, unless a range is given; the same moment without it draws the whole tape."""
        picture = os.path.join(self.folder.name, "pass.svg")
        seq = self.moment("--pass", "1")[0]["seq"]

        def drawn(*arguments):
            self.assertEqual(run("render", self.tape, "--view", "timeline", *arguments, "-o", picture).returncode, 0)
            return pathlib.Path(picture).read_bytes()
        self.assertNotEqual(drawn("--pass", 1), drawn("--at", seq))
        self.assertNotEqual(drawn("--pass", 1), drawn("--pass", 0))
        self.assertEqual(drawn("--pass", 1, "--from", 0), drawn("--at", seq, "--from", 0))

    def need_rights_taken(self):
        with open(TAPEDECK, "rb") as file:
            if b"libasan" in file.read():
                self.skipTest("the address sanitizer needs the rights")

    def test_writers_are_confined(self):
        """The process that reads a stranger's file can only fill the output. Here it waits for somebody to read a pipe."""
        self.need_rights_taken()
        tape, trace = (os.path.join(self.folder.name, name) for name in ("large.tape", "trace.json"))
        subprocess.run([MAKE_TAPE, "3000", "1", "1", "4", tape], check=True)
        evaluate = "autograd::engine::evaluate_function: "
        events = [{"ph": "X", "cat": "cpu_op", "name": evaluate + f"Node{i}Backward0", "pid": 7, "tid": 7, "ts": 10 * i, "dur": 5,
                   "args": {"Sequence number": i, "Fwd thread id": 1}} for i in range(3000)]
        with open(trace, "w") as file:
            json.dump({"traceEvents": events}, file)
        for command in (["export", tape, "--to", "dot", "--force"], ["render", tape, "--view", "graph"],
                        ["whatif", tape, "--policy", "fifo", "--force"], ["import", trace, "--force"]):
            self.assertGreater(self.written_while_confined(command), 4096, command)  # more than the pipe holds

    def written_while_confined(self, command):
        pipe = os.path.join(self.folder.name, "pipe.png")
        os.mkfifo(pipe)
        writer = subprocess.Popen([TAPEDECK, *command, "-o", pipe], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        with open(pipe, "rb") as reader:
            fcntl.fcntl(reader, fcntl.F_SETPIPE_SZ, 4096)
            self.assertTrue(self.has_confined_child(writer.pid), command)
            n_bytes = len(reader.read())
        self.assertEqual(writer.wait(), 0, command)
        os.unlink(pipe)
        return n_bytes

    def has_confined_child(self, pid):
        give_up = time.monotonic() + 60
        while time.monotonic() < give_up:
            with open(f"/proc/{pid}/task/{pid}/children") as file:
                for child in file.read().split():
                    with open(f"/proc/{child}/status") as status:
                        if "Seccomp:\t2" in status.read():
                            return True
            time.sleep(0.005)
        return False

    def test_readers_are_confined(self):
        self.need_rights_taken()
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


if __name__ == "__main__":
    skipping.main(argv=[sys.argv[0]])

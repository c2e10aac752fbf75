# Traces written by hand as tapes: what bites in the wild, and what is no trace at all.
import json
import os
import pathlib
import random
import re
import resource
import signal
import subprocess
import tempfile
import time
import unittest

from import_case import EVALUATE, MEGABYTE, SANITIZED, TAPEDECK, ImportCase, run


def limit_processor_time():
    seconds = 300 if SANITIZED else 30
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))


class ImportHandmadeTraces(ImportCase):
    def write(self, document, name="hand.json"):
        path = self.path(name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(document if isinstance(document, str) else json.dumps(document))
        return path

    def refused(self, trace, *words):
        """One clear line, exit status 2, and no tape."""
        tape = self.path("refused.tape")
        done = run("import", trace, "-o", tape)
        self.assertEqual((done.returncode, done.stdout), (2, ""), done)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertTrue(done.stderr.startswith(f"tapedeck: {trace}: "), done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)
        self.assertFalse(os.path.exists(tape))
        self.assertEqual([n for n in os.listdir(self.home.name) if "part" in n], [])

    def hand(self, *events, **document):
        """A document of X events (name, ts, dur, sequence number or None, changes)."""
        made = []
        for name, ts, dur, number, *changes in events:
            event = {"ph": "X", "cat": "cpu_op", "name": name, "pid": 7, "tid": 7, "ts": ts, "dur": dur, "args": {}}
            if number is not None:
                event["args"] = {"Sequence number": number, "Fwd thread id": 1 if "Backward" in name else 0}
            for change in changes:
                event.update(change)
            made.append(event)
        return document | {"traceEvents": made}

    def backward(self, name, ts, dur, number, *changes):
        return [(EVALUATE + name, ts, dur, number, *changes), (name, ts + 1, dur - 2, number, *changes)]

    def test_engine_thread_beside_the_caller(self):
        """A thread that only evaluates works for the one thread that does anything else: two passes are no four. Leaves are
        evaluated on both, and stand last on either."""
        of_device, accumulate = {"tid": 8}, "torch::autograd::AccumulateGrad"
        for last in (of_device, {}):
            events = []
            for t in (1000, 2000):
                events += [("## backward ##", t, 200, None, {"cat": "user_annotation"}),
                           *self.backward("SumBackward0", t + 10, 10, t, of_device), *self.backward(accumulate, t + 30, 30, None, of_device),
                           *self.backward(accumulate, t + 35, 10, None), *self.backward(accumulate, t + 70, 10, None, last)]
            passes = self.info(self.imported(self.write(self.hand(*events))))["graph_tasks"]
            self.assertEqual([one["status"] for one in passes], ["ok", "ok"])

    def test_findings(self):
        """A trace tells of no node when it is freed. So nobody can say that graphs stay in memory."""
        events = [one for step in range(8) for k, name in enumerate(("MeanBackward0", "MulBackward0"))
                  for one in self.backward(name, 1000 * step + 100 * k, 50, 10 * step + 5 - k)]
        steps = [("aten::mean", 1000 * step - 200, 9, 10 * step + 5) for step in range(1, 8)]
        told = run("findings", self.imported(self.write(self.hand(*events, *steps))), "--json")
        self.assertEqual((told.returncode, json.loads(told.stdout)["findings"]), (0, []), told.stderr)

    def test_absolute_and_relative_times(self):
        node = self.backward("SinBackward0", 10.125, 5.5, 3)
        started = {}
        for base in (0, 1790857026000000000):
            absolute = [(n, ts + 1.79e15 * (base == 0), *rest) for n, ts, *rest in node]
            tape = self.imported(self.write(self.hand(*absolute, baseTimeNanoseconds=base) | {"schemaVersion": 1}))
            started[base] = self.info(tape)["started"]
            took = self.events(tape, "node_end")[0]["t"] - self.events(tape, "node_begin")[0]["t"]
            self.assertEqual(took, 3500)
        self.assertTrue(started[0].startswith("2026-09-21T"), started)
        self.assertTrue(started[1790857026000000000].startswith("2026-10-01T"), started)

    def test_deep_and_equal_spans(self):
        """The time grows with the number of spans, whatever their times are. Squares would take minutes here."""
        n = 150000
        call = "<built-in method run_backward of torch._C._EngineBase object>"
        frame = {"cat": "python_function"}
        for spans in (
                ((EVALUATE + "A", 10, 5, i) for i in range(n)),
                ((EVALUATE + "A", i, 2 * (n - i), i) for i in range(n)),
                (*((call, i + 1, n - i, None, frame) for i in range(n)), ("f", n, 10**7, None, frame),
                 *((EVALUATE + "A", 2 * n + 10 * i, 4, 1) for i in range(n))),
                (*(("x", 5, 9, None) for _ in range(n)),
                 *(("fwdbwd", 5, 0, None, {"ph": "f", "id": i}) for i in range(n)), (EVALUATE + "A", 50, 5, 1)),
                (*(("x", i / 1000, 10**9, None) for i in range(n)), *(("x", 1000 + i, 1, i) for i in range(n)),
                 *((EVALUATE + "ABackward0", 10**6 + i, 0.5, i) for i in range(n)))):
            done = subprocess.run([TAPEDECK, "import", self.write(self.hand(*spans)), "-o", self.path("out.tape"), "--force"],
                                  capture_output=True, text=True, preexec_fn=limit_processor_time)
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_long_stacks(self):
        """Many stacks of long names make no endless tape: outer frames are left out."""
        n = 500
        frame = {"cat": "python_function"}
        spans = [*((f"{i:02}" * 500, i / 100, 10**6, None, frame) for i in range(60)),
                 *((f"leaf {i}", 10 + 10 * i, 9, None, frame) for i in range(n)),
                 *(("aten::sin", 11 + 10 * i, 1, i) for i in range(n)),
                 *((EVALUATE + "SinBackward0", 10**6 + 10 * i, 5, n - 1 - i) for i in range(n))]
        tape = self.imported(self.write(self.hand(*spans)))
        stacks = [event["stack"] for event in self.events(tape, "node_new")]
        self.assertEqual([stack.rpartition("\n")[2] for stack in stacks], [f"leaf {i}" for i in range(n)])
        self.assertTrue(all("59" * 500 in stack and len(stack) < 9000 for stack in stacks), len(stacks[0]))

    def test_exact_times(self):
        text = json.dumps(self.hand(*self.backward("SinBackward0", 111, 222, 3)))
        text = text.replace("111,", "1790857026123456.789,").replace("222,", "0.001,").replace("112,", "1.790857026123456789e15,")
        tape = self.imported(self.write(text.replace("220,", "\"0.001\",")))
        begin, end = self.events(tape, "node_begin", "node_end")
        self.assertEqual((begin["t"], end["t"]), (0, 1))

    def test_texts_for_numbers_and_control_characters(self):
        events = self.backward("Sin\tBackward0", 10, 5, "3", {"pid": "7", "tid": "stream 9", "ts": "10", "dur": "5"})
        text = json.dumps(self.hand(*events)).replace("\\t", "\t\x01")
        info = self.info(self.imported(self.write(text)))
        self.assertEqual((info["n_nodes"], info["threads"][0]["name"]), (1, "tid stream 9"))
        self.assertEqual(info["processes"][0]["pid"], 7)

    def test_keys_with_nul(self):
        """A key goes on after an escaped NUL. It is not the key that it begins with, however long it is."""
        events = self.hand(*self.backward("ABackward0", 10, 5, 2))
        for length in (0, 1, 1000, MEGABYTE, 4 * MEGABYTE, 15 * MEGABYTE):
            strange = {"ph\0" + "A" * length: "?", "ts\0" + "A" * length: "no time"}
            document = {"traceEvents\0" + "A" * length: 3} | events
            document["traceEvents"] = [strange | event | strange for event in events["traceEvents"]]
            self.assertEqual(self.info(self.imported(self.write(document)))["n_nodes"], 1)

    def test_terminal(self):
        """No name moves a terminal's cursor, whatever command prints it. JSON has the name as it is."""
        evil = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202eabc\u2066\x7f\r\u2028·é😀"
        seen = r"\u001b]0;owned\u0007\u001b[2J\u009b31m\u202eabc\u2066\u007f\u000d\u2028·é😀"
        document = self.hand(*self.backward(evil, 10, 5, 2), *self.backward("B" + evil, 30, 5, 3),
                             ("mark" + evil, 50, 1, None, {"cat": "user_annotation"}))
        document["traceEvents"].append({"ph": "M", "name": "thread_name", "pid": 7, "tid": 7,
                                        "args": {"name": evil + "\nforged line"}})
        trace, tape = self.write(document, f"x{evil}.json"), self.path(f"x{evil}.tape")
        harmless = re.compile(r"[^\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]*")
        for arguments in (("import", trace, "-o", tape, "--force"), ("info", tape), ("events", tape), ("state", tape),
                          ("why", tape), ("check", tape), ("diff", tape, tape), ("import", trace, "-o", tape),
                          ("render", tape, "--view", "queues", "-o", tape + ".png"), ("render", tape, "--view", evil),
                          ("info", trace), ("open", trace + "none", tape), (evil,), ("info", "--" + evil),
                          ("run", "--devices", evil, trace), ("record", "--", trace), ("fit", trace)):
            if arguments[0] == "run" and b"libasan" in pathlib.Path(TAPEDECK).read_bytes():
                continue  # the module does not load into a Python without the sanitizer
            done = subprocess.run([TAPEDECK, *arguments], capture_output=True, timeout=300)
            for text in (done.stdout.decode(), done.stderr.decode()):
                self.assertTrue(harmless.fullmatch(text), (arguments[0], text))
                self.assertFalse([line for line in text.splitlines() if line.strip().startswith("forged")], text)
            self.assertIn(seen if arguments != ("check", tape) else "x", (done.stdout + done.stderr).decode(), arguments)
        raw = subprocess.run([TAPEDECK, "events", tape, "--json"], capture_output=True, timeout=300).stdout.decode()
        self.assertTrue(harmless.fullmatch(raw))
        names = [event["text"] for event in map(json.loads, raw.splitlines()) if event["event"] == "string"]
        self.assertIn(evil, names)
        self.assertIn("mark" + evil, names)
        broken = os.fsencode(self.path("")) + b"\x9b31m\xe9.tape"
        self.assertIn(rb"\x9b31m\xe9.tape: No such file", subprocess.run([TAPEDECK, "info", broken], capture_output=True).stderr)

    def test_events_not_last_and_strange_neighbours(self):
        document = {"deviceProperties": [{"id": 0, "traceEvents": [1, 2]}], "distributedInfo": {"rank": 3},
                    **self.hand(*self.backward("SinBackward0", 10, 5, 3)), "more": {"deep": [[[{}]]]}}
        document["traceEvents"] += [None, 1, "x", [], {}, {"ph": "X"}, {"ph": ["X"], "name": {"a": 1}, "args": 5}]
        info = self.info(self.imported(self.write(document)))
        self.assertEqual((info["n_nodes"], info["processes"][0]["rank"]), (1, 3))

    def test_events_in_any_order(self):
        events = [e for i in range(40) for e in self.backward(f"N{i}Backward0", 10 * i, 8, i)]
        straight = self.events(self.imported(self.write(self.hand(*events))), "node_begin")
        random.Random(1).shuffle(events)
        self.assertEqual(self.events(self.imported(self.write(self.hand(*events))), "node_begin"), straight)

    def test_misnested(self):
        """The node outlasts its evaluation, and the evaluation reaches into the next one."""
        events = [(EVALUATE + "ABackward0", 10, 10, 2), ("ABackward0", 11, 12, 2),
                  (EVALUATE + "BBackward0", 18, 10, 1), ("BBackward0", 19, 5, 1)]
        tape = self.imported(self.write(self.hand(*events)))
        info = self.info(tape)
        self.assertEqual((info["n_nodes"], len(info["graph_tasks"])), (2, 1))
        self.assertEqual([e["t"] for e in self.events(tape, "node_begin", "node_end")], [1000, 8000, 9000, 14000])

    def test_passes(self):
        """A forward operator ends a pass, and so does a node that runs again; without a node's own event it was not
        needed; an operator before the node is a hook's."""
        one = self.backward("ABackward0", 10, 5, 2)
        two = self.backward("ABackward0", 20, 5, 2)
        three = [(EVALUATE + "BBackward0", 40, 5, 1), ("aten::mul", 40.5, 0.25, None), ("BBackward0", 42, 2, 1)]
        not_needed = [(EVALUATE + "CBackward0", 50, 5, 0)]
        tape = self.imported(self.write(self.hand(*one, *two, ("aten::sin", 30, 5, 9), *three, *not_needed)))
        info = self.info(tape)
        self.assertEqual((info["n_nodes"], len(info["graph_tasks"])), (3, 3))
        self.assertEqual([e["reason"] for e in self.events(tape, "node_skip")], ["not_needed"])
        begin, end = self.events(tape, "hook_begin", "hook_end")
        self.assertEqual((begin["t"], end["t"], begin["kind"]), (30500, 30750, "tensor_pre"))

    def test_reports(self):
        """A trace tells nothing of queues, locks and memory. Reports say that they were not observed, not that there were none."""
        trace = self.write(self.hand(*(one for i in range(4) for one in self.backward("SinBackward0", 10 + 20 * i, 5, i))))
        tape = self.path("reports.tape")
        self.assertEqual(run("import", trace, "-o", tape).returncode, 0)
        contention, memory, profile = (run("report", *words, tape).stdout for words in (["--contention"], ["--memory"], []))
        self.assertEqual(contention.count("they were not observed"), 2, contention)
        self.assertNotIn("From step to step", memory)
        self.assertNotIn("probe", profile)

    def test_forward_threads(self):
        """Two threads count sequence numbers from 0: arrows tell whose node it is, and a device's thread works
        for the thread that made its nodes."""
        arrow = lambda phase, ts, tid, number: ("fwdbwd", ts, 0, None, {"ph": phase, "cat": "fwdbwd", "id": number, "tid": tid})
        on = lambda tid, forward, *rest: (*rest, {"tid": tid}, {"args": {"Sequence number": 0, "Fwd thread id": forward}})
        events = [on(1, 0, "aten::sin", 1, 2, 0), arrow("s", 1, 1, 11), on(2, 0, "aten::cos", 1, 2, 0), arrow("s", 1, 2, 12)]
        for ts, forward, name in ((10, 2, "CosBackward0"), (20, 1, "SinBackward0")):
            events += [on(9, forward, EVALUATE + name, ts, 5, 0), on(9, forward, name, ts + 1, 3, 0),
                       arrow("f", ts + 1, 9, 10 + forward)]
        tape = self.imported(self.write(self.hand(*events)))
        info = self.info(tape)
        thread = {t["name"]: t["id"] for t in info["threads"]}
        made = {e["name"]: e["thread"] for e in self.events(tape, "node_new")}
        self.assertEqual(made, {"SinBackward0": thread["tid 1"], "CosBackward0": thread["tid 2"]})
        self.assertEqual([t["owner"] for t in info["graph_tasks"]], [thread["tid 2"], thread["tid 1"]])

    def test_forward_thread_without_arrows(self):
        """Then numbers tell, where one thread has more of them."""
        forward = [("aten::sin", i, 0.5, i, {"tid": 1}) for i in range(5)]
        other = [("aten::sin", 0, 0.5, 0, {"tid": 2})]
        back = [e for i in range(5) for e in self.backward("SinBackward0", 100 - 10 * i, 5, i, {"tid": 1})]
        tape = self.imported(self.write(self.hand(*forward, *other, *back)))
        self.assertEqual([e["t"] for e in self.events(tape, "node_new")], [0, 1000, 2000, 3000, 4000])

    # What is refused, and what is left out

    def test_refused(self):
        deep = "[" * 100000
        for text, *words in (
                ("", "byte 0", "empty"), ("hello", "not a trace: byte 1"), ("{}", "no traceEvents"), ("[]", "no backward pass"),
                ("3", "no traceEvents"), ("\x00\xff\xfe" * 50, "byte"), ('{"traceEvents": 3}', "not a list"),
                ('{"traceEvents": {"a": 1}}', "not a list"), ('{"traceEvents": "x"}', "not a list"),
                ('{"traceEvents": [{"ph"', "ends here"), (deep, "deep"), ('{"traceEvents": [' + deep, "deep"),
                (self.hand(("aten::sin", 1, 1, 0)), "no backward pass"),
                (self.hand((EVALUATE + "A", 1e300, 1, 0)), "no backward pass", "number"),
                (self.hand((EVALUATE + "A", None, 1, 0)), "no backward pass"),
                ('[{"name": "' + "x" * (20 * MEGABYTE), "byte", "longer"),
                (self.hand(*((EVALUATE + "A", i, 1, 0, {"tid": i}) for i in range(5000))), "threads")):
            self.refused(self.write(text, "refused.json"), *words)
        self.refused(self.path("does not exist"), "No such file")
        self.refused(self.home.name, "is a directory")
        self.refused("/dev/zero", "not a regular file")
        trace = self.write(self.hand(*self.backward("ABackward0", 10, 5, 2)))
        self.assertIn("No such file", run("import", trace, "-o", self.path("none/x.tape")).stderr)
        self.imported(trace)
        again = run("import", trace, "-o", self.path("out.tape"))
        self.assertEqual(again.returncode, 2)
        self.assertIn("--force", again.stderr)

    def test_repetitive(self):
        """The tape is so small beside its contents that readers take it for hostile. `import` says how to open it."""
        trace = self.write(self.hand(*((EVALUATE + "A", 10, 5, 3) for _ in range(1000000))))
        tape = self.imported(trace, stderr_has=" --trust ")
        self.assertEqual((run("info", tape).returncode, run("info", "--trust", tape).returncode), (2, 0))

    def test_trace_is_kept(self):
        trace = self.write(self.hand(*self.backward("ABackward0", 10, 5, 2)))
        before = self.read(trace)
        link = self.path("link.json")
        os.symlink(trace, link)
        for out in (trace, link):
            done = run("import", trace, "-o", out, "--force")
            self.assertEqual(done.returncode, 2, done)
            self.assertIn("is the input itself", done.stderr)
            self.assertEqual(self.read(trace), before)

    def test_link_to_nothing(self):
        """Such a link is taken. With --force the tape takes its place."""
        trace = self.write(self.hand(*self.backward("ABackward0", 10, 5, 2)))
        link = self.path("nothing.tape")
        os.symlink(self.path("nowhere"), link)
        done = run("import", trace, "-o", link)
        self.assertEqual(done.returncode, 2, done)
        self.assertIn("exists already; --force", done.stderr)
        self.assertEqual(run("import", trace, "-o", link, "--force").returncode, 0)
        self.assertFalse(os.path.islink(link) or os.path.exists(self.path("nowhere")))
        self.assertEqual(self.info(link)["n_nodes"], 1)

    def test_left_out(self):
        good = self.backward("ABackward0", 10, 5, 2)
        bad = [("aten::sin", "soon", 1, 0), ("aten::sin", 1, -3, 0), ("aten::sin", 1e200, 1, 0)]
        self.imported(self.write(self.hand(*good, *bad)), "3 events left out for this reason")

    def test_killed(self):
        """A signal leaves neither a tape nor a part of one, and still ends the command."""
        trace = self.write(self.hand(*((EVALUATE + "A", 10 * i, 5, i) for i in range(300000))))
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            with tempfile.TemporaryDirectory(dir=self.home.name) as folder:
                command = subprocess.Popen([TAPEDECK, "import", trace, "-o", os.path.join(folder, "out.tape")],
                                           stderr=subprocess.PIPE,
                                           preexec_fn=lambda number=number: signal.signal(number, signal.SIG_DFL))
                while command.poll() is None and not os.listdir(folder):
                    time.sleep(0.001)
                self.assertIsNone(command.poll(), "it was over before it could be killed")
                command.send_signal(number)
                command.communicate()
                self.assertEqual((command.returncode, os.listdir(folder)), (-number, []))


if __name__ == "__main__":
    unittest.main(verbosity=2)

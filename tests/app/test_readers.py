# What the commands that read a tape say of it, and the shapes of their JSON.
import json
import os
import pathlib
import subprocess
import sys

import skipping
from cli_case import CliCase, MAKE_TAPE, run, TAPEDECK

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


class Readers(CliCase):
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
            self.assertEqual(list(state), ["seq", "t", "graph_tasks", "queues", "not_ready", "threads", "nodes",
                                           "contradictions"])
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

    def test_why_chain_of_a_node_made_inside(self):
        """A checkpoint makes nodes while a pass runs: its forward pass is not that of the program."""
        tape = os.path.join(self.folder.name, "inside.tape")
        self.record(tape, "deep_reentry")
        events = [json.loads(line) for line in run("events", tape, "--json").stdout.splitlines()]
        first = next(event["seq"] for event in events if event["event"] == "graph_task_begin")
        made = [event["seq"] for event in events if event["event"] == "node_new"]
        before, inside = [seq for seq in made if seq < first][-1], next(seq for seq in made if seq > first)
        self.assertIn("The forward pass made it", run("why", tape, "--at", before, "--chain").stdout)
        self.assertIn("It was made while graph task 0 ran", run("why", tape, "--at", inside, "--chain").stdout)

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

    def test_diff_of_births(self):
        """The first value that is not finite, also of the forward pass, where one side alone has such values."""
        script = os.path.join(self.folder.name, "births.py")
        with open(script, "w") as file:
            file.write("import sys, torch\nx = torch.ones(3, requires_grad=True)\n(x * float(sys.argv[1])).log().sum().backward()\n")
        tapes = {value: os.path.join(self.folder.name, value + ".tape") for value in ("1", "-1")}
        for value, tape in tapes.items():
            self.record(tape, "--anomaly", "nonfinite", script, value)
        told = run("diff", *tapes.values()).stdout
        self.assertRegex(told, "\nnot finite   only in B, first at event \\d+: NaN was born in the forward pass: result 0 of .*LogBackward0")
        self.assertIn("not finite   only in A, ", run("diff", tapes["-1"], tapes["1"]).stdout)
        self.assertNotIn("not finite", run("diff", tapes["-1"], tapes["-1"]).stdout)
        self.assertNotIn("not finite", run("diff", tapes["1"], tapes["1"]).stdout)

    def test_diff_bad_usage(self):
        self.refused("diff", self.tape)
        self.refused("diff", self.tape, self.tape, self.tape)
        self.refused("diff", self.tape, self.tape, "--tolerance", "-1")
        missing = "/does/not/exist.tape"
        for tapes in ((missing, self.tape), (self.tape, missing)):
            self.assertTrue(self.refused("diff", *tapes).startswith("tapedeck: " + missing + ": "))


if __name__ == "__main__":
    skipping.main(argv=[sys.argv[0]])

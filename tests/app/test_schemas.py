# SPDX-License-Identifier: LGPL-2.1-or-later
"""`tapedeck schema`: what commands print with --json is what their schemas say, no less and no more. The judge is the
package jsonschema, of the Python of build/readers."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import skipping

ROOT = pathlib.Path(os.environ["SOURCE_ROOT"])
READERS = ROOT / "build" / "readers" / "bin" / "python"
TOOLS = pathlib.Path(os.environ["BUILD_ROOT"]) / "tests"
GOLDEN = ROOT / "tests" / "trace" / "golden"

try:
    import jsonschema
except ImportError:
    if sys.executable == str(READERS) or not READERS.exists():
        raise skipping.Missing(f"{READERS} has no package jsonschema") from None
    os.execv(READERS, [str(READERS), *sys.argv])

# Three steps on two threads with a hook and modules; a pass that a hook ends, and one within a node.
PROGRAM = """
import tapedeck, threading, torch
class Inner(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2
    @staticmethod
    def backward(ctx, g):
        with torch.enable_grad():
            y = ctx.saved_tensors[0].detach().requires_grad_()
            (y * y).sum().backward()
        return g * 2
net = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU(), torch.nn.Linear(8, 4))
def work():
    for _ in range(3):
        h = net(torch.ones(3, 8))
        h.register_hook(lambda g: g * 1)
        Inner.apply(h).sum().backward()
        tapedeck.step()
threads = [threading.Thread(target=work) for _ in range(2)]
for thread in threads: thread.start()
for thread in threads: thread.join()
def fail(g):
    raise ValueError("on purpose")
x = torch.ones(2, requires_grad=True)
y = x * 2
y.register_hook(fail)
loss = (y * 3).sum()
loss.backward(retain_graph=True)
"""

# The schema of what a command prints about one tape.
OF_TAPES = [["info"], ["info", "--slowest"], ["state"], ["report"], ["report", "--by", "hook"], ["report", "--by", "lock"],
            ["report", "--contention"], ["report", "--idle"], ["report", "--critical"], ["report", "--memory"],
            ["whatif"], ["order"], ["answers"], ["findings"], ["quiz"], ["why", "--chain"]]

# Members that a schema names and that need not be there.
OPTIONAL = {"state": {"label", "module", "module_class", "passes", "first", "text"}, "events": {"known"},
            "bench": {"skipped", "value", "floor", "floor_value", "ratio", "judged", "rounds", "ratio_quartiles", "holds", "small"},
            "bench-scale": {"skipped", "sizes", "values", "exponent", "memory_mb", "memory_exponent", "small"}}


def run(*arguments):
    return subprocess.run([os.environ["TAPEDECK"], *map(str, arguments)], capture_output=True, text=True, timeout=120)


def schema_of(command):
    options = [word[2:] for word in command if word in ("--contention", "--idle", "--critical", "--memory", "--scale", "--chain")]
    return "-".join([command[0], *options])


def strict(schema):
    """The same schema, which allows no member that it does not name."""
    if isinstance(schema, list):
        return [strict(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    made = {key: value if key in ("if", "then", "allOf") else strict(value) for key, value in schema.items()}
    if made.get("additionalProperties") is True:
        del made["additionalProperties"]
        made["unevaluatedProperties"] = False
    return made


def objects(schema, value, root):
    """The objects of a document with their schemas; the first of each array stands for all."""
    while "$ref" in schema:
        schema = root["$defs"][schema["$ref"].rsplit("/", 1)[1]]
    if isinstance(value, list) and value and "items" in schema:
        yield from objects(schema["items"], value[0], root)
    elif isinstance(value, dict):
        yield schema, value
        for key, member in value.items():
            inner = schema.get("properties", {}).get(key, schema.get("additionalProperties"))
            if isinstance(inner, dict):
                yield from objects(inner, member, root)


class Schemas(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.folder = pathlib.Path(scratch.name)
        cls.names = [line.split()[0] for line in run("schema").stdout.splitlines()]
        cls.schemas = {name: json.loads(run("schema", name).stdout) for name in cls.names}
        cls.judges = {name: jsonschema.Draft202012Validator(schema) for name, schema in cls.schemas.items()}
        cls.strict = {name: jsonschema.Draft202012Validator(strict(schema)) for name, schema in cls.schemas.items()}
        cls.agreed = set()
        program = cls.folder / "program.py"
        program.write_text(PROGRAM)
        cls.own = [cls.recorded("two_devices"), cls.recorded("--anomaly", "nonfinite", "nan_from_sum"),
                   cls.recorded("--stats", "full", program), cls.recorded("--scheduler", "2017", "aliasing_2017"),
                   cls.recorded("aliasing_2017")]

    @classmethod
    def recorded(cls, *arguments):
        tape = cls.folder / f"{len(list(cls.folder.iterdir()))}.tape"
        run("run", "-o", tape, *arguments)
        assert tape.exists(), arguments
        return tape

    def foreign(self):
        """Tapes of older programs, one that is cut, made ones with segments, hostile ones, and an imported one."""
        yield from sorted(GOLDEN.glob("*.tape"))
        for how in ("train", "hooked", "overlap", "contend", "streams"):
            tape = self.folder / f"made_{how}.tape"
            subprocess.run([TOOLS / "make_tape", "30", "3", "3", "4", tape, how], check=True)
            yield tape
        for shape in ("unended", "broken", "locks", "anomalies", "streams", "processes", "long-name", "great-ids"):
            tape = self.folder / f"{shape}.tape"
            subprocess.run([TOOLS / "make_hostile", shape, "40", tape], check=True)
            yield tape
        event = {"ph": "X", "cat": "cpu_op", "pid": 1, "tid": 1}
        name = "autograd::engine::evaluate_function: MulBackward0"
        trace = self.folder / "trace.json"
        trace.write_text(json.dumps({"traceEvents": [
            event | {"name": name, "ts": 10.0, "dur": 20.0, "args": {"Sequence number": 1, "Fwd thread id": 1}},
            event | {"name": "MulBackward0", "ts": 11.0, "dur": 10.0, "args": {"Sequence number": 1, "Fwd thread id": 1}}]}))
        done = run("import", trace, "-o", self.folder / "imported.tape")
        self.assertEqual(done.returncode, 0, done.stderr)
        yield self.folder / "imported.tape"

    def agree(self, name, document, where):
        for error in self.strict[name].iter_errors(document):
            self.fail(f"{where}: {error.json_path}: {error.message}")

    def check(self, name, *arguments, may_fail=False):
        done = run(*arguments, "--json")
        if may_fail and done.returncode == 2:
            self.assertEqual(done.stdout, "")
            return None
        self.assertIn(done.returncode, (0, 1), (arguments, done.stderr))  # 1: two tapes differ
        document = json.loads(done.stdout)
        self.agree(name, document, arguments)
        return document

    def check_events(self, tape):
        """One event of each kind, and of each choice of members that are null; those that agreed once are left out."""
        lines = map(json.loads, run("events", tape, "--json").stdout.splitlines())
        events = {(event["event"], *(type(value) for value in event.values())): event for event in lines}
        for shape in events.keys() - self.agreed:
            self.agree("events", events[shape], (tape, events[shape]))
        self.agreed |= events.keys()
        return {event["event"]: event for event in events.values()}

    def test_they_are_schemas(self):
        self.assertEqual(self.schemas.keys(), set(self.names))
        for name, schema in self.schemas.items():
            jsonschema.Draft202012Validator.check_schema(schema)
            self.assertEqual(schema["$id"], f"tapedeck-{name}-1")
            self.assertNotIn('"@', json.dumps(schema))
        self.assertEqual(run("schema", "no-such").returncode, 2)

    def test_each_command_has_one(self):
        """Each command whose help has --json, and each kind of event."""
        commands = [line.split()[0] for line in run("--help").stdout.split("Commands:\n")[1].split("\n\n")[0].splitlines()]
        printing = {name for name in commands if "\n  --json " in run(name, "--help").stdout}
        self.assertEqual({name.split("-")[0] for name in self.names}, printing)
        kinds = {rule["if"]["properties"]["event"]["const"] for rule in self.schemas["events"]["allOf"]}
        seen = {kind for tape in [*self.own, *GOLDEN.glob("*.tape")] for kind in self.check_events(tape)}
        self.assertLessEqual(seen, kinds)
        self.assertGreater(len(seen), 50)

    def test_tapes_of_the_own_engine(self):
        for tape in self.own:
            for command in OF_TAPES:
                self.check(schema_of(command), command[0], tape, *command[1:], may_fail=command == ["whatif"])

    def test_foreign_tapes(self):
        """What is not known is null; a command may refuse such a tape."""
        seen = set()
        for tape in self.foreign():
            self.check_events(tape)
            for command in OF_TAPES:
                if self.check(schema_of(command), command[0], tape, *command[1:], may_fail=True) is not None:
                    seen.add(schema_of(command))
        self.assertEqual(seen, {schema_of(command) for command in OF_TAPES})

    def test_two_tapes(self):
        devices, nan, program, old, new = self.own
        divergences = [self.check("diff", "diff", *pair)["divergence"]
                       for pair in ((devices, devices), (devices, nan), (old, new), (nan, GOLDEN / "nan.tape"))]
        self.assertIn(None, divergences)
        self.assertGreater(len([found for found in divergences if found]), 0)
        for by in ("op", "module", "line"):
            self.check("diff-by", "diff", program, program, "--by", by)

    def test_running_program(self):
        """`attach` asks a program that runs; the document of one that gdb looks into has the same members."""
        script = self.folder / "waits.py"
        script.write_text("import sys, torch\ntorch.ones(3, requires_grad=True).sum().backward()\nsys.stdin.read()\n")
        plain = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY")}
        with subprocess.Popen([os.environ["TAPEDECK"], "run", "--live", "-o", self.folder / "waits.tape", script], env=plain,
                              stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as child:
            document = {"processes": []}
            while not any(process["threads"] and process["tape"] for process in document["processes"]):
                self.assertIsNone(child.poll())
                done = run("attach", child.pid, "--json")
                document = json.loads(done.stdout) if done.returncode == 0 else document
            self.agree("attach", document, "attach")
            self.remove_each([("attach", document)], 20)
            child.stdin.close()

    def test_without_tapes(self):
        self.check("examples", "examples")
        self.check("lesson-list", "lesson", "list")
        self.check("lesson-check", "lesson", "check", "chain")
        self.check("bench", "bench", "--figure", "record_disabled", "--figure", "torch_model")
        self.check("bench-scale", "bench", "--scale", "--figure", "chain")

    def test_a_member_that_is_missing(self):
        """Each member is required, but for those that OPTIONAL lists. A member that no schema names does no harm."""
        devices, nan, program, old, new = self.own
        documents = [(schema_of(command), self.check(schema_of(command), command[0], tape, *command[1:], may_fail=True))
                     for tape in (nan, program) for command in OF_TAPES]
        documents += [("diff", self.check("diff", "diff", old, new)), ("examples", self.check("examples", "examples")),
                      ("lesson-list", self.check("lesson-list", "lesson", "list")),
                      ("lesson-check", self.check("lesson-check", "lesson", "check", "chain")),
                      ("diff-by", self.check("diff-by", "diff", program, program, "--by", "op")),
                      ("bench", self.check("bench", "bench", "--figure", "torch_model"))]
        documents += [("events", event) for event in self.check_events(program).values()]
        self.remove_each(documents)

    def remove_each(self, documents, least=300):
        removed = 0
        for name, document in documents:
            for schema, part in list(objects(self.schemas[name], document, self.schemas[name])):
                for key in [key for key in part if "properties" in schema and key not in OPTIONAL.get(name, ())]:
                    kept = part.pop(key)
                    self.assertFalse(self.judges[name].is_valid(document), (name, key))
                    part[key] = kept
                    removed += 1
            if isinstance(document, dict):
                self.assertTrue(self.judges[name].is_valid(document | {"of_a_later_program": 1}), name)
                self.assertFalse(self.strict[name].is_valid(document | {"of_a_later_program": 1}), name)
        self.assertGreater(removed, least)


if __name__ == "__main__":
    skipping.main()

#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Records real programs on every minor version of PyTorch, and writes versions.json, of which the site makes a table.

    tests/matrix.py [VERSION...] [--keep] [--folder FOLDER] [--build FOLDER]

Each version gets an environment of its own below a temporary folder, from PyPI with pip: about 5 GB, one at a time.
Each goes again unless --keep is given. An environment that --keep left in FOLDER is used again. Debian's 1.13.1 and
the 2.13.0 of `./bootstrap test` are used where they are. If versions are named, the other rows stay."""
import argparse
import importlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests" / "fixtures"), str(ROOT / "tests" / "probe")]
import table  # noqa: E402

TABLE = ROOT / "tests" / "versions.json"
# The last release of each minor version.
VERSIONS = ("1.13.1 2.0.1 2.1.2 2.2.2 2.3.1 2.4.1 2.5.1 2.6.0 2.7.1 2.8.0 2.9.1 2.10.0 2.11.0 2.12.1 2.13.0 2.14.1 "
            "2.15.0").split()
SECONDS = 1800

# The least processor time of a backward pass through tiny nodes, and of a training step.
COST = """
import time, torch
from torch import nn
torch.set_num_threads(1)
def chain():
    y = torch.ones(1, requires_grad=True)
    for _ in range(5000): y = y.clone()
    begin = time.thread_time()
    y.backward()
    return time.thread_time() - begin
model = nn.Sequential(nn.Conv2d(3, 32, 3), nn.ReLU(), nn.Conv2d(32, 32, 3), nn.BatchNorm2d(32), nn.ReLU(),
                      nn.Flatten(), nn.Linear(32 * 28 * 28, 64), nn.ReLU(), nn.Linear(64, 10))
images = torch.randn(8, 3, 32, 32)
def step():
    begin = time.thread_time()
    model(images).square().mean().backward()
    return time.thread_time() - begin
print(min(chain() for _ in range(40)), min(step() for _ in range(40)))
"""
COLUMNS = ["PyTorch", "Python", "level", "check", "order", "two ranks", "NaN of a sum", "tiny nodes", "model", "problems"]
SCRIPTS = ("mlp.py", "transformer.py", "checkpoint.py", "two_threads.py", "inf_sum.py", "newer.py")


def say(text):
    print(text, flush=True)


def run(command, **more):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=SECONDS, **more)


def last_line(done):
    """What a command says of its failure."""
    lines = [line for line in (done.stdout + "\n" + done.stderr).splitlines() if line.strip()]
    return lines[-1].strip()[:200] if lines else f"exit status {done.returncode}"


class Environment:
    """The Python of a version of PyTorch, made if need be."""

    def __init__(self, version, folder, keep):
        self.version, self.keep = version, keep
        self.folder = folder / version
        self.given = self.find_given()
        self.python = self.given or str(self.folder / "bin" / "python")

    def find_given(self):
        torches = importlib.import_module("torches")
        return torches.with_newest().get(self.version)

    def install(self):
        """Why there is none, or None."""
        if self.given or (self.folder / "complete").exists():
            return None
        shutil.rmtree(self.folder, ignore_errors=True)
        minor = tuple(map(int, self.version.split(".")[:2]))
        numpy = "numpy<2" if minor < (2, 3) else "numpy"
        say(f"{self.version}: installing")
        run([sys.executable, "-m", "venv", self.folder])
        temporary = self.folder / "tmp"
        temporary.mkdir()
        done = run([self.python, "-m", "pip", "install", "-q", "--no-cache-dir", "--disable-pip-version-check", numpy,
                    f"torch=={self.version}"], env=dict(os.environ, TMPDIR=str(temporary)))
        shutil.rmtree(temporary)
        if done.returncode == 0:
            done = run([self.python, "-c", "import torch"])
        if done.returncode == 0:
            (self.folder / "complete").touch()
        return last_line(done) if done.returncode else None

    def python_version(self):
        return run([self.python, "-c", "import platform; print(platform.python_version())"]).stdout.strip()

    def remove(self):
        if not self.given and not self.keep:
            shutil.rmtree(self.folder, ignore_errors=True)


class Trial:
    """All programs on one version. Each method returns a cell, and notes what went wrong."""

    def __init__(self, version, python, cases):
        self.version, self.python, self.cases = version, python, cases
        self.problems = []
        cases.torches.use(version, python)
        self.tapes = []
        self.ran = {script: self.attempt(script) for script in SCRIPTS}

    def attempt(self, script):
        try:
            case = self.cases.Case(self.version, script)
        except (RuntimeError, subprocess.SubprocessError, KeyError) as problem:
            return self.note(script, str(problem).strip().splitlines()[-1][:200])
        self.tapes.append(self.cases.tape_of(self.version, script))
        if (case.recorded.returncode, case.recorded.stdout) != (case.plain.returncode, case.plain.stdout):
            self.note(script, "the program does something else if recorded: " + last_line(case.recorded))
        return case

    def note(self, what, problem):
        self.problems.append(f"{what}: {problem}")

    def ask(self, *arguments):
        return self.cases.run([self.cases.TAPEDECK, *arguments])

    def record(self, tape, *command, options=()):
        path = os.path.join(self.cases.folder.name, f"{tape}-{self.version}.tape")
        done = self.cases.run([self.cases.TAPEDECK, "record", *options, "-o", path, "--", self.python, *command])
        if done.returncode:
            self.note(tape, last_line(done))
        return path

    def info(self, tape):
        done = self.ask("info", tape, "--json")
        return json.loads(done.stdout) if done.returncode == 0 else {}

    def level(self):
        infos = [self.info(tape) for tape in self.tapes]
        for info in infos:
            if info["probe_level"] != 1:
                self.note("level 1", info["probe_reason"])
                return str(info["probe_level"])
        return "1" if infos else "–"

    def check(self):
        n_held = 0
        for tape in self.tapes:
            done = self.ask("check", tape)
            n_held += "every rule holds" in done.stdout
            if "every rule holds" not in done.stdout:
                self.note("check " + os.path.basename(tape), last_line(done))
        return f"all hold on {n_held} of {len(self.tapes)} tapes"

    def order(self):
        n_nodes = n_equal = 0
        for script, case in self.ran.items():
            if not case:
                continue
            said = sorted(([self.cases.bare(name) for name in names] for names in case.seen["order"]), key=repr)
            on_tape = self.cases.by_thread(case.of("node_begin"), "thread", lambda e, c=case: c.names[e["node"]])
            n_nodes += sum(map(len, said))
            n_equal += sum(map(len, said)) if said == on_tape else 0
            if said != on_tape:
                self.note("order", script)
        return f"equal, {n_nodes} nodes" if n_nodes and n_nodes == n_equal else f"equal for {n_equal} of {n_nodes} nodes"

    def two_ranks(self):
        probe = run([self.python, "-c", "import torch.distributed as d; exit(not d.is_gloo_available())"])
        if probe.returncode or self.version.startswith("1."):
            return "no gloo" if probe.returncode else "no torchrun"
        tape = self.record("two_ranks", "-m", "torch.distributed.run", "--standalone", "--nproc_per_node", 2,
                           ROOT / "tests" / "fixtures" / "two_ranks.py")
        self.tapes.append(tape)
        info = self.info(tape)
        return f"{len(info.get('processes', []))} processes, {len(info.get('graph_tasks', []))} passes"

    def nan_of_a_sum(self):
        tape = self.record("nan", os.path.join(self.cases.CORPUS, "inf_sum.py"), options=["--anomaly", "nan"])
        self.tapes.append(tape)
        found = [event for event in self.cases.events_of(tape, "anomaly") if event["born"] == "sum"]
        return f"{len(found)} named" if found else "not named"

    def costs(self):
        """Of tiny nodes and of a model."""
        plain = self.cases.run([self.python, "-c", COST])
        tape = os.path.join(self.cases.folder.name, f"cost-{self.version}.tape")
        recorded = self.ask("record", "-o", tape, "--", self.python, "-c", COST)
        if plain.returncode or recorded.returncode:
            self.note("cost", last_line(recorded if recorded.returncode else plain))
            return ["–"] * 2
        return [f"{float(with_tape) / float(without):.2f}"
                for with_tape, without in zip(recorded.stdout.split(), plain.stdout.split())]

    def row(self, python_version):
        two_ranks, nan = self.two_ranks(), self.nan_of_a_sum()
        return [self.version, python_version, self.level(), self.check(), self.order(), two_ranks, nan, *self.costs()]


def try_version(environment, cases):
    """The row of a version."""
    why_not = environment.install()
    if why_not:
        return [environment.version] + ["–"] * (len(COLUMNS) - 2) + [why_not]
    trial = Trial(environment.version, environment.python, cases)
    row = trial.row(environment.python_version())
    return row + ["; ".join(trial.problems)]


def write_row(row):
    """Takes the place of the row of that version."""
    rows = {other[0]: other for other in table.read(TABLE)} | {row[0]: row}
    table.write(TABLE, COLUMNS, sorted(rows.values(), key=lambda other: tuple(map(int, other[0].split(".")))))


def prepare(build):
    """The modules of the tests, which find all they need in their environment."""
    os.environ.update(TAPEDECK=str(build / "app" / "tapedeck"), BUILD_ROOT=str(build), SOURCE_ROOT=str(ROOT),
                      OWN_ENGINE=str(build / "engine" / "torch" / "python"),
                      EXAMPLES=str(ROOT / "resources" / "examples"), TEST_OUTPUT=str(build / "test-output"))
    return importlib.import_module("test_record_torch")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("versions", nargs="*", metavar="VERSION", default=list(VERSIONS))
    parser.add_argument("--keep", action="store_true", help="leave the environments where they are")
    parser.add_argument("--folder", type=pathlib.Path, help="where the environments go (default: a temporary folder)")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build", help="the build folder")
    options = parser.parse_args()
    cases = prepare(options.build.resolve())
    folder = options.folder or pathlib.Path(tempfile.mkdtemp(prefix="tapedeck-matrix-"))
    all_well = True
    for version in options.versions:
        environment = Environment(version, folder.resolve(), options.keep)
        try:
            row = try_version(environment, cases)
        finally:
            environment.remove()
        write_row(row)
        say(" | ".join(row))
        all_well &= not row[-1]
    if options.keep:
        say(f"the environments are in {folder}")
    elif not options.folder:
        shutil.rmtree(folder, ignore_errors=True)
    return 0 if all_well else 1


if __name__ == "__main__":
    sys.exit(main())

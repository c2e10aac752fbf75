#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""PyTorch's own test files, plain and recorded in several ways: is the outcome of each test the same?

    suites.py FOLDER [NAME...] [-k WORD]... [--python PYTHON]... [--way WAY]... [--limit SECONDS] [--write]

FOLDER is `test` of PyTorch's sources, such as Debian's package `pytorch` has (apt-get source pytorch). Nothing of it is in this
repository. NAME is a file there without .py, or a folder; without one, the files of FILES. What the tests import, such as
`expecttest`, must be beside that PyTorch. Each file is one process, or two ways would share what a test leaves behind.

Prints a row for each file and the tests that differ, with what ten runs of each, alone, say: a test that also ends in this way
without Tapedeck is unsteady. --write puts the rows into tests/pytorch/SUITES.md. Processor time and memory are those of
the file's process and its children, recorded beside plain. `bad` counts tapes in which `check` finds a broken rule."""
import argparse
import collections
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "fixtures"))
import torches  # noqa: E402
from beside_plain import BUILD, WAYS, broken_rules, recorder, run  # noqa: E402

PAGE = HERE / "SUITES.md"
FILES = ("test_autograd test_nn nn test_modules test_optim test_nestedtensor test_sparse test_overrides test_python_dispatch test_jit "
         "test_multiprocessing functorch profiler dynamo distributed/test_c10d_gloo").split()
N_AGAIN, MOST_AGAIN = 10, 20  # runs of a test that differs, and how many tests of a file and a way get them

HEAD = """# PyTorch's own tests, recorded

`tests/pytorch/suites.py` runs files of PyTorch's own tests plain and recorded, and writes these rows. Do not edit them. A cell
says how many tests ended otherwise than without Tapedeck, processor time and memory beside plain, and how many of the tapes
break a rule that `check` knows. A test that also ends so without Tapedeck, in ten runs more, is unsteady and is not counted.
Processor time is of one run on a busy machine: small differences mean nothing.

| PyTorch and file | tests | plain | """ + " | ".join(WAYS) + """ |
| --- | ---: | --- |""" + " --- |" * len(WAYS) + "\n"

Run = collections.namedtuple("Run", "outcomes cost tapes bad")


def outcomes_of(path):
    """{test: its outcome}. The test in which the process died or was killed is `died`; what came after it is not there."""
    found = {}
    for line in path.read_text().splitlines() if path.exists() else []:
        word, test = line.split("\t")
        if test:
            found[test] = "died" if word == "begin" else word
    return found


def is_broken(tape):
    if broken := broken_rules(tape):
        print(f"check {tape.name}: {' '.join(broken)[:400]}", flush=True)
    return bool(broken)


class File:
    """One file of tests, and one Python."""
    def __init__(self, path, python, wanted):
        self.path, self.python, self.wanted = path, python, wanted

    def run(self, options, words):
        """Runs the file, recorded if there are options, and judges the tapes."""
        with tempfile.TemporaryDirectory(prefix="tapedeck-suites-") as name:
            folder = pathlib.Path(name)
            command = [self.python, str(HERE / "run_file.py"), str(self.path), str(folder / "outcomes"), *words]
            if options is not None:
                command = recorder(options, str(folder / "out.tape")) + command
            environment = os.environ | {"OMP_NUM_THREADS": "1", "TMPDIR": name, "PYTHONDONTWRITEBYTECODE": "1"}
            cost = run(command, name, self.wanted.limit, cwd=self.path.parent, env=environment)
            tapes = sorted(folder.glob("*.tape"))
            bad = sum(is_broken(tape) for tape in tapes)
            if not (found := outcomes_of(folder / "outcomes")):
                print(f"{self.path.name}: no test ran: {(folder / 'err').read_text(errors='replace')[-800:]}", flush=True)
            return Run(found, cost, len(tapes), bad)

    def again(self, test, options):
        """The outcomes of runs of one test alone."""
        return [self.run(options, ["-k", test]).outcomes.get(test, "none") for _ in range(N_AGAIN)]

    def judge(self, plain, recorded, way):
        """Prints each test that ended otherwise, and returns how many of them are not unsteady."""
        both = [test for test in plain.outcomes if test in recorded.outcomes and plain.outcomes[test] != recorded.outcomes[test]]
        n_lost = 0 if plain.cost.timed_out or recorded.cost.timed_out else len(plain.outcomes.keys() ^ recorded.outcomes.keys())
        n_differ = n_lost
        for number, test in enumerate(both):
            words = f"{way}: {test}: {recorded.outcomes[test]}, plain {plain.outcomes[test]}"
            if number < MOST_AGAIN and self.wanted.again:
                ends, here = [plain.outcomes[test], *self.again(test, None)], [recorded.outcomes[test], *self.again(test, WAYS[way])]
                unsteady = set(here) <= set(ends)
                words += f"; alone, {N_AGAIN} times: {count(here[1:])}, plain {count(ends[1:])}{': unsteady' if unsteady else ''}"
                n_differ -= unsteady
            n_differ += 1
            print(words, flush=True)
        if n_lost:
            print(f"{way}: {n_lost} tests ran in one of the two only", flush=True)
        return n_differ

    def row(self):
        plain = self.run(None, self.words())
        if not plain.outcomes:
            return None
        cells = [f"{len(plain.outcomes)}", f"{plain.cost.seconds:.0f} s, {plain.cost.megabytes:.0f} MB{cut(plain)}"]
        for way in WAYS:
            if way not in self.wanted.way:
                cells.append("-")
                continue
            recorded = self.run(WAYS[way], self.words())
            n_differ = self.judge(plain, recorded, way)
            cells.append(f"{n_differ} differ, {recorded.cost.seconds / plain.cost.seconds:.2f}, "
                         f"{recorded.cost.megabytes / plain.cost.megabytes:.2f}, {recorded.bad} of {recorded.tapes} bad{cut(recorded)}")
        return cells

    def words(self):
        return [option for word in self.wanted.k for option in ("-k", word)]


def count(ends):
    return ", ".join(f"{end} {n}" for end, n in collections.Counter(ends).items())


def cut(one):
    return f", killed after {len(one.outcomes)} tests" if one.cost.timed_out else ""


def files_of(folder, names):
    """The files of these names, those of a folder each; what this PyTorch does not have is said."""
    for name in names:
        path = folder / name
        if path.is_dir():
            yield from sorted(path.glob("test_*.py"))
        elif path.with_suffix(".py").exists():
            yield path.with_suffix(".py")
        else:
            print(f"{folder} has no {name}", flush=True)


def write(what, cells):
    """Puts a row into the page, in place of an earlier one of the same PyTorch and file."""
    rows = {}
    for line in (PAGE.read_text() if PAGE.exists() else HEAD).removeprefix(HEAD).splitlines():
        rows[line.split("|")[1].strip()] = line
    rows[what] = f"| {what} | " + " | ".join(cells) + " |"
    PAGE.write_text(HEAD + "".join(f"{rows[name]}\n" for name in sorted(rows)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("-k", action="append", default=[], metavar="WORD", help="only tests with this word in their names")
    parser.add_argument("--python", action="append", help="instead of those that tests/fixtures/torches.py finds")
    parser.add_argument("--way", action="append", choices=list(WAYS), help="of recording; all without it")
    parser.add_argument("--limit", type=int, default=1800, metavar="SECONDS", help="of one run of a file; then it is killed")
    parser.add_argument("--once", dest="again", action="store_false", help="do not run again what differs")
    parser.add_argument("--write", action="store_true")
    wanted = parser.parse_args()
    wanted.way = wanted.way or list(WAYS)
    n_bad = 0
    for python in wanted.python or list(torches.installed().values()):
        subprocess.run([BUILD / "app" / "tapedeck", "fit", python], check=True, stdout=subprocess.DEVNULL)  # once, outside of what is measured
        version = subprocess.check_output([python, "-c", "import torch; print(torch.__version__)"], text=True).strip()
        for path in files_of(wanted.folder.resolve(), wanted.names or FILES):
            what = f"{version} {path.relative_to(wanted.folder.resolve()).with_suffix('')}" + "".join(f" -k {word}" for word in wanted.k)
            if cells := File(path, python, wanted).row():
                print(f"| {what} | " + " | ".join(cells) + " |", flush=True)
                n_bad += any(cell != "-" and (not cell.startswith("0 differ") or " 0 of" not in cell) for cell in cells[2:])
                if wanted.write:
                    write(what, cells)
    return 1 if n_bad else 0


if __name__ == "__main__":
    sys.exit(main())

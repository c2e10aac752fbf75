#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Do the tests notice a mistake? Makes small random changes in sources, one at a time, and runs the tests that tests/for.py names.

    tests/mutants.py [--seed N] [--count N] [--tests programs|quick|all] [FILE or FOLDER...]
    tests/mutants.py --again [--tests programs|quick|all] [FILE or FOLDER...]

A change, called a mutant, is of one of the KINDS. It is made in a clone of the last commit, in build/mutants: the tree itself
is never touched. What no longer builds is not counted, and neither is what leaves the same machine code. The tests run until one fails, the
C programs first, under the address sanitizer as in CI, then (--tests quick, as without the option) the scripts of the suite quick, then (all) the other scripts. A test that takes far longer than
without the mutant is ended and counts as failed.

Each mutant is a row of tests/MUTANTS.md. The same seed makes the same mutants of the same sources; what has a row is not tried again, so a
run that was interrupted goes on. --again tries those that are alive or untried once more, for instance after a test was added, or with more tests. Who has read a mutant and
knows why no test can notice it writes `equal: REASON` into its last cell, which stays."""
import argparse
import json
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT / "tests" / "fixtures"))
import torches  # noqa: E402

PAGE = ROOT / "tests" / "MUTANTS.md"
WORK = ROOT / "build" / "mutants"
TREE, BUILD, SANITIZED = WORK / "tree", WORK / "tree" / "build", WORK / "tree" / "build-asan"
OPTIONS = {BUILD: [], SANITIZED: ["-Dgtk=disabled", "-Db_sanitize=address,undefined", "-Db_lundef=false", "-Doptimization=1", "-Ddebug=false",
                                  "-Dc_args=-g1"]}
FOLDERS = ["engine/events", "engine/trace", "engine/replay", "engine/profile", "engine/probe", "ui/model"]
KINDS = ["comparison", "constant", "call", "field"]
OPPOSITE = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}

COMPARISON = re.compile(r"(?<= )(<=|>=|==|!=|<|>)(?= )")
CONSTANT = re.compile(r"(?<![\w.\"'])\d+(?![\w.\"'])")
CALL = {".c": re.compile(r"^\s+(?!return\b)[\w.>-]+\(.*\);$"), ".py": re.compile(r"^\s+(?!return\b|raise\b)[\w.]+\(.*\)$")}
FIELD = re.compile(r"\b(\w+)(->|\.)(\w+)\b(?!\()")
QUOTED = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|//.*|/\*.*?\*/")
BUILT = (".c", ".py", ".hpp")

HEAD = """# Mutants

`tests/mutants.py` makes small random changes in {folders}, one at a time, and runs the tests that
`tests/for.py` names for that file. A mutant is *killed* if a test fails. *Equal* are those that leave the same machine code, or
that no test can notice, with the reason. *Alive* says which tests ran: others may notice it. *Untried* are those for which none ran. Do not edit the rows but for such a reason.

{summary}

| mutant | file | kind | change | outcome |
| --- | --- | --- | --- | --- |
"""
ROW = re.compile(r"\| (\S+) \| (\S+):(\d+) \| (\w+) \| `` (.*?) `` → `` (.*?) `` \| (.*) \|")


class Mutant:
    def __init__(self, key, file, line, kind, before, after, outcome=""):
        self.key, self.file, self.line, self.kind = key, file, line, kind
        self.before, self.after, self.outcome = before, after, outcome

    def row(self):
        before, after = (text.replace("|", "\\|") for text in (self.before, self.after))
        return f"| {self.key} | {self.file}:{self.line} | {self.kind} | `` {before} `` → `` {after} `` | {self.outcome} |"


def read_page():
    rows = [ROW.fullmatch(line) for line in (PAGE.read_text() if PAGE.exists() else "").splitlines()]
    return {row[1]: Mutant(row[1], row[2], int(row[3]), row[4], *(row[i].replace("\\|", "|") for i in (5, 6)), row[7]) for row in rows if row}


def write_page(mutants):
    folders = ", ".join(f"`{folder}`" for folder in FOLDERS)
    rows = sorted(mutants.values(), key=lambda mutant: tuple(map(int, mutant.key.split("."))))
    PAGE.write_text(HEAD.format(folders=folders, summary=summary(rows)) + "".join(mutant.row() + "\n" for mutant in rows))


def summary(mutants):
    words = [mutant.outcome.split(":")[0].split()[0] for mutant in mutants]
    killed, alive, equal, untried = (words.count(word) for word in ("killed", "alive", "equal", "untried"))
    share = f", {100 * killed / (killed + alive):.0f} % of those that are not equal" if killed + alive else ""
    return f"{len(mutants)} mutants: {killed} killed{share}, {alive} alive, {equal} equal, {untried} untried."


def run(words, limit_s=None, **more):
    """The status of a command, None if it had to be ended; with its children."""
    process = subprocess.Popen([str(word) for word in words], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               start_new_session=True, **more)
    try:
        return process.wait(limit_s)
    except subprocess.TimeoutExpired:
        return None
    finally:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()


def need(words, **more):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, **more)
    if done.returncode:
        sys.exit(f"mutants.py: {words} failed:\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
    return done.stdout


def prepare():
    """The clone of the last commit, configured as ./bootstrap test does; nothing is built yet."""
    if not TREE.exists():
        need(["git", "clone", "-q", "--shared", "--no-checkout", ROOT, TREE])
    commit = need(["git", "-C", ROOT, "rev-parse", "HEAD"]).strip()
    need(["git", "-C", TREE, "fetch", "-q", ROOT, commit])
    need(["git", "-C", TREE, "checkout", "-q", "--force", "--detach", commit])
    for folder, options in OPTIONS.items():
        if not (folder / "build.ninja").exists():
            need(["meson", "setup", folder, "-Dwerror=true", *options], cwd=TREE)
        need(["ninja", "-C", folder, "build.ninja"])
    for complete in (ROOT / "build").glob("*/complete"):  # what ./bootstrap fetched: tests look for it in their own build folder
        if not (BUILD / complete.parent.name).exists():
            (BUILD / complete.parent.name).symlink_to(complete.parent)


class Tests:
    """The tests of the clone, as meson lists them."""
    def __init__(self):
        listed = json.loads(need(["meson", "introspect", "--tests", BUILD]))
        self.by_name = {test["name"]: test for test in listed}
        self.base, self.named = {}, {}

    def of(self, file, which):
        """The names of the tests of a file, of those that are wanted, in the order in which they run."""
        if file not in self.named:
            done = subprocess.run([sys.executable, TREE / "tests" / "for.py", TREE / file], capture_output=True, text=True)
            self.named[file] = done.stdout.split()
        names = [name for name in self.named[file] if name in self.by_name and not self.is_breadth(name)]
        ranked = sorted(names, key=lambda name: (not self.is_program(name), not self.is_quick(name)))
        return [name for name in ranked if which == "all" or self.is_program(name) or which == "quick" and self.is_quick(name)]

    def suites(self, name):
        return [suite.split(":")[-1] for suite in self.by_name[name]["suite"]]

    def is_program(self, name):
        return self.by_name[name]["protocol"] == "tap"

    def is_quick(self, name):
        return "quick" in self.suites(name)

    def is_breadth(self, name):
        return "breadth" in self.suites(name)

    def build(self, name):
        """Builds what the test needs. Scripts need the program, and whatever helps them."""
        target = [os.path.relpath(self.by_name[name]["cmd"][0], BUILD)] if self.is_program(name) else []
        return subprocess.run(["ninja", "-C", SANITIZED if target else BUILD, *target], capture_output=True, text=True)

    def run(self, name, limit_s):
        test = self.by_name[name]
        if self.is_program(name):
            return run(["meson", "test", "-C", SANITIZED, "--no-rebuild", "--setup", "asan", "-t", "3", name])  # which ends it in time
        return run(test["cmd"], limit_s, env=os.environ | test["env"], cwd=test["workdir"] or BUILD)

    def limit(self, name):
        """How long the test may take with a mutant, or None if it fails or is skipped without one."""
        if name not in self.base:
            begin = time.monotonic()
            status = self.run(name, 900) if self.build(name).returncode == 0 else 1
            if status:
                print(f"{name} does not pass without a mutant ({status}): left out", flush=True)
            self.base[name] = None if status else min(900, 30 + 8 * (time.monotonic() - begin))
        return self.base[name]


def sites(file):
    """[(line number, kind, line before, line after)]: every mutant of a file."""
    lines, found = (TREE / file).read_text().splitlines(), []
    masked, in_comment = [], False
    for line in lines:
        code = QUOTED.sub(lambda quoted: quoted[0][0] + "_" * (len(quoted[0]) - 2) + quoted[0][-1], line.split(" # ")[0])
        begins = code.lstrip().startswith(("/*", "*"))
        is_code = line[:1] == " " and not in_comment and not begins and "assert(" not in code and '"""' not in code
        in_comment = (in_comment or begins) and "*/" not in line and file.endswith((".c", ".hpp"))
        masked.append(code if is_code else "")
    fields = {}
    for code in masked:
        for base, arrow, name in FIELD.findall(code):
            fields.setdefault((base, arrow), set()).add(name)
    for number, (line, code) in enumerate(zip(lines, masked)):
        def add(kind, start, end, text):
            found.append((number + 1, kind, line.strip(), (line[:start] + text + line[end:]).strip()))
        for one in COMPARISON.finditer(code):
            add("comparison", *one.span(), OPPOSITE[one[0]])
        for one in CONSTANT.finditer(code):
            add("constant", *one.span(), str(int(one[0]) + 1))
        if CALL[".py" if file.endswith(".py") else ".c"].match(code):
            add("call", len(line) - len(line.lstrip()), len(line), "pass" if file.endswith(".py") else ";")
        for one in FIELD.finditer(code) if not file.endswith(".py") else ():
            for other in sorted(fields[one[1], one[2]] - {one[3]}):
                add("field", *one.span(3), other)
    return found


def draw(chance, files):
    """A mutant: first a kind, so that each is as frequent, then a line that has one."""
    kind = chance.choice(KINDS)
    every = [(file, *site) for file, of_file in files.items() for site in of_file if site[1] == kind]
    places = sorted({(file, line) for file, line, *_ in every})
    place = chance.choice(places)
    return chance.choice([site for site in every if site[:2] == place])


def objects(file):
    """The object files of a source: the path in the build folder of each."""
    with open(BUILD / "compile_commands.json") as commands:
        return [one["output"] for one in json.load(commands) if (BUILD / one["file"]).resolve() == (TREE / file).resolve() and
                not one["output"].startswith("tests/")]


def machine_code(file):
    """The object files without what only a debugger reads."""
    code = []
    for path in objects(file):
        need(["objcopy", "--strip-debug", BUILD / path, WORK / "stripped.o"])
        code.append((WORK / "stripped.o").read_bytes())
    return code


class Judge:
    def __init__(self, which):
        self.tests, self.which = Tests(), which

    def judge(self, mutant):
        """The outcome; None if it does not build. The clone is whole again afterwards."""
        path = TREE / mutant.file
        text = path.read_text()
        names = [name for name in self.tests.of(mutant.file, self.which) if self.tests.limit(name)]
        if not names:
            return "untried: none of the tests that were wanted is named"
        if mutant.file.endswith(".c"):
            subprocess.run(["ninja", "-C", BUILD, *objects(mutant.file)], capture_output=True)
            code = machine_code(mutant.file)
        try:
            path.write_text(changed(text, mutant))
            if mutant.file.endswith(".c"):
                if subprocess.run(["ninja", "-C", BUILD, *objects(mutant.file)], capture_output=True).returncode:
                    return None
                if machine_code(mutant.file) == code:
                    return "equal: the same machine code"
            elif mutant.file.endswith(".hpp") and not self.fits():
                return None
            return self.run_all(names)
        finally:
            path.write_text(text)

    def fits(self):
        """Whether the observer still compiles; recorders compile it."""
        built = subprocess.run(["ninja", "-C", BUILD], capture_output=True).returncode == 0
        return built and run([BUILD / "app" / "tapedeck", "fit", torches.pythons()[0]], 600,
                             env=os.environ | {"XDG_CACHE_HOME": str(WORK / "cache")}) == 0

    def run_all(self, names):
        for name in names:
            if self.tests.build(name).returncode:
                return f"killed by the build of {name}"
            status = self.tests.run(name, self.tests.limit(name))
            if status != 0:
                return f"killed by {name}" + (", which hung" if status is None else "")
        return "alive: " + " ".join(names)


def changed(text, mutant):
    """The text with the mutant, at the line that has its text and is nearest to where it was."""
    lines = text.split("\n")
    places = [i for i, line in enumerate(lines) if line.strip() == mutant.before]
    if not places:
        raise LookupError(f"{mutant.file} has no line {mutant.before!r} any more")
    place = min(places, key=lambda i: abs(i + 1 - mutant.line))
    mutant.line = place + 1
    lines[place] = lines[place].replace(mutant.before, mutant.after)
    return "\n".join(lines)


def again(wanted, known):
    """Those that no test has noticed, of the wanted files."""
    return [(mutant.key, mutant) for mutant in known.values() if mutant.outcome.startswith(("alive", "untried")) and
            (not wanted.names or mutant.file.startswith(tuple(wanted.names)))]


def new_mutants(wanted, known):
    """Mutants without a row, of the wanted files."""
    paths = [path for name in wanted.names or FOLDERS for path in ([TREE / name] if (TREE / name).is_file() else (TREE / name).rglob("*"))]
    files = {str(path.relative_to(TREE)): sites(str(path.relative_to(TREE))) for path in sorted(paths) if path.suffix in BUILT}
    for number in range(wanted.count):
        key = f"{wanted.seed}.{number}"
        if key not in known:
            chance = random.Random(key)
            while True:  # until the caller has one that builds
                yield key, Mutant(key, *draw(chance, files))
                if key in known:
                    break


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--tests", choices=["programs", "quick", "all"], default="quick", help="which of those that are named")
    parser.add_argument("--again", action="store_true", help="try those that are alive or untried once more")
    parser.add_argument("names", nargs="*", help="files or folders, from the top of the tree; without any, " + ", ".join(FOLDERS))
    wanted = parser.parse_args()
    prepare()
    judge, known = Judge(wanted.tests), read_page()
    tried = again(wanted, known) if wanted.again else new_mutants(wanted, known)
    for key, mutant in tried:
        outcome = judge.judge(mutant)
        if outcome:
            mutant.outcome = outcome
            known[key] = mutant
            print(f"{mutant.row()}", flush=True)
            write_page(known)
    print(summary(known.values()))


if __name__ == "__main__":
    main()

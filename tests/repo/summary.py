# SPDX-License-Identifier: LGPL-2.1-or-later
"""Adds up what run_tests.py left in the logs of some build folders: the time of each suite and its processor time, the tests that
used most of it, and a closing line.

    summary.py [--phase NAME=SECONDS]... [--json FILE] FOLDER...

A program that speaks TAP counts once per test in it, any other program once. A test that failed, and passed when it ran again alone,
counts as it did then. The last line names it as unsteady. Exits with 1 if something failed, or if a folder holds no results."""
import argparse
import collections
import json
import os
import re
import sys

from run_tests import PASSED, noted, results

N_LARGEST = 10  # tests that are named with their processor time
TAP_LINE = re.compile(r"^(not ok|ok)\b[^#\n]*(# SKIP\b.*)?", re.MULTILINE | re.IGNORECASE)


def count(test):
    """Outcomes of one program: a list of 'passed', 'failed' and 'skipped'."""
    outcomes = []
    for verdict, skip in TAP_LINE.findall(test.get("stdout") or ""):
        outcomes.append("skipped" if skip else "passed" if verdict.lower() == "ok" else "failed")
    if test["result"] == "SKIP":
        return outcomes or ["skipped"]
    if test["result"] in PASSED:
        return outcomes or ["passed"]
    return outcomes if "failed" in outcomes else outcomes + ["failed"]


def tests_of(folder):
    with open(os.path.join(folder, "meson-info", "intro-tests.json"), encoding="utf-8") as file:
        return json.load(file)


def suites_of(folder):
    """{name of a test: its first suite}"""
    return {test["name"]: test["suite"][0].rpartition(":")[2] for test in tests_of(folder)}


def processor_times(folder):
    """{name of a test: the seconds of processor time that it used}, of those that ended."""
    if not noted(folder).exists():
        return {}
    named = {(*test["cmd"], test["env"].get("TAPEDECK_WITHOUT", "")): test["name"] for test in tests_of(folder)}
    lines = [json.loads(line) for line in noted(folder).read_text(encoding="utf-8").splitlines()]
    found = [(named.get((*line["command"], line["without"])) or named.get((*line["command"], "")), line["seconds"]) for line in lines]
    return {name: seconds for name, seconds in found if name}


def told(test):
    return f"{test['result'].lower()} after {test['duration']:.0f} s"


class Summary:
    def __init__(self):
        self.totals, self.seconds, self.programs = collections.Counter(), collections.Counter(), collections.Counter()
        self.used, self.used_by = collections.Counter(), collections.Counter()
        self.failed, self.unsteady = [], []

    def add_folder(self, folder):
        tests = results(folder, "testlog")
        if not tests:
            self.totals["failed"] += 1
            self.failed.append(f"{folder}: no test ran")
        suites, used = (suites_of(folder), processor_times(folder)) if tests else ({}, {})
        for test in tests:
            suite = folder.rpartition("/")[2], suites.get(test["name"], "")
            self.programs[suite] += 1
            self.seconds[suite] += test["duration"]
            self.used[suite] += used.get(test["name"], 0)
            self.used_by[f"{suite[0]} {test['name']}"] = used.get(test["name"], 0)
            self.add(folder, test)

    def add(self, folder, test):
        if test["result"] not in PASSED:
            first, again = test, results(folder, f"again-{test['name']}")
            test = again[-1] if again else first
            both = f"{folder}: {test['name']}: {told(first)}, then alone " + (told(again[-1]) if again else "not run")
            (self.unsteady if test["result"] in PASSED else self.failed).append(both)
        self.totals.update(count(test))

    def print_times(self, phases):
        print("  seconds  of processors  tests  suite")
        for (folder, suite), seconds in sorted(self.seconds.items(), key=lambda item: -item[1]):
            print(f"  {seconds:7.0f}  {self.used[folder, suite]:13.0f}  {self.programs[folder, suite]:5}  {folder} {suite}")
        for phase, seconds in phases.items():
            print(f"  {seconds:7.0f}                        of the clock: {phase}")
        for test, seconds in self.used_by.most_common(N_LARGEST):
            print(f"           {seconds:13.0f}         of processors: {test}")

    def closing_line(self):
        line = "{passed} passed, {failed} failed, {skipped} skipped".format_map(
            {key: self.totals[key] for key in ("passed", "failed", "skipped")})
        names = [both.split(": ")[1] for both in self.unsteady]
        return line + (f", {len(names)} unsteady: {' '.join(names)}" if names else "")

    def write(self, path, phases):
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"totals": self.totals, "failed": self.failed, "unsteady": self.unsteady, "phases": phases,
                       "suites": {" ".join(suite): round(seconds) for suite, seconds in self.seconds.items()},
                       "processors": dict(self.used_by.most_common())}, file, indent=1)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--phase", action="append", default=[], help="what took how long by the clock: NAME=SECONDS")
    parser.add_argument("--json", help="writes the same there")
    parser.add_argument("folders", nargs="+")
    args = parser.parse_args()
    phases = {name: int(seconds) for name, _, seconds in (phase.rpartition("=") for phase in args.phase)}
    summary = Summary()
    for folder in args.folders:
        summary.add_folder(folder)
    summary.print_times(phases)
    if args.json:
        summary.write(args.json, phases)
    for both in summary.unsteady:
        print("unsteady:", both)
    for failure in summary.failed:
        print("failed:", failure)
    print(summary.closing_line())
    return 1 if summary.totals["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())

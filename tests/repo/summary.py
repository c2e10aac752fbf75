# SPDX-License-Identifier: LGPL-2.1-or-later
"""Adds up what `meson test` left in the logs of some build folders, in one closing line.

A program that speaks TAP counts once per test in it, any other program once. Exits with 1 where
something failed, or where a folder holds no results at all.
"""
import collections
import glob
import json
import re
import sys

TAP_LINE = re.compile(r"^(not ok|ok)\b[^#\n]*(# SKIP\b.*)?", re.MULTILINE | re.IGNORECASE)
PASSED = ("OK", "EXPECTEDFAIL")


def count(test):
    """Outcomes of one program: a list of 'passed', 'failed' and 'skipped'."""
    outcomes = []
    for verdict, skip in TAP_LINE.findall(test.get("stdout") or ""):
        outcomes.append("skipped" if skip else "passed" if verdict.lower() == "ok" else "failed")
    if test["result"] in PASSED:
        return outcomes or ["passed"]
    if test["result"] == "SKIP":
        return outcomes or ["skipped"]
    return outcomes if "failed" in outcomes else outcomes + ["failed"]


def main(folders):
    totals = collections.Counter()
    failures = []
    for folder in folders:
        logs = glob.glob(folder + "/meson-logs/testlog*.json")
        if not logs:
            failures.append(folder + ": no test ran")
            totals["failed"] += 1
        for log in logs:
            with open(log, encoding="utf-8") as lines:
                for test in map(json.loads, lines):
                    outcomes = collections.Counter(count(test))
                    totals += outcomes
                    if outcomes["failed"]:
                        failures.append(f"{folder}: {test['name']}")
    for failure in failures:
        print("failed:", failure)
    print("{passed} passed, {failed} failed, {skipped} skipped".format_map(
        {key: totals[key] for key in ("passed", "failed", "skipped")}))
    return 1 if totals["failed"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests wait for events, not for time. A wait of up to 0.1 s between two looks is fine. Each longer one, and each whose length is no
number, stands in this list with its reason; what is not there any more must leave the list."""
import os
import pathlib
import re
import sys

TESTS = pathlib.Path(os.environ["SOURCE_ROOT"]) / "tests"
LONGEST_S = 0.1
SLEEP = re.compile(r"\b(?:(?P<us>g_usleep|usleep) ?\((?P<micro>[^)]*)|(?<!def )(?:\w+(?:\([^()]*\))?\.)?sleep ?\((?P<call>[^)]*)"
                   r"|(?<=[\n\";' ])sleep (?P<shell>[\d.]+))")

# What is slept, in which file: why.
SUBJECT = "how long something takes is what the test is about"
ENDED = "a signal ends it; only a program that overlooks the signal sleeps so long"
REASONS = {
    "app/flights.py": {"1": "a command of its own, and no test: the time between two looks"},
    "app/test_attach.py": {"8": "the thread keeps the GIL for as long as the test looks; the kernel wakes it"},
    "app/test_attach_unrecorded.py": {"4": "the same", "moment * .7": "Ctrl+C comes at different places of gdb's work"},
    "app/test_full_disk.py": {"0.4": "the recorder writes what it has, though nobody asks it to"},
    "app/test_kills.py": {"after_s": "a kill comes at any moment"},
    "app/test_ranks.py": {"1.5": "the recorder writes what it has, though nobody asks it to"},
    "app/test_program_runner.c": {"OTHERS_LIFE_S": "a program outlives its parent"},
    "cases/run_cases.py": {"5": "a command of its own: the time between two looks of attach"},
    "control/test_live.py": {"0.3": SUBJECT},
    "fixtures/forks.py": {"0.02 if is_warm else 0": "the time between two looks"},
    "fixtures/plants.py": {"seconds": SUBJECT, "0.02 + 2 * (time.monotonic(": SUBJECT, "ctx.ms / 1e3": SUBJECT, "2 * SLOW_S": SUBJECT},
    "fixtures/rounds.py": {"PLAN[child]['delay']": "the daemon outlives its parent by some time", "10": ENDED},
    "fixtures/window_case.py": {"seconds": "pause() says why"},
    "probe/test_inside.py": {"100": ENDED},
    "probe/test_fit.py": {"2": "a compiler that is slow"},
    "probe/test_keep.py": {"0.6": "longer than MARGIN_NS of keeper.c, and nothing happens meanwhile",
                           "0.5": "nothing happens for longer than --keep says"},
    "probe/test_raw_tapes.py": {"0.5": "the recorder writes what it has, though nobody asks it to"},
    "probe/test_record.py": {"60": ENDED, "0 if ends else 60": ENDED},
    "profile/test_contention.py": {"0.3": SUBJECT},
    "profile/test_order.py": {"seconds": SUBJECT},
    "profile/test_plants.py": {"SLOW_S": SUBJECT, "0.1 * rank": SUBJECT},
    "profile/test_report.py": {"60": "the pass is under way when the program ends"},
    "profile/test_whatif.py": {"ctx.ms * share * slowness / 1e3": SUBJECT, "5 * slowness / 1e3": SUBJECT},
    "profile/waits_program.py": {"ms / 1e3": SUBJECT},
    "python/memory_steps.py": {"0.3 if 'threading' in names else 0": "other processes and threads free memory when they like"},
    "rules/test_machine.c": {"i < 100 ? 20 : 1000": "the time between two looks"},
    "repo/bare_packages.sh": {"8": "a command of its own, and no test: a window comes up"},
    "repo/test_summary.py": {"100": "a test that runs out of time"},
}


def sleeps_in(text):
    """What is slept for longer than a look takes, as it is written."""
    for found in SLEEP.finditer(text):
        words = next(found[name] for name in ("micro", "call", "shell") if found[name] is not None)
        if not words:
            continue
        try:
            seconds = float(words) / (1e6 if found["us"] else 1)
        except ValueError:
            seconds = LONGEST_S + 1
        if seconds > LONGEST_S:
            yield words


def main():
    assert list(sleeps_in("time.sleep(0.1); time.sleep(.2); g_usleep (200000); usleep(100); sleep(LIFE); sh('sleep 3'); sleep 0.1\n")) \
        == [".2", "200000", "LIFE", "3"]
    assert not list(sleeps_in("def sleep(seconds=0.3): asleep(9); test_pop_sleeps(1)"))
    problems = []
    for path in sorted(path for ending in ("py", "c", "sh") for path in TESTS.rglob("*." + ending)):
        name = str(path.relative_to(TESTS))
        if path.name == pathlib.Path(__file__).name:
            continue
        found, told = set(sleeps_in(path.read_text(encoding="utf-8"))), set(REASONS.get(name, ()))
        problems += [f"{name}: sleeps {words}: wait for an event instead, or say why in tests/repo/check_sleeps.py" for words in found - told]
        problems += [f"{name}: does not sleep {words} any more: take it out of tests/repo/check_sleeps.py" for words in told - found]
    problems += [f"{name} is no file any more: take it out of tests/repo/check_sleeps.py" for name in REASONS if not (TESTS / name).exists()]
    print(*problems, sep="\n", end="\n" if problems else "")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())

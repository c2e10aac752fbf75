#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What hostile tapes cost: builds tapes of growing size and measures each command that reads them.

hostile.py [--sizes 1000,4000,16000,64000] [--shapes nested,pops] [--commands why,state] [--limit SECONDS] [--worst]

prints a table in Markdown: for the greatest tape of each shape its size, and for each command the seconds of processor
time, the peak of memory, the bytes printed, and the slopes of time and memory over the number of events, log to log
(1: they grow as the tape does; 2: with its square). `--worst` prints one row per shape: of the slowest command, and of
the one that takes most memory. `--check` prints nothing and fails if a bound does not hold: that is the test. There, a
command that is quick with the great tape does not read the small one, unless TAPEDECK_THOROUGH is set. Needs
TAPEDECK and BUILD_ROOT, or runs in a checkout with build/.
"""
import argparse
import math
import os
import re
import subprocess
import sys
import tempfile
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "fixtures"))
from torches import is_thorough  # noqa: E402
BUILD = os.environ.get("BUILD_ROOT", os.path.join(ROOT, "build"))
TAPEDECK = os.environ.get("TAPEDECK", os.path.join(BUILD, "app", "tapedeck"))
MAKE = os.path.join(BUILD, "tests", "make_hostile")
UNPACK = os.path.join(BUILD, "tests", "fuzz", "unpack")
SANITIZED = "ASAN_OPTIONS" in os.environ
COMMANDS = {"info": ["info", "TAPE"], "info --json": ["info", "TAPE", "--json"], "events": ["events", "TAPE"], "events --json": ["events", "TAPE", "--json"],
            "state": ["state", "TAPE", "--at", "end"], "state --json": ["state", "TAPE", "--at", "end", "--json"],
            "why": ["why", "TAPE", "--at", "end"], "chain": ["why", "TAPE", "--chain"], "check": ["check", "TAPE"], "order": ["order", "TAPE", "--json"], "answers": ["answers", "TAPE"], "findings": ["findings", "TAPE"], "quiz": ["quiz", "TAPE", "--answers", "--seed", "1"], "report": ["report", "TAPE"], "whatif": ["whatif", "TAPE", "--devices", "3"],
            "contention": ["report", "TAPE", "--contention"], "critical": ["report", "TAPE", "--critical"],
            "idle": ["report", "TAPE", "--idle"], "memory": ["report", "TAPE", "--memory"],
            "diff": ["diff", "TAPE", "OTHER"], "diff by": ["diff", "TAPE", "OTHER", "--by", "op"],
            "export html": ["export", "TAPE", "--to", "html", "-o", "/dev/null", "--force"]}
# These commands may say that a tape has nothing for them.
REFUSALS = {"quiz": b"no question was found on the tape", "order": b"did not observe what entered|far more edges", "export html": b"the tape has no backward pass",
            "whatif": b"did not observe what entered|no backward pass of this tape ended well", "idle": b"did not observe what entered",
            "critical": b"did not observe what entered|no backward pass of this tape ended well"}
COMMANDS |= {f"render {view}": ["render", "TAPE", "--view", view, "--at", "end", "-o", "OUT.png"]
             for view in ("graph", "timeline", "queues", "overview")}
COMMANDS |= {f"export {form}": ["export", "TAPE", "--to", form, "-o", "OUT." + form, "--force"]
             for form in ("chrome", "csv", "dot", "folded", "perfetto", "speedscope", "sqlite")}
# A test's bounds. A cost that grows with the square has slope 2. Half a second is noise on a busy machine. What looks
# steep is measured again. Sanitized programs are only looked at for crashes: their times say nothing.
CHECK_SIZES, CHECK_SLOPE, CHECK_NOISE = ((250, 1000) if SANITIZED else (6000, 30000)), 1.6, 0.5
CHECK_COMMANDS = "info,info --json,events,state,state --json,why,chain,check,order,answers,findings,quiz,report,contention,whatif,critical,idle,memory,diff,diff by,render overview"
# Bytes, and bytes for each byte of the contents. Any tape may have 65,536 ids of each kind.
MEMORY_OF_ALL, MEMORY_OF_BYTE = 96 << 20, 64
OUTPUT_OF_ALL, OUTPUT_OF_EVENT = 64 << 10, 1 << 10
OUTPUT_OF_SHAPE = {"great-ids": 0, "forged": 0,  # a few events, whatever the size
                   "long-name": 2 << 10,  # each event has a text of 4 KiB, of which people see 1,000 bytes
                   "long-names": 8 << 10}  # a unit is six events, with up to three names each
# JSON has each name whole: what it prints follows the events times the length of the name.
WHOLE_IN_JSON = {"long-names"}


class Cost:
    def __init__(self, seconds, kibibytes, printed, failed):
        self.seconds, self.memory, self.printed, self.failed = seconds, kibibytes << 10, printed, failed


def measure(arguments, limit, refusal=None):
    """Runs a command. Its processor time is its time, so that a busy machine changes little. `refusal` is what it may say
    if it ends with status 2."""
    child = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    killer = threading.Timer(limit, child.kill)
    killer.start()
    printed = tail = 0
    while block := child.stdout.read(1 << 16):
        printed += len(block)
        tail = block[-200:]
    _, status, usage = os.wait4(child.pid, 0)
    killer.cancel()
    child.returncode = os.waitstatus_to_exitcode(status)
    is_refusal = refusal and child.returncode == 2 and re.search(refusal, tail)
    failed = f"status {child.returncode}: {tail}" if child.returncode not in (0, 1) and not is_refusal else None
    return Cost(usage.ru_utime + usage.ru_stime, usage.ru_maxrss, printed, failed)


class Tape:
    """A tape, and another of nearly the same size to compare it with. `n_contents` are the bytes of the tape if nothing
    is compressed."""

    def __init__(self, shape, size, folder):
        self.path, self.other = (os.path.join(folder, f"{shape}-{n}.tape") for n in (size, size + 1))
        unpacked = os.path.join(folder, "unpacked")
        subprocess.run([MAKE, shape, str(size), self.path], check=True)
        subprocess.run([MAKE, shape, str(size + 1), self.other], check=True)
        subprocess.run([UNPACK, self.path, unpacked], check=True)
        self.n_bytes = os.path.getsize(self.path)
        self.n_contents = max(self.n_bytes, os.path.getsize(unpacked))


def slope(small, great, n_small, n_great, floor):
    """Of log cost over log size. What is below the floor is noise and counts as the floor."""
    return math.log(max(great, floor) / max(small, floor)) / math.log(n_great / n_small)


def shapes():
    return subprocess.run([MAKE], capture_output=True, text=True, check=True).stdout.split()


def goes_on(earlier):
    """Whether a command, which costs what `earlier` has, shall read the next size: not once it has taken too long."""
    return not any(cost.failed for cost in earlier)


def may_be_steep(earlier):
    """The same where the greatest size comes first: what is quick there may have any slope, and so has what a sanitizer slows down."""
    return not earlier or goes_on(earlier) and not SANITIZED and all(cost.seconds > CHECK_NOISE for cost in earlier)


def is_steep(by_size):
    small, great = (by_size.get(size) for size in CHECK_SIZES)
    return not SANITIZED and bool(small and great) and great.seconds > CHECK_NOISE and slope_of_check(small, great) > CHECK_SLOPE


def slope_of_check(small, great):
    return slope(small.seconds, great.seconds, *CHECK_SIZES, CHECK_NOISE / 8)


def measure_again(shape, found, limit, folder):
    """Another program may have disturbed what looks steep. The lesser of up to three times counts."""
    for _ in range(2):
        steep = [command for command, by_size in found.items() if is_steep(by_size)]
        if not steep:
            return
        again, _ = costs(shape, CHECK_SIZES, steep, limit, folder)
        for command, by_size in again.items():
            for size, cost in by_size.items():
                if not cost.failed:
                    found[command][size].seconds = min(found[command][size].seconds, cost.seconds)


def costs(shape, sizes, commands, limit, folder, needs_more=goes_on):
    """{command: {size: Cost}}, and {size: Tape}, of the sizes that a command needs."""
    found, tapes = {command: {} for command in commands}, {}
    for size in sizes:
        needing = [command for command in commands if needs_more(found[command].values())]
        if not needing:
            continue
        tape = tapes[size] = Tape(shape, size, folder)
        for command in needing:
            files = {"TAPE": tape.path, "OTHER": tape.other}
            arguments = [os.path.join(folder, word) if word.startswith("OUT.") else files.get(word, word)
                         for word in COMMANDS[command]]
            found[command][size] = measure([TAPEDECK, *arguments], limit, REFUSALS.get(command))
        os.unlink(tape.path)
        os.unlink(tape.other)
    return found, tapes


class Row:
    """What a command costs with the greatest tape that it could read, and the slopes up to there."""

    def __init__(self, command, by_size):
        self.command = command
        sizes = sorted(size for size, cost in by_size.items() if not cost.failed)
        self.failed = [f"{size}: {cost.failed}" for size, cost in by_size.items() if cost.failed]
        self.size = sizes[-1] if sizes else 0
        self.cost = by_size[self.size] if sizes else Cost(0, 0, 0, None)
        self.slope_of_time = self.slope_of_memory = math.nan
        if len(sizes) > 1:
            before, ends = by_size[sizes[-2]], sizes[-2:]
            self.slope_of_time = slope(before.seconds, self.cost.seconds, *ends, 0.02)
            self.slope_of_memory = slope(before.memory, self.cost.memory, *ends, 1)

    def time(self):
        return f"{self.cost.seconds:.2f} | {self.slope_of_time:.1f}"

    def memory(self):
        return f"{self.cost.memory / 1e6:.0f} | {self.slope_of_memory:.1f}"


EACH_HEAD = """| shape and events | tape, bytes | contents, bytes | command | seconds | slope | MB | slope | printed, bytes |
| --- | ---: | ---: | --- | ---: | ---: | ---: | ---: | ---: |"""
WORST_HEAD = """| shape and events | tape, bytes | contents, bytes | slowest | seconds | slope | most memory | MB | slope |
| --- | ---: | ---: | --- | ---: | ---: | --- | ---: | ---: |"""


def tell(shape, found, tapes):
    for row in (Row(command, by_size) for command, by_size in found.items()):
        tape = tapes[row.size or min(tapes)]
        print(f"| {shape} {row.size:,} | {tape.n_bytes:,} | {tape.n_contents:,} | {row.command} | {row.time()} | {row.memory()} "
              f"| {row.cost.printed:,}{'; '.join(['', *row.failed])} |", flush=True)


def tell_worst(shape, found, tapes):
    rows = [Row(command, by_size) for command, by_size in found.items()]
    slowest, hungriest = max(rows, key=lambda row: row.cost.seconds), max(rows, key=lambda row: row.cost.memory)
    failed = "; ".join(["", *(f"{row.command} {text}" for row in rows for text in row.failed)])
    tape = tapes[max(tapes)]
    print(f"| {shape} {max(tapes):,} | {tape.n_bytes:,} | {tape.n_contents:,} | {slowest.command} | {slowest.time()} "
          f"| {hungriest.command} | {hungriest.memory()}{failed} |", flush=True)


def problems(shape, found, tapes):
    if not all(found.values()):
        yield f"a command read no tape of {shape}"
    for command, by_size in found.items():
        if is_steep(by_size):
            small, great = (by_size[size] for size in CHECK_SIZES)
            yield f"{command} of {shape} takes {great.seconds:.1f} s: its slope is {slope_of_check(small, great):.1f}"
        for size, cost in by_size.items():
            where = f"{command} of {shape} with {size} events"
            if cost.failed:
                yield f"{where}: {cost.failed}"
            if not SANITIZED and cost.memory > MEMORY_OF_ALL + MEMORY_OF_BYTE * tapes[size].n_contents:
                yield f"{where} takes {cost.memory >> 20} MiB"
            if cost.printed > OUTPUT_OF_ALL + OUTPUT_OF_SHAPE.get(shape, OUTPUT_OF_EVENT) * size:
                yield f"{where} prints {cost.printed} bytes"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="1000,4000,16000,64000")
    parser.add_argument("--shapes")
    parser.add_argument("--commands")
    parser.add_argument("--limit", type=float, default=60)
    parser.add_argument("--worst", action="store_true")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    sizes = CHECK_SIZES[::-1] if options.check else [int(size) for size in options.sizes.split(",")]
    commands = (options.commands or (CHECK_COMMANDS if options.check else ",".join(COMMANDS))).split(",")
    found_problems, begin = [], time.monotonic()
    if not options.check:
        print(WORST_HEAD if options.worst else EACH_HEAD)
    with tempfile.TemporaryDirectory() as folder:
        for shape in options.shapes.split(",") if options.shapes else shapes():
            fit = [command for command in commands if not (options.check and shape in WHOLE_IN_JSON and "--json" in command)]
            needs_more = may_be_steep if options.check and not is_thorough() else goes_on
            found, tapes = costs(shape, sizes, fit, options.limit, folder, needs_more)
            if options.check:
                measure_again(shape, found, options.limit, folder)
                found_problems += problems(shape, found, tapes)
            else:
                (tell_worst if options.worst else tell)(shape, found, tapes)
    for problem in found_problems:
        print(problem)
    print(f"{time.monotonic() - begin:.0f} s", file=sys.stderr)
    sys.exit(1 if found_problems else 0)


if __name__ == "__main__":
    main()

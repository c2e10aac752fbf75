#!/usr/bin/env python3
"""What hostile tapes cost: builds tapes of growing size and measures each command that reads them.

hostile.py [--sizes 1000,4000,16000,64000] [--shapes nested,pops] [--commands why,state] [--limit SECONDS]

prints a table in Markdown: for the greatest tape of each shape its size, and for each command the seconds of processor
time, the peak of memory, the bytes printed, and the slopes of time and memory over the number of events, log to log
(1: they grow as the tape does; 2: with its square). `--check` prints nothing and fails if a bound does not hold: that
is the test. Needs TAPEDECK and BUILD_ROOT, or runs in a checkout with build/.
"""
import argparse
import math
import os
import subprocess
import sys
import tempfile
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("BUILD_ROOT", os.path.join(ROOT, "build"))
TAPEDECK = os.environ.get("TAPEDECK", os.path.join(BUILD, "app", "tapedeck"))
MAKE = os.path.join(BUILD, "tests", "make_hostile")
SANITIZED = "ASAN_OPTIONS" in os.environ
COMMANDS = {"info": ["info", "TAPE"], "info --json": ["info", "TAPE", "--json"], "events": ["events", "TAPE"], "events --json": ["events", "TAPE", "--json"],
            "state": ["state", "TAPE", "--at", "end"], "state --json": ["state", "TAPE", "--at", "end", "--json"],
            "why": ["why", "TAPE", "--at", "end"], "check": ["check", "TAPE"], "diff": ["diff", "TAPE", "TAPE"]}
COMMANDS |= {f"render {view}": ["render", "TAPE", "--view", view, "--at", "end", "-o", "OUT.png"]
             for view in ("graph", "timeline", "queues", "overview")}
# A test's bounds. A cost that grows with the square has slope 2. Half a second is noise on a busy machine.
CHECK_SIZES, CHECK_SLOPE, CHECK_NOISE = ((1000, 4000) if SANITIZED else (10000, 60000)), 1.6, 0.5
CHECK_COMMANDS = "info,info --json,events,state,state --json,why,check,diff,render overview"
MEMORY_OF_ALL, MEMORY_OF_EVENT = 160 << 20, 6 << 10  # bytes
OUTPUT_OF_ALL, OUTPUT_OF_EVENT = 64 << 10, 1 << 10
FEW_EVENTS = {"great-ids"}  # their tapes have a few events, whatever the size


class Cost:
    def __init__(self, seconds, kibibytes, printed, failed):
        self.seconds, self.memory, self.printed, self.failed = seconds, kibibytes << 10, printed, failed


def measure(arguments, limit):
    """Runs a command. Its processor time is its time, so that a busy machine changes little."""
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
    failed = f"status {child.returncode}: {tail}" if child.returncode not in (0, 1) else None
    return Cost(usage.ru_utime + usage.ru_stime, usage.ru_maxrss, printed, failed)


def make(shape, size, path):
    subprocess.run([MAKE, shape, str(size), path], check=True)
    return os.path.getsize(path)


def slope(small, great, n_small, n_great, floor):
    """Of log cost over log size. What is below the floor is noise and counts as the floor."""
    return math.log(max(great, floor) / max(small, floor)) / math.log(n_great / n_small)


def shapes():
    return subprocess.run([MAKE], capture_output=True, text=True, check=True).stdout.split()


def costs(shape, sizes, commands, limit, folder):
    """{command: {size: Cost}}, and the bytes of the greatest tape. Stops with the first size that takes too long."""
    found = {command: {} for command in commands}
    for size in sizes:
        tape = os.path.join(folder, f"{shape}-{size}.tape")
        n_bytes = make(shape, size, tape)
        for command in commands:
            earlier = found[command].values()
            if any(cost.failed for cost in earlier):
                continue
            arguments = [os.path.join(folder, word) if word == "OUT.png" else tape if word == "TAPE" else word
                         for word in COMMANDS[command]]
            found[command][size] = measure([TAPEDECK, *arguments], limit)
        os.unlink(tape)
    return found, n_bytes


def tell(shape, found, n_bytes):
    for command, by_size in found.items():
        sizes = sorted(size for size, cost in by_size.items() if not cost.failed)
        failed = [f"{size}: {cost.failed}" for size, cost in by_size.items() if cost.failed]
        if not sizes:
            print(f"| {shape} | {n_bytes} | {command} | {failed[0]} | | | | |", flush=True)
            continue
        last, before = by_size[sizes[-1]], by_size[sizes[-2]] if len(sizes) > 1 else by_size[sizes[-1]]
        if len(sizes) > 1:
            times = slope(before.seconds, last.seconds, sizes[-2], sizes[-1], 0.02)
            memories = slope(before.memory, last.memory, sizes[-2], sizes[-1], 1)
        else:
            times = memories = math.nan
        note = f"; {failed[0]}" if failed else ""
        print(f"| {shape} {sizes[-1]:,} | {n_bytes:,} | {command} | {last.seconds:.2f}{note} | {last.memory / 1e6:.0f} "
              f"| {last.printed:,} | {times:.1f} | {memories:.1f} |", flush=True)


def problems(shape, found):
    for command, by_size in found.items():
        small, great = by_size[CHECK_SIZES[0]], by_size.get(CHECK_SIZES[1], by_size[CHECK_SIZES[0]])
        times = slope(small.seconds, great.seconds, *CHECK_SIZES, CHECK_NOISE / 8)
        for size, cost in by_size.items():
            where = f"{command} of {shape} with {size} events"
            if cost.failed:
                yield f"{where}: {cost.failed}"
            if cost.seconds > CHECK_NOISE and times > CHECK_SLOPE:
                yield f"{where} takes {cost.seconds:.1f} s: its slope is {times:.1f}"
            if not SANITIZED and cost.memory > MEMORY_OF_ALL + MEMORY_OF_EVENT * size:
                yield f"{where} takes {cost.memory >> 20} MiB"
            if cost.printed > OUTPUT_OF_ALL + OUTPUT_OF_EVENT * (0 if shape in FEW_EVENTS else size):
                yield f"{where} prints {cost.printed} bytes"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="1000,4000,16000,64000")
    parser.add_argument("--shapes")
    parser.add_argument("--commands")
    parser.add_argument("--limit", type=float, default=60)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    sizes = CHECK_SIZES if options.check else [int(size) for size in options.sizes.split(",")]
    commands = (options.commands or (CHECK_COMMANDS if options.check else ",".join(COMMANDS))).split(",")
    found_problems, begin = [], time.monotonic()
    if not options.check:
        print("| shape and size | bytes of the tape | command | seconds | MB at most | bytes printed "
              "| slope of time | of memory |\n| --- | --- | --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        for shape in options.shapes.split(",") if options.shapes else shapes():
            found, n_bytes = costs(shape, sizes, commands, options.limit, folder)
            if options.check:
                found_problems += problems(shape, found)
            else:
                tell(shape, found, n_bytes)
    for problem in found_problems:
        print(problem)
    print(f"{time.monotonic() - begin:.0f} s", file=sys.stderr)
    sys.exit(1 if found_problems else 0)


if __name__ == "__main__":
    main()

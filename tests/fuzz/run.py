#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Fuzzes the targets of tests/fuzz/meson.build, each for some seconds.

    tests/fuzz/run.py [--afl] [--seconds N] [--seed N] [--jobs N] [TARGET...]

Configures and builds build-fuzz/ with clang and libFuzzer, or build-afl/ with afl++. New inputs stay in the build
folder, so a later run goes on from there; afl++ then counts on. Prints a line per target. Exits with 1 if an input crashed, hung for 30
seconds or took too much memory: that input lies in tests/fuzz/corpus/TARGET/ then. Exits with 77 if the compiler is
not installed.
"""
import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
CORPUS = ROOT / "tests/fuzz/corpus"
HANG_SECONDS = 30
MEMORY_MB = 1024
SANITIZERS = {
    "ASAN_OPTIONS": "quarantine_size_mb=16:abort_on_error=1:symbolize=0:allocator_may_return_null=1",
    "UBSAN_OPTIONS": "halt_on_error=1:abort_on_error=1:print_stacktrace=1:symbolize=0",
}


class Target:
    def __init__(self, test):
        self.name = test["name"].removeprefix("fuzz_")
        self.program, *folders = test["cmd"]
        self.folders = [pathlib.Path(folder) for folder in folders if pathlib.Path(folder).exists()]
        self.max_bytes = test["env"]["FUZZ_MAX_BYTES"]

    def keep(self, found, how):
        """Puts an input that must not be lost into the corpus."""
        name = f"{how}-{hashlib.sha1(found.read_bytes()).hexdigest()[:12]}"
        (CORPUS / self.name).mkdir(exist_ok=True)
        shutil.copy(found, CORPUS / self.name / name)


class LibFuzzer:
    name, build, compiler = "libFuzzer", ROOT / "build-fuzz", "clang"
    environment = {**SANITIZERS, "ASAN_OPTIONS": SANITIZERS["ASAN_OPTIONS"].replace("symbolize=0", "symbolize=1")}
    options = ["-Db_sanitize=address,undefined", "-Dc_args=-fsanitize=fuzzer-no-link"]

    def run(self, target, seconds, seed):
        place = self.build / "found" / target.name
        grown, crashes = place / "corpus", place / "crashes"
        grown.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(crashes, ignore_errors=True)
        crashes.mkdir()
        command = [target.program, f"-max_total_time={seconds}", f"-seed={seed}", f"-timeout={HANG_SECONDS}",
                   "-print_final_stats=1", f"-rss_limit_mb={MEMORY_MB}", f"-max_len={target.max_bytes}", f"-artifact_prefix={crashes}/",
                   grown, *target.folders]
        with (place / "log").open("wb") as log:
            ended = subprocess.run(command, env={**os.environ, **self.environment}, stdout=log, stderr=log)
        text = (place / "log").read_text(errors="replace")
        found = list(crashes.iterdir())
        for path in found:
            target.keep(path, path.name.split("-")[0])
        number = re.search(r"number_of_executed_units: (\d+)", text)
        return int(number[1]) if number else 0, seconds, max(len(found), int(ended.returncode != 0)), place / "log"


class Afl:
    name, build, compiler = "afl++", ROOT / "build-afl", "afl-clang-fast"
    environment = {**SANITIZERS, "AFL_SKIP_CPUFREQ": "1", "AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES": "1", "AFL_NO_UI": "1",
                   "AFL_NO_AFFINITY": "1", "AFL_AUTORESUME": "1"}
    options = ["-Db_sanitize=address"]

    def run(self, target, seconds, seed):
        place = self.build / "found" / target.name
        seeds, out = place / "seeds", place / "out"
        shutil.rmtree(seeds, ignore_errors=True)
        seeds.mkdir(parents=True)
        for folder in target.folders:
            for path in folder.iterdir():
                shutil.copy(path, seeds / f"{folder.name}-{path.name}")
        before = set(self.found_in(out))
        command = ["afl-fuzz", "-i", seeds, "-o", out, "-V", str(seconds), *(["-s", str(seed)] if seed else []),
                   "-m", "none", "-t", str(HANG_SECONDS * 1000), "-G", target.max_bytes, "--", target.program]
        with (place / "log").open("wb") as log:
            ended = subprocess.run(command, env={**os.environ, **self.environment}, stdout=log, stderr=log)
        found = [path for path in self.found_in(out) if path not in before]
        for path in found:
            target.keep(path, "hang" if path.parent.name == "hangs" else "crash")
        stats = out / "default/fuzzer_stats"
        text = stats.read_text() if stats.exists() else ""
        number = re.search(r"^execs_done +: (\d+)", text, re.MULTILINE)
        length = re.search(r"^run_time +: (\d+)", text, re.MULTILINE)
        failed = int(ended.returncode != 0 or not number)
        return (int(number[1]) if number else 0, int(length[1]) if length else 0, max(len(found), failed),
                place / "log")

    @staticmethod
    def found_in(out):
        return [path for folder in ("crashes", "hangs") for path in sorted((out / "default" / folder).glob("id:*"))]


def build(fuzzer):
    if not (fuzzer.build / "build.ninja").exists():
        subprocess.run(["meson", "setup", fuzzer.build, "-Dgtk=disabled", "-Dfuzzer=true", "-Db_lundef=false",
                        "-Dbuildtype=debugoptimized", *fuzzer.options], cwd=ROOT, check=True,
                       env={**os.environ, "CC": fuzzer.compiler}, stdout=sys.stderr)
    subprocess.run(["ninja", "-C", fuzzer.build, "fuzz-targets"], cwd=ROOT, check=True, stdout=sys.stderr)


def targets_of(fuzzer, wanted):
    listed = subprocess.run(["meson", "introspect", "--tests", fuzzer.build], check=True, stdout=subprocess.PIPE)
    targets = [Target(test) for test in json.loads(listed.stdout)
               if any(suite.split(":")[-1] == "fuzz" for suite in test["suite"])]
    unknown = set(wanted) - {target.name for target in targets}
    if unknown:
        sys.exit(f"run.py: no target {', '.join(sorted(unknown))}")
    return [target for target in targets if not wanted or target.name in wanted]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--afl", action="store_true", help="afl++ instead of libFuzzer")
    parser.add_argument("--seconds", type=int, default=30, help="for each target (30)")
    parser.add_argument("--seed", type=int, default=0, help="of the random changes; 0: another one each time (0)")
    parser.add_argument("--jobs", type=int, default=2, help="targets at a time (2)")
    parser.add_argument("targets", nargs="*", metavar="TARGET", help="all, if none is named")
    args = parser.parse_args()
    fuzzer = Afl() if args.afl else LibFuzzer()
    if not shutil.which(fuzzer.compiler):
        print(f"no fuzzing: {fuzzer.compiler} is not installed", file=sys.stderr)
        sys.exit(77)
    build(fuzzer)
    targets = targets_of(fuzzer, args.targets)
    n_crashes = 0
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for target, result in zip(targets, pool.map(lambda target: fuzzer.run(target, args.seconds, args.seed), targets)):
            n_execs, took_s, n_failed, log = result
            n_crashes += n_failed
            print(f"tried {target.name} by {fuzzer.name}: {n_execs}, {n_failed} failed, {took_s} s", flush=True)
            if n_failed:
                print(log, flush=True)
    return 1 if n_crashes else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
# A tape from the middle of a long run has great ids. All commands say the same about it as about the tape with small
# ids, but for the ids. It takes the same memory.
import os
import re
import subprocess
import sys
import tempfile
import unittest

import skipping

TAPEDECK = os.environ["TAPEDECK"]
TESTS = os.path.join(os.environ["BUILD_ROOT"], "tests")
DISTANCE = 3_000_000_000
SANITIZED = "ASAN_OPTIONS" in os.environ
ANYWHERE = [["info"], ["info", "--json"], ["check"], ["events", "--json"]]
AT_A_MOMENT = [["state"], ["state", "--json"], ["why"]]


def made(folder, name, *plan):
    """A made tape, and the same with great ids."""
    plain, *paths = (os.path.join(folder, f"{name}-{ids}.tape") for ids in ("plain", "small", "great"))
    subprocess.run([os.path.join(TESTS, "make_tape"), *map(str, plan[:4]), plain, *plan[4:]], check=True)
    for path, distance in zip(paths, (0, DISTANCE)):
        subprocess.run([os.path.join(TESTS, "shift_ids"), plain, str(distance), path], check=True)
    os.unlink(plain)
    return paths


def near(number):
    """Columns may be wider for a great number, so blanks before a number do not count."""
    blank, value = number[1], int(number[2])
    return f"{blank and ' '}{value - DISTANCE if value >= DISTANCE else value}"


def words(done, tape):
    text = (done.stdout + done.stderr).replace(tape, "TAPE")
    return done.returncode, re.sub(r"( *)\b(\d+)\b", near, re.sub(r'"file_bytes": \d+|size +.*', "", text))


class FarIds(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.tapes = {name: made(cls.folder.name, name, *plan) for name, plan in {
            "one": (40, 1, 1, 1), "threads": (120, 4, 3, 2), "training": (60, 2, 20, 3, "train"),
            "hooked": (80, 3, 2, 4, "hooked")}.items()}

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def said(self, command, tape, *options):
        done = subprocess.run([TAPEDECK, command[0], tape, *options, *command[1:]], capture_output=True, text=True,
                              timeout=120)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        return words(done, tape)

    def assert_same(self, tapes, command, *options):
        small, great = (self.said(command, tape, *options) for tape in tapes)
        self.assertEqual(small, great, (command, options))

    def test_ids_are_great(self):
        for small, great in self.tapes.values():
            events = subprocess.run([TAPEDECK, "events", great, "--json"], capture_output=True, text=True, check=True)
            ids = [int(number) for number in re.findall(r'"(?:node|graph_task)": (\d+)', events.stdout)]
            self.assertTrue(any(number > DISTANCE for number in ids))
            self.assertEqual(min(ids), 0)  # a leaf's

    def test_commands(self):
        for tapes in self.tapes.values():
            for command in ANYWHERE:
                self.assert_same(tapes, command)

    def test_moments(self):
        for tapes in self.tapes.values():
            events = subprocess.run([TAPEDECK, "events", tapes[0]], capture_output=True, text=True).stdout
            n = events.count("\n")
            for at in [*range(0, n, n // 12), "end"]:
                for command in AT_A_MOMENT:
                    self.assert_same(tapes, command, "--at", str(at))

    def test_passes(self):
        small, great = self.tapes["training"]
        self.assertEqual(self.said(["state"], small, "--pass", "7"),
                         self.said(["state"], great, "--pass", str(DISTANCE + 7)))
        refused = subprocess.run([TAPEDECK, "state", great, "--pass", "7"], capture_output=True, text=True)
        self.assertEqual(refused.returncode, 2)
        self.assertIn(f"there is no graph task 7; the tape has {DISTANCE} to {DISTANCE + 19}", refused.stderr)

    def test_differences(self):
        """Two tapes of the same ids, and one of each."""
        one, threads = self.tapes["one"], self.tapes["threads"]
        wanted = self.said(["diff", threads[0]], one[0])
        self.assertEqual(wanted[0], 1)
        self.assertEqual(wanted[1].replace(threads[0], ""),
                         self.said(["diff", threads[1]], one[1])[1].replace(threads[1], ""))
        for option in ([], ["--json"]):
            status, text = self.said(["diff", threads[1], *option], threads[0])
            self.assertEqual(status, 0, text)

    def test_pictures(self):
        """A timeline shows no ids."""
        for name, tapes in self.tapes.items():
            pictures = []
            for tape in tapes:
                path = os.path.join(self.folder.name, "picture.svg")
                subprocess.run([TAPEDECK, "render", tape, "--view", "timeline", "--at", "end", "-o", path], check=True,
                               capture_output=True)
                with open(path, "rb") as picture:
                    pictures.append(picture.read())
                for view in ("graph", "queues", "overview"):
                    subprocess.run([TAPEDECK, "render", tape, "--view", view, "-o", path], check=True, capture_output=True)
            self.assertEqual(*pictures, name)

    @unittest.skipIf(SANITIZED, "a sanitizer takes memory of its own")
    def test_memory(self):
        tapes = made(self.folder.name, "large", 40000, 2, 3, 5)
        for command in (["info"], ["state", "--at", "end"], ["why", "--at", "end"], ["check"]):
            small, great = (self.peak([TAPEDECK, command[0], tape, *command[1:]]) for tape in tapes)
            self.assertLess(great, 1.3 * small, command)

    def peak(self, arguments):
        child = subprocess.Popen(arguments, stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        self.assertIn(child.returncode, (0, 1), arguments)
        return usage.ru_maxrss


if __name__ == "__main__":
    skipping.main(argv=sys.argv)

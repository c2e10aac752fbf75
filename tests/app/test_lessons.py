#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
# The course in the terminal: every lesson holds, every false claim is found, and each can be walked through.
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

import skipping
import together
import torches
from course import LESSONS, NAMES, read_lesson, right_answers, run, walk
from record_case import plain_environment

TAPEDECK = os.environ["TAPEDECK"]


def spoil(claim):
    """The claim with another value, which is false."""
    if "=" in claim:
        return claim + "9"
    verb, about = claim.split(" ", 1)
    swapped = {"never": "later thread_new_never", "later": "never " + about, "earlier": "never " + about,
               "pops": "pops NoSuchNode", "order": f"order {about}, {about.split(',')[0]}"}
    return swapped[verb]


class LessonTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        os.environ["XDG_CACHE_HOME"] = self.folder.name

    def own(self, name, change):
        """A copy of a lesson, changed."""
        path = pathlib.Path(self.folder.name, f"{name}.lesson")
        shutil.copy(LESSONS / f"{name}.py", self.folder.name)
        path.write_text(change((LESSONS / f"{name}.lesson").read_text(encoding="utf-8")), encoding="utf-8")
        return path

    def refused(self, path, *words):
        done = run("check", path)
        self.assertEqual((done.returncode != 0, done.stdout.count("\n") + done.stderr.count("\n")), (True, 1), done)
        for word in words:
            self.assertIn(word, done.stdout + done.stderr)

    def test_all_hold(self):
        done = run("check", "--json")
        self.assertEqual([(row["name"], row["problem"]) for row in json.loads(done.stdout) if not row["holds"]], [])
        self.assertEqual(done.returncode, 0)

    def test_not_utf8(self):
        """GKeyFile would have no text for it, and no claims."""
        for key in ("text", "claims"):
            path = self.own("chain", lambda text: text)
            path.write_bytes(path.read_bytes().replace(f"\n{key}=".encode(), f"\n{key}=\xff".encode("latin-1"), 1))
            self.refused(path, f"'{key}' is not UTF-8")
            done = run("run", path, input="\n" * 20)
            self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (2, "", 1), done)

    def test_list(self):
        listed = json.loads(run("list", "--json").stdout)
        self.assertEqual(sorted(lesson["name"] for lesson in listed), NAMES)
        text = run("list").stdout.splitlines()
        self.assertEqual([line.split()[0] for line in text], [str(i + 1) for i in range(len(NAMES))])
        for lesson, line in zip(listed, text):
            parser = read_lesson(lesson["name"])
            self.assertIn(lesson["title"], line)
            self.assertEqual(lesson["steps"], len(parser.sections()) - 1)
            self.assertEqual(lesson["questions"], sum("ask" in parser[group] for group in parser.sections()))
            self.assertGreaterEqual(lesson["questions"], 2, lesson["name"])

    def test_false_claims(self):
        """Whatever a lesson claims, the opposite is found. Each time the script runs: so one claim of each third step, or all."""
        for name in NAMES:
            parser = read_lesson(name)
            for number, group in enumerate(parser.sections()):
                claims = parser[group].get("claims", "")
                if not torches.is_thorough() and number % 3 != len(name) % 3:
                    continue
                for claim in list(filter(None, map(str.strip, claims.split(";"))))[:None if torches.is_thorough() else 1]:
                    with self.subTest(lesson=name, group=group, claim=claim):
                        spoiled = claims.replace(claim, spoil(claim), 1)
                        path = self.own(name, lambda text: text.replace(f"claims={claims}", f"claims={spoiled}", 1))
                        self.refused(path, group.removeprefix("Step "))

    def test_other_script(self):
        path = self.own("chain", str)
        script = path.with_suffix(".py")
        script.write_text(script.read_text(encoding="utf-8").replace("* 3", "* 4"), encoding="utf-8")
        self.refused(path, "value MulBackward0 = 3", "it is 4")
        script.write_text("import torch\nraise SystemExit('no')\n", encoding="utf-8")
        self.refused(path, "failed: no")
        script.unlink()
        self.refused(path, "chain.py")

    def test_bad_files(self):
        changes = {"no number": ("number=1", "number=one", "number"),
                   "unknown key": ("text=A thread", "txt=A thread", "txt"),
                   "no text": ("text=A thread pops", "hint=A thread takes", "text"),
                   "unknown group": ("[Step first]", "[Stop first]", "Stop first"),
                   "no translation": ("hint[zh_CN]=只有", "text[de]=只有", "zh_CN"),
                   "unknown event": ("at=before queue_pop SinBackward0", "at=before queue_pup SinBackward0", "queue_pup"),
                   "unknown node": ("show=ExpBackward0", "show=LogBackward0", "LogBackward0"),
                   "no question": ("ask=pop", "ask=pip", "pip"),
                   "past": ("at=queue_push ExpBackward0", "at=queue_push MulBackward0", "does not come"),
                   "several": ("show=AccumulateGrad", "show=*Backward0", "/1"),
                   "no field": ("passes = 1", "last accumulate = steal", "field"),
                   "unknown field": ("passes = 1", "last accumulate colour = steal", "colour"),
                   "unknown node in a claim": ("later accumulate AccumulateGrad", "later accumulate Accumulate", "no node"),
                   "no group": ("[Lesson]", "", "")}
        for what, (old, new, word) in changes.items():
            with self.subTest(what):
                text = (LESSONS / "chain.lesson").read_text(encoding="utf-8")
                self.assertIn(old, text)
                self.refused(self.own("chain", lambda text: text.replace(old, new, 1)), word)

    def test_number_of_a_node(self):
        """Of several nodes of a name, a place and a claim mean the one with the number."""
        for old, new, word in (("at=queue_push MulBackward0/1", "at=queue_push MulBackward0/2", "order"),
                               ("at=queue_push MulBackward0/1", "at=queue_push MulBackward0/3", "does not come"),
                               ("last saved_tensor MulBackward0/2 version = 1", "last saved_tensor MulBackward0/1 version = 1",
                                "it is 0"),
                               ("earlier release MulBackward0/2", "earlier release MulBackward0/3", "no node")):
            with self.subTest(new):
                self.refused(self.own("versions", lambda text: text.replace(old, new, 1)), word)

    def on_tapedeck(self, name):
        """What the script prints on Tapedeck's engine, without devices, and the order of its nodes."""
        tape = pathlib.Path(self.folder.name, f"{name}.tape")
        done = subprocess.run([TAPEDECK, "run", "-o", tape, LESSONS / f"{name}.py"], capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout, self.order(tape)

    def order(self, tape):
        """The names of nodes as they ran, without labels and numbers."""
        told = subprocess.run([TAPEDECK, "events", "--kind", "node_begin", tape], capture_output=True, text=True, timeout=300)
        self.assertEqual(told.returncode, 0, told.stderr)
        return re.findall(r" node_begin +(\w+)", told.stdout)

    def test_on_pytorch(self):
        """The scripts run on PyTorch too. They print the same, and their nodes run in the same order."""
        torches.need_compiler()
        expected = {name: self.on_tapedeck(name) for name in NAMES}
        programs = {name: [str(LESSONS / f"{name}.py")] for name in NAMES}
        for version, python in torches.each():
            recorded = together.run(python, programs, self.folder.name, plain_environment(XDG_RUNTIME_DIR=self.folder.name),
                                    (TAPEDECK, "record"))
            for name, ended in recorded.items():
                with self.subTest(version=version, lesson=name):
                    self.assertEqual((ended.returncode, ended.stdout), (0, expected[name][0]), ended.stderr)
                    if (version, name) != ("1.13.1", "sequence"):  # it cannot set the number of a node
                        self.assertEqual(self.order(ended.tape), expected[name][1])

    def test_bad_use(self):
        for arguments in ([], ["list", "chain"], ["run"], ["run", "no-such"], ["run", "../chain"], ["check", "no-such"],
                          ["walk"], ["run", "chain", "--json"]):
            done = run(*arguments, stdin=subprocess.DEVNULL)
            self.assertEqual((done.returncode, done.stdout), (2, ""), arguments)

    def test_numbers_of_other_threads(self):
        """A reason speaks of the order of creation only if that is what the numbers show."""
        told = walk("sequence", [""] * 4)
        for numbers in ("0 against 1", "100 against 7"):
            self.assertIn(f"({numbers}), and the higher number goes first", told)
        self.assertIn("(2 against 3): the node created later in the forward pass goes first", told)

    def test_walks(self):
        for lesson in json.loads(run("list", "--json").stdout):
            name, n = lesson["name"], lesson["questions"]
            with self.subTest(name):
                blank = walk(name, [""] * n)
                self.assertIn(f"\n0 of {n} right.", blank)
                answers = list(right_answers(blank))
                self.assertEqual(len(answers), n)
                right = walk(name, answers)
                self.assertIn(f"\n{n} of {n} right.", right)
                for group in read_lesson(name).sections()[1:]:
                    self.assertIn(read_lesson(name)[group]["text"].split(". ")[0], " ".join(right.split()))


skipping.main()

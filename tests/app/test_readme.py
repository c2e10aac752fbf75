# SPDX-License-Identifier: LGPL-2.1-or-later
"""Every command line that README.md and the pages of resources/docs name runs: in a folder of its own, with the tapes that the
lines name. Words in capitals stand for something, and what is in brackets may be left out; each such part has a run of its own.
ELSEWHERE lists the lines that other tests run, because they want a window, a program that waits, another machine or PyTorch."""
import os
import pathlib
import re
import shutil
import sqlite3
import subprocess
import tempfile
import unittest

ROOT = os.environ["SOURCE_ROOT"]
TAPEDECK = os.environ["TAPEDECK"]

TRAIN = """
import torch
w = torch.ones(4, requires_grad=True)
optimizer = torch.optim.SGD([w], lr=0.1)
for step in range(3):
    optimizer.zero_grad()
    (w * 2 + w.exp()).sum().backward()
    optimizer.step()
"""
TRACE = """{"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "autograd::engine::evaluate_function: AddBackward0", "pid": 1, "tid": 1,
"ts": 1, "dur": 2, "args": {"Sequence number": 1, "Fwd thread id": 1}}]}"""

DUMP = """{"version": "2.10", "pg_config": {"0": {"ranks": "[0]"}}, "entries": [{"process_group": ["0", ""], "collective_seq_id": 1,
"profiling_name": "nccl:all_reduce", "time_created_ns": 1, "input_sizes": [[2]], "input_dtypes": ["Float"]}]}"""

# The first one that fits a line counts: the test that runs such lines, and words of its source.
ELSEWHERE = [
    (r"open ssh:|relay|(run|record) --live --listen", "app/test_remote.py", "relay"),
    (r"open .*--beside", "ui/test_window_compare.py", "--beside"),
    (r"open --lesson", "ui/test_window_lesson.py", "--lesson"),
    (r"open", "ui/test_window.py", '"open"'),
    (r"attach \d+|attach PID|attach \[PID\]", "app/test_attach.py", "'attach'"),
    (r"dump PID", "probe/test_keep.py", "dump"),
    (r"run --live --break choice", "control/test_choices.py", "choice"),
    (r"(run|record) --live", "control/test_live.py", "--live"),
    (r"record --keep", "probe/test_keep.py", "--keep"),
    (r"run --schedule", "control/test_choices.py", "--schedule"),
    (r"run --beside", "app/test_beside.py", "--beside"),
    (r"import /tmp/|findings job.tape", "exchange/test_dumps.py", '"import"'),
    (r"record", "probe/test_record.py", '"record"'),
    (r"fit", "probe/test_fit.py", '"fit"'),
    (r"bench --torch", "app/test_bench.py", "--torch="),
    (r"bench", "app/test_bench_small.py", "--small"),
]

# What a word stands for, where the words before it do not say it.
WORDS = {"FILE": "nan_from_sum.tape", "FILE.tape": "nan_from_sum.tape", "SCRIPT.py": "train.py", "WHEN": "nan", "N": "1",
         "FORMAT": "csv", "TRACE.json": "trace.json", "DUMP": "dump_rank_0",
         "POLICY": "fifo", "FUNCTION=X": "AddBackward0=0.5", "NAME.tape": "ties.tape"}
AFTER = {"--pass": "0", "--skip-first": "0", "report --by": "op", "--free": "AddBackward0", "run": "ties", "lesson": "chain", "schema": "info"}

# Lines that say less than the command wants to know.
INSTEAD = {"run": "run --help", "import": "import --help", "run --keep": "run --keep 2steps train.py", "COMMAND --help": "info --help",
           "whatif FILE -o FILE": "whatif FILE --policy fifo -o FILE"}

# They say what they found with their status.
JUDGES = ("answers", "findings", "check")


def documents():
    """The text of all, one after the other."""
    paths = [pathlib.Path(ROOT, "README.md"), *sorted(pathlib.Path(ROOT, "resources", "docs").glob("*.md"))]
    return "\n".join(path.read_text(encoding="utf-8") for path in paths)


def command_lines():
    """Of blocks and of what stands between backticks, without `tapedeck`."""
    text = documents()
    block = re.compile(r"^```\n(.*?)^```", re.MULTILINE | re.DOTALL)
    lines = [line for part in block.findall(text) for line in part.splitlines()]
    found = [re.match(r"(?:\$ )?(?:\$tapedeck|build/app/tapedeck|tapedeck) +(\S.*?)(?:\s+#.*)?$", line) for line in lines]
    spans = re.findall(r"`tapedeck ([^`]+)`", block.sub("", text))
    return list(dict.fromkeys([match[1] for match in found if match] + spans))


def test_elsewhere(line):
    return next(((path, words) for pattern, path, words in ELSEWHERE if re.match(pattern, line)), None)


def variants(line):
    """The line without what may be left out, and with each such part."""
    parts = re.findall(r"\[([^\]]*)\]", line)
    plain = re.sub(r"\s*\[[^\]]*\](\.\.\.)?", "", line)
    return [plain] + [f"{plain} {choice}" for part in parts for choice in part.split(" or ")]


def word_for(words, word):
    """What stands in the place of a word, by the words before it."""
    stem = word.removesuffix("...")
    if not re.search(r"\b[A-Z]+\b", stem):
        return word
    if words[-1] == "-o":
        return "made" + os.path.splitext(stem)[1]
    keys = [words[-1], f"{words[0]} {words[-1]}"] if words[-1].startswith("-") else []
    after = next((AFTER[key] for key in keys if key in AFTER), None)
    return after or WORDS.get(stem) or AFTER.get(words[0], stem)


def arguments_of(line):
    words = []
    for word in INSTEAD.get(line, line).split():
        words.append(word_for(words, word) if words else word)
    return words


class Readme(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.tapes = os.path.join(cls.temporary.name, "tapes")
        os.makedirs(os.path.join(cls.tapes, "out"))
        for name, text in (("train.py", TRAIN), ("trace.json", TRACE), ("dump_rank_0", DUMP)):
            with open(os.path.join(cls.tapes, name), "w", encoding="utf-8") as file:
                file.write(text)
        for arguments in (["nan_from_sum"], ["ties"], ["contention"], ["train.py"], ["--devices", "cpu,sim:2", "-o", "out/digits.tape", "digits"]):
            subprocess.run([TAPEDECK, "run", *arguments], cwd=cls.tapes, check=True, capture_output=True, timeout=300)
        for name in "AB":
            shutil.copy(os.path.join(cls.tapes, "train.tape"), os.path.join(cls.tapes, name + ".tape"))

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def run_line(self, words, folder):
        done = subprocess.run([TAPEDECK, *words], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300)
        self.assertIn(done.returncode, (0, 1) if words[0] in JUDGES else (0,), done)
        self.assertNotIn("Traceback", done.stderr)
        return done

    def in_fresh_folder(self, words):
        """Whatever a line makes, no other line finds."""
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(self.tapes, folder, dirs_exist_ok=True)
            if words[0] == "run":  # it would refuse to write over these
                for tape in pathlib.Path(folder).glob("*.tape"):
                    tape.unlink()
            before = set(os.listdir(folder))
            done = self.run_line(words, folder)
            made = set(os.listdir(folder)) - before
            self.assertTrue(done.stdout or made, "nothing came of it")
            for tape in (name for name in made if name.endswith(".sqlite")):
                self.ask(os.path.join(folder, tape))

    def ask(self, database):
        """The questions of the documents."""
        questions = re.findall(r"^sqlite3 \S+ ['\"](.*)['\"]$", documents(), re.MULTILINE)
        self.assertEqual(len(questions), 2)
        with sqlite3.connect(database) as connection:
            for question in questions:
                connection.execute(question).fetchall()

    def test_lines(self):
        lines = [line for line in command_lines() if not test_elsewhere(line)]
        self.assertGreater(len(lines), 30)
        for words in dict.fromkeys(tuple(arguments_of(variant)) for line in lines for variant in variants(line)):
            with self.subTest(" ".join(words)):
                self.in_fresh_folder(words)

    def test_elsewhere(self):
        """The tests that run the other lines are there, and each of ELSEWHERE has a line."""
        lines = [line for line in command_lines() if test_elsewhere(line)]
        used = {test_elsewhere(line) for line in lines}
        self.assertEqual([(path, words) for _, path, words in ELSEWHERE if (path, words) not in used], [])
        with open(os.path.join(ROOT, "tests", "meson.build"), encoding="utf-8") as file:
            table = file.read()
        for path, words in used:
            self.assertIn(f"'{path}'", table)
            with open(os.path.join(ROOT, "tests", path), encoding="utf-8") as file:
                self.assertIn(words, file.read(), path)

    def test_all_commands(self):
        """A command of the program has a line."""
        with open(os.path.join(ROOT, "app", "commands.def"), encoding="utf-8") as file:
            commands = re.findall(r"^TD_COMMAND\((\w+)", file.read(), re.MULTILINE)
        self.assertEqual(set(commands) - {line.split()[0] for line in command_lines()}, set())


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What `answers` says is what the commands say from which it is made: findings, report, report --contention, report --memory."""
import json
import os
import subprocess
import tempfile
import unittest

import skipping

TAPEDECK = os.environ["TAPEDECK"]
EXAMPLES = ("mlp", "contention", "where_mask", "losses_kept", "two_devices", "wrong_shape", "hooks_grow")
TOPICS = ["wrong", "time", "waits", "memory", "unlooked"]
MOST = 4  # of one topic


def run(*words, ok=(0,)):
    done = subprocess.run([TAPEDECK, *words], capture_output=True, text=True, timeout=120)
    assert done.returncode in ok, (words, done.returncode, done.stderr)
    return done.stdout


def asked(tape, *words, ok=(0,)):
    return json.loads(run(words[0], tape, *words[1:], "--json", ok=ok))


class Answers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.tapes = {name: os.path.join(cls.folder.name, name + ".tape") for name in EXAMPLES}
        for name, tape in cls.tapes.items():
            run("run", "-o", tape, name, ok=(0, 1))

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def of_each(self):
        for name, tape in self.tapes.items():
            with self.subTest(name):
                told = asked(tape, "answers", ok=(0, 1))
                yield tape, told, lambda topic, told=told: [answer for answer in told["answers"] if answer["topic"] == topic]

    def test_order(self):
        for tape, told, of in self.of_each():
            places = [TOPICS.index(answer["topic"]) for answer in told["answers"]]
            self.assertEqual(places, sorted(places))
            self.assertTrue(all(len(of(topic)) <= MOST for topic in TOPICS))
            self.assertTrue(all(of(topic) for topic in TOPICS[:-1]))

    def test_wrong(self):
        for tape, told, of in self.of_each():
            found = asked(tape, "findings", ok=(0, 1))
            if not found["findings"]:
                failed = f"The program failed with status {found['status']}, and the tape shows no cause"
                self.assertEqual([answer["text"] for answer in of("wrong")], [failed if found["status"] else "Nothing, of what was looked for"])
                continue
            places = [(item["seq"], item["node"], item["step"], item["graph_task"], item["line"], item["text"]) for item in found["findings"]]
            self.assertEqual([(answer["seq"], answer["node"], answer["step"], answer["graph_task"], answer["line"], answer["detail"])
                              for answer in of("wrong")], places[:MOST])
            self.assertEqual(len(of("wrong")) + told["left_out"]["wrong"], len(places) + found["left_out"])

    def test_exit_status(self):
        for name, bad in (("mlp", 0), ("where_mask", 1)):
            self.assertEqual(subprocess.run([TAPEDECK, "answers", self.tapes[name]], capture_output=True).returncode, bad)

    def test_time(self):
        for tape, told, of in self.of_each():
            report = asked(tape, "report")
            passes, *rest = of("time")
            self.assertEqual((passes["ns"], passes["text"].split()[0]), (report["wall"], str(report["passes"])))
            functions = [answer for answer in rest if not answer["text"].startswith("In no function: ")]
            self.assertEqual([(answer["text"].rpartition(", ")[0], answer["ns"]) for answer in functions],
                             [(row["key"], row["self"]) for row in report["rows"][:len(functions)]])
            self.assertLessEqual(sum(answer["share"] for answer in rest), 1.0001)

    def test_waits(self):
        for tape, told, of in self.of_each():
            contention = asked(tape, "report", "--contention")
            locks = [answer for answer in of("waits") if answer["text"].startswith("Waits for ")]
            self.assertEqual([answer["ns"] for answer in locks], [lock["waits"]["sum"] for lock in contention["locks"][:2]])
            self.assertEqual(not locks, any(answer["text"] == "No thread waited for a lock" for answer in of("waits")))
            lay = max((queue["longest_task"]["ns"] for queue in contention["queues"] if queue["longest_task"]), default=0)
            self.assertEqual([answer["ns"] for answer in of("waits") if " lay in queue " in answer["text"]], [lay] if lay else [])

    def test_memory(self):
        for tape, told, of in self.of_each():
            peak = asked(tape, "report", "--memory")["peak"]
            most, *holders = of("memory")
            self.assertEqual((most["bytes"], most["seq"]), (peak["bytes"], peak["seq"]))
            self.assertEqual([(answer["bytes"], answer["seq"], answer["node"]) for answer in holders],
                             [(holder["bytes"], holder["since"], holder["node"]) for holder in peak["holders"][:2]])

    def test_unlooked(self):
        """Without --anomaly, NaN and Inf were not looked for. With it, they were."""
        plain, looked = self.tapes["mlp"], self.tapes["where_mask"]
        self.assertIn("--anomaly", run("answers", plain).partition("What was not looked for")[2])
        self.assertNotIn("--anomaly", run("answers", looked, ok=(1,)))

    def test_damaged(self):
        """What is not on a tape that was cut off may have happened."""
        cut = os.path.join(self.folder.name, "cut.tape")
        with open(self.tapes["mlp"], "rb") as whole, open(cut, "wb") as file:
            file.write(whole.read()[:3000])
        self.assertIsNotNone(asked(cut, "info")["damage"])
        told = asked(cut, "answers")["answers"]
        for answer in told:
            if answer["ns"] is None and answer["bytes"] is None and answer["topic"] != "unlooked":
                self.assertRegex(answer["text"], "in what the tape has|is not known")
        self.assertIn("The tape is damaged", [answer for answer in told if answer["topic"] == "unlooked"][0]["text"])


if __name__ == "__main__":
    skipping.main()

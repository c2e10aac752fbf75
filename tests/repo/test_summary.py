# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a run of tests says at its end: of a project that has a test of each kind, and of logs that are not there."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

REPO = pathlib.Path(os.environ["SOURCE_ROOT"]) / "tests" / "repo"
TESTS = {
    "good": "exit 0",
    "busy": "i=0; while [ $i -lt 300000 ]; do i=$((i + 1)); done",
    "idle": "sleep 0.1",
    "missing": "echo 'needs a thing'; exit 77",
    "broken": "exit 1",
    "wavers": "[ -e wavered ] || { touch wavered; exit 1; }",
    "slow": "sleep 100",
}
TAP = "printf '1..3\\nok 1 /a\\nok 2 /b # SKIP none here\\nok 3 /c\\n'; exit 0"


class RunCase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="tapedeck-test-")
        cls.addClassCleanup(folder.cleanup)
        cls.root = pathlib.Path(folder.name)
        cls.folder = cls.root / "build"
        lines = ["project('tried')", "sh = find_program('sh')"]
        lines += [f"test('{name}', sh, args: ['-c', '''{script}'''], suite: 'first', timeout: {1 if name == 'slow' else 30})"
                  for name, script in TESTS.items()]
        lines += [f"test('spoken', sh, args: ['-c', '''{TAP}'''], suite: 'second', protocol: 'tap')"]
        (cls.root / "meson.build").write_text("\n".join(lines))
        subprocess.run(["meson", "setup", cls.folder, cls.root], check=True, capture_output=True)

    def run_tests(self, *options):
        """Returns the status of the run and of the summary, and the lines of the summary."""
        (self.folder / "wavered").unlink(missing_ok=True)
        done = subprocess.run([sys.executable, REPO / "run_tests.py", self.folder, *options], capture_output=True, text=True)
        return (done.returncode, *self.summary(self.folder))

    def summary(self, *folders):
        told = self.root / "told.json"
        done = subprocess.run([sys.executable, REPO / "summary.py", "--phase", "all of it=7", "--json", told, *folders],
                              capture_output=True, text=True)
        self.assertEqual(done.stderr, "")
        self.told = json.loads(told.read_text())
        return done.returncode, done.stdout.splitlines()

    def test_all_pass(self):
        ran, summed, lines = self.run_tests("good", "missing", "spoken")
        self.assertEqual((ran, summed), (0, 0))
        self.assertEqual(lines[-1], "3 passed, 0 failed, 2 skipped")
        self.assertIn("        7                        of the clock: all of it", lines)
        self.assertEqual({line.split()[-1]: int(line.split()[2]) for line in lines[1:3]}, {"first": 2, "second": 1})
        self.assertEqual(self.told["totals"], {"passed": 3, "skipped": 2})

    def test_processor_time(self):
        """What a test's children use counts. A test that sleeps uses nothing."""
        ran, _, lines = self.run_tests("busy", "idle")
        self.assertEqual(ran, 0)
        used = self.told["processors"]
        self.assertGreater(used["build busy"], 0.05)
        self.assertLess(used["build idle"], used["build busy"])
        self.assertEqual(len([line for line in lines if "of processors: build " in line]), 2)
        self.assertTrue(next(line for line in lines if "of processors: " in line).endswith("build busy"))

    def test_one_wavers(self):
        """It failed beside others and passed alone: that is no failure, and it is named."""
        ran, summed, lines = self.run_tests("good", "wavers")
        self.assertEqual((ran, summed), (0, 0))
        self.assertEqual(lines[-1], "2 passed, 0 failed, 0 skipped, 1 unsteady: wavers")
        self.assertRegex(lines[-2], r"^unsteady: .*: wavers: fail after \d+ s, then alone ok after \d+ s$")

    def test_some_fail_twice(self):
        ran, summed, lines = self.run_tests("good", "missing", "broken", "wavers", "slow")
        self.assertEqual((ran, summed), (1, 1))
        self.assertEqual(lines[-1], "2 passed, 2 failed, 1 skipped, 1 unsteady: wavers")
        self.assertRegex("\n".join(lines), r"failed: .*: broken: fail after \d+ s, then alone fail after \d+ s\n"
                                           r"failed: .*: slow: timeout after \d+ s, then alone timeout after \d+ s\n")

    def test_no_test_ran(self):
        self.assertEqual(self.summary(self.root / "nowhere")[0], 1)
        ran, summed, lines = self.run_tests("--suite", "none")
        self.assertEqual((ran, summed, lines[-1]), (1, 1, "0 passed, 1 failed, 0 skipped"))


if __name__ == "__main__":
    unittest.main()

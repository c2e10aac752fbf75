# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs a file of PyTorch's own tests, and writes the outcome of each: run_file.py FILE OUTCOMES [-k WORD]...

A line when a test begins, and one when it has ended: if the process dies, the file says in which test. -k takes tests whose name
has one of the words, or is one."""
import importlib.util
import os
import pathlib
import sys
import unittest


class Outcomes(unittest.TestResult):
    """Each test's outcome. A test whose subtests fail has failed."""
    def __init__(self, output):
        super().__init__()
        self.output, self.pid, self.outcome = output, os.getpid(), "ok"

    def write(self, test, word):
        if os.getpid() == self.pid:  # a child that a test forked comes here too
            os.write(self.output, f"{word}\t{test.id()}\n".encode())

    def startTest(self, test):
        super().startTest(test)
        self.outcome = "ok"
        self.write(test, "begin")

    def stopTest(self, test):
        super().stopTest(test)
        self.write(test, self.outcome)

    def addError(self, test, err):
        self.outcome = f"error {err[0].__name__}"
        if isinstance(test, unittest.suite._ErrorHolder):  # of a class or a module, which no startTest announced
            self.write(test, self.outcome)
        self.tell(test, err)

    def addFailure(self, test, err):
        self.outcome = f"failure {err[0].__name__}"
        self.tell(test, err)

    def addSubTest(self, test, subtest, err):
        if err:
            self.addFailure(test, err)

    def addSkip(self, test, reason):
        self.outcome = "skip"

    def addExpectedFailure(self, test, err):
        self.outcome = "expected failure"

    def addUnexpectedSuccess(self, test):
        self.outcome = "unexpected success"

    def tell(self, test, err):
        print(f"\n== {test.id()}\n{self._exc_info_to_string(err, test)}", file=sys.stderr, flush=True)


def load(path):
    """The file as a module of its own name, which the processes that it starts can import."""
    sys.path.insert(0, str(path.parent))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = sys.modules[path.stem] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main(path, outcomes, *options):
    words = [word for word in options if word != "-k"]
    sys.argv = [path]  # PyTorch's own tests read it
    loader = unittest.TestLoader()
    loader.testNamePatterns = [f"*{word}*" for word in words] or None
    output = os.open(outcomes, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    suite = loader.loadTestsFromModule(load(pathlib.Path(path).resolve()))
    result = Outcomes(output)
    result._original_stdout, result._original_stderr = sys.stdout, sys.stderr
    suite.run(result)
    os.write(output, b"end\t\n")


if __name__ == "__main__":
    main(*sys.argv[1:])

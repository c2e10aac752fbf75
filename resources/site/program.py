# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tapedeck, as pages call it: in the folder of the recordings, with the names that a reader would type."""
import json
import os
import re
import subprocess
import sys


class Program:
    def __init__(self, path, source, work):
        self.path, self.source, self.work = path, source, work
        sys.path.insert(0, str(source / "resources"))
        self.environment = {name: text for name, text in os.environ.items() if not name.startswith(("TAPEDECK", "LC_", "LANGUAGE"))}
        self.environment |= {"LANG": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1", "XDG_CACHE_HOME": str(work / "cache")}
        self.version = self.text("--version").split()[-1]

    def run(self, *arguments, may_fail=False, folder=None):
        """In `folder`, or where the recordings are. If it may fail, that is an answer of 1: bad usage never is."""
        folder = folder or self.work
        folder.mkdir(parents=True, exist_ok=True)
        done = subprocess.run([self.path, *map(str, arguments)], cwd=folder, env=self.environment, capture_output=True, encoding="utf-8",
                              stdin=subprocess.DEVNULL, timeout=300)
        if done.returncode > 1 or (done.returncode and not may_fail):
            sys.exit(f"make_site.py: tapedeck {' '.join(map(str, arguments))}: {done.stderr.strip() or done.returncode}")
        return done

    def text(self, *arguments):
        return self.run(*arguments).stdout

    def json(self, *arguments):
        """What it prints with --json. `findings` and others end with 1 if the answer is bad."""
        return json.loads(self.run(*arguments, "--json", may_fail=True).stdout)

    def without_paths(self, text):
        """The text as it would be with the sources in the reader's folder."""
        return re.sub(f"{re.escape(str(self.source))}/", "", text.replace(f"{self.work}/", ""))

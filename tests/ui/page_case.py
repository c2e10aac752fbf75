# SPDX-License-Identifier: LGPL-2.1-or-later
"""What tests of exported pages share: a browser, and what a page shows in the words of `state --json`."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

import browser

TAPEDECK = os.environ["TAPEDECK"]
OUTPUT = os.environ["TEST_OUTPUT"]

# What the page shows, in the words of `state --json`.
SHOWN = """({
  nodes: Object.fromEntries([...document.querySelectorAll('g.node')].map((node) => [node.dataset.node,
    [node.dataset.state, (node.getAttribute('aria-label').match(/(\\d+) of (\\d+) gradients/) || []).slice(1).map(Number)]])),
  queues: Object.fromEntries([...document.querySelectorAll('[data-queue]')].map((queue) => [queue.dataset.queue,
    [...queue.querySelectorAll('li')].map((task) => task.dataset.node === '' ? null : Number(task.dataset.node))])),
  threads: Object.fromEntries([...document.querySelectorAll('[data-thread]')].map((thread) => [thread.dataset.thread,
    [thread.dataset.activity, Number((thread.querySelector('[data-go]') || {dataset: {go: -1}}).dataset.go)]])),
})"""
SEEK = """new Promise((done) => {
  if (location.hash === '#at=%(place)s') return done();
  addEventListener('hashchange', () => done(), {once: true});
  location.hash = '#at=%(place)s';
})"""
SHOWN_TASKS = 12
PASS_SHOWN = """JSON.parse(document.getElementById('data').textContent).passes[
  document.getElementById('pass').value || 0].id"""


def run(*arguments, **options):
    return subprocess.run([TAPEDECK, *map(str, arguments)], capture_output=True, text=True, timeout=120, check=True, **options).stdout


def state_in(node, graph_task):
    """What a node does in a pass, of those that `state` has of it; else what it does at all."""
    return {one["graph_task"]: one["state"] for one in node.get("passes", ())}.get(graph_task, node["state"])


class PageCase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = cls.enterClassContext(tempfile.TemporaryDirectory())
        cls.browser = cls.enterClassContext(browser.Browser())
        os.makedirs(OUTPUT, exist_ok=True)

    def setUp(self):
        self.browser.resize(1500, 1000)
        self.browser.console.clear()
        self.browser.asked.clear()

    def tearDown(self):
        self.assertEqual(self.browser.console, [])
        self.assertFalse([address for address in self.browser.asked if not address.startswith(("file:", "about:"))])

    def path(self, name):
        return os.path.join(self.scratch, name)

    def assert_same_state(self, tape, at):
        """All that the page shows after event `at` is what `state` says."""
        told, shown = json.loads(run("state", tape, "--at", at, "--json")), self.browser.run(SHOWN)
        graph_task = self.browser.run(PASS_SHOWN)
        states = {str(node["id"]): state_in(node, graph_task) for node in told["nodes"]}
        self.assertEqual({node: facts[0] for node, facts in shown["nodes"].items() if facts[0] != "absent"},
                         {node: states[node] for node in shown["nodes"] if node in states}, f"nodes at {at}")
        for buffer in told["not_ready"]:
            if str(buffer["node"]) in shown["nodes"]:
                arrived, expected = shown["nodes"][str(buffer["node"])][1]
                self.assertEqual(expected - arrived, buffer["dependencies"], f"buffer at {at}")
        queues = {str(queue["id"]): queue["nodes"][:SHOWN_TASKS] for queue in told["queues"]}
        self.assertEqual(shown["queues"], {queue: queues[queue] for queue in shown["queues"]}, f"queues at {at}")
        threads = {str(one["id"]): [one["state"], -1 if one["node"] is None else one["node"]] for one in told["threads"]}
        self.assertEqual(shown["threads"], {one: threads[one] for one in shown["threads"]}, f"threads at {at}")
        return shown


def main():
    if not browser.PROGRAM:
        print("there is no chromium to look at the page with")
        sys.exit(77)
    unittest.main()

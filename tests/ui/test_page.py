# SPDX-License-Identifier: LGPL-2.1-or-later
"""The page of `tapedeck export --to html` in a browser: it shows the states that `state` prints, at any event. Keys and
clicks work, names of a tape stay names, and nothing leaves the page."""
import json
import os
import random
import re
import shutil
import subprocess

from page_case import main, OUTPUT, PageCase, run, SEEK, TAPEDECK

MAKE_TAPE = os.path.join(os.environ["BUILD_ROOT"], "tests", "make_tape")
CUT_TAPE = os.path.join(os.environ["BUILD_ROOT"], "tests", "cut_tape")

# A pass inside a node; and names that are HTML, or JavaScript, or the end of a script.
PROGRAM = r"""
import torch

class Again(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, gradient):
        with torch.enable_grad():
            inner = torch.ones(2, requires_grad=True)
            (inner * inner).sum().backward()
        return gradient * 2

hostile = {hostile!r}
Named = type(hostile, (Again,), {{}})
x = torch.ones(3, requires_grad=True)
(Named.apply(x) + Again.apply(x)).sum().backward()
"""
HOSTILE = "</script><img src=x onerror=\"hacked=1\"><!--<script>\u2028\u2029'\\\"`${hacked=1}&lt;"

def nanoseconds(text):
    value, unit = text.split()
    return float(value) * {"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9}[unit]


class Page(PageCase):
    def example(self, name, *options):
        run("run", *options, "-o", self.path(f"{name}.tape"), "--force", name)
        return self.path(f"{name}.tape")

    def random_tape(self, *plan):
        subprocess.run([MAKE_TAPE, *map(str, plan[:4]), self.path("random.tape"), *plan[4:]], check=True)
        return self.path("random.tape")

    def program(self):
        with open(self.path("program.py"), "w", encoding="utf-8") as file:
            file.write(PROGRAM.format(hostile=HOSTILE))
        run("run", "-o", self.path("program.tape"), "--force", self.path("program.py"))
        return self.path("program.tape")

    def export(self, tape, *options):
        page = tape.replace(".tape", ".html")
        self.assertEqual(run("export", tape, "--to", "html", "-o", page, "--force", *options), "")
        return page

    def passes(self, tape):
        return json.loads(run("info", tape, "--json"))["graph_tasks"]

    def compare(self, tape, graph_task, n, seed, *, inner=None):
        """Random events, so that the page goes forwards and back."""
        task = next(one for one in self.passes(tape) if one["id"] == graph_task)
        self.browser.open(self.export(tape, "--pass", inner if inner is not None else graph_task))
        places = random.Random(seed).choices(range(task["begin"], task["end"] + 1), k=n) + [task["end"], task["begin"]]
        states = set()
        for at in places:
            self.browser.run(SEEK % {"place": at if inner is None else f"{at}&pass={inner}"})
            shown = self.assert_same_state(tape, at)
            states |= {facts[0] for facts in shown["nodes"].values()}
        return states

    def test_states_of_examples(self):
        for name, *options in (["two_layers"], ["exp_product"], ["nan_from_sum", "--anomaly", "nonfinite"], ["digits"]):
            with self.subTest(name):
                states = self.compare(self.example(name, *options), 0, 6, name)
                self.assertLessEqual({"waiting", "done"}, states)

    def test_states_of_random_tapes(self):
        """Several threads and passes on the same nodes; queues that the tape only reconstructed."""
        self.compare(self.random_tape(150, 3, 2, 4), 1, 10, 1)
        self.compare(self.random_tape(60, 2, 2, 7, "hooked"), 0, 8, 2)
        self.compare(self.random_tape(30, 2, 3, 5, "overlap"), 2, 8, 3)

    def test_pass_inside_a_node(self):
        """The page of an inner pass is that of the pass around it, and shows the inner graph."""
        tape = self.program()
        outer, *inner = self.passes(tape)
        self.compare(tape, outer["id"], 8, 4, inner=inner[0]["id"])
        self.assertEqual(self.browser.run("document.querySelectorAll('#pass option').length"), 1 + len(inner))
        self.assertEqual(self.browser.run("document.querySelectorAll('g.node').length"), 3)

    def test_hostile_names(self):
        tape = self.program()
        page = self.export(tape)
        with open(page, encoding="utf-8") as file:
            text = file.read()
        data = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)[1]
        self.assertNotRegex(data, "[<>&\u2028\u2029]")
        self.assertIn(HOSTILE + "Backward", [node["name"] for node in self.data_of(page)["nodes"]])
        self.browser.open(page, "#at=%d" % self.passes(tape)[0]["end"])
        self.assertEqual(self.browser.run("[typeof hacked, document.images.length, document.scripts.length]"), ["undefined", 0, 2])
        self.assertIn("</script><img", self.browser.run("document.getElementById('report').textContent"))

    def data_of(self, page):
        with open(page, encoding="utf-8") as file:
            return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', file.read(), re.DOTALL)[1])

    def test_tape_in_segments(self):
        """A page of one segment is that of the whole tape, but for the tape's name."""
        whole = self.example("digits")
        cut = self.path("cut.tape")
        shutil.copy(whole, cut)
        subprocess.run([CUT_TAPE, cut, "600"], check=True, stdout=subprocess.DEVNULL)
        for graph_task in (0, 5, 23):
            pages = [self.data_of(self.export(tape, "--pass", str(graph_task))) for tape in (whole, cut)]
            self.assertEqual([page.pop("tape")["file"] for page in pages], ["digits.tape", "cut.tape"])
            self.assertEqual(*pages)

    def test_rows_of_another_pass(self):
        """A pass within a node needs a second row of its thread's lane. The page of another pass has no empty one for it."""
        with open(self.path("program.py"), "w", encoding="utf-8") as file:
            file.write(PROGRAM.format(hostile="") + "x.sum().backward()\n")
        run("run", "-o", self.path("program.tape"), "--force", self.path("program.py"))
        for graph_task, n_rows in ((0, 2), (3, 1)):
            lanes = self.data_of(self.export(self.path("program.tape"), "--pass", str(graph_task)))["lanes"]
            self.assertEqual(max(len(lane["rows"]) for lane in lanes), n_rows)

    def test_policy(self):
        """Even a script that came into the page would not run: the page allows its own alone."""
        self.browser.open(self.export(self.example("diamond")))
        self.browser.run("document.body.append(Object.assign(document.createElement('script'), {textContent: 'hacked = 1'}))")
        self.assertEqual(self.browser.run("typeof hacked"), "undefined")
        self.assertTrue(any("Content Security Policy" in line for line in self.browser.console), self.browser.console)
        self.browser.console.clear()

    def position(self):
        return self.browser.run("Number(document.getElementById('slider').value)")

    def test_keys_and_clicks(self):
        self.browser.open(self.export(self.example("two_layers")))
        self.browser.press("ArrowRight")
        self.browser.press("ArrowRight")
        self.browser.press("ArrowLeft")
        self.assertEqual(self.position(), 1)
        self.browser.press("ArrowRight", shift=True)
        self.assertIn("began", self.browser.run("document.getElementById('now').textContent"))
        self.browser.press("End")
        self.assertEqual(self.position(), self.browser.run("Number(document.getElementById('slider').max)"))
        self.browser.press("Home")
        self.browser.click("g.node[data-node='8']")
        self.assertIn("Addmm #8", self.browser.run("document.getElementById('node').textContent"))
        self.browser.run("new Promise((done) => { const look = () => /node=8/.test(location.hash) ? done() : requestAnimationFrame(look); look(); })")
        self.browser.click("#play")
        self.browser.run("new Promise((done) => { const look = () => document.getElementById('slider').value > 3 ? done() : requestAnimationFrame(look); look(); })")
        self.browser.press(" ")
        now = self.position()
        self.assertEqual(self.browser.run("document.getElementById('play').getAttribute('aria-label')"), "Play")
        self.browser.click("g.node[data-node='5']")
        self.assertEqual(self.position(), now)

    def test_without_a_pointer(self):
        """A keyboard and a screen reader are enough: all that one can press or choose has a name."""
        self.browser.open(self.export(self.example("two_layers")), "#at=150")
        controls = {"button", "slider", "combobox", "searchbox", "listbox", "option", "image"}
        tree = [node for node in self.browser.send("Accessibility.getFullAXTree")["nodes"] if not node["ignored"]]
        named = [(node["role"]["value"], node["name"]["value"]) for node in tree if node["role"]["value"] in controls]
        self.assertEqual([one for one in named if not one[1]], [])
        self.assertIn(("option", "Addmm #2, partial, 1 of 2 gradients"), named)
        self.browser.run("document.getElementById('graph').focus()")
        self.browser.press("ArrowDown")
        self.assertEqual(self.browser.run("document.querySelector('[aria-selected=true]').id"),
                         self.browser.run("document.getElementById('graph').getAttribute('aria-activedescendant')"))
        self.assertIn("Chosen", self.browser.run("document.getElementById('node-head').textContent"))
        self.browser.press("Escape")
        self.assertIn("this event", self.browser.run("document.getElementById('node-head').textContent"))
        self.browser.press("/")
        self.browser.send("Input.insertText", text="addmm")
        self.assertEqual(self.browser.run("[...document.querySelectorAll('.node.on')].map((node) => node.dataset.node).sort()"), ["2", "8"])

    def test_report(self):
        """The table is that of `report`."""
        tape = self.example("gpt_mini")
        self.browser.open(self.export(tape))
        for by in ("op", "node"):
            self.browser.run(f"(() => {{ const by = document.getElementById('by'); by.value = '{by}'; by.dispatchEvent(new Event('change')); }})()")
            self.browser.run("document.querySelector('#report-more button') && document.querySelector('#report-more button').click()")
            shown = self.browser.run("[...document.querySelectorAll('#report tbody tr')].map((row) => [row.dataset.key, ...[...row.cells].slice(1).map((cell) => cell.textContent)])")
            told = json.loads(run("report", tape, "--by", by, "--pass", 0, "--json"))["rows"]
            self.assertEqual({row[0] for row in shown}, {row["key"] for row in told})
            rows = {row["key"]: row for row in told}
            for key, self_time, share, n, *times in shown:
                row, parts = rows[key], rows[key]["parts"]
                numbers = [row["self"], row["p50"], row["p95"], row["max"], parts["pre_hooks"] + parts["post_hooks"],
                           parts["accumulate"] + parts["release"] + parts["push"], parts["lock_wait"], parts["queue_wait"], parts["dependency_wait"]]
                self.assertEqual(int(n), row["n"])
                for text, number in zip([self_time, *times], numbers, strict=True):
                    self.assertAlmostEqual(nanoseconds(text), number, delta=0.006 * number + 0.5)

    def test_findings(self):
        """The page says what `findings` says, of the whole tape. A click goes to an event that the page has."""
        for name, n_here in (("nan_from_sum", 0), ("sqrt_at_zero", 1)):  # the first is born before its pass
            tape = self.example(name)
            self.browser.open(self.export(tape))
            told = json.loads(subprocess.run([TAPEDECK, "findings", tape, "--json"], capture_output=True, text=True).stdout)["findings"]
            shown = self.browser.run("[...document.querySelectorAll('#problems > li[data-kind]')].map((one) => [one.dataset.kind, one.querySelector('p').textContent])")
            self.assertEqual(shown, [[one["kind"], one["text"].rstrip(".") + "."] for one in told])
            begin = self.passes(tape)[0]["begin"]
            here = [one["seq"] for one in told if one["seq"] >= begin]
            self.assertEqual((len(here), len(told)), (n_here, 1))
            self.assertEqual(self.browser.run("[...document.querySelectorAll('#problems button')].map((one) => Number(one.dataset.seq))"), here)
        self.browser.click("#problems button")
        self.assertEqual(self.position(), here[0] - begin + 1)
        self.browser.picture(os.path.join(OUTPUT, "page_findings.png"))

    def test_more_findings(self):
        """Of many, the first three are open."""
        with open(self.path("many.py"), "w", encoding="utf-8") as file:
            file.write("import torch\nfor name in ('sqrt', 'log', 'rsqrt', 'reciprocal', 'log1p'):\n"
                       "    x = torch.full((2,), -1.0 if name == 'log1p' else 0.0, requires_grad=True)\n"
                       "    (getattr(x, name)() * 0).sum().backward()\n")
        run("run", "--anomaly", "nonfinite", "-o", self.path("many.tape"), "--force", self.path("many.py"))
        self.browser.open(self.export(self.path("many.tape")))
        counts = self.browser.run("[document.querySelectorAll('#problems > li[data-kind]').length, document.querySelectorAll('#problems details li').length]")
        told = self.data_of(self.path("many.html"))["findings"]["items"]
        self.assertEqual(counts, [min(3, len(told)), max(0, len(told) - 3)])
        self.assertGreater(len(told), 3)

    def test_not_looked_for(self):
        """Of a tape of hooks alone, the page says what cannot be found on it."""
        tape = self.random_tape(60, 2, 2, 7, "hooked")
        self.browser.open(self.export(tape))
        told = subprocess.run([TAPEDECK, "findings", tape], capture_output=True, text=True).stdout
        kinds = re.search("Not judged, because the tape has no such events, or too many: (.*)[.]", told)[1]
        self.assertIn(kinds, self.browser.run("document.querySelector('#answers [data-topic=unlooked] details').textContent"))

    def test_no_findings(self):
        tape = self.example("two_layers")
        self.browser.open(self.export(tape))
        self.assertTrue(self.browser.run("document.getElementById('problems').hidden"))
        self.assertIn("Nothing, of what was looked for", self.browser.run("document.querySelector('#answers [data-topic=wrong]').textContent"))

    def test_answers(self):
        """The head of the page says what `answers` says. A click goes to an event that the page has."""
        tape = self.example("transformer_encoder")
        page = self.export(tape)
        self.browser.open(page)
        told = json.loads(run("answers", tape, "--json"))["answers"]
        shown = self.browser.run("[...document.querySelectorAll('#answers section')].map((one) => [one.dataset.topic, ...[...one.querySelectorAll('li')].map((row) => row.textContent)])")
        self.assertEqual([(topic, len(rows)) for topic, *rows in shown], [(topic, sum(one["topic"] == topic for one in told)) for topic in ("wrong", "time", "waits", "memory", "unlooked")])
        for one, row in zip(told, [row for _, *rows in shown for row in rows], strict=True):
            self.assertIn(one["text"], row)
            self.assertIn(f"{100 * one['share']:.0f} %" if one["share"] is not None else "", row)
            self.assertIn(f"event {one['seq']}" if one["seq"] is not None else "", row.replace("\u202f", ""))
        seq = self.browser.run("Number(document.querySelector('#answers button').dataset.seq)")
        self.browser.click("#answers button")
        self.assertEqual(self.position(), seq - self.data_of(page)["first"] + 1)
        self.browser.picture(os.path.join(OUTPUT, "page_answers.png"))

    def test_narrow_and_dark(self):
        """The page fits into a cell of a notebook. Pictures are there to be looked at."""
        page = self.export(self.example("digits"))
        for width, height, scheme in ((400, 900, "light"), (1600, 1000, "dark")):
            self.browser.resize(width, height, scheme)
            self.browser.open(page, "#at=9700")
            self.assertLessEqual(self.browser.run("document.documentElement.scrollWidth"), width)
            self.browser.picture(os.path.join(OUTPUT, f"page_{width}_{scheme}.png"))

    def test_too_large(self):
        """A pass with more events than a page has room for: the page says what it leaves out."""
        self.browser.open(self.export(self.random_tape(12000, 2, 1, 3)))
        left_out = self.browser.run("document.getElementById('left-out').textContent")
        self.assertRegex(left_out, r"The page has the first 100000 of \d+ events")
        self.assertRegex(left_out, r"The page has the first 6000 nodes")


if __name__ == "__main__":
    main()

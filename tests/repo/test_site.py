# SPDX-License-Identifier: LGPL-2.1-or-later
"""Builds the site of the documentation: each example, lesson and command has its page, links lead somewhere, HTML is well
formed, and no page asks for anything from elsewhere. In a browser, pages have no errors, and recordings play."""
import html.parser
import importlib.util
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import browser
import table

ROOT, TAPEDECK = pathlib.Path(os.environ["SOURCE_ROOT"]), os.environ["TAPEDECK"]
OUTPUT = pathlib.Path(os.environ["TEST_OUTPUT"])
EMPTY = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "wbr"}
WIDTHS = ((1280, "light"), (390, "dark"))


def make(folder, output):
    return subprocess.run([sys.executable, ROOT / "resources" / "site" / "make_site.py", "--program", TAPEDECK, "--source", ROOT, "--output", output,
                           "--work", folder / "work", "--tables", folder / "tables"], capture_output=True, text=True, timeout=600)


def build(folder):
    """With the data of one of the two tests that write some."""
    table.write(folder / "tables" / "conformance.json", ["row", "behaviour", "Tapedeck", "1.13.1", "remark"],
                [["A-01", "`a|b` comes first", "passed", "same", "C: `/engine/ready-queue/deeper-reentrant-first-and-then-the-others/A-01`"]])
    done = make(folder, folder / "site")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "no page of learners: " in done.stderr, done.stderr
    return folder / "site"


def answer(*arguments):
    return json.loads(subprocess.run([TAPEDECK, *arguments, "--json"], capture_output=True, text=True, check=True).stdout)


class Reader(html.parser.HTMLParser):
    """What a page has: ids, links, what it loads; and where its tags do not fit together."""

    def __init__(self, text):
        super().__init__()
        self.open, self.wrong, self.ids, self.links, self.loads, self.headings, self.unnamed = [], [], [], [], [], 0, []
        self.feed(text)
        self.close()
        self.wrong += [f"<{tag}> is not closed" for tag in self.open]

    def handle_starttag(self, tag, attributes):
        facts = dict(attributes)
        if len(facts) < len(attributes):
            self.wrong.append(f"<{tag}> has an attribute twice")
        if tag not in EMPTY:
            self.open.append(tag)
        self.ids += [facts["id"]] if "id" in facts else []
        self.links += [facts["href"]] if tag == "a" else []
        self.loads += [facts[name] for name in ("src", "srcset", "data", "poster", "action") if name in facts]
        self.loads += [facts["href"]] if tag == "link" else []
        self.headings += tag == "h1"
        if (tag == "img" and "alt" not in facts) or (tag == "iframe" and not facts.get("title")):
            self.unnamed.append(tag)

    def handle_endtag(self, tag):
        if self.open and self.open[-1] == tag:
            self.open.pop()
        else:
            self.wrong.append(f"line {self.getpos()[0]}: </{tag}> after <{self.open[-1:]}>")


class SitePages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.site = build(cls.folder)
        cls.files = {path.relative_to(cls.site).as_posix(): path for path in cls.site.rglob("*") if path.is_file()}
        cls.pages = {name: Reader(path.read_text(encoding="utf-8")) for name, path in cls.files.items() if name.endswith(".html")}
        cls.own = {name: page for name, page in cls.pages.items() if not name.endswith(".play.html")}

    def test_has_a_page_for_each(self):
        commands = re.findall(r"^TD_COMMAND\((\w+)", (ROOT / "app" / "commands.def").read_text(encoding="utf-8"), re.MULTILINE)
        wanted = {f"commands/{name}.html" for name in commands}
        wanted |= {f"documents/{path.stem}.html" for path in (ROOT / "resources" / "docs").glob("*.md")}
        for kind, what in (("examples", answer("examples")), ("lessons", answer("lesson", "list"))):
            wanted |= {f"{kind}/{one['name']}{ending}" for one in what for ending in (".html", ".play.html")}
        self.assertGreater(len(wanted), 100)
        self.assertEqual(wanted - set(self.pages), set())
        made = {name for name in self.pages if name.startswith(("commands/", "examples/", "lessons/")) and not name.endswith("/index.html")}
        self.assertEqual(made - wanted, set())

    def test_each_page_is_reached_from_the_index(self):
        reached, wanted = set(), ["index.html"]
        while wanted:
            name = wanted.pop()
            if name in reached or name not in self.pages:
                continue
            reached.add(name)
            wanted += [self.place(name, link)[0] for link in self.pages[name].links if link and "://" not in link]
        self.assertEqual(set(self.pages) - reached, set())

    def place(self, name, link):
        path, _, fragment = link.partition("#")
        target = os.path.normpath(os.path.join(os.path.dirname(name), path)) if path else name
        return target, fragment

    def test_links_lead_somewhere(self):
        n_fragments = 0
        for name, page in self.own.items():
            for link in [link for link in page.links if "://" not in link] + page.loads:
                target, fragment = self.place(name, link)
                self.assertTrue(target in self.files, f"{name}: {link}")
                if fragment and not fragment.startswith("at="):  # that is a moment of a recording
                    self.assertIn(fragment, self.pages[target].ids, f"{name}: {link}")
                    n_fragments += 1
        self.assertGreater(n_fragments, 10)

    def test_asks_for_nothing_from_elsewhere(self):
        for name, page in self.pages.items():
            far = [link for link in page.loads if re.match(r"\w+:|//", link)]
            self.assertEqual(far, [], name)
            self.assertFalse(any(link.startswith("/") for link in page.links + page.loads), name)
        style = self.files["style.css"].read_text(encoding="utf-8")
        self.assertNotRegex(style, r"url\(|@import")
        self.assertFalse([name for name in self.own if "<script" in self.files[name].read_text(encoding="utf-8")])

    def test_is_well_formed(self):
        for name, page in self.pages.items():
            self.assertEqual(page.wrong, [], name)
            self.assertEqual(sorted(set(page.ids)), sorted(page.ids), f"{name}: an id twice")
            self.assertEqual(page.unnamed, [], name)
        self.assertEqual({name: page.headings for name, page in self.own.items() if page.headings != 1}, {})

    def test_names_no_place_of_this_machine(self):
        for name, path in self.files.items():
            if path.suffix != ".png":
                text = path.read_text(encoding="utf-8")
                self.assertFalse(str(ROOT) + "/" in text or str(self.folder) in text, name)

    def test_tells_what_is_wrong(self):
        page = self.files["examples/where_mask.html"].read_text(encoding="utf-8")
        self.assertIn("NaN was born in SqrtBackward0 #0", page)
        self.assertIn("Nothing found that is wrong", self.files["examples/two_layers.html"].read_text(encoding="utf-8"))
        self.assertIn("NaN was born", self.files["commands/findings.html"].read_text(encoding="utf-8"))

    def test_has_what_tests_saw(self):
        page = self.files["documents/conformance.html"].read_text(encoding="utf-8")
        self.assertIn("<code>a|b</code> comes first", page)
        page = self.files["documents/own-tests.html"].read_text(encoding="utf-8")
        n_methods = len(table.read(ROOT / "tests" / "pytorch" / "outcomes.json"))
        self.assertEqual(page.count("<tr>\n<td><code>"), n_methods)
        self.assertNotIn("documents/learners.html", self.files)
        self.assertNotIn("{{", page + self.files["documents/versions.html"].read_text(encoding="utf-8"))

    def test_again_has_the_same_bytes(self):
        before = {name: path.read_bytes() for name, path in self.files.items()}
        build(self.folder)
        after = {path.relative_to(self.site).as_posix(): path.read_bytes() for path in self.site.rglob("*") if path.is_file()}
        self.assertEqual(sorted(before), sorted(after))
        self.assertEqual([name for name in before if before[name] != after[name]], [])

    def test_removes_no_other_folder(self):
        other = self.folder / "other"
        other.mkdir()
        (other / "mine.txt").write_text("mine")
        done = make(self.folder, other)
        self.assertEqual(done.returncode, 1)
        self.assertIn("is not empty, and no site", done.stderr)
        self.assertEqual((other / "mine.txt").read_text(), "mine")


class SiteInBrowser(SitePages):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.browser = cls.enterClassContext(browser.Browser())
        OUTPUT.mkdir(parents=True, exist_ok=True)

    def setUp(self):
        self.browser.console.clear()
        self.browser.asked.clear()

    def tearDown(self):
        self.assertEqual(self.browser.console, [])
        self.assertEqual([link for link in self.browser.asked if not link.startswith(("file:", "about:"))], [])

    def test_pages_fit(self):
        shown = ["index.html", "start.html", "window.html", "examples/index.html", "examples/nan_from_sum.html", "lessons/chain.html", "commands/why.html",
                 "commands/report.html", "documents/readme.html", "documents/commands.html", "documents/installing.html", "documents/conformance.html", "documents/own-tests.html", "documents/versions.html"]
        for name in shown:
            for width, scheme in WIDTHS:
                self.browser.resize(width, 900, scheme)
                self.browser.open(self.files[name])
                self.assertLessEqual(self.browser.run("document.documentElement.scrollWidth"), width, f"{name} at {width}")
                ground = self.browser.run("getComputedStyle(document.body).backgroundColor")
                self.assertEqual(int(re.search(r"\d+", ground)[0]) < 128, scheme == "dark", name)
                self.browser.picture(OUTPUT / f"site_{name.replace('/', '_').removesuffix('.html')}_{width}.png")

    def test_prints_on_white(self):
        """Also for somebody who reads in the dark."""
        self.browser.resize(800, 900, "dark")
        self.browser.send("Emulation.setEmulatedMedia", media="print", features=[{"name": "prefers-color-scheme", "value": "dark"}])
        self.browser.open(self.files["examples/nan_from_sum.html"])
        grounds = self.browser.run("['body', '.findings li', 'pre'].map((one) => getComputedStyle(document.querySelector(one)).backgroundColor)")
        for ground in grounds:
            self.assertGreater(min(map(int, re.findall(r"\d+", ground)[:3])), 200, grounds)
        self.assertFalse(self.browser.run("document.querySelector('iframe').checkVisibility()"))
        self.browser.picture(OUTPUT / "site_printed.png")
        self.browser.send("Emulation.setEmulatedMedia", media="screen", features=[])

    def wait_for(self, condition):
        self.browser.run(f"new Promise((done) => {{ const look = () => ({condition}) ? done() : requestAnimationFrame(look); look(); }})")

    def position(self):
        return self.browser.run("Number(document.getElementById('slider').value)")

    def test_recordings_play(self):
        """A frame's page is another document, and from files a script of ours cannot look into it. So its own page is opened."""
        self.browser.resize(1000, 900)
        for name in ("examples/two_layers.html", "lessons/chain.html", "start.html"):
            self.browser.open(self.files[name])
            frames = self.browser.run("[...document.querySelectorAll('iframe')].map((one) => one.src)")
            self.assertEqual(len(frames), 1, name)
            self.browser.go(frames[0])
            before = self.position()
            self.browser.click("#play")
            self.wait_for(f"Number(document.getElementById('slider').value) > {before + 2}")

    def test_frame_plays_in_its_page(self):
        """The keys of the embedded player work after a click into it: the picture of the frame changes."""
        self.browser.resize(1280, 1000)
        self.browser.open(self.files["examples/two_layers.html"])
        self.browser.run("document.querySelector('iframe').scrollIntoView()")
        frame = self.frame()
        self.wait_in(frame, "document.getElementById('slider') && document.getElementById('slider').max > 0")
        self.assertEqual(self.run_in(frame, "document.getElementById('slider').value"), "0")
        self.run_in(frame, "document.getElementById('play').click()")
        self.wait_in(frame, "document.getElementById('slider').value > 3")

    def frame(self):
        """The world of scripts of the frame, by the browser's own means."""
        tree = self.browser.send("Page.getFrameTree")["frameTree"]
        frame = tree["childFrames"][0]["frame"]["id"]
        return self.browser.send("Page.createIsolatedWorld", frameId=frame)["executionContextId"]

    def run_in(self, frame, script):
        return self.browser.send("Runtime.evaluate", expression=script, contextId=frame, returnByValue=True, awaitPromise=True)["result"].get("value")

    def wait_in(self, frame, condition):
        self.run_in(frame, f"new Promise((done) => {{ const look = () => ({condition}) ? done() : requestAnimationFrame(look); look(); }})")

    def test_finding_leads_into_the_player(self):
        page = self.files["examples/sqrt_at_zero.html"]
        self.browser.open(page)
        link = self.browser.run("document.querySelector('.findings a[target=player]').href")
        self.browser.go(link)
        at = int(link.split("#at=")[1])
        self.wait_for(f"document.getElementById('where').textContent.replace('\\u202f', '').includes('event {at} ')")


def main():
    if importlib.util.find_spec("markdown") is None:
        print("there is no python3-markdown to make the site with")
        sys.exit(77)
    if not browser.PROGRAM:
        print("there is no chromium: no page is opened")
        del globals()["SiteInBrowser"]
    else:
        del globals()["SitePages"]
    unittest.main()


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: LGPL-2.1-or-later
"""The page of `tapedeck lesson export` in a browser: it has the lesson's steps, shows the states of `state` at each, and says
to each answer what the terminal says."""
import os
import pathlib
import re
import subprocess
import tempfile

from course import NAMES, read_lesson, right_answers, walk, wrong_answers
from page_case import main, OUTPUT, PageCase, run

IN_SIGHT = "[...document.querySelectorAll('#queues, #now, #timeline, #node, #report')].filter((one) => one.checkVisibility({checkVisibilityCSS: true})).length"
TEXT = "document.getElementById('%s').textContent"


class LessonPage(PageCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        os.environ["XDG_CACHE_HOME"] = cls.enterClassContext(tempfile.TemporaryDirectory())

    def text(self, place):
        return self.browser.run(TEXT % place)

    def open_lesson(self, name):
        page = self.path(f"{name}.html")
        self.assertEqual(run("lesson", "export", name, "--force", "-o", page), "")
        self.browser.open(page)
        return pathlib.Path(os.environ["XDG_CACHE_HOME"], "tapedeck", f"lesson-{name}.tape")

    def is_asking(self):
        return self.browser.run("document.body.classList.contains('asking')")

    def give(self, answer):
        """What somebody types in the terminal: a number, or the places of choices."""
        if self.browser.run("document.getElementById('answer') !== null"):
            self.browser.run("document.getElementById('answer').focus()")
            self.browser.send("Input.insertText", text=answer)
            self.browser.run("document.querySelector('#lesson-question form').requestSubmit()")
            return
        for place in answer.split():
            self.browser.run(f"document.querySelectorAll('.choice')[{int(place) - 1}].click()")

    def assert_step(self, tape):
        """The moment is that of the step: what the graph shows is what `state` says there."""
        place = re.match(r"event (\d+)", self.text("where").replace("\u202f", ""))
        if place:
            self.assert_same_state(tape, int(place[1]))

    def walk_page(self, name, answers):
        """What the page says to each answer; states are compared where nothing is hidden."""
        tape, said, answers = self.open_lesson(name), [], list(answers)
        parser = read_lesson(name)
        steps = parser.sections()[1:]
        for i, group in enumerate(steps):
            self.assertEqual(self.text("lesson-text"), parser[group]["text"])
            self.assertEqual(self.text("lesson-where"), f"Step {i + 1} of {len(steps)}")
            self.assertEqual(self.is_asking(), "ask" in parser[group])
            if self.is_asking():
                self.assertEqual(self.browser.run(IN_SIGHT), 0)
                self.assertFalse(self.browser.run("[...document.querySelectorAll('g.node')].some((node) => /gradients/.test(node.getAttribute('aria-label')))"))
                before = self.text("where")
                for key in ("ArrowRight", "End", " "):  # would show the answer
                    self.browser.press(key)
                self.browser.run("(() => { const slider = document.getElementById('slider'); slider.value = slider.max;"
                                 " slider.dispatchEvent(new Event('input')); })()")
                self.assertEqual(self.text("where"), before)
                self.give(answers.pop(0))
                said.append(self.text("lesson-question"))
            self.assertFalse(self.is_asking())
            self.assertGreater(self.browser.run(IN_SIGHT), 0)
            self.assert_step(tape)
            if "show" in parser[group]:
                self.assertGreater(self.browser.run("document.querySelectorAll('.node.marked').length"), 0, (name, group))
            self.browser.press("n")
        self.assertEqual(answers, [])
        return said

    def test_right_answers(self):
        """They are those of the terminal, which has them from the tape."""
        for name in NAMES:
            with self.subTest(name):
                n = sum("ask" in read_lesson(name)[group] for group in read_lesson(name).sections()[1:])
                answers = list(right_answers(walk(name, [""] * n)))
                self.assertEqual(len(answers), n)
                for said in self.walk_page(name, answers):
                    self.assertIn("Right.", said)
                self.assertEqual(self.text("lesson-score"), f"{n} of {n} right")

    def test_wrong_answers(self):
        """They hear what the terminal says to them."""
        for name in ("chain", "counts"):
            right = list(right_answers(walk(name, [""] * 9)))
            wrong = wrong_answers(right)
            told = re.split(r"Answer \([^)]*\): ", walk(name, wrong))[1:]
            for said, terminal in zip(self.walk_page(name, wrong), told, strict=True):
                self.assertIn("Wrong. The answer is: ", said)
                terminal = terminal[:terminal.index("\n\n")].replace("\n", " ")
                for sentence in re.split(r"(?<=\.) ", terminal):
                    self.assertIn(sentence.strip(), said.replace("\n", " "))

    def test_by_hand(self):
        """A click on a node answers. The answer can be shown. Away from a step, a button leads back."""
        self.open_lesson("nan")
        while not self.browser.run("document.querySelectorAll('.choice').length > 0 && /popped next/.test(document.querySelector('.prompt').textContent)"):
            self.browser.press("n")
        node = self.browser.run("document.querySelector('.choice').textContent.match(/#(\\d+)/)[1]")
        self.browser.click(f"g.node[data-node='{node}']")
        self.assertFalse(self.is_asking())
        self.assertRegex(self.text("lesson-question"), "Right|Wrong")
        self.browser.press("p")
        self.assertTrue(self.browser.run("document.getElementById('lesson-here').hidden"))
        self.browser.press("ArrowLeft")
        self.browser.click("#lesson-here")
        self.assertTrue(self.browser.run("document.getElementById('lesson-here').hidden"))
        self.open_lesson("counts")
        self.browser.press("n")
        self.browser.run("[...document.querySelectorAll('#lesson-question button')].find((one) => one.textContent === 'Show the answer').click()")
        self.assertIn("The answer is: 3", self.text("lesson-question"))
        self.assertEqual(self.text("lesson-score"), "0 of 4 right")

    def test_no_answer(self):
        """What the terminal does not take is no answer: the question stays open."""
        for name, n_steps, form, texts in (("counts", 1, "number", ("three", "0x3", "-3", "3.0", "99999999999", "")),
                                           ("buffers", 4, "pattern", ("1e400", "0x1", "0b1", "0x3f8000000", "inf", "nan", "--1", ""))):
            self.open_lesson(name)
            for step in range(n_steps):
                self.browser.press("n")
            self.assertIn("a number" if form == "number" else "0x3f800000", self.text("lesson-question"))
            for text in texts:
                self.browser.run("document.getElementById('answer').value = ''")
                self.give(text)
                self.assertTrue(self.is_asking(), text)
            self.browser.run("document.getElementById('answer').value = ''")
            self.give("3" if form == "number" else "0x3F800000")
            self.assertIn("Right.", self.text("lesson-question"))
            self.assertTrue(self.browser.run("document.getElementById('lesson-card').contains(document.activeElement)"))

    def test_pictures(self):
        """To be looked at: small and large, light and dark, open and answered."""
        self.open_lesson("leaves")
        for i, (width, height, scheme) in enumerate(((420, 900, "light"), (1000, 700, "dark"), (1600, 1000, "light"))):
            self.browser.resize(width, height, scheme)
            self.browser.press("n")
            self.browser.picture(os.path.join(OUTPUT, f"lesson-page-{width}-{scheme}.png"))
            self.assertLessEqual(self.browser.run("document.documentElement.scrollWidth"), width, i)

    def test_other_pages_have_none(self):
        run("run", "--force", "-o", self.path("diamond.tape"), "diamond")
        run("export", self.path("diamond.tape"), "--to", "html", "--force", "-o", self.path("diamond.html"))
        self.browser.open(self.path("diamond.html"))
        self.browser.press("n")
        self.assertTrue(self.browser.run("document.getElementById('lesson-card').hidden"))

    def test_refusals(self):
        """One line, and status 2; an older file stays."""
        old = self.path("old.html")
        pathlib.Path(old).write_text("old")
        for words, told in (([old], "exists already"), (["/dev/full", "--force"], "No space left"), (["/does/not/exist.html"], "No such file"),
                            ([self.scratch], "is a directory")):
            done = subprocess.run([os.environ["TAPEDECK"], "lesson", "export", "chain", "-o", *words], capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), done)
            self.assertIn(told, done.stderr)
        self.assertEqual(pathlib.Path(old).read_text(), "old")
        for words in (["list", "-o", "x"], ["run", "chain", "--force"], ["export"], ["export", "chain", "--json"]):
            done = subprocess.run([os.environ["TAPEDECK"], "lesson", *words], capture_output=True, text=True, stdin=subprocess.DEVNULL)
            self.assertEqual((done.returncode, done.stdout), (2, ""), done)


if __name__ == "__main__":
    main()

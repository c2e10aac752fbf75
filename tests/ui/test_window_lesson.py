# SPDX-License-Identifier: LGPL-2.1-or-later
"""The course in the window: each lesson to its end, in English with right answers, some in Chinese with wrong ones; a quiz on
any tape. Each lesson's questions are pictures to look at."""
import gettext
import json
import os
import pathlib
import sys

import display

display.ensure()

import torches
from course import NAMES, read_lesson, right_answers, walk, wrong_answers
from window_case import Window, pyatspi
from window_rows import go_to_row, texts_of
from window_tapes import OUTPUT, tapedeck

PICTURES = OUTPUT.parent / "lessons"
CACHE = pathlib.Path(os.environ["XDG_CACHE_HOME"]) / "tapedeck"
CATALOGUES = pathlib.Path(os.environ["BUILD_ROOT"]) / "resources/po"
SIZE = (1300, 840)


class Learner:
    """A window in a language, and the lesson that somebody takes there."""

    def __init__(self, window, language, lesson):
        self.window, self.language, self.lesson = window, language, lesson
        self.say = gettext.translation("tapedeck", CATALOGUES, [language], fallback=language == "C").gettext
        self.suffix = "" if language == "C" else f"[{language}]"

    def press(self, text):
        self.window.press_one(self.say(text))

    def choose(self, kind, answer):
        """By the places of choices, or a number."""
        if kind in ("count", "bits"):
            self.window.fill(self.window.find("text", self.say("Answer")), answer)
            return
        rows = self.window.find("list", self.say("Choices"))
        for place in answer.split():
            self.window.click_on(lambda: rows[int(place) - 1])

    def ask(self, kind, answer, verdict, picture):
        self.choose(kind, answer)
        self.press("Answer")
        self.window.find("label", lambda name: name.startswith(self.say(verdict).split("%s")[0]))
        self.window.take_picture(PICTURES / f"{self.language}-{picture}.png", *SIZE)

    def take(self, name, answers, verdict):
        steps = self.lesson.sections()[1:]
        for i, group in enumerate(steps):
            step = self.lesson[group]
            self.window.read(step["text" + self.suffix])
            if i == 0:
                self.window.take_picture(PICTURES / f"{self.language}-{name}-begin.png", *SIZE)
            if "ask" in step:
                self.ask(step["ask"].split()[0], next(answers), verdict, f"{name}-{group.removeprefix('Step ')}")
            self.press("Next" if i + 1 < len(steps) else "Finish")
        self.window.wait_until_gone("push button", self.say("Back"))


class LessonWindow(Window):
    def choose_in_menu(self, button, place):
        """By the keyboard: nobody knows where the items of a popover are on the screen. The first item has the focus."""
        self.click_on(lambda: self.wait_for(button, lambda: self.look(lambda w: w.name == button and w.getRoleName() != "label")))
        for key in ["Down"] * place + ["Return"]:
            self.key(key)

    def can_answer(self):
        return self.find("push button", "Answer").getState().contains(pyatspi.STATE_SENSITIVE)

    def click_in_graph(self, x, y):
        """At shares of its width and height."""
        box = self.place_of(lambda: self.find("image", "Backward graph"))
        self.click_at(box.x + int(box.width * x), box.y + int(box.height * y))

    def wait_until_gone(self, role, name):
        def is_shown():
            found = self.look(lambda w: w.getRoleName() == role and w.name == name)
            return found and found.getState().contains(pyatspi.STATE_SHOWING)
        self.wait_for(f"{role} '{name}' to go", lambda: not is_shown())


def start_page():
    """The course is a row of the start page; a lesson in it begins with Return."""
    lesson = read_lesson("chain")["Lesson"]
    with LessonWindow("--size", "{}x{}".format(*SIZE)) as window:
        go_to_row(window, "The Course")
        window.key("Return")
        title = f"{lesson['number']}. {lesson['title']} ✓"
        window.find("label", title)
        window.key("Tab")
        window.wait_for("its first lesson", lambda: (row := window.focused()) and title in texts_of(row))
        window.key("Return")
        window.read(read_lesson("chain")["Step graph"]["text"])


def wrong_answer():
    """A wrong answer says what stands against it. Ctrl+Return goes on without the mouse, and Hint has a hint."""
    lesson = read_lesson("chain")
    with LessonWindow("--lesson", "chain", "--size", "{}x{}".format(*SIZE)) as window:
        for group in lesson.sections()[1:4]:
            window.read(lesson[group]["text"])
            if group != "Step first":
                window.key("Return", "Control")
        hidden = "The timeline is hidden until you answer"
        window.find("label", hidden)
        window.press("Hint")
        window.read(lesson["Step first"]["hint"])
        window.click_on(lambda: window.find("list", "Choices")[0])
        window.key("Return", "Control")
        window.read(lambda text: text.startswith("Wrong. The answer is: MulBackward0"))
        window.read(lambda text: text.startswith("SinBackward0") and "It can enter the queue only" in text)
        window.read("0 of 1 right")
        window.wait_until_gone("label", hidden)
        window.key("Return", "Control")
        window.read(lesson["Step runs"]["text"])
        window.take_picture(PICTURES / "step.png", *SIZE)


def progress():
    """A lesson that somebody left goes on there, and one that is done has a mark on the start page."""
    lesson = read_lesson("chain")
    with LessonWindow("--lesson", "chain") as window:
        window.read(lesson["Step runs"]["text"])  # where wrong_answer left it
        window.press_one("Back")
        window.read(lesson["Step first"]["text"])
    with LessonWindow() as window:
        title = f"{lesson['Lesson']['number']}. {lesson['Lesson']['title']} ✓"  # main() took it to its end
        go_to_row(window, "The Course")
        window.key("Return")
        window.find("label", title)


def own_script():
    """A learner changes the script, runs it again, and sees another tape at the same step; then the original again."""
    own = pathlib.Path(os.environ["XDG_DATA_HOME"], "tapedeck", "lessons", "chain.py")
    lesson = read_lesson("chain")
    with LessonWindow("--lesson", "chain", "--size", "{}x{}".format(*SIZE)) as window:
        note = "This is your own script. What the texts say may no longer be true of it."
        before = lesson["Step first"]["text"]  # where progress left it
        window.read(before)
        window.choose_in_menu("The script of this lesson", 0)
        window.wait_for("the copy", own.exists)
        own.write_text(own.read_text().replace("* 3", "* 3 * 5"))
        window.key("e", "Control")
        window.read(note)
        window.read(before)
        assert json.loads(tapedeck("info", CACHE / "lesson-chain.tape", "--json"))["n_nodes"] == 5
        window.take_picture(PICTURES / "own.png", *SIZE)
        window.choose_in_menu("The script of this lesson", 2)
        window.wait_for("the copy to go", lambda: not own.exists())
        window.wait_until_gone("label", note)


def schedulers():
    """The start page shows the order of 2017 beside today's: two graphs, at the first pop that differs."""
    with LessonWindow("--size", "{}x{}".format(*SIZE)) as window:
        go_to_row(window, "How did the engine of 2017 schedule?")
        window.key("Return")
        for letter in "AB":
            window.find("image", f"Backward graph of {letter}")
        for name in ("lesson-schedulers-2017.tape", "lesson-schedulers.tape"):
            window.find("label", lambda text: name in text)
        window.take_picture(PICTURES / "schedulers.png", 1920, 1200)


def cancelled():
    """Cancel ends a script that does not end by itself."""
    own = pathlib.Path(os.environ["XDG_DATA_HOME"], "tapedeck", "lessons", "chain.py")
    told = own.with_name("pid")
    own.write_text(f"import os, signal\nopen({str(told)!r} + '.new', 'w').write(str(os.getpid()))\n"
                   f"os.rename({str(told)!r} + '.new', {str(told)!r})\nsignal.pause()\n")
    with LessonWindow("--lesson", "chain") as window:
        with window.hurry():
            window.wait_for("the script to run", told.exists)
            window.press_one(lambda name: name.endswith("Cancel"))
        window.wait_for("the script to end", lambda: not os.path.exists(f"/proc/{told.read_text()}"))
        window.read("Play, pause and rewind a backward pass.")
    own.unlink()
    told.unlink()


def steps_away():
    """The playhead selects what runs, but only a click chooses an answer: in the graph too, selected or not."""
    lesson = read_lesson("chain")
    with LessonWindow("--lesson", "chain", "--size", "{}x{}".format(*SIZE)) as window:
        window.read(lesson["Step first"]["text"])  # where progress left it
        at = window.position()
        window.key("Right")
        window.wait_for_position(at + 1)
        assert not window.can_answer(), "a step chose the answer"
        window.click_in_graph(0.36, 0.17)  # MulBackward0, which the step has selected
        window.wait_for("the answer to be chosen", window.can_answer)


def lecture():
    """Ctrl+Shift+L makes the pointer a red dot, over a node too, and takes it back."""
    def is_dot():
        (alpha, red, green, blue), width = display.pointer_colours()
        return width >= 48 and alpha == 255 and red > 200 and green < 60 and blue < 60

    with LessonWindow("--lesson", "chain", "--size", "{}x{}".format(*SIZE)) as window:
        graph = window.place_of(lambda: window.find("image", "Backward graph"))
        window.wait_for("the window to have the focus", window.focused)

        def shows(x, y, wanted):
            """A busy display may lose a motion: another one follows."""
            for nudge in (1, 0):
                window.point_at(graph.x + int(graph.width * x) + nudge, graph.y + int(graph.height * y))
            return is_dot() == wanted

        for wanted in (True, False):
            window.key("L", "Control")  # Shift follows from the capital letter
            for x, y in ((0.36, 0.17), (0.9, 0.9), (0.36, 0.17)):  # MulBackward0, nothing, and the node again
                window.wait_for("the pointer", lambda: shows(x, y, wanted))
                if wanted and y < 0.5:
                    window.take_picture(PICTURES / "lecture.png", *SIZE)


def quiz():
    """Ten questions about a tape, one after the other; the graph can answer."""
    tape = PICTURES / "quiz.tape"
    tapedeck("run", "--force", "-o", tape, "transformer_encoder")
    with LessonWindow(tape, "--size", "{}x{}".format(*SIZE)) as window:
        window.find("slider", window.SLIDER)
        window.wait_for("the window to have the focus", window.focused)
        window.key("q")
        window.read("Quiz")
        for i in range(10):
            window.read(f"{i + 1} of 10")
            window.press_one("Tell Me")
            window.read(f"0 of {i + 1} right")
            window.press_one("Next" if i < 9 else "Finish")
        window.wait_until_gone("push button", "Back")


def take_lessons():
    for language in ("C", "zh_CN"):
        os.environ["LANGUAGE"] = language
        for name in sorted({"chain", *torches.some(NAMES, 3)}) if language == "C" else torches.some(NAMES, 6):  # others need chain
            right = list(right_answers(walk(name, [""] * 20)))
            answers, verdict = (right, "Right.") if language == "C" else (wrong_answers(right), "Wrong. The answer is: %s.")
            with LessonWindow("--lesson", name, "--size", "{}x{}".format(*SIZE)) as window:
                Learner(window, language, read_lesson(name)).take(name, iter(answers), verdict)
            print("ok", language, name, flush=True)
    os.environ["LANGUAGE"] = "C"


def main():
    PICTURES.mkdir(parents=True, exist_ok=True)
    wanted = sys.argv[1:]
    for test in (take_lessons, start_page, wrong_answer, progress, own_script, cancelled, steps_away, lecture, schedulers, quiz):
        if wanted and test.__name__ not in wanted:
            continue
        test()
        print("ok", test.__name__, flush=True)


if __name__ == "__main__":
    main()

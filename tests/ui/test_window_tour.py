# SPDX-License-Identifier: LGPL-2.1-or-later
"""A newcomer's first half hour, in English and in Chinese: the start page, an example with a NaN, what led to it, where the time went,
a search, help, a tape of PyTorch's engine, a program that still runs. Each station is a picture to look at, and no window prints
anything."""
import gettext
import os
import pathlib
import re
import subprocess
import sys

import display

display.ensure()

import torches
from test_window import OUTPUT, TAPEDECK, Window, go_to_row, read_events, tapedeck
from test_window_live import LiveWindow

PICTURES = OUTPUT.parent / "tour"
CATALOGUES = pathlib.Path(os.environ["BUILD_ROOT"]) / "resources/po"
EXAMPLES = pathlib.Path(os.environ["EXAMPLES"])
SIZE = (1300, 840)
LANGUAGES = ("C", "zh_CN")


class Tour:
    """The texts of the window in a language, and its pictures."""

    def __init__(self, language):
        self.language, self.n = language, 0
        os.environ["LANGUAGE"] = language
        chinese = gettext.translation("tapedeck", CATALOGUES, [language], fallback=language == "C")
        self.say = chinese.gettext
        Window.SLIDER = self.say("Event position")

    def station(self, name):
        self.n += 1
        display.take_picture(PICTURES / f"{self.language}-{self.n:02}-{name}.png", *SIZE)


class Quiet(Window):
    """A window that must print nothing."""

    def __init__(self, name, *arguments):
        self.log = open(PICTURES / f"{name}.log", "w+")
        self.process = subprocess.Popen([TAPEDECK, "open", "--size", "{}x{}".format(*SIZE), *map(str, arguments)], stderr=self.log,
                                        env=dict(os.environ, G_DEBUG="fatal-criticals"))
        self.known = {}
        self.application = display.wait_for("the window on the accessibility bus", self.find_application)

    def __exit__(self, *failure):
        super().__exit__(*failure)
        self.log.seek(0)
        said = self.log.read()
        self.log.close()
        assert failure[0] or not said, said


def find_the_nan(tour):
    """From the start page to where a NaN was born, and back to what led to it."""
    say = tour.say
    with Quiet("nan-" + tour.language) as window:
        window.read(say("Play, pause and rewind a backward pass."))
        tour.station("start")
        go_to_row(window, say("Where was the NaN born?"))
        window.key("Return")
        window.find("push button", say("Show"))
        tour.station("findings")
        before = window.position()
        window.press(say("Show"))
        display.wait_for("the NaN", lambda: window.position() not in (None, before))
        tour.station("shown")
        window.press(say("Why?"))
        step = re.escape(say("Step %llu of %llu")).replace("%llu", "[0-9]+")
        window.read(lambda text: re.fullmatch(step, text))
        tour.station("why")
        window.key("Escape")
        window.press(say("Go to the start"))
        window.wait_for_position(0)
        window.press(say("Step to the next node"))
        display.wait_for("a node", lambda: window.position())
        tour.station("first-node")


def find_the_time(tour, tape):
    """Tables, an overlay, a search, the events of a node, help."""
    say = tour.say
    length = len(read_events(tape))
    with Quiet("time-" + tour.language, tape, "--page", "profile", "--at", "end") as window:
        window.wait_for_position(length)
        window.find("label", lambda name: name.startswith("ConvolutionBackward0") or name.startswith("AddBackward0"))
        tour.station("profile")
        window.key("o")
        tour.station("overlay")
        window.click("page tab", say("Events"))
        tour.station("events")
        window.key("f", "Control")
        window.find("list", say("Nodes found"))
        tour.station("search")
        window.key("Escape")
        window.press(say("Go to the start"))
        window.wait_for_position(0)
    with Quiet("help-" + tour.language, tape) as window:
        window.find("slider", say("Event position"))
        window.key("F1")
        window.find("push button", lambda name: say("Keyboard shortcuts")[:4] in name or say("Keyboard Shortcuts")[:4] in name)
        tour.station("help")


def step_a_program(tour):
    say = tour.say
    with LiveWindow(f"tour-{tour.language}", script="two_layers") as window:
        window.find("push button", say("Let Go"))
        tour.station("live")
        window.press(say("Step"))
        display.wait_for("the step", lambda: (window.position() or 0) > 1)
        tour.station("stepped")
        window.press(say("Let Go"))
        window.read(say("The program has ended: this is its whole tape"))
        assert window.finishes()[0] == 0
        tour.station("ended")


def record():
    digits = PICTURES / "digits.tape"
    tapedeck("run", "--force", "-o", digits, "digits")
    tapes = [digits]
    for version, python in list(torches.installed().items())[-1:]:
        tapes.append(PICTURES / f"torch-{version}.tape")
        subprocess.run([TAPEDECK, "record", "--force", "-o", tapes[-1], "--", python, EXAMPLES / "residual_block.py"], check=True,
                       capture_output=True, env=dict(os.environ, XDG_CACHE_HOME=str(pathlib.Path(os.environ["BUILD_ROOT"]) / "test-cache")))
    return tapes


def main():
    PICTURES.mkdir(parents=True, exist_ok=True)
    tapes = record()
    for language in sys.argv[1:] or LANGUAGES:
        tour = Tour(language)
        find_the_nan(tour)
        for tape in tapes:
            find_the_time(tour, tape)
        step_a_program(tour)
        print("ok", language, tour.n, "stations", flush=True)


if __name__ == "__main__":
    main()

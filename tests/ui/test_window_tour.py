# SPDX-License-Identifier: LGPL-2.1-or-later
"""A newcomer's first half hour, in English and in Chinese: the start page, an example with a NaN, what led to it, where the time went,
a search, help, a tape of PyTorch's engine, a program that still runs. Each station is a picture to look at, and no window prints
anything. The English tour goes on under Wayland, where OpenGL draws: there the stations look as they do under X."""
import gettext
import os
import pathlib
import re
import sys

import display

display.ensure(animated=True)

import pictures
import torches
import wayland
from live_window import LiveWindow
from window_case import Window, pyatspi
from window_rows import go_to_row
from window_tapes import OUTPUT, read_events, record_program, tapedeck

PICTURES = OUTPUT.parent / "tour"
CATALOGUES = pathlib.Path(os.environ["BUILD_ROOT"]) / "resources/po"
EXAMPLES = pathlib.Path(os.environ["EXAMPLES"])
SIZE = (1300, 840)
LANGUAGES = ("C", "zh_CN") if torches.is_thorough() else ("C",)
BORDER = 5  # pixels around a window under X
INSIDE = tuple(length - 2 * BORDER for length in SIZE)
CORNER = (9, 825)  # of the window, where nothing looks at the pointer
DIFFERENT = 96     # of 255
SHARE = 0.03       # of the pixels
# What a picture shows of the window. Weston has other places for a second window, and popovers have shadows there.
ALL, LEFT, NOTHING = (0, 0, *INSIDE), (0, 0, 800, INSIDE[1]), None
# What the settings of GNOME say under Wayland. Under X nobody says it.
SETTINGS = """[Settings]
gtk-font-name=Cantarell 11
gtk-xft-antialias=1
gtk-xft-hinting=1
gtk-xft-hintstyle=hintslight
gtk-xft-rgba=none
gtk-decoration-layout=appmenu:close
gtk-cursor-blink=0
"""


class Tour:
    """The texts of the window in a language, and its pictures: paths, each with what it shows of the window."""

    def __init__(self, language, name=None, size=SIZE):
        self.name, self.size, self.stations = name or language, size, []
        os.environ["LANGUAGE"] = language
        chinese = gettext.translation("tapedeck", CATALOGUES, [language], fallback=language == "C")
        self.say = chinese.gettext
        Window.SLIDER = self.say("Event position")

    def station(self, window, name, shows=ALL):
        window.point_at(*CORNER)
        path = PICTURES / f"{self.name}-{len(self.stations) + 1:02}-{name}.png"
        window.take_picture(path, *self.size)
        self.stations.append((path, shows))


class Quiet(Window):
    """A window that must print nothing."""

    def __init__(self, name, *arguments):
        self.log = open(PICTURES / f"{name}.log", "w+")
        super().__init__(*arguments, stderr=self.log)

    def __exit__(self, *failure):
        super().__exit__(*failure)
        self.log.seek(0)
        said = self.log.read()
        self.log.close()
        assert failure[0] or not said, said


def find_the_nan(tour):
    """From the start page to where a NaN was born, and back to what led to it."""
    say = tour.say
    with Quiet("nan-" + tour.name) as window:
        window.read(say("Play, pause and rewind a backward pass."))
        tour.station(window, "start")
        go_to_row(window, say("Where was the NaN born?"))
        window.key("Return")
        window.find("push button", say("Show"))
        tour.station(window, "findings")
        before = window.position()
        window.press(say("Show"))
        window.wait_for("the NaN", lambda: window.position() not in (None, before))
        tour.station(window, "shown")
        window.press(say("Why?"))
        step = re.escape(say("Step %llu of %llu")).replace("%llu", "[0-9]+")
        window.read(lambda text: re.fullmatch(step, text))
        tour.station(window, "why")
        window.key("Escape")
        window.press(say("Go to the start"))
        window.wait_for_position(0)
        window.press(say("Step to the next node"))
        window.wait_for("a node", lambda: window.position())
        tour.station(window, "first-node")


def find_the_time(tour, tape):
    """Tables, an overlay, a search, the events of a node, help."""
    say = tour.say
    length = len(read_events(tape))
    with Quiet("time-" + tour.name, tape, "--page", "profile", "--at", "end") as window:
        window.wait_for_position(length)
        window.find("label", lambda name: name.startswith("ConvolutionBackward0") or name.startswith("AddBackward0"))
        tour.station(window, "profile")
        graph = window.control("image", say("Backward graph"))
        before = graph.description
        window.key("o")
        window.wait_for("the colours", lambda: graph.description != before)
        tour.station(window, "overlay")
        window.click("page tab", say("Events"))
        page = window.find("page tab", say("Events"))
        window.wait_for("the page", lambda: page.getState().contains(pyatspi.STATE_SELECTED))
        window.read(str(length - 1))
        tour.station(window, "events")
        window.key("f", "Control")
        window.find("list", say("Nodes found"))
        tour.station(window, "search", shows=LEFT)
        window.key("Escape")
        window.press(say("Go to the start"))
        window.wait_for_position(0)
    with Quiet("help-" + tour.name, tape) as window:
        window.find("slider", say("Event position"))
        window.key("F1")
        window.find("push button", lambda name: say("Keyboard shortcuts")[:4] in name or say("Keyboard Shortcuts")[:4] in name)
        tour.station(window, "help", shows=NOTHING)


def step_a_program(tour):
    say = tour.say
    with LiveWindow(f"tour-{tour.name}", script="two_layers") as window:
        window.find("push button", say("Let Go"))
        tour.station(window, "live")
        window.press(say("Step"))
        window.wait_for("the step", lambda: (window.position() or 0) > 1)
        tour.station(window, "stepped")
        window.press(say("Let Go"))
        window.read(say("The program has ended: this is its whole tape"))
        assert window.finishes()[0] == 0
        tour.station(window, "ended")


def record():
    digits = PICTURES / "digits.tape"
    tapedeck("run", "--force", "-o", digits, "digits")
    tapes = [digits]
    for version, python in list(torches.installed().items())[-1:]:
        tapes.append(PICTURES / f"torch-{version}.tape")
        record_program("-o", tapes[-1], "--", python, EXAMPLES / "residual_block.py")
    return tapes


def go(tour, tapes):
    find_the_nan(tour)
    for tape in tapes:
        find_the_time(tour, tape)
    step_a_program(tour)
    print("ok", tour.name, len(tour.stations), "stations", flush=True)
    return tour


def tour_wayland(tapes):
    with wayland.compositor(*INSIDE, screen=wayland.IN_X) as Window.SCREEN:
        return go(Tour("C", "wayland", INSIDE), tapes)


def share_different(one, other, shows):
    """Of what a picture under X and one under Wayland show."""
    inside = pictures.read(one).new_subpixbuf(BORDER, BORDER, *INSIDE).copy()
    return pictures.share_different(inside, pictures.read(other), shows, DIFFERENT)


def compare(under_x, under_wayland):
    pairs = list(zip(under_x.stations, under_wayland.stations, strict=True))
    shares = {path.name: share_different(path, other, shows) for (path, shows), (other, _) in pairs if shows}
    assert max(shares.values()) < SHARE, shares
    (first, _), (_, (second, _)) = pairs[0][0], pairs[1]
    assert share_different(first, second, ALL) > SHARE, "two stations look alike, so this test sees nothing"


def write_settings():
    """All tours in windows of one size, with the same letters."""
    for name, text in (("gtk-4.0/settings.ini", SETTINGS), ("tapedeck/window.ini", "[window]\nwidth={}\nheight={}\n".format(*SIZE))):
        path = pathlib.Path(os.environ["XDG_CONFIG_HOME"], name)
        path.parent.mkdir(parents=True)
        path.write_text(text)


def main():
    PICTURES.mkdir(parents=True, exist_ok=True)
    OUTPUT.mkdir(parents=True, exist_ok=True)
    write_settings()
    tapes = record()
    tours = {language: go(Tour(language), tapes) for language in sys.argv[1:] or LANGUAGES}
    if not wayland.is_here():
        print("skipped: Wayland, because there is no weston")
    elif "C" in tours:
        compare(tours["C"], tour_wayland(tapes))


if __name__ == "__main__":
    main()

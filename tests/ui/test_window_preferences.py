# SPDX-License-Identifier: LGPL-2.1-or-later
"""The dialog of preferences: what somebody chooses counts at once, and for the next window."""
import configparser
import os
import pathlib

import display

display.ensure()

from test_window import OUTPUT, Window, pyatspi, tapedeck


def stored():
    parser = configparser.ConfigParser()
    parser.read(pathlib.Path(os.environ["XDG_CONFIG_HOME"]) / "tapedeck/window.ini")
    return parser["window"] if parser.has_section("window") else {}


def width_of(window, name):
    return window.find("push button", name).queryComponent().getExtents(pyatspi.WINDOW_COORDS).width


def brightness(x, y):
    """Of one pixel of the screen, 0 to 765."""
    import gi
    gi.require_version("GdkPixbuf", "2.0")
    from gi.repository import GdkPixbuf
    display.take_picture(OUTPUT / "pixel.png", x + 1, y + 1)
    picture = GdkPixbuf.Pixbuf.new_from_file(str(OUTPUT / "pixel.png"))
    at = y * picture.get_rowstride() + x * picture.get_n_channels()
    return sum(picture.get_pixels()[at:at + 3])


def choose(window, role, title, row):
    """Opens a row of the dialog and picks one of its choices by its name."""
    window.click("label", title)
    window.click("label", row)


def test_preferences(tape):
    with Window(tape, "--size", "1000x700") as window:
        plain = width_of(window, "Open")
        light = brightness(500, 200)
        window.key(",", "Control")
        choose(window, "label", "Style", "Dark")
        display.wait_for("the dark", lambda: stored().get("style") == "2")
        choose(window, "label", "Size of Text", "150\u00a0%")
        display.wait_for("large text", lambda: stored().get("text") == "4")
        choose(window, "label", "Speed of a New Window", "100/s")
        display.wait_for("the speed", lambda: "speed" in stored())
        window.click("label", "Reduce Motion")
        display.wait_for("no motion", lambda: stored().get("still") == "1")
        display.take_picture(OUTPUT / "preferences.png", 1100, 800)
    with Window(tape, "--size", "1000x700") as window:
        window.find("slider", "Event position")
        assert width_of(window, "Open") > 1.2 * plain, (width_of(window, "Open"), plain)
        display.wait_for("a dark window", lambda: brightness(500, 200) < light / 3)
        window.find("label", "100/s")
        display.take_picture(OUTPUT / "preferred.png", 1100, 800)


def main():
    OUTPUT.mkdir(parents=True, exist_ok=True)
    tape = OUTPUT / "preferences.tape"
    tapedeck("run", "--force", "-o", tape, "two_layers")
    test_preferences(tape)
    print("ok test_preferences", flush=True)


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: LGPL-2.1-or-later
"""The dialog of preferences, and which panes are hidden: what somebody chooses counts at once, and for the next window."""
import configparser
import os
import pathlib

import display

display.ensure()

from window_case import Window
from window_tapes import OUTPUT, tapedeck


def stored():
    parser = configparser.ConfigParser()
    parser.read(pathlib.Path(os.environ["XDG_CONFIG_HOME"]) / "tapedeck/window.ini")
    return parser["window"] if parser.has_section("window") else {}


def width_of(window, name):
    return window.box_of(window.find("push button", name)).width


def brightness(window, x, y):
    """Of one pixel of the screen, 0 to 765."""
    import gi
    gi.require_version("GdkPixbuf", "2.0")
    from gi.repository import GdkPixbuf
    window.take_picture(OUTPUT / "pixel.png", x + 1, y + 1)
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
        light = brightness(window, 500, 200)
        window.key(",", "Control")
        choose(window, "label", "Style", "Dark")
        window.wait_for("the dark", lambda: stored().get("style") == "2")
        choose(window, "label", "Size of Text", "150\u00a0%")
        window.wait_for("large text", lambda: stored().get("text") == "4")
        choose(window, "label", "Speed of a New Window", "100/s")
        window.wait_for("the speed", lambda: "speed" in stored())
        window.click("label", "Reduce Motion")
        window.wait_for("no motion", lambda: stored().get("still") == "1")
        window.take_picture(OUTPUT / "preferences.png", 1100, 800)
    with Window(tape, "--size", "1000x700") as window:
        window.find("slider", "Event position")
        assert width_of(window, "Open") > 1.2 * plain, (width_of(window, "Open"), plain)
        window.wait_for("a dark window", lambda: brightness(window, 500, 200) < light / 3)
        window.find("label", "100/s")
        window.take_picture(OUTPUT / "preferred.png", 1100, 800)


def test_panes(tape):
    """A key hides each pane, and what is hidden stays so in the next window, until the key shows it again."""
    panes = {("image", "Timeline"): "Control", ("image", "Ready queues"): "Shift", ("page tab", "Events"): None}

    def shown(window):
        """What is hidden is not in the tree."""
        return {(role, name) for role, name in panes
                if window.look(lambda w: (w.getRoleName(), w.name) == (role, name))}

    for before, after in (panes, []), ([], panes):
        with Window(tape) as window:
            window.find("slider", "Event position")
            window.wait_for(f"only {list(before)}", lambda: shown(window) == set(before))
            left = set(before)
            for name, modifier in panes.items():
                window.key("F9", modifier)
                left ^= {name}
                window.wait_for(f"only {left}", lambda: shown(window) == left)
            window.take_picture(OUTPUT / f"panes-{len(left)}.png")
            assert left == set(after)
            window.key("q", "Control")
            assert window.quits() == 0


def main():
    OUTPUT.mkdir(parents=True, exist_ok=True)
    tape = OUTPUT / "preferences.tape"
    tapedeck("run", "--force", "-o", tape, "two_layers")
    for test in (test_preferences, test_panes):
        test(tape)
        print("ok", test.__name__, flush=True)


if __name__ == "__main__":
    main()

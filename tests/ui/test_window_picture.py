# SPDX-License-Identifier: LGPL-2.1-or-later
"""Save Picture…: each picture of the window as PNG, SVG and PDF is what the screen shows, and what `render` draws."""
import collections
import os
import sys
import xml.etree.ElementTree

import display

display.ensure()

import pictures
from window_case import Window
from window_tapes import OUTPUT, tapedeck

ROUNDING = 24  # of 255
SELECTED = 0.03  # of the pixels: `render` frames no selected node
QUEUE_FOOT = 25  # pixels
# What the screen shows of a picture, at least: buttons lie over the graph, and queues are scrolled.
SHARES = {"graph": 0.9, "queues": 0.5, "timeline": 0.97, "memory": 0.97}
NAMES = {"Backward graph": "graph", "Ready queues": "queues", "Timeline": "timeline", "Memory over time": "memory"}


def fresh(name):
    path = OUTPUT / name
    path.unlink(missing_ok=True)
    return path


def whole(path):
    """Waits for a file that gets its name when it is whole."""
    return display.wait_for(path.name, lambda: path.exists() and path)


def rows_of(picture):
    data, stride, n = picture.get_pixels(), picture.get_rowstride(), picture.get_n_channels()
    width = picture.get_width()
    for y in range(picture.get_height()):
        row = data[y * stride:y * stride + width * n]
        rgb = bytearray(3 * width)
        rgb[0::3], rgb[1::3], rgb[2::3] = row[0::n], row[1::n], row[2::n]
        yield bytes(rgb)


def is_like(row, other):
    """Hatched and half transparent colours are rounded otherwise."""
    return row == other or max(abs(a - b) for a, b in zip(row, other)) <= ROUNDING


def share_shown(window, picture):
    """Which share of a picture's rows the screen shows, all at one place. The window's shadow moves it, so we look for it."""
    screen = OUTPUT / "picture-screen.png"
    window.take_picture(screen)
    rows, shown = list(rows_of(picture)), list(rows_of(pictures.read(screen)))
    places = collections.Counter()
    for y, row in enumerate(rows):
        if len(set(row)) > 8:  # more than ground and a line
            places.update((x, top - y) for top in range(len(shown)) if (x := shown[top].find(row)) >= 0)
    (x, top), _ = places.most_common(1)[0]
    return sum(is_like(shown[top + y][x:x + len(row)], row) for y, row in enumerate(rows)) / len(rows)


class PictureWindow(Window):
    def choose(self, title, letter):
        """Opens the menu of a picture at a corner without a node, and chooses the entry with that letter."""
        above = title == "Ready queues"  # they are scrolled, and end above the timeline
        box = self.place_of(lambda: self.find("image", "Timeline" if above else title))
        self.click_at(box.x + box.width - 12, box.y + (-QUEUE_FOOT if above else 5), button=3)
        self.take_picture(OUTPUT / f"picture-menu-{NAMES[title]}.png")
        self.key(letter)

    def save(self, path=None):
        """Answers the chooser: with the name that it proposes, or with a path."""
        self.find("push button", lambda name: name.endswith("Save"))
        if path:
            self.key("a", "Control")
            self.type(str(path))
        self.key("Return")


def test_as_shown(tape):
    """The picture of each pane has the pixels of the screen. The chooser proposes its name, beside the tape. The layout has whole queues, as `render` has."""
    with PictureWindow(tape, "--at", "400", "--page", "memory", "--layout", "teach") as window:
        for title, name in NAMES.items():
            path, box = fresh(f"picture-{name}.png"), window.place_of(lambda: window.find("image", title))
            window.choose(title, "s")
            window.save()
            window.read_notice(f"Saved: {path.name}")
            picture = pictures.read(path)
            assert (picture.get_width(), picture.get_height()) == (box.width, box.height), name
            window.point_at(400, 12)  # so that no tooltip lies over it
            window.wait_for("the notice to go", lambda: not window.says_notice("Saved: "))
            share = share_shown(window, picture)
            assert share >= SHARES[name], f"{name}: the screen shows {share} of it"


def test_as_rendered(tape):
    """`render` draws the same, but for colours that the desktop chooses."""
    for view in ("graph", "queues"):
        picture, path = pictures.read(OUTPUT / f"picture-{view}.png"), fresh(f"picture-rendered-{view}.png")
        size = f"{picture.get_width()}x{picture.get_height()}"
        tapedeck("render", tape, "--view", view, "--at", "400", "--size", size, "-o", path)
        share = pictures.share_different(picture, pictures.read(path), least=32)
        assert share < SELECTED, f"{view}: {share} of it is not as rendered"


def test_kinds(tape):
    """Ctrl+S saves the picture that has the focus, else the graph. The ending says as what."""
    with PictureWindow(tape, "--at", "400") as window:
        svg, pdf, other = fresh("picture-k.svg"), fresh("picture-k.pdf"), fresh("picture-k.gif")
        window.key("s", "Control")
        window.save(svg)
        width = float(xml.etree.ElementTree.parse(whole(svg)).getroot().get("width").removesuffix("pt"))
        assert width == window.box_of(window.find("image", "Backward graph")).width
        window.focus_by("Tab", lambda widget: widget.name == "Timeline")
        window.key("s", "Control")
        window.save(pdf)
        assert whole(pdf).read_bytes().startswith(b"%PDF")
        window.key("s", "Control")
        window.save()
        whole(fresh("picture-timeline.png"))
        window.key("s", "Control")
        window.save(other)
        window.read_notice("Not saved: the name must end in .png, .svg or .pdf")
        window.key("s", "Control")
        window.save("/proc/nowhere.png")
        window.read_notice("Not saved: ")
        assert not other.exists() and not list(OUTPUT.glob("picture-k.*.part"))


def clipboard_size():
    import gi
    gi.require_version("Gdk", "4.0")
    from gi.repository import Gdk, GLib
    sizes, loop = [], GLib.MainLoop()

    def take(clipboard, result):
        try:
            texture = clipboard.read_texture_finish(result)
            sizes.append((texture.get_width(), texture.get_height()))
        except GLib.Error:
            sizes.append(None)
        loop.quit()

    Gdk.Display.open(os.environ["DISPLAY"]).get_clipboard().read_texture_async(None, take)
    loop.run()
    return sizes[0]


def test_copy(tape):
    """Copy Picture: another program can paste it."""
    with PictureWindow(tape) as window:
        box = window.place_of(lambda: window.find("image", "Timeline"))
        window.choose("Timeline", "p")
        window.wait_for("the picture", lambda: clipboard_size() == (box.width, box.height))


def test_closed(tape):
    """Somebody closes the window while a worker still writes: the picture becomes whole."""
    picture = fresh("picture-closed.svg")
    with PictureWindow(tape, "--at", "400") as window:
        close = window.control("push button", "Close")
        window.key("s", "Control")
        window.save(picture)
        with window.hurry():
            window.wait_for("the file", lambda: list(OUTPUT.glob("picture-closed.*")))
            window.act(close)
        assert window.quits() == 0
    xml.etree.ElementTree.parse(whole(picture))
    assert not list(OUTPUT.glob("picture-closed.*.part"))


def test_beside(tape):
    """Two tapes beside each other, in the dark: the graph of the first side, unless the other has the focus."""
    picture = fresh("picture-beside.png")
    with PictureWindow("--dark", tape, "--beside", tape) as window:
        graph = window.find("image", "Backward graph of A")
        window.key("s", "Control")
        window.save(picture)
        whole(picture)
        box = window.box_of(graph)
        saved = pictures.read(picture)
        assert (saved.get_width(), saved.get_height()) == (box.width, box.height)
        assert max(saved.get_pixels()[:3]) < 128, "the ground of a dark picture is light"


def main():
    OUTPUT.mkdir(parents=True, exist_ok=True)
    tape = OUTPUT / "picture.tape"
    tapedeck("run", "--force", "--anomaly", "nonfinite", "-o", tape, "digits")
    for test in (test_as_shown, test_as_rendered, test_kinds, test_copy, test_closed, test_beside):
        if sys.argv[1:] and test.__name__ not in sys.argv[1:]:
            continue
        test(tape)
        print("ok", test.__name__, flush=True)


if __name__ == "__main__":
    main()

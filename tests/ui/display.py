# SPDX-License-Identifier: LGPL-2.1-or-later
"""A display for tests of the window: Xvfb and a session bus of their own, a fresh home, software drawing."""
import ctypes
import os
import pathlib
import shutil
import struct
import sys
import tempfile
import time

import hidden  # noqa: F401, programs that it hides are not in PATH

SKIPPED = 77
NO_DISPLAY = 75
ATTEMPTS = 3  # two xvfb-run that start at once may choose the same number
WIDTH, HEIGHT = 1920, 1200
TOOLS = ("dbus-run-session", "xvfb-run")


def check_display():
    try:
        import gi
        gi.require_version("Gdk", "4.0")
        from gi.repository import Gdk
    except (ImportError, ValueError):
        return  # then the test itself will tell
    if not Gdk.Display.open(os.environ.get("DISPLAY", "")):
        sys.exit(NO_DISPLAY)


def ensure():
    """Starts this script again inside a display unless it is in one; skips where the tools are missing."""
    if os.environ.get("TD_TEST_DISPLAY"):
        check_display()
        return
    missing = [tool for tool in TOOLS if not shutil.which(tool)]
    if missing:
        print("needs " + ", ".join(missing))
        sys.exit(SKIPPED)
    home = tempfile.mkdtemp(prefix="tapedeck-test-")
    environment = dict(os.environ, TD_TEST_DISPLAY="1", GSK_RENDERER="cairo", LC_ALL="C.UTF-8", HOME=home,
                       XDG_CONFIG_HOME=home + "/config", XDG_CACHE_HOME=home + "/cache",
                       XDG_DATA_HOME=home + "/data", GTK_THEME="", NO_AT_BRIDGE="0")
    del environment["GTK_THEME"]
    os.mkdir(home + "/screen")
    environment["TD_TEST_SCREEN"] = home + "/screen/Xvfb_screen0"
    command = ["xvfb-run", "-a", "-s", f"-screen 0 {WIDTH}x{HEIGHT}x24 -fbdir {home}/screen", "dbus-run-session", "--", sys.executable,
               *sys.argv]
    status = NO_DISPLAY
    for attempt in range(ATTEMPTS):
        if status == NO_DISPLAY:
            status = os.spawnvpe(os.P_WAIT, command[0], command, environment)
    shutil.rmtree(home, ignore_errors=True)
    sys.exit(status if status >= 0 else 1)


def screen_rows(x, y, width, height):
    """A part of the screen: rows of four bytes for each pixel, blue, green, red and none."""
    screen = pathlib.Path(os.environ["TD_TEST_SCREEN"]).read_bytes()  # an X window dump: header, colours, rows
    header = struct.unpack(">25I", screen[:100])
    stride, start = header[12], header[0] + 12 * header[19] + 4 * x
    return [screen[start + row * stride:start + row * stride + 4 * width] for row in range(y, y + height)]


def take_picture(path, width=WIDTH, height=HEIGHT):
    """Writes what is on the screen, popovers and all, as a PNG: of its upper left part, where windows are."""
    import gi
    gi.require_version("GdkPixbuf", "2.0")
    from gi.repository import GdkPixbuf, GLib
    pixels = bytearray()
    for line in screen_rows(0, 0, width, height):
        rgb = bytearray(3 * width)
        rgb[0::3], rgb[1::3], rgb[2::3] = line[2::4], line[1::4], line[0::4]
        pixels += rgb
    picture = GdkPixbuf.Pixbuf.new_from_bytes(GLib.Bytes.new(bytes(pixels)), GdkPixbuf.Colorspace.RGB, False, 8, width,
                                              height, 3 * width)
    picture.savev(str(path), "png", [], [])


def wait_for_rest(box=(0, 0, WIDTH, HEIGHT), still=0.5, seconds=60):
    """Until nothing on a part of the screen has changed for a while. Returns the pictures that were there, as screen_rows does."""
    seen, changed, deadline = [], time.monotonic(), time.monotonic() + seconds
    while time.monotonic() - changed < still:
        assert time.monotonic() < deadline, f"the screen did not rest for {seconds} s"
        now = screen_rows(*box)
        if not seen or now != seen[-1]:
            seen.append(now)
            changed = time.monotonic()
        time.sleep(0.005)
    return seen


class CursorImage(ctypes.Structure):
    """XFixesCursorImage of X11/extensions/Xfixes.h."""
    _fields_ = [("x", ctypes.c_short), ("y", ctypes.c_short), ("width", ctypes.c_ushort), ("height", ctypes.c_ushort),
                ("xhot", ctypes.c_ushort), ("yhot", ctypes.c_ushort), ("serial", ctypes.c_ulong), ("pixels", ctypes.POINTER(ctypes.c_ulong))]


def pointer_colours():
    """Of the pointer's picture: the colour and opacity of its hot spot as (alpha, red, green, blue), and its width."""
    x11, fixes = ctypes.CDLL("libX11.so.6"), ctypes.CDLL("libXfixes.so.3")
    x11.XOpenDisplay.restype, fixes.XFixesGetCursorImage.restype = ctypes.c_void_p, ctypes.POINTER(CursorImage)
    connection = ctypes.c_void_p(x11.XOpenDisplay(os.environ["DISPLAY"].encode()))
    fixes.XFixesQueryExtension(connection, ctypes.byref(ctypes.c_int()), ctypes.byref(ctypes.c_int()))
    image = fixes.XFixesGetCursorImage(connection).contents
    pixel = image.pixels[image.yhot * image.width + image.xhot]
    x11.XCloseDisplay(connection)
    return tuple(pixel >> shift & 255 for shift in (24, 16, 8, 0)), image.width


def clipboard_text():
    """What somebody copied, or "" if that is no text."""
    import gi
    gi.require_version("Gdk", "4.0")
    from gi.repository import Gdk, GLib
    said, loop = [], GLib.MainLoop()

    def take(clipboard, result):
        try:
            said.append(clipboard.read_text_finish(result))
        except GLib.Error:
            said.append("")
        loop.quit()

    Gdk.Display.open(os.environ["DISPLAY"]).get_clipboard().read_text_async(None, take)
    loop.run()
    return said[0] or ""


def calmly(probe):
    """What probe() returns, or None if a widget or a window that it looks at goes meanwhile."""
    try:
        return probe()
    except Exception as error:
        if "atspi_error" not in str(error):  # GLib.GError; gi is not there for all users of this file
            raise
        return None


def children_of(widget):
    try:
        yield from widget
    except Exception:  # it went while we walked over it
        return


def find_below(widget, is_wanted):
    """The first one that is wanted, depth first: this widget or one in it. pyatspi's own function walks once for each child."""
    try:
        if is_wanted(widget):
            return widget
    except Exception:
        return None
    for child in children_of(widget):
        found = child and find_below(child, is_wanted)
        if found:
            return found
    return None


def wait_for(what, probe, seconds=120):
    """Polls until probe() is true and returns its value; fails the test with `what` after a while."""
    deadline = time.monotonic() + seconds
    while True:
        value = calmly(probe)
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {seconds} s in vain for {what}")
        time.sleep(0.02)

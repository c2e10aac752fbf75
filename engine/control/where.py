# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tells where each thread of the program is, the innermost line first. Runs with the GIL, in a thread that the program
does not know; the probe has put `tell` among its names. Takes no lock: whoever holds one may be what hangs."""
import sys

DEEPEST = 12
FEW = 4
MOST = 11000  # characters; a line of the protocol holds as much, also if each is written as three

threading = sys.modules.get("threading")
known = dict(getattr(threading, "_active", {}))
main = getattr(threading, "_main_thread", None)
own = sys._getframe()


def plain(text):
    """On one line."""
    return "".join(letter if letter.isprintable() else "?" for letter in str(text))


def is_library(frame):
    """As is_library in verdict.c."""
    return any(part in frame.f_code.co_filename for part in ("/site-packages/", "/dist-packages/", "/lib/python", "<frozen "))


def line_of(frame):
    return "  " + plain("%s:%s %s" % (frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name))


def lines_of(frame):
    """The innermost lines, and also the program's own line if they are all of libraries."""
    lines, is_own = [], False
    while frame is not None and (len(lines) < DEEPEST or not is_own):
        is_own = is_own or not is_library(frame)
        if len(lines) < DEEPEST or is_own:
            lines.append(line_of(frame))
        frame = frame.f_back
    return "\n".join(lines)


# Threads of a pool stand at the same lines: one of them speaks for all. A few threads speak for themselves. The main thread
# comes first, then the rarer places.
places = {}
for ident, frame in sys._current_frames().items():
    if frame is own:
        continue
    thread = known.get(ident)
    is_main = main is not None and thread is main
    name = "main" if is_main else plain(getattr(thread, "_name", None) or hex(ident))
    names = places.setdefault(lines_of(frame), [])
    names.insert(0 if is_main else len(names), name)

text, left = "", 0
for lines, names in sorted(places.items(), key=lambda place: (place[1][0] != "main", len(place[1]))):
    told = names if len(names) <= FEW else ["%s and %d more at the same line" % (names[0], len(names) - 1)]
    block = "".join("thread %s\n%s\n" % (name, lines) for name in told)
    if len(text) + len(block) > MOST:
        left += len(names)
    else:
        text += block
if left:
    text += "thread and %d more, which are too many to tell\n" % left
tell(text.encode("utf-8", "backslashreplace").decode())

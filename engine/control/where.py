# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tells where each thread of the program is, the innermost line first. Runs with the GIL, in a thread that the program
does not know; the probe has put `tell` among its names. Takes no lock: whoever holds one may be what hangs."""
import sys

DEEPEST = 12

threading = sys.modules.get("threading")
known = dict(getattr(threading, "_active", {}))
main = getattr(threading, "_main_thread", None)
own = sys._getframe()
lines = []
for ident, frame in sys._current_frames().items():
    if frame is own:
        continue
    thread = known.get(ident)
    name = "main" if main is not None and thread is main else getattr(thread, "_name", None) or hex(ident)
    lines.append("thread " + name)
    depth = 0
    while frame is not None and depth < DEEPEST:
        lines.append("  %s:%s %s" % (frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name))
        frame = frame.f_back
        depth += 1
tell("\n".join(lines).encode("utf-8", "backslashreplace").decode())

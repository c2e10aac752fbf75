# SPDX-License-Identifier: LGPL-2.1-or-later
"""A display for tests of the window: Xvfb and a session bus of their own, a fresh home, software drawing."""
import os
import shutil
import sys
import tempfile
import time

SKIPPED = 77
NO_DISPLAY = 75
ATTEMPTS = 3  # two xvfb-run that start at once may choose the same number
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
    command = ["xvfb-run", "-a", "-s", "-screen 0 1920x1200x24", "dbus-run-session", "--", sys.executable,
               *sys.argv]
    status = NO_DISPLAY
    for attempt in range(ATTEMPTS):
        if status == NO_DISPLAY:
            status = os.spawnvpe(os.P_WAIT, command[0], command, environment)
    shutil.rmtree(home, ignore_errors=True)
    sys.exit(status if status >= 0 else 1)


def wait_for(what, probe, seconds=20):
    """Polls until probe() is true and returns its value; fails the test with `what` after a while."""
    deadline = time.monotonic() + seconds
    while True:
        value = probe()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {seconds} s in vain for {what}")
        time.sleep(0.02)

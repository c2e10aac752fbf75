# SPDX-License-Identifier: LGPL-2.1-or-later
"""Weston for programs that draw by OpenGL: what users of Wayland have, on a machine that has no screen."""
import contextlib
import os
import pathlib
import shutil
import subprocess
import tempfile

import display

# No screen at all: enough for pictures that a program draws of itself. There are no keys and no pointer.
NO_SCREEN = ("--backend=headless-backend.so", "--use-gl")
# A window of the display that tests have. Keys, the pointer and pictures are then those of X: Wayland has no way for a
# test to press a key. The shell gives each program the whole screen, so that it is where the pointer looks for it.
IN_X = ("--backend=x11-backend.so", "--use-pixman", "--shell=kiosk-shell.so")


def is_here():
    return shutil.which("weston") is not None


@contextlib.contextmanager
def compositor(width=display.WIDTH, height=display.HEIGHT, screen=NO_SCREEN):
    """The variables of programs that are to run in it."""
    with tempfile.TemporaryDirectory(prefix="tapedeck-wayland-") as folder:
        os.chmod(folder, 0o700)
        with open(f"{folder}/weston.log", "w") as log:
            weston = subprocess.Popen(["setpriv", "--pdeathsig", "TERM", "weston", *screen, f"--width={width}", f"--height={height}",
                                       "--socket=tapedeck", "--no-config", "--idle-time=0"],
                                      env=dict(os.environ, XDG_RUNTIME_DIR=folder), stdout=log, stderr=log)
        try:
            display.wait_for("weston", lambda: pathlib.Path(folder, "tapedeck").exists() or weston.poll() is not None)
            assert weston.poll() is None, pathlib.Path(folder, "weston.log").read_text()
            yield {"XDG_RUNTIME_DIR": folder, "WAYLAND_DISPLAY": "tapedeck", "GDK_BACKEND": "wayland", "GSK_RENDERER": "gl"}
        finally:
            weston.terminate()
            weston.wait(60)

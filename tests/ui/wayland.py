# SPDX-License-Identifier: LGPL-2.1-or-later
"""Weston without a screen, drawing by OpenGL: what users of Wayland have, on a machine that has neither."""
import contextlib
import os
import pathlib
import shutil
import subprocess
import tempfile

import display


def is_here():
    return shutil.which("weston") is not None


@contextlib.contextmanager
def compositor(width=display.WIDTH, height=display.HEIGHT):
    """The environment of programs that are to run in it."""
    with tempfile.TemporaryDirectory(prefix="tapedeck-wayland-") as folder:
        os.chmod(folder, 0o700)
        environment = dict(os.environ, XDG_RUNTIME_DIR=folder, WAYLAND_DISPLAY="tapedeck", GDK_BACKEND="wayland", GSK_RENDERER="gl")
        environment.pop("DISPLAY", None)
        with open(f"{folder}/weston.log", "w") as log:
            weston = subprocess.Popen(["weston", "--backend=headless-backend.so", "--use-gl", f"--width={width}", f"--height={height}",
                                       "--socket=tapedeck", "--no-config", "--idle-time=0"], env=environment, stdout=log, stderr=log)
        try:
            display.wait_for("weston", lambda: pathlib.Path(folder, "tapedeck").exists() or weston.poll() is not None)
            assert weston.poll() is None, pathlib.Path(folder, "weston.log").read_text()
            yield environment
        finally:
            weston.terminate()
            weston.wait(60)

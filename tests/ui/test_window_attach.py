# SPDX-License-Identifier: LGPL-2.1-or-later
"""A window that comes to a program which is being recorded already, driven through the accessibility tree."""
import os
import pathlib
import shutil
import subprocess
import tempfile

import display

display.ensure()

from program_list import attach, open_list
from window_case import Window, pyatspi
from window_tapes import OUTPUT, TAPEDECK, read_events

PROGRAM = """
import os, threading, torch
while not os.path.exists('end'):
    x = torch.ones(3, requires_grad=True)
    (x * 2).sin().sum().backward()
    threading.Event().wait(0.01)
print('finished')
"""
FREE = "Let go: the program runs on while Tapedeck records it"
WATCHED = "The program cannot be stopped: it was recorded without --live"
ENDED = "The program has ended: this is its whole tape"


class Program:
    """A program that runs until it is told to end. Its sessions have a place of their own, and its window closes at once."""

    def __init__(self, *command):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="attach-"))
        (self.folder / "program.py").write_text(PROGRAM)
        os.environ["XDG_RUNTIME_DIR"] = str(self.folder)
        self.process = subprocess.Popen([TAPEDECK, *command], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                        text=True, env=dict(os.environ, TAPEDECK_WINDOW=shutil.which("true")))
        display.wait_for("its tape", lambda: next(self.folder.glob("*.tape"), None))

    def __enter__(self):
        return self

    def ends(self):
        (self.folder / "end").touch()
        said, _ = self.process.communicate(timeout=120)
        assert self.process.returncode == 0 and "finished" in said, (self.process.returncode, said)

    def __exit__(self, *failure):
        (self.folder / "end").touch()
        self.process.communicate(timeout=120)
        shutil.rmtree(self.folder, ignore_errors=True)


def test_nobody():
    """The start page and the main menu lead to the list. An empty one says what would be there."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_RUNTIME_DIR"] = folder
        with Window() as window:
            open_list(window)
            window.read("No Program Is Being Recorded")
            window.read(lambda text: "tapedeck record --live -- python train.py" in text)
            window.take_picture(OUTPUT / "attach-nobody.png", 1300, 840)


def test_live():
    """Its window is gone. Another one stops it, steps, lets it go, and sees its end."""
    with Program("run", "--live", "-o", "live.tape", "program.py") as program, Window() as window:
        attach(window, "Can be stopped")
        window.read(FREE)
        window.press("Pause")
        place = window.read(lambda text: text.startswith("Paused at")).name
        window.press("Step")
        window.read(lambda text: text.startswith("Paused at") and text != place)
        window.take_picture(OUTPUT / "attach-live.png", 1300, 840)
        window.press("Let Go")
        window.read(FREE)
        program.ends()
        window.read(ENDED)
        assert read_events(program.folder / "live.tape")[-1]["event"] == "session_end"


def test_closed():
    """A program that waits for nobody is left without a question. One that is stopped asks one, and is let go."""
    with Program("run", "--live", "-o", "live.tape", "program.py") as program:
        with Window() as window:
            attach(window, "Can be stopped")
            window.read(FREE)
            window.press("Close")
            assert window.quits() == 0
        with Window() as window:
            attach(window, "Can be stopped")
            window.press("Pause")
            window.read(lambda text: text.startswith("Paused at"))
            window.press("Close")
            window.find("label", "The Program Still Runs")
            window.answer("Let It Run On")
            assert window.quits() == 0
        with Window() as window:
            attach(window, "Can be stopped")
            window.press("Pause")
            window.read(lambda text: text.startswith("Paused at"))
        with Window() as window:  # the one before was killed
            attach(window, "Can be stopped")
            window.read(FREE)
        program.ends()


def test_watched():
    """Without --live the window says so, follows the tape, and leaves without a question."""
    with Program("record", "-o", "outer.tape", "--", TAPEDECK, "run", "-o", "inner.tape", "program.py") as program:
        with Window() as window:
            attach(window, "Cannot be stopped: recorded without --live")
            window.read(WATCHED)
            for name in ("Pause", "Step", "Let Go"):
                assert not shown(window, name), name
            before = window.wait_for("the tape", window.position)
            window.wait_for("more of the tape", lambda: (window.position() or 0) > before)
            window.take_picture(OUTPUT / "attach-watched.png", 1300, 840)
            window.press("Close")
            assert window.quits() == 0
        with Window() as window:
            attach(window, "Cannot be stopped: recorded without --live")
            window.read(WATCHED)
            program.ends()
            window.read(ENDED)


def shown(window, name):
    return window.look(lambda w: w.getRoleName() == "push button" and w.name == name
                                  and w.getState().contains(pyatspi.STATE_SHOWING))


def main():
    OUTPUT.mkdir(parents=True, exist_ok=True)
    for test in (test_nobody, test_live, test_closed, test_watched):
        test()
        print("ok", test.__name__, flush=True)


if __name__ == "__main__":
    main()

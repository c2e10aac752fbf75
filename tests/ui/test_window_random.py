# SPDX-License-Identifier: LGPL-2.1-or-later
"""Random keys, clicks, drags and wheels, as from an impatient person: the window lives, answers and says nothing on standard error.

    test_window_random.py [how many actions, and a seed]

RECORDER is the program that makes the tapes, if TAPEDECK is built with a sanitizer that Python is built without."""
import os
import random
import re
import subprocess
import sys

import display

display.ensure(animated=True)

import x_input
from window_case import Window
from window_tapes import OUTPUT, TAPEDECK

PLAIN = [*"bcdefglmnopstuw0", *"BGUW", "space", "Right", "Left", "Up", "Down", "Home", "End", "Tab", "Return", "Delete", "Page_Up", "Page_Down",
         "less", "greater", "bracketleft", "bracketright", "braceleft", "braceright", "comma", "period", "plus", "minus",
         "F1", "F5", "F6", "F8", "F9", "Escape"]
CONTROL = [*"bcfkuU0K", "Right", "Left", "F9", "comma"]  # not those that close the window or leave the tape
ALT = [*"123456789", "Left", "Right", "Up", "Down"]
WIDTH, HEIGHT = 1280, 820
GROWTH_KIB = 80 << 10  # pictures, layouts and tables that are kept
# What GTK 4.8 says of itself, in other programs too: it counts a button that is down while a window or a popover goes, and it lays
# out a popover whose anchor is on no monitor. Of such a popover the size is any number.
BUTTON_DOWN = re.compile(r"Gtk-WARNING .*: Broken accounting of active state for widget ")
NO_MONITOR = re.compile(r"Gdk-CRITICAL .*: gdk_monitor_get_\w+: assertion 'GDK_IS_MONITOR \(monitor\)' failed$")
ANY_SIZE = re.compile(r"gtk_widget_size_allocate\(\): attempt to allocate |^\*\*\* BUG \*\*\*$|Invalid rectangle passed$|'_pixman_log_error' to debug$")


def ours(text):
    """The lines of standard error that are not GTK's own fault."""
    lines = [line for line in text.splitlines() if line and not BUTTON_DOWN.search(line)]
    rest = [line for line in lines if not NO_MONITOR.search(line)]
    return rest if rest == lines else [line for line in rest if not ANY_SIZE.search(line)]


class Impatient:
    def __init__(self, window, choose):
        self.window, self.choose = window, choose

    def place(self):
        """Not the buttons of the title, nor the borders: who presses there begins to resize the window, for which no window manager is here."""
        return self.choose.randrange(16, WIDTH - 16), self.choose.randrange(56, HEIGHT - 16)

    def key(self):
        modifier = self.choose.choice([None] * 6 + ["Control", "Alt", "Shift"])
        names = {None: PLAIN, "Shift": ["Right", "Left", "F5", "F9", "Tab"], "Control": CONTROL, "Alt": ALT}[modifier]
        self.window.key(self.choose.choice(names), modifier)

    def click(self):
        button, times = self.choose.choice([(1, 1), (1, 1), (1, 1), (1, 2), (3, 1)])
        x_input.click(*self.place(), button, times)

    def drag(self):
        (x, y), (to_x, to_y) = self.place(), self.place()
        x_input.press(x, y, True)
        for share in (0.2, 0.5, 0.9):
            x_input.move(x + (to_x - x) * share, y + (to_y - y) * share)
        x_input.press(to_x, to_y, False)

    def wheel(self):
        x, y = self.place()
        for _ in range(self.choose.randrange(1, 6)):
            x_input.click(x, y, self.choose.choice([4, 5]))

    def leave(self):
        """Out of what is open: menus, dialogs, entries."""
        self.window.key("Escape")

    def act(self):
        self.choose.choice([self.key] * 8 + [self.click] * 4 + [self.drag, self.wheel, self.leave])()
        self.window.pause(self.choose.choice([0, 0, 0.01, 0.05]), "this person waits for nothing")


def resident(process):
    with open(f"/proc/{process.pid}/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))


def try_window(name, n, seed, *arguments):
    log = OUTPUT / f"random-{name}.err"
    with open(log, "w") as file, Window(*arguments, stderr=file, G_DEBUG="") as window:  # what it says is read
        person, sizes = Impatient(window, random.Random(seed)), []
        with window.hurry():
            for i in range(n):
                assert window.process.poll() is None, (name, seed, i, log.read_text()[-3000:])
                if i in (n // 2, n - 1):
                    sizes.append(resident(window.process))
                person.act()
            for _ in range(4):
                person.leave()
        assert window.find("push button", "Step one event"), (name, seed)
        said = ours(log.read_text())
        assert not said, (name, seed, said[:20])
        assert "RECORDER" in os.environ or sizes[1] - sizes[0] < GROWTH_KIB, (name, seed, sizes)
        print(f"ok {name}: {n} actions, seed {seed}, {sizes[0] >> 10} MiB then {sizes[1] >> 10} MiB", flush=True)


def main():
    OUTPUT.mkdir(parents=True, exist_ok=True)
    n, seed = (int(word) for word in ["150", "1", *sys.argv[1:]][-2:])
    record = os.environ.get("RECORDER", TAPEDECK)
    model, broken, other = (OUTPUT / f"random-{name}.tape" for name in ("model", "broken", "other"))
    for tape, *words in ((model, "transformer_encoder"), (other, "transformer_encoder"), (broken, "--anomaly", "nonfinite", "nan_from_sum")):
        subprocess.run([record, "run", "--force", "-o", tape, *words], capture_output=True)
    try_window("model", n, seed, model, "--size", f"{WIDTH}x{HEIGHT}")
    try_window("broken", n, seed + 1, broken, "--size", f"{WIDTH}x{HEIGHT}", "--page", "findings")
    try_window("beside", n, seed + 2, model, "--beside", other, "--size", f"{WIDTH}x{HEIGHT}")


if __name__ == "__main__":
    main()

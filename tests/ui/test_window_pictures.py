# SPDX-License-Identifier: LGPL-2.1-or-later
"""Pictures of every view of the window, light and dark, small and large, for a person to look at. Each must have the
size asked for, and each pane must show another instant of the tape otherwise: a pane that is blank or stuck does not."""
import os
import pathlib
import subprocess
import sys

import display

display.ensure()

import pictures

TAPEDECK = os.environ["TAPEDECK"]
OUTPUT = pathlib.Path(os.environ["TEST_OUTPUT"]) / "window"
SIZES = ((900, 600), (1600, 1000))
EXAMPLES = ("nan_from_sum", "two_devices", "digits")
PAGES = ("inspector", "events", "inspector")


def record(example):
    tape = OUTPUT / f"{example}.tape"
    subprocess.run([TAPEDECK, "run", "--force", "--anomaly", "nonfinite", "-o", tape, example], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return tape


def middle_event(tape):
    lines = subprocess.run([TAPEDECK, "events", tape, "--json", "--kind", "queue_pop"], check=True,
                           capture_output=True, text=True).stdout.splitlines()
    return int(lines[len(lines) // 2].split('"seq": ')[1].split(",")[0])


def take(name, size, dark, *arguments):
    """Takes a picture and returns it after looking at its size."""
    width, height = size
    path = OUTPUT / f"{name}-{width}x{height}-{'dark' if dark else 'light'}.png"
    path.unlink(missing_ok=True)
    command = [TAPEDECK, "open", *map(str, arguments), "--size", f"{width}x{height}", "--screenshot", path]
    subprocess.run(command + (["--dark"] if dark else []), check=True, timeout=300)
    picture = pictures.read(path)
    assert (picture.get_width(), picture.get_height()) == (width, height), (path, picture.get_width())
    return picture


def check_panes(picture, other, name):
    """Graph, queues and timeline on the left, the side pane on the right, the transport below, at two instants."""
    width, height = picture.get_width(), picture.get_height()
    panes = {"graph": (60, 60, width // 2, height // 4), "lower": (10, height // 2, width // 2, height // 3),
             "side": (width - 300, 60, 290, height // 3), "transport": (10, height - 60, width - 20, 50)}
    for pane, box in panes.items():
        share = pictures.share_different(picture, other, box)
        assert share > 0.01, f"{name}: the {pane} pane looks the same at two instants ({share:.5f}): is it blank?"


def main():
    OUTPUT.mkdir(parents=True, exist_ok=True)
    tapes = {example: record(example) for example in EXAMPLES}
    for size in SIZES:
        for dark in (False, True):
            take("start", size, dark)
            for example, page in zip(EXAMPLES, PAGES):
                name = f"{example}-{page}"
                at = middle_event(tapes[example])
                begin, middle = (take(what, size, dark, tapes[example], "--at", event, "--page", page)
                                 for what, event in ((name + "-begin", 0), (name, at)))
                check_panes(middle, begin, name)
    take("small", (640, 480), False, tapes[EXAMPLES[0]])
    broken = OUTPUT / "broken.txt"
    broken.write_text("not a tape at all, but long enough to have had a header\n" * 3)
    take("error", SIZES[0], False, broken)
    first = take("again", SIZES[0], False, tapes["nan_from_sum"]).get_pixels()
    assert take("again", SIZES[0], False, tapes["nan_from_sum"]).get_pixels() == first, "the same view twice differs"


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: LGPL-2.1-or-later
"""Pictures of the window under Wayland, drawn by OpenGL and by cairo: nothing is printed, and they are alike. The letters and edges of
OpenGL are a little different, so a few pixels differ. Under X the window has another frame, so its pictures are no measure."""
import os
import pathlib
import subprocess
import sys

import display

display.ensure(animated=True)

import pictures
import torches
import wayland
from window_tapes import record_program

TAPEDECK = os.environ["TAPEDECK"]
EXAMPLES = pathlib.Path(os.environ["EXAMPLES"])
OUTPUT = pathlib.Path(os.environ["TEST_OUTPUT"]) / "wayland"
SIZE = "1300x850"
DIFFERENT = 96  # of 255
SHARE = 0.01    # of the pixels

# What each picture shows: the tape's name, and the options of `open`.
STATIONS = {
    "start": (None, []),
    "nan": ("own", ["--at", "nan"]),
    "events": ("own", ["--at", "nan", "--page", "events"]),
    "findings": ("own", ["--page", "findings"]),
    "analysis": ("digits", ["--page", "profile"]),
    "overlay": ("digits", ["--at", "700", "--overlay", "time"]),
    "dark": ("digits", ["--at", "700", "--dark"]),
    "torch": ("torch", ["--at", "end", "--page", "critical"]),
}


def record():
    tapes = {"own": OUTPUT / "own.tape", "digits": OUTPUT / "digits.tape"}
    for tape, program in ((tapes["own"], "nan_from_sum"), (tapes["digits"], "digits")):
        subprocess.run([TAPEDECK, "run", "--force", "--anomaly", "nonfinite", "--devices", "cpu,sim:2", "-o", tape, program], check=True,
                       capture_output=True)
    for python in list(torches.installed().values())[-1:]:
        tapes["torch"] = OUTPUT / "torch.tape"
        record_program("-o", tapes["torch"], "--", python, EXAMPLES / "nan_from_sum.py")
    return tapes


def take(name, environment, *arguments):
    path = OUTPUT / f"{name}.png"
    path.unlink(missing_ok=True)
    done = subprocess.run([TAPEDECK, "open", *map(str, arguments), "--size", SIZE, "--screenshot", path], env=environment,
                          capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", ""), (name, done)
    return pictures.read(path)


def main():
    if not wayland.is_here():
        print("needs weston")
        sys.exit(display.SKIPPED)
    OUTPUT.mkdir(parents=True, exist_ok=True)
    tapes, shares = record(), {}
    with wayland.compositor() as variables:
        environment = dict(os.environ, **variables)
        for language in ("C", "zh_CN"):
            for station, (tape, options) in STATIONS.items():
                if tape and tape not in tapes:
                    print(f"skipped: {station}, because there is no PyTorch")
                    continue
                words = ([tapes[tape]] if tape else []) + options
                both = [take(f"{station}-{language}-{name}", dict(where, LANGUAGE=language), *words)
                            for name, where in (("gl", environment), ("cairo", dict(environment, GSK_RENDERER="cairo")))]
                shares[f"{station} {language}"] = pictures.share_different(*both, least=DIFFERENT)
        first, last = (take(f"other-{at}", environment, tapes["digits"], "--at", at) for at in (300, 700))
    assert max(shares.values()) < SHARE, shares
    assert pictures.share_different(first, last, least=DIFFERENT) > SHARE, "two moments look alike, so this test sees nothing"


if __name__ == "__main__":
    main()

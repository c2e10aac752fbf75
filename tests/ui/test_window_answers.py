# SPDX-License-Identifier: LGPL-2.1-or-later
"""A tape opens on its answers: those of `answers`. A row leads to its event and node, and the answers stay, so that the next row can be
clicked. The button of a topic leads to the page that has more."""
import json
import subprocess

import display

display.ensure()

from window_case import Window
from window_tapes import OUTPUT, TAPEDECK, node_name, read_events, tapedeck


def answers_of(tape):
    return json.loads(subprocess.run([TAPEDECK, "answers", tape, "--json"], capture_output=True, text=True, timeout=60).stdout)["answers"]


def test_rows(tape):
    """All answers are there, in their order. Each row with an event leads there."""
    events, answers = read_events(tape), answers_of(tape)
    with Window(tape) as window:
        graph = window.control("image", "Backward graph")
        for answer in answers:
            window.read(answer["text"])
        window.take_picture(OUTPUT / "answers.png")
        leading = [answer for answer in answers if answer["seq"] is not None]
        assert len(leading) > 4, answers
        for answer in leading[:4]:
            window.click_on(lambda: window.read(answer["text"]))
            window.wait_for_position(answer["seq"] + 1)
            if answer["node"] is not None:
                window.wait_for("the node to be selected", lambda: node_name(events, answer["node"]) in graph.description)


def test_more(tape):
    """The button of a topic leads to its page, where a click goes to the event of a finding. Alt+0 leads back."""
    wrong, *others = [answer for answer in answers_of(tape) if answer["seq"] is not None]
    with Window(tape) as window:
        window.read(wrong["text"])
        window.press_one("Findings")
        window.click_on(lambda: window.find("push button", "Show"))
        window.wait_for_position(wrong["seq"] + 1)
        window.key("0", "Alt")
        window.click_on(lambda: window.read(others[0]["text"]))
        window.wait_for_position(others[0]["seq"] + 1)


def main():
    OUTPUT.mkdir(parents=True, exist_ok=True)
    tape = OUTPUT / "answers.tape"
    tapedeck("run", "--force", "--anomaly", "nonfinite", "-o", tape, "nan_from_sum")
    test_rows(tape)
    test_more(tape)


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: LGPL-2.1-or-later
"""A button does what it looks like. A test of the window presses a button by the name of its action, so it would not notice that
the picture on it is that of another action. Tapedeck's own pictures are named as their actions are; this list has the others."""
import os
import pathlib
import sys
import xml.etree.ElementTree

FOLDER = pathlib.Path(os.environ["SOURCE_ROOT"]) / "resources" / "ui"

# What is on a button, a picture or words: its action.
ACTIONS = {
    "media-skip-backward": "to-start", "media-skip-forward": "to-end", "media-playback-start": "play", "find-location": "follow",
    "go-previous": "pass-back chain", "go-next": "pass-next", "zoom-in": "zoom-in", "zoom-out": "zoom-out", "zoom-fit-best": "zoom-fit",
    "list-add": "neighbours-more", "list-remove": "neighbours-fewer", "document-save": "save-finding",
    "_Cancel": "cancel close", "_Close": "close", "Open": "open", "_Open a Tape…": "open", "_Open Another Tape…": "open",
    "_Start Page": "start-page", "_Record a Program…": "record", "_Attach to a Running Program…": "attach",
    "Step": "live-step", "Continue": "live-continue", "Pause": "live-pause", "Let Go": "live-detach",
    "Go to First Difference": "first-difference", "Show Policy Beside This Tape": "whatif-beside",
    "_Bookmark This Event": "bookmark", "Whole Graph": "whole-graph", "Open All": "open-all", "Show": "show", "Why?": "why",
    "Record Again, to Look Everywhere…": "record-again",
}


def buttons_of(root):
    """What is on each button, and its action."""
    for widget in root.iter("object"):
        properties = {child.get("name"): child.text for child in widget.findall("property")}
        look = properties.get("icon-name", properties.get("label"))
        if "action-name" in properties and look:
            yield look.removesuffix("-symbolic"), properties["action-name"].partition(".")[2]


def is_right(look, action):
    return action == look.removeprefix("td-") if look.startswith("td-") else action in ACTIONS.get(look, "").split()


def main():
    assert is_right("td-event-step", "event-step") and not is_right("td-event-step", "node-step")
    found = [(path.name, *button) for path in sorted(FOLDER.glob("*.ui")) for button in buttons_of(xml.etree.ElementTree.parse(path).getroot())]
    problems = [f"{name}: '{look}' is on the button of {action}" for name, look, action in found if not is_right(look, action)]
    problems += [f"no button has '{look}'" for look in ACTIONS.keys() - {look for _, look, _ in found}]
    print(*problems, sep="\n", end="\n" if problems else "")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes one C file of the template, style and scripts of the exported page.

    make_page.py PAGE.html STYLE.css SCRIPT.js... > template.c

The page allows exactly one script: this one, by its hash. So nothing that a tape holds can run."""
import base64
import hashlib
import pathlib
import sys


def read(path):
    lines = pathlib.Path(path).read_text(encoding="utf-8").splitlines()
    return "\n".join(line for line in lines if "SPDX-License-Identifier" not in line) + "\n"


def array(name, text):
    data = text.encode() + b"\0"
    rows = (",".join(str(byte) for byte in data[i:i + 32]) for i in range(0, len(data), 32))
    return f"const char {name}[] = {{\n" + ",\n".join(rows) + "};\n"


def state_rules():
    """A card, its sign and its chip have the colours of its state."""
    states = "created waiting partial queued running done skipped captured failed released absent".split()
    return "".join(
        f".node[data-state={state}] .card-back{{fill:var(--ground-{state});stroke:var(--state-{state})}}"
        f".node[data-state={state}] text{{fill:var(--text-{state})}}"
        f"#graph.far .node[data-state={state}] .card-back{{fill:var(--state-{state})}}"
        f"[data-state={state}]>.mark,.state[data-state={state}] .mark{{stroke:var(--state-{state})}}\n" for state in states)


def main(page, style, *scripts):
    script = '"use strict";\n(() => {\n' + "".join(read(path) for path in scripts) + "})();\n"
    assert "</script" not in script.lower() and "<!--" not in script, "the script would end itself"
    script_hash = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    text = read(page).replace("@SCRIPT_HASH@", script_hash)
    head, rest = text.split("@COLOURS@")
    body, tail = rest.split("@DATA@")
    print('/* Made by resources/page/make_page.py. */\n#include "ui/page/template.h"\n')
    print(array("td_page_template_head", head))
    print(array("td_page_template_body", body.replace("@STYLE@", read(style).replace("@STATES@", state_rules()))))
    print(array("td_page_template_tail", tail.replace("@SCRIPT@", script)))


main(*sys.argv[1:])

# SPDX-License-Identifier: LGPL-2.1-or-later
"""embed.py OUT HEADER NAME=FILE[+FILE]...: writes C that holds texts, for a library that must not look for files. The header
declares them."""
import pathlib
import sys

out = pathlib.Path(sys.argv[1])
parts = [f"#include \"{sys.argv[2]}\"\n"]
for pair in sys.argv[3:]:
    name, paths = pair.split("=", 1)
    text = b"".join(pathlib.Path(path).read_bytes() for path in paths.split("+"))
    numbers = ",".join(map(str, text))
    parts.append(f"const char {name}[] = {{{numbers},0}};\n")
out.write_text("".join(parts))

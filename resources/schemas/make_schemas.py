# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes one C file of the schemas of --json.

    make_schemas.py defs.json NAME.json... > schemas.c

A schema takes what it refers to from defs.json. A string "@name" stays: app/commands/schema_words.h writes words of a table there."""
import json
import pathlib
import re
import sys


def read(path):
    return json.loads(path.read_text(encoding="utf-8"))


def complete(schema, shared):
    """The schema with its definitions: its own, and those of the shared ones that it names."""
    own = schema.pop("$defs", {})
    used = set(re.findall(r"#/\$defs/(\w+)", json.dumps([schema, own])))
    assert used >= own.keys() and used <= own.keys() | shared.keys(), used
    return schema | {"$defs": {name: text for name, text in (shared | own).items() if name in used}}


def literal(text):
    return ",".join(map(str, text.encode() + b"\0"))


def main(shared, *paths):
    shared, paths = read(pathlib.Path(shared)), [pathlib.Path(path) for path in paths]
    print('/* Made by resources/schemas/make_schemas.py. */\n#include "app/commands/schemas.h"\n')
    rows = []
    for path in paths:
        schema = complete(read(path), shared)
        assert re.fullmatch(f"tapedeck-{path.stem}-[1-9][0-9]*", schema["$id"]), path
        print(f"static const char text_{len(rows)}[] = {{{literal(json.dumps(schema, indent=2))}}};")
        rows.append(f"  {{{json.dumps(path.stem)}, {json.dumps(schema['$id'])}, {json.dumps(schema['title'])}, text_{len(rows)}}},")
    print("const td_schema td_schemas[] = {", *rows, "};", f"const size_t td_n_schemas = {len(rows)};", sep="\n")


main(*sys.argv[1:])

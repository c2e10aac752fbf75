# SPDX-License-Identifier: LGPL-2.1-or-later
"""read_parquet.py FOLDER: prints all tables of a folder as JSON: {table: {"columns": {name: meaning}, "rows": [...],
"groups": N}}. For the Python of build/readers."""
import json
import pathlib
import sys

import pyarrow.parquet

tables = {}
for path in sorted(pathlib.Path(sys.argv[1]).glob("*.parquet")):
    file = pyarrow.parquet.ParquetFile(path)
    table = file.read()
    table.validate(full=True)
    meanings = {name.decode(): text.decode() for name, text in (file.schema_arrow.metadata or {}).items()}
    tables[path.stem] = {"columns": {name: meanings.get(name) for name in table.column_names}, "rows": table.to_pylist(), "groups": file.num_row_groups}
json.dump(tables, sys.stdout)

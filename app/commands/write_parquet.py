# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes Parquet files of rows: write_parquet.py IN OUT..., descriptors, two for each table. `tapedeck export --to parquet`
runs it. What comes in is one line of JSON, [[column, type, meaning]...], and then CSV as of `export --to csv`.

It prints "ready" when it is. If it fails, it prints the reason in one line and ends with 1."""
import json
import os
import sys
import threading

sys.path[:] = [place for place in sys.path if place]  # no module of the folder in which somebody stands
try:
    import pyarrow
    from pyarrow import csv, parquet
except ImportError as problem:
    print(f'{sys.executable} has no pyarrow ({problem})')
    sys.exit(1)

BLOCK_BYTES = 2 << 20  # of CSV: they become one group of rows
TYPES = {'INT': pyarrow.int64(), 'BOOL': pyarrow.bool_(), 'TEXT': pyarrow.string()}


def schema_of(columns):
    fields = [pyarrow.field(name, TYPES[kind]) for name, kind, meaning in columns]
    return pyarrow.schema(fields, {name: meaning for name, kind, meaning in columns})


def end_of_rows(text):
    """Where the last whole row ends. A newline between quotes ends none."""
    is_odd, end = text.count(b'"') & 1, len(text)
    while (newline := text.rfind(b'\n', 0, end)) >= 0:
        is_odd ^= text.count(b'"', newline, end) & 1
        if not is_odd:
            return newline + 1
        end = newline
    return 0


def blocks_of(source):
    rest = b''
    while more := source.read(BLOCK_BYTES):
        rest += more
        if end := end_of_rows(rest):
            yield rest[:end]
            rest = rest[end:]
    if rest:
        raise ValueError('the rows end too early')


def read_rows(block, schema):
    """Not csv.open_csv: that reads ahead in a few threads, and of many pipes some would wait for one that nobody reads."""
    read = csv.ReadOptions(use_threads=False, block_size=len(block), column_names=schema.names)
    parse = csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=False)
    convert = csv.ConvertOptions(column_types=schema, null_values=[''], true_values=['1'], false_values=['0'], strings_can_be_null=True,
                                 quoted_strings_can_be_null=False)
    return csv.read_csv(pyarrow.BufferReader(block), read, parse, convert)


def write_table(source, sink):
    schema = schema_of(json.loads(source.readline()))
    source.readline()  # the names again
    # Numbers and the JSON of events hardly repeat: with dictionaries the files are nearly twice as large.
    with parquet.ParquetWriter(sink, schema, compression='zstd', compression_level=3, use_dictionary=False) as writer:
        for block in blocks_of(source):
            writer.write_table(read_rows(block, schema).cast(schema))
    sink.flush()


def work(source, sink):
    """A table that fails ends all: then the command's other child writes into a closed pipe."""
    try:
        with open(source, 'rb') as rows, open(sink, 'wb') as file:
            write_table(rows, file)
    except Exception as problem:
        text = os.strerror(problem.errno) if isinstance(problem, OSError) and problem.errno else str(problem)
        os.write(1, ' '.join(text.split()).encode() + b'\n')
        os._exit(1)


def main():
    numbers = list(map(int, sys.argv[1:]))
    os.write(1, b'ready\n')
    threads = [threading.Thread(target=work, args=pair) for pair in zip(numbers[::2], numbers[1::2])]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


main()

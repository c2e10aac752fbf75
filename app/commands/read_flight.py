# SPDX-License-Identifier: LGPL-2.1-or-later
"""Prints dumps of PyTorch's flight recorder, pickled or JSON, as rows for `tapedeck import`. argv: the dumps.

A row is a line of fields with tabs between them: "dump" with the rank, or "operation" with what FIELDS has. A pickle may name no
class and no function, so nothing of it runs. The last line is "ready"."""
import json
import pickle
import re
import resource
import sys

MEMORY = 2 << 30
KNOWN = {"all_reduce": "ALLREDUCE", "all_reduce_barrier": "BARRIER", "allreduce_coalesced": "ALLREDUCE_COALESCED",
         "all_gather": "ALLGATHER", "_all_gather_base": "_ALLGATHER_BASE", "reduce_scatter": "REDUCE_SCATTER",
         "_reduce_scatter_base": "_REDUCE_SCATTER_BASE", "all_to_all": "ALLTOALL", "all_to_all_base": "ALLTOALL_BASE"}
FIELDS = ("group", "size", "rank", "number", "ended", "ns", "timeout_ms", "operation", "dtype", "elements", "tensors", "stack")


class Plain(pickle.Unpickler):
    def find_class(self, module, name):
        raise pickle.UnpicklingError(f"it names {module}.{name}, and a dump has numbers and texts alone")


def load(path):
    with open(path, "rb") as file:
        pickled = file.read(1) == b"\x80"
        file.seek(0)
        dump = Plain(file).load() if pickled else json.load(file)
    if not isinstance(dump, dict) or not isinstance(dump.get("entries"), list):
        raise ValueError("not a dump of the flight recorder: no list of entries")
    return dump


def rank_of(dump, path):
    """PyTorch names the file after the rank, and some versions write it into the dump."""
    found = re.search(r"(\d+)(?:\.\w+)?$", path)
    if isinstance(dump.get("rank"), int):
        return dump["rank"]
    if not found:
        raise ValueError("neither the dump nor the end of its name has a rank, as in nccl_trace_rank_0")
    return int(found[1])


def ranks_of_groups(dump):
    """{name of a group: its ranks}, as far as the dump has them."""
    found = {}
    for name, config in (dump.get("pg_config") or {}).items():
        ranks = config.get("ranks", "") if isinstance(config, dict) else ""
        found[str(name)] = [int(rank) for rank in (ranks if isinstance(ranks, list) else re.findall(r"\d+", str(ranks)))]
    return found


def numbers(sizes):
    """Elements of tensors of these sizes."""
    total = 0
    for size in sizes:
        n = 1
        for length in size:
            n *= int(length)
        total += n
    return total


def stack_of(entry):
    """Lines as Tapedeck's stacks have them: the innermost last."""
    frames = [frame for frame in entry.get("frames") or [] if isinstance(frame, dict)]
    return "\v".join(f"{frame.get('filename')}:{frame.get('line')} {frame.get('name')}" for frame in reversed(frames))


def rows_of(dump, rank):
    ranks, operations = ranks_of_groups(dump), {}
    for entry in dump["entries"]:
        if entry.get("is_p2p"):
            continue
        name, *words = entry["process_group"]
        members = ranks.get(name) or (list(ranks.values())[0] if len(ranks) == 1 else [])
        if rank not in members:
            raise ValueError(f"it does not say which ranks process group {name} has, or rank {rank} is not among them")
        operation = entry["profiling_name"].split(":")[-1]
        sizes, dtypes = entry.get("input_sizes") or [], entry.get("input_dtypes") or []
        key = name, entry["collective_seq_id"]
        row = operations.get(key)
        if row:  # one of several that were handed together
            row["elements"] += numbers(sizes)
            row["tensors"] += len(sizes)
            continue
        operations[key] = {
            "group": name + (f" ({words[0]})" if words and words[0] not in ("", "undefined") else ""), "size": len(members),
            "rank": members.index(rank), "number": int(entry["collective_seq_id"]),
            "ended": int(entry.get("state") == "completed" or bool(entry.get("retired"))), "ns": int(entry["time_created_ns"]),
            "timeout_ms": int(entry.get("timeout_ms") or 0),
            "operation": KNOWN.get(operation, operation.upper()), "dtype": str(dtypes[0]).lower() if dtypes else "",
            "elements": numbers(sizes), "tensors": len(sizes), "stack": stack_of(entry)}
    return [row for row in operations.values() if row["number"] > 0]


def line(*fields):
    return "\t".join(re.sub(r"[\x00-\x0a\x0c-\x1f\x7f]", " ", str(field)) for field in fields) + "\n"


def main(paths):
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    text = []
    for path in paths:
        try:
            dump = load(path)
            rank = rank_of(dump, path)
            rows = rows_of(dump, rank)
        except Exception as failure:  # whatever a damaged file leads to
            sys.exit(f"{path}\t{str(failure) or type(failure).__name__}")
        text.append(line("dump", rank))
        text += [line("operation", *(row[field] for field in FIELDS)) for row in rows]
    sys.stdout.write("".join(text) + "ready\n")


main(sys.argv[1:])

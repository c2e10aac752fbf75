# SPDX-License-Identifier: LGPL-2.1-or-later
"""What files of cases share: values as JSON, errors as text, warnings as text. fixtures/both_engines.py runs them."""
import json
import sys
import traceback
import warnings

import torch

ALL = {}


def case(function, name=None):
    """The function is a case under its name. `name:` may begin with a group: "group: case"."""
    ALL[name or function.__name__] = function
    return function


def plain(value):
    """Tensors as lists, and whatever JSON lacks as text."""
    if isinstance(value, torch.Tensor):
        return (value.to_dense() if value.is_sparse else value).tolist()
    if isinstance(value, dict):
        return {str(name): plain(member) for name, member in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(member) for member in value]
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)


def text_of(call):
    """The first line of the error, or nothing."""
    try:
        call()
    except Exception as error:
        return f'{type(error).__name__}: {(str(error).splitlines() or [""])[0]}'
    return None


def graph_of(tensor):
    """The names of all nodes below, in the order of a walk that is the same on both engines."""
    found, waiting = [], [tensor.grad_fn]
    while waiting:
        node = waiting.pop()
        if node is not None and not any(node is other for other in found):
            found.append(node)
            waiting.extend(edge[0] for edge in node.next_functions)
    return [node.name().split('::')[-1] for node in found]


def main():
    torch.set_num_threads(1)
    seen = {'engine': 'tapedeck' if hasattr(torch, '_tapedeck') else 'torch'}
    for name, function in ALL.items():
        if len(sys.argv) > 2 and sys.argv[2] not in name:
            continue
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter('always')
            torch.manual_seed(0)
            try:
                seen[name] = plain(function())
            except Exception as error:
                seen[name] = 'failed: ' + ''.join(traceback.format_exception_only(error))
                if len(sys.argv) > 2:
                    traceback.print_exc()
        if told:
            seen[name] = [seen[name], [f'{w.category.__name__}: {w.message}' for w in told]]
    with open(sys.argv[1], 'w') as file:
        json.dump(seen, file)

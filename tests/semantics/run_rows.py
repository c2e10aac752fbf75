# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs row functions on the engine that `import torch` gives here, each in a fresh thread.

    run_rows.py OUT.jsonl KEY...

OUT gets a line before and after each row, so that whoever started this knows where it died. A row with `tape` stands
on the tape between two passes over nodes that are called after it and after its end.
"""
import faulthandler
import gc
import json
import os
import sys
import threading
import traceback

import torch

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import harness  # noqa: E402

# An exception of these types is more likely a slip of the test than what the row is about: see text_of.
SLIPS = (AssertionError, NameError, ImportError, AttributeError, KeyError, TypeError, SyntaxError)
HUNG = 99


def mark(name):
    """A pass on the tape over a node of this name."""
    class Mark(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            return g
    kind = type(name, (Mark,), {})
    kind.apply(torch.ones(1, requires_grad=True)).backward()


def outcome(row):
    """{'value': ...}, {'raised': type and text} or, where the test itself failed, {'failed': text}."""
    try:
        return {'value': harness.as_json(row.call(torch))}
    except SLIPS:
        return {'failed': traceback.format_exc(limit=-3)}
    except BaseException as problem:
        return {'raised': f'{type(problem).__name__}: {problem}'}


def run(row, say):
    say({'begin': row.key})
    seen = {}
    thread = threading.Thread(target=lambda: seen.update(outcome(row)), daemon=True)
    thread.start()
    thread.join(row.seconds)
    if thread.is_alive():
        faulthandler.dump_traceback()
        say({'end': row.key, 'failed': f'still running after {row.seconds} s'})
        sys.stderr.flush()
        os._exit(HUNG)
    say({'end': row.key, **seen})


def run_marked(row, say):
    gc.collect()
    mark(f'begin of {row.key}')
    run(row, say)
    gc.collect()
    mark(f'end of {row.key}')


def main(out, keys):
    faulthandler.enable()
    harness.load_groups()
    rows = {row.key: row for row in harness.TESTS}
    with open(out, 'a', encoding='utf-8') as file:
        def say(what):
            file.write(json.dumps(what) + '\n')
            file.flush()
        for key in keys:
            (run_marked if rows[key].tape else run)(rows[key], say)
    if 'tapedeck' not in sys.modules:
        os._exit(0)  # PyTorch aborts at times where threads of its pool are left


if __name__ == '__main__':
    main(sys.argv[1], sys.argv[2:])

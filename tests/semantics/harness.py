# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the tests of rows are written with: one file for each group of rows, rows_<subject>.py, of functions

    @row('B-05', tape=function)
    def root_below_a_root(torch): ...

A row function gets the engine as `torch` (Tapedeck's module or PyTorch), runs on each in a fresh thread, so that sequence
numbers start at 0, and returns what it saw: JSON-able, floats within rounding. What it saw must be equal on Tapedeck and
on each PyTorch. An exception that escapes counts as its type and text, unless it looks like a slip of the test itself.
A function carries one id; an id may have several functions, each for another side of it.

    expect=VALUE      and it must be this (default behaviour: PyTorch 2.15's); `expect_1_13`, `expect_2_13` for the others.
                      VALUE is what the function returned, or raised as text, or what FUNCTION of `tape` gave
    expect_tape=VALUE and what FUNCTION of `tape` gave must be this, on every engine
    in_1_13='why'     PyTorch 1.13.1 differs; `tapedeck run --semantics 1.11` must then equal 1.13.1
    in_2_13='why'     PyTorch 2.13.0 differs from 2.15.0; `tapedeck run --semantics 2.13` must then equal 2.13.0
    since='2.1'       not there in 1.13.1; nor in 2.13.0, if it is later than that
    tape=FUNCTION     FUNCTION(events) of what the row left on each engine's tape, compared as well
    only='why'        PyTorch cannot show this: Tapedeck alone, so `expect` or assertions in the function are a must
    devices='cpu,sim:2', semantics='1.11', scheduler='2017'      (with `only`) how Tapedeck is started
    process=True      a process of its own: fork, exit, threads that stay, process-wide settings
    differs='why'     Tapedeck cannot be the same; only `expect` holds it. The table shows the reason
    seconds=N         how long it may take (60)
"""
import glob
import importlib
import json
import math
import os
import re
import sys
import traceback

from rows import ROWS

TESTS = []  # every Row, in the order of the files
HERE = os.path.dirname(os.path.abspath(__file__))
GROUPS = os.environ.get('SEMANTICS_GROUPS', HERE)  # test_harness.py has groups of its own


def load_groups():
    """Imports every group; returns what is wrong with those that cannot be imported."""
    problems = []
    sys.path.insert(0, GROUPS)
    for path in sorted(glob.glob(os.path.join(GROUPS, 'rows_*.py'))):
        try:
            importlib.import_module(os.path.basename(path)[:-len('.py')])
        except Exception:
            problems.append(f'{path}:\n{traceback.format_exc(limit=-2)}')
    return problems


class Row:
    def __init__(self, call, name, expect=None, expect_1_13=None, in_1_13=None, since=None, tape=None, expect_tape=None,
                 only=None, devices='cpu', semantics=None, scheduler='engine', process=False, differs=None, seconds=60,
                 in_2_13=None, expect_2_13=None):
        self.call, self.id, self.expect, self.expect_1_13 = call, name, expect, expect_1_13
        self.in_1_13, self.since, self.tape, self.expect_tape = in_1_13, since, tape, expect_tape
        self.only, self.devices, self.scheduler = only, devices, scheduler
        self.semantics, self.process, self.differs, self.seconds = semantics, process, differs, seconds
        self.in_2_13, self.expect_2_13 = in_2_13, expect_2_13
        self.key = f'{name} {call.__module__}.{call.__name__}'

    def engines(self):
        """Where this row runs."""
        if self.only:
            return [self.semantics or 'tapedeck']
        engines = ['tapedeck', *(version for version in VERSIONS if self.is_there(version))]
        return engines + ['1.11'] * bool(self.in_1_13) + ['2.13'] * bool(self.in_2_13)

    def is_there(self, version):
        """Whether that PyTorch has what this row is about."""
        return not self.since or number(self.since) <= number(version)

    def differs_in(self, version):
        """Why that PyTorch is not as the newest, if it is not."""
        return {'1.13.1': self.in_1_13, '2.13.0': self.in_2_13}.get(version)

    def is_stored(self):
        """Whether the tree has what the newest PyTorch showed, for those who do not have that. Of all other rows 2.13.0
        shows the same."""
        return not self.only and not self.differs and (bool(self.in_2_13) or not self.is_there('2.13.0'))


VERSIONS = ('1.13.1', '2.13.0', '2.15.0')


def number(version):
    return tuple(map(int, re.match(r'(\d+)\.(\d+)', version).groups()))


def row(name, **how):
    if name not in ROWS:
        raise ValueError(f'no such row: {name}')

    def add(call):
        TESTS.append(Row(call, name, **how))
        if not how.get('only') and {'devices', 'semantics', 'scheduler'} & set(how):
            raise ValueError(f'{name}: devices, semantics and scheduler are for rows with `only`')
        if any(test.key == TESTS[-1].key for test in TESTS[:-1]):
            raise ValueError(f'{TESTS[-1].key} is there twice')
        return call
    return add


# For row functions.

def text_of(call):
    """Type and text of the error that a call raises, as 'RuntimeError: text', or None."""
    try:
        call()
    except Exception as problem:
        return f'{type(problem).__name__}: {problem}'
    return None


def shapes(tensors):
    return [None if t is None else list(t.shape) for t in tensors]


# For functions over events. `node_name` is there in every event that has a node.

def order_of(events):
    """Names of nodes in the order in which they began to run."""
    return [event['node_name'] for event in events if event['event'] == 'node_begin']


def counts_of(events):
    """The dependency counts as sorted pairs of name and count."""
    return sorted([event['node_name'], event['count']] for event in events if event['event'] == 'dependency')


def of_kind(events, *kinds):
    return [event for event in events if event['event'] in kinds]


# For the runner.

def same(a, b):
    """Equal, floats within rounding."""
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, bool) != isinstance(b, bool):
        return False
    if isinstance(a, float) or isinstance(b, float):
        if not isinstance(a, (int, float)) or not isinstance(b, (int, float)):
            return False
        return a == b or (math.isnan(a) and math.isnan(b)) or math.isclose(a, b, rel_tol=1e-5, abs_tol=1e-7)
    return a == b


def as_json(value):
    return json.loads(json.dumps(value))

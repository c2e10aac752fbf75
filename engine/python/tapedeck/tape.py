# SPDX-License-Identifier: LGPL-2.1-or-later
"""A tape, read by the program `tapedeck`: everything here is what its commands print with --json."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))


class TapeError(Exception):
    """The tape cannot be read, or has no such thing. The text is the program's."""


def program():
    """The program that belongs to this package: TAPEDECK, or that of the wheel, of the build folder, or the installed one."""
    built = os.path.normpath(os.path.join(HERE, '..', '..', '..', 'app', 'tapedeck'))
    packed = os.path.join(HERE, '_program', 'bin', 'tapedeck')
    for path in (os.environ.get('TAPEDECK'), packed, built, shutil.which('tapedeck')):
        if path and os.access(path, os.X_OK):
            return path
    raise TapeError('the program tapedeck is not in PATH; set TAPEDECK to where it is')


def call(command, path, *options):
    """What a command prints. Status 1 only says that the tape shows something bad."""
    words = [program(), command, path, *map(str, options)]
    python = {'TAPEDECK_PYTHON': sys.executable} if sys.executable else {}  # the one that has pyarrow, if any has
    environment = {**os.environ, **python}
    done = subprocess.run(words, capture_output=True, text=True, encoding='utf-8', errors='replace', check=False, env=environment)
    if done.returncode not in (0, 1):
        raise TapeError(done.stderr.strip() or f'tapedeck {command} ended with status {done.returncode}')
    return done.stdout


class Tape:
    """A recorded backward pass, or many. Each member asks the program when it is needed first."""

    def __init__(self, path):
        self.path = os.path.abspath(os.fsdecode(path))  # the program may go to another folder
        self._kept = {}
        self.info  # a file that is no tape is an error now

    def __repr__(self):
        return f'Tape({self.path!r})'

    def _keep(self, name, ask):
        if name not in self._kept:
            self._kept[name] = ask()
        return self._kept[name]

    def _json(self, command, *options):
        return json.loads(call(command, self.path, '--json', *options))

    @property
    def info(self):
        """What `tapedeck info` says."""
        return self._keep('info', lambda: self._json('info'))

    @property
    def passes(self):
        """The graph tasks, in the order in which they began."""
        return self.info['graph_tasks']

    @property
    def nodes(self):
        """All nodes: {number: facts}, with the names, labels and sequence numbers that node_new and later events gave."""
        return self._keep('nodes', self._find_nodes)

    def _find_nodes(self):
        nodes = {}
        for event in self.events(kind=('node_new', 'node_label', 'node_module', 'node_sequence_nr')):
            facts = nodes.setdefault(event['node'], {'id': event['node']})
            facts.update({key: value for key, value in event.items()
                          if key not in ('seq', 't', 'event', 'node') and (key != 'thread' or event['event'] == 'node_new')})
        return nodes

    @property
    def edges(self):
        """All edges: (from, output_nr, to, input_nr)."""
        return self._keep('edges', lambda: [(event['from'], event['output_nr'], event['to'], event['input_nr'])
                                            for event in self.events(kind='edge_new')])

    def events(self, kind=None, node=None, thread=None, first=None, last=None):
        """Yields events in their order. `kind` is a name or several; first and last are numbers of events."""
        kinds = [kind] if isinstance(kind, str) else kind or []
        options = [word for name in kinds for word in ('--kind', name)]
        for name, value in (('--node', node), ('--thread', thread), ('--from', first), ('--to', last)):
            options += [] if value is None else [name, str(value)]
        words = [program(), 'events', self.path, '--json', *options]
        with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding='utf-8',
                              errors='replace') as child:
            try:
                yield from map(json.loads, child.stdout)
                said = child.stderr.read().strip()
            finally:
                child.stdout.close()
        if child.returncode:
            raise TapeError(said)

    def state(self, at='end'):
        """The whole state after event `at`; also 'nan', 'inf', 'error' and 'end'."""
        return self._json('state', '--at', at)

    def why(self, at):
        """In words: why this node was popped, or why that one still waits."""
        return call('why', self.path, '--at', at).strip()

    def check(self):
        """What breaks a rule of the engine, or its streams: 'event 7 queue_pop: pop-order: ...', a text for each."""
        # The program escapes what no terminal may get. So the path in its lines may look different.
        return re.findall('^(?:.*?: )?(event \\d+ [\\w ]+: .*)', call('check', self.path), re.MULTILINE)

    def findings(self):
        """What is wrong with the program, or likely to be: {'kind', 'seq', 'node', 'text', 'advice', 'line'} for each."""
        return self._json('findings')['findings']

    def report(self, by='op', graph_task=None):
        """Where the time went: a row for each op, module, line, node, thread, queue, lock, hook, pass or rank."""
        return self._json('report', '--by', by, *([] if graph_task is None else ['--pass', graph_task]))

    def to_arrow(self, table='nodes'):
        """One of the tables of `export --to parquet`, as a pyarrow.Table: nodes, edges, events, passes, lives, slices,
        gradients, waits, locks, hooks and others; the table `columns` says what each column is. Times are integers of
        nanoseconds, and their columns end in `ns`. It reads all rows into memory: 60 bytes for each event. The first call
        exports the tape. Needs pyarrow."""
        try:
            from pyarrow import parquet
        except ImportError:
            raise TapeError('to_arrow() and to_pandas() need pyarrow: pip install pyarrow') from None
        folder = self._find_tables()  # another thread may put its own in place of it: it lives as long as this name
        path = os.path.join(folder.name, f'{table}.parquet')
        if not os.path.exists(path):
            known = ', '.join(sorted(name.removesuffix('.parquet') for name in os.listdir(folder.name)))
            raise TapeError(f'there is no table {table!r}; there are {known}')
        return parquet.read_table(path)

    def _find_tables(self):
        """A folder that lives as long as this tape. The child of a fork removes it, and so do programs that clear /tmp."""
        folder = self._keep('tables', self._export_tables)
        if not os.path.isdir(folder.name):
            folder = self._kept['tables'] = self._export_tables()
        return folder

    def _export_tables(self):
        folder = tempfile.TemporaryDirectory(prefix='tapedeck-tables-')
        call('export', self.path, '--to', 'parquet', '--force', '-o', folder.name)
        return folder

    def to_pandas(self, table='nodes'):
        """The same, as a pandas.DataFrame. A number that may be unknown has the type Int64. Needs pyarrow and pandas."""
        try:
            import pandas
        except ImportError:
            raise TapeError('to_pandas() needs pandas: pip install pandas') from None
        found = self.to_arrow(table)
        types = {'int64': pandas.Int64Dtype(), 'bool': pandas.BooleanDtype()}
        return found.to_pandas(types_mapper=lambda kind: types.get(str(kind)))

    def order(self, graph_task=None):
        """The predicted order of the passes beside what ran."""
        return self._json('order', *([] if graph_task is None else ['--pass', graph_task]))

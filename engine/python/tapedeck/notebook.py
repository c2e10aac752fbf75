# SPDX-License-Identifier: LGPL-2.1-or-later
"""In Jupyter: `%load_ext tapedeck`, then %%tapedeck at the head of a cell records the backward passes of that cell. Below
the cell stands the page of `export --to html`, which plays. Folded under it are a picture, the profile, and what is wrong: a viewer
that runs no scripts shows these. The tape is `_tape` from then on."""
import ast
import base64
import html
import os
import pathlib
import sys
import tempfile

from IPython.core.error import UsageError
from IPython.core.magic import Magics, cell_magic, magics_class, needs_local_scope
try:
    from IPython.core.magic import output_can_be_silenced
except ImportError:  # before IPython 8.12
    def output_can_be_silenced(magic):
        return magic
from IPython.core.magic_arguments import argument, magic_arguments, parse_argstring
from IPython.display import HTML, display

from tapedeck import inside, tape

MOST_PAGE_BYTES = 1500000  # a notebook keeps the page with each output; a larger one is there if --play asks for it
MOST_NODES_DRAWN = 300  # with more, a picture of dots is smaller than one of lines
ROWS = 8
UNITS = ((1e9, 's'), (1e6, 'ms'), (1e3, 'µs'), (1, 'ns'))
VIEWS = ('graph', 'timeline', 'queues', 'memory', 'overview')
SIZES = {'graph': '900x560', 'timeline': '900x260', 'queues': '900x300', 'memory': '900x300', 'overview': '1200x760'}


def time_text(ns):
    for size, unit in UNITS:
        if ns >= size:
            return f'{ns / size:.3g} {unit}'
    return '0'


def picture(recorded, view, graph_task, is_small):
    """An <img> that holds the picture: the page that somebody sends has it. A small one has few bytes, and no lines to enlarge."""
    of_dots = is_small or recorded.info['n_nodes'] > MOST_NODES_DRAWN
    kind, type_ = ('png', 'image/png') if of_dots else ('svg', 'image/svg+xml')
    with tempfile.TemporaryDirectory(prefix='tapedeck-') as folder:
        path = pathlib.Path(folder) / f'picture.{kind}'
        tape.call('render', recorded.path, '--view', view, '--size', SIZES[view], '-o', path,
                     *([] if graph_task is None else ['--pass', graph_task]))
        data = base64.b64encode(path.read_bytes()).decode()
    return f'<img alt="{view} of the backward pass" style="max-width: 100%; background: white" src="data:{type_};base64,{data}">'


def profile(recorded, graph_task):
    """The operations that took most time of their own, as a table."""
    report = recorded.report('op', graph_task)
    cells = [(row['key'], time_text(row['self']), f'{100 * row["share"]:.1f} %', row['n']) for row in report['rows'][:ROWS]]
    rows = ''.join(f'<tr><td style="text-align: left">{html.escape(key)}</td><td>{own}</td><td>{share}</td><td>{n}</td></tr>'
                   for key, own, share, n in cells)
    more = len(report['rows']) - len(cells)
    passes = f'{report["passes"]} backward passes' if report['passes'] != 1 else '1 backward pass'
    return (f'<p>{passes} took {time_text(report["wall"])}.</p>'
            '<table><tr><th style="text-align: left">Function</th><th>Self</th><th>Share</th><th>Calls</th></tr>'
            f'{rows}</table>' + (f'<p>… and {more} more: <code>_tape.report()</code></p>' if more > 0 else ''))


def findings(recorded):
    found = recorded.findings()
    items = ''.join(f'<li>{html.escape(one["text"])}</li>' for one in found)
    return f'<p>What is wrong, or likely to be:</p><ul>{items}</ul>' if found else ''


def exported(recorded, graph_task):
    """The page of `export --to html`."""
    with tempfile.TemporaryDirectory(prefix='tapedeck-') as folder:
        path = os.path.join(folder, 'page.html')
        tape.call('export', recorded.path, '--to', 'html', '-o', path, *([] if graph_task is None else ['--pass', graph_task]))
        return pathlib.Path(path).read_text(encoding='utf-8')


def player(page):
    """A page in a frame of its own. A page is full of double quotes, so single ones stand around it."""
    text = page.replace('&', '&amp;').replace("'", '&#39;')
    return ('<iframe title="A backward pass that plays" style="width: 100%; height: 760px; border: 1px solid #ccc" '
            f"srcdoc='{text}'></iframe>")


def show(recorded, view=None, play=False, graph_task=None):
    """Shows a tape below the cell: a page that plays, or a picture if `view` names one."""
    page = exported(recorded, graph_task) if play or not view else None
    size = len(page.encode()) if page else 0
    is_played = bool(page) and (play or size <= MOST_PAGE_BYTES)
    fixed = [picture(recorded, view or 'graph', graph_task, is_played), profile(recorded, graph_task), findings(recorded)]
    fixed = '\n'.join(part for part in fixed if part)
    if is_played:
        fixed = (f'{player(page)}\n<details><summary>The same as a picture and tables, for viewers that run no scripts</summary>\n{fixed}\n'
                 '</details>')
    elif page:
        fixed += f'\n<p>The page that plays has {size / 1e6:.1f} MB: <code>%%tapedeck --play</code> shows it.</p>'
    display(HTML(fixed))


@magics_class
class TapedeckMagics(Magics):
    kept = None  # a folder for tapes without a name, as long as the kernel lives

    def place(self, name):
        if name:
            return os.path.expanduser(name)
        if not TapedeckMagics.kept:
            TapedeckMagics.kept = tempfile.TemporaryDirectory(prefix='tapedeck-notebook-')
        return os.path.join(TapedeckMagics.kept.name, f'cell-{self.shell.execution_count}.tape')

    def run(self, cell, local_scope):
        """Runs the cell in the notebook's names. Returns the value of its last line, as a cell does."""
        source = self.shell.transform_cell(cell)
        try:
            return self.run_source(source, local_scope)
        except SyntaxError as problem:
            if 'await' in str(problem) and 'outside' in str(problem):
                raise UsageError('%%tapedeck: a cell with `await` at its top cannot be recorded; use `with '
                                 'tapedeck.record():`') from None
            raise

    def run_source(self, source, local_scope):
        name = self.shell.compile.cache(source)  # tracebacks show its lines
        tree = ast.parse(source, name)
        last = ast.Expression(tree.body.pop().value) if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        names = self.shell.user_ns
        exec(compile(tree, name, 'exec'), names, local_scope)
        return eval(compile(last, name, 'eval'), names, local_scope) if last else None

    def end(self, own, wanted):
        """Shows the tape. The cell has run: what goes wrong here is one line."""
        try:
            if inside.session is not own:
                return
            recorded = self.shell.user_ns['_tape'] = inside.stop()
            if recorded:
                show(recorded, wanted.view, wanted.play, wanted.graph_task)
        except (inside.RecordError, tape.TapeError) as problem:
            print(f'%%tapedeck: {problem}', file=sys.stderr)

    @output_can_be_silenced
    @needs_local_scope
    @magic_arguments()
    @argument('tape', nargs='?', help='where the tape goes; without, it goes with the kernel')
    @argument('--view', choices=VIEWS, help='a picture of this, in place of the page that plays')
    @argument('--play', action='store_true', help='the page that plays, also if it is large')
    @argument('--pass', dest='graph_task', type=int, help='show this backward pass; without, the largest')
    @argument('--anomaly', choices=('off', 'nan', 'nonfinite'), default='nonfinite', help='what to look for in every gradient')
    @argument('--stats', choices=('off', 'finite', 'full'), help='what to measure of every gradient')
    @argument('--stacks', action='store_true', help='remember which line made each node')
    @argument('--level', type=int, choices=(1, 2), help='1, inside the engine, or 2, hooks')
    @cell_magic
    def tapedeck(self, line, cell, local_ns=None):
        """Records the backward passes of this cell, and shows them."""
        wanted = parse_argstring(self.tapedeck, line)
        try:
            own = inside.begin(self.place(wanted.tape), anomaly=wanted.anomaly, stats=wanted.stats, stacks=wanted.stacks,
                               level=wanted.level, force=True)
        except (inside.RecordError, tape.TapeError) as problem:
            raise UsageError(f'%%tapedeck: {problem}') from None
        try:
            return self.run(cell, local_ns)
        finally:
            self.end(own, wanted)

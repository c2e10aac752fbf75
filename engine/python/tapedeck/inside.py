# SPDX-License-Identifier: LGPL-2.1-or-later
"""Recording the real PyTorch from inside a program: start() and stop(), or `with record():`.

start() runs `tapedeck record --inside` beside the program, loads the probe into it, and tells it where that session
listens. From then on all is as under `tapedeck record`: the same levels, observers, tapes and messages. Only the
functions here know that the program was not started by Tapedeck. Any thread; one recording at a time.
"""
import atexit
import contextlib
import ctypes
import os
import re
import subprocess
import sys
import threading
import weakref

from tapedeck import tape

SESSION = 'TAPEDECK_SESSION'


class RecordError(Exception):
    """The program cannot be recorded. The text says why; the program is unharmed."""


class Session:
    """`tapedeck record --inside`, which serves this process until its standard input ends."""

    def __init__(self, options, program):
        words = [tape.program(), 'record', '--inside', *options, '--', *program]
        self.said, self.serves = [], False
        self.child = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                      text=True, encoding='utf-8', errors='replace', start_new_session=True)
        self.listener = threading.Thread(target=self.listen, daemon=True, name='tapedeck')
        self.listener.start()
        self.probe = self.read('probe')
        self.hub = self.read('session')
        self.serves = True

    def listen(self):
        """What the session says belongs where the program's own messages go: in a notebook that is below the cell. What
        it says before it serves is an error of start()."""
        for line in self.child.stderr:
            self.said.append(line.strip())
            if self.serves and not line.startswith('tapedeck: recorded '):
                print(line, end='', file=sys.stderr, flush=True)

    def read(self, word):
        line = self.child.stdout.readline().rstrip('\n')
        if line.startswith(word + ' '):
            return line[len(word) + 1:]
        self.end()
        raise RecordError(self.last_word())

    def last_word(self):
        """What it said last: an option is named as start() names it, and the program is not named."""
        said = [line for line in self.said if line] or ['the recorder ended and said nothing']
        return re.sub('^tapedeck( record)?: (--(\\w+) )?', lambda found: found[3] + '=' if found[3] else '', said[-1])

    def end(self):
        """Returns the path of the tape, or None."""
        self.child.stdin.close()
        lines = self.child.stdout.read().splitlines()
        self.child.wait()
        self.listener.join()
        self.child.stdout.close()
        self.child.stderr.close()
        paths = [line[len('tape '):] for line in lines if line.startswith('tape ')]
        return paths[-1] if paths else None


lock = threading.RLock()
session = None  # the recording of this process, begun by `owner`
owner = None
probe = None  # the library, once it is loaded; it stays
level = None  # the probe's, once it has one; it stays


def is_preloaded():
    return hasattr(ctypes.CDLL(None), 'tapedeck_keep')


def need_torch():
    """PyTorch itself, not Tapedeck's module under its name."""
    if sys.modules.get('torch') is sys.modules['tapedeck']:
        raise RecordError('this program runs on Tapedeck\'s own engine, and `tapedeck run` records it already')
    try:
        import torch
    except ImportError as problem:
        raise RecordError(f'there is no PyTorch to record: {problem}') from None
    return torch


def refuse_second():
    if session and owner == os.getpid():
        raise RecordError(f'a recording is under way: {session.wanted}')
    if is_preloaded() and os.environ.get(SESSION):
        raise RecordError('`tapedeck record` records this program already; mark() and step() work there too')


def is_notebook():
    return 'ipykernel' in sys.modules


def default_path():
    """SCRIPT.tape; in a notebook or a shell notebook.tape or python.tape."""
    script = getattr(sys.modules.get('__main__'), '__file__', None)
    if script and not is_notebook():
        return os.path.splitext(os.path.basename(script))[0] + '.tape'
    return 'notebook.tape' if is_notebook() else 'python.tape'


def words_of(path, anomaly, stats, stacks, level, policy, steps, keep, live, overwrite):
    """The options of `tapedeck record`. It checks them."""
    words = ['--output', path]
    for name, value in (('anomaly', anomaly), ('stats', stats), ('level', level), ('policy', policy), ('steps', steps),
                        ('keep', keep)):
        words += [] if value is None else [f'--{name}={value}']
    for name, wanted in (('stacks', stacks), ('live', live), ('force', overwrite)):
        words += [f'--{name}'] if wanted else []
    return words


def load_probe(path):
    global probe
    if probe is None:
        probe = ctypes.CDLL(path)
        probe.td_probe_leave_mark.argtypes = [ctypes.c_char_p]
        probe.td_probe_start.argtypes = [ctypes.c_char_p]
        probe.td_probe_keep.argtypes = [ctypes.c_char_p]
    return probe


def start(path=None, *, anomaly=None, stats=None, stacks=False, level=None, policy=None, steps=None, keep=None, live=False,
          overwrite=False):
    """Begins to record the backward passes of PyTorch in this process and in its forks.

    path: where the tape goes, default SCRIPT.tape. A file that is there is an error, unless `overwrite`.
    anomaly: 'off', 'nan' or 'nonfinite': what to look for in every gradient.
    stats: 'off', 'finite' or 'full': what to measure of every gradient.
    stacks: remember which line made each node. Modules and parameters have their names without it.
    level: 1, inside the engine, or 2, PyTorch's hooks. A process keeps the level of its first recording.
    policy: 'block' or 'drop', if the recorder is too slow.
    steps, keep: as of `tapedeck record`: '100:200' or '50steps', for example.
    live: open the window on this program, stopped at its first event.

    Raises RecordError if PyTorch is not there or is recorded already, and if an option or the path is wrong. The first
    recording with a PyTorch takes a minute or two: an observer is compiled.
    """
    global session, owner
    need_torch()
    with lock:
        refuse_second()
        if globals()['level'] and level and int(level) != globals()['level']:
            raise RecordError(f'this process is recorded at level {globals()["level"]}, and keeps it to its end')
        wanted = os.path.abspath(os.fspath(path) if path is not None else default_path())
        if os.path.lexists(wanted) and not overwrite:
            raise RecordError(f'{wanted} exists already; overwrite=True replaces it')
        made = Session(words_of(wanted, anomaly, stats, stacks, level, policy, steps, keep, live, overwrite),
                       [sys.executable or 'python3', *sys.argv[:1]])
        made.wanted = wanted
        os.environ[SESSION] = made.hub
        session, owner = made, os.getpid()
        chosen = load_probe(made.probe).td_probe_start(b'notebook' if is_notebook() else None)
        if chosen < 0:
            del os.environ[SESSION]
            session.end()
            session = None
            raise RecordError(made.last_word())
        globals()['level'] = chosen
        atexit.register(end_at_exit, weakref.ref(made))


def stop():
    """Ends the recording. Returns a tapedeck.Tape, or None if no backward pass ran."""
    global session
    with lock:
        if not session or owner != os.getpid():
            raise RecordError('no recording is under way')
        ended, session = session, None
        probe.td_probe_stop()
        os.environ.pop(SESSION, None)
        path = ended.end()
    return tape.Tape(path) if path else None


def end_at_exit(made):
    """A program may end without stop(). Its tape is whole all the same."""
    if session and session is made() and owner == os.getpid():
        with contextlib.suppress(Exception):
            stop()


class record(contextlib.ContextDecorator):
    """`with tapedeck.record('step.tape') as recording:` records what is inside, and `recording.tape` reads it afterwards.
    It takes what start() takes. If the block raises, the tape is whole, and the error goes on."""

    def __init__(self, path=None, **options):
        self.path, self.options, self.tape = path, options, None

    def __enter__(self):
        start(self.path, **self.options)
        return self

    def __exit__(self, *error):
        if session:
            self.tape = stop()
        return False


# ---- what a program says while it is recorded, from inside, by `tapedeck record` or by `tapedeck run` ----

def engine():
    """Tapedeck's own engine, if there is one: it tells both itself and a preloaded probe."""
    package = sys.modules['tapedeck']
    return getattr(package, '_C', None)


def preloaded(name, *types):
    """A function of the preloaded library; one that does nothing if there is none."""
    function = getattr(ctypes.CDLL(None), name, None)
    if function is None:
        return lambda *arguments: 0
    function.argtypes = types
    return function


def mark(text):
    """Leaves a text on the tape. Does nothing if nothing is recorded."""
    if not session and engine():
        engine().mark(text)
    elif not isinstance(text, str):
        raise TypeError(f'mark() takes a str, not {type(text).__name__}')
    elif '\0' in text:
        raise ValueError('mark(): embedded null character')
    else:
        tell_mark = probe.td_probe_leave_mark if session else preloaded('tapedeck_mark', ctypes.c_char_p)
        tell_mark(text.encode('utf-8', 'replace'))


def step():
    """Says that a training step is over."""
    if not session and engine():
        engine().step()
    else:
        (probe.td_probe_step if session else preloaded('tapedeck_step'))()


def keep(limit):
    """From now on the tape keeps only its end: '50steps', '2min' or '200MB'."""
    if not session and engine():
        engine().keep(limit)
    elif (probe.td_probe_keep if session else preloaded('tapedeck_keep', ctypes.c_char_p))(limit.encode()):
        raise ValueError(f'keep({limit!r}): no such limit, or the tape cannot be let go')


def dump():
    """Writes what keep() has kept, beside the tape."""
    if not session and engine():
        engine().dump()
    else:
        (probe.td_probe_dump if session else preloaded('tapedeck_dump'))()

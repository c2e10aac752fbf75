# SPDX-License-Identifier: LGPL-2.1-or-later
"""Recording the real PyTorch from inside a program: start() and stop(), or `with record():`.

start() runs `tapedeck record --inside` beside the program, loads the probe into it, and tells it where that session
listens. From then on all is as under `tapedeck record`: the same levels, observers, tapes and messages. Only the
functions here know that the program was not started by Tapedeck. Any thread; one recording at a time.
"""
import atexit
import contextlib
import ctypes
import inspect
import os
import re
import subprocess
import sys
import threading
from urllib import parse

from tapedeck import tape

SESSION = 'TAPEDECK_SESSION'


class RecordError(Exception):
    """The program cannot be recorded. The text says why; the program is unharmed."""


class Session:
    """`tapedeck record --inside`, which serves this process until it hears `end` or its standard input ends."""

    def __init__(self, options, program, wanted):
        self.wanted, self.said, self.serves, self.yields = wanted, [], False, False
        try:
            self.child = subprocess.Popen([tape.program(), 'record', '--inside', *options, '--', *program],
                                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                          bufsize=0, start_new_session=True)  # a fork may copy no lock of a buffer
        except (OSError, ValueError) as problem:
            raise RecordError(f'{wanted}: {problem}') from None
        self.listener = threading.Thread(target=self.listen, daemon=True, name='tapedeck')
        self.listener.start()
        self.probe = self.read('probe')
        self.hub = self.read('session')
        self.serves = True

    def listen(self):
        """What the session says belongs where the program's own messages go: in a notebook that is below the cell. What
        it says before it serves is an error of start()."""
        for line in self.child.stderr:
            text = line.decode('utf-8', 'backslashreplace').rstrip('\n')
            self.said.append(text)
            if self.serves and not text.startswith('tapedeck: recorded ') and sys.stderr:
                print(text, file=sys.stderr, flush=True)

    def path_in(self, line, word):
        """The path in a line such as `session path=/tmp/x`, or None. Everything but plain letters is %XX."""
        found = re.fullmatch(word.encode() + rb' path=(\S+)', line.rstrip(b'\n'))
        return os.fsdecode(parse.unquote_to_bytes(found[1])) if found else None

    def read(self, word):
        path = self.path_in(self.child.stdout.readline(), word)
        if path is None:
            self.finish()
            raise RecordError(self.last_word())
        return path

    def last_word(self):
        """What it said last: an option is named as start() names it, and the program is not named."""
        said = [line for line in self.said if line] or ['the recorder ended and said nothing']
        return re.sub('^tapedeck( record)?: (--(\\w+) )?', lambda found: found[3] + '=' if found[3] else '', said[-1])

    def finish(self):
        """Waits for its end. Returns what it still had to say on standard output. The second time it is nothing."""
        if self.child.stdout.closed:
            return b''
        with contextlib.suppress(BrokenPipeError):
            self.child.stdin.write(b'end\n')
            self.child.stdin.close()
        rest = self.child.stdout.read()
        self.child.wait()
        self.listener.join()
        self.child.stdout.close()
        self.child.stderr.close()
        return rest

    def end(self):
        """Returns the path of the tape, or None."""
        paths = [self.path_in(line, 'tape') for line in self.finish().splitlines()]
        if self.child.returncode:
            raise RecordError(f'the recorder was ended from outside; what it had is beside {self.wanted}')
        return next((path for path in paths if path), None)

    def abandon(self):
        """In the child of a fork: it is its parent's."""
        self.child.stdin.close()
        self.child.stdout.close()


lock = threading.RLock()
session = None  # the recording of this process
inherited = False  # this is a child of a fork, and its part of its parent's recording goes on
probe = None  # the library, once it is loaded; it stays
own_level = None  # the probe's, once it has one; it stays


def forked():
    global lock, session, inherited
    lock = threading.RLock()
    if session:
        session.abandon()
        session, inherited = None, True


def is_preloaded():
    return hasattr(ctypes.CDLL(None), 'tapedeck_keep')


def need_torch():
    """PyTorch itself, not Tapedeck's own engine under its name."""
    try:
        import torch
    except ImportError as problem:
        raise RecordError(f'there is no PyTorch to record: {problem}') from None
    if engine():
        raise RecordError('this program runs on Tapedeck\'s own engine, and `tapedeck run` records it already')
    return torch


def refuse_second():
    if session and not session.yields:
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


def free_path(path, overwrite):
    try:
        wanted = os.path.abspath(os.fsdecode(path) if path is not None else default_path())
    except OSError as problem:  # the folder that one is in has gone
        raise RecordError(f'{path}: {problem}') from None
    if os.path.lexists(wanted) and not overwrite:
        raise RecordError(f'{wanted} exists already; overwrite=True replaces it')
    return wanted


def words_of(path, options):
    """What `tapedeck record` is told. It checks the options, which have its names."""
    words = ['--output', path]
    for name, value in options.items():
        if value is True:
            words.append(f'--{name}')
        elif value is not None and value is not False:
            words.append(f'--{name}={value}')
    return words


def load_probe(path):
    global probe
    if probe is None:
        probe = ctypes.CDLL(path)
        probe.td_probe_leave_mark.argtypes = [ctypes.c_char_p]
        probe.td_probe_start.argtypes = [ctypes.c_char_p]
        probe.td_probe_keep.argtypes = [ctypes.c_char_p]
        atexit.register(end_at_exit)
        os.register_at_fork(after_in_child=forked)
    return probe


class Starter(threading.Thread):
    """Calls td_probe_start, which may wait for a compiler. The main thread waits for this one, and hears Ctrl+C."""

    def __init__(self):
        super().__init__(daemon=True, name='tapedeck')
        self.level = -1

    def run(self):
        self.level = probe.td_probe_start(b'notebook' if is_notebook() else None)


def start_probe(made):
    """Returns the level. If anything goes wrong, even Ctrl+C, nothing is recorded."""
    os.environ[SESSION] = made.hub
    starter = Starter()
    try:
        load_probe(made.probe)
        starter.start()
        starter.join()
        if starter.level < 0:
            made.finish()
            raise RecordError(made.last_word())
    except BaseException:
        made.child.kill()  # then the probe waits no longer
        if starter.ident:
            starter.join()
        if starter.level > 0:
            probe.td_probe_stop()
        made.finish()
        os.environ.pop(SESSION, None)
        raise
    return starter.level


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
    begin(path, anomaly=anomaly, stats=stats, stacks=stacks, level=level, policy=policy, steps=steps, keep=keep, live=live,
          force=overwrite)


def begin(path, **options):
    """start(), with the options as `tapedeck record` names them. Returns the session."""
    global session, inherited, own_level
    need_torch()
    with lock:
        refuse_second()
        if session:
            stop()
        if own_level and options.get('level') and str(options['level']) != str(own_level):
            raise RecordError(f'this process is recorded at level {own_level}, and keeps it to its end')
        wanted = free_path(path, options.get('force'))
        made = Session(words_of(wanted, options), [sys.executable or 'python3', *getattr(sys, 'argv', [])[:1]], wanted)
        own_level = start_probe(made)
        session, inherited = made, False
        return made


def stop():
    """Ends the recording. Returns a tapedeck.Tape, or None if no backward pass ran."""
    global session
    with lock:
        if not session:
            raise RecordError('no recording is under way')
        ended, session = session, None
        probe.td_probe_stop()
        os.environ.pop(SESSION, None)
        path = ended.end()
    return tape.Tape(path) if path else None


def end_at_exit():
    """A program may end without stop(). Its tape is whole all the same."""
    if session:
        with contextlib.suppress(Exception):
            stop()


class record(contextlib.ContextDecorator):
    """`with tapedeck.record('step.tape') as recording:` records what is inside, and `recording.tape` reads it afterwards.
    It takes what start() takes. If the block raises, the tape is whole, and the error goes on. It decorates functions too."""

    def __init__(self, path=None, **options):
        inspect.signature(start).bind(path, **options)
        self.path, self.options, self.tape, self.own = path, options, None, None

    def __call__(self, function):
        if any(is_kind(function) for is_kind in (inspect.iscoroutinefunction, inspect.isgeneratorfunction,
                                                 inspect.isasyncgenfunction)):
            raise TypeError('record() decorates plain functions alone: use `with` inside this one')
        return super().__call__(function)

    def __enter__(self):
        start(self.path, **self.options)
        self.own = session
        return self

    def __exit__(self, *error):
        """The block may have ended the recording, and a child of a fork may leave it."""
        if session and session is self.own:
            self.tape = stop()
        return False


# ---- what a program says while it is recorded, from inside, by `tapedeck record` or by `tapedeck run` ----

def engine():
    """Tapedeck's own engine, if the program runs on it: it tells both itself and a preloaded probe."""
    return sys.modules.get('torch._tapedeck')


def preloaded(name, *types):
    """A function of the preloaded library; one that does nothing if there is none."""
    function = getattr(ctypes.CDLL(None), name, None)
    if function is None:
        return lambda *arguments: 0
    function.argtypes = types
    return function


def is_recorded():
    return session or inherited


def word(function, text):
    """As the probe takes it."""
    if not isinstance(text, str):
        raise TypeError(f'{function}() takes a str, not {type(text).__name__}')
    if '\0' in text:
        raise ValueError(f'{function}(): embedded null character')
    return text.encode('utf-8', 'replace')


def mark(text):
    """Leaves a text on the tape. Does nothing if nothing is recorded."""
    if not is_recorded() and engine():
        engine().mark(text)
    else:
        (probe.td_probe_leave_mark if is_recorded() else preloaded('tapedeck_mark', ctypes.c_char_p))(word('mark', text))


def step():
    """Says that a training step is over."""
    if not is_recorded() and engine():
        engine().step()
    else:
        (probe.td_probe_step if is_recorded() else preloaded('tapedeck_step'))()


def keep(limit):
    """From now on the tape keeps only its end: '50steps', '2min' or '200MB'. The next recording keeps everything again."""
    if not is_recorded() and engine():
        engine().keep(limit)
    elif (probe.td_probe_keep if is_recorded() else preloaded('tapedeck_keep', ctypes.c_char_p))(word('keep', limit)):
        raise ValueError(f'keep({limit!r}): no such limit, or the tape cannot be let go')


def dump():
    """Writes what keep() has kept, beside the tape."""
    if not is_recorded() and engine():
        engine().dump()
    else:
        (probe.td_probe_dump if is_recorded() else preloaded('tapedeck_dump'))()

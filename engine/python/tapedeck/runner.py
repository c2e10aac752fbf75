# SPDX-License-Identifier: LGPL-2.1-or-later
"""The child's side of `tapedeck run`. It runs a script as `python3 script.py` would, and records it. The path of the script
begins with the script's folder and with ENGINE, whose package `torch` is Tapedeck's own engine. app/commands/run.c starts it:

    python3 runner.py ENGINE REPORT_FD TAPE OVERWRITE SOURCE DEVICES ANOMALY STATS POLICY SEED SEMANTICS SCHEDULER SCHEDULE
                      SCRIPT [ARGS...]

At the end it writes one line to REPORT_FD: "ok", or "usage WHY" or "failed WHY" if Tapedeck itself failed.
"""
import atexit
import builtins
import contextlib
import importlib
import importlib.machinery
import os
import shlex
import signal
import sys
import types

FAILED = 125
N_OWN = 13  # arguments before SCRIPT


def report(fd, text):
    with contextlib.suppress(BrokenPipeError):  # somebody killed `tapedeck run`: the script has its tape nevertheless
        os.write(fd, text.encode('utf-8', 'surrogateescape')[:4000])


def give_up(fd, text, status):
    report(fd, text)
    os._exit(status)


def import_torch(folder, report_fd):
    """The package `torch` in that folder."""
    package = os.path.join(folder, 'torch')
    if not importlib.machinery.PathFinder.find_spec('_C', [package]):
        is_of_another = os.path.isdir(package) and any(name.startswith('_C.') for name in os.listdir(package))
        version = '.'.join(map(str, sys.version_info[:2]))
        why = f'is not built for Python {version}' if is_of_another else 'is not here (a build with -Dtorch=disabled has none)'
        give_up(report_fd, f"failed Tapedeck's own engine {why}; `tapedeck record` is for any", FAILED)
    sys.path[0] = folder
    return importlib.import_module('torch')


def join_session(engine, session, source, tape):
    """If `tapedeck run --live` or `--keep` started this, lets it control the passes and keep the end."""
    if not session:
        return
    try:
        engine.join_session(session, os.fsencode(source), os.fsencode(os.path.abspath(tape)))
    except Exception as problem:
        print(f'tapedeck: this run has no window and keeps everything: {problem}', file=sys.stderr)


def ignore_interrupts():
    """The program has ended. Ctrl+C would now end nothing but its tape."""
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    except KeyboardInterrupt:  # it came just before
        ignore_interrupts()


class Recording:
    """The tape of this process. It ends after the script's threads and exit handlers, so that it has them too."""

    def __init__(self, engine, report_fd):
        self.engine, self.report_fd, self.status, self.pid = engine, report_fd, 0, os.getpid()
        atexit.register(self.end)
        os.register_at_fork(after_in_child=engine.record_abandon)

    def end(self):
        if os.getpid() != self.pid:
            return
        ignore_interrupts()
        try:
            self.engine.stop_engine()
            self.warn_of_conflicts()
            self.engine.record_end(self.status)
            report(self.report_fd, 'ok')
        except Exception as problem:
            report(self.report_fd, f'cut {problem}')

    def warn_of_conflicts(self):
        """Prints the conflicts of streams that the engine has not reported yet. It is too late for an error."""
        try:
            self.engine.warn_of_conflicts()
        except Warning as problem:
            print(f'tapedeck: {problem}', file=sys.stderr)


def exit_status(code):
    if code is None:
        return 0
    return code & 0xff if isinstance(code, int) else 1


def lacking(problem, traceback, package):
    """What Tapedeck's engine may lack, in words, if that is why a script failed; or None. `package` is the folder of its torch."""
    if isinstance(problem, ImportError) and (problem.name or '').startswith('torch'):
        what = problem.name if isinstance(problem, ModuleNotFoundError) else f'this name of {problem.name}'
        return f"Tapedeck's engine does not have {what}"
    owner = getattr(problem, 'obj', None) if isinstance(problem, AttributeError) else None
    kind = owner if isinstance(owner, type) else type(owner)
    if isinstance(owner, types.ModuleType) and owner.__name__.split('.')[0] == 'torch':
        return f"Tapedeck's engine does not have {owner.__name__}.{problem.name}"
    if kind.__name__ == 'Tensor' and kind.__module__.split('.')[0] == 'torch':
        return f"Tapedeck's engine does not have Tensor.{problem.name}"
    while traceback and traceback.tb_next:
        traceback = traceback.tb_next
    if isinstance(problem, NotImplementedError) and traceback and traceback.tb_frame.f_code.co_filename.startswith(package):
        return "Tapedeck's engine does not do this"
    return None


def advise(problem, traceback):
    """Where the real PyTorch may have what this engine lacks, a line says how to record it."""
    what = lacking(problem, traceback, os.path.dirname(sys.modules['torch'].__file__) + os.sep)
    if what:
        command = shlex.join(['tapedeck', 'record', 'python3', *sys.argv])
        print(f'tapedeck: {what}. If PyTorch does, record PyTorch: {command}', file=sys.stderr)


def explain_failures():
    """Takes the frames of this file out of tracebacks, as plain Python would print them."""
    shown_by = sys.excepthook

    def hook(kind, problem, traceback):
        while traceback and traceback.tb_frame.f_code.co_filename == __file__:
            traceback = traceback.tb_next
        shown_by(kind, problem.with_traceback(traceback), traceback)
        advise(problem, traceback)
    sys.excepthook = hook


def run_script(path, recording):
    main = sys.modules['__main__'] = types.ModuleType('__main__')
    main.__file__, main.__builtins__ = path, builtins
    try:
        with open(path, 'rb') as file:
            source = file.read()
        exec(compile(source, path, 'exec', dont_inherit=True), main.__dict__)
    except SystemExit as leaving:
        recording.status = exit_status(leaving.code)
        raise
    except BaseException:
        recording.status = 1
        explain_failures()
        raise


def start(arguments):
    folder, report_fd, tape, overwrite, source, devices, anomaly, stats, policy, seed, semantics, scheduler, schedule = arguments
    report_fd = int(report_fd)
    os.set_inheritable(report_fd, False)
    session = os.environ.pop('TAPEDECK_SESSION', None)  # programs that the script starts are not part of it
    torch = import_torch(folder, report_fd)
    engine = torch._C
    engine.choose_kernels()
    try:
        engine.set_devices(devices)
        engine.set_checks(anomaly, stats)
        torch._tapedeck.set_semantics(semantics)
        engine.set_scheduler(scheduler)
        if schedule:
            engine.set_schedule(schedule)
    except Exception as problem:
        give_up(report_fd, f'usage {problem}', 2)
    if seed:
        torch.manual_seed(int(seed))
    try:
        engine.record_begin(tape, overwrite == '1', source, policy == 'drop')
    except Exception as problem:
        give_up(report_fd, f'failed {problem}', FAILED)
    join_session(engine, session, source, tape)
    return Recording(engine, report_fd)


def main(arguments):
    own_folder = sys.path[0] = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    importlib.import_module('tapedeck')  # the script may want it too, whatever else has that name
    recording = start(arguments[:N_OWN])
    sys.argv = arguments[N_OWN:]
    sys.path.insert(0, os.path.dirname(os.path.realpath(sys.argv[0])))
    sys.path.append(own_folder)  # processes that the script spawns want it too
    run_script(sys.argv[0], recording)


own_module = sys.modules['__main__']  # kept alive beside the script's
main(sys.argv[1:])

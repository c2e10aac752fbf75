# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs in gdb, which has stopped a program. Prints its threads: what they wait for in C, and where they are in Python.

Lines as in engine/control/line.h, with a mark before them, because gdb prints to the same place:
  begun                                 gdb has attached
  thread lwp= ident= owner= frame=...   the innermost frame first, "NAME LIBRARY"; owner: who has the mutex it waits for
  python ident= line=...                the innermost line first, "FILE:LINE FUNCTION"
  gil lwp=                              this thread has the GIL
  problem text=                         why there are no lines of Python
  done

Note [Calls in a stopped program]
Problem: CPython's function for crashes must run in the program itself. gdb can call functions. But gdb 13 cannot write
the vector registers of processors with AMX. It finds that out in the middle of a call, and the program dies of it.

Trick: use a thread that waits in a system call. There the vector registers hold nothing that anybody needs. So the
general registers are all that is to be put back, and gdb can write those. Other architectures use gdb's own calls."""
import os
import re
import signal
import struct

import gdb

MARK = "\n@tapedeck "
FRAMES = 100
LINES = 12
THREADS = 512
ASKED = 32  # threads that are asked whether they have the GIL
OTHERS = 64  # threads that are asked for lines, because CPython tells of the youngest 100 alone
NAMES = "rax rbx rcx rdx rsi rdi rbp rsp r8 r9 r10 r11 r12 r13 r14 r15 rip eflags orig_rax".split()
WORD = (1 << 64) - 1
SYSCALL = b"\x0f\x05"
SYS_CLOSE, SYS_FUTEX, SYS_MEMFD_CREATE = 3, 202, 319
DUMP, HAS_GIL = "_Py_DumpTracebackThreads", "PyGILState_Check"
DUMP_ONE, OWN_STATE = "_Py_DumpTraceback", "PyGILState_GetThisThreadState"
SCRATCH = 4096  # bytes of the stack below what the thread uses
PLAIN = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:,-<>")


def say(word, *fields):
    def code(value):
        return "".join(chr(byte) if byte in PLAIN else "%%%02X" % byte for byte in str(value).encode("utf-8", "backslashreplace"))
    text = MARK + word + "".join(" %s=%s" % (key, code(value)) for key, value in fields) + "\n"
    os.write(1, text.encode())


def signed(value):
    return value if value < 1 << 63 else value - (1 << 64)


def find(name):
    return int(gdb.parse_and_eval("(unsigned long)&" + name)) & WORD


# ---- registers and calls of the selected thread ----

def register(name):
    return int(gdb.newest_frame().read_register(name)) & WORD


def set_register(name, value):
    gdb.newest_frame().select()  # in another frame, gdb would write where that one has saved the register
    gdb.execute("set var $%s = %d" % (name, signed(value)))


def is_x86():
    return gdb.selected_inferior().architecture().name() == "i386:x86-64"


def waits_in_kernel():
    """Whether the selected thread was stopped in a system call, at the end of its instruction."""
    try:
        before = bytes(gdb.selected_inferior().read_memory(register("rip") - 2, 2))
        return before == SYSCALL and register("orig_rax") < 1 << 63
    except gdb.error:
        return False


class Borrowed:
    """A thread in a system call, whose registers are put back at the end."""

    def __init__(self):
        self.saved = {name: register(name) for name in NAMES}
        self.stack = (self.saved["rsp"] - SCRATCH) & ~15

    def __enter__(self):
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # gdb would hand it on to a program that runs
        return self

    def __exit__(self, *trouble):
        for name in NAMES:
            set_register(name, self.saved[name])
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})

    def prepare(self, number, arguments):
        for name, value in zip(("rdi", "rsi", "rdx"), arguments):
            set_register(name, value)
        set_register("rax", number)
        set_register("orig_rax", WORD)  # else the kernel would begin the thread's own system call again

    def kernel(self, number, *arguments):
        self.prepare(number, arguments)
        set_register("rip", self.saved["rip"] - 2)
        gdb.execute("stepi", to_string=True)
        return signed(register("rax"))

    def call(self, address, *arguments):
        """The function returns to where the program began, and nobody comes by there again."""
        back = int(re.search(r"Entry point: (0x[0-9a-f]+)", gdb.execute("info files", to_string=True))[1], 16)
        gdb.selected_inferior().write_memory(self.stack - 8, struct.pack("<Q", back))
        self.prepare(0, arguments)
        set_register("rsp", self.stack - 8)
        set_register("rip", address)
        stop = gdb.Breakpoint("*%d" % back, internal=True)
        try:
            gdb.execute("continue", to_string=True)
        finally:
            stop.delete()
        if register("rip") != back:
            raise gdb.error("a function in the program was interrupted")
        return register("rax")


class Called:
    """The same by gdb's own calls."""

    def __enter__(self):
        return self

    def __exit__(self, *trouble):
        pass

    def kernel(self, number, first, flags=0):
        if number == SYS_CLOSE:
            return int(gdb.parse_and_eval("((int (*)(int))close)(%d)" % first))
        return int(gdb.parse_and_eval('((int (*)(const char *, unsigned))memfd_create)("tapedeck", 1)'))

    def call(self, address, *arguments):
        words = ", ".join(map(str, arguments))
        kinds = ", ".join("long" for _ in arguments) or "void"
        return int(gdb.parse_and_eval("((int (*)(%s))%d)(%s)" % (kinds, address, words))) & WORD


def borrow():
    return Borrowed() if is_x86() else Called()


# ---- frames ----

def name_of(frame):
    """Without types: the table has the functions' names alone. None: nobody knows."""
    name = frame.name()
    return re.sub(r"\(.*", "", name.replace("(anonymous namespace)", "anonymous"))[:160] if name else "?"


def frames_of():
    frames, frame = [], gdb.newest_frame()
    while frame is not None and len(frames) < FRAMES:
        library = gdb.solib_name(frame.pc())
        frames.append("%s %s" % (name_of(frame), os.path.basename(library) if library else "program"))
        frame = frame.older()
    return frames


def ident_of(thread):
    """What Python calls threading.get_ident()."""
    try:
        return int.from_bytes(thread.handle(), "little")
    except (gdb.error, NotImplementedError):
        return register("fs_base") if is_x86() else 0


def owner_of(frames, lwps):
    """Who has the mutex that the selected thread waits for: its thread, or 0. The C library notes it behind the lock."""
    if not is_x86() or not any("lll_lock_wait" in frame or "pthread_mutex_lock" in frame for frame in frames[:3]):
        return 0
    if not waits_in_kernel() or register("orig_rax") != SYS_FUTEX:
        return 0
    owner, = struct.unpack("<i", bytes(gdb.selected_inferior().read_memory(register("rdi") + 8, 4)))
    return owner if owner in lwps else 0


def read_thread(thread, lwps):
    thread.switch()
    frames, owner = [], 0
    try:
        frames = frames_of()
        owner = owner_of(frames, lwps)
    except (gdb.error, gdb.MemoryError):
        pass
    ident = ident_of(thread)
    say("thread", ("lwp", thread.ptid[1]), ("ident", ident), ("owner", owner), *[("frame", frame) for frame in frames])
    return {"thread": thread, "ident": ident, "frames": frames}


# ---- Python ----

def letters(text):
    """CPython writes letters beyond ASCII as \\xe9, \\u4e2d and \\U0001f600. Backslashes and control characters stay."""
    def letter(found):
        code = int(found[1] or found[2] or found[3], 16)
        return chr(code) if 0xa0 <= code < 0x110000 else found[0]
    return re.sub(r"\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|U([0-9a-f]{8}))", letter, text)


def is_library(file):
    """As in verdict.c."""
    return any(part in file for part in ("/site-packages/", "/dist-packages/", "/lib/python", "<frozen "))


def print_python(text):
    """Says what CPython has written, and returns whose it is."""
    idents, fields, has_own = [], [], False
    for line in text.splitlines() + ["Thread 0x0"]:
        head = re.match(r"(?:Current thread|Thread) (0x[0-9a-f]+)", line)
        frame = re.match(r'  File "(.*)", line (\S+) in (.*)', line)
        if head:
            if fields:
                say("python", *fields)
            idents.append(int(head[1], 16))
            fields, has_own = [("ident", idents[-1])], False
        elif frame and (len(fields) <= LINES or not (has_own or is_library(frame[1]))):
            fields.append(("line", letters("%s:%s %s" % frame.groups())))
            has_own = has_own or not is_library(frame[1])
    return idents[:-1]


def dump_all(dump):
    return lambda thread, fd: thread.call(dump, fd, 0, 0)


def dump_one(dump, own_state):
    def call(thread, fd):
        state = thread.call(own_state)
        if state:
            thread.call(dump, fd, state)
        return not state
    return call


def dump_python(dump):
    """Has CPython write into a file, called in the selected thread. The text, or '' with the reason said."""
    pid = gdb.selected_inferior().pid
    with borrow() as thread:
        name = thread.stack if is_x86() else 0
        if is_x86():
            gdb.selected_inferior().write_memory(name, b"tapedeck\0")
        fd = thread.kernel(SYS_MEMFD_CREATE, name, 1)
        if fd < 0:
            return say("problem", ("text", "it can open no more files")) or ""
        try:
            failed = dump(thread, fd)
            with open("/proc/%d/fd/%d" % (pid, fd), "rb") as file:
                text = file.read().decode("utf-8", "backslashreplace")
        finally:
            thread.kernel(SYS_CLOSE, fd)
    if failed or not text:
        say("problem", ("text", "its Python does not run"))
        return ""
    return text


def read_others(threads, idents):
    """Those of which CPython did not tell. The main thread is the oldest, and the first here."""
    others = [thread for thread in threads if thread["ident"] not in idents and any("_PyEval_Eval" in frame for frame in thread["frames"])]
    try:
        dump = dump_one(find(DUMP_ONE), find(OWN_STATE))
    except gdb.error:
        return
    for thread in others[:OTHERS]:
        thread["thread"].switch()
        if not is_x86() or waits_in_kernel():
            print_python("Thread 0x%x\n%s" % (thread["ident"], dump_python(dump)))


def find_gil(threads, idents):
    """A thread that waits for the GIL does not have it. Those that compute are not asked."""
    try:
        has_gil = find(HAS_GIL)
    except gdb.error:
        return
    suspects = [thread for thread in threads if thread["ident"] in idents]
    for suspect in suspects[:ASKED]:
        suspect["thread"].switch()
        if is_x86() and not waits_in_kernel():
            continue
        with borrow() as thread:
            has = thread.call(has_gil) & 0xffffffff
        if has:
            say("gil", ("lwp", suspect["thread"].ptid[1]))
            return


def choose(threads):
    """Selects a thread in which a function can be called: Python's main thread, if that waits."""
    for thread in threads:
        thread["thread"].switch()
        if not is_x86() or waits_in_kernel():
            return True
    return False


def read_python(threads):
    try:
        dump = find(DUMP)
    except gdb.error:
        return say("problem", ("text", "there is no Python in it, or one without names of functions"))
    if not choose(threads):
        return say("problem", ("text", "none of its threads was in a system call: ask again"))
    idents = print_python(dump_python(dump_all(dump)))
    if idents:
        read_others(threads, set(idents))
    gils = [thread for thread in threads if any("PyEval_RestoreThread" in frame or "cond_" in frame or "take_gil" in frame for frame in thread["frames"])]
    if gils:
        find_gil(threads, set(idents))


def main():
    say("begun")
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})  # since gdb started; its own handler stays
    inferior = gdb.selected_inferior()
    if not inferior.pid or not inferior.threads():
        return
    gdb.execute("set scheduler-locking on")
    gdb.execute("set unwindonsignal on")
    found = sorted(inferior.threads(), key=lambda thread: thread.ptid[1] != inferior.pid)
    lwps = {thread.ptid[1] for thread in found}
    threads = [read_thread(thread, lwps) for thread in found[:THREADS]]
    try:
        read_python(threads)
    except (gdb.error, gdb.MemoryError, KeyboardInterrupt, OSError) as trouble:
        say("problem", ("text", "asking its Python failed: %s" % trouble))
    say("done")


main()

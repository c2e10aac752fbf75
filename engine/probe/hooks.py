# SPDX-License-Identifier: LGPL-2.1-or-later
"""Level 2 of recording: hooks that PyTorch's Python API offers, on 1.13 and later. Runs inside the program that
is recorded, as a module of its own; the probe has put tell_*(), recording(), looking(), run_backward() and
complain() among its names.

Every call of backward from Python, also checkpoint's and a custom Function's inner one, goes through
Variable._execution_engine.run_backward: an engine of a class of ours stands there. Before the call the graph is
walked from the roots, each node that was not met before is told of, and each gets a hook before it and one
after; after the call they are gone. A node is known again by its mark, kept in node.metadata, which dies
with the node and says so. Nothing here may change a gradient: hooks return None. Modes and subclasses of tensors are
switched off here.

A hook that the program registers behind a node while that node runs must find what it finds without ours: Hooks.

Nothing here may raise into the program, but for what the program's own handler of a signal raises: Python runs it
between any two instructions, also these. While a pass runs, PyTorch would not let a handler in before the end of the
pass. So what one raises in a hook waits for that end."""
import atexit
import collections
import functools
import os
import struct
import sys
import threading
import time

import torch
from torch.autograd import Function, Variable
from torch.autograd.function import FunctionCtx

NO_NODE = 0xFFFFFFFF
NO_EDGE = (NO_NODE, 0)
MARK = "tapedeck"
CPU = -1
UNKNOWN = -1
NO_NUMBER, LEAF_NUMBER = 2**64 - 2, 2**64 - 1  # sequence numbers: unknown, and that of each AccumulateGrad

lock = threading.RLock()  # guards `hooked`; the collector may run a finalizer that calls backward
late = {}  # by thread: what a handler raised during the pass
running = {}  # by thread: its calls of backward that are under way
hooked = {}  # a node's number: how many passes want its hooks, and the hooks' handles
engine_task = getattr(torch._C, "_current_graph_task_id", None)  # never a function of Python: hooks.c calls it too


def no_hooks():
    return None


class Mark:
    """A node's number on the tape of a recording; the node's end; where the hooks behind it are, if some are."""
    __slots__ = ("recording", "number", "name", "is_shaped", "edges", "end", "hooks")

    def __init__(self):
        self.hooks = no_hooks


def complain_of(error):
    complain_once(f"the hooks do not understand this program: {type(error).__name__}: {error}")


@functools.lru_cache(maxsize=None)
def complain_once(words):
    complain(words)


def raise_later(error):
    """The program gets the last one. One that came before is its context, as it is where a handler raises in a handler."""
    earlier = late.get(threading.get_ident())
    if earlier is not None and error.__context__ is None:
        error.__context__ = earlier
    late[threading.get_ident()] = error


def hook_that_never_raises(function):
    @functools.wraps(function)
    def guarded(*args):
        try:
            with no_overrides():
                return function(*args)
        except RecursionError:
            pass  # ours, and no place to call anything
        except BaseException as error:
            if not is_programs(error):
                complain_of(error)
            elif threading.get_ident() in running:
                raise_later(error)
            else:
                raise
        return None
    return guarded


# Sequence numbers: from the API since 2.1. Before that they are read where the nodes keep them, and that place is
# found by making nodes whose numbers are known: those of a new thread count from 0.

class Memory:
    """This process's own; the child of a fork opens its own."""

    def __init__(self):
        self.open()
        os.register_at_fork(after_in_child=self.open)

    def open(self):
        self.file = os.open("/proc/self/mem", os.O_RDONLY | os.O_CLOEXEC)

    def words_at(self, address, n):
        return struct.unpack(f"{n}Q", os.pread(self.file, 8 * n, address))


class Same(Function):
    @staticmethod
    def forward(ctx, x):
        return x.view_as(x)

    @staticmethod
    def backward(ctx, gradient):
        return gradient


def find_places(memory, places):
    """Fills in where, from a node's object, the node's address is, and where in the node its number is."""
    x = torch.ones(1, requires_grad=True)
    plain = [x.view_as(x).grad_fn for _ in range(16)]
    alive = [Same.apply(x) for _ in range(16)]  # a custom Function's object does not keep its node
    custom = [y.grad_fn for y in alive]
    at_node = 16  # a node's object is a reference count, a type and the node
    addresses = [memory.words_at(id(node) + at_node, 1)[0] for node in plain]
    contents = [memory.words_at(address, 24) for address in addresses]
    found = [8 * i for i in range(24) if all(words[i] == n for n, words in enumerate(contents))]
    if len(found) != 1:
        return
    places["number"], places["plain"] = found[0], at_node
    for offset in range(16, 400, 8):
        try:
            nodes = [memory.words_at(id(node) + offset, 1)[0] for node in custom]
            if all(memory.words_at(node + found[0], 1)[0] == 16 + n for n, node in enumerate(nodes)):
                places["custom"] = offset
                return
        except (OSError, OverflowError):  # not an address
            continue


def make_reader_of_memory():
    """A function from node to sequence number, or None."""
    places = {}
    try:
        memory = Memory()
        finder = threading.Thread(target=find_places, args=(memory, places))
        finder.start()
        finder.join()
    except OSError:
        return None
    if "custom" not in places:
        return None

    def read(node):
        place = places["custom" if isinstance(node, torch._C._FunctionBase) else "plain"]
        address, = memory.words_at(id(node) + place, 1)
        return memory.words_at(address + places["number"], 1)[0]
    return read


def make_reader():
    if hasattr(torch._C._FunctionBase, "_sequence_nr"):
        return lambda node: of_node(node, "_sequence_nr")()
    return make_reader_of_memory()


# The graph

def device_of(like):
    device = read(like, "device")
    return CPU if device.type in ("cpu", "meta") else device.index or 0


def inputs_of(node):
    return list(of_node(node, "_input_metadata") or ())


def tell_shape(mark, input_nr, like):
    try:
        sizes = read(like, "shape")
    except RuntimeError:  # a nested tensor has none
        return
    dtype = read(like, "dtype")
    n_bytes = dtype.itemsize if hasattr(dtype, "itemsize") else Base.element_size(like)
    for size in sizes:
        n_bytes *= int(size)
    shape = "[" + ", ".join(str(size) for size in sizes) + "]"
    tell_input(mark.number, input_nr, shape, str(dtype).replace("torch.", ""), device_of(like), n_bytes)


def gather(roots):
    """What hangs under the roots: (node, its edges), children first."""
    met, order = set(), []
    for root in roots:
        if id(root) in met:
            continue
        met.add(id(root))
        edges = root.next_functions
        stack = [(root, edges, iter(edges))]
        while stack:
            node, edges, rest = stack[-1]
            for child, _ in rest:
                if child is not None and id(child) not in met:
                    met.add(id(child))
                    edges = child.next_functions
                    stack.append((child, edges, iter(edges)))
                    break
            else:
                stack.pop()
                order.append((node, edges))
    return order


def count_inputs(order):
    """How many inputs the edges show, where the API does not say."""
    counts = {}
    for _, edges in order:
        for child, input_nr in edges:
            if child is not None:
                counts[id(child)] = max(counts.get(id(child), 1), input_nr + 1)
    return counts


def announce(node, edges, n_inputs, now):
    inputs = inputs_of(node)
    device = next((device_of(metadata) for metadata in inputs if device_of(metadata) != CPU), CPU)
    leaf = of_node(node, "variable")
    sequence_nr = LEAF_NUMBER if leaf is not None else sequence_nr_of(node) if sequence_nr_of else NO_NUMBER
    flat = []
    for child, input_nr in edges:
        flat += (mark_of(child, now).number, input_nr) if child is not None else NO_EDGE
    mark = Mark()
    mark.recording, mark.name, mark.is_shaped = now, of_node(node, "name")().split("::")[-1], bool(inputs)
    mark.number = tell_node(mark.name, sequence_nr, node.metadata, device, len(inputs) or n_inputs,
                            read(leaf, "_cdata") if leaf is not None else 0, *flat)
    mark.edges = flat if looking() else None
    mark.end = end_of(now, mark.number)
    node.metadata[MARK] = mark
    for input_nr, metadata in enumerate(inputs):
        tell_shape(mark, input_nr, metadata)
    return mark


def mark_of(node, now):
    mark = node.metadata.get(MARK)
    return mark if mark and mark.recording == now else None


# What --anomaly and --stats read. C reads the memory while the hook runs.

SUBCLASS, LAYOUT, DEVICE, REFUSES = 1, 2, 3, 4  # why nobody can read a gradient, as in hooks_gradients.c
name_of_type = functools.lru_cache(maxsize=None)(str)


def bytes_of_storage(tensor):
    return tensor.untyped_storage().nbytes() if hasattr(tensor, "untyped_storage") else tensor.storage().nbytes()


def memory_of(tensor):
    """(identity, version, why nobody can read it, type, data, bytes of storage from there on, n dims, sizes and strides);
    (0,) for none."""
    if tensor is None:
        return (0,)
    if type(tensor) is not torch.Tensor:
        return id(tensor), 0, SUBCLASS, "", 0, 0, 0
    try:
        is_strided = tensor.layout is torch.strided and not tensor.is_nested
        reason = LAYOUT if not is_strided else DEVICE if tensor.device.type != "cpu" else REFUSES if tensor.is_neg() else 0
        version = 0 if tensor.is_inference() else tensor._version
        if reason:
            return tensor._cdata, version, reason, "", 0, 0, 0
        n_bytes = bytes_of_storage(tensor) - tensor.storage_offset() * tensor.element_size()
        return (tensor._cdata, version, 0, name_of_type(tensor.dtype), tensor.data_ptr(), max(n_bytes, 0), tensor.dim(),
                *tensor.shape, *tensor.stride())
    except (RuntimeError, NotImplementedError):  # a wrapper of functorch's, or another tensor without memory
        return id(tensor), 0, REFUSES, "", 0, 0, 0


def memories_of(gradients, leaf):
    """Of gradients, and for an AccumulateGrad of .grad behind them."""
    found = []
    for gradient in gradients if isinstance(gradients, tuple) else (gradients,):
        found += memory_of(gradient)
    return found if leaf is None else [*found, *memory_of(read(leaf, "grad"))]


# A node's hooks

helpers = set()  # threads that ran nodes and called no pass


# Hooks that come while their node runs. Before a node's function, PyTorch looks whether there are hooks behind the node. If
# there are none, it does not keep the gradients that came in. A hook that is registered meanwhile gets none of them; before
# PyTorch 2.5 it is not called, this time. Ours is there always. So it notes whether the program had one when the function
# began. If not, and one has come, it takes the gradients away behind itself: it is the first of these hooks.

class Hooks(collections.OrderedDict):
    """The hooks behind a node of which ours was the first."""
    __slots__ = ("has_programs",)  # whether the program has ever registered one


class Late:
    """Before PyTorch 2.5, a hook that came while its node ran."""
    __slots__ = ("hook",)

    def __init__(self, hook):
        self.hook = hook

    def __call__(self, outputs, inputs):
        return self.hook(outputs, inputs) if inputs else None


def find_whether_late_hooks_run():
    """PyTorch's documentation has the change. `python -OO` takes it away."""
    words = torch.autograd.graph.Node.register_hook.__doc__ if hasattr(torch.autograd.graph, "Node") else None
    return "begun execution" in " ".join(words.split()) if words else tuple(map(int, torch.__version__.split(".")[:2])) >= (2, 5)


late_hooks_run = find_whether_late_hooks_run()
begun = {}  # by thread: (mark, whether the program had a hook behind the node) of each node that runs, the innermost last


def note_begun(mark):
    thread, hooks = threading.get_ident(), mark.hooks()
    if type(hooks) is Hooks:
        nodes = begun.setdefault(thread, [])
        if thread not in running:
            nodes.clear()  # of nodes that failed
        nodes.append((mark, hooks.has_programs))


def note_ended(mark):
    """Whether the first hook of the program's has come while the node ran."""
    hooks, nodes = mark.hooks(), begun.get(threading.get_ident(), ())
    for i in reversed(range(len(nodes))):
        if nodes[i][0] is mark:
            had_hook = nodes[i][1]
            del nodes[i:]
            return not had_hook and type(hooks) is Hooks and hooks.has_programs
    return False


def is_running_without(hooks):
    return any(mark.hooks() is hooks and not had_hook for nodes in list(begun.values()) for mark, had_hook in list(nodes))


def function_of(hook):
    """before_node or after_node for a hook of ours, None for the program's."""
    inner = hook.__self__ if type(hook) is BuiltinFunction else hook
    function = inner.func if type(inner) is functools.partial else None
    return function if function is before_node or function is after_node else None


def put_last(hooks):
    """Puts our hook before a node behind the others: the node begins when they are over."""
    with lock:
        for key, hook in list(hooks.items()):
            if function_of(hook) is before_node:
                hooks[key] = hooks.pop(key)


def register_hook(hooks, hook):
    """Stands for Function._register_hook, which PyTorch calls for each hook of a node."""
    ours = function_of(hook)
    if hooks is None and ours is after_node:
        hooks = Hooks()
        hooks.has_programs = False
    elif ours is None and type(hooks) is Hooks:
        if not late_hooks_run and is_running_without(hooks):
            hook = Late(hook)
        hooks.has_programs = True
    result = own_register_hook(hooks, hook)
    if ours is None and hooks:
        try:
            put_last(hooks)
        except RecursionError:
            pass
    return result


def let_late_hooks_in(hooks):
    for key, hook in list(hooks.items()) if hooks is not None else ():
        if type(hook) is Late:
            hooks[key] = hook.hook


@hook_that_never_raises
def before_node(mark, leaf, gradients):
    if threading.get_ident() not in running:
        helpers.add(threading.get_ident())
    if not mark.is_shaped:
        mark.is_shaped = True
        for input_nr, gradient in enumerate(gradients):
            if gradient is not None:
                tell_shape(mark, input_nr, gradient)
    memories = () if mark.edges is None else memories_of(gradients, leaf)
    tell_begin(mark.number, engine_task() if engine_task else UNKNOWN, mark.name, leaf is not None, *memories)
    note_begun(mark)


@hook_that_never_raises
def after_node(mark, leaf, gradients, _):
    """Returns whether the hooks behind it get no inputs."""
    is_late = note_ended(mark)
    flat = []
    for gradient in gradients if isinstance(gradients, tuple) else (gradients,):
        flat += size_of(gradient)
    tell_end(mark.number, *flat)
    if mark.edges is not None:
        tell_outputs(mark.number, leaf is not None, len(mark.edges) // 2, *mark.edges, *memories_of(gradients, leaf))
    return is_late


def size_of(gradient):
    if gradient is None:
        return -1, CPU
    return Base.numel(gradient) * Base.element_size(gradient), device_of(gradient)


def hook(node, mark):
    with lock:
        entry = hooked.setdefault(mark.number, [0])
        entry[0] += 1
        if entry[0] == 1:
            leaf = of_node(node, "variable")
            entry.append(of_node(node, "register_prehook")(functools.partial(before_node, mark, leaf)))
            entry.append(of_node(node, "register_hook")(post_hook(functools.partial(after_node, mark, leaf))))
            mark.hooks = entry[-1].hooks_dict_ref


def unhook(number):
    with lock:
        entry = hooked.get(number)
        if entry is None:  # a pass of the parent of this fork
            return
        entry[0] -= 1
        if entry[0] == 0:
            del hooked[number]
            for handle in entry[1:]:
                handle.remove()
                if not late_hooks_run:
                    let_late_hooks_in(handle.hooks_dict_ref())


# A call of backward

def accumulator_of(leaf):
    """Made as the engine will make it, by a thread of its own: it takes no sequence number of this one's."""
    found = []
    maker = threading.Thread(target=lambda: found.append(Base.view_as(leaf, leaf).grad_fn.next_functions[0][0]))
    try:
        maker.start()
    except RuntimeError as error:  # the process may have no more threads, or ends
        raise OSError(str(error)) from None
    maker.join()
    return found[0]


def root_of(root):
    """(node, its output) for a tensor or a GradientEdge, or None where the engine will refuse it."""
    if not isinstance(root, torch.Tensor):
        return root[0], root[1]
    if not read(root, "requires_grad"):
        return None
    return (read(root, "grad_fn") or accumulator_of(root)), read(root, "output_nr")


def output_of(wanted, leaves):
    """(node, its output) for what grad() is asked for, or None where nothing leads there."""
    if not isinstance(wanted, torch.Tensor):
        return wanted[0], wanted[1]
    node = read(wanted, "grad_fn") or leaves.get(id(wanted))
    return node and (node, read(wanted, "output_nr"))


def is_compiled():
    """Whether compiled autograd is on. It compiles the hooks of a graph too, and cannot compile ours."""
    module = sys.modules.get("torch._dynamo.compiled_autograd")
    return getattr(module, "compiled_autograd_enabled", False)


def codes_in(code):
    yield code
    for inner in code.co_consts:
        if isinstance(inner, type(code)):
            yield from codes_in(inner)


def asks_for_sums(node):
    """Whether a custom Function adds to the sums of other nodes itself. PyTorch refuses that to a node with hooks, even if
    they are gone again. Only the code of its backward is searched."""
    backward = getattr(getattr(type(node), "_forward_cls", None), "backward", None)
    return type(backward) is type(codes_in) and any("input_grad_buffers" in inner.co_names for inner in codes_in(backward.__code__))


class Pass:
    """One call, from before() to after()."""

    def __init__(self):
        self.number, self.numbers, self.recording = None, [], recording()
        self.n_begun = len(begun.get(threading.get_ident(), ()))  # nodes around it
        self.roots = ()  # alive until the end: else the engine makes another accumulator, which has no hooks

    def begin(self, tensors, grad_tensors, keep_graph=False, create_graph=False, inputs=(), allow_unreachable=False,
              accumulate_grad=False):
        inputs = inputs or ()
        if not self.recording:
            return
        if not may_look():
            complain_once("before PyTorch 2.0 a TorchFunctionMode hears of what hooks read, so passes under one are not recorded")
            return
        if is_compiled():
            complain_once("compiled autograd runs no hooks, so its passes are not recorded")
            return
        roots = [root_of(tensor) for tensor in tensors]
        if not roots or None in roots:
            return
        self.roots = roots
        order = gather([node for node, _ in roots] +
                       [read(wanted, "grad_fn") for wanted in inputs
                        if isinstance(wanted, torch.Tensor) and read(wanted, "grad_fn") is not None])
        if hasattr(FunctionCtx, "input_grad_buffers") and any(asks_for_sums(node) for node, _ in order):
            complain_once("input_grad_buffers refuses hooks, so passes with it are not recorded")
            return
        n_inputs = count_inputs(order)
        leaves = {}
        for node, edges in order:
            mark = mark_of(node, self.recording) or announce(node, edges, n_inputs.get(id(node), 1), self.recording)
            leaf = of_node(node, "variable") if inputs else None
            if leaf is not None:
                leaves[id(leaf)] = node
            self.numbers.append(mark.number)
            hook(node, mark)
        outputs = [output_of(wanted, leaves) for wanted in inputs]
        self.tell(roots, grad_tensors, outputs, (bool(keep_graph), bool(create_graph), bool(accumulate_grad)))

    def tell(self, roots, gradients, outputs, flags):
        flat = []
        for node, output_nr in roots:
            flat += mark_of(node, self.recording).number, output_nr
        for gradient in gradients:
            flat += size_of(gradient)
        for output in outputs:
            mark = output and mark_of(output[0], self.recording)
            flat += (mark.number, output[1]) if mark else NO_EDGE
        self.number = tell_pass(*flags, len(roots), len(outputs), *flat, *self.numbers)

    def end(self, words):
        if self.number is not None:
            tell_pass_over(self.number, words)
        self.unhook()

    def unhook(self):
        while self.numbers:
            unhook(self.numbers.pop())
        self.roots = ()


def before(*arguments, **keywords):
    """Returns the call. Raises what a handler of the program raised; then there are no hooks."""
    call = Pass()
    try:
        with no_overrides():
            call.begin(*arguments, **keywords)
    except RecursionError:
        pass
    except BaseException as error:
        if is_programs(error):
            call.unhook()
            raise
        complain_of(error)
    running[threading.get_ident()] = running.get(threading.get_ident(), 0) + 1
    return call


def words_of(error):
    """What an error says, as str() does; the name of its class if its own code makes the words."""
    is_plain = type(error).__str__ is BaseException.__str__ and len(error.args) == 1 and type(error.args[0]) is str
    return error.args[0] if is_plain and error.args[0] else type(error).__name__


def after(call, error):
    """Returns what a handler of the program raised during the pass, or None."""
    thread = threading.get_ident()
    try:
        with no_overrides():
            call.end(words_of(error) if isinstance(error, BaseException) else None)
    except RecursionError:
        call.unhook()
    except BaseException as problem:
        call.unhook()
        if is_programs(problem):
            raise_later(problem)
        else:
            complain_of(problem)
    running[thread] -= 1
    if running[thread] == 0:
        del running[thread]
    if call.n_begun:
        del begun[thread][call.n_begun:]
    else:
        begun.pop(thread, None)
    return late.pop(thread, None)


# torch.compile

def make_skip(compiler):
    """A function that hides a code from the compiler, or None before PyTorch 2.0."""
    if hasattr(compiler, "skip_code"):
        return compiler.skip_code
    if not hasattr(compiler, "set_code_exec_strategy"):
        return None
    skip = compiler._FrameAction.SKIP
    itself_and_what_it_calls = compiler._FrameExecStrategy(skip, skip)
    return lambda code: compiler.set_code_exec_strategy(code, itself_and_what_it_calls)


def hide_from_compiler(own_code):
    """If a compiled function calls backward, the compiler follows the call into hooks and what is around it."""
    try:
        skip = make_skip(getattr(getattr(torch._C, "_dynamo", None), "eval_frame", None))
        for code in codes_in(own_code) if skip else ():
            skip(code)
    except (AttributeError, TypeError) as error:
        complain_of(error)


hide_from_compiler(sys._getframe().f_code)
sequence_nr_of = make_reader()
queues_known = sequence_nr_of is not None
version = str(torch.__version__)  # of a class of its own, which td_python_text does not read
real_engine = Variable._execution_engine
original = real_engine.run_backward
Engine = type("Engine", (type(real_engine),), {"run_backward": run_backward})
Variable._execution_engine = Engine()
BuiltinFunction = type(len)
own_register_hook = Function._register_hook
Function._register_hook = staticmethod(register_hook)


def begin_in_child():
    """Numbers begin anew, and no other thread ends its pass here."""
    hooked.clear()
    lock.release()


os.register_at_fork(before=lock.acquire, after_in_parent=lock.release, after_in_child=begin_in_child)


@atexit.register
def let_helpers_finish():
    """A thread of the engine's lets go of its last node, and of the hooks' remains there, when the pass is over
    already: with the GIL, which it must not ask for once Python ends."""
    if helpers:
        time.sleep(0.05)


def stop():
    Variable._execution_engine = real_engine
    if vars(Function).get("_register_hook", own_register_hook) is not own_register_hook:
        del Function._register_hook

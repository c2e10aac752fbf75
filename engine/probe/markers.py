# SPDX-License-Identifier: LGPL-2.1-or-later
"""Hears when the program's optimizers, or PyTorch's profiler, have made a step. Runs inside the program that is
recorded, as a module of its own; the probe has put `tell_optimizer`, `tell_parameter`, `tell_profiler`,
`tell_no_gradient`, `tell_rank`, `tell_gradient_missing`, `note_result`, `tell_results`, `note_line`, `tell_failure`,
`all_zero`, `tell_empty_step`, `tell_idle`, `tell_cycle` and `tell_frozen` among its names.

An optimizer has the least number that no living optimizer has. So a program that makes a new optimizer for each
step has one number for all of them.

No code of the program may run from here: so no attribute is asked for that its class could define, and modes and
subclasses of tensors are switched off. Nothing here may raise into the program, but for what the program's own handler of a
signal raises: Python runs it between any two instructions, also these."""
import atexit
import functools
import gc
import itertools
import sys
import weakref

torch = sys.modules["torch"]
optimizers = sys.modules["torch.optim.optimizer"]
Optimizer = optimizers.Optimizer
own_dict = Optimizer.__dict__["__dict__"].__get__
known = {}  # by id: living optimizers
FIRST_LOOK = 4  # a step after which gradients that are gone are looked for, a power of two
LINES = 64  # of a traceback, the innermost ones
FAILURES = (RuntimeError, TypeError, ValueError, AttributeError, NotImplementedError)
# No pass may have begun before these.
EARLY = ("does not require grad and does not have a grad_fn", "grad can be implicitly created only for scalar outputs",
         "Inference tensors cannot be saved for backward")
class_name = type.__dict__["__name__"].__get__


class Known:
    """An optimizer, and which parameters the first step left out, until all is told of them; None before that step."""

    def __init__(self, optimizer):
        taken = {other.number for other in known.values()}
        self.number = next(number for number in itertools.count() if number not in taken)
        self.missing = None
        self.n_steps = 0
        self.never = ()  # which had no gradient in the first step
        self.is_told = False  # its parameters
        self.was_empty = True  # before the step under way, if anything looks then
        # What the reference calls is C alone: an exception of a handler would be lost there.
        self.optimizer = weakref.ref(optimizer, functools.partial(known.pop, id(optimizer)))


def known_of(optimizer):
    self = known.get(id(optimizer))
    if self is None:
        self = known.setdefault(id(optimizer), Known(optimizer))
        tell_own_rank()
    return self


def tell_own_rank():
    """torchrun gives the rank to the process. Else the program gives it to init_process_group alone."""
    distributed = sys.modules.get("torch.distributed")
    if distributed is not None and distributed.is_available() and distributed.is_initialized():
        tell_rank(distributed.get_rank())


def parameters_of(optimizer):
    groups = own_dict(optimizer).get("param_groups")
    lists = [group.get("params") for group in groups if type(group) is dict] if type(groups) is list else []
    return [parameter for parameters in lists if type(parameters) in (list, tuple) for parameter in parameters
            if isinstance(parameter, torch.Tensor) and read(parameter, "is_leaf")]


def tell_missing(optimizer, numbers_before, is_last):
    """Returns which parameters no gradient has reached, of those that none had reached before; None: of all."""
    parameters = parameters_of(optimizer)
    numbers_now = [number for number, parameter in enumerate(parameters)
                   if (numbers_before is None or number in numbers_before)
                   and read(parameter, "requires_grad") and read(parameter, "grad") is None]
    for number in numbers_now:
        tell_no_gradient(read(parameters[number], "_cdata"), number, is_last)
    return numbers_now


def tell_parameters(optimizer, self):
    self.is_told = True
    for number, parameter in enumerate(parameters_of(optimizer)):
        tell_parameter(read(parameter, "_cdata"), number, self.number)


def tell_step(optimizer):
    """The probe comes with the program's first node, so it may have missed names, and what the first step did under
    no_grad(). The second step tells again what the first one left out."""
    self = known_of(optimizer)
    self.n_steps += 1
    if may_look():
        look_for_missing(optimizer, self)
        look_for_gradients(optimizer, self)
    tell_optimizer(self.number)


def look_for_missing(optimizer, self):
    with no_overrides():
        if self.missing is None:
            self.missing = self.never = tell_missing(optimizer, None, 0)
            return
        if not self.is_told:
            tell_parameters(optimizer, self)
        if self.missing:
            tell_missing(optimizer, self.missing, 1)
            self.missing = []
        if self.n_steps >= FIRST_LOOK and self.n_steps & self.n_steps - 1 == 0:
            tell_lost(optimizer, self)


def tell_lost(optimizer, self):
    """Fewer and fewer of the steps are looked at: each look reads all parameters. Older PyTorchs leave zeros in .grad."""
    moves = moves_without_gradients(optimizer)
    for number, parameter in enumerate(parameters_of(optimizer)):
        gradient = read(parameter, "grad")
        if not read(parameter, "requires_grad"):
            if gradient is not None and (moves or not all_zero(read(gradient, "_cdata"))):
                tell_frozen(read(parameter, "_cdata"), number, self.number, self.n_steps)
        elif number not in self.never:
            held = 0 if gradient is None else read(gradient, "_cdata")
            tell_gradient_missing(read(parameter, "_cdata"), number, self.number, self.n_steps, held)


def moves_without_gradients(optimizer):
    """Whether it changes a parameter whose gradient is zero: by momentum, by weight decay, or as Adam and RMSprop do."""
    groups = own_dict(optimizer).get("param_groups")
    return any(group.get("momentum") or group.get("weight_decay") or "betas" in group or "alpha" in group
               for group in groups if type(group) is dict)


def looks_at(step):
    return step < FIRST_LOOK or step & step - 1 == 0


def gradients_of(optimizer):
    """Of frozen parameters too: an optimizer uses all that are there."""
    found = [read(parameter, "grad") for parameter in parameters_of(optimizer)]
    return [gradient for gradient in found if gradient is not None]


def look_before(optimizer):
    """A step may clear the gradients itself, when it has used them."""
    self = known_of(optimizer)
    if looks_at(self.n_steps + 1) and may_look():
        with no_overrides():
            gradients = gradients_of(optimizer)
            self.was_empty = not gradients or all_zero(*(read(gradient, "_cdata") for gradient in gradients))


def look_for_gradients(optimizer, self):
    """Before 2.0 nothing looks before the step. Then only PyTorch's own optimizers are believed to leave gradients as they are."""
    is_own = hears_before or type(optimizer).__module__.startswith("torch.optim.")
    if is_own and self.was_empty and looks_at(self.n_steps):
        with no_overrides():
            tell_empty_step(self.number, self.n_steps, *(read(gradient, "_cdata") for gradient in gradients_of(optimizer)))


def classes_below(cls):
    """The ids of all classes that inherit from one."""
    found, left = set(), [cls]
    while left:
        one = left.pop()
        if id(one) not in found:
            found.add(id(one))
            left.extend(type.__subclasses__(one))
    return found


def tell_objects():
    """What is left of the program when it ends. Results that it keeps have their graphs. Those that no pass has reached are not
    on the tape."""
    optimizer_classes = set() if has_compiled() else classes_below(Optimizer)
    function_classes = classes_below(torch.autograd.function.BackwardCFunction)
    cycles = {}
    living = [self.optimizer() for self in list(known.values())]
    stepped = {id(parameter) for optimizer in living if optimizer is not None for parameter in parameters_of(optimizer)}
    for one in gc.get_objects():
        cls = type(one)
        if cls is torch.Tensor:
            if not read(one, "is_leaf"):
                note_result(read(one, "_cdata"))
        elif id(cls) in optimizer_classes:
            left = [parameter for parameter in parameters_of(one) if id(parameter) not in stepped]
            if id(one) not in known:
                tell_idle(class_name(cls), sum(read(parameter, "grad") is not None for parameter in left))
        elif id(cls) in function_classes and keeps_own_result(one):
            cycles[cls] = cycles.get(cls, 0) + 1
    tell_results()
    for cls, count in cycles.items():
        tell_cycle(class_name(cls), place_of_forward(cls), count)


def has_compiled():
    """Of a step that torch.compile has compiled, nothing is heard."""
    utils = sys.modules.get("torch._dynamo.utils")
    return bool(getattr(utils, "counters", {}).get("frames"))


def keeps_own_result(context):
    """A context is the node of the graph too, which the result leads to."""
    return any(type(value) is torch.Tensor and read(value, "grad_fn") is context
               for value in tuple(object.__getattribute__(context, "__dict__").values()))


def place_of_forward(cls):
    forward = getattr(type.__getattribute__(cls, "_forward_cls").__dict__.get("forward"), "__func__", None)
    code = getattr(forward, "__code__", None)
    if code is None:
        return ""
    note_line(code.co_filename, code.co_firstlineno)
    return f"{code.co_filename}:{code.co_firstlineno} forward"


def stack_of(trace):
    """As stacks are on the tape, the innermost line last."""
    lines = []
    while trace is not None:
        code = trace.tb_frame.f_code
        note_line(code.co_filename, trace.tb_lineno)
        lines.append(f"{code.co_filename}:{trace.tb_lineno} {code.co_name}")
        trace = trace.tb_next
    return "\n".join(lines[-LINES:])


def tell_exception():
    """Python keeps what the program ends by. Of another type than these, it could run code of the program."""
    error = getattr(sys, "last_value", None)
    cls = type(error)
    if not any(cls is one for one in FAILURES) or len(error.args) != 1 or type(error.args[0]) is not str:
        return
    text = error.args[0]
    tell_failure(f"{class_name(cls)}: {text}", stack_of(error.__traceback__), not torch.is_grad_enabled(),
                 any(part in text for part in EARLY))


def tell_rest():
    """There may be no second step."""
    try:
        for self in list(known.values()):
            optimizer = self.optimizer()
            if optimizer is None or self.missing is None:
                continue
            with no_overrides():
                if not self.is_told:
                    tell_parameters(optimizer, self)
                if self.missing:
                    tell_missing(optimizer, self.missing, 1)
        with no_overrides():
            tell_objects()
            tell_exception()
    except BaseException as error:
        if is_programs(error):
            raise


def make_after_step():
    """torch.compile inlines what it finds in an optimizer. It cannot import this module, so it must need no global name."""
    is_compiling = getattr(getattr(torch, "compiler", None), "is_compiling", None) or \
        getattr(torch._utils, "is_compiling", lambda: False)

    def after_step(optimizer, *_):
        if is_compiling():
            return
        try:
            tell_step(optimizer)
        except RecursionError:
            return
        except BaseException as error:
            if is_programs(error):
                raise
            # Else an optimizer of an unusual kind: the program goes on.
    return after_step


def make_before_step():
    """As make_after_step."""
    is_compiling = getattr(getattr(torch, "compiler", None), "is_compiling", None) or \
        getattr(torch._utils, "is_compiling", lambda: False)

    def before_step(optimizer, *_):
        if is_compiling():
            return
        try:
            look_before(optimizer)
        except RecursionError:
            return
        except BaseException as error:
            if is_programs(error):
                raise
    return before_step


hears_before = hasattr(optimizers, "register_optimizer_step_pre_hook")


def listen_to_optimizers():
    """Before 2.0 nothing can be registered. But step() called an empty method when it was done, for the profiler."""
    if hears_before:
        optimizers.register_optimizer_step_pre_hook(make_before_step())
    if hasattr(optimizers, "register_optimizer_step_post_hook"):
        optimizers.register_optimizer_step_post_hook(make_after_step())
    else:
        Optimizer._optimizer_step_code = make_after_step()


def listen_to_profiler():
    profile = sys.modules["torch.profiler"].profile
    original = profile.step

    def step(self):
        original(self)
        tell_profiler()
    step.__doc__ = original.__doc__
    profile.step = step


def begin():
    try:
        tell_own_rank()
    except BaseException as error:
        if is_programs(error):
            raise


begin()
atexit.register(tell_rest)
listen_to_optimizers()
listen_to_profiler()

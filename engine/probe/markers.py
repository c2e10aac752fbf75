# SPDX-License-Identifier: LGPL-2.1-or-later
"""Hears when the program's optimizers, or PyTorch's profiler, have made a step. Runs inside the program that is
recorded, as a module of its own; the probe has put `tell_optimizer`, `tell_parameter`, `tell_profiler`,
`tell_no_gradient`, `tell_rank`, `tell_gradient_missing`, `note_result` and `tell_results` among its names.

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


class Known:
    """An optimizer, and which parameters the first step left out, until all is told of them; None before that step."""

    def __init__(self, optimizer):
        taken = {other.number for other in known.values()}
        self.number = next(number for number in itertools.count() if number not in taken)
        self.missing = None
        self.n_steps = 0
        self.never = ()  # which had no gradient in the first step
        self.is_told = False  # its parameters
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
    for number, parameter in enumerate(parameters_of(optimizer)):
        if number not in self.never and read(parameter, "requires_grad"):
            gradient = read(parameter, "grad")
            held = 0 if gradient is None else read(gradient, "_cdata")
            tell_gradient_missing(read(parameter, "_cdata"), number, self.number, self.n_steps, held)


def tell_unreached():
    """Results that the program keeps have their graphs. Those that no pass has reached are not on the tape."""
    for one in gc.get_objects():
        if type(one) is torch.Tensor and not read(one, "is_leaf"):
            note_result(read(one, "_cdata"))
    tell_results()


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
            tell_unreached()
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


def listen_to_optimizers():
    """Before 2.0 nothing can be registered. But step() called an empty method when it was done, for the profiler."""
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

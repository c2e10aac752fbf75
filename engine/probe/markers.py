# SPDX-License-Identifier: LGPL-2.1-or-later
"""Hears when the program's optimizers, or PyTorch's profiler, have made a step. Runs inside the program that is
recorded, as a module of its own; the probe has put `tell_optimizer`, `tell_profiler` and `tell_no_gradient` among its
names.

An optimizer has the least number that no living optimizer has. So a program that makes a new optimizer for each
step has one number for all of them. Nothing here may raise into the program."""
import atexit
import itertools
import sys
import weakref

torch = sys.modules["torch"]
optimizers = sys.modules["torch.optim.optimizer"]
Optimizer = optimizers.Optimizer
numbers = weakref.WeakKeyDictionary()
missing = weakref.WeakKeyDictionary()  # parameters that the first step left out, until all is told of them


def number_of(optimizer):
    if optimizer not in numbers:
        taken = set(numbers.values())
        numbers[optimizer] = next(number for number in itertools.count() if number not in taken)
    return numbers[optimizer]


def tell_missing(optimizer, numbers_before, is_last):
    """Returns which parameters no gradient has reached, of those that none had reached before; None: of all."""
    parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    numbers_now = [number for number, parameter in enumerate(parameters)
                   if parameter.requires_grad and parameter.grad is None and (numbers_before is None or number in numbers_before)]
    for number in numbers_now:
        tell_no_gradient(parameters[number]._cdata, number, is_last)
    return numbers_now


def tell_step(optimizer):
    """The probe comes with the program's first node, so it may have missed names, and what the first step did under
    no_grad(). The second step tells again what the first one left out."""
    if optimizer not in missing:
        missing[optimizer] = tell_missing(optimizer, None, 0)
    elif missing[optimizer]:
        tell_missing(optimizer, missing[optimizer], 1)
        missing[optimizer] = []


def tell_rest():
    """There may be no second step."""
    try:
        for optimizer, numbers_before in list(missing.items()):
            tell_missing(optimizer, numbers_before, 1)
    except Exception:
        pass


def make_after_step():
    """torch.compile inlines what it finds in an optimizer. It cannot import this module, so it must need no global name."""
    is_compiling = getattr(getattr(torch, "compiler", None), "is_compiling", None) or \
        getattr(torch._utils, "is_compiling", lambda: False)

    def after_step(optimizer, *_):
        if is_compiling():
            return
        try:
            tell_step(optimizer)
            tell_optimizer(number_of(optimizer))
        except Exception:  # an optimizer of an unusual kind; the program goes on
            pass
    return after_step


def has_optimizer():
    """Making the first optimizer of a class marks the class's step()."""
    classes = [Optimizer]
    for known in classes:
        classes += known.__subclasses__()
    return any(getattr(known.__dict__.get("step"), "hooked", False) for known in classes)


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


atexit.register(tell_rest)
listen_to_optimizers()
listen_to_profiler()

# SPDX-License-Identifier: LGPL-2.1-or-later
"""Hears when the program's optimizers, or PyTorch's profiler, have made a step. Runs inside the program that is
recorded, as a module of its own; the probe has put `tell_optimizer`, `tell_profiler` and `tell_no_gradient` among its
names.

An optimizer has the least number that no living optimizer has. So a program that makes a new optimizer for each
step has one number for all of them. Nothing here may raise into the program."""
import itertools
import sys
import weakref

torch = sys.modules["torch"]
optimizers = sys.modules["torch.optim.optimizer"]
Optimizer = optimizers.Optimizer
numbers = weakref.WeakKeyDictionary()


def number_of(optimizer):
    if optimizer not in numbers:
        taken = set(numbers.values())
        numbers[optimizer] = next(number for number in itertools.count() if number not in taken)
    return numbers[optimizer]


def tell_missing(optimizer):
    """Which parameters no gradient has reached."""
    parameters = (parameter for group in optimizer.param_groups for parameter in group["params"])
    for number, parameter in enumerate(parameters):
        if parameter.requires_grad and parameter.grad is None:
            tell_no_gradient(parameter._cdata, number)


def make_after_step():
    """torch.compile inlines what it finds in an optimizer. It cannot import this module, so it must need no global name."""
    is_compiling = getattr(getattr(torch, "compiler", None), "is_compiling", None) or \
        getattr(torch._utils, "is_compiling", lambda: False)

    def after_step(optimizer, *_):
        if is_compiling():
            return
        try:
            if optimizer not in numbers:
                tell_missing(optimizer)
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


listen_to_optimizers()
listen_to_profiler()

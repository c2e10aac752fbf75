# SPDX-License-Identifier: LGPL-2.1-or-later
"""Follows the modules of a program that is recorded with --stacks. Runs inside it, as a module of its own; the
probe has put `enter`, `enter_at`, `leave`, `name_number` and `label` among its names.

A module is named as the outermost module in which it was met names it: named_modules() of that one. The
outermost itself has no name there and is called by its class, in parentheses."""
import sys
import weakref

numbers = {}  # id of a module: the number of its name, and what takes the entry away when the module dies


def forgetter(key):
    return lambda _: numbers.pop(key, None)


def forget(addresses):
    for address in addresses:
        label(address, 0)


def learn(root):
    """Names everything under a module that no module met before contains."""
    for name, module in root.named_modules():
        entry = name_number(name or f"({type(module).__name__})"), weakref.ref(module, forgetter(id(module)))
        numbers[id(module)] = entry
    addresses = []
    for name, parameter in root.named_parameters():
        addresses.append(parameter._cdata)
        label(parameter._cdata, name_number(name))
    weakref.finalize(root, forget, addresses).atexit = False


def number_of(module):
    if id(module) not in numbers:
        learn(module)
    return numbers[id(module)][0]


def before_forward(module, inputs):
    try:
        enter(number_of(module))
    except Exception:  # a module of an unusual kind has no name, and the program goes on
        pass


def after_forward(module, inputs, output):
    leave()


def enter_what_runs():
    """The forwards that this thread is in already: the first node was made in one."""
    frames, frame = [], sys._getframe(1)
    while frame is not None:
        if frame.f_code is hooks.Module._call_impl.__code__:
            frames.append(frame)
        frame = frame.f_back
    for frame in reversed(frames):
        enter_at(frame, frame.f_code, number_of(frame.f_locals["self"]))


hooks = sys.modules["torch.nn.modules.module"]
hooks.register_module_forward_pre_hook(before_forward)
hooks.register_module_forward_hook(after_forward)
enter_what_runs()

# SPDX-License-Identifier: LGPL-2.1-or-later
"""How the probe's Python programs read the program's tensors, and tell its exceptions from their own. Stands before each of
them, in one module."""
import sys

torch = sys.modules["torch"]
Base = torch._C._TensorBase
no_overrides = torch._C.DisableTorchFunction


def read(tensor, name):
    """An attribute of a tensor as PyTorch has it: a subclass may have one of its own."""
    return getattr(Base, name).__get__(tensor) if isinstance(tensor, torch.Tensor) else getattr(tensor, name)


def of_node(node, name):
    """What PyTorch gives to nodes under a name, or None. A custom function's ctx is its node, and may have an attribute of
    that name."""
    slot = getattr(type(node), name, None)
    return None if slot is None else slot.__get__(node)


def may_look():
    """Whether attributes of tensors can be read without a mode of the program's that hears of it. Before 2.0 modes could not
    be switched off."""
    return hasattr(torch._C, "DisableTorchFunctionSubclass") or not getattr(torch._C, "_len_torch_function_stack", int)()


def is_programs(error):
    """Whether code of the program raised this: a handler of a signal, or Python for it (KeyboardInterrupt). Another thread of
    the program may have it raised here too; then its class is no builtin one. Of a RecursionError nobody asks: where calls are
    too deep, ours are the deepest, and another one would be too deep again."""
    last = error.__traceback__
    while last.tb_next is not None:
        last = last.tb_next
    is_ours = isinstance(error, Exception) and last.tb_frame.f_globals is globals()
    return not is_ours or type(error).__module__.partition(".")[0] not in ("builtins", "torch", "struct")

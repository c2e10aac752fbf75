# SPDX-License-Identifier: LGPL-2.1-or-later
"""Classes that derive from Tensor, by PyTorch's protocol: what is computed with them goes through __torch_function__.

Tensors themselves pay nothing for it. When a program derives a class, the class gets methods that ask
__torch_function__, and so do the functions of the module.
"""
import functools
import threading

from torch import _C
from torch._C import Tensor
from torch.nn.parameter import Parameter

_KEPT = frozenset('__new__ __init__ __init_subclass__ __class__ __dict__ __doc__ __hash__ __getattribute__ __setattr__ '
                  '__delattr__ __reduce__ __reduce_ex__ __dir__ __sizeof__ __subclasshook__ __torch_function__ __iter__ '
                  '__module__ __weakref__ __array_priority__ __repr__ __str__ __format__ __len__ __getstate__ as_subclass '
                  '_make_subclass _is_view dim size stride numel data_ptr item tolist is_contiguous'.split())
_OPERATORS = {'add': 'add', 'sub': 'sub', 'mul': 'mul', 'truediv': 'div', 'matmul': 'matmul', 'neg': 'neg', 'abs': 'abs',
              'lt': 'lt', 'le': 'le', 'gt': 'gt', 'ge': 'ge', 'eq': 'eq', 'ne': 'ne'}
_REFLECTED = ('add', 'mul')  # what does the same from the right
_VIEWS = ('T', 'data')
_inside = threading.local()
_patched = []


def _convert(result, kind):
    """The result with tensors as objects of this class, also in lists and tuples."""
    if isinstance(result, Tensor):
        return result if isinstance(result, kind) else result.as_subclass(kind)
    if isinstance(result, (tuple, list)) and not isinstance(result, _C.Size):
        return type(result)([_convert(part, kind) for part in result])
    return result


def _torch_function(cls, func, types, args=(), kwargs=None):
    """Computes as if the arguments were plain tensors. The results are of the class."""
    if not all(issubclass(cls, kind) for kind in types):
        return NotImplemented
    earlier, _inside.plain = getattr(_inside, 'plain', False), True
    try:
        result = func(*args, **(kwargs or {}))
    finally:
        _inside.plain = earlier
    return result if cls is Tensor else _convert(result, cls)


def _kinds_of(args):
    """The classes among the arguments that want to be asked, derived ones first."""
    kinds = []
    for arg in args:
        for part in arg if type(arg) in (tuple, list) else (arg,):
            kind = type(part)
            if kind is not Tensor and hasattr(kind, '_prints_its_class') and kind not in kinds:
                kinds.insert(next((i for i, other in enumerate(kinds) if issubclass(kind, other)), len(kinds)), kind)
    return kinds


def _ask(function, args, kwargs):
    kinds = [] if getattr(_inside, 'plain', False) else _kinds_of((*args, *kwargs.values()))
    if not kinds:
        return function(*args, **kwargs)
    for kind in kinds:
        result = kind.__torch_function__(function, tuple(kinds), args, kwargs)
        if result is not NotImplemented:
            return result
    names = ', '.join(str(kind) for kind in kinds)
    raise TypeError(f"no implementation found for 'torch.{function.__name__}' on types that implement __torch_function__: "
                    f'[{names}]')


def _asking(function):
    @functools.wraps(function)
    def asks(*args, **kwargs):
        return _ask(function, args, kwargs)
    return asks


def _function_of(name, value):
    """What __torch_function__ hears of a method: an operator is the operation of that name."""
    return getattr(Tensor, _OPERATORS.get(name.strip('_'), '') if name.startswith('__') else '', value)


def _reflected(name, value):
    """other - self, where the other one is a tensor, is Tensor.sub."""
    plain = getattr(Tensor, _OPERATORS.get(name[3:-2], ''), None)

    def asks(self, other):
        if plain and (isinstance(other, Tensor) or name[3:-2] in _REFLECTED):
            return _ask(plain, (other, self) if isinstance(other, Tensor) else (self, other), {})
        return _ask(value, (self, other), {})
    return asks


def _is_reflected(name):
    return name.startswith('__r') and name[3:-2] in (*_OPERATORS, 'pow', 'floordiv', 'mod', 'and', 'or', 'xor')


def _dress(kind):
    for name, value in vars(Tensor).items():
        if name in _KEPT or not callable(value) or name in kind.__dict__:
            continue
        setattr(kind, name, _reflected(name, value) if _is_reflected(name) else _asking(_function_of(name, value)))
    for name in _VIEWS:
        if name not in kind.__dict__:
            getter = vars(Tensor)[name]
            setattr(kind, name, property(_asking(getter.__get__), getter.__set__ if name == 'data' else None))


def _patch_functions():
    """Functions of the module ask too from now on."""
    import torch
    from torch.nn import functional
    for module, names in ((torch, [*_C.operations, 'cat', 'stack']), (functional, list(vars(functional)))):
        for name in names:
            function = getattr(module, name, None)
            if callable(function) and not isinstance(function, type) and not name.startswith('_'):
                setattr(module, name, _asking(function))


def _init_subclass(cls, **kwargs):
    """A program derives a class. Parameters stay plain, unless they have a __torch_function__ of their own."""
    if issubclass(cls, Parameter) and '__torch_function__' not in cls.__dict__:
        return
    cls._prints_its_class = True
    _dress(cls)
    if not _patched:
        _patched.append(True)
        _patch_functions()


Tensor.as_subclass = lambda self, cls: _C._as_subclass(self, cls)
Tensor._make_subclass = staticmethod(_C._make_subclass)
Tensor.__torch_function__ = classmethod(_torch_function)
Tensor.__init_subclass__ = classmethod(_init_subclass)

# SPDX-License-Identifier: LGPL-2.1-or-later
"""torch.ops.aten: operations as objects with a name, for those who watch their calls."""
import operator
import types

from torch import _C

__all__ = ['OpOverload', 'OpOverloadPacket', 'aten', 'called', 'overload', 'profiler']

# Operators whose operations have other names.
_OPERATORS = {'iadd': 'add_', 'isub': 'sub_', 'imul': 'mul_', 'truediv': 'div', 'itruediv': 'div_', 'mod': 'remainder',
              'floordiv': 'floor_divide', 'invert': 'bitwise_not'}
# What an overload is called, unless it is `default`.
_WITH_TENSOR = 'add sub mul div add_ sub_ mul_ div_ remainder floor_divide slice eq ne lt le gt ge'.split()
_OVERLOADS = {**dict.fromkeys(_WITH_TENSOR, 'Tensor'),
              'pow': 'Tensor_Scalar', 'select': 'int', 'var_mean': 'correction', 'var': 'correction', 'std': 'correction'}


class OpOverloadPacket:
    """All operations of one name."""

    def __init__(self, name):
        self.__name__, self._qualified_op_name = name, 'aten::' + name

    def __getattr__(self, name):
        if name.startswith('__'):
            raise AttributeError(name)
        return self.__dict__.setdefault(name, OpOverload(self, name))

    def __call__(self, *args, **kwargs):
        return _function(self.__name__)(*args, **kwargs)

    def __repr__(self):
        return f"<OpOverloadPacket(op='aten.{self.__name__}')>"

    def __str__(self):
        return 'aten.' + self.__name__


class OpOverload:
    """One of them. Calling it calls the operation."""

    def __init__(self, packet, overload):
        self.overloadpacket, self._overloadname = packet, overload
        self.__name__ = f'{packet.__name__}.{overload}'

    def name(self):
        end = '' if self._overloadname == 'default' else '.' + self._overloadname
        return self.overloadpacket._qualified_op_name + end

    def __call__(self, *args, **kwargs):
        return self.overloadpacket(*args, **kwargs)

    def __repr__(self):
        return f"<OpOverload(op='aten.{self.overloadpacket.__name__}', overload='{self._overloadname}')>"

    def __str__(self):
        return 'aten.' + self.__name__


class _Namespace:
    def __getattr__(self, name):
        if name.startswith('__'):
            raise AttributeError(name)
        return self.__dict__.setdefault(name, OpOverloadPacket(name))


OpOverload.__module__ = OpOverloadPacket.__module__ = 'torch._ops'
aten = _Namespace()


def _function(name):
    for place in (_C.Tensor, _C):
        if hasattr(place, name):
            return getattr(place, name)
    raise AttributeError(f"'_OpNamespace' 'aten' object has no attribute '{name}'")


def _of_matrices(word, args):
    """PyTorch's name for a product, which goes by the number of dimensions."""
    if word == 'linear':
        return 'addmm' if len(args) > 2 and args[2] is not None else 'mm'
    dims = tuple(len(a.shape) for a in args[:2])
    return {(1, 1): 'dot', (2, 1): 'mv', (2, 2): 'mm', (3, 3): 'bmm'}.get(dims, word)


def called(name):
    """(the operation's name, what to call) for a call that the engine announces by this name."""
    kind, _, word = name.rpartition('.')
    return _OPERATORS.get(word, word), kind and getattr(operator, word, None) or _function(word)


def overload(name, args):
    """The operation that PyTorch would run for this call."""
    word, _ = called(name)
    word = _of_matrices(word, args) if word in ('matmul', 'linear') else word
    return getattr(getattr(aten, word), _OVERLOADS.get(word, 'default'))


def _enter(name, args=None):
    from torch.autograd.profiler import record_function
    return record_function(name, args).__enter__()


profiler = types.SimpleNamespace(_record_function_enter=_enter,
                                 _record_function_exit=lambda handle: handle.__exit__(None, None, None))

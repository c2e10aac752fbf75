# SPDX-License-Identifier: LGPL-2.1-or-later
"""Unpickles what PyTorch has pickled, and runs no code of the file: it knows a few names, and calls only these.

Python's own unpickler can allocate without a limit, and overflow the stack. So this one lacks the opcodes of which no
saved tensor needs any, and looks at keys before they are hashed.
"""
import collections
import io
import pickle
import sys

from torch import _C
from torch.nn.parameter import Parameter
from torch.serialization import _storages as storages

_REFUSED = ('Weights only load failed. Unsupported {}: {} was not an allowed global by default. Tapedeck runs no code of a '
            'file.')
_OPCODES = ('ADDITEMS APPEND APPENDS BINBYTES BINBYTES8 BINFLOAT BINGET BININT BININT1 BININT2 BINPERSID BINPUT BINUNICODE '
            'BINUNICODE8 BUILD EMPTY_DICT EMPTY_LIST EMPTY_SET EMPTY_TUPLE FRAME FROZENSET GLOBAL LONG1 LONG4 LONG_BINGET '
            'LONG_BINPUT MARK MEMOIZE NEWFALSE NEWOBJ NEWTRUE NONE POP POP_MARK PROTO REDUCE SETITEM SETITEMS SHORT_BINBYTES '
            'SHORT_BINUNICODE STACK_GLOBAL STOP TUPLE TUPLE1 TUPLE2 TUPLE3').split()
_DEEPEST_KEY = 8
_SCALARS = (str, int, float, complex, bytes, type(None), _C.dtype, _C.device, _C.Tensor)


def _checked_key(key, depth=0):
    """Hashing a tuple of tuples of tuples overflows the stack if it goes deep enough."""
    if isinstance(key, (tuple, frozenset)) and depth < _DEEPEST_KEY:
        for part in key:
            _checked_key(part, depth + 1)
    elif not isinstance(key, _SCALARS):
        raise pickle.UnpicklingError(f'a key of a dict or set in the file is a {type(key).__name__}')
    return key


def _ordered(pairs=()):
    return collections.OrderedDict((_checked_key(key), value) for key, value in pairs)


def _set(items=()):
    return set(map(_checked_key, items))


def _frozenset(items=()):
    return frozenset(map(_checked_key, items))


def _encode(text, codec):
    """How protocol 2 writes bytes."""
    if codec != 'latin1':
        raise pickle.UnpicklingError('bytes in the file have a strange encoding')
    return text.encode('latin1')


def _tensor_v3(storage, offset, size, stride, requires_grad, hooks=None, dtype=None, metadata=None):
    if not isinstance(storage, Stored):
        raise pickle.UnpicklingError('a tensor in the file has no storage')
    return storage.tensor(dtype or storage.dtype, offset, size, stride).requires_grad_(bool(requires_grad))


def _tensor_v2(storage, offset, size, stride, requires_grad, hooks=None, metadata=None):
    return _tensor_v3(storage, offset, size, stride, requires_grad)


def _parameter(data, requires_grad, hooks=None):
    return Parameter(data, bool(requires_grad))


def _with_attributes(tensor, state):
    if not isinstance(tensor, _C.Tensor) or not isinstance(state, dict):
        raise pickle.UnpicklingError('attributes in the file belong to no tensor')
    tensor.__dict__.update({name: value for name, value in state.items() if isinstance(name, str)})
    return tensor


def _parameter_with(data, requires_grad, hooks, state):
    return _with_attributes(_parameter(data, requires_grad), state)


def _of_type(rebuild, kind, arguments, state):
    if rebuild not in _REBUILDERS or kind not in (_C.Tensor, Parameter):
        raise pickle.UnpicklingError('a tensor in the file is of a strange class')
    if isinstance(state, tuple):
        state = state[0] or {}
    return _with_attributes(rebuild(*arguments), state)


_REBUILDERS = _tensor_v2, _tensor_v3, _parameter
_NAMES = {'collections.OrderedDict': _ordered, '__builtin__.set': _set, 'builtins.set': _set,
          '__builtin__.frozenset': _frozenset, 'builtins.frozenset': _frozenset, '_codecs.encode': _encode,
          '__builtin__.complex': complex, 'builtins.complex': complex, 'torch.Size': _C.Size, 'torch.device': _C.device,
          'torch.Tensor': _C.Tensor, 'torch.nn.parameter.Parameter': Parameter,
          'torch._utils._rebuild_tensor_v2': _tensor_v2, 'torch._utils._rebuild_tensor_v3': _tensor_v3,
          'torch._utils._rebuild_parameter': _parameter, 'torch._utils._rebuild_parameter_with_state': _parameter_with,
          'torch._tensor._rebuild_from_type_v2': _of_type, 'torch.storage.UntypedStorage': storages.UNTYPED,
          **{f'torch.{name}': kind for name, kind in storages.KINDS.items()},
          **{str(dtype): dtype for dtype in storages.OF_DTYPE}}
_CALLABLE = tuple(value for value in _NAMES.values() if callable(value) and value not in (_C.Tensor, Parameter))


class Stored:
    """A storage of the file, once it is read."""

    def __init__(self, memory, dtype, device):
        self.memory, self.dtype, self.device = memory, dtype, device

    def tensor(self, dtype, offset, size, stride):
        if dtype is None:
            raise pickle.UnpicklingError('the engine does not know the dtype of a tensor in the file')
        tensor = self.memory.tensor(dtype, offset, tuple(size), tuple(stride))
        return tensor if self.device.type == 'cpu' else tensor.to(self.device)


def _module_class(module, name):
    """A class of modules that the program has already, or None."""
    from torch.nn import Module
    found = sys.modules.get(module)
    for part in name.split('.'):
        found = getattr(found, part, None)
    return found if isinstance(found, type) and issubclass(found, Module) else None


class Unpickler(pickle._Unpickler):
    """`stored(kind, key, location, count)` gives a Stored. Whole modules are only loaded if `weights_only` is false."""

    dispatch = {ord(getattr(pickle, name)): pickle._Unpickler.dispatch[ord(getattr(pickle, name))] for name in _OPCODES}

    def __init__(self, data, stored, weights_only):
        super().__init__(io.BytesIO(data))
        self._stored, self._weights_only = stored, weights_only

    def find_class(self, module, name):
        found = _NAMES.get(f'{module}.{name}')
        if found is None and not self._weights_only:
            found = _module_class(module, name)
        if found is None:
            raise pickle.UnpicklingError(_REFUSED.format('global', f'GLOBAL {module}.{name}'))
        return found

    def persistent_load(self, words):
        kind, key, location, count = (words[1:] if isinstance(words, tuple) and len(words) == 5 else (None,) * 4)
        if not isinstance(kind, storages.Kind) or not isinstance(key, str) or not isinstance(count, int):
            raise pickle.UnpicklingError('a reference to a storage in the file is wrong')
        return self._stored(kind, key, location, count)

    def load_reduce(self):
        arguments = self.stack.pop()
        function = self.stack[-1]
        if not any(function is known for known in _CALLABLE) or not isinstance(arguments, tuple):
            raise pickle.UnpicklingError(_REFUSED.format('call', repr(function)))
        self.stack[-1] = function(*arguments)

    def load_newobj(self):
        arguments = self.stack.pop()
        kind = self.stack.pop()
        if kind is _ordered:
            self.append(collections.OrderedDict())
        elif isinstance(kind, type) and kind not in _NAMES.values() and not arguments:
            self.append(object.__new__(kind))
        else:
            raise pickle.UnpicklingError(_REFUSED.format('class', repr(kind)))

    def load_build(self):
        state = self.stack.pop()
        if not isinstance(state, dict) or not self._is_built(self.stack[-1]):
            raise pickle.UnpicklingError(_REFUSED.format('state', type(self.stack[-1]).__name__))
        if not isinstance(self.stack[-1], collections.OrderedDict) and '_named' not in state:
            raise pickle.UnpicklingError('PyTorch has saved this module as a whole; save its state_dict() instead')
        self.stack[-1].__dict__.update(state)

    def _is_built(self, object):
        from torch.nn import Module
        return isinstance(object, collections.OrderedDict) or not self._weights_only and isinstance(object, Module)

    def load_setitem(self):
        _checked_key(self.stack[-2])
        super().load_setitem()

    def load_setitems(self):
        for key in self.stack[::2]:
            _checked_key(key)
        super().load_setitems()

    def load_additems(self):
        for item in self.stack:
            _checked_key(item)
        super().load_additems()

    def load_frozenset(self):
        for item in self.stack:
            _checked_key(item)
        super().load_frozenset()

    for _name, _function in (('REDUCE', load_reduce), ('NEWOBJ', load_newobj), ('BUILD', load_build),
                             ('SETITEM', load_setitem), ('SETITEMS', load_setitems), ('ADDITEMS', load_additems),
                             ('FROZENSET', load_frozenset)):
        dispatch[ord(getattr(pickle, _name))] = _function

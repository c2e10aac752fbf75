# SPDX-License-Identifier: LGPL-2.1-or-later
"""Forward mode. A dual tensor has a primal and a tangent, and what is computed of dual tensors has a tangent too.

No operation has a formula for this. A tangent is computed when somebody asks for it, from the graph: the gradients of the
dual tensors are linear in the gradient of the result, and the derivative of that is the tangent. So a dual tensor requires
grad as long as its level lasts, and what is computed without grad mode has no tangent.
"""
import weakref
from typing import NamedTuple, Optional

from torch import _C
from torch._C import Tensor
from torch.autograd.grad_mode import Mode, enable_grad

__all__ = ['UnpackedDualTensor', 'dual_level', 'enter_dual_level', 'exit_dual_level', 'make_dual', 'unpack_dual']

_current_level = -1
_enabled = True
_notes = weakref.WeakSet()  # all that there are
_pulling = False


class _Notes:
    """What is known of a node's outputs by number. It lies with the node, so that tangents go when the tensors do."""

    def __init__(self):
        self.tangents = {}  # of dual tensors, and of results that somebody asked for
        self.roots = []  # the outputs that are dual tensors, or what a jvp has computed
        _notes.add(self)

    def clear(self):
        self.tangents.clear()
        self.roots.clear()


_KEY = 'forward_ad'


def _notes_of(node):
    """The notes of a node, or None."""
    return node.metadata.get(_KEY) if _notes else None


def _make_notes(node):
    return node.metadata.setdefault(_KEY, _Notes()) if _notes_of(node) is None else _notes_of(node)


def _is_root(node):
    notes = _notes_of(node)
    return notes is not None and bool(notes.roots)


def _tangent_at(node, number):
    notes = _notes_of(node)
    return notes.tangents.get(number) if notes else None


def enter_dual_level():
    """Begins a level. There can be one at a time."""
    global _current_level
    if _current_level >= 0:
        raise RuntimeError('Nested forward mode AD is not supported at the moment')
    _current_level = 0
    _C.set_tangent_teller(_told)
    return _current_level


def exit_dual_level(*, level=None):
    """Ends the level: the tangents of all tensors are gone."""
    global _current_level
    if level is not None and level != _current_level:
        raise RuntimeError('Trying to exit a forward AD level that was not the last one that was created. This is not '
                           'supported.')
    _current_level = -1
    _C.set_tangent_teller(None)
    for notes in list(_notes):
        notes.clear()


class dual_level(Mode):
    """A level for the length of a with block or of each call of a decorated function."""

    def __enter__(self):
        return enter_dual_level()

    def __exit__(self, *exception):
        exit_dual_level()


class UnpackedDualTensor(NamedTuple):
    """What unpack_dual returns. The tangent is None if the tensor is not dual."""
    primal: Tensor
    tangent: Optional[Tensor]


def _edge_of(tensor):
    node, number = _C.gradient_edge(tensor)
    return node, number


def _check_tangent(tensor, tangent):
    for what, one in (('primal', tensor), ('tangent', tangent)):
        if not (one.is_floating_point() or one.is_complex()):
            raise ValueError(f'Expected {what} to be floating point or complex, but got: {one.dtype}')
    check_shape(tensor, tangent)


def check_shape(tensor, tangent):
    if tensor.shape != tangent.shape:
        raise RuntimeError('Trying to set a forward gradient that has a different size than that of the original Tensor, '
                           f'this is not supported. Tensor is of size {list(tensor.shape)} while the given forward gradient '
                           f'is of size {list(tangent.shape)}.')


def _lie_alike(tensor, tangent):
    """Whether both have the same strides, and as much memory: then what can be done to one can be done to the other."""
    same_strides = all(a == b or n < 2 for a, b, n in zip(tensor.stride(), tangent.stride(), tensor.shape))
    same_offset = tensor.storage_offset() == tangent.storage_offset() or tensor.numel() == 0
    return same_strides and same_offset and _room(tensor) == _room(tangent)


def _room(tensor):
    return tensor.untyped_storage().nbytes() // tensor.element_size()


def _laid_out_like(tensor, tangent):
    """The tangent in memory like the tensor's."""
    memory = _C.zeros(_room(tensor), dtype=tangent.dtype, device=tangent.device)
    return memory.as_strided(tensor.shape, tensor.stride(), tensor.storage_offset()).copy_(tangent)


def make_dual(tensor, tangent, *, level=None):
    """A tensor with the same elements, and with this tangent."""
    if _current_level < 0:
        raise RuntimeError('Trying to create a dual Tensor for forward AD but no level exists, make sure to '
                           'enter_dual_level() first.')
    _check_tangent(tensor, tangent)
    if has_tangent(tensor):
        raise RuntimeError('Making a dual Tensor based on a Tensor that already has a forward gradient at the same level 0 is '
                           'not supported.')
    if has_tangent(tangent):
        raise RuntimeError('Setting a forward grad that itself has a forward gradient at the same level0 is not supported.')
    dual = _C.forward_root(tensor)
    set_root(dual, tangent if tensor.is_sparse or _lie_alike(tensor, tangent) else _laid_out_like(tensor, tangent))
    return dual


def set_root(tensor, tangent):
    """Gives the tensor a tangent, or none, whatever it was computed of."""
    node, number = _edge_of(tensor)
    notes = _make_notes(node)
    notes.tangents[number] = None if tangent is None else _not_dual(tangent)
    notes.roots.append(number)


def _not_dual(tensor):
    """The same elements with the same history, without a tangent. A tangent has none, nor has a primal."""
    if not has_tangent(tensor):
        return tensor
    if not _reached(tensor.grad_fn)[1]:
        return tensor.detach()
    tensor = tensor.view_as(tensor)
    set_root(tensor, None)
    return tensor


def ends_at(node):
    """Whether gradients end at this node now: somebody has given its results tangents."""
    return _pulling and _is_root(node)


def _reached(node):
    """(the duals that a node's graph begins with, whether it begins with something else too)"""
    found, others, seen, left = {}, False, set(), [(node, False)]
    while left:
        node, is_below = left.pop()
        if node is None or (node, is_below) in seen:
            continue
        seen.add((node, is_below))
        if not is_below and _is_root(node):
            notes = _notes_of(node)
            found.update(dict.fromkeys((node, n) for n in notes.roots if notes.tangents[n] is not None))
            is_below = True
        others = others or not node.next_functions
        left += [(below, is_below) for below, _ in node.next_functions]
    return list(found), others


def _pull(tensor, edges, vector):
    from torch.autograd import grad
    from torch.autograd.graph import GradientEdge
    global _pulling
    before = _C.forward_root_stop(True)
    _pulling = True
    try:
        return grad(tensor, [GradientEdge(*edge) for edge in edges], vector, create_graph=True, allow_unused=True)
    finally:
        _pulling = False
        _C.forward_root_stop(before)


@enable_grad()
def _compute(tensor, edges, others):
    """The derivative of the duals' gradients, by the gradient of the tensor, times the duals' tangents."""
    from torch.autograd import grad
    vector = _C.zeros_like(tensor).requires_grad_()
    pairs = [(g, _tangent_at(*edge)) for g, edge in zip(_pull(tensor, edges, vector), edges) if g is not None]
    pairs = [(g, t) for g, t in pairs if t is not None and g.requires_grad]
    if not pairs:
        return None
    keep = others or any(t.requires_grad for _, t in pairs)
    found, = grad([g for g, _ in pairs], [vector], [t.to(g.dtype) for g, t in pairs], create_graph=keep, allow_unused=True)
    return found.clone() if any(found is t for _, t in pairs) else found


def unpack_dual(tensor, *, level=None):
    """(primal, tangent). The primal is a view of the tensor."""
    if _current_level < 0 or not tensor.requires_grad or tensor.grad_fn is None:
        return UnpackedDualTensor(tensor, None)
    edge = _edge_of(tensor)
    edges, others = _reached(tensor.grad_fn)
    notes = _notes_of(edge[0])
    if edges and (notes is None or edge[1] not in notes.tangents):
        found = _compute(tensor, edges, others)
        if found is not None:
            _make_notes(edge[0]).tangents[edge[1]] = _not_dual(found)
    return UnpackedDualTensor(_not_dual(tensor) if edges else tensor.view_as(tensor), _tangent_at(*edge))


def _told(tensor):
    """What repr says of a dual tensor: (whether it has a history besides, its tangent as text), or None."""
    primal, tangent = unpack_dual(tensor)
    return None if tangent is None else (primal.requires_grad, f'tangent={tangent}')


def refuse_out(name, args):
    """The error of a function with out= one of whose tensors has a tangent."""
    if any(map(has_tangent, args)):
        raise NotImplementedError(f'Trying to use forward AD with {name}_out that does not support it because it is an out= '
                                  'function')


def has_tangent(tensor):
    """Whether it is dual, or computed of dual tensors."""
    return (_current_level >= 0 and isinstance(tensor, Tensor) and tensor.grad_fn is not None
            and bool(_reached(tensor.grad_fn)[0]))


def _is_fwd_grad_enabled():
    return _enabled


class _set_fwd_grad_enabled(Mode):
    """Whether forward mode is on: at once, and as a context manager."""

    def __init__(self, mode):
        super().__init__()
        self._before, self._wanted = _enabled, mode
        self._set(mode)

    _get = staticmethod(lambda: _enabled)

    @staticmethod
    def _set(mode):
        global _enabled
        _enabled = mode

    def __enter__(self):
        self._set(self._wanted)

    def clone(self):
        return type(self)(self._wanted)

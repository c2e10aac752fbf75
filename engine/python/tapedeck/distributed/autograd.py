# SPDX-License-Identifier: LGPL-2.1-or-later
"""torch.distributed.autograd: a pass whose gradients go into a context and not into .grad.

There is one worker, in one process. rpc.py sends from it to itself, through the same send and receive functions as in
PyTorch. So the local half of PyTorch's distributed engine runs. PyTorch has each delivery on a thread of its own; here
the thread that runs the receive function delivers.
"""
import operator
import threading

from tapedeck import _C

__all__ = ['backward', 'context', 'get_gradients', 'is_available']

_contexts = {}  # by number, from 0
_local = threading.local()  # .context: the number of the thread's context
_worker = None  # this process's number, once rpc.init_rpc was called
_made = 0


def _init(worker):
    global _worker
    _worker = worker


def is_available():
    return True


def _check_init():
    if _worker is None:
        raise RuntimeError('Need to initialize distributed autograd using torch.distributed.autograd.init()')


def _find(context_id):
    _check_init()
    if context_id not in _contexts:
        raise RuntimeError(f'Could not find autograd context with id: {context_id}')
    return _contexts[context_id]


def _current_context():
    """The context of this thread, or None."""
    return _contexts.get(getattr(_local, 'context', None))


class context:
    """with context() as context_id: ..."""

    def __enter__(self):
        global _made
        _check_init()
        if _current_context() is not None:
            raise RuntimeError('Already have an autograd context id for this thread.')
        self._id = _local.context = _made
        _made += 1
        _contexts[self._id] = _C.DistAutogradContext(self._id, _worker)
        return self._id

    def __exit__(self, *exception):
        _local.context = None
        _contexts.pop(self._id).release()


def _refuse(signature, *arguments):
    shown = ', '.join(map(repr, arguments))
    raise TypeError(f'{signature[:signature.index("(")]}(): incompatible function arguments. The following argument types '
                    f'are supported:\n    1. {signature[signature.index("("):]}\n\nInvoked with: {shown}')


def _is_index(number):
    try:
        operator.index(number)
    except TypeError:
        return False
    return True


def backward(context_id, roots, retain_graph=False):
    """Runs the pass from the roots, which have one element each, and adds what leaves get to the context."""
    if not _is_index(context_id) or not isinstance(roots, (list, tuple)) or \
            not all(isinstance(root, _C.Tensor) for root in roots):
        _refuse('backward(contextId: typing.SupportsInt | typing.SupportsIndex, roots: collections.abc.Sequence[torch.Tensor], '
                'retain_graph: bool = False) -> None', context_id, roots, *([retain_graph] if retain_graph else []))
    _find(operator.index(context_id)).backward(tuple(roots), bool(retain_graph))


def get_gradients(context_id):
    """The gradients that the context has: a dict from leaves."""
    if not _is_index(context_id):
        _refuse('get_gradients(context_id: typing.SupportsInt | typing.SupportsIndex) -> dict', context_id)
    return _find(operator.index(context_id)).gradients()

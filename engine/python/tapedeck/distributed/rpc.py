# SPDX-License-Identifier: LGPL-2.1-or-later
"""torch.distributed.rpc in a world of one worker, which calls functions of its own process.

The arguments and results of a call are copies, as if they had been sent. Within a context of distributed autograd the
copies have a history that leads to the originals.
"""
import collections
import traceback

from tapedeck import _C
from tapedeck.distributed import autograd

__all__ = ['get_worker_info', 'init_rpc', 'is_available', 'rpc_sync', 'shutdown', 'WorkerInfo']

WorkerInfo = collections.namedtuple('WorkerInfo', 'id name')
WorkerInfo.__repr__ = lambda self: f'WorkerInfo(id={self.id}, name={self.name})'
_own = None  # the WorkerInfo of this process, between init_rpc and shutdown


def is_available():
    return True


def init_rpc(name, backend=None, rank=-1, world_size=None, rpc_backend_options=None):
    """Makes this process the only worker. Tapedeck's engine has no other: a larger world is refused."""
    global _own
    if _own is not None:
        raise RuntimeError('RPC is already initialized')
    if world_size not in (None, 1) or rank not in (-1, 0):
        raise ValueError(f'init_rpc: Tapedeck has a world of one worker, of rank 0; not rank {rank} of {world_size}')
    _own = WorkerInfo(0, name)
    autograd._init(0)


def _check_init():
    if _own is None:
        raise RuntimeError('RPC has not been initialized. Call torch.distributed.rpc.init_rpc first.')


def shutdown(graceful=True, timeout=0):
    global _own
    _check_init()
    _own = None


def _find(to):
    _check_init()
    if to not in (_own, _own.id, _own.name):
        raise RuntimeError(f'name:{_own.name},rank:{_own.id} could not find destination {"name" if isinstance(to, str) else "id"} '
                           f'{to}')
    return _own


def get_worker_info(worker_name=None):
    _check_init()
    return _own if worker_name is None else _find(worker_name)


def _copied(value, copies):
    """The value with a copy in place of each tensor; copies gets (tensor, copy)."""
    if isinstance(value, _C.Tensor):
        copies.append((value, value.detach().clone()))
        return copies[-1][1]
    if type(value) in (list, tuple):
        return type(value)(_copied(item, copies) for item in value)
    if type(value) is dict:
        return {key: _copied(item, copies) for key, item in value.items()}
    return value


def _send(value):
    """What arrives of a value."""
    copies = []
    arrived = _copied(value, copies)
    copies = [(tensor, copy) for tensor, copy in copies if tensor.requires_grad]
    context = autograd._current_context()
    if context is not None and copies:
        context.loop_back(tuple(tensor for tensor, _ in copies), tuple(copy for _, copy in copies))
    else:
        for _, copy in copies:
            copy.requires_grad_()
    return arrived


def rpc_sync(to, func, args=None, kwargs=None, timeout=-1.0):
    """Calls func on a worker, which can only be this one, and returns what it returned."""
    worker = _find(to)
    args, kwargs = _send((tuple(args or ()), dict(kwargs or {})))
    try:
        result = func(*args, **kwargs)
    except Exception as problem:
        raise type(problem)(f'On {worker}:\n{problem!r}\n{traceback.format_exc()}') from None
    return _send(result)

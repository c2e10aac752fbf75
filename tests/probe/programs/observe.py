# SPDX-License-Identifier: LGPL-2.1-or-later
"""observe.py OUT ORACLE.so SCRIPT [ARGUMENT...]: runs a script as `python SCRIPT` would, and writes to OUT as JSON what
PyTorch says of its backward passes, without touching what the script prints:

- `calls`: each call of backward() or grad(), in the order in which they began: the thread; names and number of edges of
  the graph as a walk over next_functions finds it; what was raised; and a hash of every gradient afterwards
- `order`: the nodes in the order in which each thread ran them, from RecordFunction; by thread
"""
import collections
import ctypes
import hashlib
import json
import os
import runpy
import sys
import threading

import torch

out, oracle_path = sys.argv[1:3]
oracle = ctypes.CDLL(oracle_path)
calls = []


def hash_of(tensors):
    digest = hashlib.sha256()
    for tensor in tensors:
        if tensor is None:
            digest.update(b'none')
            continue
        tensor = tensor.detach()
        tensor = (tensor.to_dense() if tensor.is_sparse else tensor).to('cpu').contiguous()
        digest.update(repr((tuple(tensor.shape), tensor.dtype)).encode())
        digest.update(tensor.numpy().tobytes())
    return digest.hexdigest()


def walk(roots):
    """All nodes that lead out of the roots, in a fixed order, and the number of edges between them."""
    roots = [root for root in roots if root is not None]
    seen, order, n_edges = set(roots), list(dict.fromkeys(roots)), 0
    for node in order:
        for next_node, _ in node.next_functions:
            if next_node is None:
                continue
            n_edges += 1
            if next_node not in seen:
                seen.add(next_node)
                order.append(next_node)
    return order, n_edges


def watch(function):
    def watched(tensors, *arguments, **options):
        roots = [tensors] if isinstance(tensors, torch.Tensor) else list(tensors)
        nodes, n_edges = walk([tensor.grad_fn for tensor in roots])
        call = {'thread': threading.get_native_id(), 'n_roots': len(roots), 'n_edges': n_edges, 'raised': None,
                'nodes': sorted(collections.Counter(node.name() for node in nodes).items())}
        calls.append(call)
        try:
            result = function(tensors, *arguments, **options)
        except BaseException as problem:
            call['raised'] = type(problem).__name__
            raise
        finally:
            leaves = [node.variable.grad for node in nodes if hasattr(node, 'variable')]
            call['leaves'] = hash_of(leaves)
            call['n_leaves'] = sum(grad is not None for grad in leaves)
        call['result'] = hash_of(result if isinstance(result, tuple) else [])
        return result
    return watched


def write():
    order = collections.defaultdict(list)
    oracle.oracle_write((out + '.oracle').encode())
    with open(out + '.oracle') as file:
        for line in file:
            thread, sequence_nr, name = line.rstrip('\n').split(' ', 2)
            order[thread].append(name)
    with open(out, 'w') as file:
        json.dump({'version': torch.__version__, 'calls': calls, 'order': list(order.values())}, file)


torch.autograd.backward = watch(torch.autograd.backward)
torch.autograd.grad = watch(torch.autograd.grad)
oracle.oracle_begin()
sys.argv = sys.argv[3:]
sys.path[0] = sys.argv[0].rpartition('/')[0]
try:
    runpy.run_path(sys.argv[0], run_name='__main__')
finally:
    write()
# Where threads of the engine's pool or of devices wait, PyTorch 2.13 sometimes aborts while the interpreter
# ends, by itself as under a recorder: that is not what is compared.
sys.stdout.flush()
os._exit(0)

# SPDX-License-Identifier: LGPL-2.1-or-later
"""What test_distributed.py runs on both engines: distributed autograd in a world of one worker. Prints what it sees."""
import os, socket, sys
import torch
import torch.distributed.autograd as dist_autograd
import torch.distributed.rpc as rpc

if not hasattr(torch, 'mark'):  # PyTorch's workers find each other over TCP
    with socket.socket() as free:
        free.bind(('127.0.0.1', 0))
        os.environ.update(MASTER_ADDR='127.0.0.1', MASTER_PORT=str(free.getsockname()[1]))


def told(call):
    """What a call returned or raised: the first line of its text."""
    try:
        return call()
    except Exception as problem:
        return f'{type(problem).__name__}: {problem}'.split('\n')[0]


def in_context():
    with dist_autograd.context() as number:
        return number


def several(a, b):
    return a * b, [a + 1], 'word', b


def nested(a):
    return rpc.rpc_sync('worker0', torch.mul, args=(a, 5))


def show(*values):
    print(*[value.tolist() if isinstance(value, torch.Tensor) else value for value in values])


def grads(number, *leaves):
    found = dist_autograd.get_gradients(number)
    show(len(found), *[found[leaf] if leaf in found else None for leaf in leaves], *[leaf.grad for leaf in leaves])


class Fails(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        return a * 1

    @staticmethod
    def backward(ctx, grad):
        raise ValueError('no')


show(told(in_context), told(lambda: dist_autograd.backward(0, [torch.ones(1)])), told(lambda: dist_autograd.get_gradients(0)))
show(told(lambda: rpc.rpc_sync('worker0', torch.add, args=(torch.ones(1), 1))), told(rpc.get_worker_info))
rpc.init_rpc('worker0', rank=0, world_size=1)
show(told(lambda: rpc.init_rpc('worker0', rank=0, world_size=1)), rpc.get_worker_info(), told(in_context), told(in_context))
x, w = torch.tensor([1., 2.], requires_grad=True), torch.tensor([3., 4.], requires_grad=True)
with dist_autograd.context() as number:
    for call in (lambda: dist_autograd.backward(number + 5, [x.sum()]), lambda: dist_autograd.get_gradients(number + 5),
                 lambda: dist_autograd.backward(number, []), lambda: dist_autograd.backward(number, [x]),
                 lambda: dist_autograd.backward(number, [torch.ones(1)]), lambda: dist_autograd.backward(number, [x * 2]),
                 lambda: dist_autograd.backward(number, [torch.ones(1, requires_grad=True)]),
                 lambda: dist_autograd.backward(number, 3), lambda: dist_autograd.backward(number, [x.sum(), 3]),
                 lambda: dist_autograd.backward('a', [x]), lambda: dist_autograd.get_gradients('a'), in_context,
                 lambda: rpc.rpc_sync('worker1', torch.add, args=(x, 1))):
        show(told(call))
    grads(number, x)
with dist_autograd.context() as number:  # without a call
    loss = (x * w).sum()
    dist_autograd.backward(number, [loss, x.sum()], retain_graph=True)
    grads(number, x, w)
    dist_autograd.backward(number, [loss])
    grads(number, x, w)
    show(told(lambda: dist_autograd.backward(number, [loss])))
    grads(number, x, w)
show(told(lambda: dist_autograd.get_gradients(number)))
with dist_autograd.context() as number:  # a call, one of whose results is not used
    seen = []
    handle = x.register_hook(lambda grad: seen.append(grad.tolist()))
    product, (sum_,), word, b = rpc.rpc_sync('worker0', several, args=(x,), kwargs={'b': w})
    show(product, sum_, word, b, product.grad_fn is sum_.grad_fn is b.grad_fn, product.grad_fn.next_functions)
    dist_autograd.backward(number, [(product * 2).sum()])
    grads(number, x, w)
    show(seen)
    handle.remove()
with dist_autograd.context() as number:  # calls within calls
    y = rpc.rpc_sync(rpc.get_worker_info(), nested, args=(x,))
    dist_autograd.backward(number, [(y * y).sum()], retain_graph=True)
    grads(number, x)
    dist_autograd.backward(number, [(y * y).sum()])
    grads(number, x)
with dist_autograd.context() as number:  # an error on the way
    text = told(lambda: dist_autograd.backward(number, [Fails.apply(x).sum()]))
    show(text.rpartition(':')[0].removesuffix(': ValueError'))  # the text of a Python error is not PyTorch's
    grads(number, x)
y = rpc.rpc_sync(0, torch.exp, args=(x,))  # without a context
show(y.is_leaf, y.requires_grad)
rpc.shutdown()
show(told(lambda: rpc.rpc_sync('worker0', torch.add, args=(x, 1))))

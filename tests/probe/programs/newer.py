# SPDX-License-Identifier: LGPL-2.1-or-later
"""What newer engines offer: final callbacks (all versions), hooks on the creation of nodes (2.14) and the addition of a
gradient by a custom function itself (2.15). Prints what PyTorch did, a line of JSON for each; test_newer.py compares."""
import json
import threading

import torch
from torch.autograd import Function, Variable, graph

torch.manual_seed(0)
done = []


def say(what, **facts):
    print(json.dumps({'what': what, **facts}))


def leaf(value):
    return torch.full((3,), float(value), requires_grad=True)


# Final callbacks

queue = getattr(graph, 'queue_callback', Variable._execution_engine.queue_callback)


def first():
    done.append('first')
    queue(second)


def second():
    done.append('second')


def fails():
    done.append('fails')
    raise RuntimeError('a callback fails')


class Queues(Function):
    """Queues callbacks when its gradient comes."""
    @staticmethod
    def forward(ctx, x, callbacks, inner):
        ctx.callbacks, ctx.inner = callbacks, inner
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        if ctx.inner:
            ctx.inner()
        for callback in ctx.callbacks:
            queue(callback)
        return gradient, None, None


def run(*callbacks, inner=None):
    x = leaf(1)
    y = Queues.apply(x, callbacks, inner).sum()
    try:
        y.backward()
    except RuntimeError as error:
        return str(error)


def nested():
    with torch.enable_grad():
        run(first)


run(second, first, second)
run(second, inner=nested)
say('error', text=run(second, fails, first))
thread = threading.Thread(target=run, args=(first,))
thread.start()
thread.join()
say('final', done=done)

# Creation hooks

if hasattr(graph, 'node_creation_hook'):
    created, noted, twice = [], [], []

    def note(node):
        created.append(node)
        noted.append(node.name())

    x = leaf(2)
    model = torch.nn.Linear(3, 2)
    with graph.node_creation_hook(note):
        y = model(x * 2).tanh().sum()
        with graph.node_creation_hook(lambda node: twice.append(node.name())):
            z = (x * 3).sum()
        y.backward()
        gradient, = torch.autograd.grad((x ** 3).sum(), x, create_graph=True)
    z.backward()
    del created[:], y, z, gradient
    say('created', noted=noted, twice=twice)

# Exposed buffers

if hasattr(torch.autograd.function.FunctionCtx, 'input_grad_buffers'):
    exposed, added = [], []

    class Times(Function):
        """x * w. Adds the gradient of x to what waits for it, as far as `how` says."""
        @staticmethod
        def forward(ctx, x, w, how):
            ctx.save_for_backward(x, w)
            ctx.how = how
            return x * w

        @staticmethod
        def backward(ctx, gradient):
            x, w = ctx.saved_tensors
            sums = ctx.input_grad_buffers
            exposed.append(sum(each is not None for each in sums))
            for_x = gradient * w
            if sums[0] is not None and ctx.how != 'leave':
                sums[0].add_(for_x)
                added.append(ctx.how)
                for_x = None if ctx.how == 'all' else for_x * 0.5
            return for_x, gradient * x, None

    def both(how, through=lambda x: x, after=lambda x: 0):
        x, w = leaf(2), leaf(3)
        h = through(x)
        late = after(h)
        loss = Times.apply(h, w, how).sum() + (h * 5).sum() + late
        loss.backward()
        return [x.grad.tolist(), w.grad.tolist()]

    sums = [both(how) for how in ('all', 'some', 'leave')]
    sums.append(both('all', through=lambda x: x.exp()))
    sums.append(both('all', after=lambda x: x.sin().sum()))
    x, w = leaf(2), leaf(3)
    loss = Times.apply(x, w, 'all').sum() + (x * 5).sum()
    sums.append([gradient.tolist() for gradient in torch.autograd.grad(loss, [x, w])])
    alone = leaf(2)
    Times.apply(alone, leaf(3), 'all').sum().backward()
    say('exposed', n=sum(exposed), added=added, sums=sums, alone=alone.grad.tolist())

# SPDX-License-Identifier: LGPL-2.1-or-later
"""ctx.input_grad_buffers: sums that wait for the nodes below a custom function, and to which it may add by itself."""
import threading

from harness import row, text_of


def leaf(torch, value):
    return torch.full((3,), float(value), requires_grad=True)


def times(torch, backward):
    """x * w, whose backward is backward(ctx, gradient): its gradients, or None for the usual ones."""
    class Times(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, w, label):
            ctx.save_for_backward(x, w)
            return x * w

        @staticmethod
        def backward(ctx, gradient):
            x, w = ctx.saved_tensors
            found = backward(ctx, gradient)
            return (gradient * w, gradient * x, None) if found is None else found
    return lambda x, w: Times.apply(x, w, 'label')


def adding(seen):
    """A backward that adds its first gradient to what waits, if something does."""
    def backward(ctx, gradient):
        x, w = ctx.saved_tensors
        sums = ctx.input_grad_buffers
        seen.append([each is not None for each in sums])
        if sums[0] is None:
            return None
        sums[0].add_(gradient * w)
        return None, gradient * x, None
    return backward


def run(torch, backward, through=lambda x: x, later=lambda x: 0, call=lambda loss, x, w: loss.backward(), hook=None):
    """The gradients of a loss in which x has two users, and the function comes last."""
    x, w = leaf(torch, 2), leaf(torch, 3)
    h = through(x)
    late = later(h)
    y = times(torch, backward)(h, w)
    if hook:
        hook(x, y)
    found = call(y.sum() + (h * 5).sum() + late, x, w)
    return [None if each is None else each.tolist() for each in found or (x.grad, w.grad)]


def exposed(events):
    return [[event['event'], event['node_name'], event['input_nr'], event.get('mode'), event['bytes']] for event in events
            if event['event'] == 'buffer_expose' or event['event'] == 'buffer_add' and event['mode'] == 'direct']


@row('E-24', since='2.15', tape=exposed)
def added_to_a_sum(torch):
    """What waits is exposed: of a leaf, of a node, before others add to it, in grad, and twice in a graph that is kept."""
    seen = []
    backward = adding(seen)

    def twice(loss, x, w):
        loss.backward(retain_graph=True)
        loss.backward()

    def alone(loss, x, w):
        return torch.autograd.grad(loss, [w])
    found = [run(torch, backward), run(torch, backward, through=lambda x: x.exp()),
             run(torch, backward, through=lambda x: x.exp(), later=lambda h: h.sin().sum()),
             run(torch, backward, call=lambda loss, x, w: torch.autograd.grad(loss, [x, w])),
             run(torch, backward, call=alone), run(torch, backward, call=twice)]
    x = leaf(torch, 2)
    times(torch, backward)(x, leaf(torch, 3)).sum().backward()
    return found, x.grad.tolist(), seen


@row('E-24', since='2.15', tape=exposed)
def added_and_returned(torch):
    """What the function returns is added as always; hooks see the whole."""
    seen = []

    def backward(ctx, gradient):
        ctx.input_grad_buffers[0].add_(gradient)
        seen.append([type(ctx.input_grad_buffers).__name__, len(ctx.input_grad_buffers)])

    def hook(x, y):
        x.register_hook(lambda gradient: seen.append(gradient.tolist()))
        y.grad_fn.register_prehook(lambda gradients: seen.append('before'))
    return run(torch, backward, hook=hook), seen


@row('E-24', since='2.15', tape=exposed)
def not_exposed(torch):
    """Nothing that somebody else holds, nor an expanded or a sparse one."""
    seen = []

    def twice(ctx, gradient):
        first = ctx.input_grad_buffers
        again = ctx.input_grad_buffers
        seen.append([[each is not None for each in sums] for sums in (first, again)])
        del first, again
        seen.append([each is not None for each in ctx.input_grad_buffers])

    def look(ctx, gradient):
        seen.append([each is not None for each in ctx.input_grad_buffers])
    found = [run(torch, twice)]
    x = leaf(torch, 2)
    (times(torch, look)(x, leaf(torch, 3)).sum() + x.sum()).backward()
    x = torch.ones(3, 3, requires_grad=True)
    rows = torch.nn.functional.embedding(torch.tensor([1, 1]), x, sparse=True)
    (times(torch, look)(x, leaf(torch, 3)).sum() + rows.sum()).backward()
    both = leaf(torch, 2)
    (times(torch, look)(both, both).sum() + (both * 5).sum()).backward()
    return found, seen, both.grad.tolist()


@row('E-24', since='2.15', tape=exposed)
def a_sum_that_is_kept(torch):
    """Whoever keeps it sees no later gradient."""
    kept = []

    def keep(ctx, gradient):
        kept.append(ctx.input_grad_buffers[0])
    return run(torch, keep), [each.tolist() for each in kept], kept[0].requires_grad, kept[0]._version


@row('E-25', since='2.15')
def where_there_are_no_sums(torch):
    """Outside a pass, in another function, in another thread, after the pass."""
    seen = []

    def keep(ctx, gradient):
        seen.append(ctx)
    run(torch, keep)
    other = seen.pop()

    def look(ctx, gradient):
        found = []
        thread = threading.Thread(target=lambda: found.append(text_of(lambda: ctx.input_grad_buffers)))
        thread.start()
        thread.join()
        seen.extend(found)
        seen.append(text_of(lambda: other.input_grad_buffers))
        torch.autograd.graph.queue_callback(lambda: seen.append(text_of(lambda: ctx.input_grad_buffers)))
    run(torch, look)
    y = times(torch, look)(leaf(torch, 2), leaf(torch, 3))
    return seen, text_of(lambda: y.grad_fn.input_grad_buffers), text_of(lambda: other.input_grad_buffers)


@row('E-25', since='2.15')
def passes_without_sums(torch):
    """create_graph, anomaly mode, a post hook of the node, and which of them is told."""
    def look(ctx, gradient):
        ctx.input_grad_buffers

    def hook(x, y):
        y.grad_fn.register_hook(lambda inputs, outputs: None)

    def graph(loss, x, w):
        return torch.autograd.grad(loss, [x, w], create_graph=True)
    texts = [text_of(lambda: run(torch, look, call=graph)), text_of(lambda: run(torch, look, hook=hook)),
             text_of(lambda: run(torch, look, call=graph, hook=hook))]
    with torch.autograd.detect_anomaly():
        return texts + [text_of(lambda: run(torch, look)), text_of(lambda: run(torch, look, call=graph))]


@row('E-25', since='2.15')
def passes_inside(torch):
    """Before a sum was given, a function may call backward; after that no more."""
    seen = []

    def inner():
        z = leaf(torch, 1)
        with torch.enable_grad():
            (z * 2).sum().backward()
        return z.grad.tolist()

    def before(ctx, gradient):
        seen.append(inner())
        return adding(seen)(ctx, gradient)

    def after(ctx, gradient):
        found = adding(seen)(ctx, gradient)
        seen.append(text_of(inner))
        return found

    def nothing(ctx, gradient):
        ctx.input_grad_buffers
        seen.append(inner())
    found = [run(torch, before), run(torch, after)]
    x = leaf(torch, 2)
    times(torch, nothing)(x, leaf(torch, 3)).sum().backward()
    return found, seen, text_of(lambda: run(torch, lambda ctx, gradient: (ctx.input_grad_buffers, inner()) and None)), inner()


@row('E-25', since='2.15')
def a_function_that_fails(torch):
    """It leaves nothing behind."""
    def fails(ctx, gradient):
        ctx.input_grad_buffers[0].add_(1)
        raise ValueError('no')
    return text_of(lambda: run(torch, fails)), run(torch, adding([]))

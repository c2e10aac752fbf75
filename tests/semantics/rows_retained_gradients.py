# SPDX-License-Identifier: LGPL-2.1-or-later
"""Rows H-12 to H-19: retained gradients, writes in place, lifetimes."""
import gc
import threading
import weakref

from harness import row, text_of
from shapes import accumulator, leaf


@row('H-12', expect=[[3.0, 3.0], [6.0, 6.0], True, False, False, None])
def retain_grad(torch):
    x = leaf(torch)
    m = x * 2
    before = m.retains_grad
    m.retain_grad()
    m.retain_grad()
    y = (m * 3).sum()
    y.backward(retain_graph=True)
    first = m.grad
    values = [m.grad.tolist()]
    y.backward()
    x.retain_grad()
    return values + [m.grad.tolist(), m.retains_grad, x.retains_grad, before, None if first is not m.grad else 'same']


@row('H-12')
def retain_grad_with_history(torch):
    x = leaf(torch)
    m = x * 2
    m.retain_grad()
    (m * m * m).sum().backward(create_graph=True)
    return [m.grad.requires_grad, m.grad.tolist()]


@row('H-13')
def retain_without_grad(torch):
    return text_of(torch.ones(2).retain_grad)


def retained(torch, retain_first):
    x = leaf(torch)
    m = x * 2
    if retain_first:
        m.retain_grad()
    m.register_hook(lambda grad: grad * 2)
    if not retain_first:
        m.retain_grad()
    m.grad_fn.register_prehook(lambda grads: (grads[0] * 100,))
    m.register_hook(lambda grad: grad * 2)
    m.sum().backward()
    return [m.grad.tolist(), x.grad.tolist()]


@row('H-14', in_1_13='a retained gradient is one hook among the others, where it was asked for first')
def retained_after_all_tensor_hooks(torch):
    return [retained(torch, True), retained(torch, False)]


@row('H-15', in_1_13='all Python hooks of a tensor are on the node of the first',
     expect=[['new', 1.0], ['old', 4.0], 8.0], expect_1_13=[['old', 2.0], ['new', 4.0], 8.0])
def write_in_place_after_hook(torch):
    a, seen = leaf(torch, 1), []
    b = a.clone()

    def hook(name):
        return lambda grad: (seen.append([name, grad.item()]), grad * 2)[1]
    b.register_hook(hook('old'))
    b.mul_(2)
    b.register_hook(hook('new'))
    b.sum().backward()
    return seen + [a.grad.item()]


@row('H-16')
def retained_follows_writes(torch):
    def run(times):
        x = leaf(torch)
        y = x * 1
        y.retain_grad()
        for _ in range(times):
            y.mul_(2)
        y.sum().backward()
        return [y.grad.tolist(), x.grad.tolist()]
    return [run(0), run(1), run(2)]


@row('H-16', in_1_13='a write into a view leaves the retained gradient where it is')
def retained_follows_writes_into_views(torch):
    def run(write):
        y = leaf(torch, 4) * 1
        y.retain_grad()
        write(y)
        y.sum().backward()
        return y.grad.tolist()

    def both(y):
        y[1:].mul_(2)
        y.mul_(3)
    return [run(lambda y: y[1:].mul_(2)), run(lambda y: y.view(2, 2)[0].fill_(7)), run(both)]


@row('H-17')
def outputs_of_one_node(torch):
    x, seen = leaf(torch, 4), [0, 0, 0]

    def count(i):
        def hook(grad):
            seen[i] += 1
        return hook

    class Split(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1, x * 2

        @staticmethod
        def backward(ctx, first, second):
            return first + second * 2
    a, b = Split.apply(x)
    a.register_hook(count(0))
    b.register_hook(count(1))
    b.register_hook(lambda grad: grad * 3)
    a.mul_(2)
    a.register_hook(count(2))
    (a.sum() + b.sum()).backward()
    return [seen, x.grad.tolist()]


@row('H-18')
def view_of_a_changed_base(torch):
    x, seen = leaf(torch), []
    base = x.clone()
    view = base[0:1]
    view.register_hook(lambda grad: seen.append('old view'))
    base.mul_(2)
    view.register_hook(lambda grad: seen.append('new view'))
    base.sum().backward()
    return [seen, x.grad.tolist()]


@row('H-19', expect=[True, True])
def retained_keeps_nothing(torch):
    def make():
        x = leaf(torch)
        y = x * 2
        y.retain_grad()
        y.mark = Mark()
        z = y.sum()
        return z, weakref.ref(y.mark)

    class Mark:
        pass
    gc.disable()
    try:
        z, mark = make()
        first = mark() is None
        z.backward()
        del z
        return [first, mark() is None]
    finally:
        gc.enable()


def collected(torch, kind):
    """Whether the garbage collector finds the cycle of a hook with what it hangs on."""
    class Mark:
        pass

    def make():
        mark, x = Mark(), leaf(torch)
        node = (x * 2).grad_fn
        if kind == 'leaf':
            x.register_hook(lambda grad: (x, mark) and None)
        elif kind == 'node':
            node.register_prehook(lambda grads: (node, mark) and None)
        else:
            x.register_hook(lambda grad: mark and None)
        return weakref.ref(mark)
    mark = make()
    gc.collect()
    return mark() is None


@row('H-19', expect=[True, True])
def hook_that_knows_its_leaf(torch):
    return [collected(torch, kind) for kind in ('leaf', 'none')]


@row('H-19', since='2.0', expect=True)
def hook_that_knows_its_node(torch):
    return collected(torch, 'node')


# H-20 to H-24

@row('H-20', since='2.1')
def post_accumulate(torch):
    x, seen = leaf(torch), []
    handle = x.register_post_accumulate_grad_hook(lambda p: seen.append(['first', p is x, p.grad.tolist()]))
    x.register_post_accumulate_grad_hook(lambda p: seen.append(['second', p is x, p.grad.tolist()]))
    (x * 2).sum().backward()
    handle.remove()
    (x * 2).sum().backward()
    torch.autograd.grad((x * 2).sum(), x)
    return seen


@row('H-20', since='2.1')
def post_accumulate_texts(torch):
    x = leaf(torch)
    x.register_post_accumulate_grad_hook(lambda p: p * 2)
    return [text_of(lambda: (x * 2).register_post_accumulate_grad_hook(print)),
            text_of(lambda: torch.ones(2).register_post_accumulate_grad_hook(print)),
            text_of((x * 2).sum().backward), x.grad.tolist()]


@row('H-20', since='2.1')
def post_accumulate_changes(torch):
    """An optimizer in backward: the gradient is used and dropped as soon as it is there."""
    x = leaf(torch)

    def step(p):
        with torch.no_grad():
            p.add_(p.grad, alpha=-0.1)
        p.grad = None
    x.register_post_accumulate_grad_hook(step)
    for _ in range(3):
        (x * x).sum().backward()
    return [x.tolist(), x.grad]


def multi(torch):
    return torch.autograd.graph.register_multi_grad_hook


@row('H-21', since='2.0')
def multi_all(torch):
    seen = []
    a, b, c, d = (torch.ones(2, requires_grad=True) for _ in range(4))
    e, f = a * b, c * d
    handle = multi(torch)((a, b, e, f), lambda grads: seen.append([None if g is None else g.tolist() for g in grads]))
    (e + f).sum().backward(retain_graph=True)
    e.sum().backward(retain_graph=True)
    (e + f).sum().backward(inputs=(a, d), retain_graph=True)
    handle.remove()
    (e + f).sum().backward()
    return seen


@row('H-21', since='2.2')
def multi_any(torch):
    seen = []
    a, b = leaf(torch), leaf(torch)
    c = a * b
    multi(torch)((a, b, c, torch.ones(2)), lambda grad: seen.append(grad.tolist()), mode='any')
    (c * 2).sum().backward(retain_graph=True)
    (c * 3).sum().backward()
    return [seen, text_of(lambda: multi(torch)((a,), print, mode='some')),
            text_of(lambda: multi(torch)((torch.ones(2),), print))]


@row('H-21', since='2.2')
def multi_with_threads(torch):
    """One count for each pass, however many run at a time."""
    seen, x, y = [], leaf(torch), leaf(torch)
    multi(torch)((x, y), lambda grads: seen.append([g is not None for g in grads]))
    multi(torch)((x, y), lambda grad: seen.append('any'), mode='any')

    def work():
        for _ in range(5):
            (x * y).sum().backward()
    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [seen.count([True, True]), seen.count('any'), len(seen)]


@row('H-22', in_1_13="a leaf's tensor hooks run inside AccumulateGrad, after its inputs were kept for post hooks")
def post_hook_of_a_leaf(torch):
    x, seen = leaf(torch), []
    y = x.clone()
    x.register_hook(lambda grad: grad * 2)
    accumulator(y).register_prehook(lambda grads: (grads[0] + 1,))
    accumulator(y).register_hook(lambda outputs, inputs: seen.append([len(outputs), [t.tolist() for t in inputs]]))
    y.sum().backward()
    return [seen, x.grad.tolist()]


@row('H-23', only='removal by index is of the C++ API; Python removes by handle, twice without an error')
def handles(torch):
    x = leaf(torch)
    first, second = x.register_hook(print), (x * 2).grad_fn.register_hook(print)
    assert second.id > first.id
    first.remove()
    first.remove()
    x.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]


@row('H-24', in_1_13='post hooks that were not there before are not called', expect=[['late', 2, 0]], expect_1_13=[])
def hooks_added_while_running(torch):
    seen = []

    class Adds(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            return x * y

        @staticmethod
        def backward(ctx, grad):
            out.grad_fn.register_hook(lambda outputs, inputs: seen.append(['late', len(outputs), len(inputs)]))
            return grad, grad
    out = Adds.apply(leaf(torch), leaf(torch))
    out.sum().backward()
    return seen


@row('H-24')
def hooks_added_beside_others(torch):
    seen = []

    class Adds(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, grad):
            out.grad_fn.register_hook(lambda outputs, inputs: seen.append(['late', len(outputs), len(inputs)]))
            return grad
    out = Adds.apply(leaf(torch))
    out.grad_fn.register_hook(lambda outputs, inputs: seen.append(['early', len(outputs), len(inputs)]))
    out.sum().backward()
    return seen

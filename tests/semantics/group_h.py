# SPDX-License-Identifier: LGPL-2.1-or-later
"""Rows H: hooks."""
import gc
import threading
import weakref

from harness import of_kind, row, text_of


def leaf(torch, n=2):
    return torch.ones(n, requires_grad=True)


def accumulator(tensor):
    """The AccumulateGrad below a tensor that was made of a leaf alone."""
    return tensor.grad_fn.next_functions[0][0]


def hooks_of(events):
    """Where hooks are called, as node and kind. PyTorch tells all hooks of one tensor as one, and of PyTorch 1 it cannot be
    seen which of a node's hooks are a tensor's."""
    told = []
    for event in of_kind(events, 'hook_begin'):
        kind = 'before' if event['kind'] in ('tensor_pre', 'pre') else event['kind']
        if told[-1:] != [[event['node_name'], kind]]:
            told.append([event['node_name'], kind])
    return told


# H-01 to H-05: order and counts

@row('H-01', since='2.1', expect=[3.0, 3.0])
def order_of_all_kinds(torch):
    x = leaf(torch)
    y = x.clone()
    node = accumulator(y)
    seen = []
    x.register_hook(lambda grad: grad - 2)
    node.register_prehook(lambda grads: (grads[0] / 5,))
    x.register_post_accumulate_grad_hook(lambda p: [p.grad.add_(0.5)] and None)
    node.register_hook(lambda outputs, inputs: (seen.append(x.grad.clone()), x.grad.mul_(10), None)[2])
    y.sum().backward()
    return x.grad.tolist()


@row('H-01', since='2.1')
def order_by_names(torch):
    x = leaf(torch)
    y = x.clone()
    node, order = accumulator(y), []
    node.register_hook(lambda outputs, inputs: order.append('post'))
    x.register_post_accumulate_grad_hook(lambda p: order.append('post accumulate'))
    node.register_prehook(lambda grads: order.append('pre'))
    x.register_hook(lambda grad: order.append('tensor'))
    y.register_hook(lambda grad: order.append('y tensor'))
    y.retain_grad()
    y.sum().backward()
    return [order, y.grad.tolist()]


@row('H-02', in_1_13='tensor hooks and pre-hooks are one list; a leaf calls its own inside AccumulateGrad',
     expect_1_13=['b.pre', 'b.tensor1', 'b.tensor2', 'b.post', 'acc.pre', 'a.tensor', 'acc.post'],
     expect=['b.tensor1', 'b.tensor2', 'b.pre', 'b.post', 'a.tensor', 'acc.pre', 'acc.post'], tape=hooks_of)
def order_of_one_list(torch):
    a = leaf(torch)
    b = a * 2
    node, order = accumulator(b), []
    b.grad_fn.register_prehook(lambda grads: order.append('b.pre'))
    b.register_hook(lambda grad: order.append('b.tensor1'))
    b.register_hook(lambda grad: order.append('b.tensor2'))
    b.grad_fn.register_hook(lambda outputs, inputs: order.append('b.post'))
    node.register_prehook(lambda grads: order.append('acc.pre'))
    a.register_hook(lambda grad: order.append('a.tensor'))
    node.register_hook(lambda outputs, inputs: order.append('acc.post'))
    b.sum().backward()
    return order


def mixed(torch, backward):
    order = []
    a = leaf(torch)
    b = a * 2
    b.register_hook(lambda grad: order.append('b 1'))
    b.grad_fn.register_prehook(lambda grads: order.append('b node 1'))
    b.retain_grad()
    b.register_hook(lambda grad: order.append('b 2'))
    b.grad_fn.register_prehook(lambda grads: order.append('b node 2'))
    a.register_hook(lambda grad: order.append('a 1'))
    accumulator(b).register_prehook(lambda grads: order.append('a node 1'))
    a.register_hook(lambda grad: order.append('a 2'))
    backward(b.sum(), a, b)
    return order


@row('H-03', in_1_13='tensor hooks and pre-hooks are one list')
def mixed_registrations(torch):
    return mixed(torch, lambda loss, a, b: loss.backward())


@row('H-04', in_1_13='a captured gradient is taken before hooks')
def hooks_of_a_wanted_leaf(torch):
    return [
        mixed(torch, lambda loss, a, b: torch.autograd.grad(loss, a)),
        mixed(torch, lambda loss, a, b: torch.autograd.grad(loss, b)),
        mixed(torch, lambda loss, a, b: torch.autograd.grad(loss, (a, b)))]


@row('H-05', in_1_13='hooks of captured tensors do not run')
def counts_with_inputs(torch):
    """Tensor hook, pre-hook and post hook of the leaf's node, and of the node above."""
    def counts(run):
        seen = [0] * 5

        def count(i):
            def hook(*unused):
                seen[i] += 1
            return hook
        x = leaf(torch)
        y = x * 2
        node = accumulator(y)
        x.register_hook(count(0))
        node.register_prehook(count(1))
        node.register_hook(count(2))
        y.register_hook(count(3))
        y.grad_fn.register_prehook(count(4))
        run(y.sum(), x, y)
        return seen
    return [counts(lambda loss, x, y: torch.autograd.grad(loss, x)),
            counts(lambda loss, x, y: torch.autograd.grad(loss, y)),
            counts(lambda loss, x, y: torch.autograd.grad(loss, (x, y))),
            counts(lambda loss, x, y: loss.backward(inputs=[x])),
            counts(lambda loss, x, y: loss.backward(inputs=[y])),
            counts(lambda loss, x, y: loss.backward())]


# H-06 to H-11: what hooks give back

@row('H-06', expect=[[2, 3], [2.0, 2.0]])
def none_keeps_value_replaces(torch):
    x, order = leaf(torch), []
    first = x.register_hook(lambda grad: order.append(1))
    x.register_hook(lambda grad: (order.append(2), grad * 2)[1])
    x.register_hook(lambda grad: order.append(3))
    first.remove()
    (x * 1).sum().backward()
    return [order, x.grad.tolist()]


@row('H-06')
def pre_and_post_replace(torch):
    x = leaf(torch)
    y = x * 3
    y.grad_fn.register_prehook(lambda grads: (grads[0] * 2,))
    y.grad_fn.register_prehook(lambda grads: None)
    y.grad_fn.register_prehook(lambda grads: (grads[0] + 1,))
    seen = []

    def post(outputs, inputs):
        seen.append([[None if t is None else t.tolist() for t in outputs], [t.tolist() for t in inputs]])
        return tuple(None if t is None else t * 10 for t in outputs)
    y.grad_fn.register_hook(post)
    y.grad_fn.register_hook(lambda outputs, inputs: (outputs[0] + 1, None))
    y.sum().backward()
    return [seen, x.grad.tolist()]


@row('H-07')
def remove_while_running(torch):
    x, order, handles = leaf(torch), [], {}

    def first(grad):
        order.append('first')
        handles['first'].remove()
        handles['second'].remove()
        handles['late'] = x.register_hook(lambda grad: order.append('late'))
    handles['first'] = x.register_hook(first)
    handles['second'] = x.register_hook(lambda grad: order.append('second'))
    for _ in range(2):
        (x * 1).sum().backward()
        order.append('|')
    handles['late'].remove()
    handles['late'].remove()
    (x * 1).sum().backward()
    return order


@row('H-07')
def remove_node_hooks(torch):
    x, counter = leaf(torch), [0]
    y = x * 2

    def count(*unused):
        counter[0] += 1
        handle.remove()
    handle = y.grad_fn.register_prehook(count)
    with y.grad_fn.register_hook(lambda outputs, inputs: counter.append('with')):
        y.sum().backward(retain_graph=True)
    y.sum().backward()
    return counter


def nothing(torch):
    class Nothing(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, grad):
            return None
    return Nothing


@row('H-08', in_1_13="a leaf's hooks are not called without a gradient",
     expect=[[['y', None], ['x', None]], None], expect_1_13=[[['y', None]], None])
def undefined_gradient(torch):
    seen = []
    x = leaf(torch)
    y = x * 2
    x.register_hook(lambda grad: seen.append(['x', grad]))
    y.register_hook(lambda grad: seen.append(['y', grad]))
    nothing(torch).apply(y).sum().backward()
    return [seen, x.grad]


@row('H-08', since='2.0')
def undefined_gradient_is_not_retained(torch):
    y = leaf(torch) * 2
    y.retain_grad()
    nothing(torch).apply(y).sum().backward()
    return [y.grad]


def after_hook(torch, hook, kind='tensor'):
    x = leaf(torch)
    y = x * 2
    if kind == 'tensor':
        y.register_hook(hook)
    elif kind == 'leaf':
        x.register_hook(hook)
    elif kind == 'pre':
        y.grad_fn.register_prehook(hook)
    else:
        y.grad_fn.register_hook(hook)
    return text_of(y.sum().backward)


@row('H-09')
def results_of_tensor_hooks(torch):
    def wider(grad):
        return torch.ones(5)

    class Named:
        def __call__(self, grad):
            return torch.ones(5)
    return [after_hook(torch, hook, kind) for kind in ('tensor', 'leaf')
            for hook in (wider, Named(), lambda grad: grad.double(), lambda grad: 5, lambda grad: (grad,))]


@row('H-09')
def tensor_hook_for_none(torch):
    y = leaf(torch) * 2
    y.register_hook(lambda grad: torch.ones(2))
    return text_of(nothing(torch).apply(y).sum().backward)


@row('H-10')
def results_of_node_hooks(torch):
    ones = torch.ones(2)
    pre = [after_hook(torch, lambda grads: result, 'pre')
           for result in (ones, [ones], (ones, ones), (1,), (ones.double(),), (torch.ones(3),), (None,), (ones,))]
    post = [after_hook(torch, lambda outputs, inputs: result, 'post')
            for result in (ones, [ones, None], (ones,), (ones, ones), (5, None), (None, None), (torch.ones(3), None))]
    return [pre, post]


@row('H-11')
def tensor_without_grad(torch):
    return [text_of(lambda: torch.ones(2).register_hook(print)),
            text_of(lambda: leaf(torch).detach().register_hook(print))]


# H-12 to H-19: retained gradients, writes in place, lifetimes

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

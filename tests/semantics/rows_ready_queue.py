# SPDX-License-Identifier: LGPL-2.1-or-later
"""C: the ready queue. What Python cannot reach is in tests/pass/test_ready_queue.c."""
import threading

from harness import of_kind, order_of, row


def accumulator(leaf):
    """Its AccumulateGrad."""
    return (leaf * 1).grad_fn.next_functions[0][0]


def log_calls(calls, **nodes):
    for name, node in nodes.items():
        node.register_hook(lambda *grads, name=name: calls.append(name))


@row('C-01', tape=order_of, expect=['mul', 'mul', 'exp', 'sin', 'cos'],
     expect_tape=['MulBackward0', 'MulBackward0', 'ExpBackward0', 'SinBackward0', 'CosBackward0', 'AccumulateGrad'])
def later_built_first(torch):
    """Whichever operand they are, and whichever became ready first."""
    x, calls = torch.ones(1, requires_grad=True), []
    c, s, e = x.cos(), x.sin(), x.exp()
    inner = c * e
    product = s * inner
    log_calls(calls, cos=c.grad_fn, sin=s.grad_fn, exp=e.grad_fn)
    inner.grad_fn.register_hook(lambda *grads: calls.append('mul'))
    product.grad_fn.register_hook(lambda *grads: calls.append('mul'))
    product.backward()
    return calls


@row('C-02', tape=order_of, expect=['mul', 'cos', 'AG(p)', 'sin', 'AG(q)'],
     expect_tape=['MulBackward0', 'CosBackward0', 'AccumulateGrad', 'SinBackward0', 'AccumulateGrad'])
def leaves_before_all(torch):
    q, p = torch.ones(1, requires_grad=True), torch.ones(1, requires_grad=True)
    leaf_q, leaf_p = accumulator(q), accumulator(p)
    c = q.sin()
    d = p.cos()
    product, calls = c * d, []
    log_calls(calls, sin=c.grad_fn, cos=d.grad_fn, mul=product.grad_fn, **{'AG(p)': leaf_p, 'AG(q)': leaf_q})
    product.backward()
    return calls


@row('C-03', tape=order_of)
def leaf_waits_for_all_its_gradients(torch):
    x, w = torch.ones(2, 2, requires_grad=True), torch.ones(2, 2, requires_grad=True)
    leaf_w, leaf_x, calls = accumulator(w), accumulator(x), []
    hidden = x.mm(w).relu()
    out = hidden.mm(w)
    log_calls(calls, w=leaf_w, x=leaf_x, relu=hidden.grad_fn, mm=out.grad_fn)
    out.sum().backward()
    return calls


def reentrant(torch, calls):
    class Reentrant(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            with torch.enable_grad():
                ctx.x = x.detach().requires_grad_()
                ctx.x = ctx.x - 1
                ctx.x.grad_fn.register_hook(lambda *grads: calls.append('Sub'))
            return ctx.x.detach()

        @staticmethod
        def backward(ctx, g):
            calls.append('Re')
            if float(ctx.x) < 0:
                return g
            with torch.enable_grad():
                Reentrant.apply(ctx.x).backward()
            return g
    return Reentrant


class Depths:
    """Names of nodes with the depth of their pass, in the order in which they began."""

    def __call__(self, events):
        depths = {event['graph_task']: event['depth'] for event in of_kind(events, 'graph_task_begin')}
        return [f'{event["node_name"]} {depths[event["graph_task"]]}' for event in of_kind(events, 'node_begin')]


def beside_a_reentrant_node(torch):
    calls = []
    Reentrant = reentrant(torch, calls)

    class My(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            calls.append('My')
            return g
    a = My.apply(torch.tensor(6.0, requires_grad=True))
    b = Reentrant.apply(torch.tensor(2.0, requires_grad=True))
    (a * b).backward()
    return calls


@row('C-04', expect=['Re', 'Re', 'Re', 'Sub', 'Sub', 'My'])
def deeper_passes_first(torch):
    return beside_a_reentrant_node(torch)


@row('K-02', tape=Depths(),
     expect_tape=['MulBackward0 0', 'ReentrantBackward 0', 'ReentrantBackward 1', 'ReentrantBackward 2', 'SubBackward0 2',
                  'AccumulateGrad 2', 'SubBackward0 1', 'AccumulateGrad 1', 'AccumulateGrad 0', 'MyBackward 0',
                  'AccumulateGrad 0'])
def a_nested_pass_ends_before_waiting_nodes_run(torch):
    return beside_a_reentrant_node(torch)


@row('C-05', expect=['a', 'inner sin', 'inner leaf', 'b'], tape=Depths())
def depth_counts_more_than_being_a_leaf(torch):
    a, b = torch.ones(1, requires_grad=True), torch.ones(1, requires_grad=True)
    leaf_a, leaf_b, calls = accumulator(a), accumulator(b), []

    def nested(*grads):
        calls.append('a')
        with torch.enable_grad():
            x = torch.ones(1, requires_grad=True)
            leaf_x, y = accumulator(x), x.sin()
            log_calls(calls, **{'inner sin': y.grad_fn, 'inner leaf': leaf_x})
            y.backward()
    leaf_a.register_hook(nested)
    log_calls(calls, b=leaf_b)
    (a + b).backward()
    return calls


def skipped_before_the_first(events):
    """How many left-over tasks the last pass throws away before it runs a node."""
    begin = max(i for i, event in enumerate(events) if event['event'] == 'graph_task_begin')
    reasons = [event.get('reason') for event in of_kind(events[begin:], 'node_skip', 'node_begin')]
    return reasons.index(None)


@row('C-08', tape=skipped_before_the_first, expect=[1.0], expect_tape=2)
def tasks_of_a_failed_pass_are_thrown_away(torch):
    class Boom(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            raise RuntimeError('boom')
    x = torch.ones(1, requires_grad=True)
    left, middle, right = x * 1, Boom.apply(x), Boom.apply(x)
    try:
        ((left + right) + middle).backward()
    except RuntimeError:
        pass
    y = torch.ones(1, requires_grad=True)
    (y * 1).backward()
    return y.grad.tolist()


HEAP_ORDERS = {2: [0, 1], 3: [0, 1, 2], 4: [0, 2, 1, 3], 5: [0, 2, 4, 1, 3], 6: [0, 2, 5, 4, 1, 3],
               7: [0, 2, 5, 6, 4, 1, 3], 8: [0, 2, 6, 5, 7, 4, 1, 3], 9: [0, 2, 6, 8, 5, 7, 4, 1, 3],
               10: [0, 2, 6, 9, 8, 5, 7, 4, 1, 3], 11: [0, 2, 6, 10, 9, 8, 5, 7, 4, 1, 3],
               12: [0, 2, 6, 11, 10, 9, 8, 5, 7, 4, 1, 3]}


@row('C-09', expect=[HEAP_ORDERS[n] for n in range(2, 13)])
def ties_leave_as_from_a_binary_heap(torch):
    orders = []
    for n in range(2, 13):
        leaves, calls = [torch.ones(1, requires_grad=True) for _ in range(n)], []
        for i, leaf in enumerate(leaves):
            leaf.register_hook(lambda g, i=i, calls=calls: calls.append(i))
        torch.cat(leaves).sum().backward()
        orders.append(calls)
    return orders


@row('C-10', expect=[0, 2, 6, 4, 3, 5, 1])
def ties_of_several_threads(torch):
    made = [None] * 7

    def build(i):
        made[i] = torch.ones(1, requires_grad=True) * 2
    for i in range(7):
        thread = threading.Thread(target=build, args=(i,))
        thread.start()
        thread.join()
    calls = []
    for i, tensor in enumerate(made):
        assert tensor.grad_fn.name() == 'MulBackward0'
        tensor.register_hook(lambda g, i=i: calls.append(i))
    torch.cat(made).sum().backward()
    return calls


def queues_by_thread(events):
    """How many queues each thread pops from, and how many queues there are."""
    pops = {(event['thread'], event['queue']) for event in of_kind(events, 'queue_pop')}
    return [len({thread for thread, queue in pops}), len({queue for thread, queue in pops}), len(pops)]


@row('C-15', tape=queues_by_thread, expect_tape=[1, 1, 1])
def a_thread_keeps_its_queue(torch):
    x = torch.ones(1, requires_grad=True)
    for _ in range(2):
        (x * 2).backward()
    return x.grad.tolist()


@row('C-16', tape=queues_by_thread, expect_tape=[2, 2, 2])
def each_thread_has_its_queue(torch):
    x = torch.ones(1, requires_grad=True)
    (x * 2).backward()
    thread = threading.Thread(target=lambda: (x * 2).backward())
    thread.start()
    thread.join()
    return x.grad.tolist()

# SPDX-License-Identifier: LGPL-2.1-or-later
"""Rows G: passes that want some gradients alone."""
import threading

from harness import of_kind, row, text_of


def leaf(torch, *values):
    return torch.tensor(values or [1., 2.], requires_grad=True)


def told(events):
    """What ran, what was captured, what was popped and not needed."""
    kinds = ('node_begin', 'capture', 'node_skip')
    return [[event['event'], event['node_name'], event.get('reason')] for event in of_kind(events, *kinds)]


def exec_info(events):
    return sorted([event['node_name'], event['needed'], event['captures']] for event in of_kind(events, 'exec_info'))


def both(events):
    return [told(events), exec_info(events)]


def values(tensors):
    return [None if t is None else t.tolist() for t in tensors]


@row('G-01', tape=both)
def grad_of_a_non_leaf(torch):
    x = leaf(torch)
    y = x * 2
    return values(torch.autograd.grad(y.sin().sum(), y)) + [x.grad]


@row('G-02', tape=both)
def grad_of_a_leaf(torch):
    x = leaf(torch)
    return values(torch.autograd.grad((x * 3).sum(), x)) + [x.grad]


@row('G-03', tape=both)
def two_on_one_path(torch):
    x = leaf(torch)
    y = x * 2
    return values(torch.autograd.grad(y.sin().sum(), (x, y))) + [x.grad, y.grad_fn.next_functions[0][0].variable is x]


@row('G-04', tape=both)
def two_outputs_of_one_node(torch):
    x = torch.ones(4, requires_grad=True)
    a, b = (x * 2).chunk(2)
    return values(torch.autograd.grad((a * 3 + b * 5).sum(), (a, b)))


@row('G-04', tape=told)
def one_tensor_twice(torch):
    x = leaf(torch)
    y = x * 2
    return values(torch.autograd.grad((y * y).sum(), (y, x, y)))


@row('G-05')
def unreachable_beside_reachable(torch):
    x, w = leaf(torch), leaf(torch)
    y = (x * 3).sum()
    return values(torch.autograd.grad(y, (w, x, w * 2), allow_unused=True))


@row('G-06', tape=told)
def unreachable_alone(torch):
    x, w = leaf(torch), leaf(torch)
    return values(torch.autograd.grad((x * 3).sum(), w, allow_unused=True))


@row('G-07')
def siblings_of_the_unreachable(torch):
    ran = []

    class MustNotRun(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, grad):
            ran.append(1)
            return grad
    x, w, v = leaf(torch), leaf(torch), leaf(torch)
    y = x * 3 + MustNotRun.apply(v)
    found = values(torch.autograd.grad(y.sum(), (x, w), allow_unused=True))
    return [found, ran, x.grad, v.grad]


@row('G-08', tape=told)
def backward_to_a_non_leaf(torch):
    x = leaf(torch)
    y = x * 2
    z = y.sin().sum()
    z.backward(inputs=[y], retain_graph=True)
    first = y.grad.tolist()
    z.backward(inputs=[y])
    return [first, y.grad.tolist(), x.grad, y.retains_grad]


@row('G-08')
def backward_to_both(torch):
    x, w = leaf(torch), leaf(torch)
    y = x * w
    y.register_hook(lambda grad: grad * 10)
    (y * 3).sum().backward(inputs=[y, x])
    return [y.grad.tolist(), x.grad.tolist(), w.grad]


@row('G-09', tape=told)
def backward_to_some_leaves(torch):
    x, w, v = leaf(torch), leaf(torch), leaf(torch)
    (x * w + v).sum().backward(inputs=(x,))
    (x * w + v).sum().backward(inputs=v)
    return [x.grad.tolist(), w.grad, v.grad.tolist()]


@row('G-10')
def backward_to_the_unused(torch):
    x, w = leaf(torch), leaf(torch)
    (x * 2).sum().backward(inputs=[w])
    other = w * 2
    (x * 2).sum().backward(inputs=[other])
    return [x.grad, w.grad, other.grad]


@row('G-11')
def what_a_node_is_asked_for(torch):
    """needs_input_grad is about the graph, not about the pass; what is not needed is dropped."""
    asked = []

    class Both(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            return x + y

        @staticmethod
        def backward(ctx, grad):
            asked.append(list(ctx.needs_input_grad))
            return grad, grad * 2
    x, y, c = leaf(torch), leaf(torch), torch.ones(2)
    z = Both.apply(x, y)
    first = values(torch.autograd.grad(z.sum(), x, retain_graph=True))
    second = values(torch.autograd.grad(z.sum(), y, retain_graph=True))
    z.sum().backward(inputs=[x])
    Both.apply(x, c).sum().backward()
    return [asked, first, second, x.grad.tolist(), y.grad]


@row('G-12', in_1_13='a captured gradient is taken before hooks', expect=[[20., 20.], [2., 2.], [20., 20.]],
     expect_1_13=[[2., 2.], [2., 2.], [20., 20.]])
def captured_and_hooked(torch):
    def run(*wanted):
        x = torch.ones(2, requires_grad=True)
        m = x * 1
        m.register_hook(lambda grad: grad * 10)
        return values(torch.autograd.grad((m * 2).sum(), [{'x': x, 'm': m}[name] for name in wanted]))
    return run('m') + run('m', 'x')


@row('G-12', in_1_13='a captured gradient is taken before hooks')
def captured_and_retained(torch):
    x = leaf(torch)
    m = x * 1
    m.retain_grad()
    m.register_hook(lambda grad: grad * 10)
    m.grad_fn.register_prehook(lambda grads: (grads[0] * 100,))
    m.grad_fn.register_hook(lambda outputs, inputs: (outputs[0] * 1000, None))
    found = values(torch.autograd.grad((m * 2).sum(), m))
    return [found, None if m.grad is None else m.grad.tolist()]


@row('G-13', tape=lambda events: len(of_kind(events, 'exec_info')), expect_tape=3)
def entries(torch):
    x, w = leaf(torch), leaf(torch)
    return values(torch.autograd.grad(x * 2, (x, w), torch.ones(2), allow_unused=True))


@row('G-14', since='2.0')
def will_execute(torch):
    x, w = leaf(torch), leaf(torch)
    a, b = x * 2, w * 3
    c = a + b
    unrelated = (leaf(torch) * 2).grad_fn
    nodes = [c.grad_fn, a.grad_fn, b.grad_fn, unrelated]
    leaves = [node.next_functions[0][0] for node in (a.grad_fn, b.grad_fn)]
    ask, seen = torch._C._will_engine_execute_node, []

    def look(nodes):
        def hook(grad):
            seen.append([text_of(lambda: ask(node)) or ask(node) for node in nodes])
        return hook
    handle = c.register_hook(look(nodes + leaves))
    c.sum().backward(retain_graph=True)
    c.sum().backward(inputs=[x], retain_graph=True)
    c.sum().backward(inputs=[a], retain_graph=True)
    torch.autograd.grad(c.sum(), a, retain_graph=True)
    torch.autograd.grad(c.sum(), x, retain_graph=True)
    handle.remove()
    return seen + [text_of(lambda: ask(c.grad_fn)), text_of(lambda: ask(3))]


@row('G-16')
def batched(torch):
    x = leaf(torch)
    y = x * x
    rows = torch.tensor([[1., 0.], [0., 1.], [1., 1.]])
    found, = torch.autograd.grad(y, x, rows, is_grads_batched=True)
    return found.tolist()


@row('G-03')
def several_passes_at_once(torch):
    """Each pass has marks of its own."""
    x, w = leaf(torch), leaf(torch)
    y = x * w
    found = [None] * 4

    def work(i):
        for _ in range(10):
            found[i] = values(torch.autograd.grad(y.sum(), [x, w, y, (x, w)][i], retain_graph=True))
    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [found, x.grad, w.grad]


@row('G-15', since='2.0')
def written_views(torch):
    """The node of a write into a view is told of its inner function's own edge; nodes that nobody asks for stay out."""
    def one(x, y):
        out = x.clone().view(-1)
        out += y
        return out

    def two(x, y):
        out = x.clone().view(-1)
        b = out * 2
        out += y
        return out + b
    x, y = leaf(torch), leaf(torch)

    def fails(grad):
        raise ValueError('Boom!')
    told = []
    for function in (one, two):
        def run(action):
            safe = y * 1
            safe.grad_fn.register_prehook(lambda grads: fails(grads[0]))
            out = function(x, safe).sum()
            told.append(text_of(lambda: action(out, safe)))
        run(lambda out, safe: out.backward())
        run(lambda out, safe: torch.autograd.grad(out, y))
        run(lambda out, safe: torch.autograd.grad(out, x))
        run(lambda out, safe: torch.autograd.grad(out, safe))
        run(lambda out, safe: torch.autograd.grad(out, (x, safe)))
        run(lambda out, safe: told.append(values(torch.autograd.grad(out, (x, safe)))))
    return told


@row('G-15', since='2.0')
def no_view_node_too_many(torch):
    x, y, seen = leaf(torch), leaf(torch) * 1, []
    out = x.clone().view(-1)
    out.register_hook(lambda grad: seen.append('never'))
    b = out + y
    out += y
    return values(torch.autograd.grad((out + b).sum(), (b, y))) + [seen]

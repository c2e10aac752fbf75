# SPDX-License-Identifier: LGPL-2.1-or-later
"""Rows of groups A and E that are about the pass at work: when nodes become ready, what a program may ask."""
from harness import of_kind, order_of, row, text_of


def readiness(events):
    """For each push: the node, which node's end made it ready, and how many buffers wait in not_ready then."""
    waiting, running, found = set(), None, []
    for event in of_kind(events, 'node_begin', 'buffer_new', 'queue_push'):
        if event['event'] == 'node_begin':
            running = event['node_name']
        elif event['event'] == 'buffer_new':
            waiting.add(event['node'])
        else:
            waiting.discard(event['node'])
            found.append([event['node_name'], running, len(waiting)])
    return found


def outstanding(events):
    return [event['value'] for event in of_kind(events, 'outstanding')]


def diamond(torch):
    x = torch.ones(1, requires_grad=True)
    y = x * 2
    (y * 3 + y.sin()).backward()
    return x.grad.tolist()


@row('E-01', tape=readiness,
     expect_tape=[['AddBackward0', None, 0], ['MulBackward0', 'AddBackward0', 0], ['SinBackward0', 'AddBackward0', 0],
                  ['MulBackward0', 'MulBackward0', 0], ['AccumulateGrad', 'MulBackward0', 0]])
def ready_with_the_last_gradient(torch):
    return diamond(torch)


@row('E-02', tape=outstanding, expect_tape=[2, 1, 1, 1, 0])
def children_are_counted_before_their_parent_is_done(torch):
    return diamond(torch)


@row('E-17')
def released_before_the_next_node_runs(torch):
    class Saving(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 1

        @staticmethod
        def backward(ctx, g):
            return g * ctx.saved_tensors[0]
    x, texts = torch.ones(1, requires_grad=True), []
    y = x.exp()
    z = Saving.apply(y)
    y.register_hook(lambda g: texts.append(text_of(lambda: z.grad_fn.saved_tensors)))
    z.backward(retain_graph=True)
    z.backward()
    return [text and text.split('.')[0] for text in texts]


@row('E-21', since='2.1', expect=[None, ['ExpBackward0', 'NodeBackward', 'MulBackward0'], None])
def the_node_at_work(torch):
    names = []

    def note(*grads):
        names.append(torch._C._current_autograd_node().name())

    class Node(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            note()
            return g
    x = torch.ones(1, requires_grad=True)
    y = x * 2
    y.register_hook(note)
    z = Node.apply(y).exp()
    z.register_hook(note)
    before = torch._C._current_autograd_node()
    z.backward()
    return [before, names, torch._C._current_autograd_node()]


@row('E-22', since='2.1', expect=[-1, [0, 1, 2, 3, 2], -1])
def passes_are_numbered(torch):
    """Relative to the first one's number; a nested one counts too."""
    ids = []

    def backward(hook):
        x = torch.ones(1, requires_grad=True) * 2
        x.register_hook(hook)
        x.backward()

    def note(g):
        ids.append(torch._C._current_graph_task_id())

    def nested(g):
        note(g)
        with torch.enable_grad():
            backward(note)
        note(g)
    before = torch._C._current_graph_task_id()
    backward(note)
    backward(note)
    backward(nested)
    return [before, [number - ids[0] for number in ids], torch._C._current_graph_task_id()]


def predicted(torch, *tensors, inputs=None):
    """What is predicted at the first root, in a pass with multithreading off."""
    found = []

    def hook(g):
        found.append([node.name().split('::')[-1] for node in torch._C._current_graph_task_execution_order()])
    handle = tensors[-1].register_hook(hook)
    with torch.autograd.set_multithreading_enabled(False):
        torch.autograd.backward(tensors, [torch.ones_like(t) for t in tensors], inputs=inputs, retain_graph=True)
    handle.remove()
    return found[0]


@row('E-23', since='2.1', tape=order_of)
def the_order_is_predicted(torch):
    t = torch.ones(2, requires_grad=True)
    u = t.clone().sin().exp()
    v = t.exp() * t.sin().cos() + u
    w = (v * 2).sum()
    return [predicted(torch, u), predicted(torch, v), predicted(torch, w), predicted(torch, w, inputs=[t])]


@row('E-23', since='2.1', tape=order_of)
def the_order_below_inputs_and_of_the_next_numbers(torch):
    t = torch.ones(2, requires_grad=True)
    a = t.clone()
    b = a.sin()
    c = b.exp() + b.cos()
    return [predicted(torch, c, inputs=[b]), predicted(torch, c, inputs=[a, b])]


@row('E-23', since='2.1')
def where_no_order_is_predicted(torch):
    texts = [text_of(torch._C._current_graph_task_execution_order)]
    x = torch.ones(1, requires_grad=True) * 2
    x.register_hook(lambda g: texts.append(text_of(torch._C._current_graph_task_execution_order)))
    x.backward()
    return texts


@row('A-18', since='2.1', expect=[['c', 'a', 'b'], ['c', 'b', 'a'], [100, 99], 'TypeError: an integer is required'])
def a_number_can_be_set(torch):
    def calls_with(number_a, number_b):
        calls = []
        x = torch.ones(2, requires_grad=True)
        a, b = x.sin(), x.cos()
        c = a + b
        a.grad_fn._set_sequence_nr(number_a)
        b.grad_fn._set_sequence_nr(number_b)
        for name, tensor in zip('abc', (a, b, c)):
            tensor.register_hook(lambda g, name=name: calls.append(name))
        c.sum().backward()
        return calls, [a.grad_fn._sequence_nr(), b.grad_fn._sequence_nr()], a.grad_fn
    (first, numbers, node), (second, _, _) = calls_with(100, 99), calls_with(99, 100)
    return [first, second, numbers, text_of(lambda: node._set_sequence_nr('7'))]


@row('G-14')
def whether_a_node_will_run(torch):
    x, w = torch.ones(1, requires_grad=True), torch.ones(1, requires_grad=True)
    a = x * 2
    b = w.sin()
    c = a.exp()
    leaf, found = (x * 1).grad_fn.next_functions[0][0], []
    leaf_x = a.grad_fn.next_functions[0][0]

    def hook(g):
        ask = torch._C._will_engine_execute_node
        found.append([text_of(lambda: ask(node)) or ask(node) for node in (a.grad_fn, b.grad_fn, c.grad_fn, leaf_x)])
    c.register_hook(hook)
    c.backward(retain_graph=True)
    (c + b).backward(retain_graph=True)
    torch.autograd.grad(c, a, retain_graph=True)
    torch.autograd.grad(c, x, retain_graph=True)
    c.backward(inputs=[x], retain_graph=True)
    ask = torch._C._will_engine_execute_node
    return found + [leaf is leaf_x, text_of(lambda: ask(c.grad_fn)), text_of(lambda: ask(1))]

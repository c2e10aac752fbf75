# SPDX-License-Identifier: LGPL-2.1-or-later
"""Numbering of nodes and facts of the graph. Sequence numbers are read off the tape: 1.13.1 does not tell them."""
import gc
import threading
import weakref

from harness import row
from notation import counts, order


def leaf(torch, *values):
    return torch.tensor(list(values) or [1., 2.], requires_grad=True)


def in_thread(call):
    thread = threading.Thread(target=call)
    thread.start()
    thread.join()


def scale_function(torch):
    class Scale(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2
    return Scale


@row('A-01', tape=order, expect_tape='Sum[2,3] Mul[1,2] Mul[0,1] Leaf[M,0]')
def first_numbers(torch):
    x = leaf(torch)
    (x * 2 * 3).sum().backward()
    return x.grad.tolist()


@row('A-04', tape=order, expect=[[2.0], [3.0]], expect_tape='Add[2,2] Mul[1,1] Leaf[M,0] Mul[0,1] Leaf[M,0]')
def leaves_take_no_numbers(torch):
    """Each product makes the AccumulateGrad of its leaf before itself."""
    x, y = leaf(torch, 1.), leaf(torch, 1.)
    (x * 2 + y * 3).backward()
    return [x.grad.tolist(), y.grad.tolist()]


@row('A-02', tape=order, expect_tape='Sum[2,3] Sin[1,2] Exp[0,1] Leaf[M,0] Exp[6,2] Mul[5,1] Leaf[M,0]')
def numbers_of_two_threads(torch):
    x, made = leaf(torch, 1.), []
    for _ in range(5):
        x * 2
    in_thread(lambda: made.append(x.exp().sin().sum()))
    made[0].backward()
    (x * 2).exp().backward()


@row('A-03', tape=order, expect_tape='Exp[1,2] Mul[0,1] Leaf[M,0]')
def constants_take_no_numbers(torch):
    x, c = leaf(torch, 1.), torch.ones(1)
    y = x * 2
    c = (c * 3 + 1).exp()
    with torch.no_grad():
        x * 5
    y.exp().backward()
    return c.requires_grad


@row('A-05', tape=order, expect_tape='GraphRoot[2,2] Sin[1,1] Mul[0,1] Leaf[M,0] Exp[3,1] Leaf[M,0]')
def root_takes_a_number(torch):
    x = leaf(torch, 1.)
    torch.autograd.backward([x * 2, x.sin()])
    x.exp().backward()


@row('A-06', tape=order, expect_tape='Mul[0,1] Exp[2,1] Leaf[M,0]')
def placeholder_takes_a_number(torch):
    x, unused = leaf(torch, 1.), leaf(torch, 1.)
    seen = torch.autograd.grad(x * 2, (x, unused), allow_unused=True)
    x.exp().backward()
    return [seen[0].tolist(), seen[1]]


@row('A-07', tape=order, expect_tape='Mul[3,4] Sin[2,3] Mul[1,2] Mul[0,1] Leaf[M,0]')
def topological_numbers_of_unequal_branches(torch):
    """The last product has a child of number 1 and one of number 3."""
    y = leaf(torch, 1.) * 2
    (y * (y * 3).sin()).backward()


@row('A-08', tape=order, expect_tape='Add[3,3] Sin[2,2] Mul[1,2] Mul[0,1] Leaf[M,0]')
def topological_numbers_of_a_diamond(torch):
    y = leaf(torch, 1.) * 2
    (y * 3 + y.sin()).backward()


@row('A-10', tape=lambda events: [order(events), counts(events)], expect=[2.], expect_tape=['Add[0,1] Leaf[M,0]', ['Leaf 2']])
def tensor_added_to_itself(torch):
    x = leaf(torch, 1.)
    y = x + x
    first, second = y.grad_fn.next_functions
    assert first[0] is second[0]
    y.backward()
    return x.grad.tolist()


@row('A-11', expect=[[True, False], [False, True], [True, False], [2., 2.]])
def constants_give_no_edges(torch):
    x, c = leaf(torch), torch.ones(2)
    y = x * c
    y.sum().backward(inputs=[x])
    ((x - c).sum()).backward()
    return [[edge[0] is not None for edge in node.next_functions]
            for node in ((x + 5).grad_fn, (c + x).grad_fn, (x * c).grad_fn)] + [x.grad.tolist()]


@row('A-12', expect=[True, True, True])
def one_accumulator(torch):
    x = leaf(torch)
    a, b = x * 2, x.exp()
    node = a.grad_fn.next_functions[0][0]
    return [node is b.grad_fn.next_functions[0][0], node.variable is x, (x * 3).grad_fn.next_functions[0][0] is node]


@row('A-13', expect=['node', 'tensor', 'tensor'])
def accumulator_dies_with_the_graph(torch):
    """What hangs on the tensor stays, what hangs on its AccumulateGrad goes with it."""
    x, seen = leaf(torch), []
    x.register_hook(lambda g: seen.append('tensor'))
    y = x * 2
    node = y.grad_fn.next_functions[0][0]
    node.register_hook(lambda *grads: seen.append('node'))
    y.sum().backward()
    del node, y
    (x * 2).sum().backward()
    return sorted(seen)


@row('A-14')
def long_chains_are_freed(torch):
    """As deep as the C stack is not."""
    for length, step in ((150000, lambda y: y.clone()), (30000, scale_function(torch).apply), (30000, lambda y: y + y)):
        y = leaf(torch, 0.)
        for _ in range(length):
            y = step(y)
        del y
    return True


@row('A-14', expect=[1.])
def long_chains_run(torch):
    x, apply = leaf(torch, 1.), scale_function(torch).apply
    y = x
    for i in range(10000):
        y = apply(y) * .5 if i % 2 else y.clone()
    y.backward()
    return x.grad.tolist()


@row('A-15', expect=[[0, 1, 2], [[0., 0., 2., 2., 0.]], [0., 0., 2., 2., 5.]])
def outputs_of_a_node(torch):
    x = torch.ones(5, requires_grad=True)
    parts = x.split(2)
    numbers = [part.output_nr for part in parts]
    used, = torch.autograd.grad((parts[1] * 2).sum(), x, retain_graph=True)
    ((parts[1] * 2).sum() + (parts[2] * 5).sum()).backward()
    return [numbers, [used.tolist()], x.grad.tolist()]


def two_outputs(torch, seen):
    """A function of two outputs, whose backward notes its gradients."""
    class Two(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, materialize):
            ctx.set_materialize_grads(materialize)
            return x * 1, torch.cat([x, x])

        @staticmethod
        def backward(ctx, g, h):
            seen.append([g if g is None else g.tolist(), h if h is None else h.tolist()])
            return g, None
    return Two.apply


@row('A-15', expect=[[[1.], None], [None, [1., 1.]], [[1.], [2., 2.]]])
def each_output_has_an_input_of_its_own(torch):
    seen, x = [], leaf(torch, 1.)
    two = two_outputs(torch, seen)
    two(x, False)[0].backward()
    two(x, False)[1].sum().backward()
    a, b = two(x, False)
    (a.sum() + (b * 2).sum()).backward()
    return seen


@row('A-16', expect=[[[1.], [0., 0.]], [[1.], None], [[1.], None], [[0.], [1., 1.]]])
def undefined_inputs_of_a_function(torch):
    seen, x = [], leaf(torch, 1.)
    two = two_outputs(torch, seen)
    two(x, True)[0].backward()
    two(x, False)[0].backward()
    two(x, False)[0].backward()
    two(x, True)[1].sum().backward()
    return seen


@row('A-17', tape=order)
def numbers_made_inside_a_pass(torch):
    """They continue the counter of the thread that runs the node."""
    x = leaf(torch, 2.)
    g, = torch.autograd.grad(x ** 3, x, create_graph=True)
    h, = torch.autograd.grad((g * x.exp()).sum(), x)
    return h.tolist()


class Watched:
    """Something whose end can be seen."""


def collected(make):
    """Whether what make() leaves behind is gone after a collection, and only then."""
    gc.collect()
    gc.disable()
    try:
        alive = make()
        before = alive() is None
        gc.collect()
        return [before, alive() is None]
    finally:
        gc.enable()


def keeping(torch):
    class Keep(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, things):
            ctx.things = things
            y = x.clone()
            ctx.save_for_backward(y)
            return y

        @staticmethod
        def backward(ctx, g):
            return g * ctx.saved_tensors[0], None
    return Keep.apply


@row('A-14', expect=[[False, True]] * 3 + [[True, True]])
def cycles_are_collected(torch):
    """Through a ctx, before and after a pass, and an attribute; without a cycle nothing waits."""
    def through_ctx(with_backward=False):
        things, watched = {}, Watched()
        y = keeping(torch)(leaf(torch, 3.), things)
        things.update(y=y, watched=watched)
        if with_backward:
            y.backward()
        return weakref.ref(watched)

    def through_attribute():
        watched, y = Watched(), leaf(torch, 1.) * 2
        y.watched, watched.y = watched, y
        return weakref.ref(watched)

    def without():
        watched = Watched()
        keeping(torch)(leaf(torch, 1.), watched).exp()
        return weakref.ref(watched)
    return [collected(make) for make in (through_ctx, lambda: through_ctx(True), through_attribute, without)]


@row('H-19', expect=[False, True])
def a_cycle_through_a_leafs_hook_is_collected(torch):
    def through_hook():
        watched, x = Watched(), leaf(torch, 1.)
        x.register_hook(lambda g: (watched, x)[0] and None)
        return weakref.ref(watched)
    return collected(through_hook)


@row('H-19', only='PyTorch does not collect these', expect=[[False, True]] * 2)
def cycles_through_other_hooks_are_collected(torch):
    """On a tensor that is no leaf, and on a node."""
    def on_tensor():
        watched, y = Watched(), leaf(torch, 1.) * 2
        y.register_hook(lambda g: (watched, y)[0] and None)
        return weakref.ref(watched)

    def on_node():
        watched, y = Watched(), leaf(torch, 1.) * 2
        y.grad_fn.register_hook(lambda *grads: (watched, y)[0] and None)
        return weakref.ref(watched)
    return [collected(make) for make in (on_tensor, on_node)]


@row('A-14', only='PyTorch does not collect these', expect=[False, True])
def a_cycle_through_a_ctx_far_below_is_collected(torch):
    def far_below():
        watched, things = Watched(), {}
        things.update(y=(keeping(torch)(leaf(torch, 1.), things) * 3).exp(), watched=watched)
        return weakref.ref(watched)
    return collected(far_below)

# SPDX-License-Identifier: LGPL-2.1-or-later
"""S: the schedulers of PyTorch's first engines, on the same graphs as the engine's own."""
import threading

from harness import order_of, row, text_of

ONLY = 'PyTorch has not had this scheduler since 2017'


def old(name, scheduler='2017', **more):
    return row(name, only=ONLY, scheduler=scheduler, **more)


def kinds(torch):
    """The functions of seed 004's net: one node for a whole linear layer."""
    class Linear(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, weight, bias):
            ctx.save_for_backward(x, weight)
            return x @ weight.t() + bias

        @staticmethod
        def backward(ctx, g):
            x, weight = ctx.saved_tensors
            return g @ weight, g.t() @ x, g.sum(0)

    class Threshold(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return torch.relu(x)

        @staticmethod
        def backward(ctx, g):
            return g.clone()

    class Index(torch.autograd.Function):
        before = None

        @staticmethod
        def forward(ctx, x):
            return x[0]

        @staticmethod
        def backward(ctx, g):
            if Index.before:
                Index.before()
            return g.unsqueeze(0)
    return Linear, Threshold, Index


def seed_net(torch, before=None):
    """Runs the net; returns which leaf got its gradient when, and the gradients."""
    linear, threshold, index = kinds(torch)
    index.before = before
    leaves = {name: torch.full(shape, value, requires_grad=True) for name, shape, value in
              [('x', (1, 1), 1.), ('W1', (1, 1), 2.), ('b1', (1,), 3.), ('W2', (1, 1), 4.), ('b2', (1,), 5.)]}
    order = []
    for name, tensor in leaves.items():
        tensor.register_hook(lambda g, name=name: order.append(name))
    h = linear.apply(leaves['x'], leaves['W1'], leaves['b1'])
    z = threshold.apply(h)
    y = linear.apply(h, leaves['W2'], leaves['b2'])
    index.apply(z + y).backward()
    return [' '.join(order), [tensor.grad.flatten().tolist() for tensor in leaves.values()]]


def names(events):
    return ' '.join(name.replace('AccumulateGrad', 'Leaf').split('Backward')[0] for name in order_of(events))


GRADIENTS = [[10.], [5.], [5.], [5.], [1.]]


@old('S-01', tape=names, expect=['b2 W2 b1 W1 x', GRADIENTS],
     expect_tape='Index Add Linear Leaf Leaf Threshold Linear Leaf Leaf Leaf')
def last_in_first_out(torch):
    return seed_net(torch)


@old('S-02', '2017-fifo', tape=names, expect=['W2 b2 x W1 b1', GRADIENTS],
     expect_tape='Index Add Threshold Linear Linear Leaf Leaf Leaf Leaf Leaf')
def first_in_first_out(torch):
    return seed_net(torch)


@row('S-03', tape=names, expect=['W2 b2 x W1 b1', GRADIENTS],
     expect_tape='Index Add Linear Leaf Leaf Threshold Linear Leaf Leaf Leaf')
def heap(torch):
    return seed_net(torch)


def diamond(torch):
    x = torch.tensor([1., 2.], requires_grad=True)
    y = x * 2
    (3 * y + y.sin()).backward(torch.ones(2))
    return [round(g, 4) for g in x.grad.tolist()]


@old('S-01', tape=names, expect=[5.1677, 4.6927], expect_tape='Add Sin Mul Mul Leaf')
def diamond_last_in(torch):
    return diamond(torch)


@old('S-02', '2017-fifo', tape=names, expect=[5.1677, 4.6927], expect_tape='Add Mul Sin Mul Leaf')
def diamond_first_in(torch):
    return diamond(torch)


def counters(rows):
    """As the seed prints them: node, then {consumer: uses} of its one output."""
    found = {}
    for node, output_nr, consumer, uses in rows:
        found.setdefault((node, output_nr), []).append([consumer.replace('Backward', ''), uses])
    return [[node.replace('Backward', ''), output_nr, uses] for (node, output_nr), uses in found.items()]


@old('S-04', expect=[['Add0', 0, [['Index', 1]]], ['Threshold', 0, [['Add0', 1]]],
                     ['Linear', 0, [['Add0', 1], ['Threshold', 1], ['Linear', 1]]],
                     ['AccumulateGrad', 0, [['Linear', 1]] * 5]])
def counters_before_the_first_node(torch):
    seen = []
    seed_net(torch, lambda: seen.extend(torch._C.dependencies_2017()))
    return counters(seen)


@old('S-04', expect=[['MulBackward0', 0, 'MulBackward0', 2]])
def counter_of_a_node_used_twice_by_one(torch):
    seen = []

    class Look(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            seen.extend(torch._C.dependencies_2017())
            return g
    y = torch.ones(1, requires_grad=True) * 2
    Look.apply(y * y).backward()
    return [list(use) for use in seen if use[3] == 2]


def two_outputs(torch, used):
    """The gradients that a function of two outputs sees when one of them is used."""
    seen = []

    class Two(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(False)
            return x * 1, x * 2

        @staticmethod
        def backward(ctx, *gradients):
            seen.append([None if g is None else g.tolist() for g in gradients])
            return gradients[0]
    x = torch.ones(1, requires_grad=True)
    failed = text_of((Two.apply(x)[used] * 3).backward)
    return [failed, seen, None if x.grad is None else x.grad.tolist()]


@old('S-05', expect=[None, [[[3.], None]], [3.]])
def unused_second_output(torch):
    return two_outputs(torch, 0)


@old('S-05', expect=['AssertionError: TwoBackward is ready with output 1 alone: output_nr must be 0', [], None])
def unused_first_output(torch):
    return two_outputs(torch, 1)


@old('S-05', '2017-fifo', expect=["RuntimeError: one of the function outputs wasn't used - this is an error not, but "
                                  "it's going to be fixed soon", [], None])
def unused_output_of_the_successor(torch):
    return two_outputs(torch, 0)


def aliased(torch):
    """One gradient goes three ways, and two of them meet others before it is used."""
    x, y = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    a, b, c = x + 2, y + 2, x + 2
    short = (a + b) + c
    for _ in range(4):
        a, b, c = a * 2, b * 2, c * 2
    (((a + b) + c) + short).backward(torch.ones(2))
    return [x.grad.tolist(), y.grad.tolist()]


@row('S-06', expect=[[34., 34.], [17., 17.]])
def no_aliasing(torch):
    return aliased(torch)


@old('S-06', '2017-fifo', expect=[[34., 34.], [17., 17.]])
def no_aliasing_in_the_successor(torch):
    return aliased(torch)


@old('S-06', expect=[[9826., 9826.], [289., 289.]])
def aliasing(torch):
    """c's 1 + 16 are everybody's 17 when b's turn comes, 17 * 17, and then a's, 17 * 17 * 17, and again for x."""
    return aliased(torch)


@old('S-07', expect=['AssertionError: GenerousBackward returned a gradient for input 1, which does not require one', None])
def gradient_for_what_needs_none(torch):
    class Generous(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, constant):
            return x * constant

        @staticmethod
        def backward(ctx, g):
            return g, g
    x = torch.ones(1, requires_grad=True)
    return [text_of(Generous.apply(x, torch.ones(1)).backward), x.grad]


UNKNOWN = 'NotImplementedError: the scheduler of 2017 does not know '


@old('S-08', expect=[UNKNOWN + 'retain_graph: it never frees anything', UNKNOWN + 'create_graph',
                     UNKNOWN + 'grad(): gradients go to leaves alone', UNKNOWN + 'inputs= of backward()',
                     UNKNOWN + 'backward of several tensors at once', UNKNOWN + 'hooks other than on leaves', None, [4.]])
def refused(torch):
    x = torch.ones(1, requires_grad=True)
    hooked = x * 2
    hooked.register_hook(lambda g: g)
    free = x * 4
    return [text_of(lambda: (x * 2).backward(retain_graph=True)), text_of(lambda: (x * 2).backward(None, False, True)),
            text_of(lambda: torch.autograd.grad(x * 2, x)), text_of(lambda: (x * 2).backward(inputs=[x])),
            text_of(lambda: torch.autograd.backward([x * 2, x * 3])), text_of(hooked.backward),
            text_of(free.backward), x.grad.tolist()]


@old('S-08', expect=[[UNKNOWN + 'threads: another one runs a backward pass'], [1.]])
def refused_to_a_second_thread(torch):
    seen = []

    class Meanwhile(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            thread = threading.Thread(
                target=lambda: seen.append(text_of((torch.ones(1, requires_grad=True) * 2).backward)))
            thread.start()
            thread.join()
            return g
    x = torch.ones(1, requires_grad=True)
    Meanwhile.apply(x).backward()
    return [seen, x.grad.tolist()]


@old('S-08', expect=[6., 12.])
def never_frees(torch):
    """A second backward works without retain_graph, for nothing was released."""
    x = torch.tensor([2.], requires_grad=True)
    y = x * x + x * 2
    seen = []
    for _ in range(2):
        y.backward()
        seen.append(x.grad.item())
    return seen

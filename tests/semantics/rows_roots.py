# SPDX-License-Identifier: LGPL-2.1-or-later
"""Roots and dependencies."""
from harness import of_kind, row
from notation import counts, order


def leaf(torch, *values):
    return torch.tensor(list(values), requires_grad=True)


def order_and_counts(events):
    return [order(events), counts(events)]


def fed(events):
    """How many gradients the engine put into each kind of node itself, and into a GraphRoot at all."""
    made = {event['node']: event for event in of_kind(events, 'node_new')}
    return [sum(made[event['node']]['node_name'] == 'GraphRoot' for event in of_kind(events, 'buffer_add')),
            sum(event['from'] in (None, 2**32 - 1) for event in of_kind(events, 'buffer_add'))]


def one_root(torch):
    x = leaf(torch, 1.)
    (x * 2).backward()
    return x.grad.tolist()


@row('B-01', tape=order, expect=[2.], expect_tape='Mul[0,1] Leaf[M,0]')
def the_root_itself_is_first(torch):
    return one_root(torch)


@row('B-09', tape=counts, expect=[2.], expect_tape=['Leaf 1'])
def the_root_is_not_counted(torch):
    return one_root(torch)


@row('B-02', tape=lambda events: [order(events), fed(events)], expect_tape=['GraphRoot[2,2] Sin[1,1] Mul[0,1] Leaf[M,0]', [0, 0]])
def two_roots(torch):
    x = leaf(torch, 1.)
    torch.autograd.backward([x * 2, x.sin()])
    return x.grad.tolist()


@row('B-03', expect=[[31., 41.], [10., 20.]])
def gradients_of_roots(torch):
    x, y = leaf(torch, 1., 2.), leaf(torch, 3., 4.)
    torch.autograd.backward([x.sum(), x * y], [None, torch.tensor([10., 10.])])
    return [x.grad.tolist(), y.grad.tolist()]


@row('B-04', tape=order_and_counts, expect=[22.], expect_tape=['GraphRoot[1,2] Mul[0,1] Leaf[M,0]', ['Leaf 1', 'Mul 2']])
def same_root_twice(torch):
    x = leaf(torch, 1.)
    a = x * 2
    torch.autograd.backward([a, a], [torch.tensor([1.]), torch.tensor([10.])])
    return x.grad.tolist()


@row('B-05', tape=order_and_counts, expect=[196.],
     expect_tape=['GraphRoot[2,3] Pow[1,2] Pow[0,1] Leaf[M,0]', ['Leaf 1', 'Pow 1', 'Pow 2']])
def root_below_a_root(torch):
    x = leaf(torch, 2.)
    y = x ** 2
    z = y ** 3
    torch.autograd.backward([y, z])
    return x.grad.tolist()


@row('B-06', tape=order_and_counts, expect=[3.], expect_tape=['Leaf[M,0]', []])
def leaf_as_root(torch):
    x = leaf(torch, 2.)
    x.backward(torch.tensor([3.]))
    return x.grad.tolist()


@row('B-07', tape=order_and_counts, expect=[[3.], None])
def root_as_input(torch):
    x = leaf(torch, 2.)
    z = x * 2
    g, = torch.autograd.grad(z, z, torch.tensor([3.]))
    return [g.tolist(), x.grad]


@row('B-08', tape=counts)
def shared_weight(torch):
    w = torch.tensor([[.5, .1], [.2, .3]], requires_grad=True)
    h = torch.ones(1, 2)
    for _ in range(3):
        h = (h.mm(w) + torch.ones(1, 2).mm(w)).tanh()
    h.sum().backward()
    return w.grad.tolist()


@row('B-10', tape=order_and_counts, expect=[2.], expect_tape=['Mul[3,4]', ['Exp 1', 'Exp 1', 'Leaf 1']])
def nodes_below_the_wanted_one(torch):
    """The wanted node is counted, and what hangs right below it; nothing is below that, and neither runs."""
    w, x = leaf(torch, .5), leaf(torch, 2.)
    h = w.exp().exp().exp()
    g, = torch.autograd.grad(x * h, h)
    return g.tolist()


def chain_beside_a_leaf(torch):
    """x * h of a leaf x, and h, which is three nodes above another leaf."""
    w, x = leaf(torch, .5), leaf(torch, 2.)
    h = w.exp().exp().exp()
    return x * h, x, h


@row('B-11', tape=counts, expect_tape=['Exp 1'] * 3 + ['Leaf 1'] * 2)
def backward_prunes_nothing(torch):
    z, _, _ = chain_beside_a_leaf(torch)
    z.backward()


@row('B-12', tape=counts, expect_tape=['Exp 1'] * 3 + ['Leaf 1'] * 2)
def one_leaf_among_the_inputs_prunes_nothing(torch):
    z, x, h = chain_beside_a_leaf(torch)
    torch.autograd.grad(z, (x, h))


@row('B-13', tape=lambda events: [order(events), len(of_kind(events, 'dependency'))],
     expect_tape=['Exp[0,1] Leaf[M,0]', 1])
def unrelated_graph(torch):
    x = leaf(torch, .5)
    y, other = x.exp(), x.sin()
    y.backward()
    return [x.grad.tolist(), other.grad_fn is None]
